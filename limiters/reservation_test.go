package limiters

import (
	"math"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
)

// reserve is ReserveN(t0+at, n), which must be OK, with the delay wanted.
func reserve(t *testing.T, l *TokenBucket, at time.Duration, n int, want time.Duration) *Reservation {
	t.Helper()
	r := l.ReserveN(t0.Add(at), n)
	if got := r.DelayFrom(t0.Add(at)); !r.OK() || got != want {
		t.Errorf("ReserveN(%v, %d): OK %v, delay %v, want %v", at, n, r.OK(), got, want)
	}
	return r
}

// tokens is TokensAt(t0+at).
func tokens(t *testing.T, l *TokenBucket, at time.Duration, want float64) {
	t.Helper()
	if got := l.TokensAt(t0.Add(at)); math.Abs(got-want) > 1e-9 {
		t.Errorf("TokensAt(%v) = %v, want %v", at, got, want)
	}
}

func cancel(r *Reservation, at time.Duration) { r.CancelAt(t0.Add(at)) }

func TestReservation(t *testing.T) {
	l := NewTokenBucket(10, 3)
	reserve(t, l, 0, 2, 0)
	reserve(t, l, 0, 2, 100*ms)
	reserve(t, l, 0, 3, 400*ms)
	tokens(t, l, 0, -4)
	run(t, l, t0, []ask{{0, 1, false}, {499 * ms, 1, false}, {500 * ms, 1, true}})
	reserve(t, l, 450*ms, 1, 150*ms) // as of 500ms

	r := reserve(t, l, 500*ms, 1, 200*ms)
	for at, want := range map[time.Duration]time.Duration{0: 700 * ms, 600 * ms: 100 * ms, 700 * ms: 0, time.Hour: 0} {
		if got := r.DelayFrom(t0.Add(at)); got != want {
			t.Errorf("DelayFrom(%v) = %v, want %v", at, got, want)
		}
	}
}

func TestReservation_notOK(t *testing.T) {
	l := NewTokenBucket(10, 3)
	var zero TokenBucket
	for _, tt := range []struct {
		l *TokenBucket
		n int
	}{{l, 4}, {l, maxInt}, {l, -1}, {l, math.MinInt}, {&zero, 1}, {NewTokenBucket(Inf, 0), -1}} {
		before := tt.l.TokensAt(t0)
		r := tt.l.ReserveN(t0, tt.n)
		if r.OK() || r.DelayFrom(t0) != InfDuration || r.Delay() != InfDuration {
			t.Errorf("ReserveN(%d): OK %v, delay %v", tt.n, r.OK(), r.DelayFrom(t0))
		}
		r.Cancel()
		r.CancelAt(t0)
		if got := tt.l.TokensAt(t0); got != before {
			t.Errorf("ReserveN(%d) and Cancel: %v tokens, before %v", tt.n, got, before)
		}
	}
	var none Reservation
	if none.Cancel(); none.OK() || none.Delay() != InfDuration {
		t.Error("the zero Reservation is OK")
	}
}

// Nothing flows in, or for as good as ever.
func TestReservation_never(t *testing.T) {
	for _, limit := range []Limit{0, 1e-12, Every(math.MaxInt64)} {
		l := NewTokenBucket(limit, 2)
		reserve(t, l, 0, 2, 0)
		r := reserve(t, l, 0, 2, InfDuration)
		if got := r.DelayFrom(t0.Add(time.Hour)); got != InfDuration || !r.OK() {
			t.Errorf("limit %v: an hour later the delay is %v", limit, got)
		}
		tokens(t, l, 0, -2)
		cancel(r, time.Hour)
		if got := l.TokensAt(t0.Add(time.Hour)); got < 0 || got > 1e-6 {
			t.Errorf("limit %v: %v tokens after Cancel, want next to none", limit, got)
		}
	}

	// When there is a limit again the debt is still there, and the delay still forever.
	l := NewTokenBucket(0, 0)
	l.SetBurstAt(t0, 1)
	r := reserve(t, l, 0, 1, InfDuration)
	l.SetLimitAt(t0.Add(time.Hour), 1)
	tokens(t, l, time.Hour, -1)
	if got := r.DelayFrom(t0.Add(3 * time.Hour)); got != InfDuration {
		t.Errorf("delay after SetLimit = %v", got)
	}

	// A debt that is too great to count is refused.
	if narrow {
		return
	}
	l = NewTokenBucket(1e12, maxInt)
	reserve(t, l, 0, maxInt, 0)
	if r := l.ReserveN(t0, maxInt); r.OK() {
		t.Error("a debt of 9e18 is OK")
	}
	reserve(t, l, 0, wide(4e18), 4e6*time.Second)
	if r := l.ReserveN(t0, wide(1e18)); r.OK() {
		t.Error("a debt of 5e18 is OK")
	}
	tokens(t, l, 0, -4e18)
}

func TestReservation_Cancel(t *testing.T) {
	drained := func(limit Limit, b int) *TokenBucket {
		l := NewTokenBucket(limit, b)
		l.AllowN(t0, b)
		return l
	}

	t.Run("newest first", func(t *testing.T) {
		l := drained(60, 5) // 60/s is no whole number of nanoseconds
		r1, r2, r3 := l.ReserveN(t0, 1), l.ReserveN(t0, 4), l.ReserveN(t0, 1)
		before := l.left
		for i, r := range []*Reservation{r3, r2, r1} {
			cancel(r, 0)
			tokens(t, l, 0, []float64{-5, -1, 0}[i])
		}
		if l.left != before+6 {
			t.Errorf("left = %v, want %v", l.left, before+6)
		}
	})
	t.Run("oldest first", func(t *testing.T) {
		l := drained(1, 5)
		r1, r2 := l.ReserveN(t0, 4), l.ReserveN(t0, 3)
		cancel(r1, 0) // 3 tokens are reserved behind it
		tokens(t, l, 0, -6)
		cancel(r2, 0)
		tokens(t, l, 0, -3)
	})
	t.Run("twice", func(t *testing.T) {
		l := drained(1, 10)
		r := l.ReserveN(t0, 5)
		cancel(r, 0)
		cancel(r, 0)
		tokens(t, l, 0, 0)

		// Also if others came between, and if the first time it was too late or in vain.
		r = l.ReserveN(t0, 1)
		cancel(r, 2*time.Second)
		l.ReserveN(t0, 5)
		cancel(r, 0)
		tokens(t, l, 2*time.Second, -4)
		l = drained(1, 10)
		r1, r2 := l.ReserveN(t0, 2), l.ReserveN(t0, 2)
		cancel(r1, 0)
		cancel(r2, 0)
		cancel(r1, 0)
		tokens(t, l, 0, -2)
	})
	t.Run("when it may act", func(t *testing.T) {
		for at, want := range map[time.Duration]float64{time.Second - 1: 1, time.Second: 1, time.Second + 1: 0} {
			l := drained(1, 5)
			cancel(l.ReserveN(t0, 1), at)
			tokens(t, l, time.Second, want)
		}
		l := NewTokenBucket(1, 5)
		r1, r2 := l.ReserveN(t0, 2), l.ReserveN(t0, 2)
		cancel(r1, 0)
		tokens(t, l, 0, 3)
		cancel(r2, 1)
		tokens(t, l, 0, 3)
	})
	t.Run("part of one", func(t *testing.T) { // 2.5 tokens, of which the second needs half of one more
		l := drained(1, 3)
		now := 2500 * ms
		r1, r2 := reserve(t, l, now, 2, 0), reserve(t, l, now, 1, 500*ms)
		cancel(r1, now)
		tokens(t, l, now, 1)
		cancel(r2, now)
		tokens(t, l, now, 2)
	})
	t.Run("less than one", func(t *testing.T) {
		l := drained(1, 3)
		now := 1500 * ms
		r1 := reserve(t, l, now, 1, 0)
		reserve(t, l, now, 1, 500*ms)
		cancel(r1, now)
		tokens(t, l, now, 0)
	})
	t.Run("more than fits, at a change", func(t *testing.T) {
		l := drained(10, 3)
		r := l.ReserveN(t0, 3)
		l.SetLimitAt(t0, 100)
		l.SetLimitAt(t0.Add(50*ms), 1)
		cancel(r, 50*ms)
		if l.AllowN(t0.Add(50*ms), 3); l.AllowN(t0.Add(50*ms), 1) {
			t.Error("a fourth token of 3")
		}
	})
	t.Run("part of one, the newest first", func(t *testing.T) {
		l := drained(1, 3)
		now := 2500 * ms
		r1, r2 := reserve(t, l, now, 2, 0), reserve(t, l, now, 1, 500*ms)
		cancel(r2, now)
		tokens(t, l, now, 0.5)
		cancel(r1, now)
		tokens(t, l, now, 2.5)
	})
	t.Run("SetLimit, the newest first", func(t *testing.T) {
		l := drained(10, 5)
		r1 := l.ReserveN(t0, 1) // in 100ms
		l.SetLimitAt(t0, 20)
		r2 := l.ReserveN(t0.Add(60*ms), 3)
		cancel(r2, 85*ms) // the tokens of r1 have come long ago
		cancel(r1, 85*ms)
		tokens(t, l, 85*ms, 1.7)
	})
	t.Run("SetLimit, the newest first, of a whole bucket", func(t *testing.T) {
		l := drained(10, 3)
		r1 := l.ReserveN(t0, 3)
		l.SetLimitAt(t0, 20)
		r2 := l.ReserveN(t0.Add(50*ms), 3)
		cancel(r2, 50*ms) // what it left no room for comes back all the same
		cancel(r1, 50*ms)
		tokens(t, l, 50*ms, 1)
	})
	t.Run("SetBurst, and the newest stays", func(t *testing.T) {
		l := drained(10, 5)
		r1 := l.ReserveN(t0, 5)
		l.SetBurstAt(t0, 2)
		r2 := l.ReserveN(t0, 2)
		l.ReserveN(t0, 1) // in 800ms, when there are 2 with what comes back of r2
		cancel(r2, 0)
		cancel(r1, 0)
		tokens(t, l, 0, -7)
	})
	t.Run("SetBurst at a limit of 0, and another who never acts", func(t *testing.T) {
		l := NewTokenBucket(1, 3)
		r := l.ReserveN(t0, 2)
		l.SetLimitAt(t0, 0)
		l.SetBurstAt(t0, 2) // without r, one of 3 tokens would be lost here
		l.ReserveN(t0, 2)
		cancel(r, 0)
		tokens(t, l, 0, 0)
	})
	t.Run("SetBurst between, later", func(t *testing.T) {
		l := drained(10, 5)
		r := l.ReserveN(t0, 5)
		l.SetBurstAt(t0.Add(200*ms), 5)
		for range 3 {
			l.ReserveN(t0.Add(200*ms), 1)
		}
		cancel(r, 200*ms)
		tokens(t, l, 200*ms, -4)
	})
	t.Run("SetLimit between", func(t *testing.T) {
		l := drained(1, 10)
		r1 := l.ReserveN(t0, 5)
		l.SetLimitAt(t0, 10)
		r2 := l.ReserveN(t0, 5)
		cancel(r1, 0) // 5 tokens are reserved behind it, at whatever rate
		tokens(t, l, 0, -10)
		cancel(r2, 0)
		tokens(t, l, 0, -5)
		if got := r1.DelayFrom(t0); got != 5*time.Second {
			t.Errorf("delay after SetLimit = %v, want 5s", got)
		}
	})
	t.Run("full between", func(t *testing.T) {
		l := drained(1, 5)
		r := l.ReserveN(t0, 5)
		l.SetLimitAt(t0, 100)
		l.AllowN(t0.Add(time.Second), 5) // full again, and empty
		cancel(r, time.Second)
		tokens(t, l, time.Second, 0)
	})
	t.Run("almost full between", func(t *testing.T) {
		l := drained(1, 5)
		r := l.ReserveN(t0, 5)
		l.SetLimitAt(t0, 10)
		l.AllowN(t0.Add(900*ms), 4) // there were 4 of 5
		cancel(r, 900*ms)
		tokens(t, l, 900*ms, 1)
	})
	t.Run("almost full, twice", func(t *testing.T) {
		l := drained(1, 5)
		r1, r2 := l.ReserveN(t0, 2), l.ReserveN(t0, 2)
		l.SetLimitAt(t0, 10)
		l.AllowN(t0.Add(800*ms), 4) // room for one more
		cancel(r1, 800*ms)
		tokens(t, l, 800*ms, 1)
		cancel(r2, 800*ms)
		tokens(t, l, 800*ms, 1)
	})
	t.Run("almost full, then reserved", func(t *testing.T) {
		l := drained(1, 5)
		r := l.ReserveN(t0, 5)
		l.SetLimitAt(t0, 10)
		l.ReserveN(t0.Add(900*ms), 5)
		l.AllowN(t0.Add(1100*ms), 1)
		tokens(t, l, 1100*ms, 0)
		cancel(r, 1100*ms) // the other acts at 1s, when it would have been full for long
		tokens(t, l, 1100*ms, 0)
	})
	t.Run("full and almost full", func(t *testing.T) {
		l := drained(1, 5)
		l.ReserveN(t0, 5)
		l.SetLimitAt(t0, 100)
		l.AllowN(t0.Add(time.Second), 5) // nothing from before counts any more
		l.SetLimitAt(t0.Add(time.Second), 1)
		r := l.ReserveN(t0.Add(time.Second), 2)
		l.SetLimitAt(t0.Add(1100*ms), 10)
		l.AllowN(t0.Add(1690*ms), 4)
		cancel(r, 1690*ms)
		tokens(t, l, 1690*ms, 1)
	})
	t.Run("SetBurst, and who never acts", func(t *testing.T) {
		l := drained(0, 3)
		r := l.ReserveN(t0, 2)
		l.SetBurstAt(t0, 6)
		l.ReserveN(t0, 5) // leaves as much room as before: it is never there
		cancel(r, 0)
		tokens(t, l, 0, -5)
	})
	t.Run("SetLimit between, later", func(t *testing.T) {
		l := drained(1, 5)
		r := l.ReserveN(t0, 5)
		l.SetLimitAt(t0.Add(2*time.Second), 2)
		l.ReserveN(t0.Add(2*time.Second), 1)
		cancel(r, 2*time.Second)
		tokens(t, l, 2*time.Second, 0)
	})
	t.Run("no burst between", func(t *testing.T) {
		l := drained(1, 1)
		r := l.ReserveN(t0, 1)
		l.SetBurstAt(t0, 0)
		l.SetBurstAt(t0.Add(time.Second), 1)
		cancel(r, time.Second)
		tokens(t, l, time.Second, 0)
	})
	t.Run("SetBurst between", func(t *testing.T) {
		l := NewTokenBucket(1, 10)
		r := l.ReserveN(t0, 5)
		l.SetBurstAt(t0, 6)
		l.AllowN(t0, 5)
		cancel(r, 0) // of 10, 4 would have been lost
		tokens(t, l, 0, 1)
	})
	t.Run("Inf", func(t *testing.T) {
		l := drained(Inf, 10)
		l.SetLimitAt(t0, 1)
		l.AllowN(t0, 10)
		l.SetLimitAt(t0, Inf)
		r := l.ReserveN(t0, 5) // takes nothing
		l.SetLimitAt(t0, 1)
		cancel(r, 0)
		tokens(t, l, 0, 0)

		r = l.ReserveN(t0, 5)
		l.SetLimitAt(t0, Inf)
		l.SetLimitAt(t0.Add(1), 1) // full
		l.AllowN(t0.Add(1), 10)
		cancel(r, 1)
		tokens(t, l, 1, 0)
	})
	t.Run("time goes back", func(t *testing.T) {
		l := drained(1, 5)
		r := l.ReserveN(t0, 1)
		l.AllowN(t0.Add(2*time.Second), 1)
		cancel(r, 0) // that is 2s, when it has acted
		tokens(t, l, 2*time.Second, 0)
	})
}

func TestTokenBucket_SetLimit(t *testing.T) {
	l := NewTokenBucket(1, 100)
	l.AllowN(t0, 100)
	l.SetLimitAt(t0.Add(5500*ms), 100) // not for the time before
	tokens(t, l, 5500*ms, 5.5)
	tokens(t, l, 5600*ms, 15.5)
	l.SetLimitAt(t0, 1) // as of 5.5s
	tokens(t, l, 6500*ms, 6.5)
	l.SetLimitAt(t0.Add(6500*ms), 0)
	tokens(t, l, time.Hour, 6.5)
	l.SetLimitAt(t0.Add(time.Hour), Inf)
	tokens(t, l, time.Hour, 6.5)
	run(t, l, t0, []ask{{time.Hour, maxInt, true}})
	l.SetLimitAt(t0.Add(time.Hour), 0) // in no time
	tokens(t, l, 2*time.Hour, 6.5)
	l.SetLimitAt(t0.Add(2*time.Hour), Inf)
	l.SetLimitAt(t0.Add(2*time.Hour+1), 1)
	tokens(t, l, 2*time.Hour+1, 100)

	l = NewTokenBucket(3, 5)
	l.AllowN(t0, 5)
	l.SetLimitAt(t0.Add(time.Second), 0) // 3 intervals of 3/s, which are rounded up
	run(t, l, t0, []ask{{time.Second, 3, true}, {time.Second, 1, false}})
	for r, want := range map[Limit]Limit{-1: 0, Limit(math.NaN()): 0, Limit(math.Inf(1)): Inf, 3: 3} {
		if l.SetLimitAt(t0, r); l.Limit() != want {
			t.Errorf("SetLimit(%v): Limit() = %v, want %v", r, l.Limit(), want)
		}
	}
}

func TestTokenBucket_SetBurst(t *testing.T) {
	l := NewTokenBucket(1, 10)
	l.SetBurstAt(t0, 20) // no gift
	tokens(t, l, 0, 10)
	tokens(t, l, 5*time.Second, 15)
	l.SetBurstAt(t0.Add(5*time.Second), 5)
	tokens(t, l, 5*time.Second, 5)
	l.SetBurstAt(t0.Add(5*time.Second), 10) // nor back
	tokens(t, l, 5*time.Second, 5)
	tokens(t, l, time.Hour, 10)
	l.SetBurstAt(t0.Add(time.Hour), -1)
	run(t, l, t0, []ask{{time.Hour, 1, false}, {2 * time.Hour, 1, false}, {2 * time.Hour, 0, true}})
	if got := l.Burst(); got != 0 {
		t.Errorf("Burst() = %v, want 0", got)
	}

	var zero TokenBucket
	zero.SetBurstAt(t0, 2)
	run(t, &zero, t0, []ask{{0, 1, false}, {time.Hour, 1, false}})
	zero.SetLimitAt(t0.Add(time.Hour), 1)
	run(t, &zero, t0, []ask{{time.Hour + 1999*ms, 2, false}, {time.Hour + 2*time.Second, 2, true}})
}

// Methods without an instant use the clock.
func TestReservation_clock(t *testing.T) {
	c := clockwork.NewFakeClockAt(t0)
	l := NewTokenBucket(10, 1, WithClock(c))
	r1, r2, r3 := l.Reserve(), l.Reserve(), l.Reserve()
	for i, r := range []*Reservation{r1, r2, r3} {
		if got, want := r.Delay(), time.Duration(i)*100*ms; got != want {
			t.Errorf("%d: Delay() = %v, want %v", i, got, want)
		}
	}
	c.Advance(150 * ms)
	if got := r2.Delay(); got != 0 {
		t.Errorf("Delay() = %v, want 0", got)
	}
	r2.Cancel() // too late
	r3.Cancel()
	tokens(t, l, 150*ms, .5)
	l.SetLimit(1)
	l.SetBurst(2)
	c.Advance(500 * ms)
	if got := l.Tokens(); math.Abs(got-1) > 1e-9 {
		t.Errorf("Tokens() = %v, want 1", got)
	}
}

func TestReservation_doesNotAllocate(t *testing.T) {
	for name, l := range map[string]*TokenBucket{
		"there": NewTokenBucket(1e9, 1000), "debt": NewTokenBucket(1e-3, 1), "refused": NewTokenBucket(0, 0),
		"clock": NewTokenBucket(1, 10, WithClock(clockwork.NewFakeClockAt(t0))),
	} {
		if got := testing.AllocsPerRun(100, func() {
			r := l.Reserve()
			r.Delay()
			r.Cancel()
			l.ReserveN(t0, 1).DelayFrom(t0)
		}); got != 0 {
			t.Errorf("%s: %v allocations, want 0", name, got)
		}
	}
}

// A debt that has been paid takes nothing from what a later reservation gives back.
func TestReservation_cancelAfterADebt(t *testing.T) {
	for _, wait := range []time.Duration{3, 4, 10, 1000} { // of 3 the bucket is not full
		l := NewTokenBucket(Every(time.Second), 2)
		l.ReserveN(t0, 2)
		l.ReserveN(t0, 2) // complete at 2s
		at := t0.Add(wait * time.Second)
		before := l.TokensAt(at)
		l.ReserveN(at, 1).CancelAt(at)
		if got := l.TokensAt(at); got != before || before == 0 {
			t.Errorf("%v tokens %ds after a debt of 2, %v once one was reserved and given back", before, wait, got)
		}
	}
}
