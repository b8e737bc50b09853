package suite

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/internal/timeline"
)

// Core is a rule that holds for every implementation of a contract.
func Core(id, text string) conformance.Rule {
	return conformance.Rule{ID: id, Text: text, Level: conformance.Core}
}

// Extended is a rule of a feature, or of a promise, that not every implementation has.
func Extended(id, text string) conformance.Rule {
	return conformance.Rule{ID: id, Text: text, Level: conformance.Extended}
}

// callsRule is the rule of Calls.
const callsRule = "X-CALLS"

// Calls is the rule of every contract that operations return and do not panic.
func Calls[T, E any](check func(e E) *Violation) Rule[T, E] {
	return Rule[T, E]{
		Rule: conformance.Rule{ID: callsRule, Level: conformance.Core,
			Text: "Every operation of a legal schedule MUST return and MUST NOT panic."},
		Check: check,
	}
}

// Race is the rule of every contract that the race detector judges, unless something is declared; nil is for nothing.
func Race[T, E any](use func(p *Probe) (skip string), unless func(*Suite, T) string) Rule[T, E] {
	return Rule[T, E]{
		Rule: conformance.Rule{ID: "X-RACE", Level: conformance.Core,
			Text: "Concurrent use of all operations MUST be free of data races."},
		Unless: unless,
		Probe:  func(p *Probe) (*Violation, string) { return nil, use(p) },
		Live:   true,
	}
}

// Misdone finds what breaks the rule of Calls: timers that expire and are armed again without any time passing, a
// constructor that refused what it must take, an operation that panicked and may not, and one that never returned,
// though all that could wake it sleeps for good, or no callback held it up. Broken tells it.
func (r *Recording) Misdone(mayRefuse bool, mayPanic func(d *conformance.Done) bool, must bool,
	broken func(at time.Duration, because, headline string, args ...any) *Violation) *Violation {
	switch {
	case r.Turned:
		return Broken(0, "on a clock that only the test moves that never ends",
			"more than %d timers of no duration were armed at one instant", Endless)
	case r.Refused != "" && !mayRefuse:
		return Broken(0, "", "the constructor refused %s: %s", r.Schedule.Config, r.Refused)
	}
	deadlock := r.Reentered() != nil // which is the rule's of Reentry
	for i := range r.Done {
		switch d := &r.Done[i]; {
		case d.Panic != "" && d.Panic != PlannedPanic && !mayPanic(d): // whether that may come out is X-PANIC's
			return broken(d.At, "", "%s panicked: %s", d.Step, d.Panic)
		case d.Ended.Seq > 0 || d.Inside || deadlock:
		case r.Stuck:
			return broken(d.At, "everything that could wake it was asleep for good", "%s never returned", d.Step)
		case must:
			return broken(d.At, "no callback ran any more", "%s never returned", d.Step)
		}
	}
	return nil
}

// Reentered finds an operation that a callback called and that never returned.
func (r *Recording) Reentered() *conformance.Done {
	for i := range r.Done {
		if d := &r.Done[i]; d.Inside && d.Ended.Seq == 0 {
			return d
		}
	}
	return nil
}

// Deadlock is what breaks the rule of Reentry.
func (r *Recording) Deadlock() *Violation {
	d := r.Reentered()
	if d == nil {
		return nil
	}
	because := "it waits for the callback, which is its caller"
	if r.Schedule.Config.Busy > 0 {
		because = "callbacks that ran at the same time called it, and it waits for one of them"
	}
	v := Broken(d.Began.At, because, "%s called from the callback at %s never returned",
		d.Op, timeline.Duration(d.Began.At))
	v.Lanes = []Lane{r.Got()}
	return v
}

// LeftBehind finds what a run has left behind. What an operation leaves that never returned to its callback is the
// rule's of Reentry.
func (r *Recording) LeftBehind() *Violation {
	switch {
	case r.Reentered() != nil:
	case len(r.Left) > 0:
		return &Violation{Headline: "a goroutine is left: " + r.Left[0], At: r.End}
	case r.Armed:
		return &Violation{Headline: "a timer is still armed", At: r.End}
	case r.Kept != "":
		return Broken(r.End, string(r.Kept)+" releases everything, and nothing more will come",
			"a timer is still armed, an hour after %s", r.Kept)
	}
	return nil
}

// Leak is the rule of every contract that nothing is left behind, in the words of the contract.
func Leak[T, E any](text string, check func(e E) *Violation) Rule[T, E] {
	return Rule[T, E]{
		Rule:   Core(leakRule, text),
		Unless: func(s *Suite, _ T) string { return If(!s.Bubble, OnlyInBubble) },
		About:  func(j Job) bool { return j.Look },
		Check:  check,
	}
}

// Reentry is the rule of contracts with callbacks that these may call the implementation, unless something is declared.
func Reentry[T, E any](text string, unless func(*Suite, T) string, check func(e E) *Violation) Rule[T, E] {
	return Rule[T, E]{
		Rule:   Core("X-REENT", text),
		Unless: unless,
		About:  func(j Job) bool { return j.Schedule.Config.Inside != "" },
		Check:  check,
	}
}

// RefusedWhy is why a run is left out whose configuration the constructor refused.
func RefusedWhy(cfg conformance.Config, why string) string {
	return "the constructor refused " + cmp.Or(cfg.String(), "a configuration in which nothing is set") + ": " + why
}

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
		Unless: func(s *Suite, _ T) string {
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
func YesNo(ok bool) string { return cmp.Or(If(ok, "yes"), "no") }

// Clash calls the operations from many goroutines at once, round after round, with the
// timers of each round firing among them. Operations must tolerate being called in any
// order. It returns why it shows nothing.
//
// On an injected clock the goroutines run free while the clock advances: settling would
// order what must stay unordered for the race detector to see it. In a bubble they wake at
// the instant at which the timers fire.
func (p *Probe) Clash(make func(env conformance.Env) []func(i int)) string {
	const rounds = 50
	play := p.PlayOutside
	if p.Time == conformance.PackageTime {
		play = p.Suite.Play
	}
	hang := play(func(st *Stage) {
		ops := make(st.Plain())
		if fake := st.Fake(); fake != nil {
			for range rounds {
				gather(ops, func() { fake.Advance(Wait / 2) }, func() {})
			}
			fake.Advance(10 * Wait)
			return
		}
		for range rounds {
			gather(ops, func() { st.To(st.Now() + Wait) }, func() { time.Sleep(Wait) })
		}
		st.To(st.Now() + 10*Wait)
		st.Settle()
	})
	return If(hang != nil, NoProgress)
}

// gather runs each operation a few times, on a goroutine of its own that first calls
// start, while meanwhile runs on the caller's goroutine. It waits for all of them.
func gather(ops []func(i int), meanwhile, start func()) {
	var wg sync.WaitGroup
	for _, op := range ops {
		wg.Add(1)
		go func() {
			defer wg.Done()
			start()
			for i := range 5 {
				_ = Catch(func() { op(i) }) // X-CALLS judges panics
			}
		}()
	}
	meanwhile()
	wg.Wait()
}
