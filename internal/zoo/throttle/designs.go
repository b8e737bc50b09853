package throttle

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	tt "github.com/escapement-go/escapement/conformance/throttletest"
	"github.com/jonboulle/clockwork"
)

// Correct throttles of very different makes. None may be accused.

// stamps compares atomic stamps, correct unless mutant names its mistake.
func stamps(
	clock clockwork.Clock, passes func(gap time.Duration) bool, mutant string,
) (allow func() bool, reset func()) {
	const never = -1 << 62
	start := clock.Now()
	var last atomic.Int64
	last.Store(never)
	return func() bool {
		now := int64(clock.Since(start))
		for {
			old := last.Load()
			if (old != never || mutant == stampOfNone) && !passes(time.Duration(now-old)) {
				return false
			}
			if last.CompareAndSwap(old, now) {
				return true
			}
		}
	}, func() { last.Store(never) }
}

// floats is a bucket of one token, reckoned as in golang.org/x/time/rate: what is missing is
// turned into a duration, and less than a nanosecond of that is nothing.
type floats struct {
	clock     clockwork.Clock
	perSecond float64
	mutant    string

	mu     sync.Mutex
	tokens float64
	last   time.Time
}

func (d *floats) allow() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if math.IsInf(d.perSecond, 1) {
		return true
	}
	now := d.clock.Now()
	tokens := min(1, d.tokens+now.Sub(d.last).Seconds()*d.perSecond) - 1
	if tokens < 0 && time.Duration(-tokens/d.perSecond*float64(time.Second)) > 0 &&
		!(d.mutant == roughly && -tokens*1000 < 1) {
		return false
	}
	d.tokens, d.last = tokens, now
	return true
}

// cooling counts the interval from the end of its callback, until its timer says that it is over, and asks no clock.
type cooling struct {
	clock    clockwork.Clock
	interval time.Duration
	emit     func(int)
	cooling  atomic.Bool
}

func (d *cooling) after(v int) {
	if d.cooling.CompareAndSwap(false, true) {
		defer d.clock.AfterFunc(d.interval, func() { d.cooling.Store(false) })
		d.emit(v)
	}
}

// loop is a goroutine with channels and one timer, of any edge.
type loop struct {
	in   chan int
	done chan struct{}
}

func newLoop(clock clockwork.Clock, cfg tt.Config, emit func(int)) *loop {
	d := &loop{make(chan int), make(chan struct{})}
	go func() {
		timer := clock.NewTimer(time.Hour)
		timer.Stop()
		defer timer.Stop()
		running, pending, value := false, false, 0
		for {
			select {
			case <-d.done:
				return
			case v := <-d.in:
				switch {
				case cfg.Interval == 0:
					emit(v)
				case !running:
					running = true
					timer.Reset(cfg.Interval)
					if cfg.Edges&tt.Leading != 0 {
						emit(v)
					} else {
						pending, value = true, v
					}
				case cfg.Edges&tt.Trailing != 0:
					pending, value = true, v
				}
			case <-timer.Chan():
				if running = pending; running {
					pending = false
					timer.Reset(cfg.Interval)
					emit(value)
				}
			}
		}
	}()
	return d
}

func (d *loop) call(v int) { d.in <- v }

// woken is a goroutine that events wake: those that come before it looks are one.
type woken struct{ wake, done chan struct{} }

func newWoken(clock clockwork.Clock, cfg tt.Config, emit func(int)) *woken {
	d := &woken{make(chan struct{}, 1), make(chan struct{})}
	go func() {
		timer := clock.NewTimer(time.Hour)
		defer timer.Stop()
		for {
			select {
			case <-d.wake:
			case <-d.done:
				return
			}
			timer.Reset(cfg.Interval)
			emit(0)
			select {
			case <-timer.Chan():
			case <-d.done:
				return
			}
		}
	}()
	return d
}

func (d *woken) call(int) {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// batch emits the newest of a batch, whose interval its first event begins. It ends
// with its input, and in no other way.
type batch struct {
	in     chan int
	closed atomic.Bool
}

func newBatch(clock clockwork.Clock, cfg tt.Config, emit func(int), mutant string) *batch {
	d := &batch{in: make(chan int)}
	go func() {
		defer d.closed.Store(true)
		timer := clock.NewTimer(time.Hour)
		if mutant != timerOfNone {
			timer.Stop()
		}
		defer timer.Stop()
		pending, newest := false, 0
		for {
			select {
			case v, ok := <-d.in:
				if !ok {
					if pending {
						emit(newest)
					}
					return
				}
				if !pending {
					timer.Reset(cfg.Interval)
				}
				pending, newest = true, v
			case <-timer.Chan():
				pending = false
				emit(newest)
			}
		}
	}()
	return d
}
