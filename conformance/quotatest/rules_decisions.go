package quotatest

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

// decided finds the first decision that differs from the model's, if it breaks that law.
func (x *exam) decided(law string) *suite.Violation {
	v := x.view()
	if v == nil || !x.ordinary() || v.bad < 0 || v.law != law || x.movable() {
		return nil
	}
	return x.differs(v)
}

// differs tells of the decision that differs from the model's.
func (x *exam) differs(v *view) *suite.Violation {
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
	if !x.movable() || !x.wrong() {
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
	for _, field := range []struct {
		is   Fields
		name string
		of   any
	}{
		{FieldRemaining, "Remaining", d.Answer.Remaining},
		{FieldReset, "ResetAfter", timeline.Duration(d.Answer.ResetAfter)},
		{FieldRetry, "RetryAfter", timeline.Duration(d.Answer.RetryAfter)},
	} {
		if x.traits.Fields&field.is != 0 && !(field.is == FieldRetry && d.OK) {
			said += fmt.Sprintf(", %s %v", field.name, field.of)
		}
	}
	return said
}

// wrong reports whether a decision or an answer differs from the model's.
func (x *exam) wrong() bool {
	v := x.view()
	return v != nil && x.ordinary() && v.bad >= 0 ||
		x.traits.Fields&FieldRemaining != 0 && x.remain() != nil ||
		x.traits.Fields&FieldReset != 0 && x.reset() != nil ||
		x.traits.Fields&FieldRetry != 0 && x.traits.CountDenied != DeniedCounted && x.retry() != nil
}

// exact reports whether the model says when how many fit, and does not estimate it.
func (x *exam) exact() bool { return x.kind != SlidingCounter }

// twice looks for a period as long as a window in which more than twice the limit was
// granted.
func (x *exam) twice() *suite.Violation {
	if !x.ordinary() {
		return nil
	}
	cfg := x.Schedule.Config
	most := 2 * uint64(cfg.Rate.Events) // which need not be an int
	for i, a := range x.Done {
		sum := uint64(0)
		for _, b := range x.Done[i:] {
			if b.At-a.At >= cfg.Rate.Per-2*x.grain() { // either may be off by the grain
				break
			}
			if b.OK && b.Answer.Err == nil { // what fails open is not counted
				sum += uint64(b.N)
			}
			if sum > most {
				because := fmt.Sprintf("the limit is %d in %s", cfg.Rate.Events, timeline.Duration(cfg.Rate.Per))
				return x.broken(b.At, because, "%d were granted from %s to %s, want %d at the most",
					sum, timeline.Duration(a.At), timeline.Duration(b.At), most)
			}
		}
	}
	return nil
}

// backInWindows bounds what windows may grant if instants go back: the limit in each
// window that the instants span, and in one more window before and after them.
func (x *exam) backInWindows() *suite.Violation {
	cfg := x.Schedule.Config
	return x.bounded(func(span time.Duration) int { return cfg.Rate.Events * (int(span/cfg.Rate.Per) + 2) })
}

// backInBucket bounds what GCRA may grant if instants go back: the burst, and an event for
// each interval that the instants span.
func (x *exam) backInBucket() *suite.Violation {
	cfg := x.Schedule.Config
	return x.bounded(func(span time.Duration) int {
		return cfg.Burst + int(span/(cfg.Rate.Per/time.Duration(cfg.Rate.Events)))
	})
}

// bounded finds the first step by which more is granted than may be granted in the time
// that the instants so far span.
func (x *exam) bounded(most func(span time.Duration) int) *suite.Violation {
	if x.Refused != "" || x.Stuck || x.inOrder() || len(x.Done) == 0 {
		return nil
	}
	sum := 0
	lo, hi := x.Done[0].At, x.Done[0].At
	for i, d := range x.Done {
		lo, hi = min(lo, d.At), max(hi, d.At)
		if d.OK && d.N > 0 {
			sum += d.N
		}
		if limit := most(hi - lo + 2*x.grain()); sum > limit { // either end may be off by the grain
			because := fmt.Sprintf("all instants lie between %s and %s; an earlier one adds nothing",
				timeline.Duration(lo), timeline.Duration(hi))
			return x.broken(d.At, because, "%d were granted by step %d, want %d at the most", sum, i+1, limit)
		}
	}
	return nil
}

func (x *exam) calls() *suite.Violation {
	if mayRefuse(x.kind, x.Schedule.Config) && !x.Stuck {
		return nil // X-CFG says what comes of it
	}
	for _, d := range x.Done {
		unusual := d.Op == verb.Allow && (!x.usual(d) || d.N != 1 && x.traits.OneAtATime)
		if d.Panic != "" && !unusual {
			return x.broken(d.At, "", "%s panicked: %s", d.Step, d.Panic)
		}
		if d.Ended.Seq == 0 && x.Stuck {
			return x.broken(d.At, "", "%s never returned", d.Step)
		}
	}
	if x.Refused != "" {
		return suite.Broken(0, "", "the constructor panicked with %s: %s", x.Schedule.Config, x.Refused)
	}
	return nil
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
	if !mayRefuse(x.kind, x.Schedule.Config) || x.Refused != "" || x.Stuck {
		return nil
	}
	for i, d := range x.Done {
		if d.Panic != "" {
			return x.broken(d.At, "the constructor accepted it", "%s panicked: %s", d.Step, d.Panic)
		}
		if found := x.unlimited(x.Done[i:]); found != nil {
			return found
		}
		if !d.OK && d.Answer.Err == nil && x.mustFit(i) {
			because := fmt.Sprintf("the constructor accepted %s, and nothing had been granted for long enough",
				x.Schedule.Config)
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

// unlimited finds the step by which more is granted than any limiter of the configuration
// may grant.
func (x *exam) unlimited(steps []conformance.Done) *suite.Violation {
	cfg, d, sum := x.Schedule.Config, steps[0], 0
	for _, o := range steps {
		if o.Op != verb.Allow || !o.OK || !d.OK || cfg.Rate.Events == 0 {
			continue
		}
		most := big.NewInt(int64(2 * cfg.Rate.Events)) // as FW-2N has it
		if x.kind == GCRA {
			most.Mul(big.NewInt(int64(cfg.Rate.Events)), big.NewInt(int64(o.At-d.At)))
			most.Div(most, big.NewInt(int64(cfg.Rate.Per)))
			most.Add(most, big.NewInt(int64(max(1, cfg.Burst)))) // some limiters take a burst of 0 as 1
		} else if o.At-d.At >= cfg.Rate.Per {
			continue
		}
		if sum += o.N; big.NewInt(int64(sum)).Cmp(most) > 0 {
			because := fmt.Sprintf("the constructor accepted %s, which allows %s there", cfg, most)
			return x.broken(o.At, because, "%d were granted from %s to %s, want %s at the most",
				sum, timeline.Duration(d.At), timeline.Duration(o.At), most)
		}
	}
	return nil
}
