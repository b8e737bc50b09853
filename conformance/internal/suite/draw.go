package suite

import (
	"math"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
)

// Pick chooses a number below n; 0 is the plainest choice. The label says what is chosen.
type Pick = func(label string, n int) int

// Move is one step of a drawn schedule before it has an instant. Its zero value is the
// plainest.
type Move struct {
	Op   conformance.Op
	Gap  int           // an index into the gaps, or their number, which stands for Any
	Any  time.Duration // any gap up to the span
	N    int
	Race bool
}

// Longest is the number of moves of the longest schedule that is drawn.
const Longest = 20

// Moves draws between one and [Longest] moves. Their Gap is at most the number of gaps,
// Any at most the span, and N at most the largest.
func Moves(pick Pick, ops []conformance.Op, gaps int, span time.Duration, largest int) []Move {
	var moves []Move
	for len(moves) == 0 || more(pick, len(moves), Longest) {
		m := Move{Op: OneOf(pick, "op", ops), Gap: pick("gap", gaps+1), N: pick("n", largest+1)}
		if m.Gap == gaps {
			m.Any = time.Duration(pick("ns", int(min(int64(span), math.MaxInt-1))+1))
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
	for i, m := range Moves(pick, ops, len(gaps)-1, 0, 0) {
		if ended && !m.Op.Counts() && !m.Op.Ends() {
			continue
		}
		if i > 0 {
			at += gaps[min(m.Gap, len(gaps)-1)] + time.Duration(7*i)*time.Microsecond
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
