package peers

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
)

// subjects are the clocks of the benchmarks and how far each can be taken.
// Clocks that sort or walk all timers for each new one need hours to arm a million.
var subjects = []subject{
	{"escapement", 1_000_000, 100_000, time.Hour},
	{"synctest", 1_000_000, 100_000, time.Hour},
	{"clockwork", 10_000, 10_000, time.Hour},               // sorts for each: 70 s to arm 100k
	{"quartz", 10_000, 10_000, 10 * time.Second},           // walks all at each call and each event
	{"benbjohnson", 10_000, 1_000, 100 * time.Millisecond}, // sorts, and naps 1 ms of real time at each event
	{"k8s", 1_000_000, 100_000, time.Hour},
	{"tilinna", 1_000_000, 100_000, time.Hour},
	{"clockz", 1_000_000, 100_000, time.Minute}, // queues each tick
	{"juju", 10_000, 10_000, 0},                 // sorts, and takes a stack, for each; no tickers
}

type subject struct {
	name    string
	pending int           // timers that can be armed
	due     int           // timers that can come due in one Advance
	unread  time.Duration // how long a 1 ms ticker can stay unread
}

// meter is the part of testing.B that has a counterpart in a bubble, where
// testing.B itself would read fake time.
type meter interface {
	Loop() bool
	StartTimer()
	StopTimer()
}

func (s subject) run(b *testing.B, bench func(m meter, new func() fakeClock)) {
	b.ReportAllocs()
	if s.name == "synctest" {
		inBubble(b, bench)
		return
	}
	for _, peer := range clocks {
		if peer.name == s.name {
			bench(b, peer.new)
			return
		}
	}
	b.Fatalf("no clock %q", s.name)
}

// besidePending runs a benchmark on every clock with 1 to 1,000,000 functions
// pending that it does not reach. Clocks with equal numbers run one after another,
// so that what else the machine does falls on all.
func besidePending(b *testing.B, bench func(m meter, c fakeClock, s subject)) {
	b.Helper()
	for _, n := range []int{1, 100, 10_000, 1_000_000} {
		for _, s := range subjects {
			if n > s.pending {
				continue
			}
			b.Run(fmt.Sprintf("%s/%d", s.name, n), func(b *testing.B) {
				s.run(b, func(m meter, new func() fakeClock) {
					c := new()
					for i := range n {
						c.AfterFunc(10_000*time.Hour+time.Duration(i)*time.Millisecond, func() {})
					}
					bench(m, c, s)
				})
			})
		}
	}
}

// BenchmarkFakeClockFire is the whole life of a timer: create, advance, receive.
// Claim: with 1M pending no slower than testing/synctest, at 1 no slower than
// clockwork.
func BenchmarkFakeClockFire(b *testing.B) {
	besidePending(b, func(m meter, c fakeClock, s subject) {
		moves := s.name == "synctest" // by itself, when all are blocked
		for m.Loop() {
			timer := c.NewTimer(time.Millisecond)
			if !moves {
				c.Advance(time.Millisecond)
			}
			<-timer.Chan()
		}
	})
}

// BenchmarkFakeClockCreateStop makes a timer that does not fire. In a bubble nothing
// is armed for a channel that nobody waits on; see CreateStopFunc.
// Claim: no slower than testing/synctest at any number pending, and flat.
func BenchmarkFakeClockCreateStop(b *testing.B) {
	besidePending(b, func(m meter, c fakeClock, _ subject) {
		for m.Loop() {
			c.NewTimer(time.Second).Stop()
		}
	})
}

// BenchmarkFakeClockCreateStopFunc is CreateStop of an AfterFunc. Same claim.
func BenchmarkFakeClockCreateStopFunc(b *testing.B) {
	besidePending(b, func(m meter, c fakeClock, _ subject) {
		f := func() {}
		for m.Loop() {
			c.AfterFunc(time.Second, f).Stop()
		}
	})
}

// BenchmarkFakeClockFireFunc is the whole life of a function: AfterFunc, Advance, and the
// wait until it has run, where Advance does not wait for it.
// Claim: no slower than clockwork.
func BenchmarkFakeClockFireFunc(b *testing.B) {
	for _, s := range subjects {
		b.Run(s.name, func(b *testing.B) {
			s.run(b, func(m meter, new func() fakeClock) {
				c, n := new(), int64(0)
				var ran atomic.Int64
				f := func() { ran.Add(1) }
				for m.Loop() {
					c.AfterFunc(time.Millisecond, f)
					c.Advance(time.Millisecond)
					for n++; ran.Load() < n; {
						runtime.Gosched()
					}
				}
			})
		})
	}
}

// BenchmarkFakeClockAdvance is one Advance over timers with distinct deadlines that
// were armed in random order, and arming is not timed. Functions count until the
// last has run, whether Advance waits for it or not; channels are not read.
// Claim: per function no slower than testing/synctest.
func BenchmarkFakeClockAdvance(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		delays := rand.New(rand.NewPCG(1, 2)).Perm(n)
		for _, s := range subjects {
			if n > s.due {
				continue
			}
			advance := func(kind string, make func(c fakeClock, d time.Duration, ran *atomic.Int64) clockwork.Timer, want int) {
				b.Run(fmt.Sprintf("%s/%s/%d", kind, s.name, n), func(b *testing.B) {
					s.run(b, func(m meter, new func() fakeClock) {
						c, timers := new(), []clockwork.Timer{}
						for m.Loop() {
							m.StopTimer()
							for _, timer := range timers {
								timer.Stop() // quartz has a goroutine for each that is unread
							}
							timers = timers[:0]
							var ran atomic.Int64
							for _, d := range delays {
								timers = append(timers, make(c, time.Duration(1+d), &ran))
							}
							m.StartTimer()
							c.Advance(time.Duration(n))
							for ran.Load() < int64(want) {
								runtime.Gosched()
							}
						}
					})
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/timer")
				})
			}
			advance("func", func(c fakeClock, d time.Duration, ran *atomic.Int64) clockwork.Timer {
				return c.AfterFunc(d, func() { ran.Add(1) })
			}, n)
			advance("chan", func(c fakeClock, d time.Duration, _ *atomic.Int64) clockwork.Timer {
				return c.NewTimer(d)
			}, 0)
		}
	}
}

// BenchmarkFakeClockUnread is a ticker of 1 ms that is read once in an hour, or in what
// a clock can do of it. Claim: 1,000 times faster than clockwork, without allocation.
func BenchmarkFakeClockUnread(b *testing.B) {
	const century = 100 * 365 * 24 * time.Hour // a clock has room for 292 years
	for _, s := range subjects {
		if s.unread == 0 {
			continue
		}
		b.Run(fmt.Sprintf("%s/%s", s.name, s.unread), func(b *testing.B) {
			s.run(b, func(m meter, new func() fakeClock) {
				c := new()
				ticker := c.NewTicker(time.Millisecond)
				for m.Loop() {
					c.Advance(s.unread)
					<-ticker.Chan()
					if c.Since(start) > century {
						c = new()
						ticker = c.NewTicker(time.Millisecond)
					}
				}
				ticker.Stop()
			})
			ticks := float64(s.unread / time.Millisecond)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/ticks, "ns/tick")
		})
	}
}

// BenchmarkFakeClockNow reads the clock through the interface. Claim: at most 5 ns where
// clockwork takes 19.
func BenchmarkFakeClockNow(b *testing.B) {
	for _, s := range subjects {
		b.Run(s.name, func(b *testing.B) {
			s.run(b, func(m meter, new func() fakeClock) {
				c := new()
				for m.Loop() {
					c.Now()
				}
			})
		})
	}
}

// BenchmarkFakeClockPending tells what the heap holds for one of 10,000 armed timers;
// its time means nothing.
func BenchmarkFakeClockPending(b *testing.B) {
	const n = 10_000
	heap := func() (bytes, mallocs float64) {
		runtime.GC()
		runtime.GC() // what the first one finalized
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return float64(stats.HeapAlloc), float64(stats.Mallocs)
	}
	for _, s := range subjects {
		pending := func(kind string, make func(c fakeClock, d time.Duration) clockwork.Timer) {
			b.Run(kind+"/"+s.name, func(b *testing.B) {
				var bytes, allocs float64
				s.run(b, func(m meter, new func() fakeClock) {
					var timers [n]clockwork.Timer
					for m.Loop() {
						c := new()
						clear(timers[:])
						bytes0, allocs0 := heap()
						for i := range timers {
							timers[i] = make(c, time.Hour+time.Duration(i)*time.Millisecond)
						}
						bytes1, allocs1 := heap()
						bytes, allocs = (bytes1-bytes0)/n, (allocs1-allocs0)/n
						runtime.KeepAlive(c)
					}
					runtime.KeepAlive(&timers)
				})
				b.ReportMetric(bytes, "B/pending")
				b.ReportMetric(allocs, "allocs/pending")
			})
		}
		pending("timer", func(c fakeClock, d time.Duration) clockwork.Timer { return c.NewTimer(d) })
		f := func() {}
		pending("func", func(c fakeClock, d time.Duration) clockwork.Timer { return c.AfterFunc(d, f) })
	}
}
