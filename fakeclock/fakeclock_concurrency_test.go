package fakeclock_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/internal/prove"
	"github.com/escapement-go/escapement/synctestcompat"
)

// done is a context that is done.
var done = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

func TestClock_BlockUntilCountsArmed(t *testing.T) {
	clock := fakeclock.New()
	check := func(when string, n int) {
		t.Helper()
		if !armedIs(clock, n) {
			t.Errorf("%s: not exactly %d timers armed", when, n)
		}
	}
	clock.BlockUntil(0)
	clock.BlockUntil(-1)
	check("new", 0)
	timer := clock.NewTimer(5)
	check("NewTimer", 1)
	clock.After(5)
	check("After", 2)
	function := clock.AfterFunc(5, func() {})
	check("AfterFunc", 3)
	ticker := clock.NewTicker(3)
	check("NewTicker", 4)
	clock.NewTimer(0)
	clock.After(-1)
	check("due at once", 4)
	go clock.Sleep(5)
	clock.BlockUntil(5)
	check("Sleep", 5)
	timer.Reset(6)
	check("Reset", 5)
	function.Stop()
	check("Stop", 4)
	clock.Advance(4)
	check("unread tick", 4)
	<-ticker.Chan()
	check("read tick", 4)
	clock.Advance(1)
	check("fired", 2)
	ticker.Stop()
	check("Ticker.Stop", 1)
	ticker.Reset(1)
	check("Ticker.Reset", 2)
	clock.Advance(100)
	check("unread", 1)
	ticker.Stop()
	check("Ticker.Stop unread", 0)
}

func TestClock_BlockUntilWaits(t *testing.T) {
	synctestcompat.Run(t, func(t *testing.T) {
		clock := fakeclock.New()
		var passed [4]bool
		for n := 1; n < 4; n++ {
			go func() {
				clock.BlockUntil(n)
				passed[n] = true
			}()
		}
		synctestcompat.Wait()
		timer := clock.NewTimer(1)
		synctestcompat.Wait()
		if passed != [4]bool{false, true, false, false} {
			t.Errorf("1 armed: passed = %v", passed)
		}
		timer.Stop()
		clock.NewTicker(1)
		synctestcompat.Wait()
		if passed[2] {
			t.Error("BlockUntil(2) returned with 1 armed")
		}
		timer.Reset(1)
		synctestcompat.Wait()
		if passed != [4]bool{false, true, true, false} {
			t.Errorf("2 armed: passed = %v", passed)
		}
		go clock.Sleep(1)
		synctestcompat.Wait()
		if !passed[3] {
			t.Error("BlockUntil(3) did not return with 3 armed")
		}
		clock.Advance(1)
	})
}

func TestClock_BlockUntilContext(t *testing.T) {
	clock := fakeclock.New()
	cause := errors.New("cause")
	ctx, cancel := context.WithCancelCause(context.Background())
	result := make(chan error)
	go func() { result <- clock.BlockUntilContext(ctx, 1) }()
	cancel(cause)
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Errorf("BlockUntilContext(cancelled, 1) = %v, want %v", err, context.Canceled)
	}
	clock.NewTimer(1) // the waiter that gave up is gone
	if err := clock.BlockUntilContext(ctx, 1); err != nil {
		t.Errorf("BlockUntilContext(done, 1) = %v with 1 armed, want nil", err)
	}
	if err := clock.BlockUntilContext(ctx, 2); err != context.Canceled {
		t.Errorf("BlockUntilContext(done, 2) = %v with 1 armed, want %v", err, context.Canceled)
	}
	go func() { result <- clock.BlockUntilContext(context.Background(), 2) }()
	clock.NewTimer(1)
	if err := <-result; err != nil {
		t.Errorf("BlockUntilContext(2) = %v, want nil", err)
	}
}

// ready is asked once for each change, and not for anything else.
func TestClock_BlockUntilFunc(t *testing.T) {
	synctestcompat.Run(t, func(t *testing.T) {
		clock := fakeclock.New()
		var asked int
		var armed []fakeclock.Timer
		var enough bool
		result := make(chan error, 1)
		go func() {
			result <- clock.BlockUntilFunc(context.Background(), func(timers []fakeclock.Timer) bool {
				asked++
				armed = timers
				clock.Next() // it may use the clock
				return enough
			})
		}()
		step := func(what string, change func(), wantAsked, wantArmed int) {
			t.Helper()
			change()
			synctestcompat.Wait()
			if asked != wantAsked || len(armed) != wantArmed {
				t.Errorf("%s: asked %d times, about %d timers, want %d and %d", what, asked, len(armed), wantAsked, wantArmed)
			}
		}
		var timer clockwork.Timer
		step("call", func() {}, 1, 0)
		step("NewTimer", func() { timer = clock.NewTimer(5) }, 2, 1)
		step("Reset", func() { timer.Reset(6) }, 3, 1)
		step("Stop", func() { timer.Stop() }, 4, 0)
		step("Stop again", func() { timer.Stop() }, 4, 0)
		step("NewTicker", func() { clock.NewTicker(7) }, 5, 1)
		step("AfterFunc", func() { clock.AfterFunc(10, func() {}) }, 6, 2)
		step("Advance", func() { clock.Advance(6) }, 6, 2)
		step("tick", func() { clock.Advance(1) }, 7, 2)
		step("fire", func() { clock.Advance(3) }, 8, 1)
		step("enough", func() { enough = true; timer.Reset(1) }, 9, 2)
		if err := <-result; err != nil {
			t.Errorf("BlockUntilFunc = %v, want nil", err)
		}
		step("returned", func() { timer.Reset(2) }, 9, 2)
	})
}

func TestClock_BlockUntilFuncGivesUp(t *testing.T) {
	clock := fakeclock.New()
	never := func([]fakeclock.Timer) bool { return false }
	ctx, cancel := context.WithCancel(context.Background())
	result := make(chan error)
	go func() { result <- clock.BlockUntilFunc(ctx, never) }()
	cancel()
	if err := <-result; err != context.Canceled {
		t.Errorf("BlockUntilFunc(cancelled) = %v, want %v", err, context.Canceled)
	}
	if got := panicOf(func() { clock.BlockUntilFunc(ctx, func([]fakeclock.Timer) bool { panic("ready") }) }); got != "ready" {
		t.Errorf("BlockUntilFunc panicked with %v, want ready", got)
	}
	clock.NewTimer(1) // the clock works on
}

// Every method may be called from an awaited function, but for those that wait.
func TestClock_callbackCallsEveryMethod(t *testing.T) {
	clock, calls := fakeclock.New(), 0
	start := clock.Now()
	var self interface {
		Stop() bool
		Reset(time.Duration) bool
	}
	self = clock.AfterFunc(1, func() {
		if calls++; calls > 1 {
			return
		}
		if clock.Now() != start.Add(1) || clock.Elapsed() != 1 || clock.Since(start) != 1 || clock.Until(start) != -1 {
			t.Errorf("Now() = %v, want %v", clock.Now(), start.Add(1))
		}
		wantNext(t, clock, start, -1)
		timer, ticker := clock.NewTimer(1), clock.NewTicker(1)
		clock.BlockUntil(2)
		wantBool(t, "armedIs(2)", armedIs(clock, 2), true)
		wantNext(t, clock, start, 2)
		clock.Sleep(1)
		wantReceived(t, "timer", timer.Chan(), start, 2)
		wantReceived(t, "ticker", ticker.Chan(), start, 2)
		ticker.Reset(3)
		ticker.Stop()
		wantBool(t, "timer.Reset(4)", timer.Reset(4), false)
		wantBool(t, "timer.Stop()", timer.Stop(), true)
		<-clock.After(0)
		wantBool(t, "Stop of itself", self.Stop(), false)
		clock.Hold()
		clock.AfterFunc(0, func() { t.Error("a held function ran") })
		wantBool(t, "Reset of itself", self.Reset(1), false)
		calls += 10
	})
	clock.Advance(10)
	if calls != 11 {
		t.Errorf("calls = %d, want 11: one full run, one held", calls)
	}
}

func TestWithSettle_callsAndWhen(t *testing.T) {
	happened := &log{}
	var clock *fakeclock.Clock
	clock = fakeclock.New(fakeclock.WithSettle(func() { happened.add(clock, "settle") }))
	clock.NewTimer(1)
	clock.NewTimer(1)
	clock.NewTimer(3)
	clock.Advance(2)
	happened.want(t, "Advance(2)", "settle@0s", "settle@1ns", "settle@1ns")
	clock.AdvanceUntil(clock.Now().Add(1))
	happened.want(t, "AdvanceUntil(3)", "settle@2ns")
	clock.AdvanceNext()
	happened.want(t, "AdvanceNext()", "settle@3ns", "settle@3ns")
	release := clock.Hold()
	clock.NewTimer(0)
	release()
	happened.want(t, "release", "settle@3ns", "settle@3ns")
	fakeclock.New(fakeclock.WithSettle(func() { t.Error("settle called") }), fakeclock.WithSettle(nil)).Advance(1)
}

// In a settled bubble goroutines that are about to arm a timer do so first, and
// functions may advance the clock: their turn comes later.
func TestWithSettle_bubble(t *testing.T) {
	synctestcompat.Run(t, func(t *testing.T) {
		clock, happened := fakeclock.New(fakeclock.WithSettle(synctestcompat.Wait)), &log{}
		go func() {
			for range 3 {
				clock.Sleep(2)
				happened.add(clock, "woke")
			}
		}()
		advanced := make(chan struct{})
		clock.AfterFunc(3, func() {
			defer close(advanced)
			happened.add(clock, "function")
			clock.Advance(2)
			happened.add(clock, "advanced")
		})
		clock.Advance(4)
		<-advanced // not Wait: the function's Advance settles, and one may wait at a time
		happened.want(t, "Advance(4)", "woke@2ns", "function@3ns", "woke@4ns", "woke@6ns", "advanced@6ns")
	})
}

// Nothing of a clock outlives its last Advance, or the bubble would panic.
func TestClock_leavesNoGoroutine(t *testing.T) {
	synctestcompat.Run(t, func(t *testing.T) {
		clock := fakeclock.New()
		for range 3 {
			clock.AfterFunc(1, func() {
				clock.AfterFunc(0, func() {})
				clock.Sleep(1)
			})
		}
		clock.Advance(5)
	})
}

// Eight goroutines use every method while another advances, on a clock with
// everything on.
func TestClock_hammer(t *testing.T) {
	var events atomic.Int64
	clock := fakeclock.NewTest(t, fakeclock.WithLeftovers(), fakeclock.WithEvents(func(fakeclock.Event) { events.Add(1) }))
	start := clock.Now()
	seed := uint64(1)
	if prove.Reaches(prove.All) {
		seed = rand.Uint64()
	}
	t.Logf("seed %d", seed)
	var users, helpers sync.WaitGroup
	var ran, stop atomic.Int64
	var end sync.WaitGroup
	end.Add(1)
	go func() {
		defer end.Done()
		for stop.Load() == 0 {
			clock.Advance(3)
			clock.AdvanceNext()
			// Farther than the others get meanwhile, unless one steps the wall clock.
			panicOf(func() { clock.AdvanceUntil(clock.Now().Add(time.Second)) })
			panicOf(func() { clock.AdvanceTo(clock.Now().Add(time.Second)) })
			clock.Hold()()
		}
	}()
	for i := range uint64(8) {
		users.Add(1)
		go func() {
			defer users.Done()
			random := rand.New(rand.NewPCG(seed, i))
			timer, ticker := clock.NewTimer(1), clock.NewTicker(7)
			function := clock.AfterFunc(5, func() { ran.Add(1); clock.Sleep(1); clock.NewTimer(2).Stop() })
			last := clock.Elapsed()
			for range 200 {
				d := time.Duration(random.IntN(20) - 2)
				switch random.IntN(19) {
				case 0:
					timer.Reset(d)
				case 1:
					timer.Stop()
				case 2:
					ticker.Reset(max(d, 1))
				case 3:
					ticker.Stop()
				case 4:
					function.Reset(max(d, 1))
				case 5:
					function.Stop()
				case 6:
					clock.Sleep(d)
				case 7:
					<-clock.After(d)
				case 8:
					clock.Next()
					clock.Since(start)
					clock.Until(start)
				case 9:
					clock.BlockUntilContext(done, int(d))
				case 10:
					release := clock.Hold()
					clock.AfterFunc(d, func() { ran.Add(1) })
					release()
				case 11:
					clock.Advance(max(d, 0))
				case 12:
					helpers.Add(1)
					go func() { defer helpers.Done(); clock.BlockUntil(1) }()
				case 13:
					received(timer.Chan(), start)
					received(ticker.Chan(), start)
				case 14:
					timers := clock.Timers()
					if !slices.IsSortedFunc(timers, func(a, b fakeclock.Timer) int { return a.Deadline.Compare(b.Deadline) }) {
						t.Errorf("Timers() = %v, not in order", timers)
					}
				case 15:
					clock.BlockUntilFunc(done, func(timers []fakeclock.Timer) bool { clock.Next(); return len(timers) > int(d) })
				case 16:
					helpers.Add(1)
					go func() {
						defer helpers.Done()
						clock.BlockUntilFunc(context.Background(), func(timers []fakeclock.Timer) bool { return len(timers) > 0 })
					}()
				case 17:
					clock.SetWall(clock.Now().Add(d))
				case 18:
					clock.NewTimerAt(clock.Now().Add(d)).Stop()
					clock.AfterFuncAt(clock.Now().Add(d), func() { ran.Add(1) })
				}
				if now := clock.Elapsed(); now < last {
					t.Errorf("Elapsed() = %v after %v", now, last)
				} else {
					last = now
				}
				clock.Now()
			}
			timer.Stop()
			ticker.Stop()
		}()
	}
	users.Wait()
	clock.NewTicker(maxRange) // lets the helpers go
	helpers.Wait()
	stop.Store(1)
	end.Wait()
	if events.Load() == 0 {
		t.Error("no events")
	}
}
