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
		{"size", 100 * ms, []Option{MaxSize(2)}, []string{"[1 2]@70ms", "[3]@210ms", "[4]@1.11s", "[5 6]@1.12s", "[8]@1.13s"}},
		{"size and delay", 60 * ms, []Option{MaxSize(3), MaxDelay(60 * ms)}, []string{"[1]@60ms", "[2 3]@130ms", "[4]@1.07s", "[5 6]@1.12s", "[8]@1.13s"}},
		{"size of one", 100 * ms, []Option{MaxSize(1)}, []string{"[1]@0s", "[2]@70ms", "[3]@110ms", "[4]@1.01s", "[5]@1.11s", "[6]@1.12s", "[7]@1.12s", "[8]@1.13s"}},
		{"size of one, both", 100 * ms, []Option{MaxSize(1), LeadingAndTrailing()}, []string{"[1]@0s", "[2]@70ms", "[3]@110ms", "[4]@1.01s", "[5]@1.11s", "[6]@1.12s",
			"[7]@1.12s", "[8]@1.13s"}},
		{"size, leading", 100 * ms, []Option{MaxSize(1), Leading()}, []string{"[1]@0s", "[4]@1.01s", "[5]@1.11s", "[8]@1.13s"}},
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

// What makes a batch full while the function runs is run after it, by the same goroutine, and no batch is larger.
func TestBatch_fullInCallback(t *testing.T) {
	c := newHandClock()
	var fires []string
	depth := 0
	var b *Batch[int]
	b = NewBatch(100*ms, func(vs []int) {
		if depth++; depth > 1 {
			t.Error("the function runs within itself")
		}
		if fires = append(fires, fmt.Sprint(vs)); vs[0] == 1 {
			for v := range 5 {
				b.Call(v + 3)
			}
		}
		depth--
	}, MaxSize(2), MaxDelay(50*ms), WithClock(c))
	b.Call(1)
	b.Call(2)
	if got, want := fmt.Sprint(fires), "[[1 2] [3 4] [5 6]]"; got != want {
		t.Errorf("fires = %s, want %s", got, want)
	}
	c.to(50 * ms)
	if got, want := fmt.Sprint(fires[3:]), "[[7]]"; got != want {
		t.Errorf("after the delay, fires = %s, want %s", got, want)
	}
}

// A full batch takes its timer with it.
func TestBatch_fullDisarms(t *testing.T) {
	c := newHandClock()
	var fires []string
	b := NewBatch(100*ms, func(vs []int) { fires = append(fires, fmt.Sprint(vs)) }, MaxSize(2), WithClock(c))
	b.Call(1)
	c.to(60 * ms)
	b.Call(2)
	b.Call(3)
	c.to(99 * ms)
	if got, want := fmt.Sprint(fires), "[[1 2]]"; got != want {
		t.Errorf("fires = %s, want %s", got, want)
	}
	c.to(ms)
	if got, want := fmt.Sprint(fires), "[[1 2] [3]]"; got != want {
		t.Errorf("fires = %s, want %s", got, want)
	}
}
