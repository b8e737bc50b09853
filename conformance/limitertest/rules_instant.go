package limitertest

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

// instantRules are the laws of instants that go back, or are far from the others.
func instantRules() []rule {
	return []rule{
		{
			Rule: core("RL-PAST",
				"A request at an instant before the newest MUST NOT add tokens: all grants between the earliest "+
					"and the newest instant stay within the envelope. With BackClamp it MUST be decided as if "+
					"it came at the newest instant, and MUST NOT cost tokens that it was not granted."),
			Ops: ops(verb.Allow), Declared: []string{"BackTime"},
			Unless:  cannotGoBack,
			About:   func(j suite.Job) bool { return suite.GoesBack(j.Schedule) },
			Unusual: suite.GoesBack,
			Check:   (*exam).past,
		},
		{
			Rule: core("RL-EPOCH", "Decisions MUST NOT depend on the time at which the clock starts."),
			Unless: func(s *suite.Suite, _ *Traits) string {
				return suite.If(s.Time == PackageTime, "package time always starts at the same instant")
			},
			About: func(j suite.Job) bool { return j.Schedule.Config.Has("epoch") },
			Again: (*exam).epoch,
		},
	}
}

var pastQuery = rule{
	Rule: core("RL-PASTQ", "A query about an instant before the newest MUST NOT show more tokens than at the "+
		"newest."),
	Ops: ops(verb.Tokens), Declared: []string{"BackTime"},
	Unless: cannotGoBack,
	About:  suite.Has(verb.Tokens),
	Check:  (*exam).pastQuery,
}

// cannotGoBack takes rules about instants that go back out of force.
func cannotGoBack(s *suite.Suite, t *Traits) string {
	switch {
	case s.Time != Explicit:
		return "only explicit instants can go back"
	case t.BackTime == BackRewind:
		return "declared: BackRewind"
	}
	return ""
}

func (x *exam) past() *suite.Violation {
	if !x.made() || x.judgeable() || x.Schedule.Config.Rate.Events <= 0 {
		return nil
	}
	if v := x.deniedEarlier(); v != nil {
		return v
	}
	if v := x.unlikeNewest(); v != nil {
		return v
	}
	a := x.account()
	sum, unpaid := 0, 0
	lo, hi := time.Duration(math.MaxInt64), time.Duration(math.MinInt64)
	rate, burst := x.Schedule.Config.Rate, x.Schedule.Config.Burst // the highest so far
	now := burst
	for i, s := range x.Done {
		lo, hi = min(lo, s.At), max(hi, s.At)
		if s.Op == verb.SetBurst {
			now = s.N
		}
		switch {
		case s.Op == verb.SetLimit && above(s.Rate, rate):
			rate = s.Rate
		case s.Op == verb.SetBurst && s.N > burst:
			if burst = s.N; x.traits.OnBurstRaised != RaiseBringsNothing {
				return nil
			}
		}
		if rate == Inf || rate.Per <= 0 {
			return nil
		}
		if s.Op != verb.Allow || !s.OK || s.N < 1 || s.N > now && !x.traits.Overdraft {
			continue
		}
		if x.traits.Overdraft {
			unpaid = max(unpaid, s.N)
		}
		if sum += s.N; sum-unpaid <= burst {
			continue
		}
		most := a.sum(a.times(a.flowOf(rate), int64(hi-lo)), a.tokens(burst+unpaid))
		if a.tokens(sum).Cmp(a.sum(most, a.tolerance)) > 0 {
			return x.broken(s.At,
				fmt.Sprintf("all instants lie between %s and %s; an earlier one adds no time",
					timeline.Duration(lo), timeline.Duration(hi)),
				"%d tokens were granted by step %d, want %s at the most", sum, i+1, number(a.float(most)))
		}
	}
	return nil
}

// deniedEarlier looks for a request about an earlier instant that is denied though less was granted so
// far than there was at first, where it counts as made at the newest instant.
func (x *exam) deniedEarlier() *suite.Violation {
	burst, sum, newest := x.Schedule.Config.Burst, 0, time.Duration(math.MinInt64)
	first := x.traits.initial(burst)
	if x.traits.BackTime != BackClamp || x.traits.Initial == 0 || x.traits.scale() > 0 {
		return nil
	}
	for _, d := range x.Done {
		if d.Op != verb.Allow {
			return nil
		}
		if newest = max(newest, d.At); d.N < 1 || d.N > burst {
			continue
		}
		switch {
		case d.OK:
			sum += d.N
		case d.At < newest && sum+d.N <= first:
			return x.broken(d.At, fmt.Sprintf("BackClamp is declared: the newest instant stands, and of the "+
				"first %d tokens only %d were granted before", first, sum),
				"allow %d at %s, after %s, was denied, want granted", d.N, timeline.Duration(d.At),
				timeline.Duration(newest))
		}
	}
	return nil
}

// unlikeNewest looks for a difference from the account of the same steps, each at the newest instant so far, where
// that is what an earlier one counts as. What takes nothing may leave no trace of its instant, so that nothing can be
// judged about one between it and the newest before. Nor can anything after a reservation about an earlier instant:
// its delay may be from that, or from the newest.
func (x *exam) unlikeNewest() *suite.Violation {
	cfg := x.Schedule.Config
	if x.traits.BackTime != BackClamp || cfg.Rate.Extreme() || cfg.Burst < 1 || !x.counted() {
		return nil
	}
	tr := x.Trace
	tr.Done = slices.Clone(tr.Done)
	newest, maybe := time.Duration(math.MinInt64), time.Duration(math.MinInt64)
	for i := range tr.Done {
		d := &tr.Done[i]
		if d.At < maybe && (maybe > newest || d.Op == verb.Reserve) {
			tr.Done = tr.Done[:i]
			break
		}
		maybe = max(maybe, d.At)
		d.At = maybe
		if leavesTrace(d) {
			newest = maybe
		}
	}
	if d := accounted(&tr, x.traits); d != nil {
		return x.broken(d.at, "BackClamp is declared: an earlier instant counts as the newest one; "+d.because,
			"%s", d.headline)
	}
	return nil
}

// leavesTrace reports whether a step takes tokens, or sets something.
func leavesTrace(d *conformance.Done) bool {
	switch d.Op {
	case verb.Allow, verb.Reserve:
		return d.OK && d.N > 0
	case verb.SetLimit, verb.SetBurst:
		return true
	}
	return false
}

func (x *exam) pastQuery() *suite.Violation {
	if !x.made() || x.forward() {
		return nil
	}
	for i, d := range x.Done {
		if d.Op != verb.Tokens {
			continue
		}
		for _, later := range x.Done[i+1:] {
			if later.Op != verb.Tokens {
				break
			}
			if later.At > d.At && d.Tokens > later.Tokens+1e-9*float64(x.Schedule.Config.Burst) {
				return x.broken(d.At, "time brings tokens and takes none",
					"Tokens at %s are %s, more than the %s of %s",
					timeline.Duration(d.At), number(d.Tokens), number(later.Tokens), timeline.Duration(later.At))
			}
		}
	}
	return nil
}

func (x *exam) epoch(again suite.Rerun) *suite.Violation {
	if !x.plain() || !x.Schedule.Config.Has("epoch") || x.traits.Fair != FairFIFO && len(numbers(&x.Trace)) > 1 {
		return nil // of several who wait, any may be served
	}
	other := again(conformance.Schedule{Config: x.Schedule.Config.Without("epoch"),
		Steps: slices.Clone(x.Schedule.Steps)})
	for i, d := range x.Done {
		if x.traits.Latency > 0 && !x.clear(&x.Done[i]) {
			continue // it may be decided, and answered, at other instants
		}
		if i < len(other.Done) && (d.OK != other.Done[i].OK || d.Ended.At != other.Done[i].Ended.At) {
			got, want := "was "+suite.Decided(d.OK), suite.Decided(other.Done[i].OK)
			if d.OK == other.Done[i].OK {
				got, want = "returned at "+timeline.Duration(d.Ended.At), timeline.Duration(other.Done[i].Ended.At)
			}
			usual := conformance.Config{}.Start().Format(time.RFC3339)
			return x.broken(d.At, "that is what comes of it if the clock starts at "+usual,
				"%s %d at %s with the clock starting at %s %s, want %s",
				d.Op, d.N, timeline.Duration(d.At), x.Schedule.Config.Epoch.Format(time.RFC3339), got, want)
		}
	}
	return nil
}
