package fakeclock_test

import (
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/synctestcompat"
)

// loops are functions that arm for no time again and again, until over.
var loops = map[string]func(c *fakeclock.Clock, over func() bool){
	"AfterFunc": func(c *fakeclock.Clock, over func() bool) {
		var f func()
		f = func() {
			if !over() {
				c.AfterFunc(0, f)
			}
		}
		f()
	},
	"Reset": func(c *fakeclock.Clock, over func() bool) {
		for t := c.NewTimer(0); !over(); t.Reset(-1) {
			<-t.Chan()
		}
	},
	"After": func(c *fakeclock.Clock, over func() bool) {
		for !over() {
			<-c.After(0)
		}
	},
	"Sleep": func(c *fakeclock.Clock, over func() bool) {
		for !over() {
			c.Sleep(0)
		}
	},
}

// Time stood still for ever, and Advance with it.
func TestAdvance_endless(t *testing.T) {
	for name, loop := range loops {
		t.Run(name, func(t *testing.T) { testEndless(t, loop, fakeclock.New(), 1000) })
		t.Run(name+", settled", func(t *testing.T) {
			synctestcompat.Run(t, func(t *testing.T) {
				testEndless(t, loop, fakeclock.New(fakeclock.WithSettle(synctestcompat.Wait)), 1000)
			})
		})
	}
	t.Run("by default", func(t *testing.T) { // where it takes a tenth of a second
		synctestcompat.Run(t, func(t *testing.T) {
			testEndless(t, loops["Reset"], fakeclock.New(fakeclock.WithSettle(synctestcompat.Wait)), fakeclock.Endless)
		})
	})
}

func testEndless(t *testing.T, loop func(*fakeclock.Clock, func() bool), clock *fakeclock.Clock, limit int) {
	clock.SetEndless(limit)
	over, ended := make(chan struct{}), make(chan struct{})
	clock.AfterFunc(1, func() {
		loop(clock, func() bool {
			select {
			case <-over:
				close(ended)
				return true
			default:
				return false
			}
		})
	})
	text := ""
	func() {
		defer func() { text, _ = recover().(string) }()
		clock.Advance(2)
	}()
	for _, part := range []string{strconv.Itoa(limit) + " zero-duration timers or sleeps", "at 2000-01-01 00:00:00.000000001", "Use a duration > 0", "endless_test.go:"} {
		if !strings.Contains(text, part) {
			t.Errorf("panic text %q, want %q in it", text, part)
		}
	}
	if got := clock.Elapsed(); got != 1 {
		t.Errorf("stuck at %v, want 1ns", got)
	}
	close(over)
	clock.Advance(1) // goes on where it stopped
	<-ended
	if n := len(clock.Timers()); n != 0 {
		t.Errorf("%d timers are armed after the end, want 0", n)
	}
}

// Who is not waited for may ask as often as it likes: it ends by itself.
func TestAdvance_manyAtOneInstant(t *testing.T) {
	clock := fakeclock.New()
	clock.SetEndless(1_000)
	gate, polled := make(chan struct{}), 0
	go func() {
		defer close(gate)
		for range 2_000 {
			clock.Sleep(0)
			polled++
		}
	}()
	clock.AfterFunc(1, func() { <-gate })
	clock.Advance(1)
	if polled != 2_000 {
		t.Errorf("polled %d times", polled)
	}
}

// After the panic nothing goes on by itself, however many loops there were: the bubble comes
// to rest.
func TestAdvance_endlessLoops(t *testing.T) {
	synctestcompat.Run(t, func(t *testing.T) {
		clock := fakeclock.New()
		clock.SetEndless(1000)
		var over atomic.Bool
		var f func()
		f = func() {
			if !over.Load() {
				clock.AfterFunc(0, f)
			}
		}
		clock.AfterFunc(1, func() {
			for range 3 {
				clock.AfterFunc(0, f)
			}
		})
		for range 2 {
			if panicOf(func() { clock.Advance(1) }) == nil {
				t.Error("no panic")
			}
			synctestcompat.Wait()
		}
		over.Store(true)
		clock.Advance(1)
		wantElapsed(t, clock, 2)
	})
}
