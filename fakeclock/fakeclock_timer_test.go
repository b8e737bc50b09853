package fakeclock_test

import (
	"testing"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
)

// A step of a timer's life. The zero wait arms nothing; read -2 does not read.
func TestTimer_stopAndReset(t *testing.T) {
	type step struct {
		op   string // advance, stop, reset, read
		d    time.Duration
		want any // what stop, reset or read (offset, -1 for nothing) give
	}
	for _, tt := range []struct {
		name  string
		first time.Duration // argument of NewTimer
		steps []step
	}{
		{"stop armed", 5, []step{{"stop", 0, true}, {"stop", 0, false}, {"advance", 9, nil}, {"read", 0, time.Duration(-1)}}},
		{"stop unread", 5, []step{{"advance", 6, nil}, {"stop", 0, true}, {"read", 0, time.Duration(-1)}, {"stop", 0, false}}},
		{"stop read", 5, []step{{"advance", 6, nil}, {"read", 0, time.Duration(5)}, {"stop", 0, false}}},
		{"reset armed", 5, []step{{"advance", 3, nil}, {"reset", 5, true}, {"advance", 4, nil}, {"read", 0, time.Duration(-1)}, {"advance", 1, nil}, {"read", 0, time.Duration(8)}}},
		{"reset unread", 5, []step{{"advance", 6, nil}, {"reset", 5, true}, {"read", 0, time.Duration(-1)}, {"advance", 5, nil}, {"read", 0, time.Duration(11)}}},
		{"reset read", 5, []step{{"advance", 6, nil}, {"read", 0, time.Duration(5)}, {"reset", 1, false}, {"advance", 1, nil}, {"read", 0, time.Duration(7)}}},
		{"reset stopped", 5, []step{{"stop", 0, true}, {"reset", 2, false}, {"advance", 2, nil}, {"read", 0, time.Duration(2)}, {"read", 0, time.Duration(-1)}}},
		{"refire keeps the newest", 5, []step{{"advance", 5, nil}, {"reset", 5, true}, {"advance", 5, nil}, {"read", 0, time.Duration(10)}, {"read", 0, time.Duration(-1)}}},
		{"reset to now", 5, []step{{"advance", 2, nil}, {"reset", 0, true}, {"read", 0, time.Duration(2)}, {"advance", 9, nil}, {"read", 0, time.Duration(-1)}}},
		{"reset to the past, unread", 5, []step{{"advance", 6, nil}, {"reset", -3, true}, {"reset", -3, true}, {"read", 0, time.Duration(6)}, {"stop", 0, false}}},
		{"made at 0", 0, []step{{"read", 0, time.Duration(0)}, {"stop", 0, false}}},
		{"made in the past", -7, []step{{"stop", 0, true}, {"read", 0, time.Duration(-1)}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			clock := fakeclock.New()
			start := clock.Now()
			timer := clock.NewTimer(tt.first)
			for i, s := range tt.steps {
				var got any
				switch s.op {
				case "advance":
					clock.Advance(s.d)
				case "stop":
					got = timer.Stop()
				case "reset":
					got = timer.Reset(s.d)
				case "read":
					got = received(timer.Chan(), start)
				}
				if got != s.want {
					t.Errorf("step %d: %s(%v) = %v, want %v", i, s.op, s.d, got, s.want)
				}
			}
		})
	}
}

func TestTimer_afterFuncStopAndReset(t *testing.T) {
	clock, happened := fakeclock.New(), &log{}
	timer := clock.AfterFunc(5, func() { happened.add(clock, "ran") })
	if timer.Chan() != nil {
		t.Error("AfterFunc's Chan() is not nil")
	}
	wantBool(t, "Stop() armed", timer.Stop(), true)
	wantBool(t, "Stop() stopped", timer.Stop(), false)
	wantBool(t, "Reset(2) stopped", timer.Reset(2), false)
	wantBool(t, "Reset(3) armed", timer.Reset(3), true)
	clock.Advance(4)
	happened.want(t, "Advance(4)", "ran@3ns")
	wantBool(t, "Stop() ran", timer.Stop(), false)
	wantBool(t, "Reset(1) ran", timer.Reset(1), false)
	clock.Advance(1)
	happened.want(t, "Advance(1)", "ran@5ns")
}

func TestClock_AfterFuncAtOnce(t *testing.T) {
	clock := fakeclock.New()
	for _, d := range []time.Duration{0, -time.Hour} {
		ran := make(chan time.Duration)
		timer := clock.AfterFunc(d, func() { ran <- clock.Elapsed() })
		if got := <-ran; got != 0 {
			t.Errorf("AfterFunc(%v) ran at %v, want 0", d, got)
		}
		wantBool(t, "Stop()", timer.Stop(), false)
		wantBool(t, "Reset(0)", timer.Reset(0), false)
		<-ran
	}
}

func TestTicker_ticks(t *testing.T) {
	const s = time.Second
	clock := fakeclock.New()
	start := clock.Now()
	ticker := clock.NewTicker(s)
	for i := range 3 {
		clock.Advance(s - 1)
		wantReceived(t, "before the tick", ticker.Chan(), start, -1)
		clock.Advance(1)
		wantReceived(t, "at the tick", ticker.Chan(), start, time.Duration(i+1)*s)
		wantReceived(t, "after the tick", ticker.Chan(), start, -1)
	}
}

func TestTicker_dropsWhatIsNotRead(t *testing.T) {
	const s = time.Second
	for _, tt := range []struct {
		name   string
		unread time.Duration // how long
		next   time.Duration // tick after the read
	}{
		{"no tick dropped", s + s/2, 2 * s},
		{"up to the next tick", 2*s - 1, 2 * s},
		{"5.5 periods", 5*s + s/2, 6 * s},
		{"read at a dropped tick", 6 * s, 7 * s},
		{"3.6e9 periods", 3_600_000_000*s + 1, 3_600_000_001 * s},
	} {
		t.Run(tt.name, func(t *testing.T) {
			clock := fakeclock.New()
			start := clock.Now()
			ticker := clock.NewTicker(s)
			clock.Advance(tt.unread)
			wantReceived(t, "unread", ticker.Chan(), start, s)
			wantReceived(t, "read", ticker.Chan(), start, -1)
			wantNext(t, clock, start, tt.next)
			clock.Advance(tt.next - tt.unread - 1)
			wantReceived(t, "before the next", ticker.Chan(), start, -1)
			clock.Advance(1)
			wantReceived(t, "next", ticker.Chan(), start, tt.next)
		})
	}
}

// Visiting each of these 9e18 ticks would take centuries.
func TestTicker_unreadTicksCostNothing(t *testing.T) {
	clock := fakeclock.New()
	start := clock.Now()
	ticker := clock.NewTicker(1)
	clock.Advance(maxRange - 10)
	wantReceived(t, "unread", ticker.Chan(), start, 1)
	clock.Advance(1)
	wantReceived(t, "next", ticker.Chan(), start, maxRange-9)
}

// A tick read at the very instant of a later one, which AdvanceUntil left, once
// lost the later one, because the ticker was taken to have dropped it.
func TestTicker_readBeforeTickOfAdvanceUntil(t *testing.T) {
	const s = time.Second
	for _, period := range []time.Duration{s, 1} {
		clock := fakeclock.New()
		start := clock.Now()
		ticker := clock.NewTicker(period)
		clock.AdvanceUntil(start.Add(6 * period))
		wantNext(t, clock, start, 6*period)
		wantReceived(t, "AdvanceUntil(6)", ticker.Chan(), start, period)
		wantNext(t, clock, start, 6*period)
		clock.Advance(0)
		wantReceived(t, "Advance(0)", ticker.Chan(), start, 6*period)
		clock.Advance(0)
		wantReceived(t, "Advance(0) again", ticker.Chan(), start, -1)
		wantNext(t, clock, start, 7*period)
	}
}

// A function armed before the sixth tick reads the first: the sixth fits.
func TestTicker_readBeforeTickOfSameInstant(t *testing.T) {
	clock := fakeclock.New()
	start := clock.Now()
	ticker := clock.NewTicker(10)
	clock.AfterFunc(60, func() { wantReceived(t, "in the function", ticker.Chan(), start, 10) })
	clock.Advance(60)
	wantReceived(t, "after it", ticker.Chan(), start, 60)
	wantNext(t, clock, start, 70)
}

func TestTicker_stopAndReset(t *testing.T) {
	clock := fakeclock.New()
	start := clock.Now()
	ticker := clock.NewTicker(10)
	clock.Advance(25)
	ticker.Reset(7) // discards the tick of 10
	wantReceived(t, "Reset(7) unread", ticker.Chan(), start, -1)
	clock.Advance(6)
	wantReceived(t, "6 later", ticker.Chan(), start, -1)
	clock.Advance(1)
	wantReceived(t, "7 later", ticker.Chan(), start, 32)
	clock.Advance(7)
	wantReceived(t, "14 later", ticker.Chan(), start, 39)
	ticker.Reset(3) // while armed and read
	clock.Advance(3)
	ticker.Stop() // discards the tick of 42
	wantReceived(t, "Stop() unread", ticker.Chan(), start, -1)
	wantNext(t, clock, start, -1)
	ticker.Stop()
	clock.Advance(100)
	wantReceived(t, "stopped", ticker.Chan(), start, -1)
	ticker.Reset(5)
	clock.Advance(5)
	wantReceived(t, "Reset(5) stopped", ticker.Chan(), start, 147)
	ticker.Stop() // while armed and read
	clock.Advance(100)
	wantReceived(t, "stopped again", ticker.Chan(), start, -1)
}

func TestTicker_nextCountsDroppedTicks(t *testing.T) {
	clock := fakeclock.New()
	start := clock.Now()
	ticker := clock.NewTicker(10)
	clock.Advance(25)
	wantNext(t, clock, start, 30)
	if at, ok := clock.AdvanceNext(); !ok || at != start.Add(30) {
		t.Errorf("AdvanceNext() = %v, %v, want %v, true", at, ok, start.Add(30))
	}
	wantNext(t, clock, start, 40)
	wantReceived(t, "unread", ticker.Chan(), start, 10)
}
