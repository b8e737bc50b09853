package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/internal/timeline"
)

// plainWidth is how wide tables are where there is no terminal.
const plainWidth = 120

// printAll prints the tables, then each failure once, and last what is skipped.
func printAll(w io.Writer, all []*report, o *options, s screen) {
	tables := [][]*report{nil} // the first is of contracts that need no columns for rules
	for _, reports := range byContract(all) {
		if len(columns(reports)) == 0 {
			tables[0] = append(tables[0], reports...)
		} else {
			tables = append(tables, reports)
		}
	}
	for _, reports := range tables {
		if len(reports) > 0 {
			fmt.Fprintln(w)
			printTable(w, reports, s)
		}
	}
	for _, r := range all {
		if r.Partial != "" {
			fmt.Fprintf(w, "\n%s\n", s.wrap(fmt.Sprintf("partial: %s: %s", r.Name, r.Partial), "    "))
		}
	}
	for _, r := range all {
		printFailures(w, r, s)
	}
	if o.verbose {
		printSkipped(w, all, s.columnsOr(plainWidth))
		return
	}
	skipped := 0
	for _, r := range all {
		skipped += r.Count(conformance.Skip)
	}
	if skipped > 0 {
		fmt.Fprintf(w, "\nskipped: %s; verdicts -v says which, and why\n", timeline.Count(skipped, "rule"))
	}
}

// summary is the last line.
func summary(all []*report) string {
	total := conformance.Report{}
	for _, r := range all {
		total.Verdicts = append(total.Verdicts, r.Verdicts...)
		total.Decisions = append(total.Decisions, r.Decisions...)
	}
	return fmt.Sprintf("%s of %s: %s; rules %s",
		timeline.Count(len(all), "implementation"), timeline.Count(len(byContract(all)), "contract"),
		counted(&total), all[0].Version)
}

// orders says how what happens at one instant met.
func orders(all []*report) string {
	n := 0
	for _, r := range all {
		n += r.Interleavings
	}
	if n == 0 {
		return "concurrent calls met in chance orders: -interleave tries every order, up to a bound"
	}
	return "concurrent calls were tried in " + timeline.Count(n, "interleaving")
}

type row []string

// printTable prints the table of a contract: what is wider than the screen is continued in
// a table below.
func printTable(w io.Writer, reports []*report, s screen) {
	rules, statuses := columns(reports), counting(reports)
	head := row{"implementation", "contract", "time"}
	for _, st := range statuses {
		head = append(head, strings.ToLower(st.cell))
	}
	head = append(head, rules...)
	rows := []row{head}
	for _, r := range reports {
		line := row{r.Name, r.Contract, r.Time}
		for _, st := range statuses {
			line = append(line, fmt.Sprint(r.Count(st.status)))
		}
		for _, rule := range rules {
			v, _ := r.Verdict(rule)
			line = append(line, as(v.Status).cell)
		}
		rows = append(rows, line)
	}
	if len(rules) > 0 { // all are of one contract, which is the head of the first column
		head[0] = reports[0].Contract
		for i := range rows {
			rows[i] = slices.Delete(rows[i], 1, 2)
		}
	}
	widths := make([]int, len(rows[0]))
	for _, line := range rows {
		for i, cell := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	if limit := s.columnsOr(plainWidth); widths[0] > limit/2 {
		widths[0] = limit / 2
	}
	for i, part := range parts(widths, s.columnsOr(plainWidth)) {
		if i > 0 {
			fmt.Fprintln(w)
		}
		for _, line := range rows {
			fmt.Fprintln(w, printed(line, part, widths, s))
		}
	}
}

// parts splits columns into groups that fit, each of which begins with the name and the one
// beside it.
func parts(widths []int, limit int) [][]int {
	var out [][]int
	used := limit + 1
	for i := 2; i < len(widths); i++ {
		if used+2+widths[i] > limit {
			out = append(out, []int{0, 1})
			used = widths[0] + widths[1] + 4
		}
		out[len(out)-1] = append(out[len(out)-1], i)
		used += widths[i] + 2
	}
	return out
}

// printed is one line of a part of a table.
func printed(line row, part, widths []int, s screen) string {
	var b strings.Builder
	for _, i := range part {
		text := cut(line[i], widths[i])
		pad := strings.Repeat(" ", max(0, widths[i]-utf8.RuneCountInString(text)))
		switch {
		case i < 2 || i == 2 && strings.Trim(text, "0123456789") != "":
			text += pad
		case text == "FAIL":
			text = pad + s.paint(red, text)
		default:
			text = pad + text
		}
		b.WriteString(text + "  ")
	}
	return strings.TrimRight(b.String(), " ")
}

// printSkipped prints the reasons to skip rules, each with its rules.
func printSkipped(w io.Writer, reports []*report, width int) {
	for _, r := range reports {
		if r.Count(conformance.Skip) > 0 {
			fmt.Fprintf(w, "\nskipped by %s:\n", r.Name)
		}
		for _, g := range skips(r) {
			lead := "  " + g.Reason + ": "
			fmt.Fprintln(w, wrapped(lead+strings.Join(g.Rules, " "), width, "    "))
		}
	}
}

// skipped is a reason and the rules that it skips.
type skipped struct {
	Reason string
	Rules  []string
}

// skips groups what an implementation skips by reason, in the order of the rules.
func skips(r *report) []skipped {
	var out []skipped
	for _, v := range r.Verdicts {
		if v.Status != conformance.Skip {
			continue
		}
		i := slices.IndexFunc(out, func(g skipped) bool { return g.Reason == v.Reason })
		if i < 0 {
			i = len(out)
			out = append(out, skipped{Reason: v.Reason})
		}
		out[i].Rules = append(out[i].Rules, v.Rule)
	}
	return out
}

// whatNext is what to do about traits and decisions, "" if none is open. What is observed of code that fails may be
// part of the mistake.
func whatNext(r *report) string {
	var steps []string
	if v, _ := r.Verdict("TRAITS"); toPaste(v) != "" && r.File != "" {
		steps = append(steps, fmt.Sprintf("go tool verdicts init -write-traits %s inserts the traits", nearby(r.File)))
	}
	if len(r.Decisions) > 0 {
		steps = append(steps, "for each decision uncomment the value that your documentation says, "+
			"or mend the code; run again")
	}
	switch {
	case len(steps) == 0:
		return ""
	case r.Count(conformance.Fail) > 0:
		steps = slices.Insert(steps, 0, "mend what fails, and run again")
	}
	return "next: " + strings.Join(steps, "; then ")
}

// printFailures prints what an implementation fails, as the suite says it: each cause once, with the rules that fail by
// it.
func printFailures(w io.Writer, r *report, s screen) {
	for i, c := range r.causes() {
		if i == 0 {
			fmt.Fprintf(w, "\n%s %s (%s, %s)\n", s.paint(red, "==="), r.Name, r.Contract, r.Time)
		}
		v, _ := r.Verdict(c.Rules[0])
		fmt.Fprintf(w, "\n%s\n", s.wrapText(strings.TrimRight(cmp.Or(v.Text, v.Rule+": "+v.Reason), "\n")))
		if c.Place != "" {
			fmt.Fprintln(w, s.wrap("it hangs in "+c.Place, "    "))
		}
		if len(c.Rules) > 1 {
			lead := "breaks too: "
			if c.Status == conformance.Inconclusive {
				lead = "left open too: "
			}
			fmt.Fprintln(w, s.wrap(lead+strings.Join(c.Rules[1:], ", "), "    "))
		}
	}
	if next := whatNext(r); next != "" {
		fmt.Fprintf(w, "\n%s\n", s.wrap(next, "    "))
	}
}
