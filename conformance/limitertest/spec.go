// Package limitertest tests rate limiters against their laws: token buckets whose tokens are
// requested, waited for, or reserved, and whose rate may be set.
//
//	func TestConformance(t *testing.T) {
//		limitertest.Run(t, limitertest.Spec{
//			Name: "mine", Time: limitertest.PackageTime,
//			New: func(_ limitertest.Env, cfg limitertest.Config) limitertest.Funcs {
//				l := mine.NewLimiter(cfg.Rate.PerSecond(), cfg.Burst)
//				return limitertest.Funcs{AllowN: l.TryTake, WaitN: l.Take}
//			},
//		})
//	}
package limitertest

import (
	"cmp"
	"context"
	_ "embed"
	"slices"
	"testing"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/conformance/internal/trait"
	"github.com/escapement-go/escapement/internal/verb"
	"github.com/escapement-go/escapement/synctestcompat"
)

//go:embed RULES.md
var page string

// The types that a spec needs from package conformance, which documents them.
type (
	Env        = conformance.Env
	TimeSource = conformance.TimeSource
	Rate       = conformance.Rate
	Known      = conformance.Known
	// Answer is a remote limiter's answer to a request. Only OK and Err are read.
	Answer = conformance.Answer
)

// The choices that other contracts have too.
type (
	// BackTime says how an instant before the newest one is treated. With BackClamp it counts as the newest; with
	// BackReject nothing is granted; with BackRewind the limiter goes back in time, so callers must not pass such
	// instants.
	BackTime = trait.BackTime
	// Fairness says in which order waiters are served. With FairFIFO it is the order in which they came, and later
	// requests do not overtake them; with FairNone a later request may.
	Fairness = trait.Fairness
)

// Where a limiter may take its time from, how it may treat an instant before the newest
// one, and in which order it may serve waiters.
const (
	Injected    = conformance.Injected
	PackageTime = conformance.PackageTime
	Explicit    = conformance.Explicit

	BackClamp  = trait.BackClamp  // it counts as the newest instant
	BackReject = trait.BackReject // nothing is granted
	BackRewind = trait.BackRewind // the limiter goes back in time: callers must not pass such instants

	FairFIFO = trait.FairFIFO // in the order in which they came, and before whoever comes later
	FairNone = trait.FairNone // the first to come once something is free gets it, so it can overtake a waiter
)

// Inf is the rate of a limiter that grants everything.
var Inf = conformance.Inf

// Spec describes an implementation.
type Spec struct {
	// Name is the implementation's name in reports.
	Name string
	// Time says where it takes its time from. Explicit needs AllowAt.
	Time TimeSource
	// New makes a limiter. A constructor that refuses cfg panics. Instances must not share
	// state.
	New func(env Env, cfg Config) Funcs
	// Only lists the configurations that New takes, if these are few: schedules then use them, with their instants
	// scaled to their intervals. Rates and bursts on the list are more than 0, and finite.
	Only []Config
	// Traits are the choices of the implementation. Undeclared ones fail the subtest
	// TRAITS, which prints the observed values and asks for decisions.
	Traits Traits
	// KnownFailing lists known failures.
	KnownFailing []Known
}

// Config is what a limiter is made with. A limiter that is made with a number of events per
// period, all of which may come at once, gets Burst events in Rate.Period(Burst); New
// panics if there is no such period. If its period is fixed, New panics unless Burst is
// Rate.Events.
type Config struct {
	// Rate is the number of tokens per period: a fraction, 0 or [Inf].
	Rate Rate
	// Burst is the most tokens that the bucket holds. Some schedules have a burst of 0 or
	// less, or a huge one, which a constructor may refuse.
	Burst int
}

// Funcs are the operations of one limiter; those that are nil are not tried. One of Allow, AllowN,
// AllowAt, Take, Wait, WaitN, AllowKey and AllowKeyAt must be set. If only WaitN is set, a request is a
// WaitN whose context is cancelled at once unless it has returned.
type Funcs struct {
	// Allow and AllowN take one token or n, now or not at all. If both are set, single tokens
	// are requested by Allow once, AllowN once, Allow twice, AllowN twice, then four times, and so on.
	Allow  func() bool
	AllowN func(n int) bool
	// AllowAt is the form with an explicit time, for Explicit runs.
	AllowAt func(t time.Time, n int) bool
	// AllowKey is AllowN for a limiter that keeps a bucket for each key, as for each user; n is 1
	// if AllowN is nil and Allow is not. The keys are 1 to 130: make the limiter with room for
	// them. Without AllowN, AllowKey of key 1 is used for it. AllowKeyAt is the form for Explicit
	// runs. Keys are tested over time if the limiter starts full and has neither RefillSize nor
	// Resolution, otherwise at one instant only, and with Latency not at all.
	AllowKey   func(key, n int) bool
	AllowKeyAt func(t time.Time, key, n int) bool
	// Take is AllowN of a limiter that asks a server, and may return an error. It is used
	// instead of Allow and AllowN, and not in Explicit runs.
	Take func(n int) Answer
	// Fail makes later requests fail, as when a remote limiter cannot be reached, or lets
	// them work again. Only with Take: the answers then have an Err.
	Fail func(failing bool)
	// Tokens and TokensAt return the balance.
	Tokens   func() float64
	TokensAt func(t time.Time) float64
	// Wait blocks until it has taken n tokens. A limiter for single tokens panics for
	// another n and declares OneAtATime.
	Wait func(n int)
	// WaitN blocks until it has taken n tokens, or returns an error: ctx is done, or will
	// be before the tokens come. It is used instead of Wait. The deadline of ctx is on the
	// clock that the implementation uses.
	WaitN func(ctx context.Context, n int) error
	// Reserve takes n tokens in advance and says when the caller may act. ReserveAt is the
	// form with an explicit time, for Explicit runs.
	Reserve   func(n int) Reservation
	ReserveAt func(t time.Time, n int) Reservation
	// ReserveWithin is Reserve with a maximal delay, such as TakeMaxDuration. It is tested only together with
	// Reserve, and not in Explicit runs.
	ReserveWithin func(n int, most time.Duration) Reservation
	// SetLimit and SetBurst change the rate and the burst from now on, of each key if there are keys:
	// leave out methods that apply to new keys only. The forms with an explicit time are for Explicit
	// runs.
	SetLimit   func(r Rate)
	SetLimitAt func(t time.Time, r Rate)
	SetBurst   func(burst int)
	SetBurstAt func(t time.Time, burst int)
	// Stop releases resources, if the limiter holds any. A second one may panic.
	Stop func()
}

// Reservation is what Reserve returned, as a set of functions. For a limiter with the
// methods of x/time/rate it is
//
//	limitertest.Reservation{OK: r.OK, Delay: r.Delay, DelayFrom: r.DelayFrom, Cancel: r.Cancel, CancelAt: r.CancelAt}
//
// A limiter that merely returns a duration d sets Delay to a function that returns d.
type Reservation struct {
	// OK reports whether there is a reservation. Nil means yes.
	OK func() bool
	// Delay is how long the caller must wait before it acts; DelayFrom is the form for
	// Explicit runs.
	Delay     func() time.Duration
	DelayFrom func(t time.Time) time.Duration
	// Cancel refunds the tokens: the caller will not act. CancelAt is for Explicit runs.
	// Nil if reservations are final.
	Cancel   func()
	CancelAt func(t time.Time)
}

// Run tests an implementation against the laws of a rate limiter, one subtest for each
// rule, and returns what it found.
func Run(t *testing.T, spec Spec) *conformance.Report {
	t.Helper()
	return spec.Run(t)
}

// Run is the function [Run].
func (spec Spec) Run(t *testing.T) *conformance.Report {
	t.Helper()
	return suite.Run(t, newContract(spec))
}

// Judge returns what runs single schedules.
func (spec Spec) Judge(t *testing.T) conformance.Judge {
	t.Helper()
	return suite.NewExaminer(t, newContract(spec))
}

// Examine is for the tests of this module.
func (spec Spec) Examine(t *testing.T, o inside.Options) *conformance.Report {
	t.Helper()
	return suite.Examine(t, newContract(spec), o)
}

// Rules are the laws, in the order of their subtests.
func Rules() []conformance.Rule { return suite.Laws(newContract(Spec{})) }

// contract is the spec in the terms of the suite, and what was seen of the implementation. What may be looked at later
// is nil until then.
type contract struct {
	spec       Spec
	usual      Config        // what the instance was made with that was looked at first
	waits      bool          // it has a wait, even if it cannot be driven here
	stops      bool          // there is a Stop
	changeable bool          // its limit or burst can be changed
	single     bool          // a request for two tokens panicked, and OneAtATime is not declared
	tries      bool          // there is no request, and a wait which is given up at once is as good as one
	alone      bool          // a wait for several was seen to take one
	trip       time.Duration // how long a request takes, as far as that can be seen, or as it is declared
	locked     *bool         // who waits was seen to hold a lock while it sleeps
	naps       bool          // a wait was seen to sleep a little longer than its tokens took
	overdraft  *bool         // the next request was seen to pay
	units      *units        // what it counts in
	finite     bool          // the constructor refuses an infinite rate
	tied       bool          // a burst above 1 is accepted only if it is the Events of the rate
	greedy     bool          // the constructor was seen to take room or time for each token of the burst
	learnt     memory        // what the runs so far have shown
}

func newContract(spec Spec) *contract {
	c := &contract{spec: spec}
	c.Forget()
	return c
}

func (c *contract) Profile() suite.Profile {
	return suite.Profile{Name: c.spec.Name, Time: c.spec.Time, Known: c.spec.KnownFailing,
		Kind: "limiter", Package: "limitertest", Page: page, Answers: verb.Allow,
		Unsettled: true, Waiting: true, Refusals: true,
		Unmade: suite.If(c.spec.New == nil, "a limiter"), Unfit: c.unfit, Needs: needs,
		Signs: []suite.Sign{{Like: `^y$`, Means: "y is granted"}, {Like: `^n$`, Means: "n is denied"},
			{Like: `^\?$`, Means: "? is either"}, {Like: `^\+`, Means: "+ is the delay of a reservation"},
			{Like: `^err$`, Means: "err is a wait that failed"}},
		Asleep: "If a wait is meant to hold a lock while it sleeps, declare " +
			"limitertest.Traits{HoldsLockWhileWaiting: true}: then single calls are judged."}
}

func (c *contract) unfit(s *suite.Suite) (skip, misuse string) {
	switch spec := c.spec; {
	case slices.ContainsFunc(spec.Only, Config.unlistable):
		return "", "a configuration of Only has a burst below 1, or a rate without an interval; " +
			"list what New is made with, as {Rate: limitertest.Rate{Events: 20, Per: time.Second}, Burst: 5}"
	case spec.Traits.Latency > 0 && s.Time == Injected && !synctestcompat.Available:
		return "requests that take time can only be driven in a bubble: " + synctestcompat.Reason, ""
	}
	return "", ""
}

// Abilities that no step names, in the set of operations.
const (
	opRequest conformance.Op = "request" // not a wait that is given up at once, as an allow may be
	opSeveral conformance.Op = "way to take several tokens"
	opContext conformance.Op = "wait that takes a context"
	opGiveUp  conformance.Op = "reservation that can be cancelled"
	opWithin  conformance.Op = "reservation within a time"
	opKeys    conformance.Op = "allow with key"
)

// unsettledWait is why waits are left out.
const unsettledWait = "a wait can only be driven exactly in a bubble"

// Learn looks at an instance that is thrown away.
func (c *contract) Learn(s *suite.Suite) map[conformance.Op]bool {
	s.T.Helper()
	f, cfg, refused := c.first(suite.Aside(), c.candidates(10, 3))
	if refused != "" {
		s.T.Fatalf("conformance: limitertest.Run: %s; New must accept this, or a burst of 1, or a rate per "+
			"second equal to the burst", refused)
	}
	c.waits, c.stops = f.Wait != nil || f.WaitN != nil, f.Stop != nil
	c.tied = len(c.spec.Only) == 0 && cfg.Burst > 1 && cfg.Burst == cfg.Rate.Events
	c.usual, c.single, c.trip = cfg, false, 0
	c.finite = !(observer{s, c}).accepts(Config{Inf, cfg.Burst})
	c.greedy = s.TakesEach(c.full)
	asks, several := f.Allow != nil || f.several(), f.several()
	if s.Bubble && s.Time != Explicit {
		if asks {
			c.trip = c.tried(s, true, func(f *Funcs) { f.allows(conformance.Config{}.Start(), 0) })
		}
		c.trip = cmp.Or(c.trip, c.spec.Traits.Latency) // the first request may be one that asks nobody
	}
	if several && !c.spec.Traits.OneAtATime && cfg.Burst > 1 && (s.Bubble || f.Take == nil) {
		c.single = c.refusesSeveral(s)
	}
	ops := f.operations()
	triesSeveral := c.triesAreRequests(s, &f)
	ops[opRequest], ops[verb.Allow] = asks, asks || c.tries
	ops[opSeveral] = !c.spec.Traits.OneAtATime && !c.single && several || triesSeveral
	ops[verb.Wait] = c.waits && (s.Bubble || s.Time != Injected)
	if ops[verb.Reserve] {
		c.tried(s, c.trip > 0, func(f *Funcs) {
			r := f.reserve(conformance.Config{}.Start(), 1)
			ops[opGiveUp] = r.Cancel != nil || r.CancelAt != nil
		})
	}
	ops[verb.Cancel] = ops[opContext] || ops[opGiveUp]
	f.end()
	c.naps = ops[verb.Wait] && observer{s, c}.naps()
	c.changeable = ops[verb.SetLimit] || ops[verb.SetBurst]
	return ops
}

// operations are what is there, as far as that needs no other look.
func (f *Funcs) operations() map[conformance.Op]bool {
	return map[conformance.Op]bool{
		verb.Tokens:   f.TokensAt != nil || f.Tokens != nil,
		opContext:     f.WaitN != nil,
		opKeys:        f.keyed(),
		verb.Reserve:  f.Reserve != nil || f.ReserveAt != nil,
		opWithin:      f.ReserveWithin != nil && f.Reserve != nil,
		verb.SetLimit: f.SetLimit != nil || f.SetLimitAt != nil,
		verb.SetBurst: f.SetBurst != nil || f.SetBurstAt != nil,
		verb.Stop:     f.Stop != nil,
		verb.Fault:    f.Fail != nil && f.Take != nil,
	}
}

// full makes a limiter with a burst, and returns what releases it.
func (c *contract) full(st *suite.Stage, burst int) func() {
	f, refused := c.make(st.Plain(), Config{perSecond(10), burst})
	if refused != "" {
		return func() {}
	}
	return f.end
}

// refusesSeveral reports whether a request panics that is for more than one token.
func (c *contract) refusesSeveral(s *suite.Suite) bool {
	panics := func(n int) (yes bool) {
		ask := conformance.Step{Op: verb.Allow, N: n}
		c.tried(s, c.trip > 0, func(f *Funcs) {
			yes = suite.Catch(func() { f.do(ask, conformance.Config{}.Start(), 1, &conformance.Done{}) }) != ""
		})
		return yes
	}
	return panics(2) && !panics(1)
}

// Canary proves that the implementation takes its time from where the spec says: it takes
// all tokens and sees which clock brings more.
func (c *contract) Canary(s *suite.Suite) string {
	allows := s.Accepts(opRequest)
	if !allows && !c.waits {
		return "New returned nothing that " + s.Time.String() +
			" can use: set Allow, AllowN, AllowKey, Take or Wait, or AllowAt or AllowKeyAt for Explicit"
	}
	if c.waits && !s.Accepts(verb.Wait) {
		s.Inexact = unsettledWait
	}
	if !allows || c.trip > 0 { // a request that takes time ends when time passes
		return ""
	}
	why := c.runsOn(s)
	if why != "" || s.Time != Injected || !s.Bubble {
		return why
	}
	var impl Funcs
	pulse := s.Sees(suite.Life{
		Make: func(env Env, _ func()) { impl, _, _ = c.first(env, c.candidates(10, 3)) },
		Use: func() (granted int) {
			for granted < 10 && impl.allows(conformance.Config{}.Start(), 0) {
				granted++
			}
			return granted
		},
		Beyond:  time.Hour,
		Release: func() { impl.end() },
	})
	if pulse.Own == 0 && pulse.Other > 0 {
		return "the spec says Injected, but moving Env.Clock brought no token and moving package time did: " +
			"hand Env.Clock to the implementation, or set Time: limitertest.PackageTime"
	}
	return ""
}

// runsOn asks very often while time stands still, so that a limiter which reads some other
// clock, as that of the runtime behind package time, grants again. One that grants always has
// another mistake, and so has one that grants as many where the rate brings none in any test's time:
// that is said, and the rules judge it.
func (c *contract) runsOn(s *suite.Suite) string {
	if !c.grantsAtRest(s, c.candidates(100_000, 3)) {
		return ""
	}
	if c.grantsAtRest(s, []Config{{Rate{Events: 1, Per: time.Hour}, 3}}) {
		s.Odd = "denied requests bring tokens: while no time passed, an empty limiter of 1 token an hour granted more"
		return ""
	}
	from := map[TimeSource]string{
		Injected:    "hand Env.Clock to the implementation, and let it read no other",
		PackageTime: "it must read package time (time.Now, timers), which a bubble controls, not the runtime's clock",
		Explicit:    "it must use only the time that it is passed",
	}
	return "tokens came while time stood still: the implementation reads another clock; " +
		from[s.Time]
}

// grantsAtRest reports whether a limiter that was empty grants at times where no time passes. What hangs here hangs in
// the schedules too.
func (c *contract) grantsAtRest(s *suite.Suite, of []Config) bool {
	const asked = 20_000
	granted, denied := 0, 0
	observer{s, c}.trial(of, func(st *suite.Stage, f *Funcs, _ Config) {
		start := st.Config().Start()
		for i := 0; i < 10 && denied == 0; i++ {
			if !f.allows(start, i) {
				denied++
			}
			st.Settle() // a goroutine that hands tokens out comes back
		}
		for i := 0; i < asked && granted < 10 && denied > 0; i++ {
			if f.allows(start, i) {
				granted++
			} else {
				denied++
			}
		}
	})
	return granted > 0 && denied >= 2*granted
}

// Other says so if an empty limiter gets its whole burst back at once, in just the time in
// which the rate brings it: it counts in windows, which another package judges.
func (c *contract) Other(s *suite.Suite) string {
	if t := c.spec.Traits; t.RefillSize != 0 || t.Resolution != 0 || c.trip > 0 || !s.Accepts(opRequest) {
		return ""
	}
	if a := (observer{s, c}).arrivals(1000); !a.whole || !a.byTokens() {
		return ""
	}
	return "an empty limiter granted nothing for a while and then its whole burst at once: it seems to count " +
		"in windows, which package quotatest judges (Kind FixedWindow, SlidingLog or SlidingCounter). If it " +
		"is a bucket after all, declare its RefillSize."
}
