package limiters

import (
	"context"
	"testing"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
)

// A look tells when one event could be granted, as a request for one does that is denied.
func TestTaker_peekSaysWhen(t *testing.T) {
	ctx := context.Background()
	makers := map[string]func(opts ...Option) Taker{
		"Keyed":     func(opts ...Option) Taker { return keyedGCRAs(opts...) },
		"KeyedGCRA": func(opts ...Option) Taker { return NewKeyedGCRA[string](2, time.Second/4, 3, opts...) },
	}
	for name, make := range deciders {
		makers[name] = func(opts ...Option) Taker { return make(opts...) }
	}
	for name, make := range makers {
		clock := fakeclock.New()
		l := make(WithClock(clock))
		take := func(n int) Decision {
			d, err := l.Take(ctx, "a", n)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return d
		}
		for left := 3; left > 0; left-- {
			if d := take(0); !d.Allowed || d.Remaining != left || d.RetryAfter != 0 {
				t.Errorf("%s: Take 0 with %d left = %+v", name, left, d)
			}
			take(1)
		}
		for i := range 3 {
			clock.Advance(time.Duration(i) * 100 * time.Millisecond)
			denied, look := take(1), take(0)
			if denied.Allowed != (i > 1 && look.Allowed && denied.RetryAfter == 0) {
				t.Fatalf("%s: Take 1 = %+v", name, denied)
			}
			if denied.Allowed {
				continue // a bucket has one again
			}
			if !look.Allowed || look.Remaining != 0 || look.RetryAfter != denied.RetryAfter || look.RetryAfter == 0 {
				t.Errorf("%s: drained, Take 0 = %+v, Take 1 = %+v", name, look, denied)
			}
		}
		wait := take(0).RetryAfter
		if clock.Advance(wait - 1); take(0).RetryAfter != 1 || take(1).Allowed {
			t.Errorf("%s: a nanosecond before it Take 0 = %+v, Take 1 = %+v", name, take(0), take(1))
		}
		if clock.Advance(1); take(0).RetryAfter != 0 || !take(1).Allowed {
			t.Errorf("%s: %v later nothing is granted", name, wait)
		}
	}
}

func keyedGCRAs(opts ...Option) *Keyed[string, *GCRA] {
	return NewKeyed(2, func(string) *GCRA { return NewGCRA(time.Second/4, 3, opts...) }, (*GCRA).Fresh)
}

// Where one event never can be granted, a look says so.
func TestTaker_peekOfNever(t *testing.T) {
	drained := NewTokenBucket(0, 1)
	drained.AllowAt(t0, 1)
	slow := NewTokenBucket(1e-9, 1)
	slow.AllowAt(t0, 1)
	for name, l := range map[string]interface {
		AllowAt(t time.Time, n int) Decision
	}{
		"FixedWindow of 0": NewFixedWindow(0, time.Second), "SlidingLog of 0": NewSlidingLog(0, time.Second),
		"SlidingCounter of 0": NewSlidingCounter(0, time.Second), "GCRA of 0": NewGCRA(1, 0),
		"TokenBucket of 0": NewTokenBucket(1, 0), "rate 0": drained, "one in 31 years": slow,
		"zero FixedWindow": new(FixedWindow), "zero SlidingLog": new(SlidingLog), "zero GCRA": new(GCRA),
		"zero SlidingCounter": new(SlidingCounter), "zero TokenBucket": new(TokenBucket),
	} {
		d := l.AllowAt(t0, 0)
		want := InfDuration
		if name == "one in 31 years" {
			want = 1e9 * time.Second
		}
		if !d.Allowed || d.RetryAfter < want-time.Second || d.RetryAfter > want {
			t.Errorf("%s: AllowAt(t, 0) = %+v, want RetryAfter %v", name, d, want)
		}
	}
	if d := NewTokenBucket(Inf, 0).AllowAt(t0, 0); !d.Allowed || d.RetryAfter != 0 {
		t.Errorf("rate Inf: AllowAt(t, 0) = %+v", d)
	}
}
