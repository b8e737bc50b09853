package conformance

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
)

// choosyThrottle is a throttle under one lock. Callbacks run without it: what is to run
// is collected in runs, for whoever lets go of the lock.
type choosyThrottle struct {
	traits ThrottleTraits
	ways   throttleWays
	clock  clockwork.Clock
	cfg    ThrottleConfig
	emit   func(int)

	mu      sync.Mutex
	runs    []func()
	used    bool
	began   time.Time   // of the interval
	passed  []time.Time // in the interval, or since K events
	newest  time.Time
	pending bool
	value   int
	timer   clockwork.Timer
	gen     int
	ended   bool // nothing counts any more
	closed  bool // its output

	keys map[int]*choosyThrottle
}

// throttleWays are what no trait is about.
type throttleWays struct {
	apart       bool // callbacks get a goroutine of their own
	opens       bool // with the trailing edge alone an emission opens an interval, too
	allows      bool // Allow stands for Call, on the leading edge alone
	refusesZero bool
	stopIsFinal bool // events after Stop are none
}

func newChoosyThrottle(tr ThrottleTraits, ways throttleWays, clock clockwork.Clock, cfg ThrottleConfig, emit func(int)) *choosyThrottle {
	if cfg.Interval == 0 && ways.refusesZero {
		panic("choosyThrottle: it cannot be made so")
	}
	return &choosyThrottle{traits: tr, ways: ways, clock: clock, cfg: cfg, emit: emit, keys: map[int]*choosyThrottle{}}
}

// do runs f under the lock, and then what it has started.
func (d *choosyThrottle) do(f func()) {
	d.mu.Lock()
	f()
	runs := d.runs
	d.runs = nil
	d.mu.Unlock()
	inTurn(runs)
}

func (d *choosyThrottle) send(v int) {
	run := func() {
		if d.traits.PanicPolicy == PanicRecovered {
			defer func() { _ = recover() }()
		}
		d.emit(v)
	}
	if d.ways.apart {
		go run()
	} else {
		d.runs = append(d.runs, run)
	}
}

// reckon is the instant that counts at now.
func (d *choosyThrottle) reckon(now time.Time) time.Time {
	if now.Before(d.newest) {
		if d.traits.ClockBack == BackStands {
			return d.newest
		}
		d.used, d.passed = false, nil // begin anew
	}
	d.newest = now
	return now
}

// over reports whether the interval that began at t is over at now.
func (d *choosyThrottle) over(t, now time.Time) bool {
	gap := now.Sub(t)
	return gap > d.cfg.Interval || gap == d.cfg.Interval && (d.traits.Boundary == BoundaryPasses || d.cfg.Interval == 0 || d.cfg.Edges == Trailing)
}

// allow is the leading edge alone.
func (d *choosyThrottle) allow(now time.Time) bool {
	if d.ended || d.cfg.Edges == NoEdges {
		return false
	}
	now = d.reckon(now)
	switch {
	case d.traits.Windows == WindowsSliding:
		d.passed = slices.DeleteFunc(d.passed, func(t time.Time) bool { return d.over(t, now) })
	case len(d.passed) > 0 && d.over(d.passed[0], now):
		d.passed = nil
	}
	if len(d.passed) >= max(1, d.cfg.K) {
		return false
	}
	d.passed = append(d.passed, now)
	return true
}

func (d *choosyThrottle) allowAt(t time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.allow(t)
}

func (d *choosyThrottle) call(v int) { d.do(func() { d.event(v) }) }

func (d *choosyThrottle) event(v int) {
	edges := d.cfg.Edges
	switch {
	case d.ended || edges == NoEdges:
		return
	case edges == Leading:
		if d.allow(d.clock.Now()) {
			d.send(v)
		}
		return
	case d.cfg.Interval == 0:
		d.send(v)
		if edges == LeadingAndTrailing && d.traits.BothSingle == BothTwice {
			d.send(v)
		}
		return
	}
	now := d.reckon(d.clock.Now())
	if running := d.pending || d.used && !d.over(d.began, now); running {
		if !d.pending || d.traits.Payload != FirstPayload {
			d.value = v
		}
		if !d.pending {
			d.pending = true
			d.arm(d.began.Add(d.cfg.Interval).Sub(now), now)
		}
		return
	}
	d.used, d.began = true, now
	if edges&Leading != 0 {
		d.send(v)
		if d.traits.BothSingle != BothTwice {
			return
		}
	}
	d.pending, d.value = true, v
	d.arm(d.cfg.Interval, now)
}

// arm lets the timer emit what is pending.
func (d *choosyThrottle) arm(in time.Duration, now time.Time) {
	if !d.used { // the clock was set back
		d.used, d.began, in = true, now, d.cfg.Interval
	}
	d.gen++
	gen := d.gen
	d.timer = d.clock.AfterFunc(in, func() {
		d.do(func() {
			now := d.clock.Now()
			switch {
			case gen != d.gen || !d.pending:
				return
			case d.traits.ClockBack == BackStands && now.Before(d.began.Add(d.cfg.Interval)):
				d.arm(d.began.Add(d.cfg.Interval).Sub(now), now)
				return
			}
			d.trail()
			d.began, d.newest = now, now
			d.used = d.cfg.Edges&Leading != 0 || d.ways.opens
			if d.closed = d.ended; d.closed {
				d.used = false
			}
		})
	})
}

func (d *choosyThrottle) trail() {
	d.pending = false
	d.send(d.value)
}

// fault passes an error on.
func (d *choosyThrottle) fault(v int) {
	d.do(func() {
		if !d.ended {
			d.send(v)
		}
	})
}

func (d *choosyThrottle) reset() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.used, d.passed = false, nil
}

func (d *choosyThrottle) drop() {
	d.pending = false
	d.gen++
	if d.timer != nil {
		d.timer.Stop()
	}
}

func (d *choosyThrottle) others() []*choosyThrottle {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []*choosyThrottle
	for _, k := range d.keys {
		all = append(all, k)
	}
	return all
}

func (d *choosyThrottle) stop() {
	d.do(func() {
		d.drop()
		d.ended = d.ended || d.ways.stopIsFinal
	})
	for _, k := range d.others() {
		k.stop()
	}
}

// cancel ends the context of a stream.
func (d *choosyThrottle) cancel() {
	d.do(func() {
		d.drop()
		d.ended, d.closed = true, true
	})
	for _, k := range d.others() {
		k.cancel()
	}
}

// end ends the input of a stream.
func (d *choosyThrottle) end() {
	d.do(func() {
		d.ended = true
		if d.pending && d.traits.CloseFlush == CloseAtDeadline {
			return // the timer closes the output
		}
		d.closed = true
		if d.pending && d.traits.CloseFlush == CloseFires {
			d.trail()
		}
		d.drop()
	})
	for _, k := range d.others() {
		k.end()
	}
}

func (d *choosyThrottle) isClosed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.closed
}

func (d *choosyThrottle) callKey(key, v int) {
	d.mu.Lock()
	if d.keys[key] == nil {
		d.keys[key] = newChoosyThrottle(d.traits, d.ways, d.clock, d.cfg, d.emit)
	}
	own := d.keys[key]
	d.mu.Unlock()
	own.call(v)
}

// choosyThrottleSpec has the operations that has names.
func choosyThrottleSpec(source TimeSource, tr ThrottleTraits, ways throttleWays, has map[Op]bool) ThrottleSpec {
	return ThrottleSpec{
		Name: "a choosy throttle", Time: source, Traits: tr,
		New: func(env Env, cfg ThrottleConfig, emit func(int)) ThrottleFuncs {
			d := newChoosyThrottle(tr, ways, env.Clock, cfg, func(v int) {
				if tr.Payload == NoPayload {
					v = 0
				}
				emit(v)
			})
			f := ThrottleFuncs{Call: d.call}
			switch {
			case source == Explicit:
				f.Call, f.AllowAt = nil, d.allowAt
			case ways.allows:
				f.Call, f.Allow = nil, func() bool { return d.allowAt(env.Clock.Now()) }
			}
			if has[OpReset] {
				f.Reset = d.reset
			}
			if has[OpStop] {
				f.Stop = d.stop
			}
			if f.Call == nil {
				return f
			}
			if has[opKeys] {
				f.CallKey = d.callKey
			}
			if has[OpFault] {
				f.Fault = d.fault
			}
			if has[OpClose] {
				f.Close, f.Closed = d.end, d.isClosed
			}
			if has[OpCancel] {
				f.Cancel, f.Closed = d.cancel, d.isClosed
			}
			return f
		},
	}
}

// chosenThrottles are throttles with choices drawn from a seed, which is always the same.
// Each choice is made by some.
func chosenThrottles(n int) []ThrottleSpec {
	rnd := rand.New(rand.NewPCG(3, 1))
	var out []ThrottleSpec
	for i := range n {
		pick := func(of int) int { return 1 + (i+rnd.IntN(of))%of }
		coin := func() bool { return rnd.IntN(2) == 0 }
		tr := ThrottleTraits{
			Boundary: Boundary(pick(2)), BothSingle: BothSingle(pick(2)), Payload: Payload(pick(3)), Windows: Windows(pick(3) - 1),
			ClockBack: ClockBack(pick(3) - 1), PanicPolicy: PanicPolicy(pick(3) - 1), CloseFlush: CloseFlush(pick(3)), Reentrancy: Reentrancy(pick(3) - 1),
		}
		for _, e := range []Edges{Trailing, Leading, LeadingAndTrailing, NoEdges} {
			if coin() {
				tr.Edges = append(tr.Edges, e)
			}
		}
		if len(tr.Edges) == 0 || len(tr.Edges) == 1 && tr.Edges[0] == NoEdges {
			tr.Edges = append(tr.Edges, []Edges{Trailing, Leading, LeadingAndTrailing}[i%3])
		}
		has := map[Op]bool{}
		for _, op := range []Op{OpReset, OpStop, OpClose, OpCancel, OpFault, opKeys} {
			has[op] = coin()
		}
		ways := throttleWays{apart: coin(), opens: coin(), refusesZero: coin(), stopIsFinal: coin()}
		source := []TimeSource{Injected, PackageTime, Injected, Explicit, PackageTime}[i%5]
		if source == Explicit {
			tr.Edges = []Edges{Leading}
		}
		ways.allows = coin() && !slices.ContainsFunc(tr.Edges, func(e Edges) bool { return e&Trailing != 0 && e != NoEdges })
		spec := choosyThrottleSpec(source, tr, ways, has)
		spec.Name = fmt.Sprintf("%s %d", spec.Name, i)
		out = append(out, spec)
	}
	return out
}

// Whatever a correct throttle chooses, and declares, it passes.
func TestChoices_throttles(t *testing.T) {
	tryAll(t, chosenThrottles(choices()), RunThrottle, func(s ThrottleSpec) (string, TimeSource, any) { return s.Name, s.Time, s.Traits })
}
