package suite

import (
	"slices"
	"strings"

	"github.com/escapement-go/escapement/conformance"
)

// Script is what one goroutine does with a fresh instance at one instant, each thing as soon as the one before has
// returned: what comes of it must be what comes of it if everything has settled in between, as it has in all schedules.
type Script struct {
	// Text says what is done.
	Text string
	// Play does it, with a pause after each thing, and returns the answers; none if the instance could not be made.
	Play func(st *Stage, pause func()) (answers []string)
}

// InARow is X-ROW of implementations that answer: requests in a row. Make returns what makes an instance, and returns
// what asks it, and what ends it. Where it could not be made, ask is nil.
func InARow[T, E any](
	op conformance.Op, make func(p *Probe) func(st *Stage) (ask func() bool, end func()),
) Rule[T, E] {
	const requests = 5
	rule := settles[T, E]("X-ROW", "Requests in a row at one instant MUST get the answers that they get if "+
		"everything settles in between.", func(p *Probe) []Script {
		begin := make(p)
		return []Script{{"5 requests in a row", func(st *Stage, pause func()) (answers []string) {
			ask, end := begin(st)
			st.Settle()
			for i := 0; ask != nil && i < requests; i++ {
				answers = append(answers, YesNo(ask()))
				pause()
			}
			end()
			return answers
		}}}
	})
	rule.Ops = []conformance.Op{op}
	return rule
}

// Effect is X-EFFECT: what an operation promises at its return. The scripts do something, and ask for its effect.
func Effect[T, E any](scripts func(p *Probe) []Script) Rule[T, E] {
	return settles[T, E]("X-EFFECT", "What an operation promises MUST hold as soon as it returns, not only "+
		"once everything has settled.", scripts)
}

func settles[T, E any](id, text string, scripts func(p *Probe) []Script) Rule[T, E] {
	return Rule[T, E]{
		Rule: conformance.Rule{ID: id, Level: conformance.Core, Text: text},
		Unless: func(s *Suite, _ *T) string {
			return If(!s.Bubble || s.Time == conformance.Explicit,
				"work can be left over only in a bubble, and only if it reads the time itself")
		},
		Probe: func(p *Probe) (*Violation, string) {
			all := scripts(p)
			for _, s := range all {
				if v, skip := p.atOnce(s); v != nil || skip != "" {
					return v, skip
				}
			}
			return nil, If(len(all) == 0, "it has no operation whose effect can be queried")
		},
	}
}

// atOnce plays a script with and without pauses.
func (p *Probe) atOnce(s Script) (*Violation, string) {
	const tries = 4
	defer OneProcessor()()
	answers := func(settled bool) (out []string) {
		p.PlayToEnd(func(st *Stage) {
			out = s.Play(st, func() {
				if settled {
					st.Settle()
				}
			})
			st.Settle()
		})
		return out
	}
	want := answers(true)
	var got []string
	for range tries { // what scheduling leaves to chance is no finding
		if got = answers(false); slices.Equal(got, want) {
			return nil, ""
		}
	}
	if !slices.Equal(answers(true), want) {
		return nil, "it had two outcomes"
	}
	return Broken(0, "these are the answers when all goroutines settle after each call",
		"%s at one instant were answered %s, want %s", s.Text, strings.Join(got, ", "), strings.Join(want, ", ")), ""
}

// YesNo is an answer in words.
func YesNo(ok bool) string {
	if ok {
		return "yes"
	}
	return "no"
}
