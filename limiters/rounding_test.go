package limiters

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// truncating is what golang.org/x/time/rate v0.14.0 computes, for a history in which time
// does not go back and everything is granted: tokens in floating point, delays cut off.
type truncating struct {
	limit, burst, tokens float64
	last                 time.Time
}

// ask returns the delay of n tokens at t: 0 is what AllowN grants.
func (l *truncating) ask(t time.Time, n int) (delay time.Duration, tokens float64) {
	tokens = min(l.tokens+t.Sub(l.last).Seconds()*l.limit, l.burst) - float64(n)
	if tokens < 0 {
		delay = time.Duration(-tokens / l.limit * float64(time.Second))
	}
	return delay, tokens
}

func (l *truncating) take(t time.Time, n int) time.Duration {
	delay, tokens := l.ask(t, n)
	l.last, l.tokens = t, tokens
	return delay
}

// Delays are the same as those of x/time/rate, or one nanosecond apart, and both happen.
// The package comment once said that they are the same to the nanosecond.
func TestTokenBucket_rounding(t *testing.T) {
	for _, r := range []Limit{10, 3, 10. / 13, 0.3, 1, 1000, Every(7 * time.Millisecond), 1. / 60} {
		t.Run(r.String(), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(4, 2))
			apart, delays := map[time.Duration]int{}, 0
			for range 20 {
				l, there, at := NewTokenBucket(r, 10), truncating{float64(r), 10, 10, t0}, t0
				for range 500 {
					at = at.Add(time.Duration(rnd.Float64() * 2 / float64(r) * 1e9))
					n := 1 + rnd.IntN(3)
					delays++
					apart[l.ReserveN(at, n).DelayFrom(at)-there.take(at, n)]++
				}
			}
			if apart[-1]+apart[0]+apart[1] != delays {
				t.Errorf("delays are apart by %v, want 1ns at most", apart)
			}
			if apart[1] == 0 || apart[0] == 0 || apart[-1] > apart[1] {
				t.Errorf("delays are apart by %v, want some the same and some 1ns longer", apart)
			}
		})
	}
}

// With one event a day, its errors add up.
func TestTokenBucket_roundingOfSlowRates(t *testing.T) {
	rnd := rand.New(rand.NewPCG(4, 2))
	l, there, at := NewTokenBucket(1./86400, 10), truncating{1. / 86400, 10, 10, t0}, t0
	least := time.Duration(0)
	for range 5000 {
		at = at.Add(time.Duration(rnd.Float64() * 2 * 86400e9))
		least = min(least, l.ReserveN(at, 1).DelayFrom(at)-there.take(at, 1))
	}
	if least > -5 || least < -50 {
		t.Errorf("delays are apart by %v at most, want some thirty nanoseconds", -least)
	}
}

// At an exact boundary x/time/rate is one nanosecond early.
func TestTokenBucket_exactBoundary(t *testing.T) {
	const interval = 100 * time.Millisecond
	l, there := NewTokenBucket(10, 10), truncating{10, 10, 0, t0}
	l.AllowN(t0, 10)
	var here, others []string
	for _, at := range []time.Duration{interval - 2, interval - 1, interval} {
		if delay, _ := there.ask(t0.Add(at), 1); delay == 0 {
			others = append(others, at.String())
		}
		if l.AllowN(t0.Add(at), 1) {
			here = append(here, at.String())
		}
	}
	if got, want := fmt.Sprint(here, others), "[100ms] [99.999999ms 100ms]"; got != want {
		t.Errorf("granted at %s, want %s", got, want)
	}
}

// Nothing adds up: after a million events the next token is complete at its nanosecond.
func TestTokenBucket_nothingAddsUp(t *testing.T) {
	for limit, interval := range map[Limit]time.Duration{10: 100 * time.Millisecond, Every(7 * time.Millisecond): 7 * time.Millisecond} {
		l, at := NewTokenBucket(limit, 1), t0
		for i := range 1_000_000 {
			if !l.AllowN(at, 1) || i%1000 == 0 && l.AllowN(at.Add(interval-1), 1) {
				t.Fatalf("limit %v: event %d is not at its nanosecond", limit, i)
			}
			at = at.Add(interval)
		}
	}
}
