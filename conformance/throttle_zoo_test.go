package conformance

import (
	"runtime"
	"sync"
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
	n       int
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
	open := !d.used || !now.Before(d.until)
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
	d.used, d.until = true, now.Add(d.cfg.Interval)
	if d.is("the interval is a nanosecond short") {
		d.until = d.until.Add(-1)
	}
	return true
}

func (d *zooThrottle) call(v int) {
	d.mu.Lock()
	now := d.clock.Now()
	if d.cfg.Edges == Leading && !d.is("a leading throttle emits later") {
		d.mu.Unlock()
		if d.allowAt(now) {
			d.emit(v)
		}
		return
	}
	running := d.used && now.Before(d.until)
	if running {
		if !d.pending || !d.is("emits the first payload") {
			d.value = v
		}
		if d.is("events put off the end") && d.pending {
			d.arm(d.cfg.Interval)
		}
		d.pending = true
		d.mu.Unlock()
		return
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
}

func (d *zooThrottle) arm(in time.Duration) {
	d.gen++
	gen := d.gen
	d.clock.AfterFunc(in, func() {
		d.mu.Lock()
		if gen != d.gen || !d.pending && !d.is("emits without an event") || d.is("drops what came last") {
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

func (d *zooThrottle) reset() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.is("reset does nothing") {
		d.used = false
	}
}

func zooThrottleSpec(mutant string, source TimeSource, edges ...Edges) ThrottleSpec {
	if len(edges) == 0 {
		edges = []Edges{Leading, Trailing, LeadingAndTrailing}
	}
	return ThrottleSpec{
		Name: "zoo throttle",
		Time: source,
		New: func(env Env, cfg ThrottleConfig, emit func(int)) ThrottleFuncs {
			d := &zooThrottle{clock: env.Clock, cfg: cfg, emit: emit, mutant: mutant}
			if mutant == "goroutine left behind" {
				startForGood()
			}
			if mutant == "counts without a lock" {
				n := 0
				return ThrottleFuncs{Call: func(v int) { n++; d.call(v) }}
			}
			return ThrottleFuncs{Call: d.call, AllowAt: d.allowAt, Reset: d.reset}
		},
		Traits: ThrottleTraits{Edges: edges, Boundary: BoundaryPasses, BothSingle: BothOnce, Payload: LastPayload},
	}
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
	{"panics on the third event", "X-CALLS"},
	{"goroutine left behind", "X-LEAK"},
}
