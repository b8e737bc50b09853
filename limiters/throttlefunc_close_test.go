package limiters

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/synctestcompat"
)

// Close runs the event that waits, once, and nothing comes after it.
func TestThrottleFunc_Close(t *testing.T) {
	ctx := context.Background()
	for _, edges := range allEdges {
		clock := fakeclock.New()
		var ran []string
		h := NewThrottleFunc(time.Second, func(v int) { ran = append(ran, fmt.Sprint(v, "@", clock.Elapsed())) },
			edges, WithClock(clock))
		if h.Pending() {
			t.Errorf("edges %d: a new one is pending", edges)
		}
		h.Call(1)
		h.Call(2)
		if got, want := h.Pending(), edges != Leading; got != want {
			t.Errorf("edges %d: Pending() = %v, want %v", edges, got, want)
		}
		clock.Advance(100 * time.Millisecond)
		for range 2 {
			if err := h.Close(ctx); err != nil || h.Pending() || len(clock.Timers()) != 0 {
				t.Errorf("edges %d: Close = %v, pending %v, timers %v", edges, err, h.Pending(), clock.Timers())
			}
		}
		h.Call(3)
		clock.Advance(time.Hour)
		want := map[Edges][]string{
			Leading: {"1@0s"}, Leading | Trailing: {"1@0s", "2@100ms"},
			Trailing: {"2@100ms"}, Sample: {"2@100ms"},
		}[edges]
		if !slices.Equal(ran, want) {
			t.Errorf("edges %d: ran %v, want %v", edges, ran, want)
		}
	}
	if err := new(ThrottleFunc[int]).Close(ctx); err != nil {
		t.Errorf("Close of a zero ThrottleFunc = %v", err)
	}
}

// Close waits for a run on another goroutine, and for the one after it, as long as ctx says.
func TestThrottleFunc_CloseWaits(t *testing.T) {
	synctestcompat.Run(t, func(t *testing.T) {
		var ran []int
		h := NewThrottleFunc(10*time.Second, func(v int) {
			time.Sleep(time.Second)
			ran = append(ran, v)
		})
		go h.Call(1)
		synctestcompat.Wait()
		h.Call(2)
		short, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		defer cancel()
		began := time.Now()
		if err := h.Close(short); err != context.DeadlineExceeded || time.Since(began) != time.Millisecond {
			t.Errorf("Close with a short ctx = %v after %v", err, time.Since(began))
		}
		if err := h.Close(context.Background()); err != nil || !slices.Equal(ran, []int{1, 2}) {
			t.Errorf("Close = %v after %v, want 1 and 2", err, ran)
		}
	})
}

// The function may call Close, which does not wait for it, and what waits runs after it.
func TestThrottleFunc_CloseInFunction(t *testing.T) {
	for _, interval := range []time.Duration{0, time.Second} {
		clock := fakeclock.New()
		var h *ThrottleFunc[int]
		var ran []int
		h = NewThrottleFunc(interval, func(v int) {
			if ran = append(ran, v); v == 1 {
				h.Call(2)
				if err := h.Close(context.Background()); err != nil {
					t.Errorf("Close = %v", err)
				}
				h.Call(3)
			}
		}, WithClock(clock))
		h.Call(1)
		if !slices.Equal(ran, []int{1, 2}) || h.Pending() || len(clock.Timers()) != 0 {
			t.Errorf("interval %v: ran %v, pending %v, timers %v", interval, ran, h.Pending(), clock.Timers())
		}
	}
}
