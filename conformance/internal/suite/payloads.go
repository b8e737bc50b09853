package suite

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/internal/timeline"
)

// Alike runs schedules of events again with payloads that are all alike, 1. The same must come out
// at the same instants. What does not come out the same twice shows nothing.
func Alike(p *Probe, schedules []conformance.Schedule) (*Violation, string) {
	alike := slices.Clone(schedules)
	for i, s := range alike {
		alike[i].Steps = slices.Clone(s.Steps)
		for j := range s.Steps {
			alike[i].Steps[j].N = 1
		}
	}
	want, ok := p.twice(schedules)
	got, alsoOK := p.twice(alike)
	if !ok || !alsoOK {
		return nil, "a run made no progress"
	}
	for i, rec := range got {
		if want[i] == nil || rec == nil || sameInstants(want[i], rec) {
			continue
		}
		lanes := []Lane{want[i].Got(), rec.Got()}
		lanes[0].Name = "want"
		for j := range lanes[0].Marks {
			lanes[0].Marks[j].Text = FireMark(1)
		}
		return &Violation{
			Headline: fmt.Sprintf("with equal payloads callbacks run at %s, want %s", instants(rec), instants(want[i])),
			Because:  want[i].Schedule.String() + " brings that, and an event is one whatever its payload is",
			At:       apart(want[i].Fires, rec.Fires),
			Lanes:    lanes,
			Run:      rec,
		}, ""
	}
	return nil, ""
}

// twice runs each schedule twice, and returns what it recorded, nil for runs that differ.
func (p *Probe) twice(schedules []conformance.Schedule) (out []*Recording, ok bool) {
	var jobs []Job
	for _, s := range schedules {
		jobs = append(jobs, Job{Schedule: s}, Job{Schedule: s})
	}
	var first *Recording
	hang := p.Run(jobs, func(_ Job, rec *Recording) {
		if first == nil {
			first = rec
			return
		}
		if rec.LeftOut != "" || !sameInstants(first, rec) {
			first = nil
		}
		out, first = append(out, first), nil
	})
	return out, hang == nil && len(out) == len(schedules)
}

// sameInstants reports whether callbacks ran at the same instants.
func sameInstants(a, b *Recording) bool {
	return slices.EqualFunc(a.Fires, b.Fires, func(f, g conformance.Fire) bool { return f.Began.At == g.Began.At })
}

// instants are those at which callbacks ran, in words.
func instants(r *Recording) string {
	var at []string
	for _, f := range r.Fires {
		at = append(at, timeline.Duration(f.Began.At))
	}
	if at == nil {
		return "no instant"
	}
	return strings.Join(at, ", ")
}

// apart is the first instant at which one callback ran and the other did not.
func apart(a, b []conformance.Fire) time.Duration {
	for i := range min(len(a), len(b)) {
		if s, t := a[i].Began.At, b[i].Began.At; s != t {
			return min(s, t)
		}
	}
	longer := a
	if len(b) > len(a) {
		longer = b
	}
	return longer[min(len(a), len(b))].Began.At
}
