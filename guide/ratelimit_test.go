package guide

import (
	"context"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/limiters"
	"github.com/escapement-go/escapement/synctestcompat"
)

func rateLimitBefore(t testing.TB, clock clockwork.Clock) {
	lim := limiters.NewTokenBucket(limiters.Every(10*time.Millisecond), 1, limiters.WithClock(clock))
	began := time.Now()
	for range 5 {
		if err := lim.Wait(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	if took := time.Since(began); took < 39*time.Millisecond || took > 45*time.Millisecond {
		t.Errorf("five calls took %v, want 40ms or so", took)
	}
}

func TestRateLimit_bubble(t *testing.T) {
	synctestcompat.Run(t, func(t *testing.T) {
		lim := limiters.NewTokenBucket(limiters.Every(time.Minute), 1)
		began := time.Now()
		for i := range 5 {
			if err := lim.Wait(context.Background()); err != nil {
				t.Fatal(err)
			}
			if at := time.Since(began); at != time.Duration(i)*time.Minute {
				t.Errorf("call %d went through at %v", i, at)
			}
		}
	})
}

func TestRateLimit_fakeClock(t *testing.T) {
	clock := fakeclock.NewTest(t)
	lim := limiters.NewTokenBucket(limiters.Every(time.Minute), 1, limiters.WithClock(clock))
	if !lim.Allow() || lim.Allow() {
		t.Error("a burst of 1 did not let one call through, and only one")
	}
	clock.Advance(time.Minute - 1)
	if lim.Allow() {
		t.Error("a call went through a nanosecond too early")
	}
	clock.Advance(1)
	if !lim.Allow() {
		t.Error("no call went through after a minute")
	}
}

func TestRateLimit_noClock(t *testing.T) {
	lim := limiters.NewTokenBucket(limiters.Every(time.Minute), 1)
	start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, step := range []struct {
		after time.Duration
		want  bool
	}{
		{0, true},
		{0, false},
		{time.Minute - 1, false},
		{time.Minute, true},
	} {
		if got := lim.AllowN(start.Add(step.after), 1); got != step.want {
			t.Errorf("AllowN(start + %v, 1) = %v, want %v", step.after, got, step.want)
		}
	}
}
