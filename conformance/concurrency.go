package conformance

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"
)

// ConcurrencySpec describes an implementation of the concurrency contract: at most
// so many requests run at once, and the others wait or are rejected. Semaphores,
// bulkheads and throttling middleware are of this kind. One that polls for slots, and
// so finds them some time after they are free, is not.
type ConcurrencySpec struct {
	// Name is how reports call it.
	Name string
	// Time says how it takes its time: Injected or PackageTime. It matters only if
	// there is a timeout.
	Time TimeSource
	// New makes a limiter. A constructor that refuses cfg panics. Instances must not
	// share state.
	New func(env Env, cfg ConcurrencyConfig) ConcurrencyFuncs
	// Traits are the choices of the implementation. What is left undeclared fails
	// the subtest TRAITS, which prints what was observed.
	Traits ConcurrencyTraits
	// KnownFailing lists what is known to fail.
	KnownFailing []Known
}

// ConcurrencyConfig is what a concurrency limiter is made with.
type ConcurrencyConfig struct {
	// Limit is the number of slots, at least 1.
	Limit int
	// Backlog is how many requests may wait, 0 included. It is -1, and means
	// nothing, for an implementation that declares BacklogUnbounded, and always 0
	// for one that declares BacklogNone.
	Backlog int
	// Timeout is how long a request may wait, 0 included. It is -1, and means
	// nothing, for an implementation that declares TimeoutNone or BacklogNone. An
	// implementation to which a 0, here or as Backlog, means something else than
	// none refuses it.
	Timeout time.Duration
	// OnReject is the hook to install, for an implementation that declares HookOnce.
	OnReject func()
}

// ConcurrencyFuncs are the operations of one concurrency limiter; those that are
// nil are not tried. One of Acquire, Take, Lock and Do must be there, or TryAcquire or
// TryTake if the implementation declares BacklogNone.
type ConcurrencyFuncs struct {
	// Acquire blocks until it has taken weight slots, and returns nil, or until the
	// request is rejected. An implementation that knows no weights declares Single
	// and ignores it.
	Acquire func(ctx context.Context, weight int) error
	// Lock is Acquire for an implementation that has neither contexts nor errors.
	Lock func(weight int)
	// TryAcquire takes weight slots, now or not at all.
	TryAcquire func(weight int) bool
	// Release gives weight slots back. It goes with the three above.
	Release func(weight int)
	// Take and TryTake are Acquire and TryAcquire for an implementation that hands out
	// what gives the slots back: a function, or the method of a permit, a token or a
	// listener's connection. They are used instead of Acquire, TryAcquire and Release. A
	// release too many calls one of those functions again.
	Take    func(ctx context.Context, weight int) (release func(), err error)
	TryTake func(weight int) (release func(), ok bool)
	// Do is the form of middleware: it takes one slot, calls run and gives the slot
	// back. It returns an error if the request was rejected.
	Do func(ctx context.Context, run func()) error
	// Resize changes the limit.
	Resize func(limit int)
	// Stop releases what the limiter holds, if it holds anything.
	Stop func()
}

// ConcurrencyTraits are the choices on which correct concurrency limiters differ.
// The zero value of each is "undeclared".
type ConcurrencyTraits struct {
	// Backlog says whether there is a bound on how many wait.
	Backlog Backlog
	// Timeout says whether there is a bound on how long they wait. Not with
	// BacklogNone.
	Timeout Timeout
	// Context says whether a context ends the wait. Not for Lock.
	Context Context
	// SeatHeld says whether a request that waited keeps its place in the backlog
	// while it runs. Only with BacklogBounded.
	SeatHeld SeatHeld
	// Fair says in which order those who wait get slots. Not with BacklogNone.
	Fair Fairness
	// Single says that each request takes one slot. Oversize is needless then.
	Single bool
	// Oversize says what becomes of a request for more than the limit.
	Oversize OversizeRequest
	// OverRelease says what a Release does when nothing is held. Only with Release.
	OverRelease OverRelease
	// Hook says whether New installs OnReject.
	Hook Hook
}

// Backlog says whether there is a bound on how many wait.
type Backlog int

// The choices.
const (
	BacklogBounded   Backlog = iota + 1 // as New is told
	BacklogUnbounded                    // there is none
	BacklogNone                         // nothing waits: what cannot run is rejected at once
)

// Timeout says whether there is a bound on how long a request waits.
type Timeout int

// The choices.
const (
	TimeoutBounded Timeout = iota + 1 // as New is told
	TimeoutNone                       // there is none but the context's
)

// Context says whether a context ends the wait.
type Context int

// The choices.
const (
	ContextHonoured Context = iota + 1 // it does, and a request whose context is done before never runs
	ContextIgnored                     // it does not
	ContextEndsWait                    // it does, but a request that need not wait may run though its context is done
)

// SeatHeld says whether a request that waited keeps its place in the backlog while
// it runs.
type SeatHeld int

// The choices.
const (
	SeatFreed SeatHeld = iota + 1 // it waits no more
	SeatKept                      // until it is done
)

// OversizeRequest says what becomes of a request for more slots than there are.
type OversizeRequest int

// The choices.
const (
	OversizeFails  OversizeRequest = iota + 1 // it is rejected at once
	OversizeBlocks                            // until its context or the timeout ends, in nobody's way
)

// OverRelease says what a Release does when nothing is held.
type OverRelease int

// The choices.
const (
	OverReleasePanics    OverRelease = iota + 1 // it panics; what the limiter does afterwards is not judged
	OverReleaseIgnored                          // it does nothing
	OverReleaseUndefined                        // the caller must not do it
)

// Hook says whether there is a hook for what is rejected.
type Hook int

// The choices.
const (
	HookOnce Hook = iota + 1 // OnReject is called for each rejection
	HookNone                 // there is none
)

// RunConcurrency holds an implementation to the laws of a concurrency limiter, one
// subtest for each rule, and returns what it found. [Rules] lists the rules.
//
//	conformance.RunConcurrency(t, conformance.ConcurrencySpec{
//		Name: "x/sync/semaphore",
//		Time: conformance.PackageTime,
//		New: func(_ conformance.Env, cfg conformance.ConcurrencyConfig) conformance.ConcurrencyFuncs {
//			s := semaphore.NewWeighted(int64(cfg.Limit))
//			return conformance.ConcurrencyFuncs{
//				Acquire:    func(ctx context.Context, n int) error { return s.Acquire(ctx, int64(n)) },
//				TryAcquire: func(n int) bool { return s.TryAcquire(int64(n)) },
//				Release:    func(n int) { s.Release(int64(n)) },
//			}
//		},
//		Traits: conformance.LikeSemaphore,
//	})
//
// Those who wait are goroutines, which can only be driven exactly in a bubble: where
// there are none the suite skips.
func RunConcurrency(t *testing.T, spec ConcurrencySpec) *Report {
	t.Helper()
	return concurrencyContract(t, spec).run()
}

// LikeSemaphore are the traits of golang.org/x/sync/semaphore.
var LikeSemaphore = ConcurrencyTraits{
	Backlog: BacklogUnbounded, Timeout: TimeoutNone, Context: ContextHonoured, Fair: FairFIFO,
	Oversize: OversizeBlocks, OverRelease: OverReleasePanics, Hook: HookNone,
}

// concurrencyContract is the spec in the terms of the suite.
func concurrencyContract(t *testing.T, spec ConcurrencySpec) *contract {
	t.Helper()
	if spec.New == nil {
		t.Fatal("conformance: RunConcurrency: the spec has no New; say how to make a limiter")
	}
	create := spec.New
	spec.New = func(env Env, cfg ConcurrencyConfig) ConcurrencyFuncs {
		f := create(env, cfg)
		f.keep(spec.Traits.OverRelease)
		return f
	}
	c := &contract{
		t: t, name: spec.Name, kind: "concurrency", time: spec.Time, known: spec.KnownFailing,
		rules: concurrencyRules, con: &spec,
	}
	c.lab = &lab{t: t, time: spec.Time, play: func(d driver, j job, rec *recorder) { spec.play(d, j, rec) }}
	c.traits = spec.Traits.table(c)
	c.families = concurrencyFamilies
	c.canary = concurrencyCanary
	c.accepts = func(op Op) bool { return c.conOps[op] }
	c.learn = func() {
		f := c.sample()
		c.conOps = f.operations(spec.Traits)
		if !c.conOps[opContext] {
			spec.Traits.Context = ContextIgnored
		}
		if spec.Traits.Backlog == 0 && c.traits[0].observe() == int(BacklogNone) {
			spec.Traits.Backlog = BacklogNone // none of the other rules is about what waits then
		}
		if spec.Traits.SeatHeld == 0 && spec.Traits.Backlog == BacklogBounded { // no rule need tell what TRAITS does
			spec.Traits.SeatHeld = SeatHeld(c.traits[3].observe())
		}
		if spec.Traits.Backlog == BacklogNone { // there is nothing to choose
			spec.Traits.Timeout, spec.Traits.Fair = TimeoutNone, FairNone
		}
	}
	return c
}

// config is the configuration of a schedule, as New wants it.
func (spec *ConcurrencySpec) config(c Config, onReject func()) ConcurrencyConfig {
	cfg := ConcurrencyConfig{Limit: c.Limit, Backlog: c.Backlog, Timeout: c.Timeout, OnReject: onReject}
	if !c.has("backlog") {
		cfg.Backlog = -1
	}
	if !c.has("timeout") {
		cfg.Timeout = -1
	}
	return spec.Traits.without(cfg)
}

// without is cfg without what is declared not to be there.
func (tr ConcurrencyTraits) without(cfg ConcurrencyConfig) ConcurrencyConfig {
	switch tr.Backlog {
	case BacklogUnbounded:
		cfg.Backlog = -1
	case BacklogNone:
		cfg.Backlog, cfg.Timeout = 0, -1
	}
	if tr.Timeout == TimeoutNone {
		cfg.Timeout = -1
	}
	return cfg
}

// sample returns the operations of a limiter that is thrown away.
func (c *contract) sample() (f ConcurrencyFuncs) {
	c.t.Helper()
	cfg := c.manyConfig(1, 1)
	if why := catch(func() {
		d := newHand(Config{}.start(), false)
		f = c.con.New(Env{d.clock(), d.start}, cfg)
		if f.Stop != nil {
			f.Stop()
		}
	}); why != "" {
		c.t.Fatalf("conformance: New panics with Limit %d, Backlog %d, Timeout %s: %s\n"+
			"It may refuse a Backlog or a Timeout of 0, but must take this. If nothing can wait, declare BacklogNone;\n"+
			"if there is no bound on how many wait, or how long, BacklogUnbounded or TimeoutNone.", cfg.Limit, cfg.Backlog, cfg.Timeout, why)
	}
	return f
}

// keep keeps what Take and TryTake hand out, and makes an Acquire, a TryAcquire and a
// Release of them.
func (f *ConcurrencyFuncs) keep(over OverRelease) {
	if f.Take == nil && f.TryTake == nil {
		return
	}
	var mu sync.Mutex
	held := map[int][]func(){} // by weight
	var newest func()
	live := 0
	hold := func(weight int, release func()) {
		mu.Lock()
		defer mu.Unlock()
		held[weight], newest = append(held[weight], release), release
		live++
	}
	if take := f.Take; take != nil {
		f.Acquire = func(ctx context.Context, weight int) error {
			release, err := take(ctx, weight)
			if err == nil {
				hold(weight, release)
			}
			return err
		}
	}
	if try := f.TryTake; try != nil {
		f.TryAcquire = func(weight int) bool {
			release, ok := try(weight)
			if ok {
				hold(weight, release)
			}
			return ok
		}
	}
	f.Release = func(weight int) {
		mu.Lock()
		var release func()
		switch n := len(held[weight]); {
		case n > 0:
			release, held[weight] = held[weight][n-1], held[weight][:n-1]
			live--
		case live == 0:
			release = newest // once more
		}
		mu.Unlock()
		switch {
		case release != nil:
			release()
		case over == OverReleasePanics:
			panic("nothing was handed out that could be called for it")
		}
	}
}

// operations reports what a limiter can do.
func (f *ConcurrencyFuncs) operations(traits ConcurrencyTraits) map[Op]bool {
	return map[Op]bool{
		OpAcquire: f.enter() != nil,
		OpRelease: f.Release != nil && (f.Acquire != nil || f.Lock != nil || f.TryAcquire != nil),
		OpTry:     f.TryAcquire != nil && f.Release != nil,
		OpDo:      f.Do != nil,
		opTwoWays: f.Do != nil && f.enter() != nil && !f.handles(Step{Op: OpAcquire}),
		OpCancel:  f.hasContext() && traits.Context != ContextIgnored,
		opContext: f.hasContext(),
		OpResize:  f.Resize != nil,
		OpStop:    f.Stop != nil,
	}
}

// In a set of operations opTwoWays stands for a Do beside an Acquire or Lock, and
// opContext for requests that are given contexts.
const opTwoWays Op = "Do beside Acquire"

// enter is what an acquire does: it takes slots, calls run once it has them, and
// gives them back when run has returned.
func (f *ConcurrencyFuncs) enter() func(ctx context.Context, weight int, run func()) error {
	switch {
	case f.Acquire != nil && f.Release != nil:
		return func(ctx context.Context, weight int, run func()) error {
			err := f.Acquire(ctx, weight)
			if err == nil {
				run()
			}
			return err
		}
	case f.Lock != nil && f.Release != nil:
		return func(_ context.Context, weight int, run func()) error {
			f.Lock(weight)
			run()
			return nil
		}
	case f.Do != nil:
		return func(ctx context.Context, _ int, run func()) error { return f.Do(ctx, run) }
	case f.TryAcquire != nil && f.Release != nil:
		return func(_ context.Context, weight int, run func()) error {
			if !f.TryAcquire(weight) {
				return errTried
			}
			run()
			return nil
		}
	}
	return nil
}

// hasContext reports whether requests are given contexts.
func (f *ConcurrencyFuncs) hasContext() bool {
	return f.Acquire != nil || f.Do != nil && f.Lock == nil
}

// handles reports whether a step's request is a handler that gives its slot back by
// returning, rather than by Release.
func (f *ConcurrencyFuncs) handles(s Step) bool {
	return s.Op == OpDo || s.Op == OpAcquire && f.Acquire == nil && f.Lock == nil && f.Do != nil
}

// table lists the traits with what was declared and how to observe them.
func (tr ConcurrencyTraits) table(c *contract) []trait {
	// see plays a schedule as for an implementation with all that can be declared, and
	// returns what say makes of what became of its requests. A run that hangs, or a
	// configuration that is refused, shows nothing.
	see := func(text string, say func(seen *concurrencyTrace) int) int {
		s, err := ParseSchedule(text)
		if err != nil {
			panic(err)
		}
		said := 0
		c.try(job{schedule: s}, 1, func(tr *Trace) {
			if tr.Refused == "" {
				said = say(tr.conc)
			}
		})
		return said
	}
	const idle = " | idle 1s"
	choose := func(first bool) int {
		if first {
			return 1
		}
		return 2
	}
	nowaits := func() bool { return c.con.Traits.Backlog == BacklogNone }
	unbounded := func() bool { return tr.Backlog == BacklogUnbounded || nowaits() }
	return []trait{
		{"Backlog", int(tr.Backlog), []string{"BacklogBounded", "BacklogUnbounded", "BacklogNone"}, func() bool { return false }, func() int {
			return see("limit=1 backlog=1 timeout=1h | acquire 1 @0 | acquire 2 @0 | acquire 3 @0", func(seen *concurrencyTrace) int {
				if seen.rejected(2) {
					return int(BacklogNone)
				}
				return choose(seen.rejected(3))
			})
		}},
		{"Timeout", int(tr.Timeout), []string{"TimeoutBounded", "TimeoutNone"}, nowaits, func() int {
			return see("limit=1 backlog=5 timeout=100ms | acquire 1 @0 | acquire 2 @0"+idle, func(seen *concurrencyTrace) int {
				return choose(seen.rejected(2))
			})
		}},
		{"Context", int(tr.Context), []string{"ContextHonoured", "ContextIgnored", "ContextEndsWait"}, func() bool { return !c.accepts(opContext) }, func() int {
			if nowaits() {
				return see("limit=1 timeout=1h | cancel 1 @0 | acquire 1 @0", func(seen *concurrencyTrace) int { return choose(seen.rejected(1)) })
			}
			return see("limit=1 backlog=5 timeout=1h | acquire 1 @0 | acquire 2 @0 | cancel 2 @0", func(seen *concurrencyTrace) int {
				return choose(seen.rejected(2))
			})
		}},
		{"SeatHeld", int(tr.SeatHeld), []string{"SeatFreed", "SeatKept"}, unbounded, func() int {
			return see("limit=1 backlog=1 timeout=1h | acquire 1 @0 | acquire 2 @0 | release 1 @0 | acquire 3 @0", func(seen *concurrencyTrace) int {
				return choose(!seen.rejected(3))
			})
		}},
		{"Fair", int(tr.Fair), []string{"FairFIFO", "FairNone"}, nowaits, func() int {
			return see("limit=1 backlog=5 timeout=1h | acquire 1 @0 | acquire 2 @0 | acquire 3 @0 | acquire 4 @0 | release 1 @0 | release 2 @0 | idle 1ns",
				func(seen *concurrencyTrace) int {
					return choose(seen.admitted(2) && seen.admitted(3) && !seen.admitted(4))
				})
		}},
		{"Oversize", int(tr.Oversize), []string{"OversizeFails", "OversizeBlocks"}, func() bool { return tr.Single }, func() int {
			return see("limit=1 backlog=5 timeout=1h | acquire 1 2 @0", func(seen *concurrencyTrace) int { return choose(seen.rejected(1)) })
		}},
		{"OverRelease", int(tr.OverRelease), []string{"OverReleasePanics", "OverReleaseIgnored", "OverReleaseUndefined"},
			func() bool { return !c.accepts(OpRelease) }, func() int {
				return see("limit=1 backlog=5 timeout=1h | release 9 @0 | acquire 1 @0 | acquire 2 @0", func(seen *concurrencyTrace) int {
					switch over := seen.groups[0].steps[0]; {
					case over.panicked != "":
						return int(OverReleasePanics)
					case over.ended && seen.admitted(1) && !seen.admitted(2):
						return int(OverReleaseIgnored)
					}
					return int(OverReleaseUndefined)
				})
			}},
		{"Hook", int(tr.Hook), []string{"HookOnce", "HookNone"}, func() bool { return false }, func() int {
			return see("limit=1 backlog=0 timeout=0 | acquire 1 @0 | acquire 2 @0", func(seen *concurrencyTrace) int { return choose(len(seen.hooks) > 0) })
		}},
	}
}

// rejected reports whether request id was rejected while its schedule ran.
func (t *concurrencyTrace) rejected(id int) bool {
	return slices.ContainsFunc(t.requests, func(r *request) bool {
		return r.id == id && !r.admitted && r.decided.Seq > 0 && r.decided.Seq < t.drained.Seq
	})
}

// admitted reports whether request id got slots while its schedule ran.
func (t *concurrencyTrace) admitted(id int) bool {
	return slices.ContainsFunc(t.requests, func(r *request) bool {
		return r.id == id && r.admitted && r.decided.Seq < t.drained.Seq
	})
}

// parked reports whether somebody waited for a slot while everything was settled, which
// nobody does who waits for a lock.
func (t *concurrencyTrace) parked() bool {
	return slices.ContainsFunc(t.requests, func(q *request) bool {
		return slices.ContainsFunc(t.groups, func(g *concurrencyGroup) bool {
			return g.settled.Seq > q.arrived.Seq && (q.decided.Seq == 0 || q.decided.Seq > g.settled.Seq)
		})
	})
}
