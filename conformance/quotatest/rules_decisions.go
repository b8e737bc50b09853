package quotatest

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

// decided finds the first decision that differs from the model's, if it breaks that law.
func (x *exam) decided(law string) *suite.Violation {
	if v := x.course(); v == nil || v.law != law || x.movable() {
		return nil
	}
	return x.differs()
}

// differs finds the first decision that differs from the model's.
func (x *exam) differs() *suite.Violation {
	v := x.course()
	if v == nil || v.bad < 0 || !x.ordinary() {
		return nil
	}
	s := v.steps[v.bad]
	return x.otherwise(s.Done, s.because())
}

// otherwise tells of a request that should have been decided otherwise.
func (x *exam) otherwise(d *conformance.Done, because string) *suite.Violation {
	return x.broken(d.At, because, "allow %d at %s was %s, want %s",
		d.N, timeline.Duration(d.At), suite.Decided(d.OK), suite.Decided(!d.OK))
}

// movable reports whether the schedule starts at an instant of its own, but where the windows of the
// clock are those of the usual start: RL-EPOCH then judges what is answered.
func (x *exam) movable() bool {
	cfg, align := x.Schedule.Config, x.traits.Align
	return cfg.Has("epoch") && into(align, cfg) == into(align, cfg.Without("epoch"))
}

// unmoved makes a check that leaves to RL-EPOCH what starts at an instant of its own.
func unmoved(check func(*exam) *suite.Violation) func(*exam) *suite.Violation {
	return func(x *exam) *suite.Violation {
		if x.movable() {
			return nil
		}
		return check(x)
	}
}

// epoch finds the first answer that is another where the clock starts as usual, in a trace with one
// that is wrong.
func (x *exam) epoch(again suite.Rerun) *suite.Violation {
	if !x.movable() || x.differs() == nil && x.answers(x.traits.judged()) == nil {
		return nil
	}
	cfg := x.Schedule.Config
	other := again(conformance.Schedule{Config: cfg.Without("epoch"), Steps: slices.Clone(x.Schedule.Steps)})
	for i := range min(len(x.Done), len(other.Done)) {
		d := x.Done[i]
		got, want := x.said(d), x.said(other.Done[i])
		if got == want {
			continue
		}
		because := "that is the answer if the clock starts at " + conformance.Config{}.Start().Format(time.RFC3339)
		return x.broken(d.At, because, "allow %d at %s with the clock starting at %s was %s; want %s",
			d.N, timeline.Duration(d.At), cfg.Epoch.Format(time.RFC3339), got, want)
	}
	return nil
}

// said is an answer in words, as far as it is declared.
func (x *exam) said(d conformance.Done) string {
	said := suite.Decided(d.OK)
	for _, f := range fields {
		if x.traits.Fields&f.is != 0 && !(f.is == FieldRetry && d.OK) {
			said += fmt.Sprintf(", %s %s", f.name, f.inWords(f.of(d.Answer)))
		}
	}
	return said
}

// judged are the declared fields that are judged: when a request is granted is open if those that are denied count.
func (tr *Traits) judged() Fields {
	if tr.CountDenied == DeniedCounted {
		return tr.Fields &^ FieldRetry
	}
	return tr.Fields
}

// exact reports whether the model says when how many fit, and does not estimate it.
func (x *exam) exact() bool { return x.kind != SlidingCounter }

// most bounds what any limiter of a configuration grants in a time: the limit for each whole window in it and for one
// more at each end; of GCRA the burst, and what the rate brings.
func most(kind Kind, cfg conformance.Config, span time.Duration) uint64 {
	if kind != GCRA {
		return uint64(cfg.Rate.Events) * uint64(span/cfg.Rate.Per+2)
	}
	hi, lo := bits.Mul64(uint64(cfg.Rate.Events), uint64(span))
	if hi >= uint64(cfg.Rate.Per) {
		return math.MaxUint64
	}
	brings, _ := bits.Div64(hi, lo, uint64(cfg.Rate.Per))
	return brings + uint64(max(1, cfg.Burst)) // some limiters take a burst of 0 as 1
}

// exceeds finds the first of some steps by which more was granted than there is in the time that their instants span.
// Either end may be off by the grain, of usual configurations. Spans as long as longest are not judged.
func (x *exam) exceeds(
	steps []conformance.Done, longest time.Duration, because string, args ...any,
) *suite.Violation {
	cfg, grain, sum := x.Schedule.Config, x.grain(), uint64(0)
	if mayRefuse(x.kind, cfg) {
		grain = 0 // whoever accepts that is to be as good as its numbers
	}
	lo, hi := steps[0].At, steps[0].At
	for i := range steps {
		d := &steps[i]
		lo, hi = min(lo, d.At), max(hi, d.At)
		span := hi - lo + 2*grain
		if span >= longest {
			break
		}
		if !d.OK || d.N < 1 || d.Answer.Err != nil { // what fails open is not counted
			continue
		}
		sum += uint64(d.N)
		if most := most(x.kind, cfg, span); sum > most {
			return x.broken(d.At, fmt.Sprintf(because, args...), "%d were granted from %s to %s, want %d at the most",
				sum, timeline.Duration(lo), timeline.Duration(hi), most)
		}
	}
	return nil
}

// twice looks for a period as long as a window in which more than twice the limit was
// granted.
func (x *exam) twice() *suite.Violation {
	if !x.ordinary() {
		return nil
	}
	r := x.Schedule.Config.Rate
	for i := range x.Done {
		if found := x.exceeds(x.Done[i:], r.Per, "the limit is %d in %s", r.Events, r.Per); found != nil {
			return found
		}
	}
	return nil
}

// past judges a run whose instants go back by the courses in which each step counts as at the newest instant so far.
// At an older one a limiter may grant less than at the newest, so that only who asks at the newest must be granted what
// fits.
func (x *exam) past() *suite.Violation {
	if !x.complete() || x.inOrder() || len(x.Done) == 0 {
		return nil
	}
	var open []*course // those in which everything that was granted fits
	worst := -1
	var at step
	for _, c := range x.back() {
		i := slices.IndexFunc(c.steps, func(s step) bool {
			return s.Op == verb.Allow && s.N <= x.full() && s.OK && s.clear && !s.fits
		})
		if i < 0 {
			open = append(open, c)
		} else if i > worst {
			worst, at = i, c.steps[i]
		}
	}
	switch {
	case open == nil && !x.beyondJudgement():
		return x.otherwise(&x.Done[worst], at.because()+" at the newest instant so far")
	case open == nil || x.asks(func(d conformance.Done) bool { return !x.usual(d) }) || x.counts():
		return nil
	}
	newest := x.Done[0].At
	for i, d := range x.Done {
		old := d.At < newest
		newest = max(newest, d.At)
		denies := func(c *course) bool { return !c.steps[i].clear || !c.steps[i].fits }
		if !d.OK && !old && !slices.ContainsFunc(open, denies) {
			return x.otherwise(&d, open[0].steps[i].because()+": no instant is newer")
		}
	}
	return nil
}

// beyondJudgement reports whether it is unclear what steps that take nothing do beside making their
// instants the newest.
func (x *exam) beyondJudgement() bool {
	unusual := func(d conformance.Done) bool { return d.Op != verb.Allow || d.N > x.full() }
	opens := x.kind == FixedWindow && x.traits.Align == AlignFirstUse
	return x.asks(func(d conformance.Done) bool { return d.Op == verb.Allow && d.N < 1 }) ||
		(opens || x.counts()) && x.asks(unusual)
}

// bounded finds a step by which more is granted than in the time that the instants so far span, if some go back.
func (x *exam) bounded() *suite.Violation {
	if x.Refused != "" || x.Stuck || x.inOrder() || len(x.Done) == 0 {
		return nil
	}
	return x.exceeds(x.Done, math.MaxInt64, "all instants lie there; an earlier one adds nothing")
}

func (x *exam) calls() *suite.Violation {
	if mayRefuse(x.kind, x.Schedule.Config) && !x.Stuck {
		return nil // X-CFG says what comes of it
	}
	unusual := func(d *conformance.Done) bool {
		return d.Op == verb.Allow && (!x.usual(*d) || d.N != 1 && x.traits.OneAtATime)
	}
	return x.Misdone(false, unusual, false, x.broken)
}

// mayRefuse reports whether a constructor may refuse a configuration, because it makes no
// sense or its numbers are out of the range of most implementations: an interval of GCRA
// that is rounded to 0, or so long that a burst of them is no Duration; a window of a
// nanosecond. An implementation that accepts such a configuration is judged by X-CFG only.
func mayRefuse(kind Kind, cfg conformance.Config) bool {
	per, events := cfg.Rate.Per, time.Duration(cfg.Rate.Events)
	if kind == GCRA {
		return events < 1 || cfg.Burst < 1 || cfg.Burst >= 1<<30 || per < events ||
			per/events > math.MaxInt64/8/time.Duration(cfg.Burst)
	}
	return events < 1 || per < 2 || per > math.MaxInt64/8
}

// config judges limiters whose configuration makes no sense. A limit of 0 is not judged,
// as some document that it means no limit.
func (x *exam) config() *suite.Violation {
	cfg, longest := x.Schedule.Config, x.Schedule.Config.Rate.Per
	if !mayRefuse(x.kind, cfg) || x.Refused != "" || x.Stuck {
		return nil
	}
	if x.kind == GCRA {
		longest = math.MaxInt64
	}
	for i, d := range x.Done {
		if d.Panic != "" {
			return x.broken(d.At, "the constructor accepted it", "%s panicked: %s", d.Step, d.Panic)
		}
		if d.OK && cfg.Rate.Events != 0 {
			if found := x.exceeds(x.Done[i:], longest, "the constructor accepted %s", cfg); found != nil {
				return found
			}
		}
		if !d.OK && d.Answer.Err == nil && x.mustFit(i) {
			because := fmt.Sprintf("the constructor accepted %s, and nothing had been granted for long enough", cfg)
			return x.otherwise(&d, because)
		}
	}
	return nil
}

// mustFit reports whether a request for one is the first, or comes so long after the one before
// it that any limiter of the configuration has room for it.
func (x *exam) mustFit(i int) bool {
	cfg, d := x.Schedule.Config, x.Done[i]
	if d.Op != verb.Allow || d.N != 1 || cfg.Rate.Events < 1 || x.kind == GCRA && cfg.Burst < 1 {
		return false
	}
	if i == 0 {
		return true
	}
	idle := d.At - x.Done[i-1].At
	if x.kind == GCRA {
		return idle-x.grain() > cfg.Rate.Per/time.Duration(cfg.Rate.Events)
	}
	return (idle-x.grain())/2 > cfg.Rate.Per // in two windows all of an estimate has faded
}
