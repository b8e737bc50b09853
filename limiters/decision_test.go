package limiters

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/internal/prove"
	"pgregory.net/rapid"
)

// decider is what decides at an instant.
type decider interface {
	Taker
	AllowAt(t time.Time, n int) Decision
	Fresh() bool
}

var deciders = map[string]func(opts ...Option) decider{
	"FixedWindow":    func(opts ...Option) decider { return NewFixedWindow(3, time.Second, opts...) },
	"SlidingLog":     func(opts ...Option) decider { return NewSlidingLog(3, time.Second, opts...) },
	"SlidingCounter": func(opts ...Option) decider { return NewSlidingCounter(3, time.Second, opts...) },
	"GCRA":           func(opts ...Option) decider { return NewGCRA(time.Second/4, 3, opts...) },
	"TokenBucket":    func(opts ...Option) decider { return NewTokenBucket(4, 3, opts...) },
}

// All answer alike, with Take and, for many keys, through a Keyed.
func TestTaker(t *testing.T) {
	over, cancel := context.WithCancel(context.Background())
	cancel()
	for name, make := range deciders {
		clock := fakeclock.New()
		keyed := NewKeyed(2, func(string) decider { return make(WithClock(clock)) }, decider.Fresh)
		for _, l := range []Taker{make(WithClock(clock)), keyed} {
			takes(t, name, l, over, clock)
			clock.Advance(time.Hour)
		}
		for _, key := range []string{"a", "b"} {
			_, _ = keyed.Take(context.Background(), key, 1)
		}
		if d, err := keyed.Take(context.Background(), "c", 1); !errors.Is(err, ErrTooManyKeys) || d != (Decision{}) {
			t.Errorf("%s: a third key: %+v, %v", name, d, err)
		}
		clock.Advance(time.Hour) // and a and b can be forgotten
		if d, err := keyed.Take(context.Background(), "c", 1); err != nil || !d.Allowed {
			t.Errorf("%s: a third key, an hour later: %+v, %v", name, d, err)
		}
	}
}

// takes looks at what a Taker answers that lets 3 in a second; over is a context that is done.
func takes(t *testing.T, name string, l Taker, over context.Context, clock *fakeclock.Clock) {
	t.Helper()
	window := map[string]time.Duration{"GCRA": 750 * ms, "TokenBucket": 750 * ms}
	take := func(key string, n int) Decision {
		t.Helper()
		d, err := l.Take(context.Background(), key, n)
		if err != nil {
			t.Errorf("%s: Take(%s, %d): %v", name, key, n, err)
		}
		return d
	}
	if d, err := l.Take(over, "a", 1); !errors.Is(err, context.Canceled) || d != (Decision{}) {
		t.Errorf("%s: with a context that is done: %+v, %v", name, d, err)
	}
	for want := 3; want > 0; want-- {
		if d := take("a", 0); !d.Allowed || d.Remaining != want || d.RetryAfter != 0 || d.Limit != 3 {
			t.Errorf("%s: a look at %d: %+v", name, want, d)
		}
		if d := take("a", 1); !d.Allowed || d.Remaining != want-1 || d.RetryAfter != 0 || d.ResetAfter <= 0 {
			t.Errorf("%s: of %d one: %+v", name, want, d)
		}
	}
	if w := take("a", 0).Window; w != time.Second && w != window[name] {
		t.Errorf("%s: window %v", name, w)
	}
	d := take("a", 1)
	if d.Allowed || d.RetryAfter <= 0 || d.RetryAfter > 2*time.Second {
		t.Errorf("%s: one too many: %+v", name, d)
	}
	clock.Advance(d.RetryAfter)
	if d := take("a", 1); !d.Allowed {
		t.Errorf("%s: denied after RetryAfter: %+v", name, d)
	}
	for _, n := range []int{-1, 4, math.MaxInt} {
		if d := take("a", n); d.Allowed || d.RetryAfter != InfDuration {
			t.Errorf("%s: %d of 3: %+v", name, n, d)
		}
	}
	clock.Advance(take("a", 0).ResetAfter)
	if d := take("a", 3); !d.Allowed {
		t.Errorf("%s: denied after ResetAfter: %+v", name, d)
	}
}

// Whatever the rate, what is denied is granted RetryAfter later and not sooner; after
// ResetAfter everything is there; and Remaining can be granted, and no more.
func TestTokenBucket_AllowAt(t *testing.T) {
	prove.SameSeed(t)
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.OneOf(
			rapid.SampledFrom([]Limit{1, 3, 10, 10. / 13, 0.3, 1e-3, 6e8, 1e9, 2e9, 3e9, 1e12}),
			rapid.Map(rapid.Float64Range(-6, 12), func(x float64) Limit { return Limit(math.Pow(10, x)) }),
		).Draw(t, "rate")
		burst := rapid.IntRange(0, 20).Draw(t, "burst")
		type request struct {
			at time.Time
			n  int
		}
		var history []request
		again := func(at time.Time, n int) Decision { // the same history, ended otherwise
			l := NewTokenBucket(rate, burst)
			for _, r := range history {
				l.AllowAt(r.at, r.n)
			}
			return l.AllowAt(at, n)
		}
		at := t0
		for range rapid.IntRange(1, 8).Draw(t, "requests") {
			at = at.Add(time.Duration(rapid.Float64Range(-1, 3).Draw(t, "gap") / float64(rate) * 1e9))
			n := rapid.IntRange(0, burst+1).Draw(t, "n")
			d := again(at, n)
			history = append(history, request{at, n})
			saysWhen(t, again, d, at, n, burst)
			if !again(at, d.Remaining).Allowed || d.Remaining < burst && again(at, d.Remaining+1).Allowed {
				t.Fatalf("AllowAt(%v, %d) = %+v, but not so many remain", at, n, d)
			}
			if full := again(at.Add(d.ResetAfter), burst); burst > 0 && !full.Allowed {
				t.Fatalf("AllowAt(%v, %d) = %+v, but then not everything is there", at, n, d)
			}
		}
	})
}

// The same of windows. The contract of quotas leaves the answers of sliding counters alone.
func TestWindows_AllowAt(t *testing.T) {
	prove.SameSeed(t)
	for _, kind := range windowKinds {
		t.Run(kind.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				limit := rapid.IntRange(0, 12).Draw(t, "limit")
				length := time.Duration(rapid.IntRange(1, 40).Draw(t, "window"))
				type request struct {
					at time.Time
					n  int
				}
				var history []request
				again := func(at time.Time, n int) Decision { // the same history, ended otherwise
					w := kind.make(limit, length).(interface {
						AllowAt(t time.Time, n int) Decision
					})
					for _, r := range history {
						w.AllowAt(r.at, r.n)
					}
					return w.AllowAt(at, n)
				}
				at := t0
				for range rapid.IntRange(1, 12).Draw(t, "requests") {
					at = at.Add(time.Duration(rapid.IntRange(-5, 30).Draw(t, "gap")))
					n := rapid.IntRange(0, limit+1).Draw(t, "n")
					d := again(at, n)
					history = append(history, request{at, n})
					agrees(t, again, d, at, n, limit)
				}
			})
		})
	}
}

// saysWhen checks when a decision says that its n events, or of a look one, are granted.
func saysWhen(t *rapid.T, again func(time.Time, int) Decision, d Decision, at time.Time, n, limit int) {
	wanted := max(n, 1)
	switch {
	case d.Allowed != (d.RetryAfter == 0) && n > 0 || n == 0 && !d.Allowed:
		t.Fatalf("AllowAt(%v, %d) = %+v", at, n, d)
	case wanted > limit:
		if d.RetryAfter != InfDuration {
			t.Fatalf("AllowAt(%v, %d) = %+v of %d", at, n, d, limit)
		}
	case d.RetryAfter == 0:
		if n == 0 && !again(at, 1).Allowed {
			t.Fatalf("AllowAt(%v, 0) = %+v, but one is denied", at, d)
		}
	case again(at.Add(d.RetryAfter-1), wanted).Allowed || !again(at.Add(d.RetryAfter), wanted).Allowed:
		t.Fatalf("AllowAt(%v, %d) = %+v, but it is granted sooner, or not then", at, n, d)
	}
}

// agrees checks what a window of a limit decided by what it decides at other instants.
func agrees(t *rapid.T, again func(time.Time, int) Decision, d Decision, at time.Time, n, limit int) {
	saysWhen(t, again, d, at, n, limit)
	if !again(at, d.Remaining).Allowed || d.Remaining < limit && again(at, d.Remaining+1).Allowed {
		t.Fatalf("AllowAt(%v, %d) = %+v, but not so many remain", at, n, d)
	}
	if r := again(at.Add(d.ResetAfter), 0); r.ResetAfter != 0 || r.Remaining != limit {
		t.Fatalf("AllowAt(%v, %d) = %+v, but then %+v", at, n, d, r)
	}
	if d.ResetAfter > 0 && again(at.Add(d.ResetAfter-1), 0).ResetAfter != 1 {
		t.Fatalf("AllowAt(%v, %d) = %+v, but it is fresh sooner", at, n, d)
	}
}

// Rates and bursts without an end, or without a beginning.
func TestTokenBucket_AllowAtExtremes(t *testing.T) {
	const inf = InfDuration
	for _, tt := range []struct {
		rate  Limit
		burst int
		want  [2]Decision // of AllowAt(t0, 1), twice
	}{
		{Inf, 0, [2]Decision{{true, math.MaxInt, 0, math.MaxInt, 0, 0}, {true, math.MaxInt, 0, math.MaxInt, 0, 0}}},
		{0, 1, [2]Decision{{true, 1, inf, 0, 0, inf}, {false, 1, inf, 0, inf, inf}}},
		{Limit(math.Inf(-1)), 2, [2]Decision{{true, 2, inf, 1, 0, inf}, {true, 2, inf, 0, 0, inf}}},
		{1, 0, [2]Decision{{false, 0, 0, 0, inf, 0}, {false, 0, 0, 0, inf, 0}}},
		{Every(math.MaxInt64), 1, [2]Decision{{true, 1, inf, 0, 0, inf}, {false, 1, inf, 0, inf, inf}}},
		{1e18, math.MaxInt32, [2]Decision{{true, math.MaxInt32, 2, math.MaxInt32, 0, 1}, {true, math.MaxInt32, 2, math.MaxInt32, 0, 1}}},
	} {
		l := NewTokenBucket(tt.rate, tt.burst)
		for i, want := range tt.want {
			if got := l.AllowAt(t0, 1); got != want {
				t.Errorf("rate %v, burst %d, #%d: %+v, want %+v", tt.rate, tt.burst, i, got, want)
			}
		}
	}
	var zero TokenBucket
	if got, want := zero.AllowAt(t0, 1), (Decision{Window: inf, RetryAfter: inf}); got != want {
		t.Errorf("zero TokenBucket: %+v, want %+v", got, want)
	}
}

// A bucket that was changed is another than a new one, however full.
func TestTokenBucket_Fresh(t *testing.T) {
	clock := fakeclock.New()
	for name, change := range map[string]func(*TokenBucket){
		"SetLimit": func(l *TokenBucket) { l.SetLimit(2) },
		"SetBurst": func(l *TokenBucket) { l.SetBurst(2) },
	} {
		l := NewTokenBucket(1, 1, WithClock(clock))
		fresh := []bool{l.Fresh(), l.Allow() && l.Fresh()}
		clock.Advance(time.Second - 1)
		fresh = append(fresh, l.Fresh())
		clock.Advance(1)
		fresh = append(fresh, l.Fresh())
		change(l)
		clock.Advance(time.Hour)
		fresh = append(fresh, l.Fresh())
		for i, want := range []bool{true, false, false, true, false} {
			if fresh[i] != want {
				t.Errorf("%s: fresh %v", name, fresh)
				break
			}
		}
	}
	if l := NewTokenBucket(Inf, 1); !l.Allow() || !l.Fresh() {
		t.Error("a bucket of rate Inf is not fresh")
	}
}

// After huge windows and however the clock goes, answers do not overflow.
func TestWindows_AllowAtExtremes(t *testing.T) {
	for _, kind := range windowKinds {
		for _, length := range []time.Duration{1, math.MaxInt64} {
			w := kind.make(math.MaxInt, length).(interface {
				AllowAt(t time.Time, n int) Decision
			})
			for _, at := range []time.Time{t0, t0.AddDate(290, 0, 0), {}, t0.AddDate(-290, 0, 0), time.Unix(1<<40, 0)} {
				for _, n := range []int{math.MaxInt, 1, 0, -1} {
					d := w.AllowAt(at, n)
					if d.RetryAfter < 0 || d.ResetAfter < 0 || d.Remaining < 0 || n != 0 && d.Allowed != (d.RetryAfter == 0) {
						t.Errorf("%s of %v: AllowAt(%v, %d) = %+v", kind.name, length, at, n, d)
					}
				}
			}
		}
	}
}

func TestKeyed_Take_panics(t *testing.T) {
	k := NewKeyed(1, func(string) int { return 0 }, func(int) bool { return true })
	wantPanic(t, "limiters: Keyed.Take: a int has no Take: use Do", func() { _, _ = k.Take(context.Background(), "", 1) })
}
