package goroutine

import "testing"

func TestStartedInTest(t *testing.T) {
	if StartedInTest() > 0 {
		t.Error("a goroutine was started, before any was")
	}
	quit := make(chan struct{})
	defer close(quit)
	go func() { <-quit }()
	if StartedInTest() != 1 {
		t.Error("no goroutine was started, after one was")
	}
	other := make(chan bool)
	go func() { other <- StartedInTest() > 0 }()
	if <-other {
		t.Error("another goroutine has started what this one did")
	}
}
