package throttle

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/escapement-go/escapement/conformance"
	tt "github.com/escapement-go/escapement/conformance/throttletest"
	"github.com/escapement-go/escapement/internal/verb"
	"github.com/escapement-go/escapement/internal/zoo"
)

// callKeys stands for calls with a key.
const callKeys conformance.Op = "call with key"

// choosy is a throttle under one lock. Callbacks run without it: what is to run
// is collected in runs, for whoever lets go of the lock.
type choosy struct {
	base
	traits tt.Traits
	ways   ways

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
	explicit    bool // AllowAt does
	refusesZero bool
	stopIsFinal bool // events after Stop are none
	forgets     bool // a reset forgets where a clock was that stands when it is set back, a drop the interval
}

func newChoosy(b base, tr tt.Traits, ways ways) *choosy {
	return &choosy{base: b, traits: tr, ways: ways, keys: map[int]*choosy{}}
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
			if d.is("several follow a clock that is set back") && d.cfg.K > 1 {
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
				if !d.is("a timer that a clock set back has made early is the last one") {
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
	return slices.Collect(maps.Values(d.keys))
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
	if d.is("a context that ends leaves what waits for a key") {
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
	return d.closed || d.is("the output is closed before what waits has come") && d.ended
}

// of is the throttle of a key.
func (d *choosy) of(key int) *choosy {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.keys[key] == nil {
		d.sweep()
		d.keys[key] = newChoosy(d.base, d.traits, d.ways)
		d.keys[key].came = d.clock.Now()
	}
	return d.keys[key]
}

// sweep forgets keys that are not at rest, if that is its mistake.
func (d *choosy) sweep() {
	if !d.is("keys are swept by the oldest of several") && !d.is("keys are swept by when they came") {
		return
	}
	now := d.clock.Now()
	maps.DeleteFunc(d.keys, func(_ int, k *choosy) bool {
		k.mu.Lock()
		defer k.mu.Unlock()
		old := k.came
		if d.is("keys are swept by the oldest of several") && len(k.passed) > 0 {
			old = k.passed[0]
		}
		return d.over(old, now)
	})
}

// choosyKind has the operations that has names.
func choosyKind(tr tt.Traits, ways ways, has ...conformance.Op) kind {
	return kind{name: "a choosy throttle", traits: tr, make: func(b base) tt.Funcs {
		if b.cfg.Interval == 0 && ways.refusesZero {
			panic("choosy: it cannot be made so")
		}
		if emit := b.emit; tr.Payload == tt.NoPayload {
			b.emit = func(int) { emit(0) }
		}
		d := newChoosy(b, tr, ways)
		var f tt.Funcs
		switch {
		case ways.explicit:
			f.AllowAt = d.allowAt
		case ways.allows:
			f.Allow = func() bool { return d.allowAt(b.clock.Now()) }
		default:
			f.Call = d.call
		}
		resets := slices.Contains(has, verb.Reset)
		if resets {
			f.Reset = d.reset
		}
		if slices.Contains(has, verb.Stop) {
			f.Stop, f.Drop = d.stop, d.forget
		}
		if f.Call == nil {
			return f
		}
		if slices.Contains(has, callKeys) {
			f.CallKey = func(key, v int) { d.of(key).call(v) }
		}
		if resets && f.CallKey != nil {
			f.ResetKey = func(key int) { d.of(key).reset() }
		}
		if slices.Contains(has, verb.Fault) {
			f.Fault = d.fault
		}
		if slices.Contains(has, verb.Close) {
			f.Close, f.Closed = d.end, d.isClosed
		}
		if slices.Contains(has, verb.Cancel) {
			f.Cancel, f.Closed = d.cancel, d.isClosed
		}
		return f
	}}
}

// choosyKinds are choosy throttles that have mistakes.
func choosyKinds() []kind {
	leading := tt.Traits{
		Edges:    []tt.Edges{tt.Leading},
		Boundary: tt.BoundaryPasses, Payload: tt.LastPayload, ClockBack: tt.BackStands,
	}
	several := leading
	several.Windows = tt.WindowsSliding
	trailing := tt.Traits{Edges: []tt.Edges{tt.Trailing}, Boundary: tt.BoundaryPasses, Payload: tt.LastPayload}
	stands, late := trailing, trailing
	stands.ClockBack, late.CloseFlush = tt.BackStands, tt.CloseAtDeadline
	mutant := func(name, rule string, tr tt.Traits, has ...conformance.Op) kind {
		return choosyKind(tr, ways{}, has...).with(mistake{name, rule})
	}
	return []kind{
		mutant("several follow a clock that is set back", "X-BACK", several),
		mutant("a timer that a clock set back has made early is the last one", "X-BACK", stands),
		mutant("a context that ends leaves what waits for a key", "TH-CTX", trailing, verb.Cancel, callKeys),
		mutant("keys are swept by the oldest of several", "TH-KEY", several, callKeys),
		mutant("keys are swept by when they came", "TH-KEY", leading, callKeys),
		mutant("the output is closed before what waits has come", "TH-CLOSE", late, verb.Close),
	}
}

// Chosen are n correct throttles that choose all that may be chosen, drawn from a seed, which is always the same.
// Each choice is made by some.
func Chosen(n int) (all []zoo.Design) {
	rnd := rand.New(rand.NewPCG(3, 1))
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
		every := []tt.Edges{tt.Trailing, tt.Leading, tt.LeadingAndTrailing, tt.NoEdges}
		for _, e := range every {
			if coin() {
				tr.Edges = append(tr.Edges, e)
			}
		}
		if len(tr.Edges) == 0 || len(tr.Edges) == 1 && tr.Edges[0] == tt.NoEdges {
			tr.Edges = append(tr.Edges, every[i%3])
		}
		var has []conformance.Op
		for _, op := range []conformance.Op{verb.Reset, verb.Stop, verb.Close, verb.Cancel, verb.Fault, callKeys} {
			if coin() {
				has = append(has, op)
			}
		}
		ways := ways{apart: coin(), opens: coin(), refusesZero: coin(), stopIsFinal: coin()}
		source := []tt.TimeSource{tt.Injected, tt.PackageTime, tt.Injected, tt.Explicit, tt.PackageTime}[i%5]
		if ways.explicit = source == tt.Explicit; ways.explicit {
			tr.Edges = []tt.Edges{tt.Leading}
		}
		ways.allows = coin() && !slices.ContainsFunc(tr.Edges, func(e tt.Edges) bool {
			return e&tt.Trailing != 0 && e != tt.NoEdges
		})
		k := choosyKind(tr, ways, has...).named(fmt.Sprintf("a choosy throttle %d", i))
		all = append(all, zoo.Design{Name: k.name, Spec: k.spec(source, "")})
	}
	return all
}
