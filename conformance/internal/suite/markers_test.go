package suite

import (
	"runtime"
	"strings"
	"testing"
)

// Proofs from stacks look for these names: each marker must be on the stack of what it
// marks, however the compiler inlines.
func TestMarkers_areOnTheStack(t *testing.T) {
	for _, m := range []struct {
		name string
		call func(func())
	}{
		{markOperation, operation},
		{markPromptly, Promptly},
		{markCallback, callback},
		{markCaught, caught},
		{markExpired, expired},
	} {
		m.call(func() {
			if stack := stackHere(); !strings.Contains(stack, m.name) {
				t.Errorf("%s is not on the stack of what it marks:\n%s", m.name, stack)
			}
		})
		if stack := stackHere(); strings.Contains(stack, m.name) {
			t.Errorf("%s is on the stack of what it does not mark:\n%s", m.name, stack)
		}
	}
}

func TestMarkers_start(t *testing.T) {
	origin := make(chan string)
	Start(func() { origin <- createdBy() })
	if by := <-origin; !driven(by) {
		t.Errorf("a goroutine of Start is created by %s, want %s", by, markStart)
	}
	go func() { origin <- createdBy() }()
	if by := <-origin; driven(by) {
		t.Errorf("a goroutine of the test counts as the suite's: %s", by)
	}
}

func TestMarkers_catch(t *testing.T) {
	Catch(func() {
		if !Caught() {
			t.Error("Caught() = false below Catch, want true")
		}
	})
	if Caught() {
		t.Error("Caught() = true outside of Catch, want false")
	}
}

func stackHere() string {
	buf := make([]byte, 1<<16)
	return string(buf[:runtime.Stack(buf, false)])
}
