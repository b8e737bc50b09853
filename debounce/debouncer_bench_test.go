package debounce

import (
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
)

// A call during a burst costs a lock and a read of the monotonic clock: it
// allocates nothing and leaves the runtime's timer alone.
func BenchmarkDebouncer_Call(b *testing.B) {
	for _, bm := range []struct {
		name string
		opts []Option
	}{
		{"package-time", nil},
		{"real-clock", []Option{WithClock(clockwork.NewRealClock())}},
	} {
		d := New(time.Hour, func(int) {}, bm.opts...)
		d.Call(0)
		b.Run(bm.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				d.Call(1)
			}
		})
		b.Run(bm.name+"/parallel", func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					d.Call(1)
				}
			})
		})
		d.Stop()
	}
}

// A burst of one call, ended by hand. Most of it is the timer, armed and stopped.
func BenchmarkDebouncer_Flush(b *testing.B) {
	d := New(time.Hour, func(int) {})
	defer d.Stop()
	b.ReportAllocs()
	for b.Loop() {
		d.Call(1)
		d.Flush()
	}
}
