package suite

import (
	"cmp"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
	"github.com/escapement-go/escapement/synctestcompat/interleave"
)

// link leads to a rule on the page of its contract's package.
func link(pkg, id string) string {
	const pages = "https://github.com/escapement-go/escapement/blob/main/conformance/"
	return pages + pkg + "/RULES.md#" + strings.ToLower(id)
}

// text is what a failing subtest prints: what happened, the rule, why, the timeline, and
// how to run this schedule alone.
func (e *engine) text(r *law, v *Violation) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n%s\n", r.ID, v.Headline, r.Text)
	if v.Because != "" {
		fmt.Fprintf(&b, "because %s\n", v.Because)
	}
	b.WriteString(starts(v))
	b.WriteString(e.hint(r, v))
	if e.strange && !r.probes() {
		b.WriteString("note: the suite tries no schedule like this one, and may misread it\n")
	}
	if v.wavers {
		fmt.Fprintf(&b, "note: not every run of this schedule shows it, as chance decides which of its goroutines "+
			"goes first; a replay makes %d runs\n", e.replays(v.Run.Schedule))
	}
	if v.Run != nil {
		if v.Run.Order != inside.OrderSettled && v.interleaving == "" {
			fmt.Fprintf(&b, "order: %s\n", v.Run.Order)
		}
		if GoesBack(v.Run.Schedule) {
			b.WriteString("note: its steps come in the order of the replay line; " +
				"below they are sorted by their instants\n")
		}
		all := lanes(v, v.Run.busy()...)
		fmt.Fprintf(&b, "\n%s%s\n", draw(all, v.At), legend(all, e.profile.Signs))
	}
	b.WriteString(strings.TrimPrefix(v.order, "\n"))
	fmt.Fprintf(&b, "replay: %s\n", e.replay(r.ID, v))
	return b.String()
}

// starts says where the clock of a run starts, if that is nothing usual.
func starts(v *Violation) string {
	if v.Run == nil || !v.Run.Schedule.Config.Has("epoch") {
		return ""
	}
	start := v.Run.Schedule.Config.Start()
	return fmt.Sprintf("note: the clock starts at %s%s%s\n", If(start.IsZero(), "the zero time "),
		start.Format(time.RFC3339Nano),
		If(start.IsZero(), ", so a zero time does not mean that nothing has happened yet"))
}

// mostKinds is how many kinds of findings of one rule are shown.
const mostKinds = 3

// otherKinds tells of findings of other kinds than the one that is shown, each on its smallest
// schedule, so that one mistake does not hide another that breaks the same rule.
func (f *finding) otherKinds() string {
	var others []*Violation
	for kind, v := range f.kinds {
		if kind != f.worst.Kind {
			others = append(others, v)
		}
	}
	slices.SortFunc(others, func(a, b *Violation) int {
		return cmp.Or(a.Run.Schedule.Compare(b.Run.Schedule), cmp.Compare(a.Kind, b.Kind))
	})
	var b strings.Builder
	for _, v := range others[:min(len(others), mostKinds-1)] {
		fmt.Fprintf(&b, "it is broken in another way too: %s\n\ton %s\n", v.Headline, v.Run.Schedule)
	}
	return b.String()
}

// quoted quotes a text for the shell.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// replay is the command that shows a violation again.
func (e *engine) replay(id string, v *Violation) string {
	test := "go test"
	if v.interleaving != "" {
		test = fmt.Sprintf("%s=%s %s", interleave.Variable, quoted(v.interleaving),
			strings.TrimSpace(interleave.Command+" "+os.Getenv("ESCAPEMENT_WEAVE")))
	}
	if v.Run != nil {
		test = fmt.Sprintf("ESCAPEMENT_SCHEDULE=%s %s", quoted(v.Run.Schedule.String()), test)
	}
	return fmt.Sprintf("%s -run %s %s", test, quoted(e.pattern(e.shownBy(id, v))), e.pkg)
}

// shownBy is the subtest that shows a violation again: that of the rule, which is judged by the strict values on a
// schedule that is given, and does not fail without one if the violation is open to a decision.
func (e *engine) shownBy(id string, v *Violation) string {
	if v.Run == nil && slices.ContainsFunc(e.decisions, func(d *decision) bool { return d.run == v }) {
		return TRAITS
	}
	return id
}

// pattern selects the rule's subtest, and nothing else, with -run.
func (e *engine) pattern(id string) string {
	names := append(strings.Split(e.T.Name(), "/"), id)
	if e.Single {
		names = names[:len(names)-1]
	}
	for i, p := range names {
		names[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return strings.Join(names, "/")
}

// lanes are those of the run: one for each kind of operation, then others, then the rule's own.
func lanes(v *Violation, others ...Lane) []Lane {
	own := v.Lanes
	if own == nil && len(v.Run.Fires) > 0 {
		own = []Lane{v.Run.Got()}
	}
	var ops []Lane
	add := func(s conformance.Step, mark string) {
		i := slices.IndexFunc(ops, func(l Lane) bool { return l.Name == string(s.Op) })
		if i < 0 {
			i = len(ops)
			ops = append(ops, Lane{Name: string(s.Op)})
		}
		ops[i].Marks = append(ops[i].Marks, Mark{At: s.At, Text: mark})
	}
	for _, s := range v.Run.Schedule.Steps {
		if s.Op != verb.Idle {
			add(s, stepMark(s))
		}
	}
	for _, d := range v.Run.Done {
		if d.Inside {
			number := ""
			if d.Op.Counts() {
				number = strconv.Itoa(d.N)
			}
			add(d.Step, number+"*")
		}
	}
	return slices.Concat(ops, others, compared(own, v.At))
}

// compared leaves out what is wanted where it shows no difference from what was got at an instant, as "?" never does:
// the violation tells of something that these lanes do not show.
func compared(own []Lane, at time.Duration) []Lane {
	marks := map[string][]string{}
	for _, l := range own {
		for _, m := range l.Marks {
			if m.At == at {
				marks[l.Name] = append(marks[l.Name], m.Text)
			}
		}
	}
	want, got := marks["want"], marks["got"]
	if !slices.EqualFunc(want, got, func(w, g string) bool { return w == g || w == "?" }) {
		return own
	}
	return slices.DeleteFunc(slices.Clone(own), func(l Lane) bool { return l.Name == "want" })
}

// draw draws the lanes, with a column for each instant and the caret under at.
func draw(lanes []Lane, at time.Duration) string {
	instants := []time.Duration{at}
	for _, l := range lanes {
		for _, m := range l.Marks {
			instants = append(instants, m.At)
		}
	}
	slices.Sort(instants)
	instants = slices.Compact(instants)
	tl := timeline.Timeline{Note: "here"}
	if slices.ContainsFunc(lanes, func(l Lane) bool { return l.Name == "want" }) {
		tl.Note = "first difference"
	}
	for _, i := range instants {
		tl.Instants = append(tl.Instants, timeline.Duration(i))
	}
	for _, l := range lanes {
		cells := map[int]string{}
		for _, m := range l.Marks {
			col, _ := slices.BinarySearch(instants, m.At)
			if cells[col] != "" {
				cells[col] += ","
			}
			cells[col] += m.Text
		}
		tl.Lanes = append(tl.Lanes, timeline.Lane{Name: l.Name, Cells: cells})
	}
	tl.Mark, _ = slices.BinarySearch(instants, at)
	return tl.String()
}
