//go:build go1.25

package limiters

import (
	"testing"
	"testing/synctest"
	"time"
)

// With no clock, time is that of the bubble.
func TestGCRA_inBubble(t *testing.T) {
	g := NewGCRA(100*ms, 2) // made outside
	synctest.Test(t, func(t *testing.T) {
		for i, tt := range []struct {
			sleep time.Duration
			want  []bool
		}{
			{0, []bool{true, true, false}},
			{100*ms - 1, []bool{false}},
			{1, []bool{true, false}},
			{150 * ms, []bool{true, false}},
			{50 * ms, []bool{true, false}},
			{time.Hour, []bool{true, true, false}},
			{100 * years, []bool{true, true, false}},
			{100 * ms, []bool{true, false}},
		} {
			time.Sleep(tt.sleep)
			for k, want := range tt.want {
				if look := g.allow(0).Remaining > 0; look != want {
					t.Errorf("step %d: before #%d something remains: %v, want %v", i, k, look, want)
				}
				if got := g.Allow(); got != want {
					t.Errorf("step %d: Allow #%d = %v, want %v", i, k, got, want)
				}
			}
		}
	})
}
