package fakeclock

import "testing"

func TestIsBlocked(t *testing.T) {
	for state, want := range map[string]bool{
		"chan receive":              true,
		"chan receive, 2 minutes":   true,
		"chan receive (nil chan)":   true,
		"chan receive (durable)":    true,
		"chan send":                 true,
		"select":                    true,
		"select (no cases)":         true,
		"sync.Mutex.Lock":           true,
		"sync.WaitGroup.Wait":       true,
		"sync.Cond.Wait":            true,
		"semacquire":                true,
		"running":                   false,
		"runnable":                  false,
		"sleep":                     false,
		"IO wait":                   false,
		"syscall, locked to thread": false,
	} {
		if got := isBlocked("goroutine 7 [" + state + "]:\nmain.f()"); got != want {
			t.Errorf("isBlocked(%q) = %v, want %v", state, got, want)
		}
	}
	if isBlocked("") { // the goroutine is gone
		t.Error(`isBlocked("") = true, want false`)
	}
}

func TestStackOf(t *testing.T) {
	id := goroutineID()
	stack := stackOf(allStacks(), id)
	if stack == "" || isBlocked(stack) {
		t.Errorf("stackOf(this goroutine) = %q, want that of a running one", stack)
	}
	if got := stackOf(allStacks(), 1<<63); got != "" {
		t.Errorf("stackOf(none) = %q, want nothing", got)
	}
}
