package peers

import (
	"testing"
	"time"

	bep "github.com/bep/debounce"
	"github.com/escapement-go/escapement/debounce"
	"github.com/escapement-go/escapement/limiters"
	"github.com/samber/lo"
	"golang.org/x/time/rate"
)

// BenchmarkDebounce measures one more call while an event is pending, which is what
// a debouncer does most. bep/debounce and lo make a new timer each time.
func BenchmarkDebounce(b *testing.B) {
	b.Run("bep", func(b *testing.B) {
		debounced := bep.New(time.Hour) // without a cancel: its last timer stays armed
		f := func() {}
		pending(b, func() { debounced(f) })
	})
	b.Run("lo", func(b *testing.B) {
		debounced, cancel := lo.NewDebounce(time.Hour, func() {})
		defer cancel()
		pending(b, debounced)
	})
	b.Run("AfterFunc-Reset", func(b *testing.B) { // the least that moving a timer with each call costs
		timer := time.AfterFunc(time.Hour, func() {})
		defer timer.Stop()
		pending(b, func() { timer.Reset(time.Hour) })
	})
	for _, own := range []struct {
		name string
		opts []debounce.Option
	}{
		{"escapement", nil},
		{"escapement-MaxWait", []debounce.Option{debounce.MaxWait(2 * time.Hour)}},
		{"escapement-Leading", []debounce.Option{debounce.Leading()}},
	} {
		b.Run(own.name, func(b *testing.B) {
			d := debounce.New(time.Hour, func(int) {}, own.opts...)
			defer d.Stop()
			pending(b, func() { d.Call(1) })
		})
	}
	b.Run("escapement-Keyed", func(b *testing.B) {
		d := debounce.NewKeyed(time.Hour, func(int, int) {})
		defer d.Stop()
		pending(b, func() { _ = d.Call(1, 1) })
	})
	b.Run("clock-read", func(b *testing.B) { // the floor
		start := time.Now()
		pending(b, func() { time.Since(start) })
	})
}

func pending(b *testing.B, call func()) {
	b.Helper()
	b.ReportAllocs()
	call()
	for b.Loop() {
		call()
	}
}

// BenchmarkThrottle measures an event within an interval, which most are. lo's
// throttle arms a timer for each interval; all others read the clock at each event.
func BenchmarkThrottle(b *testing.B) {
	b.Run("lo", func(b *testing.B) {
		throttled, reset := lo.NewThrottle(time.Hour, func() {})
		defer reset()
		pending(b, throttled)
	})
	b.Run("xtime-Sometimes", func(b *testing.B) {
		s := rate.Sometimes{Interval: time.Hour}
		pending(b, func() { s.Do(func() {}) })
	})
	b.Run("escapement-Sometimes", func(b *testing.B) {
		s := limiters.Sometimes{Interval: time.Hour}
		pending(b, func() { s.Do(func() {}) })
	})
	b.Run("escapement-ThrottleFunc", func(b *testing.B) {
		h := limiters.NewThrottleFunc(time.Hour, func(int) {})
		defer h.Stop()
		pending(b, func() { h.Call(1) })
	})
	b.Run("escapement-Throttle", func(b *testing.B) {
		h := limiters.NewThrottle(time.Hour)
		pending(b, func() { h.Allow() })
	})
}
