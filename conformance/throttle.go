package conformance

import (
	"slices"
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
	// Stop releases what the throttle holds, and drops what is pending.
	Stop func()
}

// ThrottleTraits are the choices on which correct throttles differ. The zero value
// of each is "undeclared".
type ThrottleTraits struct {
	// Edges lists the edges that New can build: on the leading edge an event that
	// finds no interval running is emitted at once, on the trailing edge the newest
	// event of an interval is emitted at its end.
	Edges []Edges
	// Boundary says what becomes of an event at the very end of an interval. Only
	// with the leading edge.
	Boundary Boundary
	// BothSingle says how often a single event is emitted with both edges. Only with
	// LeadingAndTrailing.
	BothSingle BothSingle
	// Payload says which event of an interval the trailing edge emits. Only with the
	// trailing edge.
	Payload Payload
}

// Boundary says what becomes of an event at the very end of an interval.
type Boundary int

// The choices.
const (
	BoundaryPasses Boundary = iota + 1 // it is emitted: an elapsed time equal to the interval is enough
	BoundaryWaits                      // it still belongs to the interval
)

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
func (spec *ThrottleSpec) edges() Edges {
	if has := spec.Traits.Edges; len(has) > 0 && !slices.Contains(has, Leading) {
		return has[0]
	}
	return Leading
}

// operations reports what the implementation can do. It looks at an instance that
// is thrown away.
func (spec *ThrottleSpec) operations() map[Op]bool {
	d := newHand(Config{}.start(), false)
	f := spec.New(Env{d.clock(), d.start}, ThrottleConfig{Interval: time.Hour, Edges: spec.edges()}, func(int) {})
	if f.Stop != nil {
		f.Stop()
	}
	explicit := spec.Time == Explicit
	return map[Op]bool{
		OpCall:  explicit && f.AllowAt != nil || !explicit && (f.Call != nil || f.Allow != nil),
		OpReset: f.Reset != nil, OpStop: f.Stop != nil,
	}
}

// do does one operation. An event that is allowed is an emission.
func (f *ThrottleFuncs) do(s Step, at time.Time, explicit bool, emit func(int)) {
	switch {
	case s.Op == OpReset:
		f.Reset()
	case s.Op == OpStop:
		f.Stop()
	case s.Op != OpCall:
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

// play runs a schedule on a fresh throttle.
func (spec *ThrottleSpec) play(d driver, j job, rec *recorder) {
	s := j.schedule
	rec.now = d.now
	rec.trace.Schedule, rec.trace.Order = s, j.order
	emit := func(v int) {
		if i := rec.fire(v); i >= 0 {
			rec.fired(i)
		}
	}
	edges := s.Config.Edges
	if edges == 0 {
		edges = spec.edges()
	}
	var impl ThrottleFuncs
	start := s.Config.start()
	rec.trace.Refused = catch(func() {
		impl = spec.New(Env{d.clock(), start}, ThrottleConfig{Interval: s.Config.Interval, Edges: edges}, emit)
	})
	if rec.trace.Refused != "" {
		return
	}
	end := time.Duration(0)
	for _, st := range s.Steps {
		d.to(st.At)
		rec.do(st, false, func(*Done) { impl.do(st, start.Add(st.At), spec.Time == Explicit, emit) })
		d.settle()
		end = max(end, st.At)
	}
	end += max(3*s.Config.Interval, time.Millisecond)
	d.to(end)
	d.settle()
	rec.mu.Lock()
	rec.trace.End = end
	rec.closed = !j.look
	rec.mu.Unlock()
	if impl.Stop != nil {
		_ = catch(impl.Stop)
	}
	if j.look {
		d.to(end + 3*s.Config.Interval)
		rec.trace.Armed = d.armed()
	}
	d.settle()
}

// table lists the traits with what was declared and how to observe them.
func (tr ThrottleTraits) table(c *contract) []trait {
	edges := 0
	if len(tr.Edges) > 0 {
		edges = int(tr.Edges[0])
	}
	has := func(which ...Edges) bool {
		return slices.ContainsFunc(tr.Edges, func(e Edges) bool { return slices.Contains(which, e) })
	}
	see := func(text string) *Trace {
		s, err := ParseSchedule(text)
		if err != nil {
			panic(err)
		}
		var seen *Trace
		c.try(job{schedule: s}, 1, func(tr *Trace) { seen = tr })
		return seen
	}
	return []trait{
		{"Edges", edges, []string{"[]conformance.Edges{conformance.Trailing}", "[]conformance.Edges{conformance.Leading}",
			"[]conformance.Edges{conformance.LeadingAndTrailing}"}, func() bool { return false }, func() int {
			out := 0
			for _, f := range see("interval=100ms | call 1 @0 | call 2 @1ms").Fires {
				if f.Began.At == 0 {
					out |= int(Leading)
				} else {
					out |= int(Trailing)
				}
			}
			return out
		}},
		{"Boundary", int(tr.Boundary), []string{"BoundaryPasses", "BoundaryWaits"},
			func() bool { return len(tr.Edges) > 0 && !has(Leading, LeadingAndTrailing) }, func() int {
				for _, f := range see("interval=100ms | call 1 @0 | call 2 @100ms").Fires {
					if f.Value == 2 && f.Began.At == wait {
						return int(BoundaryPasses)
					}
				}
				return int(BoundaryWaits)
			}},
		{"BothSingle", int(tr.BothSingle), []string{"BothOnce", "BothTwice"}, func() bool { return !has(LeadingAndTrailing) },
			func() int { return min(int(BothTwice), len(see("interval=100ms edges=both | call 1 @0").Fires)) }},
		{"Payload", int(tr.Payload), []string{"LastPayload", "FirstPayload", "NoPayload"}, func() bool { return !has(Trailing, LeadingAndTrailing) },
			func() int {
				for _, f := range see("interval=100ms | call 7 @0 | call 8 @1ms | call 9 @2ms").Fires {
					switch {
					case f.Began.At == 0:
					case f.Value == 9:
						return int(LastPayload)
					case f.Value == 7 || f.Value == 8:
						return int(FirstPayload)
					default:
						return int(NoPayload)
					}
				}
				return int(LastPayload)
			}},
	}
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
		f := c.thr.New(Env{d.clock(), Config{}.start()}, ThrottleConfig{Interval: wait, Edges: c.thr.edges()}, emit)
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
		if f.Stop != nil {
			f.Stop()
		}
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
