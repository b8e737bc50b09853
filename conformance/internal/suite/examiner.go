package suite

import (
	"hash/crc32"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/internal/twins"
)

// examiner is the [conformance.Judge] of a contract.
type examiner struct {
	e *engine
	// leaks says that something was left behind, so that each run looks for it. Otherwise
	// only one schedule in eight is looked at, chosen by its text, as a look takes longer
	// than a run.
	leaks bool
}

// NewExaminer looks at the implementation as Run does before it explores.
func NewExaminer[T, E any](t *testing.T, c Contract[*T, E]) conformance.Judge {
	t.Helper()
	defer turn()()
	e := newEngine(t, typed[T, E]{c}, inside.Options{})
	if why := e.unfit(); why != "" {
		t.Skip("conformance: " + why)
	}
	e.Single = true
	e.lab.last = newLast(t, e.pkg)
	t.Cleanup(e.lab.last.close)
	if e.prepare(); e.refused != "" {
		t.Fatal("conformance: CANARY: " + e.panicked())
	}
	if why := e.c.Canary(e.Suite); why != "" {
		t.Fatal("conformance: CANARY: " + why)
	}
	return &examiner{e: e}
}

// Kind returns the contract's name.
func (j *examiner) Kind() string { return j.e.profile.Kind }

// Time returns how the implementation takes its time.
func (j *examiner) Time() conformance.TimeSource { return j.e.Suite.Time }

// Accepts asks the suite.
func (j *examiner) Accepts(op conformance.Op) bool { return j.e.Suite.Accepts(op) }

// Twins asks the contract.
func (j *examiner) Twins() twins.Terms { return j.e.c.of().(Drawing).Twins(j.e.Suite) }

// Draw draws a schedule.
func (j *examiner) Draw(pick func(label string, n int) int) conformance.Schedule {
	return j.e.c.of().(Drawing).Draw(j.e.Suite, pick)
}

// Fits asks the contract.
func (j *examiner) Fits(s conformance.Schedule) bool {
	return j.e.c.of().(Drawing).Fits(j.e.Suite, s)
}

// Run runs a schedule and judges it.
func (j *examiner) Run(s conformance.Schedule) []conformance.Violation {
	e := j.e
	e.T.Helper()
	defer turn()()
	e.reset()
	if why := e.lacks(s); why != "" {
		e.T.Fatalf("conformance: Run: %s", why)
	}
	if slices.ContainsFunc(e.profile.Known, func(k conformance.Known) bool { return e.unusual(k.Rule, s) }) {
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
		if f.worst != nil && slices.ContainsFunc(e.profile.Known, known) {
			return nil
		}
		if f.worst != nil {
			j.leaks = j.leaks || r.ID == "X-LEAK"
			text := func() string { return e.text(r, f.worst) }
			out = append(out, conformance.Violation{Rule: r.ID, Headline: f.worst.Headline, Text: text})
		}
	}
	expected := func(k conformance.Known) bool {
		return k.Inconclusive && (k.Schedule == "" || k.Schedule == s.String())
	}
	if e.unfinished != nil && len(out) == 0 && !slices.ContainsFunc(e.profile.Known, expected) {
		e.T.Errorf("conformance: %s", e.couldNot(aSchedule, "", e.unfinished.what))
	}
	return out
}

// unusual reports whether a schedule has the unusual input that a rule is about.
func (e *engine) unusual(id string, s conformance.Schedule) bool {
	r := e.rule(id)
	return r != nil && r.Unusual != nil && r.Unusual(s)
}

// Trace runs a schedule once.
func (j *examiner) Trace(s conformance.Schedule) *conformance.Trace { return j.trace(s, false) }

// Beside runs it with a second instance in use.
func (j *examiner) Beside(s conformance.Schedule) *conformance.Trace { return j.trace(s, true) }

func (j *examiner) trace(s conformance.Schedule, beside bool) *conformance.Trace {
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
	e.Twice = beside
	defer func() { e.Twice = false }()
	seen := e.Try(s, inside.OrderSettled, 1)
	if len(seen) == 0 {
		e.T.Fatalf("conformance: Trace: a run made no progress: %s", s)
	}
	return &seen[0].Trace
}

// Smallest makes a schedule that breaks a rule smaller: without steps, plainer configured,
// none racing, with rounder and fewer gaps. What may be drawn becomes what may be drawn.
func (j *examiner) Smallest(s conformance.Schedule, rule string) conformance.Schedule {
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

// Pick chooses a number below n; 0 is the plainest choice. The label says what is chosen.
type Pick = func(label string, n int) int

// Move is one step of a drawn schedule before it has an instant. Its zero value is the
// plainest.
type Move struct {
	Op    conformance.Op
	Gap   int           // an index into the gaps, or their number, which stands for any gap up to the span
	After time.Duration // the gap
	N     int
	Race  bool
}

// Deadline is a gap in place of that to the next deadline, which only a contract knows.
const Deadline time.Duration = -1

// Longest is the number of moves of the longest schedule that is drawn.
const Longest = 20

// Moves draws between one and [Longest] moves. Each comes one of the gaps after the one before, or any time up to the
// span, and its N is at most the largest.
func Moves(pick Pick, ops []conformance.Op, gaps []time.Duration, span time.Duration, largest int) []Move {
	var moves []Move
	for len(moves) == 0 || more(pick, len(moves), Longest) {
		m := Move{Op: OneOf(pick, "op", ops), Gap: pick("gap", len(gaps)+1), N: pick("n", largest+1)}
		if m.Gap < len(gaps) {
			m.After = gaps[m.Gap]
		} else {
			m.After = time.Duration(pick("ns", int(min(int64(span), math.MaxInt-1))+1))
		}
		m.Race = pick("race", 8) == 7
		moves = append(moves, m)
	}
	return moves
}

// more draws whether there is one more, up to most. It is asked before each rather than once
// for all of them, so that one of them can be left out without a change of the others.
func more(pick Pick, n, most int) bool { return n < most && pick("more", 20) > 0 }

// OneOf draws one of a list.
func OneOf[T any](pick Pick, label string, list []T) T { return list[pick(label, len(list))] }

// DrawnEpochs are those of drawn schedules.
var DrawnEpochs = Epochs[:3]

// GapsAround lists the gaps at which timers of the given lengths are met, just missed, or
// left alone for long, the plainest first. A gap of 0 makes bursts and ties.
func GapsAround(lengths ...time.Duration) []time.Duration {
	out := []time.Duration{0}
	for _, d := range lengths {
		for _, gap := range []time.Duration{d, d - 1, d + 1, 1, d / 2, 3 * d, 1000 * d} {
			if gap > 0 && gap < math.MaxInt64/1000 && !slices.Contains(out, gap) {
				out = append(out, gap)
			}
		}
	}
	return out
}

// Each are the configurations with each of the values of a key.
func Each(cfg conformance.Config, key string, values ...string) (out []conformance.Config) {
	for _, v := range values {
		out = append(out, cfg.Without(key).With(key, v))
	}
	return out
}

// Renumbered numbers the payloads of calls and the names of items from 1.
func Renumbered(s conformance.Schedule) conformance.Schedule {
	s.Steps = slices.Clone(s.Steps)
	n := 0
	for i := range s.Steps {
		if op := s.Steps[i].Op; op.Counts() {
			n++
			s.Steps[i].N = n
		}
	}
	return s
}

// DrawBusy draws a schedule for callbacks that take time or call back. Where a step meets
// the start or the end of one, several outcomes are right; so each gap is a little longer
// than the deadlines are apart.
func DrawBusy(pick Pick, cfg conformance.Config, wait time.Duration, ops []conformance.Op) conformance.Schedule {
	gaps := []time.Duration{0, wait / 2, wait, wait + wait/5, wait * 5 / 2, 10 * wait}
	s := conformance.Schedule{Config: cfg}
	at, ended := time.Duration(0), false
	for i, m := range Moves(pick, ops, gaps[:len(gaps)-1], 0, 0) {
		if ended && !m.Op.Counts() && !m.Op.Ends() {
			continue
		}
		if i > 0 {
			at += gaps[m.Gap] + time.Duration(7*i)*time.Microsecond
		}
		ended = ended || m.Op.Ends()
		s.Steps = append(s.Steps, conformance.Step{Op: m.Op, At: at})
	}
	return Renumbered(s)
}

// Unit is the wait, interval or window of the schedules that keep clear of ties.
const Unit = 100 * time.Millisecond

// DrawClear draws a schedule whose instants keep clear of every deadline: to each gap a
// different power of two in microseconds is added, so that no sum of gaps is a multiple of
// half the unit. Some gaps are 0. The function step makes the step of a move; one without
// an operation is left out.
func DrawClear(
	pick Pick, cfg conformance.Config, ops []conformance.Op, step func(m Move) conformance.Step,
) conformance.Schedule {
	gaps := []time.Duration{0, Unit / 8, Unit / 2, Unit * 7 / 8, Unit, Unit * 3 / 2, Unit * 5}
	s := conformance.Schedule{Config: cfg}
	at := time.Duration(0)
	for i := 0; i == 0 || more(pick, i, 12); i++ {
		m := Move{Op: OneOf(pick, "op", ops), Gap: pick("gap", len(gaps)), N: pick("n", 10)}
		if i > 0 && m.Gap > 0 {
			at += gaps[m.Gap] + time.Microsecond<<i
		}
		if st := step(m); st.Op != "" {
			st.At = at
			s.Steps = append(s.Steps, st)
		}
	}
	return Renumbered(s)
}

// Bare makes the step of a move of which only the operation matters.
func Bare(m Move) conformance.Step { return conformance.Step{Op: m.Op} }

// Asking makes the steps of moves requests for up to most tokens.
func Asking(most int) func(m Move) conformance.Step {
	return func(m Move) conformance.Step { return conformance.Step{Op: m.Op, N: 1 + m.N%most} }
}

// Plain reports whether a schedule is short, goes forward, has no other keys than these,
// does only what is accepted, does not race, and numbers its payloads from 1: what comes
// out of a corpus is judged only if a generator could have drawn the like.
func (s *Suite) Plain(schedule conformance.Schedule, keys ...string) bool {
	if len(schedule.Steps) == 0 || len(schedule.Steps) > 3*Longest || !schedule.Config.Only(keys...) {
		return false
	}
	at, calls := time.Duration(0), 0
	for _, st := range schedule.Steps {
		if st.At < at || st.At > math.MaxInt64/8 || st.In != 0 || st.Racing || !s.runs(st) {
			return false
		}
		at = st.At
		if st.Op.Counts() {
			if calls++; st.N != calls {
				return false
			}
		}
	}
	return true
}

// Measurable reports whether d is a length that timers can be made of.
func Measurable(d time.Duration) bool { return d >= time.Microsecond && d <= 10_000*time.Hour }

// Among reports whether a configuration is one of a list.
func Among(configs []conformance.Config, cfg conformance.Config) bool {
	return slices.ContainsFunc(configs, func(c conformance.Config) bool { return c.String() == cfg.String() })
}
