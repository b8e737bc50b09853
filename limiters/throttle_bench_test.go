package limiters

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
)

// mutexThrottle is what one writes first: time.Now and a mutex.
type mutexThrottle struct {
	mu       sync.Mutex
	interval time.Duration
	last     time.Time
}

func (m *mutexThrottle) Allow() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	if now.Sub(m.last) < m.interval {
		return false
	}
	m.last = now
	return true
}

// timerThrottle is cooling until its timer says otherwise, and asks no clock.
type timerThrottle struct {
	interval time.Duration
	cooling  atomic.Bool
	timer    *time.Timer
	once     sync.Once
}

func (m *timerThrottle) Allow() bool {
	if m.cooling.Load() || !m.cooling.CompareAndSwap(false, true) {
		return false
	}
	m.once.Do(func() { m.timer = time.AfterFunc(time.Hour, func() { m.cooling.Store(false) }) })
	m.timer.Reset(m.interval)
	return true
}

// channelThrottle has a new timer per window and waits for its channel in a
// goroutine: the loop that a timestamp replaces.
type channelThrottle struct {
	in   chan struct{}
	done chan struct{}
}

func newChannelThrottle(interval time.Duration) *channelThrottle {
	m := &channelThrottle{make(chan struct{}), make(chan struct{})}
	go func() {
		defer close(m.done)
		var timer *time.Timer
		var c <-chan time.Time
		for {
			select { // what has expired comes first
			case <-c:
				c = nil
			default:
			}
			select {
			case _, ok := <-m.in:
				if !ok {
					if timer != nil {
						timer.Stop()
					}
					return
				}
				if c == nil {
					timer = time.NewTimer(interval)
					c = timer.C
				}
			case <-c:
				c = nil
			}
		}
	}()
	return m
}

// timestampLoop is channelThrottle with a Throttle in its loop.
func newTimestampLoop(interval time.Duration) *channelThrottle {
	m := &channelThrottle{make(chan struct{}), make(chan struct{})}
	go func() {
		defer close(m.done)
		h := NewThrottle(interval)
		for range m.in {
			h.Allow()
		}
	}()
	return m
}

// Claims: a denial costs a read of the monotonic clock and scales with cores; a
// timestamp throttle costs less than one with a timer (the specification says by
// 50 to 80 %) where events pass, and as much as its clock where they do not.
func BenchmarkThrottle_Allow(b *testing.B) {
	for _, bm := range []struct {
		name  string
		allow func() bool
	}{
		{"deny", NewThrottle(time.Hour).Allow},
		{"deny/real-clock", NewThrottle(time.Hour, WithClock(clockwork.NewRealClock())).Allow},
		{"deny/mutex", (&mutexThrottle{interval: time.Hour}).Allow},
		{"deny/timer", (&timerThrottle{interval: time.Minute}).Allow},
		{"pass", NewThrottle(1).Allow},
		{"pass/mutex", (&mutexThrottle{interval: 1}).Allow},
		{"some", NewThrottle(time.Microsecond).Allow},
		{"some/mutex", (&mutexThrottle{interval: time.Microsecond}).Allow},
		{"some/timer", (&timerThrottle{interval: time.Microsecond}).Allow},
	} {
		b.Run(bm.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				bm.allow()
			}
		})
		b.Run(bm.name+"/parallel", func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					bm.allow()
				}
			})
		})
	}
}

// The same in the loop of a stream, where each event is sent over a channel.
func BenchmarkThrottle_loop(b *testing.B) {
	for _, bm := range []struct {
		name     string
		make     func(time.Duration) *channelThrottle
		interval time.Duration
	}{
		{"timestamp/deny", newTimestampLoop, time.Hour},
		{"timer/deny", newChannelThrottle, time.Hour},
		{"timestamp/pass", newTimestampLoop, 1},
		{"timer/pass", newChannelThrottle, 1},
	} {
		b.Run(bm.name, func(b *testing.B) {
			m := bm.make(bm.interval)
			b.ReportAllocs()
			for b.Loop() {
				m.in <- struct{}{}
			}
			close(m.in)
			<-m.done
		})
	}
}
