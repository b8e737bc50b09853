package suite

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/internal/timeline"
)

// OneClock is X-CLOCK1, for implementations on an injected clock: each of the schedules is run
// twice, the second time with package time moving on by an hour before each step, and shows the
// same marks.
func OneClock[T, E any](schedules func(s *Suite) []conformance.Schedule, marks func(rec *Recording) []Mark) Rule[T, E] {
	return Rule[T, E]{
		Rule: conformance.Rule{ID: "X-CLOCK1", Level: conformance.Core,
			Text: "Only the injected clock may have any influence."},
		Absent: injected[T]("package time can only be held in a bubble"),
		Cause:  true,
		Probe:  func(p *Probe) (*Violation, string) { return otherClock(p, schedules(p.Suite), marks) },
	}
}

// injected takes a rule out of force that is about an injected clock, in a bubble.
func injected[T any](noBubble string) func(s *Suite, _ T) string {
	return func(s *Suite, _ T) string {
		if s.Time != conformance.Injected {
			return "no clock is injected"
		}
		return If(!s.Bubble, noBubble)
	}
}

func otherClock(p *Probe, schedules []conformance.Schedule, marks func(rec *Recording) []Mark) (*Violation, string) {
	jumps := func(_ int, j *Job) { j.Jump = true }
	still, moved, skip := p.differ(way{schedules, nil}, way{schedules, jumps}, marks)
	if moved == nil {
		return nil, skip
	}
	return Unlike(moved, marks(still), marks(moved), "as it is while package time stands still",
		"package time moved on by an hour before each step, and Env.Clock did not"), ""
}

// Unlike is the violation of a run that shows other marks than are wanted.
func Unlike(run *Recording, want, got []Mark, as, because string) *Violation {
	k, at := apart(want, got)
	return &Violation{
		Headline: fmt.Sprintf("%s, want %s, %s", said(got, k), wanted(want, got, k), as),
		Because:  because,
		At:       at,
		Lanes:    []Lane{{Name: "want", Marks: want}, {Name: "got", Marks: got}},
		Run:      run,
	}
}

// way is how schedules are run: as changes the job of each, unless it is nil.
type way struct {
	schedules []conformance.Schedule
	as        func(i int, j *Job)
}

// differ runs schedules in two ways, which must show the same marks, and returns the runs of the first one for which
// they do not, nil if there is none. Where some more runs show in both ways the same, chance decides who goes first at
// one instant, and it does not count.
func (p *Probe) differ(one, other way, marks func(rec *Recording) []Mark) (first, second *Recording, skip string) {
	const more = 8
	ones, done := p.runAll(one)
	others, alsoDone := p.runAll(other)
	for i := 0; done && alsoDone && i < len(ones); i++ {
		first, second = ones[i], others[i]
		if first.LeftOut != "" || second.LeftOut != "" || slices.Equal(marks(first), marks(second)) {
			continue
		}
		var again, alsoAgain []*Recording
		again, done = p.runAll(way{slices.Repeat(one.schedules[i:i+1], more), one.as})
		alsoAgain, alsoDone = p.runAll(way{slices.Repeat(other.schedules[i:i+1], more), other.as})
		seen := slices.ContainsFunc(append(alsoAgain, second), func(rec *Recording) bool {
			as := func(o *Recording) bool { return slices.Equal(marks(rec), marks(o)) }
			return slices.ContainsFunc(append(again, first), as)
		})
		if done && alsoDone && !seen {
			return first, second, ""
		}
	}
	return nil, nil, If(!done || !alsoDone, "a run made no progress")
}

// apart returns which of the marks are the first that differ, and the earlier of their instants.
func apart(want, got []Mark) (k int, at time.Duration) {
	for k < min(len(want), len(got)) && want[k] == got[k] {
		k++
	}
	var instants []time.Duration
	for _, marks := range [][]Mark{want, got} {
		if k < len(marks) {
			instants = append(instants, marks[k].At)
		}
	}
	return k, slices.Min(instants)
}

// said is a mark in words.
func said(marks []Mark, k int) string {
	if k >= len(marks) {
		return "nothing more happened"
	}
	return marks[k].Of + " " + marks[k].Says + " at " + timeline.Duration(marks[k].At)
}

// wanted is how a mark that was wanted differs from what came, in words.
func wanted(want, got []Mark, k int) string {
	switch {
	case k >= len(want):
		return "nothing more"
	case k >= len(got) || want[k].Of != got[k].Of:
		return want[k].Of + " at " + timeline.Duration(want[k].At)
	case want[k].At == got[k].At:
		return strings.TrimPrefix(want[k].Says, "was ")
	case want[k].Says == got[k].Says:
		return timeline.Duration(want[k].At)
	}
	return strings.TrimPrefix(want[k].Says, "was ") + " at " + timeline.Duration(want[k].At)
}

// runAll runs each schedule once, and reports whether all have come to their ends.
func (p *Probe) runAll(w way) (out []*Recording, done bool) {
	jobs := make([]Job, len(w.schedules))
	for i, s := range w.schedules {
		if jobs[i].Schedule = s; w.as != nil {
			w.as(i, &jobs[i])
		}
	}
	h := p.Run(jobs, func(_ Job, rec *Recording) { out = append(out, rec) })
	return out, h == nil && len(out) == len(jobs)
}

// FireMarks are those of the callbacks of a run.
func FireMarks(rec *Recording) []Mark { return rec.Got().Marks }

// Answers are the marks of the answers to operations of one kind.
func Answers(op conformance.Op) func(rec *Recording) []Mark {
	return AnswersInFull(op, func(d conformance.Done) string { return Decided(d.OK) })
}

// AnswersInFull are those of answers that say more than yes or no.
func AnswersInFull(op conformance.Op, said func(d conformance.Done) string) func(rec *Recording) []Mark {
	return func(rec *Recording) (out []Mark) {
		for _, d := range rec.Done {
			if d.Op == op {
				of := fmt.Sprint(d.Op, " ", d.N)
				out = append(out, Mark{At: d.At, Text: Granted[d.OK], Of: of, Says: "was " + said(d)})
			}
		}
		return out
	}
}

// Alike runs schedules of events again with payloads that are all alike, 1. The same must come out
// at the same instants.
func Alike(p *Probe, schedules []conformance.Schedule) (*Violation, string) {
	alike := slices.Clone(schedules)
	for i, s := range alike {
		alike[i].Steps = slices.Clone(s.Steps)
		for j := range s.Steps {
			alike[i].Steps[j].N = 1
		}
	}
	different, equal, skip := p.differ(way{schedules, nil}, way{alike, nil}, nameless)
	if equal == nil {
		return nil, skip
	}
	want, got := nameless(different), nameless(equal)
	_, at := apart(want, got)
	return &Violation{
		Headline: fmt.Sprintf("with equal payloads callbacks run at %s, want %s", instants(got), instants(want)),
		Because: fmt.Sprintf("with different payloads (%s) they run then, and payloads must not matter",
			different.Schedule),
		At:    at,
		Lanes: []Lane{{Name: "want", Marks: want}, {Name: "got", Marks: got}},
		Run:   equal,
	}, ""
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
