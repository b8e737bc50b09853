package synctestcompat_test

import (
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/escapement-go/escapement/synctestcompat"
)

// on124 says that this is Go 1.24, whose column of the package comment differs.
var on124 = strings.HasPrefix(runtime.Version(), "go1.24")

// Wait lets timers of no time run, and those that such timers arm; the latter not always on Go 1.24.
func TestPackageComment_zeroTimers(t *testing.T) {
	synctestcompat.Require(t)
	for range 50 {
		synctestcompat.Run(t, func(*testing.T) {
			var first, second atomic.Bool
			time.AfterFunc(0, func() {
				first.Store(true)
				time.AfterFunc(0, func() { second.Store(true) })
			})
			synctestcompat.Wait()
			if !first.Load() || !second.Load() && !on124 {
				t.Errorf("after Wait the timer has run: %v, and the one that it armed: %v", first.Load(), second.Load())
			}
		})
	}
}

// The T of the bubble is the caller's on Go 1.24, and one of its own later.
func TestPackageComment_innerT(t *testing.T) {
	synctestcompat.Run(t, func(inner *testing.T) {
		if (inner == t) != on124 {
			t.Errorf("the T in the bubble is the caller's: %v", inner == t)
		}
		if on124 {
			return
		}
		ctx := inner.Context()
		ended := make(chan error)
		go func() { <-ctx.Done(); ended <- ctx.Err() }()
		inner.Cleanup(func() { // in the bubble, or the receive would be fatal
			if err := <-ended; err == nil {
				t.Error("the Context lives on during Cleanup")
			}
		})
		for name, call := range map[string]func(){
			"Run":      func() { inner.Run("x", func(*testing.T) {}) },
			"Parallel": func() { inner.Parallel() },
			"Deadline": func() { inner.Deadline() },
		} {
			if panicOf(call) == nil {
				t.Errorf("%s of the T in the bubble does not panic", name)
			}
		}
	})
}

// panicOf returns what f panics with, nil if it returns.
func panicOf(f func()) (p any) {
	defer func() { p = recover() }()
	f()
	return nil
}

// Outside a bubble nothing moves: Sleep panics before it sleeps for an hour. The zero Clock
// has no clock behind it.
func TestPackageComment_outside(t *testing.T) {
	c := synctestcompat.NewClock()
	for name, call := range map[string]func(){
		"Wait":           synctestcompat.Wait,
		"Sleep":          func() { synctestcompat.Sleep(time.Hour) },
		"Sleep(0)":       func() { synctestcompat.Sleep(0) },
		"Clock.Advance":  func() { c.Advance(time.Hour) },
		"Clock.Settle":   c.Settle,
		"zero Clock.Now": func() { new(synctestcompat.Clock).Now() },
	} {
		if panicOf(call) == nil {
			t.Errorf("%s does not panic outside a bubble", name)
		}
	}
}

// Of two goroutines of a bubble that wait at once one panics.
func TestPackageComment_twoWait(t *testing.T) {
	synctestcompat.Run(t, func(*testing.T) {
		other := make(chan any)
		go func() { other <- panicOf(synctestcompat.Wait) }()
		mine := panicOf(synctestcompat.Wait)
		if theirs := <-other; (mine == nil) == (theirs == nil) {
			t.Errorf("one Wait panicked with %v and the other with %v, want one panic", mine, theirs)
		}
	})
}

// Sleep with no time only waits, and a function that is blocked for ever makes Run panic.
func TestPackageComment_sleepAndDeadlock(t *testing.T) {
	synctestcompat.Require(t)
	synctestcompat.Run(t, func(*testing.T) {
		start := time.Now()
		var ran atomic.Bool
		go ran.Store(true)
		synctestcompat.Sleep(-time.Hour)
		if !ran.Load() || time.Since(start) != 0 {
			t.Errorf("Sleep of less than nothing took %v, and the other goroutine had run: %v", time.Since(start), ran.Load())
		}
	})
	got := panicOf(func() { synctestcompat.Run(t, func(*testing.T) { <-make(chan int) }) })
	if text, _ := got.(string); !strings.Contains(text, "deadlock: all goroutines in bubble are blocked") {
		if err, ok := got.(error); !ok || !strings.Contains(err.Error(), "deadlock: all goroutines in bubble are blocked") {
			t.Errorf("Run of what blocks for ever panicked with %v", got)
		}
	}
}

// Bubbles do not disturb each other.
func TestPackageComment_bubblesAtOnce(t *testing.T) {
	for range 4 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			synctestcompat.Run(t, func(*testing.T) {
				start := time.Now()
				for range 100 {
					synctestcompat.Sleep(time.Hour)
				}
				if got := time.Since(start); got != 100*time.Hour {
					t.Errorf("a hundred hours took %v", got)
				}
			})
		})
	}
}

// FailNow in the bubble ends the caller of Run.
func TestPackageComment_failNow(t *testing.T) {
	synctestcompat.Require(t)
	failing, returned := new(testing.T), false
	done := make(chan bool)
	go func() {
		defer close(done)
		synctestcompat.Run(failing, (*testing.T).FailNow)
		returned = true
	}()
	if <-done; returned || !failing.Failed() {
		t.Errorf("after FailNow Run returned: %v, and its T has failed: %v", returned, failing.Failed())
	}
}
