package edge

import (
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

// What the contracts of limiters and quotas share, beside keys. Limiters that ask others have requests that take time,
// and some are answered by an error.

// Remote is what the laws of such limiters need to know of a run.
type Remote struct {
	*suite.Recording
	Latency  time.Duration // the most that a request may take
	FailOpen bool          // a request that fails is granted
	// Broken makes a violation.
	Broken func(at time.Duration, because, headline string, args ...any) *suite.Violation
}

// RemoteRules are the laws of such limiters.
func RemoteRules[T, E any](of func(e E) Remote) []suite.Rule[T, E] {
	allow := []conformance.Op{verb.Allow}
	return []suite.Rule[T, E]{
		{
			Rule: suite.Extended("X-ERR", "A request whose answer is an error MUST be granted or denied, as declared."),
			Ops:  allow, Declared: []string{"Errors"},
			Sees:  func(e E) bool { return Failed(&of(e).Trace) },
			Check: func(e E) *suite.Violation { return of(e).wronglyDecided() },
		},
		{
			Rule: suite.Extended("X-LATENCY", "A request MUST NOT take longer than the declared latency."),
			Ops:  allow, Declared: []string{"Latency"},
			Check: func(e E) *suite.Violation { return of(e).late() },
		},
	}
}

// Failed reports whether an answer was an error.
func Failed(tr *conformance.Trace) bool {
	for i := range tr.Done { // without a copy of each, as many rules ask of each run
		if tr.Done[i].Answer.Err != nil {
			return true
		}
	}
	return false
}

// wronglyDecided finds a request that failed and got something else than is declared.
func (r Remote) wronglyDecided() *suite.Violation {
	for _, d := range r.Done {
		if d.Answer.Err != nil && d.OK != r.FailOpen {
			return r.Broken(d.At, "its answer was an error: "+d.Answer.Err.Error(), "allow %d at %s was %s, want %s",
				d.N, timeline.Duration(d.At), suite.Decided(d.OK), suite.Decided(r.FailOpen))
		}
	}
	return nil
}

// late finds a request that took too long. A wait may.
func (r Remote) late() *suite.Violation {
	for _, d := range r.Done {
		took := d.Ended.At - d.Began.At
		if d.Ended.Seq != 0 && took > r.Latency && d.Op != verb.Wait {
			return r.Broken(d.At, "", "%s took %s, want %s at the most",
				d.Step, timeline.Duration(took), timeline.Duration(r.Latency))
		}
	}
	return nil
}

// Longest is the most time that a request took.
func Longest(tr *conformance.Trace) (most time.Duration) {
	for _, d := range tr.Done {
		if d.Ended.Seq != 0 {
			most = max(most, d.Ended.At-d.Began.At)
		}
	}
	return most
}

// Without plays the schedule of a run again without the steps that drop selects, and finds the first request after one
// of them that is then decided otherwise: in the other run it is that at a place. It returns nil if there is none.
func Without(rec *suite.Recording, again suite.Rerun, drop func(d *conformance.Done) bool) (
	changed *conformance.Done, other *suite.Recording, place int,
) {
	plan := conformance.Schedule{Config: rec.Schedule.Config}
	var kept []*conformance.Done
	matters := false
	for i := range rec.Done {
		if d := &rec.Done[i]; !drop(d) {
			matters = matters || len(kept) < i
			kept, plan.Steps = append(kept, d), append(plan.Steps, d.Step)
		}
	}
	if !matters || len(rec.Done) != len(rec.Schedule.Steps) {
		return nil, nil, 0
	}
	other = again(plan)
	for i, d := range kept[:min(len(kept), len(other.Done))] {
		if d.Op == verb.Allow && d.OK != other.Done[i].OK {
			return d, other, i
		}
	}
	return nil, nil, 0
}
