package limiters

import (
	"cmp"
	"os"
	"slices"
	"sync"
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
	long, err := time.ParseDuration(os.Getenv("LIMITERS_SOAK"))
	if err != nil {
		t.Skip("set LIMITERS_SOAK=10s to run it for 10s each")
	}
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
