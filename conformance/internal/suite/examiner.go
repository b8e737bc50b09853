package suite

import (
	"hash/crc32"
	"slices"
	"testing"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/internal/twins"
)

// examiner is the [conformance.Judge] of a contract.
type examiner[T, E any] struct {
	e *engine[T, E]
	// leaks says that something was left behind, so that each run looks for it. Otherwise
	// only one schedule in eight is looked at, chosen by its text, as a look takes longer
	// than a run.
	leaks bool
}

// NewExaminer looks at the implementation as Run does before it explores.
func NewExaminer[T, E any](t *testing.T, about About, c Contract[T, E]) conformance.Judge {
	t.Helper()
	defer turn()()
	e := newEngine(t, about, c, inside.Options{})
	if why := e.unfit(); why != "" {
		t.Skip("conformance: " + why)
	}
	e.single = true
	e.lab.last = newLast(t, e.pkg)
	t.Cleanup(e.lab.last.close)
	if e.prepare(); e.refused != "" {
		t.Fatal("conformance: CANARY: " + e.panicked())
	}
	if why := e.c.Canary(e.Suite); why != "" {
		t.Fatal("conformance: CANARY: " + why)
	}
	return &examiner[T, E]{e: e}
}

// Kind returns the contract's name.
func (j *examiner[T, E]) Kind() string { return j.e.profile.Kind }

// Time returns how the implementation takes its time.
func (j *examiner[T, E]) Time() conformance.TimeSource { return j.e.Suite.Time }

// Accepts asks the suite.
func (j *examiner[T, E]) Accepts(op conformance.Op) bool { return j.e.Suite.Accepts(op) }

// Twins asks the contract.
func (j *examiner[T, E]) Twins() twins.Terms { return j.e.c.(Drawing).Twins(j.e.Suite) }

// Draw draws a schedule.
func (j *examiner[T, E]) Draw(pick func(label string, n int) int) conformance.Schedule {
	return j.e.c.(Drawing).Draw(j.e.Suite, pick)
}

// Fits asks the contract.
func (j *examiner[T, E]) Fits(s conformance.Schedule) bool {
	return j.e.c.(Drawing).Fits(j.e.Suite, s)
}

// Run runs a schedule and judges it.
func (j *examiner[T, E]) Run(s conformance.Schedule) []conformance.Violation {
	e := j.e
	e.T.Helper()
	defer turn()()
	e.reset()
	if why := e.lacks(s); why != "" {
		e.T.Fatalf("conformance: Run: %s", why)
	}
	if slices.ContainsFunc(e.about.Known, func(k conformance.Known) bool { return e.unusual(k.Rule, s) }) {
		return nil
	}
	look := j.leaks || crc32.ChecksumIEEE([]byte(s.String()))%8 == 0
	e.explore(Family{Name: e.familyOf(s), Schedules: []conformance.Schedule{s}, Look: look})
	var out []conformance.Violation
	for _, r := range e.rules {
		f := e.findings[r.ID]
		if f == nil || r.Level == conformance.Provisional {
			continue
		}
		f.settleChances()
		known := func(k conformance.Known) bool { return k.Rule == r.ID }
		if f.worst != nil && slices.ContainsFunc(e.about.Known, known) {
			return nil
		}
		if f.worst != nil {
			j.leaks = j.leaks || r.ID == "X-LEAK"
			text := func() string { return e.text(r, f.worst) }
			out = append(out, conformance.Violation{Rule: r.ID, Headline: f.worst.Headline, Text: text})
		}
	}
	if e.unfinished != nil && len(out) == 0 && !e.expected(s) {
		e.T.Errorf("conformance: %s", e.couldNot(aSchedule, "", e.unfinished.what))
	}
	return out
}

// expected reports whether a schedule is known to make no progress.
func (e *engine[T, E]) expected(s conformance.Schedule) bool {
	return slices.ContainsFunc(e.about.Known, func(k conformance.Known) bool {
		return k.Inconclusive && (k.Schedule == "" || k.Schedule == s.String())
	})
}

// unusual reports whether a schedule has the unusual input that a rule is about.
func (e *engine[T, E]) unusual(id string, s conformance.Schedule) bool {
	r := e.rule(id)
	return r != nil && r.Unusual != nil && r.Unusual(s)
}

// Trace runs a schedule once.
func (j *examiner[T, E]) Trace(s conformance.Schedule) *conformance.Trace { return j.trace(s, false) }

// Beside runs it with a second instance in use.
func (j *examiner[T, E]) Beside(s conformance.Schedule) *conformance.Trace { return j.trace(s, true) }

func (j *examiner[T, E]) trace(s conformance.Schedule, beside bool) *conformance.Trace {
	e := j.e
	e.T.Helper()
	defer turn()()
	e.reset()
	if why := e.lacks(s); why != "" {
		e.T.Fatalf("conformance: Trace: %s", why)
	}
	s.Steps = slices.Clone(s.Steps)
	for i := range s.Steps {
		s.Steps[i].Racing = false
	}
	e.twice = beside
	defer func() { e.twice = false }()
	seen := e.Try(s, inside.OrderSettled, 1)
	if len(seen) == 0 {
		e.T.Fatalf("conformance: Trace: a run made no progress: %s", s)
	}
	return &seen[0].Trace
}

// Smallest makes a schedule that breaks a rule smaller: without steps, plainer configured,
// none racing, with rounder and fewer gaps. What may be drawn becomes what may be drawn.
func (j *examiner[T, E]) Smallest(s conformance.Schedule, rule string) conformance.Schedule {
	drawn := j.Fits(s)
	breaks := func(s conformance.Schedule) bool {
		if drawn && !j.Fits(s) {
			return false
		}
		return slices.ContainsFunc(j.Run(s), func(v conformance.Violation) bool { return v.Rule == rule })
	}
	as := func(s conformance.Schedule) conformance.Schedule { return s }
	return j.e.smallest(s, as, breaks)
}
