package goroutine

import "testing"

func TestStartedInTest(t *testing.T) {
	if StartedInTest() {
		t.Error("a goroutine was started, before any was")
	}
	quit := make(chan struct{})
	defer close(quit)
	go func() { <-quit }()
	if !StartedInTest() {
		t.Error("no goroutine was started, after one was")
	}
	other := make(chan bool)
	go func() { other <- StartedInTest() }()
	if <-other {
		t.Error("another goroutine has started what this one did")
	}
}
