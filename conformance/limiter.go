package conformance

import (
	"context"
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

// LimiterConfig is what a limiter is made with. One that lets so many events per time
// come all at once can be made for any of them, with Burst events per
// Burst*Rate.Interval(), if Rate.Exact says that this is the same rate. If the time
// cannot be chosen, New panics unless Burst is Rate.Events.
type LimiterConfig struct {
	Rate  Rate
	Burst int
}

// LimiterFuncs are the operations of one limiter; those that are nil are not
// tried. One of Allow, AllowN, AllowAt, Wait and WaitN must be there.
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
	// WaitN blocks until n tokens could be taken, or returns an error: ctx is done,
	// or will be before the tokens are there. It is used instead of Wait. The
	// deadline of ctx is on the clock that the implementation uses.
	WaitN func(ctx context.Context, n int) error
	// Reserve takes n tokens in advance and says when the caller may act. ReserveAt
	// is the form with an explicit time, for Explicit runs.
	Reserve   func(n int) Reservation
	ReserveAt func(t time.Time, n int) Reservation
	// SetLimit and SetBurst change the rate and the burst from now on. The forms with
	// an explicit time are for Explicit runs.
	SetLimit   func(r Rate)
	SetLimitAt func(t time.Time, r Rate)
	SetBurst   func(burst int)
	SetBurstAt func(t time.Time, burst int)
	// Stop releases what the limiter holds, if it holds anything.
	Stop func()
}

// Reservation is what Reserve returned, as a set of operations. For a limiter with
// the methods of x/time/rate it is
//
//	conformance.Reservation{OK: r.OK, Delay: r.Delay, DelayFrom: r.DelayFrom, Cancel: r.Cancel, CancelAt: r.CancelAt}
//
// A limiter that merely returns a duration d sets Delay to a function that returns d.
type Reservation struct {
	// OK says whether there is a reservation at all. Nil means yes.
	OK func() bool
	// Delay says how long the caller must wait before it acts; DelayFrom says it for
	// Explicit runs.
	Delay     func() time.Duration
	DelayFrom func(t time.Time) time.Duration
	// Cancel gives the tokens back: the caller will not act. CancelAt is for
	// Explicit runs. Nil where reservations are final.
	Cancel   func()
	CancelAt func(t time.Time)
}

// RunLimiter holds an implementation to the laws of a rate limiter, one subtest
// for each rule, and returns what it found. [Rules] lists the rules.
//
//	conformance.RunLimiter(t, conformance.LimiterSpec{
//		Name: "mine",
//		Time: conformance.PackageTime,
//		New: func(_ conformance.Env, cfg conformance.LimiterConfig) conformance.LimiterFuncs {
//			l := mine.NewLimiter(cfg.Rate.PerSecond(), cfg.Burst)
//			return conformance.LimiterFuncs{AllowN: l.TryTake, WaitN: l.Take}
//		},
//		Traits: conformance.LikeXTime, // or leave it out, and read what TRAITS says
//	})
//
// What is waited for and what is reserved counts at the instant at which it is due,
// on the same exact bucket as what is granted at once. Where correct limiters differ
// after a cancel or a change of the limit, the bucket's level is a range.
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
		rules: allLimiterRules, lim: &spec,
	}
	c.lab = &lab{t: t, time: spec.Time, play: func(d driver, j job, rec *recorder) { spec.play(d, j, rec) }}
	c.traits = spec.Traits.table(c)
	c.families = limiterFamilies
	c.canary = limiterCanary
	c.accepts = func(op Op) bool { return c.limOps[op] }
	c.learn = func() {
		f, cfg, refused := spec.first(Env{newHand(Config{}.start(), false).c, Config{}.start()}, 10, 3)
		if refused != "" {
			t.Fatalf("conformance: RunLimiter: %s; New must accept it, or the burst 1, or as many per second as the burst", refused)
		}
		c.limOps, c.tied = spec.operations(f), cfg.Burst > 1 && cfg.Burst == cfg.Rate.Events
	}
	return c
}
