package peers

import (
	"sync"
	"testing"
	"time"

	bep "github.com/bep/debounce"
	"github.com/escapement-go/escapement/debounce"
	"github.com/escapement-go/escapement/limiters"
	romdo "github.com/romdo/go-debounce"
	"github.com/samber/lo"
	"golang.org/x/time/rate"
)

// BenchmarkFiring measures a firing, beside the calls that only move one away, which
// BenchmarkDebounce and BenchmarkThrottle measure. In "caller" the function runs on
// the caller's goroutine, each call after the last one's window; in "flush" a call
// becomes pending and is flushed. In "timer" it runs when a timer expires, in a bubble,
// where the whole life counts: the call, the end of the wait, the function and the end
// of a sleep that lasts longer. The functions are empty. Claims: a firing on the
// caller's goroutine takes at most 150 ns, one by a timer at most 1.1 times a bare
// AfterFunc, and nothing is allocated but for a key. All in one binary:
//
//	go test -run '^$' -bench 'Firing' -count 10 -cpu 2 .
func BenchmarkFiring(b *testing.B) {
	b.Run("caller", firingOnCaller)
	b.Run("flush", firingByFlush)
	b.Run("timer", firingByTimer)
}

func firingOnCaller(b *testing.B) {
	f := func(int) {}
	b.Run("floor", func(b *testing.B) { // a lock, a read of the clock, and the function without the lock
		var mu sync.Mutex
		var last time.Duration
		pending(b, func() {
			mu.Lock()
			last = time.Since(began)
			mu.Unlock()
			f(1)
			mu.Lock()
			last++
			mu.Unlock()
		})
	})
	b.Run("debounce-Leading", func(b *testing.B) {
		d := debounce.New(1, f, debounce.Leading())
		defer d.Stop()
		pending(b, func() { d.Call(1) })
	})
	b.Run("debounce-0", func(b *testing.B) {
		d := debounce.New(0, f)
		defer d.Stop()
		pending(b, func() { d.Call(1) })
	})
	b.Run("ThrottleFunc", func(b *testing.B) {
		h := limiters.NewThrottleFunc(1, f)
		defer h.Stop()
		pending(b, func() { h.Call(1) })
	})
	b.Run("ThrottleFunc-0", func(b *testing.B) {
		h := limiters.NewThrottleFunc(0, f)
		defer h.Stop()
		pending(b, func() { h.Call(1) })
	})
	b.Run("LeakyBucket", func(b *testing.B) {
		l := limiters.NewLeakyBucket(1, 1, f)
		defer l.Stop()
		pending(b, func() { _, _ = l.Put(1) })
	})
	b.Run("Sometimes", func(b *testing.B) {
		s := limiters.Sometimes{Every: 1}
		pending(b, func() { s.Do(func() {}) })
	})
	b.Run("xtime-Sometimes", func(b *testing.B) {
		s := rate.Sometimes{Every: 1}
		pending(b, func() { s.Do(func() {}) })
	})
	b.Run("lo", func(b *testing.B) { // the reset stands for the end of the interval, which needs a timer
		throttled, reset := lo.NewThrottle(time.Hour, func() {})
		defer reset()
		pending(b, func() { throttled(); reset() })
	})
}

func firingByFlush(b *testing.B) {
	b.Run("floor", func(b *testing.B) { // of a caller's firing, and a timer that is armed and stopped
		var mu sync.Mutex
		var last time.Duration
		f := func() {}
		timer := time.AfterFunc(time.Hour, f)
		defer timer.Stop()
		pending(b, func() {
			mu.Lock()
			last = time.Since(began)
			timer.Reset(time.Hour)
			mu.Unlock()
			mu.Lock()
			timer.Stop()
			mu.Unlock()
			f()
			mu.Lock()
			last++
			mu.Unlock()
		})
	})
	b.Run("debounce", func(b *testing.B) {
		d := debounce.New(time.Hour, func(int) {})
		defer d.Stop()
		pending(b, func() { d.Call(1); d.Flush() })
	})
	b.Run("debounce-in-callback", func(b *testing.B) { // two firings, and a look whether the callback calls
		var d *debounce.Debouncer[bool]
		d = debounce.New(time.Hour, func(again bool) {
			if again {
				d.Call(false)
				d.Flush()
			}
		})
		defer d.Stop()
		pending(b, func() { d.Call(true); d.Flush() })
	})
	b.Run("ThrottleFunc", func(b *testing.B) {
		h := limiters.NewThrottleFunc(time.Hour, func(int) {}, limiters.Trailing)
		defer h.Stop()
		pending(b, func() { h.Call(1); h.Flush() })
	})
}

func firingByTimer(b *testing.B) {
	const wait = time.Millisecond
	f := func() {}
	for _, s := range []struct {
		name string
		new  func() (call, stop func())
	}{
		{"AfterFunc", func() (call, stop func()) { return func() { time.AfterFunc(wait, f) }, f }}, // the floor
		{"AfterFunc-Reset", func() (call, stop func()) {
			timer := time.AfterFunc(wait, f)
			return func() { timer.Reset(wait) }, f
		}},
		{"debounce", func() (call, stop func()) {
			d := debounce.New(wait, func(int) {})
			return func() { d.Call(1) }, d.Stop
		}},
		{"debounce-Keyed", func() (call, stop func()) {
			d := debounce.NewKeyed(wait, func(int, int) {})
			return func() { _ = d.Call(1, 1) }, d.Stop
		}},
		{"ThrottleFunc", func() (call, stop func()) {
			h := limiters.NewThrottleFunc(wait, func(int) {}, limiters.Trailing)
			return func() { h.Call(1) }, h.Stop
		}},
		{"bep", func() (call, stop func()) {
			debounced := bep.New(wait)
			return func() { debounced(f) }, f
		}},
		{"romdo", func() (call, stop func()) { return romdo.New(wait, f) }},
		{"lo", func() (call, stop func()) { return lo.NewDebounce(wait, f) }},
	} {
		b.Run(s.name, func(b *testing.B) {
			b.ReportAllocs()
			inBubble(b, func(m meter, _ func() fakeClock) {
				call, stop := s.new()
				for m.Loop() {
					call()
					time.Sleep(2 * wait)
				}
				stop()
			})
		})
	}
}
