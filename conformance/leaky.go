package conformance

import (
	"slices"
	"testing"
	"time"
)

// LeakyBucketSpec describes an implementation of the leaky bucket contract: a queue
// with a bound whose items leave one at a time, an interval apart.
type LeakyBucketSpec struct {
	// Name is how reports call it.
	Name string
	// Time says how it takes its time: Injected or PackageTime.
	Time TimeSource
	// New makes a bucket that calls leave with each item as it leaves. A constructor
	// that refuses cfg panics. Instances must not share state.
	New func(env Env, cfg LeakyBucketConfig, leave func(int)) LeakyBucketFuncs
	// Traits are the choices of the implementation. What is left undeclared fails
	// the subtest TRAITS, which prints what was observed.
	Traits LeakyBucketTraits
	// KnownFailing lists what is known to fail.
	KnownFailing []Known
}

// LeakyBucketConfig is what a leaky bucket is made with.
type LeakyBucketConfig struct {
	Interval time.Duration
	// Backlog is the most items that wait, not counting one that leaves at once. One
	// that a goroutine of the implementation holds ready does wait.
	Backlog int
}

// LeakyBucketFuncs are the operations of one leaky bucket. Put must be there; the
// rules of an operation that is nil are skipped.
type LeakyBucketFuncs struct {
	// Put offers item v and reports whether it was accepted. It does not block until
	// the item leaves. For a bucket whose callers block for their turn, Put starts a
	// goroutine that waits for it and calls leave.
	Put func(v int) bool
	// Cancel takes item v out of the queue and reports whether it was there.
	Cancel func(v int) bool
	// Close ends the input. It may block until what waits has left or is dropped.
	Close func()
	// Stop releases what the bucket holds, and drops what waits. One that lets it leave
	// is a Close.
	Stop func()
}

// LeakyBucketTraits are the choices on which correct leaky buckets differ. The zero
// value of Head and CloseFlush is "undeclared".
type LeakyBucketTraits struct {
	// Head says when an item leaves that finds nothing waiting.
	Head Head
	// CloseFlush says what becomes of what waits when the input ends: CloseAtDeadline or
	// CloseDrops. Only with Close.
	CloseFlush CloseFlush
	// Slack is how many items more than one may leave at once after idle time, if it
	// is not none. Only with HeadAtOnce.
	Slack int
	// Unbounded says that the queue has no bound: every item is accepted.
	Unbounded bool
}

// Head says when an item leaves that finds nothing waiting.
type Head int

// The choices.
const (
	HeadAtOnce Head = iota + 1 // at once, unless the last one left less than the interval ago
	HeadWaits                  // an interval after it came, or after the last one left if that is sooner
	HeadOnGrid                 // at the next instant of a grid that began when the bucket was made
)

// RunLeakyBucket holds an implementation to the laws of a leaky bucket, one subtest
// for each rule, and returns what it found. [Rules] lists the rules.
//
//	conformance.RunLeakyBucket(t, conformance.LeakyBucketSpec{
//		Name: "mine",
//		Time: conformance.PackageTime,
//		New: func(_ conformance.Env, cfg conformance.LeakyBucketConfig, leave func(int)) conformance.LeakyBucketFuncs {
//			b := mine.NewBucket(cfg.Interval, cfg.Backlog, leave)
//			return conformance.LeakyBucketFuncs{Put: b.TryPut, Stop: b.Stop}
//		},
//		Traits: conformance.LeakyBucketTraits{Head: conformance.HeadAtOnce},
//	})
func RunLeakyBucket(t *testing.T, spec LeakyBucketSpec) *Report {
	t.Helper()
	return leakyContract(t, spec).run()
}

// leakyContract is the spec in the terms of the suite.
func leakyContract(t *testing.T, spec LeakyBucketSpec) *contract {
	t.Helper()
	if spec.New == nil {
		t.Fatal("conformance: RunLeakyBucket: the spec has no New; say how to make a leaky bucket")
	}
	switch tr := spec.Traits; {
	case tr.CloseFlush == CloseFires:
		t.Fatal("conformance: RunLeakyBucket: with CloseFires what waits would leave together; declare CloseAtDeadline or CloseDrops")
	case tr.Slack < 0 || tr.Slack > 0 && tr.Head > HeadAtOnce:
		t.Fatalf("conformance: RunLeakyBucket: a Slack of %d goes with HeadAtOnce only, and is not negative", tr.Slack)
	}
	c := &contract{
		t: t, name: spec.Name, kind: "leaky bucket", time: spec.Time, known: spec.KnownFailing,
		rules: leakyRules, lky: &spec,
	}
	c.lab = &lab{t: t, time: spec.Time, play: func(d driver, j job, rec *recorder) { spec.play(d, j, rec) }}
	c.traits = spec.Traits.table(c)
	c.families = leakyFamilies
	c.canary = leakyCanary
	c.accepts = func(op Op) bool { return c.lkyOps[op] }
	c.learn = func() { c.lkyOps = spec.operations(c.lab.bubble) }
	return c
}

// operations reports what the implementation can do. It looks at an instance that
// is thrown away.
func (spec *LeakyBucketSpec) operations(bubble bool) map[Op]bool {
	d := newHand(Config{}.start(), false)
	f := spec.New(Env{d.clock(), d.start}, LeakyBucketConfig{time.Hour, 3}, func(int) {})
	f.end()
	return map[Op]bool{
		OpPut: f.Put != nil, OpCancel: f.Cancel != nil, OpStop: f.Stop != nil,
		OpClose: f.Close != nil && bubble, // it may block, which only a bubble can drive
	}
}

// do does one operation of a schedule and notes its result.
func (f *LeakyBucketFuncs) do(s Step, d *Done) {
	switch s.Op {
	case OpPut:
		d.OK = f.Put(s.N)
	case OpCancel:
		d.OK = f.Cancel(s.N)
	case OpClose:
		f.Close()
	case OpStop:
		f.Stop()
	}
}

// end releases what can be released.
func (f *LeakyBucketFuncs) end() {
	switch {
	case f.Stop != nil:
		_ = catch(f.Stop)
	case f.Close != nil:
		go func() { _ = catch(f.Close) }()
	}
}

// play runs a schedule on a fresh leaky bucket.
func (spec *LeakyBucketSpec) play(d driver, j job, rec *recorder) {
	s := j.schedule
	cfg := s.Config
	rec.now = d.now
	rec.trace.Schedule, rec.trace.Order = s, j.order
	var impl LeakyBucketFuncs
	leave := func(v int) {
		i := rec.fire(v)
		if i < 0 {
			return
		}
		// The first item may leave below its Put, the second hardly does. Close may wait
		// for what the function itself keeps from leaving.
		if cfg.Inside != "" && (i == 0 || i == 1 && cfg.Inside != OpClose) {
			step := Step{Op: cfg.Inside, At: d.now()}
			switch step.Op {
			case OpPut:
				step.N = insideValue + i
			case OpCancel:
				step.N = s.Steps[len(s.Steps)-1].N
			}
			rec.do(step, true, func(done *Done) { impl.do(step, done) })
		}
		rec.fired(i)
	}
	rec.trace.Refused = catch(func() {
		impl = spec.New(Env{d.clock(), cfg.start()}, LeakyBucketConfig{cfg.Interval, cfg.Backlog}, leave)
	})
	if rec.trace.Refused != "" {
		return
	}
	end, puts, stopped := time.Duration(0), 2, false
	if cfg.Inside != "" {
		puts++
	}
	for _, st := range s.Steps {
		step := func() { rec.do(st, false, func(done *Done) { impl.do(st, done) }) }
		if st.Racing {
			d.to(max(d.now(), st.At-1)) // only the timers of the instant are in the race
			d.race(st.At, j.order, step)
		} else {
			d.to(st.At)
		}
		switch {
		case st.Racing:
			d.settle()
		case st.Op == OpIdle:
		case st.Op == OpClose || st.Op == OpStop:
			stopped = stopped || st.Op == OpStop
			go step()
			d.settle()
		default:
			step()
			d.settle()
		}
		if st.Op == OpPut {
			puts++
		}
		end = max(end, st.At)
	}
	end += time.Duration(puts) * cfg.Interval // long enough for all that waits
	d.to(end)
	d.settle()
	rec.mu.Lock()
	rec.trace.End = end
	rec.closed = !j.look
	rec.mu.Unlock()
	if !stopped {
		impl.end()
	}
	if j.look {
		d.settle()
		d.to(end + 3*cfg.Interval)
		rec.trace.Armed = d.armed()
	}
	d.settle()
}

// table lists the traits with what was declared and how to observe them.
func (tr LeakyBucketTraits) table(c *contract) []trait {
	left := func(text string, v int) (at time.Duration, ok bool) {
		s, err := ParseSchedule(text)
		if err != nil {
			panic(err)
		}
		c.try(job{schedule: s}, 1, func(tr *Trace) {
			if i := slices.IndexFunc(tr.Fires, func(f Fire) bool { return f.Value == v }); i >= 0 {
				at, ok = tr.Fires[i].Began.At, true
			}
		})
		return at, ok
	}
	return []trait{
		{"Head", int(tr.Head), []string{"HeadAtOnce", "HeadWaits", "HeadOnGrid"}, func() bool { return false }, func() int {
			at, _ := left("interval=100ms backlog=3 | put 1 @30ms", 1)
			return map[time.Duration]int{wait * 3 / 10: int(HeadAtOnce), wait * 13 / 10: int(HeadWaits), wait: int(HeadOnGrid)}[at]
		}},
		{"CloseFlush", int(tr.CloseFlush), []string{"CloseFires", "CloseAtDeadline", "CloseDrops"}, func() bool { return !c.accepts(OpClose) }, func() int {
			if _, ok := left("interval=100ms backlog=3 | put 1 @0 | put 2 @0 | close @1ms", 2); ok {
				return int(CloseAtDeadline)
			}
			return int(CloseDrops)
		}},
	}
}
