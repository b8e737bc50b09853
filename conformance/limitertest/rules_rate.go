package limitertest

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

// rateRules are the laws of very small and very large rates.
func rateRules() []rule {
	return []rule{
		checked((*exam).atNoRate, "RL-LIM0", "At a rate of 0 a limiter MUST grant its initial tokens, or none, as "+
			"declared, and no more.", verb.Allow, noRate, "ZeroRate"),
		extreme("RL-TINY", "However small the rate, no more than the envelope may be granted: no "+
			"delay overflows to 0.", func(r Rate) bool { return r.Interval() > time.Hour }),
		extreme("RL-HUGE", "However large the rate, no more than the envelope may be granted: no "+
			"interval is rounded to 0.", func(r Rate) bool { return r.Interval() < 2 }),
	}
}

// noRate selects the runs in which the rate is 0, at first or later.
func noRate(j suite.Job) bool {
	set := func(s conformance.Step) bool { return s.Op == verb.SetLimit && s.Rate.Events == 0 }
	return j.Schedule.Config.Has("rate") && j.Schedule.Config.Rate.Events == 0 || some(set)(j)
}

// senselessBurst is the law of bursts that make no sense, such as 0.
var senselessBurst = rule{
	Rule: core("X-CFG", "A constructor MUST refuse a senseless configuration or return a limiter that works."),
	About: func(j suite.Job) bool {
		cfg := j.Schedule.Config
		return cfg.Has("burst") && senseless(cfg.Burst) || cfg.Has("rate") && cfg.Rate.Extreme()
	},
	Sees: func(*exam) bool { return true }, // who refuses keeps it
	Check: func(x *exam) *suite.Violation {
		if v := x.senselessBurst(); v != nil {
			return v
		}
		return x.senselessRate()
	},
}

// infiniteRules are the laws of an infinite rate.
func infiniteRules() []rule {
	all := []rule{
		judged("RL-INF", "At an infinite rate everything MUST be granted at once, whatever the burst.", verb.Allow,
			atInfiniteRate, "Inf"),
		judged("RL-INFOUT", "When an infinite limit ends, the bucket MUST hold at least what it held "+
			"before, and at most the burst; cancelling what it granted MUST NOT bring tokens.", verb.SetLimit,
			both(atInfiniteRate, suite.Has(verb.SetLimit)), "Inf"),
	}
	for i := range all {
		all[i].Unless = func(_ *suite.Suite, t *Traits) string {
			return suite.If(t.Inf == InfAbsent, "declared: InfAbsent")
		}
	}
	return all
}

// atInfiniteRate selects the runs in which the rate is infinite, at first or later.
func atInfiniteRate(j suite.Job) bool {
	return j.Schedule.Config.Rate == Inf || some(func(s conformance.Step) bool { return s.Rate == Inf })(j)
}

func senseless(burst int) bool { return burst < 1 || burst >= 1<<30 }

// extreme is a rule about the envelope at rates of one kind.
func extreme(id, text string, kind func(r Rate) bool) rule {
	return rule{
		Rule: core(id, text),
		About: func(j suite.Job) bool {
			rate := j.Schedule.Config.Rate
			return rate.Extreme() && kind(rate)
		},
		Check: func(x *exam) *suite.Violation {
			if !x.made() || x.Schedule.Config.Burst < 1 || !x.forward() {
				return nil
			}
			return x.envelope()
		},
	}
}

func (x *exam) atNoRate() *suite.Violation {
	if v := x.breaks("RL-LIM0"); v != nil {
		return v
	}
	cfg := x.Schedule.Config
	if cfg.Rate.Events != 0 || cfg.Burst < 1 || !x.made() || failed(&x.Trace) {
		return nil
	}
	left := x.traits.initial(cfg.Burst)
	if x.traits.ZeroRate != ZeroRateBurst {
		left = 0
	}
	there := left
	for i := range x.Done {
		d := &x.Done[i]
		if d.Op == verb.Reserve && d.OK && d.Delay > 0 {
			return nil // limiters differ in what becomes of a reservation that is never due
		}
		granted := d.OK && d.Ended.Seq != 0 && (d.Op == verb.Allow || claims(d.Step))
		prepaid := x.traits.Oversize == OversizePrepaid && d.N > cfg.Burst && left == cfg.Burst // nobody will pay
		if granted && !x.traits.pays(d.N, left) && !prepaid {
			return x.broken(d.At, fmt.Sprintf("it began with %s, and gets no more", timeline.Count(there, "token")),
				"%s %d at %s was granted, want never", d.Op, d.N, timeline.Duration(d.At))
		}
		if v := x.deniedAtZeroRate(i, left); v != nil {
			return v
		}
		if granted {
			left -= d.N
		}
	}
	return nil
}

// deniedAtZeroRate looks at a step that got nothing though tokens were left, or got it too late.
func (x *exam) deniedAtZeroRate(step, left int) *suite.Violation {
	d := &x.Done[step]
	deadline := d.At + d.D + x.traits.Latency
	switch {
	case d.Op == verb.Allow && !d.OK && x.traits.pays(d.N, left) && x.traits.ZeroRate == ZeroRateBurst:
		return x.broken(d.At, fmt.Sprintf("%d of the initial tokens were left", left)+x.refusedBefore(step),
			"allow %d at %s was denied, want granted", d.N, timeline.Duration(d.At))
	case d.Op == verb.Wait && d.D > 0 && x.End > deadline && (d.Ended.Seq == 0 || d.Ended.At > deadline):
		return x.broken(deadline, "its deadline was at "+timeline.Duration(deadline),
			"%s %s at %s", x.named(d), outcome(d), timeline.Duration(d.Ended.At))
	}
	return nil
}

// refusedBefore says so if a reservation was refused before a step: it takes nothing.
func (x *exam) refusedBefore(step int) string {
	refused := func(d conformance.Done) bool { return d.Op == verb.Reserve && !d.OK }
	return suite.If(slices.ContainsFunc(x.Done[:step], refused), "; a reservation that is not OK takes nothing")
}

// senselessRate looks at what a limiter grants at first whose rate is extreme: that is its burst, and what
// comes later does not matter.
func (x *exam) senselessRate() *suite.Violation {
	cfg := x.Schedule.Config
	if !cfg.Rate.Extreme() || senseless(cfg.Burst) || x.traits.Initial != InitialFull ||
		!x.made() || !x.forward() || !x.ordinary() {
		return nil
	}
	return x.firstBurst()
}

func (x *exam) senselessBurst() *suite.Violation {
	cfg := x.Schedule.Config
	if !senseless(cfg.Burst) || cfg.Rate == Inf || x.Refused != "" || failed(&x.Trace) {
		return nil // at an infinite rate any burst makes sense
	}
	granted, at := 0, time.Duration(0)
	for _, d := range x.Done {
		if d.Panic != "" {
			return x.broken(d.At, "the constructor had accepted it",
				"%s %d at %s panicked: %s", d.Op, d.N, timeline.Duration(d.At), d.Panic)
		}
		if d.Op == verb.Tokens && (math.IsNaN(d.Tokens) || d.Tokens > float64(max(1, cfg.Burst))*(1+1e-9)) {
			return x.broken(d.At, fmt.Sprintf("the burst is %d", cfg.Burst),
				"Tokens() = %s at %s", number(d.Tokens), timeline.Duration(d.At))
		}
		asks := d.Op == verb.Allow || d.Op == verb.Wait
		if cfg.Burst > 0 && asks && d.N == 1 && x.traits.Initial == InitialFull && !x.atOnce(&d) {
			return x.broken(d.At, fmt.Sprintf("the constructor accepted a burst of %d, nearly all of which is left",
				cfg.Burst), "%s 1 at %s was not granted at once", d.Op, timeline.Duration(d.At))
		}
		waited := d.Op == verb.Wait && d.Ended.Seq != 0 && d.Err == nil
		if cfg.Burst > 0 || !waited && (d.Op != verb.Allow || !d.OK) {
			continue
		}
		// Some limiters take such a burst as 1.
		granted, at = granted+d.N, max(at, d.Ended.At)
		brought := new(big.Int).Mul(big.NewInt(int64(cfg.Rate.Events)), big.NewInt(int64(at)))
		brought.Div(brought, big.NewInt(int64(cfg.Rate.Per)))
		if brought.Add(brought, big.NewInt(1)).Cmp(big.NewInt(int64(granted))) < 0 {
			because := fmt.Sprintf("the burst is %d", cfg.Burst)
			if cfg.Burst == 0 {
				because += "; where 0 stands for a default, let New refuse it"
			}
			return x.broken(d.At, because,
				"%s had been granted by %s", timeline.Count(granted, "token"), timeline.Duration(at))
		}
	}
	return nil
}
