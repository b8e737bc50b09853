package conformance

import (
	"math"
	"testing"
	"time"
)

// LimiterSpec describes an implementation of the rate limiter contract.
type LimiterSpec struct {
	// Name is how reports call it.
	Name string
	// Time says how it takes its time. Explicit needs AllowAt.
	Time TimeSource
	// New makes a limiter. A constructor that refuses cfg panics. Instances must not
	// share state.
	New func(env Env, cfg LimiterConfig) LimiterFuncs
	// Traits are the choices of the implementation. What is left undeclared fails
	// the subtest TRAITS, which prints what was observed.
	Traits LimiterTraits
	// KnownFailing lists what is known to fail.
	KnownFailing []Known
}

// LimiterConfig is what a limiter is made with.
type LimiterConfig struct {
	Rate  Rate
	Burst int
}

// LimiterFuncs are the operations of one limiter; those that are nil are not
// tried. One of Allow, AllowN, AllowAt and Wait must be there.
type LimiterFuncs struct {
	// Allow and AllowN take one token or n, now or not at all. If both are there,
	// single tokens are asked for by either in turn.
	Allow  func() bool
	AllowN func(n int) bool
	// AllowAt is the form with an explicit time, for Explicit runs.
	AllowAt func(t time.Time, n int) bool
	// Tokens and TokensAt return the tokens that are there.
	Tokens   func() float64
	TokensAt func(t time.Time) float64
	// Wait blocks until n tokens could be taken. A limiter that hands out single
	// turns panics for another n and declares Single.
	Wait func(n int)
	// Stop releases what the limiter holds, if it holds anything.
	Stop func()
}

// LimiterTraits are the choices on which correct limiters differ. The zero value
// of each is "undeclared".
type LimiterTraits struct {
	// Initial says how many tokens a new limiter has.
	Initial Initial
	// Oversize says what happens to a request for more than the burst. Only where
	// several tokens can be asked for.
	Oversize Oversize
	// BackTime says what an instant before the newest one means. Explicit only.
	BackTime BackTime
	// Single says that tokens can only be taken one at a time.
	Single bool
	// Quantum is the number of tokens that arrive together, if it is more than one.
	Quantum int
}

// Initial says how many tokens a new limiter has.
type Initial int

// The choices.
const (
	InitialFull  Initial = iota + 1 // the burst
	InitialEmpty                    // none
	InitialOne                      // one: idle time must first earn the burst
)

// Oversize says what happens to a request for more than the burst.
type Oversize int

// The choices.
const (
	OversizeRejected Oversize = iota + 1 // it is never granted
	OversizePrepaid                      // it is granted, and the next request pays
)

// BackTime says what an instant before the newest one means.
type BackTime int

// The choices.
const (
	BackClamp  BackTime = iota + 1 // it counts as the newest instant
	BackReject                     // nothing is granted
	BackRewind                     // the caller must not do it: the limiter goes back in time
)

// LikeXTime are the traits of golang.org/x/time/rate.
var LikeXTime = LimiterTraits{Initial: InitialFull, Oversize: OversizeRejected, BackTime: BackClamp}

// initial returns the tokens of a new limiter with the given burst.
func (t LimiterTraits) initial(burst int) int {
	switch t.Initial {
	case InitialEmpty:
		return 0
	case InitialOne:
		return min(1, burst)
	}
	return burst
}

// RunLimiter holds an implementation to the laws of a rate limiter, one subtest
// for each rule, and returns what it found. [Rules] lists the rules.
func RunLimiter(t *testing.T, spec LimiterSpec) *Report {
	t.Helper()
	return limiterContract(t, spec).run()
}

// limiterContract is the spec in the terms of the suite.
func limiterContract(t *testing.T, spec LimiterSpec) *contract {
	t.Helper()
	if spec.New == nil {
		t.Fatal("conformance: RunLimiter: the spec has no New; say how to make a limiter")
	}
	c := &contract{
		t: t, name: spec.Name, kind: "limiter", time: spec.Time, known: spec.KnownFailing,
		rules: limiterRules, lim: &spec,
	}
	c.lab = &lab{t: t, time: spec.Time, play: func(d driver, j job, rec *recorder) { spec.play(d, j, rec) }}
	c.traits = spec.Traits.table(c)
	c.families = limiterFamilies
	c.canary = limiterCanary
	c.accepts = func(op Op) bool { return c.limOps[op] }
	c.learn = func() { c.limOps = spec.operations() }
	return c
}

// opMany stands for taking several tokens at once in a set of operations.
const opMany Op = "several tokens"

// operations reports what the implementation can do. It looks at an instance that
// is thrown away.
func (spec *LimiterSpec) operations() map[Op]bool {
	d := newHand(Config{}.start(), false)
	f := spec.New(Env{d.clock(), d.start}, LimiterConfig{Rate{10, time.Second}, 3})
	if f.Stop != nil {
		f.Stop()
	}
	explicit := spec.Time == Explicit
	return map[Op]bool{
		OpAllow:  explicit && f.AllowAt != nil || !explicit && (f.Allow != nil || f.AllowN != nil),
		opMany:   !spec.Traits.Single && (explicit && f.AllowAt != nil || !explicit && f.AllowN != nil),
		OpTokens: explicit && f.TokensAt != nil || !explicit && f.Tokens != nil,
		OpWait:   !explicit && f.Wait != nil,
		OpStop:   f.Stop != nil,
	}
}

// do does one operation at the instant at; turn chooses between Allow and AllowN.
func (f *LimiterFuncs) do(s Step, at time.Time, turn int, d *Done) {
	switch s.Op {
	case OpAllow:
		switch {
		case f.AllowAt != nil && f.Allow == nil && f.AllowN == nil:
			d.OK = f.AllowAt(at, s.N)
		case f.AllowN == nil || f.Allow != nil && s.N == 1 && turn%2 == 0:
			d.OK = f.Allow()
		default:
			d.OK = f.AllowN(s.N)
		}
	case OpTokens:
		if f.Tokens != nil {
			d.Tokens = f.Tokens()
		} else {
			d.Tokens = f.TokensAt(at)
		}
	case OpWait:
		f.Wait(s.N)
		d.OK = true
	}
}

// only leaves the operations of one way to take time.
func (f LimiterFuncs) only(s TimeSource) LimiterFuncs {
	if s == Explicit {
		f.Allow, f.AllowN, f.Tokens, f.Wait = nil, nil, nil, nil
	} else {
		f.AllowAt, f.TokensAt = nil, nil
	}
	return f
}

// play runs a schedule on a fresh limiter.
func (spec *LimiterSpec) play(d driver, j job, rec *recorder) {
	s := j.schedule
	rec.now = d.now
	rec.trace.Schedule, rec.trace.Order = s, j.order
	var impl LimiterFuncs
	start := s.Config.start()
	rec.trace.Refused = catch(func() {
		impl = spec.New(Env{d.clock(), start}, LimiterConfig{s.Config.Rate, s.Config.Burst}).only(spec.Time)
	})
	if rec.trace.Refused != "" {
		return
	}
	end, waits := time.Duration(0), 0
	for i, st := range s.Steps {
		step := func() {
			rec.do(st, false, func(done *Done) { impl.do(st, start.Add(st.At), i, done) })
		}
		d.to(st.At)
		switch st.Op {
		case OpIdle:
		case OpWait:
			waits += st.N
			go step()
			d.settle()
		default:
			step()
		}
		end = max(end, st.At)
	}
	if waits > 0 {
		end = saturate(end, time.Duration(waits+1)*(s.Config.Rate.Interval()+1))
		d.to(end)
	}
	d.settle()
	rec.mu.Lock()
	rec.trace.End = end
	rec.closed = !j.look
	rec.mu.Unlock()
	if impl.Stop != nil {
		_ = catch(impl.Stop)
	}
	if j.look {
		d.settle()
		rec.trace.Armed = d.armed()
	}
	d.settle()
}

// saturate adds durations without overflow.
func saturate(a, b time.Duration) time.Duration {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// table lists the traits with what was declared and how to observe them.
func (l LimiterTraits) table(c *contract) []trait {
	return []trait{
		{"Initial", int(l.Initial), []string{"InitialFull", "InitialEmpty", "InitialOne"}, func() bool { return false }, c.observeInitial},
		{"Oversize", int(l.Oversize), []string{"OversizeRejected", "OversizePrepaid"}, func() bool { return !c.accepts(opMany) }, c.observeOversize},
		{"BackTime", int(l.BackTime), []string{"BackClamp", "BackReject", "BackRewind"}, func() bool { return c.time != Explicit }, c.observeBackTime},
	}
}

// tryLimiter runs one schedule and returns how many tokens were granted by the
// instant 0 and altogether.
func (c *contract) tryLimiter(text string) (first, all int) {
	s, err := ParseSchedule(text)
	if err != nil {
		panic(err)
	}
	c.try(job{schedule: s}, 1, func(tr *Trace) {
		for _, d := range tr.Done {
			if d.OK && d.Ended.Seq != 0 {
				all += d.N
				if d.Ended.At == 0 && d.At == 0 {
					first += d.N
				}
			}
		}
	})
	return first, all
}

func (c *contract) observeInitial() int {
	op := "allow"
	if !c.accepts(OpAllow) {
		op = "wait"
	}
	first, _ := c.tryLimiter("rate=1/1h burst=3 | " + op + " 1 @0 | " + op + " 1 @0 | " + op + " 1 @0 | " + op + " 1 @0")
	switch first {
	case 3:
		return int(InitialFull)
	case 0:
		return int(InitialEmpty)
	case 1:
		return int(InitialOne)
	}
	return 0
}

func (c *contract) observeOversize() int {
	if _, all := c.tryLimiter("rate=1/1h burst=3 | allow 4 @0"); all > 0 {
		return int(OversizePrepaid)
	}
	return int(OversizeRejected)
}

func (c *contract) observeBackTime() int {
	if _, all := c.tryLimiter("rate=1/1s burst=3 | allow 2 @1h | allow 1 @0"); all < 3 {
		return int(BackReject)
	}
	return int(BackClamp)
}
