package debounce

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"
)

func TestBatch(t *testing.T) {
	for _, tt := range []struct {
		name string
		wait time.Duration
		opts []Option
		want []string
	}{
		{"trailing", 100 * ms, nil, []string{"[1 2 3]@210ms", "[4]@1.11s", "[5 6]@1.12s", "[8]@1.13s"}},
		{"leading", 100 * ms, []Option{Leading()}, []string{"[1]@0s", "[4]@1.01s", "[5]@1.11s", "[8]@1.13s"}},
		{"both", 100 * ms, []Option{LeadingAndTrailing()}, []string{"[1]@0s", "[2 3]@210ms", "[4]@1.01s", "[5]@1.11s", "[6]@1.12s", "[7]@1.12s", "[8]@1.13s"}},
		{"twice", 100 * ms, []Option{LeadingAndTrailingTwice()}, []string{"[1]@0s", "[1 2 3]@210ms", "[4]@1.01s", "[4]@1.11s", "[5]@1.11s", "[5 6]@1.12s",
			"[7]@1.12s", "[8]@1.13s", "[8]@1.13s"}},
		{"bound", 100 * ms, []Option{MaxWait(60 * ms)}, []string{"[1]@60ms", "[2 3]@130ms", "[4]@1.07s", "[5 6]@1.12s", "[8]@1.13s"}},
		{"zero", 0, nil, []string{"[1]@0s", "[2]@70ms", "[3]@110ms", "[4]@1.01s", "[5]@1.11s", "[6]@1.12s", "[7]@1.12s", "[8]@1.13s"}},
	} {
		c := newHandClock()
		start := c.now
		var fires []string
		b := NewBatch(tt.wait, func(vs []int) {
			fires = append(fires, fmt.Sprintf("%v@%v", vs, c.now.Sub(start)))
			clear(vs) // it is ours
		}, append(tt.opts, WithClock(c))...)
		b.Call(1)
		c.to(70 * ms)
		b.Call(2)
		c.to(40 * ms)
		b.Call(3)
		c.to(900 * ms)
		b.Call(4)
		c.to(100 * ms)
		b.Call(5)
		c.to(10 * ms)
		b.Call(6)
		b.Flush()
		b.Call(7)
		b.Cancel()
		c.to(10 * ms)
		b.Call(8)
		if err := b.Close(context.Background()); err != nil || b.Pending() {
			t.Errorf("%s: Close() = %v, pending %v", tt.name, err, b.Pending())
		}
		b.Call(9)
		b.Stop()
		c.to(time.Hour)
		if !slices.Equal(fires, tt.want) {
			t.Errorf("%s: fires = %v, want %v", tt.name, fires, tt.want)
		}
	}
}
