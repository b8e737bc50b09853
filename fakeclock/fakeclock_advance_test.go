package fakeclock_test

import (
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
)

// maxRange is how far a clock moves.
const maxRange = time.Duration(math.MaxInt64)

func TestClock_startAndNow(t *testing.T) {
	zone := time.FixedZone("somewhere", 3600)
	for _, tt := range []struct {
		name string
		opts []fakeclock.Option
		want time.Time
	}{
		{"default", nil, time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)},
		{"zero", []fakeclock.Option{fakeclock.WithStart(time.Time{})}, time.Time{}},
		{"epoch", []fakeclock.Option{fakeclock.WithStart(time.Unix(0, 0))}, time.Unix(0, 0)},
		{"zone", []fakeclock.Option{fakeclock.WithStart(time.Date(1600, 2, 3, 4, 5, 6, 7, zone))}, time.Date(1600, 2, 3, 4, 5, 6, 7, zone)},
		{"far", []fakeclock.Option{fakeclock.WithStart(time.Date(9000, 1, 1, 0, 0, 0, 0, time.UTC))}, time.Date(9000, 1, 1, 0, 0, 0, 0, time.UTC)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			clock := fakeclock.New(tt.opts...)
			if got := clock.Now(); got != tt.want { // the location too
				t.Fatalf("Now() = %v, want %v", got, tt.want)
			}
			wantElapsed(t, clock, 0)
			timer := clock.NewTimer(time.Second)
			wantNext(t, clock, tt.want, time.Second)
			clock.Advance(time.Minute)
			if got := <-timer.Chan(); got != tt.want.Add(time.Second) {
				t.Errorf("timer gave %v, want %v", got, tt.want.Add(time.Second))
			}
			if got := clock.Now(); got != tt.want.Add(time.Minute) {
				t.Errorf("after Advance(1m): Now() = %v, want %v", got, tt.want.Add(time.Minute))
			}
			wantElapsed(t, clock, time.Minute)
			if got := clock.Since(tt.want); got != time.Minute {
				t.Errorf("Since(start) = %v, want 1m", got)
			}
			if got := clock.Until(tt.want.Add(time.Hour)); got != 59*time.Minute {
				t.Errorf("Until(start+1h) = %v, want 59m", got)
			}
			clock.AdvanceTo(tt.want.Add(time.Hour))
			wantElapsed(t, clock, time.Hour)
		})
	}
}

func TestWithStart_dropsMonotonicReading(t *testing.T) {
	start := time.Now() // only its form matters
	if got := fakeclock.New(fakeclock.WithStart(start)).Now(); got != start.Round(0) || strings.Contains(got.String(), "m=") {
		t.Errorf("Now() = %v, want %v", got, start.Round(0))
	}
}

func TestClock_AdvanceOrder(t *testing.T) {
	// Rows name deadlines in arming order; want is the firing order.
	for _, tt := range []struct {
		name      string
		deadlines []time.Duration
		want      []string
	}{
		{"ascending", []time.Duration{1, 2, 3}, []string{"a@1ns", "b@2ns", "c@3ns"}},
		{"descending", []time.Duration{3, 2, 1}, []string{"c@1ns", "b@2ns", "a@3ns"}},
		{"equal", []time.Duration{2, 2, 2, 2, 2, 2}, []string{"a@2ns", "b@2ns", "c@2ns", "d@2ns", "e@2ns", "f@2ns"}},
		{"mixed", []time.Duration{5, 1, 5, 1, 3, 9}, []string{"b@1ns", "d@1ns", "e@3ns", "a@5ns", "c@5ns"}}, // f is later
		{"at once", []time.Duration{4, 0, -1}, []string{"a@4ns"}},                                           // b and c: TestClock_AfterFuncAtOnce
	} {
		t.Run(tt.name, func(t *testing.T) {
			clock, happened := fakeclock.New(), &log{}
			for i, d := range tt.deadlines {
				if d > 0 {
					clock.AfterFunc(d, func() { happened.add(clock, string(rune('a'+i))) })
				}
			}
			clock.Advance(5)
			happened.want(t, "Advance(5)", tt.want...)
			wantElapsed(t, clock, 5)
		})
	}
}

func TestClock_AdvanceOrderManyTimers(t *testing.T) {
	clock := fakeclock.New()
	const n = 1000
	var last time.Duration = -1
	var lastIndex, fired int
	for i := range n {
		d := time.Duration(1 + i*7919%97)
		timer := clock.AfterFunc(d, func() {
			now := clock.Elapsed()
			if now != d || now < last || now == last && i < lastIndex {
				t.Errorf("timer %d for %v fired at %v after timer %d at %v", i, d, now, lastIndex, last)
			}
			last, lastIndex = now, i
			fired++
		})
		if i%3 == 0 { // remove from the middle of the heap
			wantBool(t, "Stop()", timer.Stop(), true)
		}
	}
	clock.Advance(97)
	if want := n - (n+2)/3; fired != want {
		t.Errorf("%d functions ran, want %d", fired, want)
	}
}

func TestClock_AdvanceTickersAmongTimers(t *testing.T) {
	clock, happened := fakeclock.New(), &log{}
	start := clock.Now()
	ticker := clock.NewTicker(2)
	read := func() {
		happened.add(clock, "read "+received(ticker.Chan(), start).String())
	}
	clock.AfterFunc(4, read) // armed before the ticker's second tick: runs before it
	clock.AfterFunc(2, read)
	clock.AfterFunc(3, func() { clock.AfterFunc(1, read) })
	clock.Advance(4) // the tick at 4 was armed at 2, between the two functions
	happened.want(t, "Advance(4)", "read 2ns@2ns", "read -1ns@4ns", "read 4ns@4ns")
}

func TestClock_AdvanceChainsAndRearms(t *testing.T) {
	clock, happened := fakeclock.New(), &log{}
	start := clock.Now()
	var again interface{ Reset(time.Duration) bool }
	n := 0
	again = clock.AfterFunc(2, func() {
		happened.add(clock, "again")
		if n++; n < 3 {
			wantBool(t, "Reset of the timer that runs", again.Reset(2), false)
		}
	})
	var ch <-chan time.Time
	clock.AfterFunc(1, func() {
		happened.add(clock, "first")
		ch = clock.After(4)
		clock.AfterFunc(4, func() {
			happened.add(clock, "chained")
			clock.AfterFunc(100, func() { happened.add(clock, "later") })
		})
	})
	clock.Advance(50)
	happened.want(t, "Advance(50)", "first@1ns", "again@2ns", "again@4ns", "chained@5ns", "again@6ns")
	wantReceived(t, "After made in a callback", ch, start, 5)
	wantNext(t, clock, start, 105)
}

func TestClock_AdvanceStopsEqualDeadline(t *testing.T) {
	clock, happened := fakeclock.New(), &log{}
	var second interface{ Stop() bool }
	clock.AfterFunc(1, func() { wantBool(t, "Stop of an equal deadline", second.Stop(), true) })
	second = clock.AfterFunc(1, func() { happened.add(clock, "stopped") })
	clock.Advance(2)
	happened.want(t, "Advance(2)")
}

func TestClock_AdvanceAwaitsCallbacks(t *testing.T) {
	clock, happened := fakeclock.New(), &log{}
	clock.AfterFunc(1, func() {
		happened.add(clock, "a")
		clock.Sleep(3)
		happened.add(clock, "a woke")
		clock.Sleep(0)
		clock.Sleep(-1)
		clock.Sleep(10)
		happened.add(clock, "a ends")
	})
	clock.AfterFunc(2, func() { happened.add(clock, "b") })
	clock.AfterFunc(4, func() { happened.add(clock, "c"); clock.AfterFunc(0, func() { happened.add(clock, "c0") }) })
	clock.AfterFunc(5, func() { happened.add(clock, "d") })
	clock.Advance(1)
	happened.want(t, "Advance(1)", "a@1ns")
	clock.Advance(5) // a's sleep was armed after c
	happened.want(t, "Advance(5)", "b@2ns", "c@4ns", "c0@4ns", "a woke@4ns", "d@5ns")
	clock.Advance(8)
	happened.want(t, "Advance(8)", "a ends@14ns")
}

func TestClock_AdvanceAwaitsGoexit(t *testing.T) {
	clock, happened := fakeclock.New(), &log{}
	clock.AfterFunc(1, func() { exit() })
	clock.AfterFunc(2, func() { happened.add(clock, "next") })
	clock.Advance(2)
	happened.want(t, "Advance(2)", "next@2ns")
}

func TestClock_AdvanceNextVisitsEach(t *testing.T) {
	clock, happened := fakeclock.New(), &log{}
	start := clock.Now()
	if at, ok := clock.AdvanceNext(); ok || !at.IsZero() {
		t.Errorf("AdvanceNext() = %v, %v with no timer, want zero, false", at, ok)
	}
	clock.AfterFunc(7, func() { happened.add(clock, "c") })
	clock.AfterFunc(3, func() { happened.add(clock, "a") })
	clock.AfterFunc(3, func() { happened.add(clock, "b") })
	clock.NewTimer(5).Stop()
	clock.NewTimer(maxRange) // this deadline never comes: see Next
	for _, want := range []struct {
		at    time.Duration
		lines []string
	}{{3, []string{"a@3ns", "b@3ns"}}, {7, []string{"c@7ns"}}} {
		wantNext(t, clock, start, want.at)
		at, ok := clock.AdvanceNext()
		if !ok || at != start.Add(want.at) {
			t.Errorf("AdvanceNext() = %v, %v, want %v, true", at, ok, start.Add(want.at))
		}
		happened.want(t, "AdvanceNext()", want.lines...)
		wantElapsed(t, clock, want.at)
	}
	wantNext(t, clock, start, -1)
	if _, ok := clock.AdvanceNext(); ok {
		t.Error("AdvanceNext() = true beyond the clock's range, want false")
	}
	wantElapsed(t, clock, 7)
}

func TestClock_AdvanceUntilLeavesWhatIsDue(t *testing.T) {
	clock, happened := fakeclock.New(), &log{}
	start := clock.Now()
	note := func(what string) func() { return func() { happened.add(clock, what) } }
	clock.AfterFunc(1, note("before"))
	stopped := clock.AfterFunc(2, note("stopped"))
	clock.AfterFunc(2, note("at"))
	timer := clock.NewTimer(2)
	clock.AdvanceUntil(start.Add(2))
	happened.want(t, "AdvanceUntil(2)", "before@1ns")
	wantElapsed(t, clock, 2)
	wantNext(t, clock, start, 2)
	wantReceived(t, "AdvanceUntil(2)", timer.Chan(), start, -1)
	wantBool(t, "Stop() at the deadline", stopped.Stop(), true)
	clock.AdvanceUntil(start.Add(2))
	happened.want(t, "AdvanceUntil(2) again")
	clock.Advance(0)
	happened.want(t, "Advance(0)", "at@2ns")
	wantReceived(t, "Advance(0)", timer.Chan(), start, 2)
	clock.AfterFunc(3, note("left")) // left for any of the variants
	clock.AdvanceUntil(start.Add(5))
	clock.Advance(10)
	happened.want(t, "Advance(10)", "left@5ns")
	clock.AfterFunc(5, note("left"))
	clock.AdvanceUntil(start.Add(20))
	if at, ok := clock.AdvanceNext(); !ok || at != start.Add(20) {
		t.Errorf("AdvanceNext() = %v, %v, want %v, true", at, ok, start.Add(20))
	}
	happened.want(t, "AdvanceNext()", "left@20ns")
}

func TestClock_AdvanceToEndOfRange(t *testing.T) {
	clock := fakeclock.New()
	start := clock.Now()
	last, never := clock.NewTimer(maxRange-1), clock.NewTimer(maxRange)
	ticker := clock.NewTicker(maxRange / 2)
	clock.Advance(1)
	beyond := clock.NewTimer(maxRange)
	clock.AdvanceTo(start.Add(maxRange))
	wantReceived(t, "last", last.Chan(), start, maxRange-1)
	wantReceived(t, "never", never.Chan(), start, -1)
	wantReceived(t, "beyond", beyond.Chan(), start, -1)
	wantReceived(t, "ticker", ticker.Chan(), start, maxRange/2)
	clock.Advance(0)
	wantReceived(t, "ticker", ticker.Chan(), start, -1)
	wantNext(t, clock, start, -1)
	wantBool(t, "never.Stop()", never.Stop(), true)
	wantBool(t, "beyond.Stop()", beyond.Stop(), true)
	wantBool(t, "armedIs(1), the ticker", armedIs(clock, 1), true)
	if got := panicOf(func() { clock.Advance(1) }); got == nil {
		t.Error("Advance(1) at the end of the range did not panic")
	}
	clock.Advance(0) // the turn was passed on
}

func TestClock_AdvanceConcurrentlyAddsUp(t *testing.T) {
	clock := fakeclock.New()
	ran := 0 // functions of one clock never overlap
	for i := range 8 * 50 * 3 {
		clock.AfterFunc(time.Duration(i+1), func() { ran++ })
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 50 {
				clock.Advance(3)
			}
		}()
	}
	wg.Wait()
	wantElapsed(t, clock, 8*50*3)
	if ran != 8*50*3 {
		t.Errorf("%d functions ran, want %d", ran, 8*50*3)
	}
}
