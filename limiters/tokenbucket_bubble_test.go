//go:build go1.25

package limiters

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// With no clock, time is that of the bubble.
func TestTokenBucket_inBubble(t *testing.T) {
	l := NewTokenBucket(10, 2) // made outside
	synctest.Test(t, func(t *testing.T) {
		for i, tt := range []struct {
			sleep time.Duration
			want  []bool
		}{
			{0, []bool{true, true, false}},
			{100*ms - 1, []bool{false}},
			{1, []bool{true, false}},
			{time.Hour, []bool{true, true, false}}, // full again,
			{time.Hour, []bool{true, true, false}}, // and again
			{150 * ms, []bool{true, false}},
			{50 * ms, []bool{true, false}},
		} {
			time.Sleep(tt.sleep)
			for k, want := range tt.want {
				if got := l.Allow(); got != want {
					t.Errorf("step %d: Allow #%d = %v, want %v", i, k, got, want)
				}
			}
		}

		// Instants of the caller's, and then the clock's again.
		now := time.Now()
		if !l.AllowN(now.Add(time.Hour), 2) || l.Allow() {
			t.Error("AllowN in an hour: want true, and then nothing")
		}
		time.Sleep(time.Hour + 100*ms)
		if got := l.Tokens(); got != 1 || !l.Allow() || l.Allow() {
			t.Errorf("Tokens = %v, want 1", got)
		}
	})
}

// Goroutines that compete for every token get what the envelope has, exactly.
func TestTokenBucket_saturated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewTokenBucket(1000, 5)
		var granted atomic.Int64
		var wg sync.WaitGroup
		for range 8 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for range 1001 {
					if l.Allow() {
						granted.Add(1)
					}
					time.Sleep(ms)
				}
			}()
		}
		wg.Wait()
		if got, want := granted.Load(), int64(1000+5); got != want {
			t.Errorf("%d grants in 1s, want %d", got, want)
		}
	})
}
