package fakeclock_test

import (
	"testing"

	"github.com/escapement-go/escapement/fakeclock"
)

func TestClock_HoldKeepsFunctions(t *testing.T) {
	clock, happened := fakeclock.New(), &log{}
	note := func(what string) func() { return func() { happened.add(clock, what) } }
	release := clock.Hold()
	b := clock.AfterFunc(2, note("b"))
	clock.AfterFunc(1, func() { note("a")(); clock.AfterFunc(0, note("a0")); clock.AfterFunc(5, note("a5")) })
	clock.AfterFunc(2, note("c"))
	stopped := clock.AfterFunc(9, note("stopped"))
	clock.Advance(3)
	happened.want(t, "Advance(3) in a Hold")
	wantBool(t, "Stop() of a held function", b.Stop(), false)
	wantBool(t, "Reset() of a held function", b.Reset(4), false) // runs twice
	wantBool(t, "Stop() of an armed function", stopped.Stop(), true)
	wantBool(t, "armedIs(1)", armedIs(clock, 1), true)
	release()
	lines := happened.take()
	if len(lines) != 4 || lines[0] != "a@3ns" || lines[1] != "a0@3ns" || lines[2] != "b@3ns" || lines[3] != "c@3ns" {
		t.Errorf("release: got %q, want a, a0, b, c at 3ns", lines)
	}
	release()
	happened.want(t, "release again")
	clock.Advance(4)
	happened.want(t, "Advance(4)", "b@7ns")
	clock.Advance(1)
	happened.want(t, "Advance(1)", "a5@8ns")
}

func TestClock_HoldKeepsValues(t *testing.T) {
	clock := fakeclock.New()
	start := clock.Now()
	stopped, reset, kept, now := clock.NewTimer(1), clock.NewTimer(1), clock.NewTimer(1), clock.NewTimer(9)
	ticker, tickStop, tickReset := clock.NewTicker(2), clock.NewTicker(2), clock.NewTicker(2)
	release := clock.Hold()
	clock.Advance(5)
	now.Reset(0) // due at once, and held
	wantReceived(t, "kept in a Hold", kept.Chan(), start, -1)
	wantReceived(t, "ticker in a Hold", ticker.Chan(), start, -1)
	wantReceived(t, "now in a Hold", now.Chan(), start, -1)
	wantBool(t, "stopped.Stop()", stopped.Stop(), true)
	wantBool(t, "stopped.Stop() again", stopped.Stop(), false)
	wantBool(t, "reset.Reset(10)", reset.Reset(10), true)
	tickStop.Stop()
	tickReset.Reset(6)
	wantBool(t, "armedIs(3): reset, ticker, tickReset", armedIs(clock, 3), true)
	clock.Advance(2)
	release()
	wantReceived(t, "stopped", stopped.Chan(), start, -1)
	wantReceived(t, "kept", kept.Chan(), start, 1)
	wantReceived(t, "now", now.Chan(), start, 5)
	wantReceived(t, "ticker", ticker.Chan(), start, 2)
	wantReceived(t, "tickStop", tickStop.Chan(), start, -1)
	wantReceived(t, "tickReset", tickReset.Chan(), start, -1)
	wantReceived(t, "reset", reset.Chan(), start, -1)
	clock.Advance(1) // 8: the first tick after the read
	wantReceived(t, "ticker", ticker.Chan(), start, 8)
	clock.Advance(7)
	wantReceived(t, "reset", reset.Chan(), start, 15)
	wantReceived(t, "tickReset", tickReset.Chan(), start, 11)
}

func TestClock_HoldNests(t *testing.T) {
	clock, happened := fakeclock.New(), &log{}
	first, second := clock.Hold(), clock.Hold()
	clock.AfterFunc(1, func() { happened.add(clock, "ran") })
	clock.Advance(1)
	first()
	first() // does not count twice
	happened.want(t, "first release")
	second()
	happened.want(t, "last release", "ran@1ns")
}

// A function that is released may hold again, or stop the timer after it.
func TestClock_HoldDuringRelease(t *testing.T) {
	clock, happened := fakeclock.New(), &log{}
	start := clock.Now()
	timer := clock.NewTimer(9)
	var again func()
	release := clock.Hold()
	clock.AfterFunc(1, func() {
		happened.add(clock, "a")
		again = clock.Hold()
		wantBool(t, "Stop() of a held timer", timer.Stop(), true)
	})
	timer.Reset(2)
	clock.AfterFunc(3, func() { happened.add(clock, "b") })
	clock.Advance(3)
	release()
	happened.want(t, "release", "a@3ns")
	clock.AfterFunc(1, func() { happened.add(clock, "c") })
	clock.Advance(1)
	happened.want(t, "Advance(1)")
	again()
	happened.want(t, "again", "b@4ns", "c@4ns")
	wantReceived(t, "stopped", timer.Chan(), start, -1)
}

func TestClock_HoldKeepsSleepers(t *testing.T) {
	clock, happened := fakeclock.New(), &log{}
	clock.AfterFunc(1, func() {
		clock.Sleep(1)
		happened.add(clock, "awaited")
		clock.Sleep(3)
		happened.add(clock, "second")
	})
	clock.Advance(1)
	woke := make(chan struct{})
	go func() {
		clock.Sleep(2)
		close(woke)
	}()
	clock.BlockUntil(2)
	release := clock.Hold()
	clock.Advance(4)
	happened.want(t, "Advance(4)")
	select {
	case <-woke:
		t.Error("Sleep returned in a Hold")
	default:
	}
	release()
	happened.want(t, "release", "awaited@5ns")
	<-woke
	clock.Advance(3)
	happened.want(t, "Advance(3)", "second@8ns")
}

func TestClock_HoldInCallback(t *testing.T) {
	clock, happened := fakeclock.New(), &log{}
	var release func()
	clock.AfterFunc(1, func() { release = clock.Hold() })
	clock.AfterFunc(1, func() { happened.add(clock, "held") })
	clock.Advance(2)
	happened.want(t, "Advance(2)")
	release()
	happened.want(t, "release", "held@2ns")
}
