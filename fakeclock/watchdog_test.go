package fakeclock

import (
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/escapement-go/escapement/internal/stackmark"
)

// Outside a bubble, on every release, and without waiting for the limit: the
// test makes the watchdog look until it bites.
func TestWatchdog_bites(t *testing.T) {
	var mu sync.Mutex
	gate := make(chan struct{})
	var deep func(frames int)
	deep = func(frames int) { // its trace leaves out the middle
		if frames > 0 {
			deep(frames - 1)
			return
		}
		<-gate
	}
	for name, block := range map[string]func(){
		"chan receive": func() { deep(1_000) },
		"select": func() {
			select {
			case <-gate:
			case gate <- struct{}{}:
			}
		},
		"sync.Mutex.Lock": func() { mu.Lock(); defer mu.Unlock() },
	} {
		c := New(WithWatchdog(time.Hour))
		ended, ran := make(chan struct{}), false
		c.AfterFunc(1, func() {
			defer close(ended)
			block()
		})
		c.AfterFunc(2, func() { ran = true })
		mu.Lock()
		panicked := make(chan any)
		go func() {
			defer func() { panicked <- recover() }()
			c.Advance(1)
		}()
		text, _ := look(c, panicked).(string)
		if !strings.HasPrefix(text, "fakeclock: Advance has waited 1h0m0s") || !strings.Contains(text, "["+name) {
			t.Errorf("%s: panic text %q, want one with [%[1]s", name, text)
		}
		c.Advance(1)
		if !ran {
			t.Errorf("%s: the clock does not work on", name)
		}
		mu.Unlock()
		if name != "sync.Mutex.Lock" {
			gate <- struct{}{}
		}
		<-ended
	}
}

// look makes the watchdog of c look until what comes from done.
func look(c *Clock, done chan any) any {
	for {
		c.mu.Lock()
		dog := c.dog
		c.mu.Unlock()
		if dog != nil {
			dog.look()
		}
		select {
		case v := <-done:
			return v
		default:
			runtime.Gosched()
		}
	}
}

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

func TestStacksByMark(t *testing.T) {
	before := stacksByMark(allStacks())
	stackmark.Call(1<<40, func() {
		got := stacksByMark(allStacks())
		if stack := got[1<<40]; stack == "" || isBlocked(stack) {
			t.Errorf("the stack of this goroutine is %q, want that of a running one", stack)
		}
		for mark, stack := range got {
			if _, old := before[mark]; !old && mark != 1<<40 {
				t.Errorf("mark %d, which nobody has made, is read from %q", mark, stack)
			}
		}
	})
}
