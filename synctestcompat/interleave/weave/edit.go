package main

import (
	"sort"
	"strings"
)

// text is a source that is changed by insertion and replacement, so that every line stays where it is.
type text struct {
	src   string
	edits []edit
}

// edit replaces the bytes from from to to, none of them for an insertion.
type edit struct {
	from, to int
	with     func() string // asked late, as it may contain parts of the source that are changed too
	closes   bool          // an insertion that belongs to what ends there, and not to what begins
	seq      int
}

func (t *text) replace(from, to int, with func() string) {
	t.edits = append(t.edits, edit{from: from, to: to, with: with, seq: len(t.edits)})
}

// open inserts text before what begins at a place, and shut behind what ends there. Of several at one place the
// outer are to be made first.
func (t *text) open(at int, s string) {
	t.edits = append(t.edits, edit{from: at, to: at, with: func() string { return s }, seq: len(t.edits)})
}

func (t *text) shut(at int, s string) {
	with := func() string { return s }
	t.edits = append(t.edits, edit{from: at, to: at, with: with, closes: true, seq: -len(t.edits)})
}

// sort must be called when all edits are made.
func (t *text) sort() {
	sort.SliceStable(t.edits, func(i, j int) bool {
		a, b := t.edits[i], t.edits[j]
		switch {
		case a.from != b.from:
			return a.from < b.from
		case a.closes != b.closes:
			return a.closes
		default:
			return a.seq < b.seq
		}
	})
}

// render returns a part of the source as it is changed.
func (t *text) render(from, to int) string {
	var b strings.Builder
	at := from
	first := sort.Search(len(t.edits), func(i int) bool { return t.edits[i].from >= from })
	for _, e := range t.edits[first:] {
		if e.from > to {
			break
		}
		if e.from < at || e.to > to { // part of what is replaced already, or more than what is asked for
			continue
		}
		b.WriteString(t.src[at:e.from])
		b.WriteString(e.with())
		at = e.to
	}
	b.WriteString(t.src[at:to])
	return b.String()
}

// lines returns the line ends that s lacks to have as many as the source from from to to.
func (t *text) lines(from, to int, s string) string {
	return strings.Repeat("\n", max(0, strings.Count(t.src[from:to], "\n")-strings.Count(s, "\n")))
}
