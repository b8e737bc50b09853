package conformance

import (
	"sync"
	"testing"
	"time"
)

// ThrottleSpec describes an implementation of the throttle contract: after an
// emission no other comes for an interval.
type ThrottleSpec struct {
	// Name is how reports call it.
	Name string
	// Time says how it takes its time. Explicit needs AllowAt.
	Time TimeSource
	// New makes a throttle that calls emit with the payload of what it emits. A
	// constructor that refuses cfg panics. Instances must not share state.
	New func(env Env, cfg ThrottleConfig, emit func(int)) ThrottleFuncs
	// Traits are the choices of the implementation. What is left undeclared fails
	// the subtest TRAITS, which prints what was observed.
	Traits ThrottleTraits
	// KnownFailing lists what is known to fail.
	KnownFailing []Known
}

// ThrottleConfig is what a throttle is made with.
type ThrottleConfig struct {
	Interval time.Duration
	Edges    Edges
	// K is the number of events that an interval lets pass; 0 stands for 1. Only
	// asked for if the trait Windows is declared.
	K int
}

// ThrottleFuncs are the operations of one throttle. One of Call, Allow and AllowAt
// must be there; the rules of an operation that is nil are skipped.
type ThrottleFuncs struct {
	// Call is an event with a payload; what comes of it goes to emit.
	Call func(v int)
	// Allow is an event without one: true stands for an emission at once. Leading
	// edge only.
	Allow func() bool
	// AllowAt is the form with an explicit time, for Explicit runs.
	AllowAt func(t time.Time) bool
	// Reset forgets the last emission: the next event passes. Leading edge only.
	Reset func()
	// Stop releases what the throttle holds, and drops what is pending. A call after it
	// does no harm. Where the end emits what is pending, it is Close.
	Stop func()

	// CallKey is Call for a throttle that keeps an interval for each key.
	CallKey func(key, v int)

	// Fault is an error item of a stream, which goes to emit too. Close ends the input
	// of a stream, Cancel its context, and Closed reports whether its output is closed.
	// They may start what they do and return. Nothing is sent after Close or Cancel.
	Fault         func(v int)
	Close, Cancel func()
	Closed        func() bool
}

// RunThrottle holds an implementation to the laws of a throttle, one subtest for each
// rule, and returns what it found. [Rules] lists the rules.
//
//	conformance.RunThrottle(t, conformance.ThrottleSpec{
//		Name: "mine",
//		Time: conformance.PackageTime,
//		New: func(_ conformance.Env, cfg conformance.ThrottleConfig, emit func(int)) conformance.ThrottleFuncs {
//			return conformance.ThrottleFuncs{Call: mine.NewThrottle(cfg.Interval, emit).Call}
//		},
//		Traits: conformance.ThrottleTraits{
//			Edges:    []conformance.Edges{conformance.Leading},
//			Boundary: conformance.BoundaryPasses,
//		},
//	})
//
// An interval begins with an emission, or with an event that waits for its end; a
// sampler that emits on a fixed grid is another thing.
func RunThrottle(t *testing.T, spec ThrottleSpec) *Report {
	t.Helper()
	return throttleContract(t, spec).run()
}

// throttleContract is the spec in the terms of the suite.
func throttleContract(t *testing.T, spec ThrottleSpec) *contract {
	t.Helper()
	if spec.New == nil {
		t.Fatal("conformance: RunThrottle: the spec has no New; say how to make a throttle")
	}
	c := &contract{
		t: t, name: spec.Name, kind: "throttle", time: spec.Time, known: spec.KnownFailing,
		rules: throttleRules, thr: &spec,
	}
	c.lab = &lab{t: t, time: spec.Time, play: func(d driver, j job, rec *recorder) { spec.play(d, j, rec) }}
	c.traits = spec.Traits.table(c)
	c.families = throttleFamilies
	c.canary = throttleCanary
	c.accepts = func(op Op) bool { return c.thrOps[op] }
	c.learn = func() { c.thrOps = spec.operations() }
	return c
}

// edges are those that are built where a schedule does not say.
func (spec *ThrottleSpec) edges() Edges { return preferred(spec.Traits.Edges, Leading) }

// kinds are the edges that are declared, or else those that are built.
func (spec *ThrottleSpec) kinds() []Edges {
	if has := spec.Traits.Edges; len(has) > 0 {
		return has
	}
	return []Edges{spec.edges()}
}

// operations reports what the implementation can do. It looks at an instance that
// is thrown away.
func (spec *ThrottleSpec) operations() map[Op]bool {
	d := newHand(Config{}.start(), false)
	f := spec.New(Env{d.clock(), d.start}, ThrottleConfig{Interval: time.Hour, Edges: spec.edges()}, func(int) {})
	f.release(false)
	explicit := spec.Time == Explicit
	return map[Op]bool{
		OpCall:  explicit && f.AllowAt != nil || !explicit && (f.Call != nil || f.Allow != nil),
		OpReset: f.Reset != nil, OpStop: f.Stop != nil, opKeys: f.CallKey != nil,
		OpFault: f.Fault != nil, OpClose: f.Close != nil && f.Closed != nil, OpCancel: f.Cancel != nil && f.Closed != nil,
		opEmits: !explicit && f.Call != nil,
	}
}

// opEmits stands for a throttle that calls emit itself in a set of operations.
const opEmits Op = "emit"

// opKeys stands for calls with a key in a set of operations.
const opKeys Op = "call with key"

// do does one operation. An event that is allowed is an emission.
func (f *ThrottleFuncs) do(s Step, at time.Time, explicit bool, emit func(int)) {
	switch {
	case s.Op == OpReset:
		f.Reset()
	case s.Op == OpStop:
		f.Stop()
	case s.Op == OpFault:
		f.Fault(s.N)
	case s.Op == OpClose:
		f.Close()
	case s.Op == OpCancel:
		f.Cancel()
	case s.Op != OpCall:
	case s.K != 0 && f.CallKey != nil:
		f.CallKey(s.K, s.N)
	case explicit:
		if f.AllowAt(at) {
			emit(s.N)
		}
	case f.Call != nil:
		f.Call(s.N)
	case f.Allow():
		emit(s.N)
	}
}

// release lets go of what the throttle holds. Whose input has ended has done so itself.
func (f *ThrottleFuncs) release(ended bool) {
	switch {
	case f.Stop != nil:
		f.Stop()
	case f.Cancel != nil:
		f.Cancel()
	case f.Close != nil && !ended:
		f.Close()
	}
}

// play runs a schedule on a fresh throttle, or on one for each key if the throttle
// has no keys of its own.
func (spec *ThrottleSpec) play(d driver, j job, rec *recorder) {
	s := j.schedule
	cfg := s.Config
	rec.now = d.now
	rec.trace.Schedule, rec.trace.Order = s, j.order
	var impl *ThrottleFuncs
	emit := func(key, v int) {
		i := rec.fire(v)
		if i < 0 {
			return
		}
		rec.during(i, key, cfg, d, func(step Step) {
			rec.do(step, true, func(*Done) { impl.do(step, cfg.start().Add(step.At), spec.Time == Explicit, func(int) {}) })
		})
	}
	edges := cfg.Edges
	if edges == 0 {
		edges = spec.edges()
	}
	start := cfg.start()
	env := Env{guard(d.clock(), cfg, rec), start}
	made := map[int]*ThrottleFuncs{}
	instance := func(key int) *ThrottleFuncs {
		if made[key] == nil {
			f := spec.New(env, ThrottleConfig{cfg.Interval, edges, cfg.K}, func(v int) { emit(key, v) })
			made[key] = &f
		}
		return made[key]
	}
	rec.trace.Refused = catch(func() { impl = instance(0) })
	if rec.trace.Refused != "" {
		return
	}
	h, free := d.(*hand)
	apart := (cfg.Busy > 0 || cfg.Inside != "") && !(free && !h.bubble)
	end, skew, ended := time.Duration(0), time.Duration(0), false
	for i, n := 0, 0; i < len(s.Steps); i += n {
		st := s.Steps[i]
		n = s.row(i)
		if !st.Racing {
			d.to(st.At)
		}
		if st.Op == OpWall {
			skew += st.D
			if free {
				h.c.SetWall(h.c.Now().Add(st.D))
			}
			end = max(end, st.At)
			continue
		}
		step := func() {
			for _, st := range s.Steps[i : i+n] {
				at, one := impl, st
				if st.K != 0 && (impl.CallKey == nil || j.family == instances) {
					at, one.K = instance(st.K), 0
				}
				rec.do(st, false, func(*Done) {
					at.do(one, start.Add(st.At+skew), spec.Time == Explicit, func(v int) { emit(st.K, v) })
				})
			}
		}
		switch {
		case st.Racing:
			d.race(st.At, j.order, step)
		case apart:
			go step()
		default:
			step()
		}
		d.settle()
		if impl.Closed != nil && (st.Op == OpClose || st.Op == OpCancel) {
			rec.settled(impl.Closed())
		}
		end, ended = max(end, st.At), ended || st.Op == OpClose
	}
	end += max(3*cfg.Interval, time.Millisecond) + time.Duration(len(s.Steps)+2)*cfg.Busy
	d.to(end)
	d.settle()
	rec.mu.Lock()
	rec.trace.End = end
	rec.trace.Closed = impl.Closed != nil && impl.Closed()
	rec.closed = !j.look
	rec.mu.Unlock()
	for _, f := range made {
		release := func() { f.release(ended && f == impl) }
		if apart {
			go func() { _ = catch(release) }()
		} else {
			_ = catch(release)
		}
	}
	if j.look {
		d.to(end + 3*cfg.Interval)
		rec.trace.Armed = d.armed()
	}
	d.settle()
}

// throttleCanary proves that the implementation takes its time from where the spec
// says, and looks whether runs can be settled exactly.
func throttleCanary(c *contract) string {
	if c.time != Injected {
		return ""
	}
	var mu sync.Mutex
	own, other, started := 0, 0, false
	c.lab.apart(func(d driver, _ job, rec *recorder) {
		rec.now = d.now
		n := 0
		emit := func(int) {
			mu.Lock()
			defer mu.Unlock()
			n++
			if !c.lab.bubble && !driven(createdBy()) {
				started = true
			}
		}
		count := func() int { mu.Lock(); defer mu.Unlock(); return n }
		before := 0
		if !c.lab.bubble {
			before = strangers()
		}
		f := c.thr.New(Env{guard(d.clock(), Config{}, rec), Config{}.start()}, ThrottleConfig{Interval: wait, Edges: c.thr.edges()}, emit)
		ask := func() int {
			before := count()
			for i := range 3 {
				_ = catch(func() { f.do(Step{Op: OpCall, N: i}, time.Time{}, false, emit) }) // X-CALLS judges panics
			}
			d.settle()
			return count() - before
		}
		ask()
		left := !c.lab.bubble && strangers() > before // whoever is not there any more has emitted
		d.to(time.Hour)
		own = ask() + count()
		settled := count()
		if c.lab.bubble { // move the other clock
			time.Sleep(time.Hour)
			d.settle()
			ask()
			other = count() - settled
		}
		mu.Lock()
		started = started || left
		mu.Unlock()
		f.release(false)
		d.settle()
	}).once()
	mu.Lock()
	defer mu.Unlock()
	switch {
	case other > 0 && own <= 2:
		return "the spec says Injected, but moving package time brought emissions and moving Env.Clock did not: " +
			"hand Env.Clock to the implementation, or set Time: conformance.PackageTime"
	case started:
		c.exact = ownGoroutines
	}
	return ""
}
