package conformance

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
)

// Correct throttles of very different makes. None may be accused.

// stampThrottle compares atomic stamps.
func stampThrottle(clock clockwork.Clock, passes func(gap time.Duration) bool) (allow func() bool, reset func()) {
	const never = -1 << 62
	start := clock.Now()
	var last atomic.Int64
	last.Store(never)
	return func() bool {
		now := int64(clock.Since(start))
		for {
			old := last.Load()
			if old != never && !passes(time.Duration(now-old)) {
				return false
			}
			if last.CompareAndSwap(old, now) {
				return true
			}
		}
	}, func() { last.Store(never) }
}

// coolingThrottle is cooling until its timer says otherwise, and asks no clock.
type coolingThrottle struct {
	clock    clockwork.Clock
	interval time.Duration
	emit     func(int)
	cooling  atomic.Bool
}

func (d *coolingThrottle) call(v int) {
	if d.interval > 0 {
		if !d.cooling.CompareAndSwap(false, true) {
			return
		}
		d.clock.AfterFunc(d.interval, func() { d.cooling.Store(false) })
	}
	d.emit(v)
}

// loopThrottle is a goroutine with channels and one timer, of any edge.
type loopThrottle struct {
	in   chan int
	done chan struct{}
}

func newLoopThrottle(clock clockwork.Clock, cfg ThrottleConfig, emit func(int)) *loopThrottle {
	d := &loopThrottle{make(chan int), make(chan struct{})}
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
					if cfg.Edges&Leading != 0 {
						emit(v)
					} else {
						pending, value = true, v
					}
				case cfg.Edges&Trailing != 0:
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

func (d *loopThrottle) call(v int) { d.in <- v }

// wokenThrottle is a goroutine that events wake: those that come before it looks are one.
type wokenThrottle struct{ wake, done chan struct{} }

func newWokenThrottle(clock clockwork.Clock, cfg ThrottleConfig, emit func(int)) *wokenThrottle {
	d := &wokenThrottle{make(chan struct{}, 1), make(chan struct{})}
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

func (d *wokenThrottle) call(int) {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// batchThrottle emits the newest of a batch, whose interval its first event begins. It ends
// with its input, and in no other way.
type batchThrottle struct {
	in     chan int
	closed atomic.Bool
}

func newBatchThrottle(clock clockwork.Clock, cfg ThrottleConfig, emit func(int)) *batchThrottle {
	d := &batchThrottle{in: make(chan int)}
	go func() {
		defer d.closed.Store(true)
		timer := clock.NewTimer(time.Hour)
		timer.Stop()
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

// remainingThrottle reckons the time that remains from the last emission, as
// underscore does. With the trailing edge alone, an event after an emission starts an
// interval of its own.
type remainingThrottle struct {
	clock clockwork.Clock
	cfg   ThrottleConfig
	emit  func(int)

	mu       sync.Mutex
	used     bool
	previous time.Time
	waiting  bool
	gen      int
	value    int
}

func (d *remainingThrottle) call(v int) {
	d.mu.Lock()
	now := d.clock.Now()
	if !d.used && d.cfg.Edges&Leading == 0 {
		d.used, d.previous = true, now
	}
	d.value = v
	rest := d.cfg.Interval - now.Sub(d.previous)
	if !d.used || rest <= 0 || rest > d.cfg.Interval {
		d.gen++
		d.waiting = false
		d.used, d.previous = true, now
		d.mu.Unlock()
		d.emit(v)
		return
	}
	if !d.waiting && d.cfg.Edges&Trailing != 0 {
		d.waiting = true
		d.gen++
		gen := d.gen
		d.clock.AfterFunc(rest, func() { d.later(gen) })
	}
	d.mu.Unlock()
}

func (d *remainingThrottle) later(gen int) {
	d.mu.Lock()
	if gen != d.gen || !d.waiting {
		d.mu.Unlock()
		return
	}
	d.waiting = false
	d.used, d.previous = d.cfg.Edges&Leading != 0, d.clock.Now()
	v := d.value
	d.mu.Unlock()
	d.emit(v)
}

// observed is a throttle as of streams: what it emits at the end of an interval
// starts the next one. Its callbacks run on goroutines of their own.
type observed struct {
	clock clockwork.Clock
	cfg   ThrottleConfig
	emit  func(int)

	mu        sync.Mutex
	throttled bool
	has       bool
	value     int
}

func (d *observed) call(v int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.has, d.value = true, v
	if d.throttled {
		d.has = d.cfg.Edges&Trailing != 0
		return
	}
	if d.cfg.Edges&Leading != 0 || d.cfg.Interval == 0 {
		d.send()
	}
	d.start()
}

func (d *observed) send() {
	if d.has {
		d.has = false
		go d.emit(d.value)
	}
}

func (d *observed) start() {
	if d.cfg.Interval == 0 {
		return
	}
	d.throttled = true
	d.clock.AfterFunc(d.cfg.Interval, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.throttled = false
		if d.has && d.cfg.Edges&Trailing != 0 {
			d.send()
			d.start()
		}
	})
}

// throttleDesigns are correct.
func throttleDesigns(source TimeSource) []design[ThrottleSpec] {
	spec := func(traits ThrottleTraits, build func(clock clockwork.Clock, cfg ThrottleConfig, emit func(int)) ThrottleFuncs) func() ThrottleSpec {
		return func() ThrottleSpec {
			return ThrottleSpec{Name: "design", Time: source, Traits: traits,
				New: func(env Env, cfg ThrottleConfig, emit func(int)) ThrottleFuncs { return build(env.Clock, cfg, emit) }}
		}
	}
	leading := ThrottleTraits{Edges: []Edges{Leading}, Boundary: BoundaryPasses}
	after := leading
	after.Boundary = BoundaryWaits
	all := ThrottleTraits{Edges: []Edges{Leading, Trailing, LeadingAndTrailing}, Boundary: BoundaryPasses, BothSingle: BothOnce, Payload: LastPayload}
	forbids := all // its callbacks run on the goroutine that receives
	forbids.Reentrancy = ReentrancyForbidden
	return []design[ThrottleSpec]{
		{"stamps", spec(leading, func(clock clockwork.Clock, cfg ThrottleConfig, _ func(int)) ThrottleFuncs {
			allow, reset := stampThrottle(clock, func(gap time.Duration) bool { return gap >= cfg.Interval })
			return ThrottleFuncs{Allow: allow, Reset: reset}
		})},
		{"stamps, open after the end", spec(after, func(clock clockwork.Clock, cfg ThrottleConfig, _ func(int)) ThrottleFuncs {
			allow, reset := stampThrottle(clock, func(gap time.Duration) bool { return gap > cfg.Interval })
			return ThrottleFuncs{Allow: allow, Reset: reset}
		})},
		{"cooling", spec(leading, func(clock clockwork.Clock, cfg ThrottleConfig, emit func(int)) ThrottleFuncs {
			d := &coolingThrottle{clock: clock, interval: cfg.Interval, emit: emit}
			return ThrottleFuncs{Call: d.call}
		})},
		{"a loop", spec(forbids, func(clock clockwork.Clock, cfg ThrottleConfig, emit func(int)) ThrottleFuncs {
			d := newLoopThrottle(clock, cfg, emit)
			return ThrottleFuncs{Call: d.call, Stop: sync.OnceFunc(func() { close(d.done) })}
		})},
		{"a loop that is woken", spec(ThrottleTraits{Edges: []Edges{LeadingAndTrailing}, Boundary: BoundaryPasses, BothSingle: BothOnce, Payload: NoPayload},
			func(clock clockwork.Clock, cfg ThrottleConfig, emit func(int)) ThrottleFuncs {
				d := newWokenThrottle(clock, cfg, emit)
				return ThrottleFuncs{Call: d.call, Stop: sync.OnceFunc(func() { close(d.done) })}
			})},
		{"a batch that ends with its input", spec(ThrottleTraits{Edges: []Edges{Trailing}, Payload: LastPayload, CloseFlush: CloseFires, Reentrancy: ReentrancyForbidden},
			func(clock clockwork.Clock, cfg ThrottleConfig, emit func(int)) ThrottleFuncs {
				d := newBatchThrottle(clock, cfg, emit)
				return ThrottleFuncs{Call: func(v int) { d.in <- v }, Close: func() { close(d.in) }, Closed: d.closed.Load}
			})},
		{"the time that remains", spec(all, func(clock clockwork.Clock, cfg ThrottleConfig, emit func(int)) ThrottleFuncs {
			d := &remainingThrottle{clock: clock, cfg: cfg, emit: emit}
			return ThrottleFuncs{Call: d.call}
		})},
		{"an observable", spec(all, func(clock clockwork.Clock, cfg ThrottleConfig, emit func(int)) ThrottleFuncs {
			d := &observed{clock: clock, cfg: cfg, emit: emit}
			return ThrottleFuncs{Call: d.call}
		})},
		{"a state machine, twice", spec(ThrottleTraits{Edges: []Edges{LeadingAndTrailing}, Boundary: BoundaryPasses, BothSingle: BothTwice, Payload: LastPayload},
			func(clock clockwork.Clock, cfg ThrottleConfig, emit func(int)) ThrottleFuncs {
				d := &zooThrottle{clock: clock, cfg: cfg, emit: emit, mutant: "emits a single event twice"}
				return ThrottleFuncs{Call: d.call}
			})},
		{"the first payload", spec(ThrottleTraits{Edges: []Edges{Trailing, LeadingAndTrailing}, Boundary: BoundaryPasses, BothSingle: BothOnce, Payload: FirstPayload},
			func(clock clockwork.Clock, cfg ThrottleConfig, emit func(int)) ThrottleFuncs {
				d := &zooThrottle{clock: clock, cfg: cfg, emit: emit, mutant: "emits the first payload"}
				return ThrottleFuncs{Call: d.call}
			})},
	}
}

// Correct throttles of any make pass. Each takes its time in one way,
// half of them with -short, or with ESCAPEMENT_PROVE=all in both.
func TestDesigns_throttles(t *testing.T) {
	for _, source := range sources(Injected, PackageTime) {
		for i, d := range throttleDesigns(source) {
			if !takesPart(i, source) {
				continue
			}
			t.Run(source.String()+"/"+d.name, func(t *testing.T) { RunThrottle(t, d.make()) })
		}
	}
}
