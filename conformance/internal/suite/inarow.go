package suite

import (
	"slices"
	"strings"

	"github.com/escapement-go/escapement/conformance"
)

// InARow is X-ROW of implementations that answer: what one goroutine asks at one instant, each as soon
// as the one before has been answered, is answered as if everything had settled in between, as it does in all
// other schedules. Make returns what makes an instance, and returns what asks it, and what ends it. Where it
// could not be made, ask is nil.
func InARow[T, E any](
	op conformance.Op, make func(p *Probe) func(st *Stage) (ask func() bool, end func()),
) Rule[T, E] {
	return Rule[T, E]{
		Rule: conformance.Rule{ID: "X-ROW", Level: conformance.Core,
			Text: "Requests in a row at one instant MUST be answered as they are if everything comes to rest in " +
				"between."},
		Ops: []conformance.Op{op},
		Unless: func(s *Suite, _ *T) string {
			return If(!s.Bubble || s.Time == conformance.Explicit,
				"only in a bubble, and not where it is told the time, can anything be left to do in between")
		},
		Probe: func(p *Probe) (*Violation, string) { return inARow(p, make(p)) },
	}
}

func inARow(p *Probe, make func(st *Stage) (ask func() bool, end func())) (*Violation, string) {
	const requests, tries = 5, 4
	defer OneProcessor()()
	answers := func(settled bool) (out []bool) {
		p.PlayToEnd(func(st *Stage) {
			ask, end := make(st)
			st.Settle()
			for i := 0; ask != nil && i < requests; i++ {
				out = append(out, ask())
				if settled {
					st.Settle()
				}
			}
			end()
			st.Settle()
		})
		return out
	}
	want := answers(true)
	var got []bool
	for range tries { // what scheduling leaves to chance is no finding
		if got = answers(false); slices.Equal(got, want) {
			return nil, ""
		}
	}
	if slices.Equal(answers(true), want) {
		return Broken(0, "so they are answered if everything comes to rest after each",
			"%d requests in a row at one instant were answered %s, want %s", len(want), yesNo(got), yesNo(want)), ""
	}
	return nil, "it had two outcomes"
}

func yesNo(answers []bool) string {
	words := make([]string, len(answers))
	for i, ok := range answers {
		words[i] = map[bool]string{true: "yes", false: "no"}[ok]
	}
	return strings.Join(words, ", ")
}
