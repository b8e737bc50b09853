package conformance

import (
	"testing"
	"time"
)

// QuotaSpec describes an implementation of the quota contract: a limiter that
// answers at once, by counting in windows or by GCRA, and may say more than yes or
// no.
type QuotaSpec struct {
	// Name is how reports call it.
	Name string
	// Time says how it takes its time. Explicit needs TakeAt.
	Time TimeSource
	// Kind is the algorithm: what the implementation promises.
	Kind QuotaKind
	// New makes a limiter. A constructor that refuses cfg panics. Instances must not
	// share state.
	New func(env Env, cfg QuotaConfig) QuotaFuncs
	// Traits are the choices of the implementation. What is left undeclared fails
	// the subtest TRAITS, which prints what was observed.
	Traits QuotaTraits
	// KnownFailing lists what is known to fail.
	KnownFailing []Known
}

// QuotaKind is an algorithm, and with it a promise.
type QuotaKind int

// The kinds.
const (
	// FixedWindow grants at most Limit in each window of a sequence.
	FixedWindow QuotaKind = iota + 1
	// SlidingLog grants at most Limit in any time as long as Window.
	SlidingLog
	// SlidingCounter grants at most Limit by its estimate: the events of the current
	// window, and of the one before as much as the time since its start leaves, as if
	// they had come evenly.
	SlidingCounter
	// GCRA grants what a token bucket of Burst tokens, full at first, does to which
	// Limit tokens come per Window, one by one.
	GCRA
)

// String returns the name of the constant.
func (k QuotaKind) String() string {
	return [...]string{"undeclared", "FixedWindow", "SlidingLog", "SlidingCounter", "GCRA"}[k]
}

// QuotaConfig is what a limiter is made with.
type QuotaConfig struct {
	Limit  int
	Window time.Duration
	Burst  int // GCRA only
}

// QuotaFuncs are the operations of one limiter; those that are nil are not tried.
// One of Take and TakeAt must be there.
type QuotaFuncs struct {
	// Take asks for n events now. A limiter that takes single events panics for
	// another n and declares Single.
	Take func(n int) Answer
	// TakeAt is the form with an explicit time, for Explicit runs.
	TakeAt func(t time.Time, n int) Answer
	// Peek and PeekAt answer without taking anything; OK does not matter.
	Peek   func() Answer
	PeekAt func(t time.Time) Answer
	// Stop releases what the limiter holds, if it holds anything.
	Stop func()
}

// Answer is what a limiter says of a request. Only OK and the fields that the trait
// Answers lists are looked at.
type Answer struct {
	// OK says that the events may happen.
	OK bool
	// RetryAfter is how long to wait until the same request is granted, if nothing
	// else is. It is looked at if OK is false.
	RetryAfter time.Duration
	// ResetAfter is how long it takes until the limiter is as if new, if nothing else
	// is granted.
	ResetAfter time.Duration
	// Remaining is how many more events would be granted at this instant.
	Remaining int
}

// QuotaTraits are the choices on which correct limiters differ. The zero value of
// Edge, Align, Denied, TooLarge and BackTime is "undeclared".
type QuotaTraits struct {
	// Edge says whether an event exactly as old as the window is still in it.
	// FixedWindow and SlidingLog only.
	Edge Edge
	// Align says where windows begin. FixedWindow and SlidingCounter only.
	Align Align
	// Denied says whether a request that was denied counts. Not for GCRA.
	Denied Denied
	// TooLarge says what RetryAfter is for a request that can never be granted. Only
	// where RetryAfter is answered.
	TooLarge TooLarge
	// BackTime says what an instant before the newest one means. Explicit only.
	BackTime BackTime
	// Answers are the fields of Answer that are filled in beside OK, if any.
	Answers Answers
	// Single says that events can only be taken one at a time.
	Single bool
	// Grain is how exact the limiter is, if not to the nanosecond: what hangs on less
	// is not judged.
	Grain time.Duration
}

// Edge says whether an event exactly as old as the window is still in it.
type Edge int

// The choices.
const (
	EdgeHalfOpen Edge = iota + 1 // it is not: a window contains its start and not its end
	EdgeClosed                   // it is
)

// Align says where windows begin.
type Align int

// The choices.
const (
	AlignEpoch    Align = iota + 1 // on the clock: at whole multiples of the window, as time.Truncate has them
	AlignCreation                  // one after the other, from when the limiter was made or first asked
	AlignFirstUse                  // with the first request after the window before has ended; the first window may begin when the limiter is made. FixedWindow only
)

// Denied says whether a request that was denied counts.
type Denied int

// The choices.
const (
	DeniedFree    Denied = iota + 1 // it does not
	DeniedCounted                   // it does, as if it had been granted
)

// TooLarge says what RetryAfter is for a request that can never be granted.
type TooLarge int

// The choices.
const (
	TooLargeNegative TooLarge = iota + 1 // less than 0
	TooLargeForever                      // a hundred years or more
	TooLargeZero                         // 0
)

// Answers are fields of [Answer].
type Answers int

// The fields.
const (
	AnswersRetry Answers = 1 << iota
	AnswersReset
	AnswersRemaining
)

// RunQuota holds an implementation to the laws of its kind, one subtest for each
// rule, and returns what it found. [Rules] lists the rules. Those that begin with SW
// are about a SlidingLog, with SC about a SlidingCounter, with FW about a FixedWindow
// and with GC about GCRA; GC-RETRY, GC-RESET, GC-REMAIN, GC-DENYPURE, GC-PEEKPURE and
// GC-NEG about every kind.
//
//	conformance.RunQuota(t, conformance.QuotaSpec{
//		Name: "mine",
//		Time: conformance.Explicit,
//		Kind: conformance.SlidingLog,
//		New: func(_ conformance.Env, cfg conformance.QuotaConfig) conformance.QuotaFuncs {
//			l := mine.NewLog(cfg.Limit, cfg.Window)
//			return conformance.QuotaFuncs{TakeAt: func(t time.Time, n int) conformance.Answer {
//				return conformance.Answer{OK: l.AllowN(t, n)}
//			}}
//		},
//		Traits: conformance.QuotaTraits{Edge: conformance.EdgeHalfOpen, Denied: conformance.DeniedFree, BackTime: conformance.BackClamp},
//	})
func RunQuota(t *testing.T, spec QuotaSpec) *Report {
	t.Helper()
	return quotaContract(t, spec).run()
}

// quotaContract is the spec in the terms of the suite.
func quotaContract(t *testing.T, spec QuotaSpec) *contract {
	t.Helper()
	switch {
	case spec.New == nil:
		t.Fatal("conformance: RunQuota: the spec has no New; say how to make a limiter")
	case spec.Kind < FixedWindow || spec.Kind > GCRA:
		t.Fatal("conformance: RunQuota: the spec has no Kind; say what the limiter promises: FixedWindow, SlidingLog, SlidingCounter or GCRA")
	case spec.Kind == SlidingCounter && spec.Traits.Align == AlignFirstUse:
		t.Fatal("conformance: RunQuota: the windows of a SlidingCounter follow one another, as each fades out in the next; declare AlignEpoch or AlignCreation")
	}
	c := &contract{
		t: t, name: spec.Name, kind: "quota", time: spec.Time, known: spec.KnownFailing,
		rules: quotaRules, quo: &spec,
	}
	c.lab = &lab{t: t, time: spec.Time, play: func(d driver, j job, rec *recorder) { spec.play(d, j, rec) }}
	c.traits = spec.Traits.table(c)
	c.families = quotaFamilies
	c.canary = quotaCanary
	c.accepts = func(op Op) bool { return c.quoOps[op] }
	c.learn = func() { c.quoOps = spec.operations() }
	return c
}

// operations reports what the implementation can do. It looks at an instance that
// is thrown away.
func (spec *QuotaSpec) operations() map[Op]bool {
	d := newHand(Config{}.start(), false)
	f := spec.New(Env{d.clock(), d.start}, QuotaConfig{10, time.Second, 3})
	if f.Stop != nil {
		f.Stop()
	}
	explicit := spec.Time == Explicit
	allow := explicit && f.TakeAt != nil || !explicit && f.Take != nil
	return map[Op]bool{
		OpAllow: allow, opMany: allow && !spec.Traits.Single,
		OpTokens: explicit && f.PeekAt != nil || !explicit && f.Peek != nil,
		OpStop:   f.Stop != nil,
	}
}

// do does one operation at the instant at.
func (f *QuotaFuncs) do(s Step, at time.Time, explicit bool, d *Done) {
	switch {
	case s.Op == OpAllow && explicit:
		d.Answer = f.TakeAt(at, s.N)
	case s.Op == OpAllow:
		d.Answer = f.Take(s.N)
	case s.Op == OpTokens && explicit:
		d.Answer = f.PeekAt(at)
	case s.Op == OpTokens:
		d.Answer = f.Peek()
	}
	d.OK = d.Answer.OK
}

// config is what a schedule's limiter is made with.
func (spec *QuotaSpec) config(c Config) QuotaConfig {
	return QuotaConfig{c.Rate.Events, c.Rate.Per, c.Burst}
}

// play runs a schedule on a fresh limiter.
func (spec *QuotaSpec) play(d driver, j job, rec *recorder) {
	s := j.schedule
	rec.now = d.now
	rec.trace.Schedule, rec.trace.Order = s, j.order
	var impl QuotaFuncs
	start := s.Config.start()
	rec.trace.Refused = catch(func() { impl = spec.New(Env{d.clock(), start}, spec.config(s.Config)) })
	if rec.trace.Refused != "" {
		return
	}
	end := time.Duration(0)
	for _, st := range s.Steps {
		d.to(st.At)
		if st.Op != OpIdle {
			rec.do(st, false, func(done *Done) { impl.do(st, start.Add(st.At), spec.Time == Explicit, done) })
		}
		end = max(end, st.At)
	}
	d.settle()
	rec.mu.Lock()
	rec.trace.End = end
	rec.closed = !j.look
	rec.mu.Unlock()
	switch {
	case impl.Stop != nil:
		_ = catch(impl.Stop)
	case spec.Time != Explicit:
		rest(d, end, s.Config.Rate.Per)
	}
	if j.look {
		d.settle()
		rec.trace.Armed = d.armed()
	}
	d.settle()
}

// table lists the traits with what was declared and how to observe them.
func (tr QuotaTraits) table(c *contract) []trait {
	kind := c.quo.Kind
	last := func(text string) (a Answer) {
		s, err := ParseSchedule(text)
		if err != nil {
			panic(err)
		}
		c.try(job{schedule: s}, 1, func(tr *Trace) {
			if len(tr.Done) == len(s.Steps) {
				a = tr.Done[len(tr.Done)-1].Answer
			}
		})
		return a
	}
	pick := func(yes bool, a, b int) int {
		if yes {
			return a
		}
		return b
	}
	aligns := []string{"AlignEpoch", "AlignCreation", "AlignFirstUse"}
	if kind == SlidingCounter {
		aligns = aligns[:AlignCreation]
	}
	return []trait{
		{"Edge", int(tr.Edge), []string{"EdgeHalfOpen", "EdgeClosed"}, func() bool { return kind != FixedWindow && kind != SlidingLog }, func() int {
			return pick(last("rate=1/1s burst=1 | allow 1 @0 | allow 1 @1s").OK, int(EdgeHalfOpen), int(EdgeClosed))
		}},
		{"Align", int(tr.Align), aligns, func() bool { return kind != FixedWindow && kind != SlidingCounter }, func() int {
			if kind == SlidingCounter { // 2 fit again when the window before has faded by half
				return pick(last("rate=4/1s burst=1 epoch=2000-01-01T00:00:00.3Z | allow 4 @0 | allow 2 @1.2s").OK, int(AlignEpoch), int(AlignCreation))
			}
			if last("rate=1/1s burst=1 epoch=2000-01-01T00:00:00.3Z | allow 1 @200ms | allow 1 @750ms").OK {
				return int(AlignEpoch)
			}
			grid := last("rate=1/1s burst=1 epoch=2000-01-01T00:00:00.3Z | allow 1 @200ms | allow 1 @1.7s | allow 1 @2.3s").OK
			return pick(grid, int(AlignCreation), int(AlignFirstUse))
		}},
		{"Denied", int(tr.Denied), []string{"DeniedFree", "DeniedCounted"}, func() bool { return kind == GCRA }, func() int {
			if kind == SlidingCounter && c.accepts(opMany) {
				return pick(last("rate=4/1s burst=4 | allow 4 @0 | allow 4 @500ms | allow 1 @1.3s").OK, int(DeniedFree), int(DeniedCounted))
			}
			if kind == FixedWindow && c.accepts(opMany) {
				return pick(last("rate=3/1s burst=1 | allow 2 @0 | allow 2 @1ms | allow 1 @2ms").OK, int(DeniedFree), int(DeniedCounted))
			}
			return pick(last("rate=1/1s burst=1 | allow 1 @0 | allow 1 @900ms | allow 1 @1.8s").OK, int(DeniedFree), int(DeniedCounted))
		}},
		{"TooLarge", int(tr.TooLarge), []string{"TooLargeNegative", "TooLargeForever", "TooLargeZero"},
			func() bool { return tr.Answers&AnswersRetry == 0 || !c.accepts(opMany) }, func() int {
				switch d := last("rate=3/1s burst=3 | allow 4 @0").RetryAfter; {
				case d < 0:
					return int(TooLargeNegative)
				case d >= century:
					return int(TooLargeForever)
				case d == 0:
					return int(TooLargeZero)
				}
				return 0
			}},
		{"BackTime", int(tr.BackTime), []string{"BackClamp", "BackReject", "BackRewind"}, func() bool { return c.time != Explicit }, func() int {
			return pick(last("rate=3/1s burst=3 | allow 1 @1h | allow 1 @0").OK, int(BackClamp), int(BackReject))
		}},
	}
}

// century is "for ever" for a RetryAfter.
const century = 100 * 365 * 24 * time.Hour
