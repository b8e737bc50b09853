package quotatest

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

// The rules about the fields of an answer, each judged by what was really granted before
// it, and those about requests that must change nothing.

// field is one of an answer besides OK.
type field struct {
	is      Fields
	name    string
	of      func(a Answer) int64
	inWords func(n int64) string
	// allowed is what a correct limiter may answer at a step, nil if anything.
	allowed func(x *exam, s *step) *allowed
}

// allowed is from where to where a number may be that is answered, and why.
type allowed struct {
	least, most int64
	because     func() string
}

// fields are those of an answer, in the order in which they are told.
var fields = []field{
	{FieldRemaining, "Remaining", func(a Answer) int64 { return int64(a.Remaining) }, decimal, (*exam).remaining},
	{FieldReset, "ResetAfter", func(a Answer) int64 { return int64(a.ResetAfter) }, duration, (*exam).resetAfter},
	{FieldRetry, "RetryAfter", func(a Answer) int64 { return int64(a.RetryAfter) }, duration, (*exam).retryAfter},
}

func decimal(n int64) string  { return strconv.FormatInt(n, 10) }
func duration(n int64) string { return timeline.Duration(time.Duration(n)) }

// answers finds a wrong answer in some fields.
func (x *exam) answers(is Fields) *suite.Violation {
	for _, f := range fields {
		if f.is&is == 0 {
			continue
		}
		if found := cmp.Or(x.impossible(f), x.kept(f), x.answered(f)); found != nil {
			return found
		}
	}
	return nil
}

// impossible finds a number that can never remain.
func (x *exam) impossible(f field) *suite.Violation {
	if f.is != FieldRemaining || !x.complete() || !x.inOrder() && x.traits.BackTime == BackRewind {
		return nil
	}
	may := &allowed{0, int64(x.full()), x.atOnce}
	return x.each(f, func(_ int, d *conformance.Done) *allowed {
		if d.Op == verb.Fault || d.Answer.Err != nil {
			return nil
		}
		return may
	})
}

// neverAfter are the answers that stand for never, by what is declared.
var neverAfter = [...]struct{ least, most int64 }{
	RetryNegative: {math.MinInt64, -1},
	RetryForever:  {int64(century), math.MaxInt64},
	RetryZero:     {0, 0},
}

// retryNever judges the RetryAfter of what can never be granted.
func (x *exam) retryNever() *suite.Violation {
	if !x.judgeable() {
		return nil
	}
	r := neverAfter[x.traits.RetryNever]
	return x.each(fields[2], func(_ int, d *conformance.Done) *allowed {
		if d.Op != verb.Allow || d.N <= x.full() || d.OK {
			return nil
		}
		return &allowed{r.least, r.most, x.atOnce}
	})
}

// atOnce is why a request for more than the limit can never be granted.
func (x *exam) atOnce() string {
	return fmt.Sprintf("no more than %d are ever granted at once", x.full())
}

// each finds the first answer that is none of those that are allowed at its step, where some are.
func (x *exam) each(f field, allowed func(i int, d *conformance.Done) *allowed) *suite.Violation {
	for i := range x.Done {
		d := &x.Done[i]
		got, may := f.of(d.Answer), allowed(i, d)
		if may == nil || got >= may.least && got <= may.most {
			continue
		}
		said, want := f.inWords(got), f.inWords(may.least)
		switch {
		case may.least == math.MinInt64:
			want = "less than " + f.inWords(may.most+1)
		case may.most == math.MaxInt64:
			want += " or more"
		case may.least < may.most:
			want += " to " + f.inWords(may.most)
		}
		return x.broken(d.At, may.because(), "%s was answered with %s %s, want %s", d.Step, f.name, said, want)
	}
	return nil
}

// kept finds a request that was denied though the answer to the one before told that from so long after it on it would
// not be. No rounding excuses that: what is told is rounded up.
func (x *exam) kept(f field) *suite.Violation {
	if f.is == FieldRemaining || f.is == FieldReset && x.exact() || !x.traits.exact() || !x.ordinary() {
		return nil
	}
	var said *conformance.Done
	for i := range x.Done {
		d := &x.Done[i]
		if d.Op != verb.Allow {
			continue
		}
		if said != nil && said.Answer.Err == nil && !d.OK && d.Answer.Err == nil {
			after := f.of(said.Answer)
			about := f.is == FieldReset || said.N == d.N && !said.OK && after >= 0
			if about && int64(d.At-said.At) >= after {
				return x.otherwise(d, fmt.Sprintf("the answer at %s gave a %s of %s",
					timeline.Duration(said.At), f.name, f.inWords(after)))
			}
		}
		said = d
	}
	return nil
}

// answered finds an answer that is not allowed in any course that agrees with the run.
func (x *exam) answered(f field) (first *suite.Violation) {
	grain := x.grain()
	for _, c := range x.agreeing() {
		found := x.each(f, func(i int, d *conformance.Done) *allowed {
			s := &c.steps[i]
			unanswered := d.Answer.Err != nil || d.Op == verb.Fault || s.at > d.At
			if d.N > x.full() || s.ambiguous || unanswered || grain > 0 && s.model.straddles(d.At, grain) {
				return nil // a limiter may refuse the first at once, and the grain decides about the others
			}
			return f.allowed(x, s)
		})
		if found == nil {
			return nil
		}
		first = cmp.Or(first, found)
	}
	return first
}

// retryAfter is when a denied request fits. An estimate may be too long.
func (x *exam) retryAfter(s *step) *allowed {
	switch {
	case s.Op != verb.Allow || s.OK || x.exact() && s.fits || !x.exact() && !x.traits.exact():
		return nil
	case !x.exact():
		return &allowed{1, math.MaxInt64, func() string {
			return "the same request would be denied at " + timeline.Duration(s.At)
		}}
	}
	after := s.model.until(s.At, s.N)
	return x.told(after, func() string {
		return fmt.Sprintf("%d fit at %s, if nothing else is granted", s.N, timeline.Duration(s.At+after))
	})
}

// resetAfter is when the limiter decides like a new one. An estimate may be too long.
func (x *exam) resetAfter(s *step) *allowed {
	m := s.after(s.At)
	switch {
	case !x.exact() && !x.traits.exact():
		return nil
	case !x.exact():
		return &allowed{0, math.MaxInt64, func() string { return "" }}
	}
	after := m.until(s.At, m.limit)
	may := x.told(after, func() string {
		return "the limiter decides like a new one from " + timeline.Duration(s.At+after) + " on"
	})
	if m.edge == EdgeClosed { // it does right after
		may.least--
	}
	if after == 0 { // or when the window ends
		may.most = max(may.most, int64(m.window))
	}
	return may
}

// told is a time that is to be answered: as exact as is declared, or rounded up.
func (x *exam) told(after time.Duration, because func() string) *allowed {
	grain := x.grain()
	return &allowed{int64(after - grain), int64(after + grain + x.traits.Rounded), because}
}

// remaining is how many events more a limiter may say that it would grant, at any instant that it may read.
func (x *exam) remaining(s *step) *allowed {
	grain, least, most := x.grain(), x.full(), 0
	for _, off := range slices.Compact([]time.Duration{-grain, 0, grain}) {
		fewest, all := s.after(s.At + off).left(s.At + off)
		least, most = min(least, fewest), max(most, all)
	}
	return &allowed{int64(least), int64(most), func() string {
		return fmt.Sprintf("that many of %d are left", s.model.limit)
	}}
}

// left is from how many to how many events more a limiter may say that it would grant at t: those that fit, or if it
// estimates, one more or less than the estimate. A counter may count denied requests all, or some of them.
func (m *model) left(t time.Duration) (least, most int) {
	models := []*model{m}
	if m.counted && m.kind == SlidingCounter {
		models = append(models, m.capped())
	}
	least, most = m.limit, 0
	for _, each := range models {
		fewest, exact := each.whole(each.room(t))
		all := fewest
		if m.kind == SlidingCounter && each.estimates(t) {
			all++
			if exact {
				fewest--
			}
		}
		least, most = min(least, fewest), max(most, all)
	}
	return max(0, least), min(max(0, most), m.limit)
}

// leavesNoTrace judges a run by another one of the same schedule without the steps that drops selects, which are
// called so: no request after one of them is decided otherwise, if all others are usual requests.
func leavesNoTrace(
	what string, drops func(x *exam, d *conformance.Done) bool,
) func(*exam, suite.Rerun) *suite.Violation {
	return func(x *exam, again suite.Rerun) *suite.Violation {
		drop := func(d *conformance.Done) bool { return drops(x, d) }
		if mayRefuse(x.kind, x.Schedule.Config) || x.Refused != "" || x.Stuck || edge.Failed(&x.Trace) ||
			!x.inOrder() || len(x.Schedule.Steps) > 8 || x.opensUnusually() {
			return nil
		}
		for i := range x.Done {
			dropped := drop(&x.Done[i])
			if !dropped && !x.usual(x.Done[i]) || dropped && i == 0 && x.traits.Align == AlignCreation {
				return nil // windows may begin with the first request, whatever it asks for
			}
		}
		d, other, i := edge.Without(x.Recording, func(s conformance.Schedule) *suite.Recording {
			if x.source == conformance.PackageTime { // windows on the clock must begin where they did in this run
				window := x.Schedule.Config.Rate.Per
				time.Sleep(window - time.Since(x.Schedule.Config.Start())%window)
			}
			return again(s)
		}, drop)
		if d == nil {
			return nil
		}
		if c := x.other(other).course(); !x.traits.exact() && (c == nil || !c.steps[i].clear) {
			return nil // rounding decides, which may depend on earlier requests
		}
		return x.broken(d.At, "without "+what+" before it, the same limiter decides differently",
			"allow %d at %s: %s changed the outcome", d.N, timeline.Duration(d.At), what)
	}
}

// denied reports whether a request was denied that had to be. Had it to be granted, that is another mistake.
func (x *exam) denied(d *conformance.Done) bool {
	v := x.course()
	return v != nil && x.ordinary() && slices.ContainsFunc(v.steps, func(s step) bool {
		return s.Done == d && !d.OK && s.clear && !s.fits
	})
}

// large finds a request for more than the limit that was granted. Where the configuration
// makes no sense the limit is unclear.
func (x *exam) large() *suite.Violation {
	if mayRefuse(x.kind, x.Schedule.Config) {
		return nil
	}
	for _, d := range x.Done {
		if d.Op == verb.Allow && d.N > x.full() && d.OK {
			return x.otherwise(&d, x.atOnce())
		}
	}
	return nil
}

// remote is what the laws of limiters that ask others need to know of a run.
func (x *exam) remote() edge.Remote {
	return edge.Remote{Recording: x.Recording, Latency: x.traits.Latency, FailOpen: x.traits.Errors == FailOpen,
		Broken: x.broken}
}
