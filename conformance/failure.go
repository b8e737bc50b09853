package conformance

import (
	"cmp"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/escapement-go/escapement/internal/timeline"
)

// text is what a broken rule prints: what happened, the rule, why, the timeline,
// and how to run just this case again.
func (c *contract) text(r *rule, v *violation) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n%s\n", r.ID, v.Headline, r.Text)
	if v.Because != "" {
		fmt.Fprintf(&b, "because %s\n", v.Because)
	}
	b.WriteString(c.fits(r, v))
	if v.Trace != nil {
		if v.Trace.Order != OrderSettled {
			fmt.Fprintf(&b, "order: %s\n", v.Trace.Order)
		}
		fmt.Fprintf(&b, "\n%s\n", picture(v))
		fmt.Fprintf(&b, "replay: ESCAPEMENT_SCHEDULE='%s' go test -run '%s' %s\n", v.Trace.Schedule, c.pattern(r.ID), cmp.Or(c.pkg, callerPackage()))
	} else {
		fmt.Fprintf(&b, "replay: go test -run '%s' %s\n", c.pattern(r.ID), callerPackage())
	}
	return b.String()
}

// pattern selects the rule's subtest, and nothing else, with -run.
func (c *contract) pattern(id string) string {
	var parts []string
	names := append(strings.Split(c.t.Name(), "/"), id)
	if c.single {
		names = names[:len(names)-1]
	}
	for _, p := range names {
		parts = append(parts, "^"+regexp.QuoteMeta(p)+"$")
	}
	return strings.Join(parts, "/")
}

// callerPackage is the import path of the test that runs the suite.
func callerPackage() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	name := ""
	for {
		f, more := frames.Next()
		if strings.HasPrefix(f.Function, "testing.") {
			break
		}
		name = f.Function
		if !more {
			break
		}
	}
	slash := strings.LastIndex(name, "/") + 1
	pkg, _, _ := strings.Cut(name[slash:], ".")
	return strings.TrimSuffix(name[:slash]+strings.ReplaceAll(pkg, "%2e", "."), "_test")
}

// picture draws the run: a lane for each kind of operation, then the rule's own.
func picture(v *violation) string {
	tr := v.Trace
	lanes := v.Lanes
	if lanes == nil && len(tr.Fires) > 0 {
		got := lane{name: "got"}
		for _, f := range tr.Fires {
			got.marks = append(got.marks, laneMark{f.Began.At, fireMark(f.Value)})
		}
		lanes = []lane{got}
	}
	ops := make([]lane, 0, 4)
	add := func(s Step, mark string) {
		i := slices.IndexFunc(ops, func(l lane) bool { return l.name == string(s.Op) })
		if i < 0 {
			i = len(ops)
			ops = append(ops, lane{name: string(s.Op)})
		}
		ops[i].marks = append(ops[i].marks, laneMark{s.At, mark})
	}
	for _, s := range tr.Schedule.Steps {
		mark := "x"
		if strings.HasPrefix(arguments[s.Op], "n") {
			mark = fmt.Sprint(s.N)
		}
		if s.Op == OpCall && s.K != 0 {
			mark += fmt.Sprintf("(key %d)", s.K)
		}
		if s.Racing {
			mark += "~"
		}
		if s.Op != OpIdle {
			add(s, mark)
		}
	}
	for _, d := range tr.Done {
		if d.Inside {
			add(d.Step, "*")
		}
	}
	return draw(append(ops, lanes...), v.At)
}

func fireMark(value int) string { return fmt.Sprintf("F%d", value) }

// draw ranks the instants and puts the caret under at.
func draw(lanes []lane, at time.Duration) string {
	instants := []time.Duration{at}
	for _, l := range lanes {
		for _, m := range l.marks {
			instants = append(instants, m.at)
		}
	}
	slices.Sort(instants)
	instants = slices.Compact(instants)
	tl := timeline.Timeline{Note: "first difference"}
	for _, i := range instants {
		tl.Instants = append(tl.Instants, duration(i))
	}
	for _, l := range lanes {
		cells := map[int]string{}
		for _, m := range l.marks {
			col, _ := slices.BinarySearch(instants, m.at)
			if cells[col] != "" {
				cells[col] += ","
			}
			cells[col] += m.text
		}
		tl.Lanes = append(tl.Lanes, timeline.Lane{Name: l.name, Cells: cells})
	}
	tl.Mark, _ = slices.BinarySearch(instants, at)
	return tl.String()
}
