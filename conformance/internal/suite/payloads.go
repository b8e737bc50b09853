package suite

import (
	"fmt"
	"slices"
	"strings"

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
	different, ok := p.twice(schedules)
	equal, alsoOK := p.twice(alike)
	if !ok || !alsoOK {
		return nil, "a run made no progress"
	}
	for i, rec := range equal {
		if different[i] == nil || rec == nil {
			continue
		}
		want, got := nameless(different[i]), nameless(rec)
		if slices.Equal(want, got) {
			continue
		}
		_, at := apart(want, got)
		return &Violation{
			Headline: fmt.Sprintf("with equal payloads callbacks run at %s, want %s", instants(got), instants(want)),
			Because: fmt.Sprintf("with different payloads (%s) they run then, and payloads must not matter",
				different[i].Schedule),
			At:    at,
			Lanes: []Lane{{"want", want}, {"got", got}},
			Run:   rec,
		}, ""
	}
	return nil, ""
}

// twice runs each schedule twice, and returns what it recorded, nil for runs that differ.
func (p *Probe) twice(schedules []conformance.Schedule) (out []*Recording, ok bool) {
	out, ok = p.runAll(schedules, nil)
	again, alsoOK := p.runAll(schedules, nil)
	if !ok || !alsoOK {
		return nil, false
	}
	for i, rec := range again {
		if rec.LeftOut != "" || !slices.Equal(nameless(out[i]), nameless(rec)) {
			out[i] = nil
		}
	}
	return out, true
}

// nameless are the marks of the callbacks of a run, as if each had the payload 1.
func nameless(rec *Recording) []Mark {
	marks := FireMarks(rec)
	for i := range marks {
		marks[i] = Mark{At: marks[i].At, Text: FireMark(1)}
	}
	return marks
}

// instants are those of marks, in words.
func instants(marks []Mark) string {
	var at []string
	for _, m := range marks {
		at = append(at, timeline.Duration(m.At))
	}
	if at == nil {
		return "no instant"
	}
	return strings.Join(at, ", ")
}
