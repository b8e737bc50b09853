package limiters

import (
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
)

const (
	ms     = time.Millisecond
	maxInt = math.MaxInt
	years  = 365 * 24 * time.Hour
)

var t0 = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// ask is AllowN(start+at, n) and the answer wanted.
type ask struct {
	at time.Duration
	n  int
	ok bool
}

func run(t *testing.T, l *TokenBucket, start time.Time, asks []ask) {
	t.Helper()
	for i, a := range asks {
		if got := l.AllowN(start.Add(a.at), a.n); got != a.ok {
			t.Errorf("step %d: AllowN(%v, %d) = %v, want %v", i, a.at, a.n, got, a.ok)
		}
	}
}

func TestTokenBucket(t *testing.T) {
	for _, tt := range []struct {
		name  string
		limit Limit
		burst int
		asks  []ask
	}{
		{"full at first", 10, 2, []ask{{0, 1, true}, {0, 1, true}, {0, 1, false}}},
		{"on the nanosecond", 10, 1, []ask{{0, 1, true}, {100*ms - 1, 1, false}, {100 * ms, 1, true}, {200*ms - 1, 1, false}, {200 * ms, 1, true}}},
		{"denied calls do not count", 1, 1, []ask{{0, 1, true}, {500 * ms, 1, false}, {999 * ms, 1, false}, {1000 * ms, 1, true}}},
		{"all or nothing", 10, 3, []ask{{0, 2, true}, {0, 2, false}, {0, 1, true}, {299 * ms, 3, false}, {300 * ms, 3, true}}},
		{"no more than full", 10, 3, []ask{{0, 3, true}, {time.Hour, 4, false}, {time.Hour, 3, true}, {time.Hour, 1, false}}},
		{"past counts as newest", 1, 10, []ask{{10 * time.Second, 10, true}, {0, 1, false}, {10 * time.Second, 1, false}, {0, 0, true}, {11 * time.Second, 1, true}, {11 * time.Second, 1, false}}},
		{"past after accrual", 1, 10, []ask{{0, 10, true}, {5 * time.Second, 1, true}, {1 * time.Second, 4, true}, {1 * time.Second, 1, false}}},
		{"denied future is forgotten", 1, 1, []ask{{0, 1, true}, {time.Hour, 2, false}, {999 * ms, 1, false}, {1000 * ms, 1, true}}},
		{"n == 0", 1, 1, []ask{{0, 1, true}, {0, 0, true}, {-time.Hour, 0, true}, {0, 1, false}, {time.Second, 1, true}}},
		{"n < 0", 1, 1, []ask{{0, -1, false}, {0, 1, true}, {0, -100, false}, {0, math.MinInt, false}, {0, 1, false}}},
		{"n > burst", 1, 2, []ask{{0, 3, false}, {0, maxInt, false}, {0, 2, true}, {1 << 62, 3, false}}},
		{"rate 0", 0, 2, []ask{{0, 1, true}, {0, 1, true}, {0, 1, false}, {math.MaxInt64, 1, false}}},
		{"rate < 0", -1, 1, []ask{{0, 1, true}, {time.Hour, 1, false}}},
		{"Inf", Inf, 0, []ask{{0, 1, true}, {0, maxInt, true}, {0, 0, true}, {0, -1, false}, {-time.Hour, 5, true}}},
		{"+Inf", Limit(math.Inf(1)), 0, []ask{{0, 1, true}, {0, maxInt, true}}},
		{"burst 0", 10, 0, []ask{{0, 1, false}, {time.Hour, 1, false}, {0, 0, true}}},
		{"burst < 0", 10, -5, []ask{{0, 1, false}, {time.Hour, 1, false}, {0, 0, true}}},
		{"3/s", 3, 1, []ask{{0, 1, true}, {333333332, 1, false}, {333333333, 1, true}, {666666665, 1, false}, {666666666, 1, true}, {999999999, 1, false}, {1000000000, 1, true}}},
		{"10/13 per s", 10. / 13, 1, []ask{{0, 1, true}, {1300*ms - 1, 1, false}, {1300 * ms, 1, true}, {2600*ms - 1, 1, false}, {2600 * ms, 1, true}}},
		{"whole day", Every(24 * time.Hour), 1, []ask{{0, 1, true}, {24*time.Hour - 1, 1, false}, {24 * time.Hour, 1, true}}},
		{"1/ns", 1e9, 1, []ask{{0, 1, true}, {0, 1, false}, {1, 1, true}, {1, 1, false}}},
		{"2/ns", 2e9, 1, []ask{{0, 1, true}, {0, 1, true}, {0, 1, false}, {1, 1, true}, {1, 1, true}, {1, 1, false}}},
		{"2/ns, saved up", 2e9, 10, []ask{{0, 10, true}, {0, 1, true}, {0, 1, false}, {3, 8, false}, {3, 7, false}, {3, 6, true}, {3, 1, false}}},
		{"1e18/s", 1e18, 5, []ask{{0, 5, true}, {0, 6, false}, {1, 5, true}}},
		{"1e18/s, huge burst", 1e18, maxInt, []ask{{0, maxInt, true}, {0, 1e9, false}, {0, 1e9 - 1, true}, {0, 1, false}, {9 * time.Second, wide(9e18 + 2), false}, {9*time.Second + 1, wide(9e18), true}, {9*time.Second + 1, 2e9, false}}},
		{"1e-18/s", 1e-18, 1, []ask{{0, 1, true}, {time.Hour, 1, false}, {math.MaxInt64, 1, false}}},
		{"longest interval", Every(math.MaxInt64), 1, []ask{{0, 1, true}, {0, 1, false}, {1 << 62, 1, false}, {math.MaxInt64 - 1024, 1, false}}},
		{"2^62 ns", Every(1 << 62), 1, []ask{{0, 1, true}, {0, 1, false}, {1<<62 - 2048, 1, false}, {1<<62 + 2048, 1, true}, {1<<62 + 4096, 1, false}}},
		{"smallest rate", math.SmallestNonzeroFloat64, 1, []ask{{0, 1, true}, {math.MaxInt64, 1, false}}},
		{"greatest rate", Limit(math.Nextafter(float64(Inf), 0)), 1, []ask{{0, 1, true}, {0, 1, true}, {0, 2, false}}},
		{"never full for ages", Every(years), 400, []ask{
			{0, 400, true}, {years, 1, true}, {150 * years, 149, true}, {150 * years, 1, false}, {151*years - 1, 1, false},
			{151 * years, 1, true}, {290 * years, 139, true}, {290 * years, 1, false}, {291 * years, 1, true}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if narrow && tt.name == "1e18/s, huge burst" {
				t.Skip("needs an int of 64 bits")
			}
			for _, start := range []time.Time{t0, {}, time.Unix(0, 0), time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC)} {
				run(t, NewTokenBucket(tt.limit, tt.burst), start, tt.asks)
			}
		})
	}
}

func TestTokenBucket_zeroValue(t *testing.T) {
	var l TokenBucket
	run(t, &l, t0, []ask{{0, 1, false}, {0, 0, true}, {time.Hour, 1, false}, {0, -1, false}})
	if l.Allow() || l.Tokens() != 0 || l.Limit() != 0 || l.Burst() != 0 {
		t.Error("a zero TokenBucket grants something")
	}
}

func TestTokenBucket_getters(t *testing.T) {
	for _, tt := range []struct {
		limit Limit
		burst int
		want  Limit
	}{
		{10, 5, 10}, {0, 0, 0}, {-1, -1, 0}, {Limit(math.Inf(1)), 1, Inf}, {Limit(math.Inf(-1)), maxInt, 0}, {Inf, 2, Inf},
	} {
		l := NewTokenBucket(tt.limit, tt.burst)
		if l.Limit() != tt.want || l.Burst() != max(tt.burst, 0) {
			t.Errorf("NewTokenBucket(%v, %d): limit %v, burst %d", tt.limit, tt.burst, l.Limit(), l.Burst())
		}
		if got := l.TokensAt(t0); got != float64(max(tt.burst, 0)) {
			t.Errorf("NewTokenBucket(%v, %d).TokensAt = %v", tt.limit, tt.burst, got)
		}
	}
}

func TestTokenBucket_tokens(t *testing.T) {
	l := NewTokenBucket(10, 5)
	for _, tt := range []struct {
		at   time.Duration
		n    int // taken before
		want float64
	}{
		{0, 0, 5}, {time.Hour, 0, 5}, {0, 5, 0}, {-time.Hour, 0, 0}, {50 * ms, 0, .5}, {300 * ms, 0, 3}, {700 * ms, 0, 5},
		{100 * ms, 1, 0}, {0, 0, 0}, {200 * ms, 0, 1}, {time.Hour, 0, 5}, {600 * ms, 5, 0}, {math.MaxInt64, 0, 5},
	} {
		if at := t0.Add(tt.at); !l.AllowN(at, tt.n) {
			t.Errorf("AllowN(%v, %d) = false", tt.at, tt.n)
		} else if got := l.TokensAt(at); got != tt.want {
			t.Errorf("TokensAt(%v) = %v, want %v", tt.at, got, tt.want)
		}
	}
}

// Instants further apart than a time.Duration count as 292 years apart.
func TestTokenBucket_farApart(t *testing.T) {
	first, last := time.Time{}, time.Date(9000, 1, 1, 0, 0, 0, 0, time.UTC)
	l := NewTokenBucket(1, 3)
	run(t, l, first, []ask{{0, 3, true}, {0, 1, false}})
	run(t, l, last, []ask{{0, 3, true}, {0, 1, false}, {time.Second, 1, true}})
	run(t, l, first, []ask{{0, 1, false}, {time.Hour, 1, false}})
	run(t, l, last, []ask{{2 * time.Second, 1, true}, {2 * time.Second, 1, false}})

	l = NewTokenBucket(0, 3)
	run(t, l, first, []ask{{0, 3, true}})
	run(t, l, last, []ask{{0, 1, false}})
}

// A bucket that 292 years do not fill gets what they bring once, and an instant
// granted out there is the newest like any other.
func TestTokenBucket_farApartNotFull(t *testing.T) {
	first, far := time.Time{}, time.Date(9000, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		every time.Duration
		burst int
		want  int // granted at far, and not again
	}{
		{3 * years, 400, 97}, {100 * years, 5, 2}, {math.MaxInt64, 3, 0},
	} {
		l := NewTokenBucket(Every(tt.every), tt.burst)
		run(t, l, first, []ask{{0, tt.burst, true}})
		for i := range tt.want + 1 {
			if got := l.AllowN(far, 1); got != (i < tt.want) {
				t.Errorf("every %v: AllowN(far, 1) #%d = %v, want %v", tt.every, i, got, i < tt.want)
			}
		}
		if tt.want > 0 {
			run(t, l, far, []ask{{-time.Hour, 1, false}, {-250 * years, 1, false}, {tt.every, 1, true}, {tt.every, 1, false}})
		}
	}

	l := NewTokenBucket(Every(math.MaxInt64), 3) // 292 years bring less than a token
	run(t, l, first, []ask{{0, 1, true}})
	run(t, l, far, []ask{{0, 1, true}, {-250 * years, 1, true}, {0, 1, false}, {-250 * years, 1, false}, {200 * years, 1, true}, {200 * years, 1, false}})

	c := &stepClock{now: first}
	l = NewTokenBucket(Every(3*years), 400, WithClock(c))
	run(t, l, first, []ask{{0, 400, true}})
	c.now = far
	for i := range 98 {
		if got := l.Allow(); got != (i < 97) {
			t.Errorf("Allow #%d in the year 9000 = %v, want %v", i, got, i < 97)
		}
	}
}

// narrow says that an int has 32 bits. A wide number then is not itself, and the tests
// that need one are left out.
const narrow = math.MaxInt == math.MaxInt32

func wide(n int64) int { return int(n) }

// What has gone through the bucket does not blur what is in it.
func TestTokenBucket_tokensDoNotBlur(t *testing.T) {
	if narrow {
		t.Skip("the burst needs an int of 64 bits")
	}
	l, at := NewTokenBucket(6e8, wide(36e9)), t0
	run(t, l, at, []ask{{0, wide(36e9), true}})
	for range 30 * 24 * 60 { // drained every minute for 30 days: 1.6e15 tokens
		at = at.Add(time.Minute)
		run(t, l, at, []ask{{0, wide(36e9), true}})
	}
	for i, want := range []float64{0, .6, 1.2, 1.8, 2.4, 3} {
		if got := l.TokensAt(at.Add(time.Duration(i))); math.Abs(got-want) > .001 {
			t.Errorf("TokensAt %dns later = %v, want %v", i, got, want)
		}
	}
}

// Any number of intervals later, and never full meanwhile, a token is still
// complete at its nanosecond and not before.
func TestTokenBucket_doesNotDrift(t *testing.T) {
	for _, tt := range []struct {
		limit Limit
		every time.Duration // n tokens
		n     int
		steps time.Duration
	}{
		{Every(1), 1, 1, 1e5},
		{Every(7), 7, 1, 1e5},
		{Every(13 * ms), 13 * ms, 1, 1e5},
		{10, 100 * ms, 1, 1e6},
		{Every(1234567891), 1234567891, 1, 1e5},
		{Every(20 * time.Hour), 20 * time.Hour, 1, 1e5},
		{3, time.Second, 3, 1e5},
	} {
		l := NewTokenBucket(tt.limit, 10)
		run(t, l, t0, []ask{{0, 10, true}})
		for i := time.Duration(1); i <= tt.steps; i++ {
			if at := i * tt.every; l.AllowN(t0.Add(at-1), tt.n) || !l.AllowN(t0.Add(at), tt.n) {
				t.Fatalf("%v: step %d is not complete at %v, or before", tt.limit, i, at)
			}
		}
	}
}

// A bucket that is never full keeps count for longer than a time.Duration, and of
// more tokens than there are integers.
func TestTokenBucket_neverFull(t *testing.T) {
	l := NewTokenBucket(Every(years), 1000)
	run(t, l, t0, []ask{{0, 1000, true}})
	at := t0
	for i := range 1000 {
		at = at.Add(years)
		if l.AllowN(at.Add(-1), 1) || !l.AllowN(at, 1) {
			t.Fatalf("token %d is not complete after %d years, or before", i, i+1)
		}
	}

	if narrow {
		return // the rest needs an int of 64 bits
	}
	l = NewTokenBucket(1e18, maxInt)
	run(t, l, t0, []ask{{0, maxInt, true}})
	for i := range time.Duration(100) {
		run(t, l, t0, []ask{{(i + 1) * 5 * time.Second, wide(5e18 - 2e9), true}, {(i + 1) * 5 * time.Second, wide(1e12), false}})
	}
}

func TestTokenBucket_clock(t *testing.T) {
	c := clockwork.NewFakeClockAt(time.Time{})
	l := NewTokenBucket(10, 2, WithClock(c))
	for _, tt := range []struct {
		advance time.Duration
		want    []bool
	}{
		{0, []bool{true, true, false}},
		{100*ms - 1, []bool{false}},
		{1, []bool{true, false}},
		{time.Hour, []bool{true, true, false}},
		{290 * years, []bool{true, true, false}},
	} {
		c.Advance(tt.advance)
		for i, want := range tt.want {
			if got := l.Allow(); got != want {
				t.Errorf("%v later: Allow #%d = %v, want %v", tt.advance, i, got, want)
			}
		}
		if got := l.Tokens(); got != 0 && tt.want[0] {
			t.Errorf("%v later: Tokens = %v, want 0", tt.advance, got)
		}
	}
}

// stepClock goes back as it likes.
type stepClock struct {
	clockwork.Clock
	now time.Time
}

func (c *stepClock) Now() time.Time                  { return c.now }
func (c *stepClock) Since(t time.Time) time.Duration { return c.now.Sub(t) }

func TestTokenBucket_clockGoesBack(t *testing.T) {
	c := &stepClock{now: t0}
	l := NewTokenBucket(1, 1, WithClock(c))
	for i, tt := range []struct {
		step time.Duration
		want bool
	}{
		{0, true}, {-time.Hour, false}, {time.Hour, false}, {time.Second, true}, {-time.Second, false}, {2 * time.Second, true},
	} {
		c.now = c.now.Add(tt.step)
		if got := l.Allow(); got != tt.want {
			t.Errorf("step %d: Allow = %v, want %v", i, got, tt.want)
		}
	}
}

// However many goroutines ask, and in whatever order: at one instant there are
// burst grants, and tokens are not lost to those who are denied.
func TestTokenBucket_concurrent(t *testing.T) {
	c := clockwork.NewFakeClockAt(t0)
	l := NewTokenBucket(1000, 50, WithClock(c))
	for round, want := range []int{50, 20, 20, 20} {
		var wg sync.WaitGroup
		var mu sync.Mutex
		granted := 0
		for range 8 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for range 100 {
					if l.Allow() {
						mu.Lock()
						granted++
						mu.Unlock()
					}
					l.Tokens()
					l.AllowN(t0.Add(-time.Hour), 100)
				}
			}()
		}
		wg.Wait()
		if granted != want {
			t.Errorf("round %d: %d grants, want %d", round, granted, want)
		}
		c.Advance(20 * ms)
	}
}

func TestTokenBucket_doesNotAllocate(t *testing.T) {
	for name, l := range map[string]*TokenBucket{
		"grant": NewTokenBucket(1e9, 1000),
		"deny":  NewTokenBucket(0, 0),
		"clock": NewTokenBucket(1, 10, WithClock(clockwork.NewFakeClockAt(t0))),
	} {
		if got := testing.AllocsPerRun(100, func() { l.Allow(); l.AllowN(t0, 1); l.Tokens() }); got != 0 {
			t.Errorf("%s: %v allocations, want 0", name, got)
		}
	}
}

// Any instants will do. One that was more than 292 years before the year 1 once stopped the
// time of a new bucket until it was there again.
func TestTokenBucket_longAgo(t *testing.T) {
	for _, year := range []int{-291, -292, -293, -10_000, -200_000} {
		at := time.Date(year, 6, 1, 0, 0, 0, 0, time.UTC)
		for name, first := range map[string]func(l *TokenBucket) bool{
			"AllowN":     func(l *TokenBucket) bool { return l.AllowN(at, 1) },
			"AllowAt":    func(l *TokenBucket) bool { return l.AllowAt(at, 1).Allowed },
			"ReserveN":   func(l *TokenBucket) bool { return l.ReserveN(at, 1).DelayFrom(at) == 0 },
			"SetLimitAt": func(l *TokenBucket) bool { l.SetLimitAt(at, 1); return l.AllowN(at, 1) },
			"SetBurstAt": func(l *TokenBucket) bool { l.SetBurstAt(at, 1); return l.AllowN(at, 1) },
		} {
			l := NewTokenBucket(1, 1)
			got := []bool{first(l), l.AllowN(at.Add(time.Second-1), 1), l.AllowN(at.Add(time.Second), 1), l.AllowN(t0, 1)}
			if want := []bool{true, false, true, true}; !slices.Equal(got, want) {
				t.Errorf("%s in the year %d, then 1s-1ns, 1s and long after: %v, want %v", name, year, got, want)
			}
		}
		var zero TokenBucket
		zero.SetLimitAt(at, 1)
		zero.SetBurstAt(at, 1)
		if got := []bool{zero.AllowN(at, 1), zero.AllowN(at.Add(time.Second), 1)}; !slices.Equal(got, []bool{false, true}) {
			t.Errorf("zero TokenBucket in the year %d: %v", year, got)
		}
	}
}
