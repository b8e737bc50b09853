package fakeclock_test

import (
	"strings"
	"testing"
	"time"

	"github.com/escapement-go/escapement/debounce"
	"github.com/escapement-go/escapement/fakeclock"
)

//go:noinline
func deep(frames int, f func()) {
	if frames > 0 {
		deep(frames-1, f)
		return
	}
	f()
}

// ways lead from a function that an Advance is waiting for to what it calls.
var ways = []struct {
	name string
	call func(f func())
}{
	{"straight", func(f func()) { f() }},
	{"deep", func(f func()) { deep(5_000, f) }},
	{"deferred in a panic", func(f func()) {
		defer func() { recover() }()
		defer f()
		panic("in vain")
	}},
	{"deferred in Goexit", func(f func()) {
		defer f()
		exit()
	}},
	{"callback of a debouncer", func(f func()) {
		debounce.New(time.Hour, func(int) { deep(500, f) }, debounce.Leading()).Call(1)
	}},
	{"hook of another clock", func(f func()) {
		c := fakeclock.New(fakeclock.WithEvents(func(fakeclock.Event) { f() }))
		c.NewTimer(1)
	}},
}

// The clock knows what an Advance is waiting for by the stack, however it comes to call.
func TestClock_calledByFunction(t *testing.T) {
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			clock, happened := fakeclock.New(), &log{}
			var got any
			clock.AfterFunc(1, func() {
				way.call(func() {
					got = panicOf(func() { clock.Advance(1) })
					clock.AfterFunc(0, func() { happened.add(clock, "started") }) // awaited as well
					clock.Sleep(2)
					happened.add(clock, "slept")
				})
			})
			clock.Advance(2)
			if text, _ := got.(string); !strings.Contains(text, "called from a function that an Advance is waiting for") {
				t.Errorf("Advance panicked with %v", got)
			}
			happened.want(t, "Advance(2)", "started@1ns")
			clock.Advance(2)
			happened.want(t, "Advance(2)", "slept@3ns")
		})
	}
}

// A goroutine that the function has started is not waited for, and its Advance takes
// its turn after the one under way.
func TestClock_calledByChildOfFunction(t *testing.T) {
	clock, happened := fakeclock.New(), &log{}
	ended := make(chan struct{})
	clock.AfterFunc(1, func() {
		go func() {
			defer close(ended)
			clock.Advance(1)
			happened.add(clock, "child")
		}()
	})
	clock.AfterFunc(2, func() { happened.add(clock, "next") })
	clock.Advance(2)
	<-ended
	happened.want(t, "Advance(2)", "next@2ns", "child@3ns")
}

// A hook that panicked is over, though its frames are there while what is deferred
// further out runs: that may move the clock, also while another one's hook runs.
func TestWithEvents_advanceBeyondPanic(t *testing.T) {
	calls, began, gate := 0, make(chan struct{}), make(chan struct{})
	clock := fakeclock.New(fakeclock.WithEvents(func(fakeclock.Event) {
		switch calls++; calls {
		case 1:
			panic("from the hook")
		case 2:
			close(began)
			<-gate
		}
	}))
	defer func() {
		if got := recover(); got != "from the hook" {
			t.Errorf("NewTimer panicked with %v", got)
		}
		close(gate)
	}()
	defer func() {
		go clock.NewTimer(time.Hour)
		<-began
		if got := panicOf(func() { clock.Advance(1) }); got != nil {
			t.Errorf("Advance panicked with %v", got)
		}
		wantElapsed(t, clock, 1)
	}()
	clock.NewTimer(time.Hour)
}
