package clocktest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

// exam is one run under judgement.
type exam struct {
	*suite.Recording
	traits    *Traits
	want, got []event
	doing     conformance.Step // the one under way on the clock
	ledger    *ledger          // of package time
}

// Exam puts a trace beside that of package time.
func (c *contract) Exam(tr *Traits, rec *suite.Recording, _ suite.Job) *exam {
	x := &exam{Recording: rec, traits: tr}
	if both, ok := rec.Detail.(comparison); ok {
		x.ledger = both.want.ledger
		x.want, _ = both.want.seen()
		x.got, x.doing = both.got.seen()
	}
	return x
}

// open is why the clock cannot be compared with package time, "" if it can.
func (x *exam) open() string {
	if x.ledger == nil {
		return "nothing ran"
	}
	return x.ledger.open
}

// told says what the clock showed, and what package time shows.
func (x *exam) told(d *difference, want, got []event) *suite.Violation {
	step := x.Schedule.Steps[d.part/2]
	if d.at < 0 {
		d.at = step.At
	}
	return &suite.Violation{
		Headline: d.headline(x.Schedule), Because: d.because(step, x.Schedule), At: d.at, Kind: d.kind(),
		Lanes: d.lanes(want, got), Run: x.Recording,
	}
}

// stuck says which step blocked for good.
func (x *exam) stuck() *suite.Violation {
	d := &difference{agreed: len(x.got)}
	match(x.want, x.got)
	because := "every goroutine is blocked; on package time the schedule runs to its end"
	runsItself := func(s conformance.Step) bool { // who arms it may run the function
		return s.Op == verb.Nap || s.Op == verb.AfterFunc && s.D <= 0
	}
	if slices.ContainsFunc(x.Schedule.Steps, runsItself) && !x.traits.OnAdvance {
		because += "; only if its documentation says that functions run on the goroutine that advances the clock, " +
			"declare OnAdvance: true"
	}
	at := suite.If(x.doing.Op != verb.Idle, " at "+timeline.Duration(x.doing.At))
	return &suite.Violation{
		Headline: method(x.doing, x.Schedule) + at + " never returned, or what it waits for never came",
		Because:  because,
		At:       x.End,
		Lanes:    d.lanes(x.want, x.got),
		Run:      x.Recording,
	}
}

func (d *difference) headline(s conformance.Schedule) string {
	want, got := d.pair()
	shown := got.inGo(s) + suite.If(got.cause != "", ": "+got.cause)
	if len(d.want) == 0 {
		return shown + ", want " + cmp.Or(suite.If(got.cause != "", "no panic"), "nothing")
	}
	when := " (at " + timeline.Duration(want.at) + ")"
	about, end, ended := strings.Cut(want.text, ": ") // of a context
	same := got.step == want.step
	switch {
	case got.text == "":
		return want.missing(s) + timeline.Duration(want.at)
	case same && got.text == want.text:
		return got.inGo(s) + " too early, want it at " + timeline.Duration(want.at)
	case same && strings.HasPrefix(got.text, want.text+", but "):
		but := strings.Replace(strings.TrimPrefix(got.text, want.text), " instead of ", ", want ", 1)
		return want.inGo(s) + ", as wanted" + but + when
	case same && want.step.Op != "":
		return shown + ", want " + want.text + when
	case ended && strings.HasPrefix(got.text, about+": "):
		return shown + ", want " + end + when
	}
	return shown + ", want " + want.inGo(s) + when
}

// pair returns an event that is missing and one that was seen instead, about the same
// thing if possible.
func (d *difference) pair() (want, got event) {
	for _, w := range d.want {
		for _, g := range d.got {
			if g.who == w.who && g.subject() == w.subject() {
				return w, g
			}
		}
	}
	if len(d.want) > 0 {
		want = d.want[0]
	}
	if len(d.got) > 0 {
		got = d.got[0]
	}
	return want, got
}

// subject is what an event is about: "function 1", "read 2".
func (e event) subject() string {
	if e.step.Op != "" {
		return fmt.Sprintf("%s %d", e.step.Op, e.step.N)
	}
	words := strings.Fields(e.text)
	return strings.Join(words[:min(2, len(words))], " ")
}

// kind names the kind of a difference.
func (d *difference) kind() string {
	want, got := d.pair()
	word := func(e event) string { w, _, _ := strings.Cut(e.subject(), " "); return w }
	return fmt.Sprint(word(want), word(got), want.who == 0, got.who == 0)
}

func (d *difference) because(step conformance.Step, s conformance.Schedule) string {
	text := "that is what package time does"
	if len(d.want) == 0 {
		text = "package time does nothing more"
	}
	if d.part%2 == 1 {
		text += " at the step " + step.String()
	} else {
		text += " while it moves to " + timeline.Duration(step.At)
	}
	for _, f := range s.Steps {
		if f.In != 0 {
			text += fmt.Sprintf("; %s, when it runs, does the step %s", made(f.In, s), call(f))
		}
	}
	return text
}

// lanes shows what package time shows and what the clock has shown, up to the first
// difference.
func (d *difference) lanes(wanted, shown []event) []suite.Lane {
	want, got := suite.Lane{Name: "want"}, suite.Lane{Name: "got"}
	wanted = slices.Clone(wanted)
	slices.SortStableFunc(wanted, func(a, b event) int { // the order within an instant is chance
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.part, b.part), cmp.Compare(a.who, b.who))
	})
	for _, e := range wanted {
		want.Marks = append(want.Marks, suite.Mark{At: e.at, Text: e.mark})
	}
	for _, e := range shown[:d.agreed] {
		if e.at >= 0 {
			got.Marks = append(got.Marks, suite.Mark{At: e.at, Text: e.mark})
		}
	}
	for _, e := range d.got {
		got.Marks = append(got.Marks, suite.Mark{At: d.at, Text: e.mark})
	}
	return []suite.Lane{want, got}
}
