package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/escapement-go/escapement/conformance"
)

// plainWidth is how wide tables are where there is no terminal.
const plainWidth = 120

// printAll prints the tables, then each failure once, and last what is skipped.
func printAll(w io.Writer, all []*report, o *options, s screen) {
	var whole []*report // of contracts that need no columns for rules
	for _, reports := range byContract(all) {
		if len(columns(reports)) == 0 {
			whole = append(whole, reports...)
		}
	}
	if len(whole) > 0 {
		fmt.Fprintln(w)
		printTable(w, whole, s)
	}
	for _, reports := range byContract(all) {
		if len(columns(reports)) > 0 {
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
		fmt.Fprintf(w, "\nskipped: %s; verdicts -v says which, and why\n", number(skipped, "rule"))
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
		number(len(all), "implementation"), number(len(byContract(all)), "contract"), counted(&total), all[0].Version)
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
	return "concurrent calls were tried in " + number(n, "interleaving")
}

// number is a number of things.
func number(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// row is a line of a table.
type row []string

// printTable prints the table of a contract: what is wider than the screen is continued in
// a table below.
func printTable(w io.Writer, reports []*report, s screen) {
	rules := columns(reports)
	head := row{"implementation", "contract", "time", "pass", "fail", "known", "undecided", "?", "skip"}
	rows := []row{append(head, rules...)}
	for _, r := range reports {
		line := row{r.Name, r.Contract, r.Time}
		for _, st := range shown {
			line = append(line, fmt.Sprint(r.Count(st.status)))
		}
		for _, rule := range rules {
			line = append(line, r.cell(rule))
		}
		rows = append(rows, line)
	}
	rows = withoutZeros(rows, len(head))
	if len(rules) > 0 { // all are of one contract
		for i := range rows {
			rows[i] = slices.Delete(rows[i], 1, 2)
		}
		rows[0][0] = reports[0].Contract
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

// withoutZeros takes out the columns of counts in which nothing is counted: those between
// the names and the rules.
func withoutZeros(rows []row, head int) []row {
	for i := head - 1; i > 2; i-- {
		if !slices.ContainsFunc(rows[1:], func(line row) bool { return line[i] != "0" }) {
			for k := range rows {
				rows[k] = slices.Delete(rows[k], i, i+1)
			}
		}
	}
	return rows
}

// parts splits columns into groups that fit, each of which begins with the name and the one
// beside it.
func parts(widths []int, limit int) [][]int {
	const first = 2
	var out [][]int
	used := limit + 1
	for i := first; i < len(widths); i++ {
		if used+2+widths[i] > limit {
			var part []int
			used = 0
			for k := range first {
				part = append(part, k)
				used += widths[k] + 2
			}
			out = append(out, part)
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
			lead := "  " + g.reason + ": "
			fmt.Fprintln(w, wrapped(lead+strings.Join(g.rules, " "), width, "    "))
		}
	}
}

// skipped is a reason and the rules that it skips.
type skipped struct {
	reason string
	rules  []string
}

// skips groups what an implementation skips by reason, in the order of the rules.
func skips(r *report) []skipped {
	var out []skipped
	for _, v := range r.Verdicts {
		if v.Status != conformance.Skip {
			continue
		}
		i := slices.IndexFunc(out, func(g skipped) bool { return g.reason == v.Reason })
		if i < 0 {
			i = len(out)
			out = append(out, skipped{reason: v.Reason})
		}
		out[i].rules = append(out[i].rules, v.Rule)
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
