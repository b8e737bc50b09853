package fakeclock_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/jonboulle/clockwork"
)

// pendings are the numbers of other armed timers beside which costs stay flat.
var pendings = []int{1, 100, 10_000, 1_000_000}

// withPending returns a clock with n timers armed that the benchmark does not
// reach.
func withPending(n int) *fakeclock.Clock {
	clock := fakeclock.New()
	for i := range n {
		clock.NewTimer(1000*time.Hour + time.Duration(i)*time.Millisecond)
	}
	return clock
}

// Now takes no lock: at most 5 ns.
func BenchmarkClock_Now(b *testing.B) {
	clock := fakeclock.New()
	b.ReportAllocs()
	for b.Loop() {
		clock.Now()
	}
}

func BenchmarkClock_Since(b *testing.B) {
	clock := fakeclock.New()
	start := clock.Now()
	clock.Advance(time.Hour)
	b.ReportAllocs()
	for b.Loop() {
		clock.Since(start)
	}
}

func BenchmarkClock_NowParallel(b *testing.B) {
	clock := fakeclock.New()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			clock.Now()
		}
	})
}

// Creating and stopping costs the same beside any number of timers, also in the
// middle of them.
func BenchmarkClock_CreateStop(b *testing.B) {
	for _, n := range pendings {
		b.Run(fmt.Sprintf("pending=%d", n), func(b *testing.B) {
			clock := withPending(n)
			b.ReportAllocs()
			for b.Loop() {
				clock.NewTimer(time.Second).Stop()
			}
		})
	}
}

// Resetting one of n timers to a later deadline, each in turn.
func BenchmarkClock_Reset(b *testing.B) {
	for _, n := range pendings {
		b.Run(fmt.Sprintf("pending=%d", n), func(b *testing.B) {
			clock := fakeclock.New()
			timers := make([]clockwork.Timer, n)
			for i := range timers {
				timers[i] = clock.NewTimer(time.Hour + time.Duration(i))
			}
			b.ReportAllocs()
			i, d := 0, 2*time.Hour
			for b.Loop() {
				if i = (i + 7919) % n; n > 1 && i == 0 {
					i = 1
				}
				d++
				timers[i].Reset(d)
			}
		})
	}
}

// What WithSites adds.
func BenchmarkClock_CreateStopSites(b *testing.B) {
	clock := fakeclock.New(fakeclock.WithSites())
	b.ReportAllocs()
	for b.Loop() {
		clock.NewTimer(time.Second).Stop()
	}
}

// A whole life: create, fire, receive.
func BenchmarkClock_Fire(b *testing.B) {
	for _, n := range pendings {
		b.Run(fmt.Sprintf("pending=%d", n), func(b *testing.B) {
			clock := withPending(n)
			b.ReportAllocs()
			for b.Loop() {
				timer := clock.NewTimer(time.Microsecond)
				clock.Advance(time.Microsecond)
				<-timer.Chan()
			}
		})
	}
}

// One function, started and awaited in an Advance of its own.
func BenchmarkClock_FireFunc(b *testing.B) {
	clock := fakeclock.New()
	timer := clock.AfterFunc(time.Second, func() {})
	b.ReportAllocs()
	for b.Loop() {
		timer.Reset(time.Second)
		clock.Advance(time.Second)
	}
}

// Functions at distinct instants, in order, each awaited.
func BenchmarkClock_AdvanceFuncs(b *testing.B) {
	const n = 100_000
	b.ReportAllocs()
	clock, ran := fakeclock.New(), 0
	for b.Loop() {
		b.StopTimer()
		for i := range n {
			clock.AfterFunc(time.Duration(1+i*7919%n), func() { ran++ })
		}
		b.StartTimer()
		clock.Advance(n)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(ran), "ns/timer")
}

// 3.6 million ticks that nobody reads cost what one costs, without allocation.
func BenchmarkClock_UnreadTicker(b *testing.B) {
	clock := fakeclock.New()
	ticker := clock.NewTicker(time.Millisecond)
	b.ReportAllocs()
	for b.Loop() {
		if clock.Elapsed() > 1_000_000*time.Hour { // nearly out of range
			clock = fakeclock.New()
			ticker = clock.NewTicker(time.Millisecond)
		}
		clock.Advance(time.Hour)
		<-ticker.Chan()
	}
}
