package properties

import (
	"time"

	"pgregory.net/rapid"

	"github.com/escapement-go/escapement/conformance"
)

// twin is an implementation in the terms of the laws of two runs.
type twin struct {
	judge *conformance.Judge
	laws  []Law
	// beside makes two instances and does everything with the other one first.
	beside   *conformance.Judge
	source   conformance.TimeSource
	pairs    *rapid.Generator[pair]
	question conformance.Op
	nameless bool // what comes out does not bear the payload
	// windows says that time is counted in windows, one unit each: what is moved must be
	// moved by whole ones.
	windows bool
	// long is a time after which nothing that happened before matters.
	long func(c conformance.Config) time.Duration
}

// scaled makes all durations of a configuration k times as long.
func scaled(c conformance.Config, k time.Duration) conformance.Config {
	c.Wait *= k
	c.Interval *= k
	c.Rate.Per *= k
	c.Timeout *= k
	return c
}

// apart draws schedules whose instants keep clear of every deadline: each gap has an odd
// part of its own, a power of two, so that no sum of gaps is the unit or half of it, or
// a multiple. Some gaps are 0. Step says what a move does; a step without an operation is
// left out.
func apart(cfg conformance.Config, ops []conformance.Op, step func() func(m move) conformance.Step) *rapid.Generator[conformance.Schedule] {
	gaps := []time.Duration{0, unit / 8, unit / 2, unit * 7 / 8, unit, unit * 3 / 2, unit * 5}
	return rapid.Map(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) move {
		return move{
			op:  rapid.SampledFrom(ops).Draw(t, "op"),
			gap: rapid.IntRange(0, len(gaps)-1).Draw(t, "gap"),
			n:   rapid.IntRange(0, 9).Draw(t, "n"),
		}
	}), 1, 12), func(moves []move) conformance.Schedule {
		s := conformance.Schedule{Config: cfg}
		at, next := time.Duration(0), step()
		for i, m := range moves {
			if i > 0 && m.gap > 0 {
				at += gaps[m.gap] + time.Microsecond<<i
			}
			if st := next(m); st.Op != "" {
				st.At = at
				s.Steps = append(s.Steps, st)
			}
		}
		return number(s)
	})
}

// bare are moves that say all.
func bare() func(m move) conformance.Step {
	return func(m move) conformance.Step { return conformance.Step{Op: m.op} }
}

// asking are requests for up to most tokens.
func asking(most int) func() func(m move) conformance.Step {
	return func() func(m move) conformance.Step {
		return func(m move) conformance.Step { return conformance.Step{Op: m.op, N: 1 + m.n%most} }
	}
}

// paired draws two schedules of one configuration.
func paired(of []*rapid.Generator[conformance.Schedule]) *rapid.Generator[pair] {
	return rapid.Custom(func(t *rapid.T) pair {
		g := rapid.SampledFrom(of).Draw(t, "config")
		return pair{g.Draw(t, "first"), g.Draw(t, "second"), rapid.IntRange(0, 1000).Draw(t, "k")}
	})
}

// unit is the wait, the interval, and so on, of these schedules.
const unit = 100 * time.Millisecond
