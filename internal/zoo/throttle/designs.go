package throttle

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	tt "github.com/escapement-go/escapement/conformance/throttletest"
)

// stamps compares atomic stamps.
func stamps(b base, passes func(gap time.Duration) bool) tt.Funcs {
	const never = -1 << 62
	start := b.clock.Now()
	var last atomic.Int64
	last.Store(never)
	return tt.Funcs{
		Reset: func() { last.Store(never) },
		Allow: func() bool {
			now := int64(b.clock.Since(start))
			for {
				old := last.Load()
				known := old != never || b.is("no emission is one of 146 years ago")
				if known && !passes(time.Duration(now-old)) {
					return false
				}
				if last.CompareAndSwap(old, now) {
					return true
				}
			}
		},
	}
}

// floats is a bucket of one token, reckoned as in golang.org/x/time/rate: what is missing is
// turned into a duration, and less than a nanosecond of that is nothing.
type floats struct {
	base
	perSecond float64

	mu     sync.Mutex
	tokens float64
	last   time.Time
}

func newFloats(b base) tt.Funcs {
	d := &floats{base: b, perSecond: 1 / b.cfg.Interval.Seconds(), tokens: 1}
	return tt.Funcs{Allow: d.allow}
}

func (d *floats) allow() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if math.IsInf(d.perSecond, 1) {
		return true
	}
	now := d.clock.Now()
	tokens := min(1, d.tokens+now.Sub(d.last).Seconds()*d.perSecond) - 1
	roughly := d.is("the end of an interval is known to a thousandth of it") && -tokens*1000 < 1
	if tokens < 0 && time.Duration(-tokens/d.perSecond*float64(time.Second)) > 0 && !roughly {
		return false
	}
	d.tokens, d.last = tokens, now
	return true
}

// cooling counts the interval from the end of its callback, until a timer says that it is over, and asks no clock.
func cooling(b base) tt.Funcs {
	if b.cfg.Interval == 0 {
		return tt.Funcs{Call: b.emit}
	}
	var cools atomic.Bool
	return tt.Funcs{Call: func(v int) {
		if cools.CompareAndSwap(false, true) {
			defer b.clock.AfterFunc(b.cfg.Interval, func() { cools.Store(false) })
			b.emit(v)
		}
	}}
}

// loop is a goroutine with channels and one timer, of any edge.
func loop(b base) tt.Funcs {
	in, done := make(chan int), make(chan struct{})
	go func() {
		timer := b.clock.NewTimer(time.Hour)
		timer.Stop()
		defer timer.Stop()
		running, pending, value := false, false, 0
		for {
			select {
			case <-done:
				return
			case v := <-in:
				switch {
				case b.cfg.Interval == 0:
					b.emit(v)
				case !running:
					running = true
					timer.Reset(b.cfg.Interval)
					if b.cfg.Edges&tt.Leading != 0 {
						b.emit(v)
					} else {
						pending, value = true, v
					}
				case b.cfg.Edges&tt.Trailing != 0:
					pending, value = true, v
				}
			case <-timer.Chan():
				if running = pending; running {
					pending = false
					timer.Reset(b.cfg.Interval)
					b.emit(value)
				}
			}
		}
	}()
	return tt.Funcs{Call: func(v int) { in <- v }, Stop: sync.OnceFunc(func() { close(done) })}
}

// wokenLoop is a goroutine that events wake: those that come before it looks are one.
func wokenLoop(b base) tt.Funcs {
	wake, done := make(chan struct{}, 1), make(chan struct{})
	go func() {
		timer := b.clock.NewTimer(time.Hour)
		defer timer.Stop()
		for {
			select {
			case <-wake:
			case <-done:
				return
			}
			timer.Reset(b.cfg.Interval)
			b.emit(0)
			select {
			case <-timer.Chan():
			case <-done:
				return
			}
		}
	}()
	call := func(int) {
		select {
		case wake <- struct{}{}:
		default:
		}
	}
	return tt.Funcs{Call: call, Stop: sync.OnceFunc(func() { close(done) })}
}

// newestOfBatch emits the newest of a batch, whose interval its first event begins. It ends
// with its input, and in no other way.
func newestOfBatch(b base) tt.Funcs {
	in := make(chan int)
	var closed atomic.Bool
	go func() {
		defer closed.Store(true)
		timer := b.clock.NewTimer(time.Hour)
		if !b.is("the timer of the constructor is not stopped") {
			timer.Stop()
		}
		defer timer.Stop()
		pending, newest := false, 0
		for {
			select {
			case v, ok := <-in:
				if !ok {
					if pending {
						b.emit(newest)
					}
					return
				}
				if !pending {
					timer.Reset(b.cfg.Interval)
				}
				pending, newest = true, v
			case <-timer.Chan():
				pending = false
				b.emit(newest)
			}
		}
	}()
	return tt.Funcs{Call: func(v int) { in <- v }, Close: func() { close(in) }, Closed: closed.Load}
}
