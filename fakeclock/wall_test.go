package fakeclock_test

import (
	"context"
	"testing"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/synctestcompat"
)

func TestClock_SetWallMovesNothing(t *testing.T) {
	for _, step := range []time.Duration{0, time.Hour, -time.Hour, -10 * 365 * 24 * time.Hour, maxRange} {
		clock, happened := fakeclock.New(), &log{}
		clock.Advance(5)
		timer, ticker := clock.NewTimer(10), clock.NewTicker(4)
		clock.AfterFunc(10, func() { happened.add(clock, "ran") })
		wall := clock.Now().Add(step)
		clock.SetWall(wall)
		if got := clock.Now(); got != wall {
			t.Errorf("%v: Now() = %v, want %v", step, got, wall)
		}
		wantElapsed(t, clock, 5)
		wantTimers(t, "SetWall", clock, "Ticker 9 4", "Timer 15", "AfterFunc 15")
		wantNext(t, clock, wall, 4)
		clock.Advance(9)
		wantReceived(t, "Advance(9)", ticker.Chan(), wall, 4)
		wantReceived(t, "Advance(9)", timer.Chan(), wall, -1)
		happened.want(t, "Advance(9)")
		clock.Advance(1)
		wantReceived(t, "Advance(10)", timer.Chan(), wall, 10)
		happened.want(t, "Advance(10)", "ran@15ns")
		if got := clock.Now(); got != wall.Add(10) {
			t.Errorf("%v: Now() = %v, want %v", step, got, wall.Add(10))
		}
		wantElapsed(t, clock, 15)
	}
}

func TestClock_SetWallLocationAndReading(t *testing.T) {
	clock := fakeclock.New()
	at := time.Now().In(time.FixedZone("somewhere", 3600)) // only its form matters
	clock.SetWall(at)
	if got := clock.Now(); got != at.Round(0) {
		t.Errorf("Now() = %v, want %v", got, at.Round(0))
	}
}

func TestClock_SetWallTargets(t *testing.T) {
	clock := fakeclock.New()
	clock.Advance(time.Hour)
	wall := time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC)
	clock.SetWall(wall)
	clock.AdvanceTo(wall.Add(time.Minute))
	wantElapsed(t, clock, time.Hour+time.Minute)
	clock.AdvanceUntil(wall.Add(2 * time.Minute))
	wantElapsed(t, clock, time.Hour+2*time.Minute)
	timer := clock.NewTimerAt(wall.Add(3 * time.Minute))
	wantNext(t, clock, wall, 3*time.Minute)
	if at, ok := clock.AdvanceNext(); !ok || at != wall.Add(3*time.Minute) {
		t.Errorf("AdvanceNext() = %v, %v, want %v, true", at, ok, wall.Add(3*time.Minute))
	}
	wantReceived(t, "AdvanceNext()", timer.Chan(), wall, 3*time.Minute)
	if got := panicOf(func() { clock.AdvanceTo(wall) }); got == nil {
		t.Error("AdvanceTo an earlier wall time did not panic")
	}
	// A function's step does not change where its Advance goes.
	clock.AfterFunc(time.Second, func() { clock.SetWall(wall) })
	clock.AdvanceTo(wall.Add(4 * time.Minute))
	wantElapsed(t, clock, time.Hour+4*time.Minute)
	if got, want := clock.Now(), wall.Add(59*time.Second); got != want {
		t.Errorf("Now() = %v, want %v", got, want)
	}
}

// What was held keeps the wall time of its instant.
func TestClock_SetWallDuringHold(t *testing.T) {
	clock := fakeclock.New()
	start := clock.Now()
	timer := clock.NewTimer(5)
	release := clock.Hold()
	clock.Advance(6)
	clock.SetWall(start.Add(time.Hour))
	release()
	wantReceived(t, "release", timer.Chan(), start, 5)
}

// The segments, at these elapsed times: 0 to 10 shows 0 to 10; 10 to 30 shows
// 100 to 120; 30 to 40 shows 5 to 15, partly again; then a moment at 500; from
// 40 on 50 to 60.
func TestClock_SinceAcrossSteps(t *testing.T) {
	clock := fakeclock.New()
	start := clock.Now()
	for _, s := range []struct{ wall, lasts time.Duration }{{0, 10}, {100, 20}, {5, 10}, {500, 0}, {50, 10}} {
		clock.SetWall(start.Add(s.wall))
		clock.Advance(s.lasts)
	}
	for _, tt := range []struct{ at, elapsed time.Duration }{
		{0, 0}, {4, 4}, // first segment
		{5, 30}, {10, 35}, {15, 40}, // shown twice: the latest
		{100, 10}, {120, 30}, // both ends count
		{500, 40},          // shown for no time
		{50, 40}, {60, 50}, // current
		{-1, -11}, {16, 6}, {49, 39}, {61, 51}, {99, 89}, {121, 111}, {499, 489}, // never shown: as now
	} {
		at := start.Add(tt.at)
		if got, want := clock.Since(at), 50-tt.elapsed; got != want {
			t.Errorf("Since(start+%d) = %d, want %d", tt.at, got, want)
		}
		want := tt.elapsed - 50
		if tt.at > 60 { // to come, whether it was shown or not
			want = tt.at - 60
		}
		if got := clock.Until(at); got != want {
			t.Errorf("Until(start+%d) = %d, want %d", tt.at, got, want)
		}
	}
	far := start.AddDate(5000, 0, 0)
	if got := clock.Since(far); got != -maxRange-1 {
		t.Errorf("Since(far) = %d, want %d", got, -maxRange-1)
	}
	if got := clock.Until(far); got != maxRange {
		t.Errorf("Until(far) = %d, want %d", got, maxRange)
	}
}

func TestClock_SetWallWakesBlockUntilFunc(t *testing.T) {
	synctestcompat.Run(t, func(t *testing.T) {
		clock := fakeclock.New()
		wall := clock.Now().Add(time.Hour)
		result := make(chan error, 1)
		go func() {
			result <- clock.BlockUntilFunc(context.Background(), func([]fakeclock.Timer) bool { return clock.Now() == wall })
		}()
		synctestcompat.Wait()
		clock.SetWall(wall)
		if err := <-result; err != nil {
			t.Errorf("BlockUntilFunc = %v, want nil", err)
		}
	})
}

// Step k of the wall clock comes at second k and goes to hour 10k. So a time
// of step k is at second k or k+1, unless Now mixes two steps.
func TestClock_SetWallRacesNow(t *testing.T) {
	clock := fakeclock.New()
	start := clock.Now()
	const leap, steps = 10 * time.Hour, 20_000
	done := make(chan struct{})
	go func() {
		defer close(done)
		for k := range time.Duration(steps) {
			clock.SetWall(start.Add(k*leap + k*time.Second))
			clock.Advance(time.Second)
		}
	}()
	for last := start; ; {
		now := clock.Now()
		offset := now.Sub(start)
		k, second := offset/leap, offset%leap/time.Second
		if second != k && second != k+1 {
			t.Fatalf("Now() = second %d of step %d, which never was", second, k)
		}
		if now.Before(last) {
			t.Fatalf("Now() = %v after %v", now, last)
		}
		last = now
		if d := clock.Since(now); d < 0 {
			t.Fatalf("Since(a past Now()) = %v", d)
		}
		select {
		case <-done:
			return
		default:
		}
	}
}

// Now is start.Add of what has elapsed, to the bit and in its location, and Since is Now().Sub.
func TestClock_arithmetic(t *testing.T) {
	somewhere := time.FixedZone("somewhere", -3*3600)
	for _, start := range []time.Time{
		{}, time.Unix(0, 0), time.Unix(0, 999_999_999).UTC(), time.Unix(-1, 1).In(somewhere), time.Unix(1<<60, 5), time.Unix(-1<<60, 0),
		time.Date(-5000, 1, 2, 3, 4, 5, 6, somewhere), time.Date(200_000, 1, 1, 0, 0, 0, 999_999_999, time.UTC), time.Now(),
	} {
		clock := fakeclock.New(fakeclock.WithStart(start))
		want := start.Round(0)
		for _, d := range []time.Duration{0, 1, 999_999_999, time.Second, time.Hour + 1, 250 * 365 * 24 * time.Hour} {
			clock.Advance(d)
			if want = want.Add(d); clock.Now() != want {
				t.Errorf("from %v: Now() = %v, want %v", start, clock.Now(), want)
			}
			for _, back := range []time.Duration{0, 1, -1, time.Second, -time.Second, 2 * time.Hour, -time.Hour, maxRange, -maxRange} {
				at := want.Add(-back)
				if got := clock.Since(at); got != want.Sub(at) || clock.Until(at) != at.Sub(want) {
					t.Errorf("from %v: Since(%v) = %v, want %v", start, at, got, want.Sub(at))
				}
			}
		}
	}
}
