package conformance

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jonboulle/clockwork"
)

// zooThrottle is a throttle with every edge, correct unless mutant names one of its
// mistakes.
type zooThrottle struct {
	clock  clockwork.Clock
	cfg    ThrottleConfig
	emit   func(int)
	mutant string

	mu      sync.Mutex
	used    bool
	until   time.Time
	pending bool
	value   int
	gen     int
	armed   bool
	n       int
	count   int // emissions of the interval
	ended   bool
	busy    bool // only of the mutant that needs it
	stopped bool
	stands  bool // the clock stands still when it is set back
	newest  time.Time
}

func (d *zooThrottle) is(mutant string) bool { return d.mutant == mutant }

func (d *zooThrottle) allowAt(now time.Time) bool {
	if !d.is("checks without the lock") {
		d.mu.Lock()
		defer d.mu.Unlock()
	}
	d.n++
	if d.is("panics on the third event") && d.n == 3 {
		panic("index out of range")
	}
	if d.is("a zero time is no last emission") {
		d.used = !d.until.Add(-d.cfg.Interval).IsZero() && d.used
	}
	if d.is("the first event only starts the interval") && !d.used {
		d.used, d.until = true, now.Add(d.cfg.Interval)
		return d.cfg.Interval == 0
	}
	now = d.reckon(now)
	open := !d.used || !now.Before(d.until)
	if d.is("the zero time is the last emission") && now.Sub(time.Time{}) < d.cfg.Interval {
		return false
	}
	k := max(1, d.cfg.K)
	if d.is("lets one more pass") && k > 1 {
		k++
	}
	if d.used && !open && d.count < k {
		d.count++
		if d.is("an interval counts from its newest event") {
			d.until = now.Add(d.cfg.Interval)
		}
		return true
	}
	if d.is("an event at the end waits") {
		open = !d.used || now.After(d.until) || d.cfg.Interval == 0
	}
	if d.is("every denial extends the interval") && !open {
		d.until = now.Add(d.cfg.Interval)
	}
	if d.is("zero interval blocks") && d.cfg.Interval == 0 && d.used {
		return false
	}
	if !open {
		return false
	}
	if d.is("checks without the lock") {
		for range 100 {
			runtime.Gosched() // lets others in
		}
	}
	d.used, d.until, d.count = true, now.Add(d.cfg.Interval), 1
	if d.is("an interval ends on package time too") {
		time.AfterFunc(d.cfg.Interval, d.reset)
	}
	if d.is("the interval is a nanosecond short") {
		d.until = d.until.Add(-1)
	}
	return true
}

// reckon is the instant that counts. A clock that is set back to before the interval
// ends it, unless it is to stand still.
func (d *zooThrottle) reckon(now time.Time) time.Time {
	if d.stands {
		if now.Before(d.newest) && !d.is("follows a clock that is set back") {
			now = d.newest
		}
		d.newest = now
	}
	if d.is("a clock that is set back freezes several") && d.cfg.K > 1 {
		return now
	}
	if d.used && now.Before(d.until.Add(-d.cfg.Interval)) && !d.is("a clock that is set back freezes it") {
		d.used = false
	}
	return now
}

// call is an event. What it does with the lock held, it does in enter.
func (d *zooThrottle) call(v int) {
	if d.is("callback under the lock") {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.cfg.Edges&Leading != 0 {
			d.emit(v)
		}
		return
	}
	if d.is("a panic leaves it busy") {
		if d.busy {
			return
		}
		d.busy = true
		d.enter(v)
		d.busy = false
		return
	}
	d.enter(v)
}

func (d *zooThrottle) enter(v int) {
	if d.cfg.Edges == NoEdges && !d.is("no edge is the leading one") {
		return
	}
	if d.is("keeps a lock when an event waits") {
		defer func() { keep(&d.mu, d.pending) }()
	}
	d.mu.Lock()
	if d.cfg.Edges == NoEdges {
		d.cfg.Edges = Leading
	}
	now := d.clock.Now()
	if d.cfg.Edges == Leading && !d.is("a leading throttle emits later") {
		d.mu.Unlock()
		if d.allowAt(now) {
			d.emit(v)
		}
		return
	}
	now = d.reckon(now)
	running := d.used && now.Before(d.until)
	if d.pending && d.armed && !d.is("an event at the very end overtakes what is pending") {
		running = true // the timer is on the way
	}
	if d.stopped || d.is("an interval of zero never trails") && d.cfg.Interval == 0 && d.cfg.Edges == Trailing {
		d.mu.Unlock()
		return
	}
	if d.is("a zero payload is no event") && v == 0 {
		d.mu.Unlock()
		return
	}
	if d.is("a trailing throttle leads after its first interval") && !running && !d.until.IsZero() && d.cfg.Edges == Trailing {
		d.until = now.Add(d.cfg.Interval)
		d.mu.Unlock()
		d.emit(v)
		return
	}
	if running {
		if !d.pending || !d.is("emits the first payload") {
			d.value = v
		}
		if d.is("events put off the end") && d.pending {
			d.arm(d.cfg.Interval)
		}
		d.pending = true
		if !d.armed { // the clock was set back after the timer had fired
			d.arm(d.cfg.Interval)
		}
		d.mu.Unlock()
		return
	}
	if d.is("looks and begins under two locks") {
		d.mu.Unlock()
		runtime.Gosched()
		d.mu.Lock()
	}
	d.used, d.until = true, now.Add(d.cfg.Interval)
	lead := d.cfg.Edges&Leading != 0 || d.is("a trailing throttle leads too")
	if !lead || d.is("emits a single event twice") {
		d.pending, d.value = true, v
	}
	d.arm(d.cfg.Interval)
	d.mu.Unlock()
	if lead {
		d.emit(v)
	}
	if d.is("what came during the callback follows at once") && lead {
		d.mu.Lock()
		next, ok := d.value, d.pending
		d.pending = false
		d.mu.Unlock()
		if ok {
			d.emit(next)
		}
	}
	if d.is("forgets what came during the callback") && lead {
		d.mu.Lock()
		d.pending = false
		d.mu.Unlock()
	}
}

func (d *zooThrottle) arm(in time.Duration) {
	d.gen++
	gen := d.gen
	d.armed = true
	if d.is("the trailing edge is rounded to milliseconds") {
		in = in.Truncate(time.Millisecond)
	}
	if d.is("the trailing edge leaves a timer armed") {
		d.clock.AfterFunc(1000*in, func() {})
	}
	d.clock.AfterFunc(in, func() {
		d.mu.Lock()
		d.armed = d.armed && gen != d.gen
		if gen != d.gen || !d.pending && !d.is("emits without an event") || d.is("drops what came last") {
			d.mu.Unlock()
			return
		}
		if d.is("a panic on the trailing edge wedges it") {
			d.mu.Unlock()
			d.emit(d.value)
			d.mu.Lock()
			d.pending = false
			d.until = d.clock.Now().Add(d.cfg.Interval)
			d.arm(d.cfg.Interval)
			d.mu.Unlock()
			return
		}
		again := d.pending
		d.pending = false
		if !d.is("a trailing emission opens nothing") && again {
			d.until = d.clock.Now().Add(d.cfg.Interval)
			d.arm(d.cfg.Interval)
		}
		v := d.value
		d.mu.Unlock()
		d.emit(v)
	})
}

// end is the end of the input: it emits what is pending.
func (d *zooThrottle) end() {
	d.mu.Lock()
	v, ok := d.value, d.pending
	d.pending, d.ended = false, true
	d.mu.Unlock()
	if ok && !d.is("drops what is pending at the end") {
		d.emit(v)
	}
}

func (d *zooThrottle) closed() bool { d.mu.Lock(); defer d.mu.Unlock(); return d.ended }

func (d *zooThrottle) reset() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.is("reset does nothing") && !(d.is("reset does nothing for several") && d.cfg.K > 1) {
		d.used = false
	}
}

func (d *zooThrottle) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = true
	if !d.is("stop lets the pending event come") {
		d.pending = false
	}
}

func zooThrottleSpec(mutant string, source TimeSource, edges ...Edges) ThrottleSpec {
	if len(edges) == 0 {
		edges = []Edges{Leading, Trailing, LeadingAndTrailing, NoEdges}
	}
	back := BackBounded
	if mutant == "follows a clock that is set back" {
		back = BackStands
	}
	var shared *zooThrottle
	return ThrottleSpec{
		Name: "zoo throttle",
		Time: source,
		New: func(env Env, cfg ThrottleConfig, emit func(int)) ThrottleFuncs {
			d := &zooThrottle{clock: env.Clock, cfg: cfg, emit: emit, mutant: mutant, stands: mutant == "follows a clock that is set back"}
			if mutant == "instances share an interval" {
				if shared == nil || shared.clock != env.Clock {
					shared = d
				}
				return ThrottleFuncs{Call: func(v int) {
					if d == shared || shared.allowAt(env.Clock.Now()) {
						d.call(v)
					}
				}}
			}
			if mutant == "goroutine left behind" {
				startForGood()
			}
			if mutant == "counts without a lock" {
				n := 0
				return ThrottleFuncs{Call: func(v int) { n++; d.call(v) }}
			}
			keys := map[int]*zooThrottle{}
			byKey := func(key, v int) {
				d.mu.Lock()
				if mutant == "keys share an interval" {
					key = 0
				}
				if keys[key] == nil {
					keys[key] = &zooThrottle{clock: env.Clock, cfg: cfg, emit: emit, mutant: mutant}
				}
				own := keys[key]
				d.mu.Unlock()
				own.call(v)
			}
			return ThrottleFuncs{Call: d.call, CallKey: byKey, AllowAt: d.allowAt, Reset: d.reset, Stop: d.stop, Close: d.end, Closed: d.closed}
		},
		Traits: ThrottleTraits{Edges: edges, CloseFlush: CloseFires, Boundary: BoundaryPasses, BothSingle: BothOnce, Payload: LastPayload,
			Windows: WindowsFromFirst, ClockBack: back, PanicPolicy: PanicPropagates},
	}
}

// zooPlain is a throttle whose callback gets no payload, correct unless mutant names one of
// its mistakes. On the leading edge it asks no clock.
type zooPlain struct {
	clock  clockwork.Clock
	cfg    ThrottleConfig
	emit   func(int)
	mutant string

	mu      sync.Mutex
	used    bool
	last    time.Time
	waiting bool
	gen     int
	timer   clockwork.Timer
}

func (d *zooPlain) call(int) {
	if d.cfg.Edges == Leading {
		d.cool()
		return
	}
	d.mu.Lock()
	now := d.clock.Now()
	rest := d.cfg.Interval - now.Sub(d.last)
	switch {
	case !d.used || rest <= 0:
		d.used, d.last, d.waiting = true, now, false
		d.gen++
		d.mu.Unlock()
		d.emit(0)
		return
	case !d.waiting:
		d.waiting = true
		d.gen++
		gen := d.gen
		d.clock.AfterFunc(rest, func() { d.trail(gen) })
	}
	d.mu.Unlock()
}

func (d *zooPlain) trail(gen int) {
	d.mu.Lock()
	if d.mutant == "a timer that has expired takes what is new" {
		gen = d.gen
	}
	if (gen != d.gen || !d.waiting) && d.mutant != "a timer that has expired emits all the same" {
		d.mu.Unlock()
		return
	}
	d.last = d.clock.Now()
	if d.mutant != "what comes while it emits is forgotten" {
		d.waiting = false
	}
	d.mu.Unlock()
	d.emit(0)
	if d.mutant == "what comes while it emits is forgotten" {
		d.mu.Lock()
		d.waiting = false
		d.mu.Unlock()
	}
}

func (d *zooPlain) cool() {
	d.mu.Lock()
	if d.timer != nil && d.cfg.Interval > 0 {
		d.mu.Unlock()
		return
	}
	d.gen++
	gen := d.gen
	d.timer = d.clock.AfterFunc(d.cfg.Interval, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if gen == d.gen || d.mutant == "a timer that has expired ends the interval after a reset" {
			d.timer = nil
		}
	})
	d.mu.Unlock()
	d.emit(0)
}

func (d *zooPlain) reset() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
	d.used = false
	d.gen++
}

func zooPlainSpec(mutant string, source TimeSource) ThrottleSpec {
	return ThrottleSpec{
		Name: "zoo throttle without payload",
		Time: source,
		New: func(env Env, cfg ThrottleConfig, emit func(int)) ThrottleFuncs {
			d := &zooPlain{clock: env.Clock, cfg: cfg, emit: emit, mutant: mutant}
			return ThrottleFuncs{Call: d.call, Reset: d.reset}
		},
		Traits: ThrottleTraits{Edges: []Edges{LeadingAndTrailing, Leading}, Boundary: BoundaryPasses, BothSingle: BothOnce, Payload: NoPayload},
	}
}

// plainMutants are mistakes of zooPlain.
var plainMutants = []struct{ name, rule string }{
	{"a timer that has expired emits all the same", "TH-SPACE"},
	{"a timer that has expired takes what is new", "TH-SPACE"},
	{"a timer that has expired ends the interval after a reset", "TH-RESET"},
	{"what comes while it emits is forgotten", "TH-BUSY"},
}

// zooStream is a throttle of a stream, correct unless mutant names its mistake.
func zooStream(clock clockwork.Clock, cfg ThrottleConfig, emit func(int), mutant string) ThrottleFuncs {
	type item struct {
		v    int
		err  bool
		last bool
	}
	in, out, quit := make(chan item), make(chan int), make(chan struct{})
	var closed atomic.Bool
	go func() {
		for v := range out {
			emit(v)
		}
		closed.Store(true)
	}()
	go func() {
		if mutant != "the output is never closed" {
			defer close(out)
		}
		d := &zooThrottle{clock: clock, cfg: cfg}
		for {
			var next item
			select {
			case next = <-in:
			case <-quit:
				if mutant == "a context that ends is not looked at" {
					<-in
				}
				return
			}
			switch {
			case next.last:
				return
			case next.err && mutant == "errors wait their turn":
				if !d.allowAt(clock.Now()) {
					continue
				}
			case next.err && mutant == "an error opens an interval":
				d.allowAt(clock.Now())
			case !next.err && !d.allowAt(clock.Now()):
				continue
			}
			out <- next.v
		}
	}()
	cancel := sync.OnceFunc(func() { close(quit) })
	return ThrottleFuncs{
		Call:   func(v int) { in <- item{v: v} },
		Fault:  func(v int) { in <- item{v: v, err: true} },
		Close:  func() { in <- item{last: true} },
		Cancel: cancel,
		Closed: closed.Load,
	}
}

func zooStreamSpec(mutant string, source TimeSource) ThrottleSpec {
	return ThrottleSpec{
		Name: "zoo stream",
		Time: source,
		New: func(env Env, cfg ThrottleConfig, emit func(int)) ThrottleFuncs {
			return zooStream(env.Clock, cfg, emit, mutant)
		},
		Traits: ThrottleTraits{Edges: []Edges{Leading}, Boundary: BoundaryPasses},
	}
}

// streamMutants are mistakes of zooStream.
var streamMutants = []struct{ name, rule string }{
	{"errors wait their turn", "TH-ERR"},
	{"an error opens an interval", "TH-ERRNEUT"},
	{"a context that ends is not looked at", "TH-CTX"},
	{"the output is never closed", "TH-CLOSE"},
}

// throttleMutants are mistakes, each with the rule that must catch it.
var throttleMutants = []struct{ name, rule string }{
	{"the first event only starts the interval", "TH-FIRST"},
	{"an event at the end waits", "TH-LEADNEXT"},
	{"every denial extends the interval", "TH-LEADNEXT"},
	{"the interval is a nanosecond short", "TH-SPACE"},
	{"a leading throttle emits later", "TH-DROP"},
	{"drops what came last", "TH-LAST"},
	{"events put off the end", "TH-NOTDEB"},
	{"emits the first payload", "TH-PAY"},
	{"emits a single event twice", "TH-SINGLE"},
	{"a trailing throttle leads too", "TH-TRAILONLY"},
	{"a trailing emission opens nothing", "TH-TRAILOPENS"},
	{"emits without an event", "TH-NOSPON"},
	{"zero interval blocks", "TH-ZERO"},
	{"reset does nothing", "TH-RESET"},
	{"checks without the lock", "TH-ONEOF"},
	{"looks and begins under two locks", "TH-ONEOF"},
	{"panics on the third event", "X-CALLS"},
	{"keeps a lock when an event waits", "X-CALLS"},
	{"goroutine left behind", "X-LEAK"},
	{"a trailing throttle leads after its first interval", "TH-TRAILONLY"},
	{"a zero payload is no event", "TH-PAY"},
	{"the zero time is the last emission", "TH-FIRST"},
	{"what came during the callback follows at once", "TH-BUSY"},
	{"drops what is pending at the end", "TH-CLOSE"},
	{"lets one more pass", "TH-RATE"},
	{"an interval counts from its newest event", "TH-MAXIMAL"},
	{"no edge is the leading one", "TH-NONE"},
	{"forgets what came during the callback", "TH-BUSY"},
	{"a clock that is set back freezes it", "TH-CLOCKBACK"},
	{"follows a clock that is set back", "X-BACK"},
	{"keys share an interval", "TH-KEY"},
	{"instances share an interval", "X-ISO"},
	{"an interval ends on package time too", "X-CLOCK1"},
	{"a panic leaves it busy", "X-PANIC"},
	{"callback under the lock", "X-REENT"},
	{"stop lets the pending event come", "TH-STOP"},
	{"an event at the very end overtakes what is pending", "TH-PAY"},
	{"an interval of zero never trails", "TH-ZERO"},
	{"the trailing edge is rounded to milliseconds", "TH-LAST"},
	{"the trailing edge leaves a timer armed", "X-LEAK"},
	{"a panic on the trailing edge wedges it", "X-PANIC"},
	{"reset does nothing for several", "TH-RESET"},
	{"a clock that is set back freezes several", "TH-CLOCKBACK"},
}
