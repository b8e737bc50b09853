package limiters

import (
	"cmp"
	"context"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// grant is when an event was granted: at some instant between the two, on the
// monotonic clock, counted from the start.
type grant struct{ before, after time.Duration }

// Eight goroutines ask each limiter as fast as they can, on the real clock, for as long
// as LIMITERS_SOAK says (10s). What is granted stays within the envelope of the bucket,
// or the bound of the window, in every stretch of time. Without it the test is skipped:
// it is a soak, and takes real time.
func TestSoak(t *testing.T) {
	long := soak(t)
	const rate, burst, n, window = 1e5, 1000, 10_000, 100 * time.Millisecond
	for _, tt := range []struct {
		name  string
		allow func() bool
		most  func(span time.Duration) float64 // in any stretch so long
	}{
		{"TokenBucket", NewTokenBucket(rate, burst).Allow, func(s time.Duration) float64 { return rate*s.Seconds() + burst }},
		{"GCRA", NewGCRA(time.Second/rate, burst).Allow, func(s time.Duration) float64 { return rate*s.Seconds() + burst }},
		{"FixedWindow", NewFixedWindow(n, window).Allow, func(s time.Duration) float64 { return n * float64(s/window+2) }},
		{"SlidingLog", NewSlidingLog(n, window).Allow, func(s time.Duration) float64 { return n * float64(s/window+1) }},
		{"SlidingCounter", NewSlidingCounter(n, window).Allow, func(s time.Duration) float64 { return n * float64(s/window+2) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			grants, asked := hammer(tt.allow, long)
			// From the first of some grants to the last of them: no limiter can have granted
			// the first before it was asked, nor the last after it had answered.
			first := make([]time.Duration, len(grants))
			for i := len(grants) - 1; i >= 0; i-- {
				first[i] = grants[i].before
				if i+1 < len(grants) {
					first[i] = min(first[i], first[i+1])
				}
			}
			closest := 0.
			for i := range grants {
				for j := i; j < len(grants); j += 1 + (j-i)/8 { // all short stretches, and ever fewer of the longer ones
					got, most := float64(j-i+1), tt.most(grants[j].after-first[i])
					if closest = max(closest, got/most); got > most {
						t.Fatalf("%v granted from %v to %v, want %v at the most", got, first[i], grants[j].after, most)
					}
				}
			}
			t.Logf("%d of %d requests granted; at the most %.4f of what may be", len(grants), asked, closest)
		})
	}
}

// soak is for how long a soak runs; without one it skips the test.
func soak(t *testing.T) time.Duration {
	t.Helper()
	long, err := time.ParseDuration(os.Getenv("LIMITERS_SOAK"))
	if err != nil {
		t.Skip("set LIMITERS_SOAK=10s to run it for 10s each")
	}
	return long
}

// hammer returns what was granted, in the order of the answers, and how often it asked.
func hammer(allow func() bool, long time.Duration) (grants []grant, asked int) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	start := time.Now()
	for range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			var own []grant
			n := 0
			for before := time.Duration(0); before < long; n++ {
				before = time.Since(start)
				if allow() {
					own = append(own, grant{before, time.Since(start)})
				}
			}
			mu.Lock()
			defer mu.Unlock()
			grants, asked = append(grants, own...), asked+n
		}()
	}
	wg.Wait()
	slices.SortFunc(grants, func(a, b grant) int { return cmp.Compare(a.after, b.after) })
	return grants, asked
}

// Eight goroutines put items into a leaky bucket as fast as they can. Each that is
// accepted leaves once, and none before its turn: the n-th not before n intervals after
// the first.
func TestSoak_leakyBucket(t *testing.T) {
	long := soak(t)
	const interval = 20 * time.Microsecond
	var mu sync.Mutex
	var left []time.Duration
	start := time.Now()
	b := NewLeakyBucket(interval, 100, func(int) {
		mu.Lock()
		defer mu.Unlock()
		left = append(left, time.Since(start))
	})
	grants, asked := hammer(func() bool { _, err := b.Put(1); return err == nil }, long)
	if err := b.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if len(left) != len(grants) {
		t.Errorf("%d items left, want the %d that were accepted", len(left), len(grants))
	}
	first := grants[0].before
	for _, g := range grants {
		first = min(first, g.before)
	}
	for i, at := range left {
		if due := first + time.Duration(i)*interval; at < due {
			t.Fatalf("item %d left at %v, want %v at the earliest", i, at, due)
		}
	}
	t.Logf("%d of %d items accepted, %.4f of the rate", len(left), asked, float64(len(left))*interval.Seconds()/long.Seconds())
}

// Eight goroutines take one of three slots and give it back as fast as they can: no more
// than three ever have one.
func TestSoak_concurrency(t *testing.T) {
	long := soak(t)
	const limit = 3
	c := NewConcurrency(limit, Backlog(4))
	var running, most atomic.Int64
	grants, asked := hammer(func() bool {
		if c.Acquire(context.Background(), 1) != nil {
			return false
		}
		defer c.Release(1)
		if n := running.Add(1); n > most.Load() {
			most.Store(n)
		}
		defer running.Add(-1)
		return true
	}, long)
	if most.Load() > limit || c.InUse() != 0 || c.Waiting() != 0 {
		t.Errorf("%d ran at once, %d slots in use and %d requests waiting in the end; want %d at the most, 0 and 0", most.Load(), c.InUse(), c.Waiting(), limit)
	}
	t.Logf("%d of %d requests ran, %d at once", len(grants), asked, most.Load())
}
