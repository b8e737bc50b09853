package limiters

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"pgregory.net/rapid"

	"github.com/escapement-go/escapement/internal/prove"
)

// ofGCRA is a decision of one with an interval of 100 ms.
func ofGCRA(burst int, allowed bool, remaining int, retryAfter, resetAfter time.Duration) Decision {
	return Decision{allowed, burst, time.Duration(burst) * 100 * ms, remaining, retryAfter, resetAfter}
}

func TestGCRA(t *testing.T) {
	const never, burst = InfDuration, 3
	for _, start := range []time.Time{{}, time.Unix(0, 0), t0} {
		g := NewGCRA(100*ms, 3)
		for i, tt := range []struct {
			at   time.Duration
			n    int
			want Decision
		}{
			{0, 0, ofGCRA(burst, true, 3, 0, 0)}, // a look
			{0, 1, ofGCRA(burst, true, 2, 0, 100*ms)},
			{0, 3, ofGCRA(burst, false, 2, 100*ms, 100*ms)},
			{0, 2, ofGCRA(burst, true, 0, 0, 300*ms)},
			{0, 0, ofGCRA(burst, true, 0, 100*ms, 300*ms)}, // a look says when there is one
			{0, 1, ofGCRA(burst, false, 0, 100*ms, 300*ms)},
			{100*ms - 1, 1, ofGCRA(burst, false, 0, 1, 200*ms+1)},
			{100 * ms, 2, ofGCRA(burst, false, 1, 100*ms, 200*ms)},
			{100 * ms, 1, ofGCRA(burst, true, 0, 0, 300*ms)},
			{350 * ms, 1, ofGCRA(burst, true, 1, 0, 150*ms)},
			{350 * ms, 4, ofGCRA(burst, false, 1, never, 150*ms)},
			{350 * ms, -1, ofGCRA(burst, false, 1, never, 150*ms)},
			{350 * ms, maxInt, ofGCRA(burst, false, 1, never, 150*ms)},
			{350 * ms, math.MinInt, ofGCRA(burst, false, 1, never, 150*ms)},
			{time.Hour, 0, ofGCRA(burst, true, 3, 0, 0)},
			{time.Hour, 3, ofGCRA(burst, true, 0, 0, 300*ms)}, // idle hours save up no more
			{0, 1, ofGCRA(burst, false, 0, time.Hour+100*ms, time.Hour+300*ms)},
			{250 * years, 3, ofGCRA(burst, true, 0, 0, 300*ms)},
			{250 * years, 1, ofGCRA(burst, false, 0, 100*ms, 300*ms)},
			{250*years + 100*ms, 1, ofGCRA(burst, true, 0, 0, 300*ms)},
		} {
			if got := g.AllowAt(start.Add(tt.at), tt.n); got != tt.want {
				t.Errorf("from %v, step %d: AllowAt(%v, %d) = %+v, want %+v", start, i, tt.at, tt.n, got, tt.want)
			}
		}
	}
}

func TestGCRA_zeroValue(t *testing.T) {
	var g GCRA
	for _, n := range []int{-1, 1, maxInt} {
		if got, want := g.AllowAt(t0, n), (Decision{RetryAfter: InfDuration}); got != want {
			t.Errorf("AllowAt(%d) = %+v, want %+v", n, got, want)
		}
	}
	if got, want := g.allow(0), (Decision{Allowed: true, RetryAfter: InfDuration}); got != want || g.Allow() {
		t.Errorf("a look = %+v, want %+v, and Allow false", got, want)
	}
	if NewGCRA(1, -3).Allow() || NewGCRA(1, 0).Allow() {
		t.Error("no burst, but a grant")
	}
}

func TestNewGCRA_panics(t *testing.T) {
	for _, tt := range []struct {
		interval time.Duration
		burst    int
		want     string
	}{
		{0, 1, "limiters: NewGCRA: interval 0s must be >= 1ns: use"},
		{-time.Second, 1, "limiters: NewGCRA: interval -1s must be >= 1ns: use"},
		{time.Hour, math.MaxInt32, "intervals of 1h0m0s are more than 73 years: use"},
		{math.MaxInt64, 1, "limiters: NewGCRA: 1 intervals of"},
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, tt.want) {
					t.Errorf("NewGCRA(%v, %d): panic %q, want %q in it", tt.interval, tt.burst, got, tt.want)
				}
			}()
			NewGCRA(tt.interval, tt.burst)
		}()
	}
	NewGCRA(1<<61, 1)
	NewGCRA(math.MaxInt32, 1<<30) // not too much
}

// Instants further apart than the state counts, and than a time.Duration.
func TestGCRA_farApart(t *testing.T) {
	g := NewGCRA(time.Second, 2)
	at := time.Time{}
	for _, gap := range []time.Duration{0, 35 * years, 40 * years, 200 * years, math.MaxInt64} {
		at = at.Add(gap).Add(gap)
		if !g.AllowAt(at, 2).Allowed || g.AllowAt(at, 1).Allowed || g.AllowAt(at.Add(time.Second-1), 1).Allowed || !g.AllowAt(at.Add(time.Second), 1).Allowed {
			t.Errorf("two times %v later: not two events at once and one a second later", gap)
		}
	}
	if g.AllowAt(at.Add(math.MaxInt64), 3).Allowed || g.AllowAt(at, 1).Allowed {
		t.Error("a denied instant in the future counts")
	}

	slow := NewGCRA(70*years, 1) // longer than an epoch
	for i, due := 0, t0; i < 20; i, due = i+1, due.Add(70*years) {
		if i > 0 && slow.AllowAt(due.Add(-1), 1).Allowed || !slow.AllowAt(due, 1).Allowed {
			t.Fatalf("event %d is not due after 70 years each, or before", i)
		}
	}
}

// bucketNS is a token bucket in integers: of burst*interval nanoseconds, full at
// first, of which an event takes interval.
type bucketNS struct {
	interval, size, level *big.Int
	newest                time.Duration
	begun                 bool
}

func newBucketNS(interval time.Duration, burst int) *bucketNS {
	i := big.NewInt(int64(interval))
	size := new(big.Int).Mul(i, big.NewInt(int64(burst)))
	return &bucketNS{interval: i, size: size, level: new(big.Int).Set(size)}
}

func (b *bucketNS) at(t time.Duration) *big.Int {
	level := new(big.Int).Set(b.level)
	if b.begun {
		level.Add(level, big.NewInt(int64(t-b.newest)))
	}
	if level.Cmp(b.size) > 0 {
		level.Set(b.size)
	}
	return level
}

func (b *bucketNS) take(t time.Duration, n int) bool {
	level := b.at(t)
	level.Sub(level, new(big.Int).Mul(b.interval, big.NewInt(int64(n))))
	if n < 0 || level.Sign() < 0 {
		return false
	}
	if n > 0 {
		b.level, b.newest, b.begun = level, t, true
	}
	return true
}

// Decisions are those of the token bucket, to the nanosecond, and what the result
// says comes true.
func TestGCRA_isTheTokenBucket(t *testing.T) {
	prove.SameSeed(t)
	rounds := prove.Long(1, 1000)
	for range rounds {
		rapid.Check(t, likeTokenBucket)
	}
}

func likeTokenBucket(t *rapid.T) {

	interval := rapid.OneOf(
		rapid.SampledFrom([]time.Duration{1, 2, 3, 7, ms, time.Second}),
		rapid.Map(rapid.Int64Range(1, 1<<50), func(d int64) time.Duration { return time.Duration(d) }),
	).Draw(t, "interval")
	burst := rapid.IntRange(0, 6).Draw(t, "burst")
	start := rapid.SampledFrom([]time.Time{{}, time.Unix(0, 0), t0}).Draw(t, "start")
	g, b := NewGCRA(interval, burst), newBucketNS(interval, burst)
	tb := NewTokenBucket(Every(interval), burst)
	i := Every(interval).interval()
	exact := i.cost == uint64(interval)<<i.shift // not rounded on the way
	at := time.Duration(0)
	for i := range rapid.IntRange(1, 40).Draw(t, "steps") {
		at += rapid.OneOf(
			rapid.SampledFrom([]time.Duration{0, 0, 1, interval - 1, interval, interval + 1, 2 * interval}),
			rapid.Map(rapid.Float64Range(0, 8), func(x float64) time.Duration { return time.Duration(x * float64(interval)) }),
		).Draw(t, "gap")
		n := rapid.OneOf(rapid.IntRange(0, 3), rapid.IntRange(-1, burst+1), rapid.SampledFrom([]int{maxInt, math.MinInt})).Draw(t, "n")
		now := start.Add(at)
		level := b.at(at)
		want := b.take(at, n)
		if n == 0 || !want {
			if before, after := g.AllowAt(now, 0), g.AllowAt(now, 0); before != after {
				t.Fatalf("step %d: looking at %v changes %+v to %+v", i, at, before, after)
			}
		}
		before := g.AllowAt(now, 0)
		got := g.AllowAt(now, n)
		if got.Allowed != want {
			t.Fatalf("step %d: AllowAt(%v, %d) = %+v, but there are %v of %v ns", i, at, n, got, level, b.size)
		}
		if exact && tb.AllowN(now, n) != want {
			t.Fatalf("step %d: TokenBucket.AllowN(%v, %d) = %v", i, at, n, !want)
		}
		if !want && before != g.AllowAt(now, 0) {
			t.Fatalf("step %d: a denial changes %+v to %+v", i, before, g.AllowAt(now, 0))
		}
		after := b.at(at)
		if left := new(big.Int).Div(after, b.interval); left.Int64() != int64(got.Remaining) {
			t.Fatalf("step %d: AllowAt(%v, %d) = %+v, but %v are left", i, at, n, got, left)
		}
		if reset := new(big.Int).Sub(b.size, after); reset.Int64() != int64(got.ResetAfter) {
			t.Fatalf("step %d: AllowAt(%v, %d) = %+v, but it is as new in %v", i, at, n, got, reset)
		}
		retry := InfDuration
		if want && n > 0 {
			retry = 0
		} else if wanted := max(n, 1); n >= 0 && wanted <= burst {
			cost := new(big.Int).Mul(b.interval, big.NewInt(int64(wanted)))
			retry = max(0, time.Duration(cost.Sub(cost, after).Int64())) // of a look, for one
		}
		if got.RetryAfter != retry {
			t.Fatalf("step %d: AllowAt(%v, %d) = %+v, want to retry after %v", i, at, n, got, retry)
		}
	}
}

func TestGCRA_clock(t *testing.T) {
	c := clockwork.NewFakeClockAt(time.Time{})
	g := NewGCRA(100*ms, 2, WithClock(c))
	for i, tt := range []struct {
		advance time.Duration
		want    []bool
	}{
		{0, []bool{true, true, false}}, {100*ms - 1, []bool{false}}, {1, []bool{true, false}}, {time.Hour, []bool{true, true, false}},
	} {
		c.Advance(tt.advance)
		for k, want := range tt.want {
			if got := g.Allow(); got != want {
				t.Errorf("step %d: Allow #%d = %v, want %v", i, k, got, want)
			}
		}
	}
	if got, want := g.allow(2), ofGCRA(2, false, 0, 200*ms, 200*ms); got != want {
		t.Errorf("AllowN(2) = %+v, want %+v", got, want)
	}
}

// However many goroutines ask, at one instant there are burst grants, and looks
// change nothing, also if others come in between.
func TestGCRA_concurrent(t *testing.T) {
	c := clockwork.NewFakeClockAt(t0)
	g := NewGCRA(ms, 50, WithClock(c))
	for round, want := range []int64{50, 20, 50, 50} {
		var granted atomic.Int64
		var wg sync.WaitGroup
		for range 8 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for range 100 {
					if g.Allow() {
						granted.Add(1)
					}
					g.allow(0)
					g.allow(51)
					g.allow(-1)
				}
			}()
		}
		wg.Wait()
		if granted.Load() != want {
			t.Errorf("round %d: %d grants, want %d", round, granted.Load(), want)
		}
		c.Advance([]time.Duration{20 * ms, time.Hour, 50 * years, 0}[round])
	}
}

func TestGCRA_doesNotAllocate(t *testing.T) {
	for name, g := range map[string]*GCRA{
		"grant": NewGCRA(1, 1000), "deny": NewGCRA(time.Hour, 1), "clock": NewGCRA(1, 1000, WithClock(clockwork.NewFakeClockAt(t0))),
	} {
		g.Allow()
		if got := testing.AllocsPerRun(100, func() { g.Allow(); g.allow(2); g.AllowAt(t0, 0) }); got != 0 {
			t.Errorf("%s: %v allocations, want 0", name, got)
		}
	}
}

// Who has granted at instants a century ahead gets the same from all methods.
func TestGCRA_aCenturyAhead(t *testing.T) {
	ahead := func() (*GCRA, *KeyedGCRA[int]) {
		g, k := NewGCRA(years, 72), NewKeyedGCRA[int](1, years, 72)
		g.AllowAt(time.Now().Add(100*years), 1)
		_, _ = k.AllowAt(0, time.Now().Add(100*years), 1)
		return g, k
	}
	g, k := ahead()
	sameG, sameK := ahead()
	if got, want := g.Allow(), sameG.allow(1).Allowed; got != want {
		t.Errorf("Allow of a GCRA = %t, AllowN(1) = %t", got, want)
	}
	want, _ := sameK.Take(context.Background(), 0, 1)
	if got := k.Allow(0); got != want.Allowed {
		t.Errorf("Allow of a KeyedGCRA = %t, Take = %+v", got, want)
	}
}

// To ask for no events changes nothing, whatever the burst, and at whatever instant: before the
// newest one, before the first, and an epoch later.
func TestGCRA_zeroChangesNothing(t *testing.T) {
	const interval, epoch = 100 * time.Nanosecond, time.Duration(tooFar)
	gaps := []time.Duration{0, 1, 50, 99, 100, 101, 1000, -1, -50, -100, -1000, epoch, epoch + 5, epoch / 2, -epoch / 2, -epoch}
	for seed := range uint64(5000) {
		r := rand.New(rand.NewPCG(seed, 0))
		gap := func() time.Duration { return gaps[r.IntN(len(gaps))] }
		burst := r.IntN(6) - 2
		asked, left := NewGCRA(interval, burst), NewGCRA(interval, burst)
		for at, i := time.Unix(0, 0), 0; i < 12; i++ {
			at = at.Add(gap())
			looks := at.Add(gap())
			if d := asked.AllowAt(looks, 0); !d.Allowed || d.Remaining < 0 || d.Remaining > max(0, burst) {
				t.Fatalf("seed %d: AllowAt(%v, 0) = %+v with a burst of %d", seed, looks, d, burst)
			}
			n := r.IntN(5) - 1
			if got, want := asked.AllowAt(at, n), left.AllowAt(at, n); got != want {
				t.Fatalf("seed %d: AllowAt(%v, %d) = %+v after a look, want %+v with a burst of %d",
					seed, at, n, got, want, burst)
			}
		}
	}
}
