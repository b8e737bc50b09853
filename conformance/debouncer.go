package conformance

import (
	"slices"
	"testing"
	"time"
)

// DebouncerSpec describes an implementation of the debouncer contract.
type DebouncerSpec struct {
	// Name is how reports call it.
	Name string
	// Time says how it takes its time: Injected or PackageTime.
	Time TimeSource
	// New makes a debouncer that calls fire with the payload of what it fires for.
	// A constructor that refuses cfg panics. Instances must not share state.
	New func(env Env, cfg DebounceConfig, fire func(int)) DebouncerFuncs
	// NewBatch stands for New where the callback gets all events of a burst. They are the
	// callback's until it returns.
	NewBatch func(env Env, cfg DebounceConfig, fire func([]int)) DebouncerFuncs
	// Traits are the choices of the implementation. What is left undeclared fails
	// the subtest TRAITS, which prints what was observed.
	Traits DebounceTraits
	// KnownFailing lists what is known to fail.
	KnownFailing []Known
}

// DebounceConfig is what a debouncer is made with.
type DebounceConfig struct {
	Wait time.Duration
	// MaxWait is the bound on the wait; 0 stands for none. Only asked for if the trait
	// MaxWait is declared.
	MaxWait time.Duration
	Edges   Edges
}

// DebouncerFuncs are the operations of one debouncer. Only Call must be there; the
// rules of an operation that is nil are skipped.
type DebouncerFuncs struct {
	// Call is an event with a payload.
	Call func(int)
	// Cancel discards the pending event. An implementation whose cancel reports
	// something sets CancelReports instead: true means that nothing will run for
	// what it cancelled.
	Cancel        func()
	CancelReports func() bool
	// Flush fires the pending event now, and nothing if there is none.
	Flush func()
	// Pending reports whether an event is pending.
	Pending func() bool
	// Stop ends the debouncer for good. A call after it does nothing.
	Stop func()
	// Close ends the input of a stream or batch. It may start what it does and return.
	// Nothing is called after it.
	Close func()
	// CallKey is Call for a debouncer that keeps a wait for each key.
	CallKey func(key, v int)
}

// RunDebouncer holds an implementation to the laws of a debouncer, one subtest for
// each rule, and returns what it found. [Rules] lists the rules.
//
// Every event of a schedule has its own payload, 1, 2, 3 and so on, so that a rule
// can tell what a callback fired for. Implementations whose callback takes no
// payload declare Payload: NoPayload and call fire with any number.
func RunDebouncer(t *testing.T, spec DebouncerSpec) *Report {
	t.Helper()
	return debouncerContract(t, spec).run()
}

// debouncerContract is the spec in the terms of the suite.
func debouncerContract(t *testing.T, spec DebouncerSpec) *contract {
	t.Helper()
	if spec.New == nil && spec.NewBatch == nil {
		t.Fatal("conformance: RunDebouncer: the spec has no New; say how to make a debouncer")
	}
	c := &contract{
		t: t, name: spec.Name, kind: "debouncer", time: spec.Time, known: spec.KnownFailing,
		rules: debouncerRules, deb: &spec,
	}
	c.lab = &lab{t: t, time: spec.Time, play: func(d driver, j job, rec *recorder) { spec.play(d, j, rec) }}
	c.traits = spec.Traits.table(c)
	c.families = debouncerFamilies
	c.canary = debouncerCanary
	c.accepts = func(op Op) bool { return c.debOps[op] }
	c.learn = func() { c.debOps = spec.operations() }
	return c
}

// edges are those that are built where a schedule does not say: trailing, if the
// implementation can.
func (spec *DebouncerSpec) edges() Edges { return preferred(spec.Traits.Edges, Trailing) }

// preferred returns first if it is among the edges, or none is, or else one of them that
// fires something, if there is any.
func preferred(has []Edges, first Edges) Edges {
	if len(has) == 0 || slices.Contains(has, first) {
		return first
	}
	if i := slices.IndexFunc(has, func(e Edges) bool { return e != NoEdges }); i >= 0 {
		return has[i]
	}
	return has[0]
}

// kinds are the edges that are declared, or else those that are built.
func (spec *DebouncerSpec) kinds() []Edges {
	if has := spec.Traits.Edges; len(has) > 0 {
		return has
	}
	return []Edges{spec.edges()}
}

// operations reports what the implementation can do. It looks at an instance
// that is thrown away.
func (spec *DebouncerSpec) operations() map[Op]bool {
	d := newHand(Config{}.start(), false)
	f := spec.build(Env{d.clock(), d.start}, DebounceConfig{Wait: time.Hour, Edges: spec.edges()}, func(int, []int) {})
	f.release(false)
	return map[Op]bool{
		OpCall: f.Call != nil, OpCancel: f.Cancel != nil || f.CancelReports != nil, OpFlush: f.Flush != nil,
		OpPending: f.Pending != nil, OpStop: f.Stop != nil,
		opReports: f.CancelReports != nil, OpClose: f.Close != nil, opKeys: f.CallKey != nil,
	}
}

// build makes a debouncer of either kind.
func (spec *DebouncerSpec) build(env Env, cfg DebounceConfig, fire func(v int, all []int)) DebouncerFuncs {
	if spec.NewBatch == nil {
		return spec.New(env, cfg, func(v int) { fire(v, nil) })
	}
	return spec.NewBatch(env, cfg, func(all []int) {
		v := 0
		if len(all) > 0 {
			v = all[len(all)-1]
		}
		fire(v, all)
	})
}

// opReports stands for a cancel with a result in a set of operations.
const opReports Op = "cancel reports"

// do does one operation of a schedule and notes its result.
func (f *DebouncerFuncs) do(s Step, d *Done) {
	switch s.Op {
	case OpCall:
		if s.K != 0 && f.CallKey != nil {
			f.CallKey(s.K, s.N)
			return
		}
		f.Call(s.N)
	case OpClose:
		f.Close()
	case OpCancel:
		if f.CancelReports != nil {
			d.OK = f.CancelReports()
		} else {
			f.Cancel()
		}
	case OpFlush:
		f.Flush()
	case OpPending:
		d.OK = f.Pending()
	case OpStop:
		f.Stop()
	}
}

// release ends the debouncer, if it can be ended and its input has not done so.
func (f *DebouncerFuncs) release(ended bool) {
	switch {
	case f.Stop != nil:
		f.Stop()
	case f.Close != nil && !ended:
		f.Close()
	}
}

// insideValue is the payload of a call made in a callback; larger than those of
// the schedule's steps, because it comes later than the event that is firing.
const insideValue = 1000

// play runs a schedule on a fresh debouncer.
func (spec *DebouncerSpec) play(d driver, j job, rec *recorder) {
	s := j.schedule
	cfg := s.Config
	rec.now = d.now
	rec.trace.Schedule, rec.trace.Order = s, j.order

	var impl *DebouncerFuncs
	fire := func(key, v int, all []int) {
		i := rec.fire(v)
		if i < 0 {
			return
		}
		if all != nil {
			rec.batch(i, all)
		}
		rec.during(i, key, cfg, d, func(step Step) {
			rec.do(step, true, func(done *Done) { impl.do(step, done) })
		})
		if all != nil {
			rec.batch(i, all) // it is the callback's until it returns
		}
	}
	edges := cfg.Edges
	if edges == 0 {
		edges = spec.edges()
	}
	env := Env{guard(d.clock(), cfg, rec), cfg.start()}
	made := map[int]*DebouncerFuncs{}
	instance := func(key int) *DebouncerFuncs {
		if made[key] == nil {
			f := spec.build(env, DebounceConfig{cfg.Wait, cfg.MaxWait, edges},
				func(v int, all []int) { fire(key, v, all) })
			made[key] = &f
		}
		return made[key]
	}
	rec.trace.Refused = catch(func() { impl = instance(0) })
	if rec.trace.Refused != "" {
		return
	}
	// A step that may wait for a callback must not keep time from moving. Without a
	// bubble nobody could tell when it is done, so there it is simply called.
	h, free := d.(*hand)
	apart := (cfg.Busy > 0 || cfg.Inside != "") && !(free && !h.bubble)
	stopped, ended := false, false
	end := time.Duration(0)
	for i, n := 0, 0; i < len(s.Steps); i += n {
		st := s.Steps[i]
		n = s.renewal(i)
		step := func() {
			for _, st := range s.Steps[i : i+n] {
				at, one := impl, st
				if st.K != 0 && (impl.CallKey == nil || j.family == instances) {
					at, one.K = instance(st.K), 0
				}
				rec.do(st, false, func(done *Done) { at.do(one, done) })
			}
		}
		switch {
		case st.Op == OpIdle:
			d.to(st.At)
		case st.Op == OpWall:
			d.to(st.At)
			if free {
				h.c.SetWall(h.c.Now().Add(st.D))
			}
		case st.Racing:
			d.race(st.At, j.order, step)
		case apart:
			d.to(st.At)
			go step()
			d.settle()
		default:
			d.to(st.At)
			step()
		}
		stopped = stopped || st.Op == OpStop
		ended = ended || st.Op == OpClose
		end = max(end, st.At)
	}
	// Long enough for every fire that can still come, and for one that must not.
	fires := len(s.Steps) + 2
	if edges == LeadingAndTrailing && spec.Traits.BothSingle == BothTwice {
		fires *= 2
	}
	end += max(3*cfg.Wait, time.Millisecond) + time.Duration(fires)*cfg.Busy
	d.to(end)
	d.settle()
	rec.mu.Lock()
	rec.trace.End = end
	rec.closed = !j.look
	rec.mu.Unlock()
	for _, f := range made {
		release := func() { f.release(ended && f == impl) }
		switch {
		case stopped && f == impl:
		case apart:
			go func() { _ = catch(release) }()
		default:
			_ = catch(release)
		}
	}
	if j.look {
		d.to(end + 3*cfg.Wait)
		rec.trace.Armed = d.armed()
	}
	d.settle()
}
