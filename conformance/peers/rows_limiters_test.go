package peers

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/escapement-go/escapement/limiters"
	"github.com/failsafe-go/failsafe-go/ratelimiter"
	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"
)

// BenchmarkRows_limiters has what limiters are used for most: see costRow.
func BenchmarkRows_limiters(b *testing.B) {
	var rows []costRow
	for _, goroutines := range []int{1, 2} {
		rows = append(rows, throttleRow(goroutines), tokenBucketRow(goroutines))
	}
	rows = append(rows, tokenRows()...)
	rows = append(rows, gcraRows()...)
	rows = append(rows, throttleFuncRow())
	rows = append(rows, sometimesRows()...)
	rows = append(rows, concurrencyRows()...)
	measureRows(b, rows)
}

// throttleRow is an event that passes, as all do where the interval is as short as the
// time between two. A read of the clock is needed to know that, and a compare-and-swap to
// begin the next window.
func throttleRow(goroutines int) costRow {
	return costRow{name: "Throttle.Allow, passes", goroutines: goroutines, sides: func(*testing.B) []side {
		own := limiters.NewThrottle(1)
		var last atomic.Int64
		return []side{
			{name: "limiters.Throttle", loop: func(n int) {
				for range n {
					own.Allow()
				}
			}},
			{name: "floor: read the clock and swap", most: 1.3, loop: func(n int) {
				for range n {
					was := last.Load()
					last.CompareAndSwap(was, int64(time.Since(began)))
				}
			}},
		}
	}}
}

// tokenBucketRow is a bucket that is full again with each call.
func tokenBucketRow(goroutines int) costRow {
	return costRow{name: "TokenBucket.Allow, full", goroutines: goroutines, sides: func(*testing.B) []side {
		own := limiters.NewTokenBucket(1e9, 1<<30)
		xtime := rate.NewLimiter(1e9, 1<<30)
		failsafe := ratelimiter.NewBursty[any](1<<30, time.Hour)
		smooth := ratelimiter.NewSmooth[any](1e9, time.Second)
		return []side{
			{name: "limiters.TokenBucket", loop: func(n int) {
				for range n {
					own.Allow()
				}
			}},
			{name: "floor: read the clock", loop: readClock},
			{name: "failsafe-go bursty", most: 1, loop: func(n int) {
				for range n {
					failsafe.TryAcquirePermit()
				}
			}},
			{name: "failsafe-go smooth", loop: func(n int) {
				for range n {
					smooth.TryAcquirePermit()
				}
			}},
			{name: "x/time/rate", most: 1, loop: func(n int) {
				for range n {
					xtime.Allow()
				}
			}},
		}
	}}
}

func readClock(n int) {
	for range n {
		time.Since(began)
	}
}

func throttleFuncRow() costRow {
	return costRow{name: "ThrottleFunc.Call, Leading, denied", most: 35, sides: func(b *testing.B) []side {
		own := limiters.NewThrottleFunc(time.Hour, func(int) {}, limiters.Leading)
		b.Cleanup(own.Stop)
		xtime := rate.Sometimes{Interval: time.Hour}
		own.Call(1)
		return []side{
			{name: "limiters.ThrottleFunc", loop: func(n int) {
				for range n {
					own.Call(1)
				}
			}},
			{name: "floor: read the clock", loop: readClock},
			{name: "x/time/rate.Sometimes", loop: func(n int) {
				for range n {
					xtime.Do(func() {})
				}
			}},
		}
	}}
}

// sometimesRows are the uses of Sometimes, and the zero one.
func sometimesRows() (rows []costRow) {
	for _, use := range []struct {
		name string
		own  *limiters.Sometimes
		peer *rate.Sometimes
	}{
		{"First, over", &limiters.Sometimes{First: 3}, &rate.Sometimes{First: 3}},
		{"First, each call runs", &limiters.Sometimes{First: 1 << 60}, &rate.Sometimes{First: 1 << 60}},
		{"Every 1, each call runs", &limiters.Sometimes{Every: 1}, &rate.Sometimes{Every: 1}},
		{"Every 100", &limiters.Sometimes{Every: 100}, &rate.Sometimes{Every: 100}},
		{"Interval, denied", &limiters.Sometimes{Interval: time.Hour}, &rate.Sometimes{Interval: time.Hour}},
		{"Interval, each call runs", &limiters.Sometimes{Interval: 1}, &rate.Sometimes{Interval: 1}},
		{"once", &limiters.Sometimes{}, &rate.Sometimes{}},
	} {
		rows = append(rows, costRow{name: "Sometimes.Do, " + use.name, sides: func(*testing.B) []side {
			runs, peerRuns := 0, 0
			return []side{
				{name: "limiters.Sometimes", loop: func(n int) {
					for range n {
						use.own.Do(func() { runs++ })
					}
				}},
				{name: "x/time/rate.Sometimes", most: 1, loop: func(n int) {
					for range n {
						use.peer.Do(func() { peerRuns++ })
					}
				}},
			}
		}})
	}
	return rows
}

// concurrencyRows are a slot that is taken and given back: by two goroutines that find
// one free always, and by eight that queue for one and let another run while they have it.
func concurrencyRows() (rows []costRow) {
	ctx := context.Background()
	for _, use := range []struct {
		name       string
		goroutines int
		slots      int
		held       func()
	}{
		{"free", 1, 100, func() {}},
		{"free", 2, 100, func() {}},
		{"queueing for one slot", 8, 1, runtime.Gosched},
		{"queueing for two slots", 8, 2, runtime.Gosched},
	} {
		rows = append(rows, costRow{
			name: "Concurrency, " + use.name, goroutines: use.goroutines,
			sides: func(*testing.B) []side {
				own := limiters.NewConcurrency(use.slots)
				timed := limiters.NewConcurrency(use.slots, limiters.Timeout(time.Hour))
				xsync := semaphore.NewWeighted(int64(use.slots))
				channel, queue := make(chan struct{}, use.slots), &handover{free: use.slots}
				return []side{
					{name: "limiters.Concurrency", loop: times(func() {
						_ = own.Acquire(ctx, 1)
						use.held()
						own.Release(1)
					})},
					{name: "limiters.Concurrency, Timeout", loop: times(func() {
						_ = timed.Acquire(ctx, 1)
						use.held()
						timed.Release(1)
					})},
					{name: "x/sync/semaphore", most: 1, loop: times(func() {
						_ = xsync.Acquire(ctx, 1)
						use.held()
						xsync.Release(1)
					})},
					{name: "a buffered channel", most: 1.2, loop: times(func() {
						channel <- struct{}{}
						use.held()
						<-channel
					})},
					{name: "floor: a mutex, and a channel for each", loop: times(func() {
						queue.acquire()
						use.held()
						queue.release()
					})},
				}
			},
		})
	}
	return rows
}

// A handover is the least with which slots are given in the order in which they were asked for:
// whoever gives one back wakes the first in the queue, who has it then. So each slot waits for a
// goroutine that must be scheduled first.
type handover struct {
	mu    sync.Mutex
	free  int
	queue []chan struct{}
	spare []chan struct{}
}

func (h *handover) acquire() {
	h.mu.Lock()
	if h.free > 0 {
		h.free--
		h.mu.Unlock()
		return
	}
	var ready chan struct{}
	if last := len(h.spare) - 1; last >= 0 {
		ready, h.spare = h.spare[last], h.spare[:last]
	} else {
		ready = make(chan struct{}, 1)
	}
	h.queue = append(h.queue, ready)
	h.mu.Unlock()
	<-ready
	h.mu.Lock()
	h.spare = append(h.spare, ready)
	h.mu.Unlock()
}

func (h *handover) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.queue) == 0 {
		h.free++
		return
	}
	h.queue[0] <- struct{}{}
	h.queue = append(h.queue[:0], h.queue[1:]...)
}
