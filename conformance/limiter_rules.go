package conformance

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"time"
)

// limiterRules are the rules of RunLimiter.
var limiterRules = []rule{
	limRule("RL-ENV", "In any window of length L at most rate*L + burst tokens MUST be granted.",
		nil, nil, (*exam).rlEnv),
	limRule("RL-WORK", "A request that the bucket can pay for MUST be granted.",
		[]Op{OpAllow}, []string{"Initial"}, (*exam).rlWork),
	limRule("RL-MODEL", "Every decision MUST be that of the exact token bucket, except within 1ns, or a billionth of a token, of the boundary.",
		[]Op{OpAllow}, []string{"Initial"}, (*exam).rlModel),
	limRule("RL-FULL", "A new limiter MUST grant its burst at once.",
		nil, []string{"Initial"}, (*exam).rlFull),
	limRule("RL-CAP", "The bucket MUST NOT hold more than the burst, after any idle time.",
		nil, nil, (*exam).rlCap),
	extended(limRule("RL-TOKENS", "Tokens MUST show the tokens that are there, rounded down to whole ones or not, and what is owed as a negative number or as nothing.",
		[]Op{OpTokens}, []string{"Initial"}, (*exam).rlTokens)),
	limRule("RL-DENYPURE", "A request that is denied MUST leave no trace: what follows is decided as if it had not been made.",
		[]Op{OpAllow}, []string{"Initial"}, (*exam).rlDenyPure),
	limRule("RL-FRAC", "However often the limiter is asked, tokens MUST accrue at the full rate: fractions are not lost between requests.",
		[]Op{OpAllow}, []string{"Initial"}, (*exam).rlFrac),
	limRule("RL-N0", "A request for 0 tokens MUST be granted while nothing is owed, and change nothing.",
		[]Op{opMany}, []string{"Initial"}, (*exam).rlZero),
	limRule("RL-NEG", "A request for a negative number of tokens MUST NOT add tokens; it is refused or does nothing.",
		[]Op{opMany}, nil, (*exam).rlNegative),
	limRule("RL-NBIG", "A request for more than the burst MUST NOT be granted, however large, and MUST leave no trace.",
		[]Op{opMany}, []string{"Oversize"}, (*exam).rlBig),
	limRule("RL-PAST", "Instants that go back MUST NOT add tokens: all that is granted between the earliest and the newest instant stays within the envelope.",
		[]Op{OpAllow}, []string{"BackTime"}, (*exam).rlPast),
	limRule("RL-EPOCH", "Decisions MUST NOT depend on where on the time line the clock starts.",
		nil, nil, (*exam).rlEpoch),
	limRule("X-CALLS", "Every operation of a legal schedule MUST return and MUST NOT panic.",
		nil, nil, (*exam).limCalls),
	limRule("X-LEAK", "When all is quiet, and after Stop, no goroutine MUST remain, and after Stop no armed timer.",
		nil, nil, (*exam).limLeak),
	{Rule: Rule{"X-CONC", "Requests made at one instant by many goroutines MUST together get what some order of them gets.", lawsLink + "x-conc", Core},
		probe: (*contract).limiterConcurrent, skip: needs([]Op{OpAllow}, "Initial")},
	{Rule: Rule{"X-RACE", "Concurrent use of all operations MUST be free of data races.", lawsLink + "x-race", Core},
		probe: (*contract).limiterRace, skip: withoutRaceDetector, live: true},
}

func limRule(id, text string, ops []Op, traits []string, check func(*exam) *violation) rule {
	base := needs(ops, traits...)
	return rule{
		Rule: Rule{id, text, lawsLink + anchor(id), Core},
		skip: func(c *contract) string {
			if why := base(c); why != "" {
				return why
			}
			return limOptOut(id, c)
		},
		trace: check,
	}
}

// limOptOut says why a declaration takes the rule out of force.
func limOptOut(id string, c *contract) string {
	t := c.lim.Traits
	switch {
	case id == "RL-FULL" && t.Initial != InitialFull:
		return "declared: not full at first"
	case id == "RL-NBIG" && t.Oversize == OversizePrepaid:
		return "declared: OversizePrepaid"
	case slices.Contains([]string{"W-EXACT", "W-FIFO", "W-NOSTARVE", "W-WAKE"}, id) && t.Fair == FairNone:
		return "declared: FairNone"
	case (id == "RL-INF" || id == "RL-INFOUT") && t.Inf == InfAbsent:
		return "declared: InfAbsent"
	case (id == "RL-PAST" || id == "RL-PASTQ") && c.time != Explicit:
		return "only explicit instants can go back"
	case (id == "RL-PAST" || id == "RL-PASTQ") && t.BackTime == BackRewind:
		return "declared: BackRewind"
	case id == "RL-EPOCH" && c.time == PackageTime:
		return "package time always starts at the same instant"
	case id == "X-LEAK" && !c.lab.bubble:
		return "goroutines can only be told apart in a bubble"
	}
	return ""
}

// tell makes a violation with the limiter's lanes.
func (x *exam) tell(at time.Duration, because, headline string, args ...any) *violation {
	v := &violation{Headline: fmt.Sprintf(headline, args...), Because: because, At: at}
	if x.extended() || x.Schedule.Config.Rate.Per <= 0 {
		v.Lanes = x.heldLanes()
	} else {
		v.Lanes = x.limLanes()
	}
	return v
}

// forward reports whether the trace is one that the model can judge: made, not
// stuck, and with time going forward.
func (x *exam) forward() bool {
	return x.Refused == "" && !x.Stuck && x.Schedule.Config.Rate.Events > 0 && !x.Schedule.Config.Rate.extreme() &&
		slices.IsSortedFunc(x.Schedule.Steps, func(a, b Step) int { return int(min(1, max(-1, a.At-b.At))) })
}

// odd reports whether a step asks for a number of tokens that has a rule of its
// own.
func (x *exam) odd(s Step) bool {
	return s.N < 1 || s.N > x.Schedule.Config.Burst
}

// tame is forward without odd requests, with nothing but requests and plain waits.
func (x *exam) tame() bool {
	return x.forward() && !slices.ContainsFunc(x.Schedule.Steps, func(s Step) bool {
		switch s.Op {
		case OpTokens, OpIdle:
			return false
		case OpAllow, OpWait:
			return x.odd(s) || s.D != 0
		}
		return true
	})
}

func trimFloat(f float64) string { return strconv.FormatFloat(f, 'g', 10, 64) }

// envelope returns the window in which more was granted than rate*L + burst, if
// there is one.
func (x *exam) envelope() (from, to grant, got int, bad bool) {
	v := x.lims()
	burst := x.Schedule.Config.Burst
	start := new(big.Int).Add(v.burst, v.tolerance)
	var n, taken, limit big.Int // used again and again, as many pairs are looked at
	for i, a := range v.grants {
		sum := 0
		for _, b := range v.grants[i:] {
			if sum += b.n; sum <= burst {
				continue
			}
			taken.Mul(n.SetInt64(int64(sum)), v.per)
			limit.Mul(n.SetInt64(int64(b.at-a.at)), v.events)
			if taken.Cmp(limit.Add(&limit, start)) > 0 {
				return a, b, sum, true
			}
		}
	}
	return grant{}, grant{}, 0, false
}

func (x *exam) rlEnv() *violation {
	if x.extended() && x.steady() {
		if slices.ContainsFunc(x.Schedule.Steps, func(s Step) bool { return s.N < 0 }) {
			return nil // RL-NEG judges what they bring
		}
		return x.heldEnvelope()
	}
	if !x.tame() {
		return nil
	}
	a, b, sum, bad := x.envelope()
	if !bad {
		return nil
	}
	cfg := x.Schedule.Config
	most := float64(cfg.Rate.Events)/float64(cfg.Rate.Per)*float64(b.at-a.at) + float64(cfg.Burst)
	return x.tell(b.at, fmt.Sprintf("in %s the rate %s brings %s tokens, on top of a burst of %d", duration(b.at-a.at), cfg.Rate,
		trimFloat(most-float64(cfg.Burst)), cfg.Burst),
		"%d tokens were granted from %s to %s, want %s at the most", sum, duration(a.at), duration(b.at), trimFloat(most))
}

// decisions calls f for each allow of a tame trace until it finds something.
func (x *exam) decisions(f func(s limiterStep) *violation) *violation {
	v := x.lims()
	for _, s := range v.steps {
		if s.Op == OpAllow && s.Ended.Seq != 0 && s.Panic == "" && !x.odd(s.Step) {
			if found := f(s); found != nil {
				return found
			}
		}
	}
	return nil
}

func (x *exam) holds(s limiterStep) string {
	return fmt.Sprintf("the bucket held %s tokens at %s", x.lims().tokens(s.level), duration(s.At))
}

func (x *exam) rlWork() *violation {
	if x.extended() {
		return x.broken("RL-WORK")
	}
	if !x.tame() {
		return nil
	}
	v := x.lims()
	return x.decisions(func(s limiterStep) *violation {
		if s.OK || s.margin.Cmp(v.tolerance) < 0 && !(s.brimful && s.margin.Sign() >= 0) {
			return nil
		}
		return x.tell(s.At, x.holds(s), "allow %d at %s was denied, want granted", s.N, duration(s.At))
	})
}

func (x *exam) rlModel() *violation {
	if x.extended() {
		return x.broken("RL-MODEL")
	}
	if !x.tame() {
		return nil
	}
	v := x.lims()
	return x.decisions(func(s limiterStep) *violation {
		if s.margin.CmpAbs(v.tolerance) <= 0 || s.OK == (s.margin.Sign() > 0) {
			return nil
		}
		got, want := "denied", "granted"
		if s.OK {
			got, want = want, got
		}
		return x.tell(s.At, x.holds(s), "allow %d at %s was %s, want %s", s.N, duration(s.At), got, want)
	})
}

func (x *exam) rlFull() *violation {
	if !x.tame() {
		return nil
	}
	taken := 0
	for _, d := range x.Done {
		if d.Op == OpTokens {
			continue
		}
		if d.At != x.Done[0].At || taken+d.N > x.Schedule.Config.Burst {
			return nil
		}
		if taken += d.N; !d.OK || d.Op == OpWait && d.Ended.At > d.At {
			return x.tell(d.At, fmt.Sprintf("a new limiter holds its burst of %d, and only %d were asked for", x.Schedule.Config.Burst, taken),
				"%s %d of a new limiter was not granted at once", d.Op, d.N)
		}
	}
	return nil
}

func (x *exam) rlCap() *violation {
	if !x.forward() {
		return nil
	}
	burst := x.Schedule.Config.Burst
	for _, d := range x.Done {
		if d.Op == OpSetLimit && d.Rate == Inf {
			return nil
		}
		if d.Op == OpSetBurst {
			burst = d.N
		}
		if d.Op == OpTokens && d.Tokens > float64(max(0, burst))*(1+1e-9) {
			return x.tell(d.At, fmt.Sprintf("the burst is %d", burst), "Tokens() = %s at %s, want %d at the most", trimFloat(d.Tokens), duration(d.At), burst)
		}
	}
	if !x.tame() || x.extended() {
		return nil
	}
	sum, at, from := 0, time.Duration(-1), time.Duration(0)
	for _, g := range x.lims().grants {
		if g.d.Op != OpAllow || x.Schedule.Config.Rate.Interval() == 0 {
			continue
		}
		if g.at != at {
			sum, from, at = 0, at, g.at
		}
		if sum += g.n; sum > burst+x.c.lim.Traits.Quantum {
			return x.tell(at, fmt.Sprintf("the burst is %d, and the limiter had been idle since %s", burst, duration(max(0, from))),
				"%d tokens were granted at the instant %s, want %d at the most", sum, duration(at), burst)
		}
	}
	return nil
}

// extended makes a rule one for those who offer more.
func extended(r rule) rule {
	r.Level = Extended
	return r
}

func (x *exam) rlTokens() *violation {
	if !x.steady() || !slices.ContainsFunc(x.Schedule.Steps, func(s Step) bool { return s.Op == OpTokens }) {
		return nil
	}
	look := func(waived string) *mismatch {
		a := newAccount(x.Trace, x.c.lim.Traits)
		a.shows, a.waived = true, waived
		return a.replay()
	}
	d := look("")
	if d == nil || d.law != "RL-TOKENS" {
		return nil
	}
	for _, law := range accountLaws { // what is shown may be what a limiter has that breaks another law
		if !hasOp(law.op)(nil, x.job) {
			continue
		}
		if other := look(law.id); other == nil || other.event > d.event {
			return nil
		}
	}
	return x.tell(d.at, d.because, "%s", d.headline)
}

// rerun plays another schedule on a fresh implementation, in the same bubble.
func (x *exam) rerun(s Schedule) *Trace {
	if x.still {
		return &Trace{}
	}
	rec := &recorder{}
	var d driver
	if x.c.time == PackageTime {
		d = newBubbleTime()
	} else {
		d = newHand(s.Config.start(), x.c.lab.bubble)
	}
	x.c.lab.play(d, job{schedule: s}, rec)
	return rec.finish()
}

// differs reruns the schedule without the steps that drop selects and returns the
// first of the others that is decided otherwise, if its decision is a clear one.
func (x *exam) differs(drop func(s limiterStep) bool) (limiterStep, bool) {
	v := x.lims()
	if !slices.ContainsFunc(v.steps, drop) {
		return limiterStep{}, false
	}
	without := Schedule{Config: x.Schedule.Config}
	var kept []limiterStep
	dropped, matters := false, false
	for _, s := range v.steps {
		if drop(s) {
			dropped = true
			continue
		}
		matters = matters || dropped
		kept = append(kept, s)
		without.Steps = append(without.Steps, s.Step)
	}
	if !matters || len(v.steps) != len(x.Schedule.Steps) || x.c.lim.Traits.Initial != InitialFull && drop(v.steps[0]) {
		return limiterStep{}, false // what does not start full may start with the first request, whatever it asks for
	}
	other := x.rerun(without)
	for i, s := range kept {
		if i >= len(other.Done) {
			break
		}
		if s.Op == OpAllow && s.OK != other.Done[i].OK && s.margin.CmpAbs(v.tolerance) > 0 {
			return s, true
		}
	}
	return limiterStep{}, false
}

func (x *exam) rlDenyPure() *violation {
	if !x.tame() || x.extended() || len(x.Schedule.Steps) > 8 {
		return nil
	}
	denied := func(s limiterStep) bool { return s.Op == OpAllow && !s.OK && s.margin.Sign() < 0 }
	s, bad := x.differs(denied)
	if !bad {
		return nil
	}
	return x.tell(s.At, "without the requests that were denied before it, the same limiter decides otherwise",
		"%s %d at %s: a denied request changed the outcome", s.Op, s.N, duration(s.At))
}

func (x *exam) rlFrac() *violation {
	if !x.tame() || len(x.Schedule.Steps) < 10 ||
		slices.ContainsFunc(x.Schedule.Steps, func(s Step) bool { return s.Op != OpAllow && s.Op != OpTokens || s.Op == OpAllow && s.N != 1 }) {
		return nil
	}
	v := x.lims()
	// The exact bucket on the same requests, whatever this one granted.
	level, want, got := v.units(x.c.lim.Traits.initial(x.Schedule.Config.Burst)), 0, 0
	at := x.Schedule.Steps[0].At
	for _, d := range x.Done {
		level, _ = v.refill(level, d.At-at)
		at = d.At
		if d.Op == OpAllow && level.Cmp(v.per) >= 0 {
			level = new(big.Int).Sub(level, v.per)
			want++
		}
		if d.OK {
			got++
		}
	}
	if got >= want-1-x.c.lim.Traits.Quantum {
		return nil
	}
	return x.tell(at, fmt.Sprintf("%d requests came in %s at a rate of %s", len(x.Done), duration(at-x.Schedule.Steps[0].At), x.Schedule.Config.Rate),
		"%d tokens were granted by %s, want %d", got, duration(at), want)
}

// oddly judges requests of an unusual size: what it says of the request itself, and
// whether it changed what was decided after it.
func (x *exam) oddly(which func(n int) bool, what string, self func(s limiterStep) *violation) *violation {
	if !x.forward() || x.extended() || !slices.ContainsFunc(x.Schedule.Steps, func(s Step) bool { return which(s.N) && s.Op == OpAllow }) ||
		slices.ContainsFunc(x.Schedule.Steps, func(s Step) bool { return s.Op == OpAllow && x.odd(s) && !which(s.N) }) {
		return nil
	}
	for _, s := range x.lims().steps {
		if s.Op == OpAllow && which(s.N) {
			if found := self(s); found != nil {
				return found
			}
		}
	}
	// The exact bucket does not count what an odd request was given, so that a
	// later decision shows it.
	s, bad := x.differs(func(s limiterStep) bool { return s.Op == OpAllow && which(s.N) })
	if !bad {
		return nil
	}
	return x.tell(s.At, "without "+what+" before it, the same limiter decides otherwise",
		"%s %d at %s: %s changed the outcome", s.Op, s.N, duration(s.At), what)
}

func (x *exam) rlZero() *violation {
	if x.extended() {
		return x.broken("RL-N0")
	}
	return x.oddly(func(n int) bool { return n == 0 }, "a request for 0 tokens", func(s limiterStep) *violation {
		if s.OK || s.level.Sign() < 0 {
			return nil
		}
		return x.tell(s.At, "nothing is asked for and nothing is owed", "allow 0 at %s was denied, want granted", duration(s.At))
	})
}

func (x *exam) rlNegative() *violation {
	if x.extended() {
		return x.broken("RL-NEG")
	}
	return x.oddly(func(n int) bool { return n < 0 }, "a request for a negative number", func(limiterStep) *violation { return nil })
}

func (x *exam) rlBig() *violation {
	burst := x.Schedule.Config.Burst
	if x.extended() {
		return x.broken("RL-NBIG")
	}
	return x.oddly(func(n int) bool { return n > burst }, "a request for more than the burst", func(s limiterStep) *violation {
		if !s.OK {
			return nil
		}
		return x.tell(s.At, fmt.Sprintf("the bucket never holds more than %d", burst), "allow %d at %s was granted, want denied", s.N, duration(s.At))
	})
}

func (x *exam) rlPast() *violation {
	if x.Refused != "" || x.Stuck || x.forward() || x.Schedule.Config.Rate.Events <= 0 {
		return nil
	}
	v := x.lims()
	sum := 0
	lo, hi := time.Duration(math.MaxInt64), time.Duration(math.MinInt64)
	rate, burst := x.Schedule.Config.Rate, x.Schedule.Config.Burst // the highest so far
	now := burst
	for _, s := range v.steps {
		lo, hi = min(lo, s.At), max(hi, s.At)
		if s.Op == OpSetBurst {
			now = s.N
		}
		switch {
		case s.Op == OpSetLimit && s.Rate.above(rate):
			rate = s.Rate
		case s.Op == OpSetBurst && s.N > burst:
			if burst = s.N; x.c.lim.Traits.Raise != RaiseBringsNothing {
				return nil
			}
		}
		if rate == Inf || rate.Per <= 0 {
			return nil
		}
		if s.Op != OpAllow || !s.OK || s.N < 1 || s.N > now {
			continue
		}
		if sum += s.N; sum <= burst {
			continue
		}
		limit := big.NewRat(int64(rate.Events), int64(rate.Per))
		limit.Mul(limit, new(big.Rat).SetInt64(int64(hi-lo)))
		limit.Add(limit, new(big.Rat).SetInt64(int64(burst)))
		most := new(big.Rat).Add(limit, new(big.Rat).SetFrac(v.tolerance, v.per))
		if new(big.Rat).SetInt64(int64(sum)).Cmp(most) > 0 {
			f, _ := limit.Float64()
			return x.tell(s.At, fmt.Sprintf("all instants lie between %s and %s; asking about an earlier one brings no time", duration(lo), duration(hi)),
				"%d tokens were granted by step %d, want %s at the most", sum, slices.IndexFunc(v.steps, func(o limiterStep) bool { return o.Done == s.Done })+1, trimFloat(f))
		}
	}
	return nil
}

func (x *exam) rlEpoch() *violation {
	if !x.tame() || !x.Schedule.Config.has("epoch") {
		return nil
	}
	cfg := x.Schedule.Config
	cfg.set = slices.DeleteFunc(slices.Clone(cfg.set), func(k string) bool { return k == "epoch" })
	other := x.rerun(Schedule{cfg, x.Schedule.Steps})
	for i, d := range x.Done {
		if i < len(other.Done) && (d.OK != other.Done[i].OK || d.Ended.At != other.Done[i].Ended.At) {
			return x.tell(d.At, "a clock that starts at "+Config{}.start().Format(time.RFC3339)+" gets another answer",
				"%s %d at %s after %s is decided otherwise", d.Op, d.N, duration(d.At), x.Schedule.Config.Epoch.Format(time.RFC3339))
		}
	}
	return nil
}

func (x *exam) limCalls() *violation {
	for _, d := range x.Done {
		if d.Panic != "" && !x.odd(d.Step) {
			return x.tell(d.At, "", "%s %d at %s panicked: %s", d.Op, d.N, duration(d.At), d.Panic)
		}
		if d.Ended.Seq == 0 && x.Stuck {
			return x.tell(d.At, "everything that could wake it was asleep for good", "%s %d at %s never returned", d.Op, d.N, duration(d.At))
		}
	}
	cfg := x.Schedule.Config
	sane := cfg.Rate.Exact() && cfg.Rate.Interval() >= time.Millisecond && cfg.Rate.Interval() <= 24*time.Hour && cfg.Burst == 1 &&
		(cfg.Rate == Rate{1, time.Second} || !x.c.tied)
	if x.Refused != "" && sane {
		return &violation{Headline: fmt.Sprintf("the constructor refused %s: %s", x.Schedule.Config, x.Refused)}
	}
	return nil
}

func (x *exam) limLeak() *violation {
	if !x.job.look || x.Refused != "" {
		return nil
	}
	if len(x.Left) == 0 && x.Armed && x.c.accepts(OpStop) {
		return x.tell(x.End, "nobody waits, and Stop has returned", "a timer is still armed")
	}
	if len(x.Left) == 0 {
		return nil
	}
	return x.tell(x.End, "", "%d goroutines remained: %s", len(x.Left), x.Left[0])
}

// allLimiterRules are the rules of RunLimiter in the order of their subtests.
var allLimiterRules = slices.Concat(limiterRules, extremeRules, heldRules)
