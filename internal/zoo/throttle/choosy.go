package throttle

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/escapement-go/escapement/conformance"
	tt "github.com/escapement-go/escapement/conformance/throttletest"
	"github.com/escapement-go/escapement/internal/verb"
	"github.com/escapement-go/escapement/internal/zoo"
	"github.com/jonboulle/clockwork"
)

// callKeys stands for calls with a key.
const callKeys conformance.Op = "call with key"

// choosy is a throttle under one lock. Callbacks run without it: what is to run
// is collected in runs, for whoever lets go of the lock.
type choosy struct {
	traits tt.Traits
	ways   ways
	clock  clockwork.Clock
	cfg    tt.Config
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

	keys map[int]*choosy
	came time.Time // when a key was first seen
}

// ways are what no trait is about.
type ways struct {
	apart       bool // callbacks get a goroutine of their own
	opens       bool // with the trailing edge alone an emission opens an interval, too
	allows      bool // Allow stands for Call, on the leading edge alone
	refusesZero bool
	stopIsFinal bool // events after Stop are none
	forgets     bool // a reset forgets where a clock was that stands when it is set back, a drop the interval
	mutant      string
}

func (d *choosy) is(mutant string) bool { return d.ways.mutant == mutant }

func newChoosyThrottle(
	tr tt.Traits, ways ways, clock clockwork.Clock, cfg tt.Config, emit func(int),
) *choosy {
	if cfg.Interval == 0 && ways.refusesZero {
		panic("choosy: it cannot be made so")
	}
	return &choosy{traits: tr, ways: ways, clock: clock, cfg: cfg, emit: emit, keys: map[int]*choosy{}}
}

// do runs f under the lock, and then what it has started.
func (d *choosy) do(f func()) {
	d.mu.Lock()
	f()
	runs := d.runs
	d.runs = nil
	d.mu.Unlock()
	zoo.InTurn(runs)
}

func (d *choosy) send(v int) {
	run := func() {
		if d.traits.PanicPolicy == tt.PanicRecovered {
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
func (d *choosy) reckon(now time.Time) time.Time {
	if now.Before(d.newest) {
		if d.traits.ClockBack == tt.BackStands {
			if d.is(severalFollow) && d.cfg.K > 1 {
				return now
			}
			return d.newest
		}
		d.used, d.passed = false, nil // begin anew
	}
	d.newest = now
	return now
}

// over reports whether the interval that began at t is over at now.
func (d *choosy) over(t, now time.Time) bool {
	gap := now.Sub(t)
	if d.traits.Boundary == tt.BoundaryRounded && d.cfg.Edges == tt.Leading {
		gap++ // the earliest of what may pass
	}
	passes := d.traits.Boundary != tt.BoundaryWaits ||
		d.cfg.Interval == 0 || d.cfg.Edges == tt.Trailing
	return gap > d.cfg.Interval || gap == d.cfg.Interval && passes
}

// allow is the leading edge alone.
func (d *choosy) allow(now time.Time) bool {
	if d.ended || d.cfg.Edges == tt.NoEdges {
		return false
	}
	now = d.reckon(now)
	switch {
	case d.traits.Windows == tt.WindowsSliding:
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

func (d *choosy) allowAt(t time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.allow(t)
}

func (d *choosy) call(v int) { d.do(func() { d.event(v) }) }

func (d *choosy) event(v int) {
	edges := d.cfg.Edges
	switch {
	case d.ended || edges == tt.NoEdges:
		return
	case edges == tt.Leading:
		if d.allow(d.clock.Now()) {
			d.send(v)
		}
		return
	case d.cfg.Interval == 0:
		d.send(v)
		if edges == tt.LeadingAndTrailing && d.traits.BothSingle == tt.BothTwice {
			d.send(v)
		}
		return
	}
	now := d.reckon(d.clock.Now())
	if running := d.pending || d.used && !d.over(d.began, now); running {
		if !d.pending || d.traits.Payload != tt.FirstPayload {
			d.value = v
		}
		if !d.pending {
			d.pending = true
			d.arm(d.began.Add(d.cfg.Interval).Sub(now), now)
		}
		return
	}
	d.used, d.began = true, now
	if edges&tt.Leading != 0 {
		d.send(v)
		if d.traits.BothSingle != tt.BothTwice {
			return
		}
	}
	d.pending, d.value = true, v
	d.arm(d.cfg.Interval, now)
}

// arm lets the timer emit what is pending.
func (d *choosy) arm(in time.Duration, now time.Time) {
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
			case d.traits.ClockBack == tt.BackStands && now.Before(d.began.Add(d.cfg.Interval)):
				if !d.is(waitsInVain) {
					d.arm(d.began.Add(d.cfg.Interval).Sub(now), now)
				}
				return
			}
			d.trail()
			d.began, d.newest = now, now
			d.used = d.cfg.Edges&tt.Leading != 0 || d.ways.opens
			if d.closed = d.ended; d.closed {
				d.used = false
			}
		})
	})
}

func (d *choosy) trail() {
	d.pending = false
	d.send(d.value)
}

// fault passes an error on.
func (d *choosy) fault(v int) {
	d.do(func() {
		if !d.ended {
			d.send(v)
		}
	})
}

func (d *choosy) reset() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.used, d.passed = false, nil
	if d.ways.forgets {
		d.newest = time.Time{}
	}
}

func (d *choosy) drop() {
	d.pending = false
	d.gen++
	if d.timer != nil {
		d.timer.Stop()
	}
}

func (d *choosy) forget() {
	d.do(func() {
		if d.drop(); d.ways.forgets {
			d.used, d.passed = false, nil
		}
	})
}

func (d *choosy) others() []*choosy {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []*choosy
	for _, k := range d.keys {
		all = append(all, k)
	}
	return all
}

func (d *choosy) stop() {
	d.do(func() {
		d.drop()
		d.ended = d.ended || d.ways.stopIsFinal
	})
	for _, k := range d.others() {
		k.stop()
	}
}

// cancel ends the context of a stream.
func (d *choosy) cancel() {
	d.do(func() {
		d.drop()
		d.ended, d.closed = true, true
	})
	if d.is(cancelsOne) {
		return
	}
	for _, k := range d.others() {
		k.cancel()
	}
}

// end ends the input of a stream.
func (d *choosy) end() {
	d.do(func() {
		d.ended = true
		if d.pending && d.traits.CloseFlush == tt.CloseAtDeadline {
			return // the timer closes the output
		}
		d.closed = true
		if d.pending && d.traits.CloseFlush == tt.CloseFires {
			d.trail()
		}
		d.drop()
	})
	for _, k := range d.others() {
		k.end()
	}
}

// isClosed reports whether nothing comes any more, for no key either.
func (d *choosy) isClosed() bool {
	for _, k := range d.others() {
		if !k.isClosed() {
			return false
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.closed || d.is(closedTooSoon) && d.ended
}

// of is the throttle of a key.
func (d *choosy) of(key int) *choosy {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.keys[key] == nil {
		d.sweep()
		d.keys[key] = newChoosyThrottle(d.traits, d.ways, d.clock, d.cfg, d.emit)
		d.keys[key].came = d.clock.Now()
	}
	return d.keys[key]
}

// sweep forgets keys that are not at rest, if that is its mistake.
func (d *choosy) sweep() {
	if !d.is(sweepsOldest) && !d.is(sweepsByAge) {
		return
	}
	now := d.clock.Now()
	maps.DeleteFunc(d.keys, func(_ int, k *choosy) bool {
		k.mu.Lock()
		defer k.mu.Unlock()
		old := k.came
		if d.is(sweepsOldest) && len(k.passed) > 0 {
			old = k.passed[0]
		}
		return d.over(old, now)
	})
}

// choosySpec has the operations that has names.
func choosySpec(
	source tt.TimeSource, tr tt.Traits, ways ways, has map[conformance.Op]bool,
) tt.Spec {
	return tt.Spec{
		Name: "a choosy throttle", Time: source, Traits: tr,
		New: func(env tt.Env, cfg tt.Config, emit func(int)) tt.Funcs {
			d := newChoosyThrottle(tr, ways, env.Clock, cfg, func(v int) {
				if tr.Payload == tt.NoPayload {
					v = 0
				}
				emit(v)
			})
			f := tt.Funcs{Call: d.call}
			switch {
			case source == tt.Explicit:
				f.Call, f.AllowAt = nil, d.allowAt
			case ways.allows:
				f.Call, f.Allow = nil, func() bool { return d.allowAt(env.Clock.Now()) }
			}
			if has[verb.Reset] {
				f.Reset = d.reset
			}
			if has[verb.Stop] {
				f.Stop, f.Drop = d.stop, d.forget
			}
			if f.Call == nil {
				return f
			}
			if has[callKeys] {
				f.CallKey = func(key, v int) { d.of(key).call(v) }
				if has[verb.Reset] {
					f.ResetKey = func(key int) { d.of(key).reset() }
				}
			}
			if has[verb.Fault] {
				f.Fault = d.fault
			}
			if has[verb.Close] {
				f.Close, f.Closed = d.end, d.isClosed
			}
			if has[verb.Cancel] {
				f.Cancel, f.Closed = d.cancel, d.isClosed
			}
			return f
		},
	}
}

// chosen are throttles with choices drawn from a seed, which is always the same.
// Each choice is made by some.
func chosen(n int) []tt.Spec {
	rnd := rand.New(rand.NewPCG(3, 1))
	var out []tt.Spec
	for i := range n {
		pick := func(of int) int { return 1 + (i+rnd.IntN(of))%of }
		coin := func() bool { return rnd.IntN(2) == 0 }
		tr := tt.Traits{
			Boundary:    tt.Boundary(pick(4)),
			BothSingle:  tt.BothSingle(pick(2)),
			Payload:     tt.Payload(pick(3)),
			Windows:     tt.Windows(pick(3) - 1),
			ClockBack:   tt.ClockBack(pick(3) - 1),
			PanicPolicy: tt.PanicPolicy(pick(3) - 1),
			CloseFlush:  tt.CloseFlush(pick(3)),
			Reentrancy:  tt.Reentrancy(pick(3) - 1),
		}
		for _, e := range []tt.Edges{
			tt.Trailing, tt.Leading, tt.LeadingAndTrailing, tt.NoEdges,
		} {
			if coin() {
				tr.Edges = append(tr.Edges, e)
			}
		}
		if len(tr.Edges) == 0 || len(tr.Edges) == 1 && tr.Edges[0] == tt.NoEdges {
			tr.Edges = append(tr.Edges, []tt.Edges{
				tt.Trailing, tt.Leading, tt.LeadingAndTrailing,
			}[i%3])
		}
		has := map[conformance.Op]bool{}
		for _, op := range []conformance.Op{
			verb.Reset, verb.Stop, verb.Close,
			verb.Cancel, verb.Fault, callKeys,
		} {
			has[op] = coin()
		}
		ways := ways{apart: coin(), opens: coin(), refusesZero: coin(), stopIsFinal: coin()}
		source := []tt.TimeSource{
			tt.Injected, tt.PackageTime, tt.Injected,
			tt.Explicit, tt.PackageTime,
		}[i%5]
		if source == tt.Explicit {
			tr.Edges = []tt.Edges{tt.Leading}
		}
		ways.allows = coin() && !slices.ContainsFunc(tr.Edges, func(e tt.Edges) bool {
			return e&tt.Trailing != 0 && e != tt.NoEdges
		})
		spec := choosySpec(source, tr, ways, has)
		spec.Name = fmt.Sprintf("%s %d", spec.Name, i)
		out = append(out, spec)
	}
	return out
}
