//go:build go1.25

package fakeclock_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
)

// inBubble runs f in a bubble, with a clock that settles by synctest.Wait.
func inBubble(t *testing.T, f func(t *testing.T, clock *fakeclock.Clock, happened *log)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f(t, fakeclock.New(fakeclock.WithSettle(synctest.Wait)), &log{})
	})
}

// A goroutine that receives, re-arms or sleeps in a loop is at its instant each
// time; with clockwork it misses all but the first or the second.
func TestBubble_loops(t *testing.T) {
	inBubble(t, func(t *testing.T, clock *fakeclock.Clock, happened *log) {
		go func() {
			ticker := clock.NewTicker(10)
			defer ticker.Stop()
			for range 3 {
				<-ticker.Chan()
				happened.add(clock, "tick")
			}
		}()
		go func() {
			timer := clock.NewTimer(12)
			for range 3 {
				<-timer.Chan()
				happened.add(clock, "timer")
				timer.Reset(10)
			}
		}()
		go func() {
			clock.Sleep(4)
			for range 3 {
				clock.Sleep(10)
				happened.add(clock, "sleep")
			}
		}()
		clock.Advance(100) // settles first: the goroutines have not armed yet
		happened.want(t, "after Advance", "tick@10ns", "timer@12ns", "sleep@14ns", "tick@20ns", "timer@22ns", "sleep@24ns", "tick@30ns", "timer@32ns", "sleep@34ns")
	})
}

// Ties are exact too: what one starts comes to rest before the next fires.
func TestBubble_ties(t *testing.T) {
	inBubble(t, func(t *testing.T, clock *fakeclock.Clock, happened *log) {
		for _, name := range []string{"a", "b", "c"} {
			timer := clock.NewTimer(5)
			go func() {
				<-timer.Chan()
				happened.add(clock, name)
			}()
			clock.AfterFunc(5, func() { happened.add(clock, name+"f") })
		}
		clock.Advance(5)
		happened.want(t, "after Advance", "a@5ns", "af@5ns", "b@5ns", "bf@5ns", "c@5ns", "cf@5ns")
	})
}

func TestBubble_chainOfZero(t *testing.T) {
	inBubble(t, func(t *testing.T, clock *fakeclock.Clock, happened *log) {
		clock.AfterFunc(5, func() {
			clock.AfterFunc(0, func() { clock.AfterFunc(0, func() { happened.add(clock, "f") }) })
		})
		clock.Advance(7)
		happened.want(t, "after Advance", "f@5ns")
	})
}

// With Settle a function may wait for whatever it likes, a later timer too.
func TestBubble_callbackWaits(t *testing.T) {
	inBubble(t, func(t *testing.T, clock *fakeclock.Clock, happened *log) {
		clock.AfterFunc(5, func() {
			<-clock.After(5)
			happened.add(clock, "f")
		})
		clock.Advance(20)
		happened.want(t, "after Advance", "f@10ns")
	})
}

func TestBubble_Hold(t *testing.T) {
	inBubble(t, func(t *testing.T, clock *fakeclock.Clock, happened *log) {
		release := clock.Hold()
		clock.AfterFunc(5, func() { happened.add(clock, "f") })
		timer := clock.NewTimer(6)
		go func() {
			<-timer.Chan()
			happened.add(clock, "timer")
		}()
		go func() {
			clock.Sleep(7)
			happened.add(clock, "sleep")
		}()
		clock.Advance(10)
		happened.want(t, "after Advance")
		release()
		happened.want(t, "after Advance", "f@10ns", "timer@10ns", "sleep@10ns")
	})
}

// Waiting for the turn does not keep the bubble from settling, so one of the
// calls below may sit in Settle while the others queue. A function's call
// queues behind the Advance that started it.
func TestBubble_queue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		settling := false // guarded by the turn
		clock := fakeclock.New(fakeclock.WithSettle(func() {
			if settling {
				t.Error("two calls settle at once")
			}
			settling = true
			synctest.Wait()
			settling = false
		}))
		for i := range 5 {
			clock.AfterFunc(time.Duration(i+1), func() { clock.Advance(10) })
		}
		for range 5 {
			go clock.Advance(1)
		}
		clock.Advance(0)
		for clock.Elapsed() < 55 {
			time.Sleep(time.Nanosecond)
		}
		if got := clock.Elapsed(); got != 55 {
			t.Errorf("Elapsed() = %v, want 55ns", got)
		}
	})
}

// The other way to use the clock in a bubble: without Settle.
func TestBubble_awaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, happened := fakeclock.New(), &log{}
		clock.AfterFunc(5, func() {
			time.Sleep(time.Hour) // bubble time moves while Advance waits
			happened.add(clock, "f")
			clock.Sleep(5)
			happened.add(clock, "g")
		})
		clock.Advance(20)
		happened.want(t, "after Advance", "f@5ns", "g@10ns")
	})
}

// Every wait on the clock is durably blocking, or Wait would not return.
func TestBubble_durable(t *testing.T) {
	outside := fakeclock.New() // the clock itself need not be of the bubble
	synctest.Test(t, func(t *testing.T) {
		var done atomic.Int32
		ctx, cancel := context.WithCancel(t.Context())
		go func() { outside.BlockUntil(2); done.Add(1) }()
		synctest.Wait()
		go func() {
			if err := outside.BlockUntilContext(ctx, 9); !errors.Is(err, context.Canceled) {
				t.Errorf("BlockUntilContext = %v, want %v", err, context.Canceled)
			}
			done.Add(1)
		}()
		synctest.Wait()
		go func() {
			if err := outside.BlockUntilFunc(ctx, func([]fakeclock.Timer) bool { return false }); !errors.Is(err, context.Canceled) {
				t.Errorf("BlockUntilFunc = %v, want %v", err, context.Canceled)
			}
			done.Add(1)
		}()
		synctest.Wait()
		go func() { outside.Sleep(1); done.Add(1) }()
		synctest.Wait()
		timer := outside.NewTimer(2)
		go func() { <-timer.Chan(); done.Add(1) }()
		cancel()
		synctest.Wait()
		if done.Load() != 3 {
			t.Errorf("%d waits ended, want 3", done.Load())
		}
		outside.Advance(2)
		synctest.Wait()
		if done.Load() != 5 {
			t.Errorf("%d waits ended, want 5", done.Load())
		}
	})
}

// The check at the end of the test belongs to the bubble, and so may settle.
func TestBubble_NewTest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := fakeclock.NewTest(t, fakeclock.WithSettle(synctest.Wait), fakeclock.WithEvents(func(e fakeclock.Event) { t.Log(e) }))
		t.Cleanup(func() { clock.Advance(time.Second) })
		go clock.Sleep(time.Second)
	})
}
