// Package timeline draws what happened when, as lines of text: one column for
// each instant, one line for each lane.
//
//	t     0    1ms  100ms 101ms
//	call  1----2---------------
//	want  ----------------F----
package timeline

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Width is the widest line that [Timeline.String] prints.
const Width = 100

// Timeline is a picture under construction. Columns are instants in the order
// of their time, whatever the distance between them.
type Timeline struct {
	Instants []string // the heading of each column
	Lanes    []Lane
	// Mark is the column under which the caret stands, with Note behind it;
	// negative for none.
	Mark int
	Note string
}

// Lane is one line: what it shows, and a text for some of its columns.
type Lane struct {
	Name  string
	Cells map[int]string
}

// String draws the timeline, each line ended by a newline. If it is wider than
// [Width], columns far from the marked one are replaced by "...".
func (t Timeline) String() string {
	keep := t.columns()
	margin := len("t")
	for _, l := range t.Lanes {
		margin = max(margin, len(l.Name))
	}
	margin += 2

	var b strings.Builder
	line := func(name string, fill byte, cell func(col int) string) {
		b.WriteString(name + strings.Repeat(" ", margin-len(name)))
		row := ""
		for i, col := range keep {
			text := "..."
			if col >= 0 {
				text = cell(col)
			}
			row += text
			if i < len(keep)-1 || fill == '-' {
				row += strings.Repeat(string(fill), t.width(col)-utf8.RuneCountInString(text))
			}
		}
		b.WriteString(strings.TrimRight(row, " ") + "\n")
	}
	line("t", ' ', func(col int) string { return t.Instants[col] })
	for _, l := range t.Lanes {
		line(l.Name, '-', l.cell)
	}
	if at := slices.Index(keep, t.Mark); at >= 0 && t.Mark >= 0 {
		pad := margin + t.offset()
		for _, col := range keep[:at] {
			pad += t.width(col)
		}
		b.WriteString(strings.Repeat(" ", pad) + "^ " + t.Note + "\n")
	}
	return b.String()
}

// offset is where in the marked column what was got differs from what is wanted, of several things there.
func (t Timeline) offset() (n int) {
	cells := map[string][]string{}
	for _, l := range t.Lanes {
		cells[l.Name] = strings.Split(l.cell(t.Mark), ",")
	}
	want, got := cells["want"], cells["got"]
	for i := 0; i < min(len(want), len(got)) && want[i] == got[i]; i++ {
		if n += utf8.RuneCountInString(got[i]) + 1; i == len(got)-1 {
			return 0 // what is missing comes behind them
		}
	}
	return n
}

// width is the number of characters of a column, the gap behind it included.
func (t Timeline) width(col int) int {
	if col < 0 {
		return len("...") + 2
	}
	w := utf8.RuneCountInString(t.Instants[col])
	for _, l := range t.Lanes {
		w = max(w, utf8.RuneCountInString(l.cell(col)))
	}
	return w + 2
}

// Of more than so many things in a cell that is wider than half a line, the first are drawn, and the last.
const (
	many  = 8
	drawn = 3
)

// cell is what a lane shows in a column.
func (l Lane) cell(col int) string {
	text := l.Cells[col]
	if len(text) <= Width/2 || strings.Count(text, ",") < many {
		return text
	}
	all := strings.Split(text, ",")
	more := fmt.Sprintf("... %d more", len(all)-drawn-1)
	return strings.Join(append(all[:drawn:drawn], more, all[len(all)-1]), ",")
}

// columns chooses what to draw: all columns if they fit, otherwise the first, the
// last and those around the mark, with -1 for each stretch left out.
func (t Timeline) columns() []int {
	all := make([]int, len(t.Instants))
	total := 12
	for i := range all {
		all[i] = i
		total += t.width(i)
	}
	if total <= Width || len(all) < 4 {
		return all
	}
	centre := t.Mark
	if centre < 0 {
		centre = len(all) - 1
	}
	shown := map[int]bool{0: true, centre: true}
	total = 12 + t.width(0) + t.width(centre) + 2*t.width(-1)
	for step := 1; step < len(all); step++ {
		for _, col := range []int{centre - step, centre + step} {
			if col < 0 || col >= len(all) || shown[col] {
				continue
			}
			if total += t.width(col); total > Width {
				step = len(all)
				break
			}
			shown[col] = true
		}
	}
	var keep []int
	for i := range all {
		switch {
		case shown[i]:
			keep = append(keep, i)
		case len(keep) > 0 && keep[len(keep)-1] >= 0:
			keep = append(keep, -1)
		}
	}
	return keep
}
