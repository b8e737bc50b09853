package main

import (
	"cmp"
	"fmt"
	"html"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

// Sizes of a drawing, in pixels.
const (
	letter    = 7.3 // the width of a letter of 12 pixels
	laneH     = 30
	headH     = 26
	pillH     = 20
	gap       = 18 // between columns
	slotW     = 26 // of each of the points of one instant
	mostInsts = 40 // columns of one drawing: of more, those around the first difference
)

// drawing is a picture with its layout: one column for each instant, whatever the time
// between them, and in it one slot for each point of which the order is known.
type drawing struct {
	p        *inside.Picture
	instants []time.Duration
	slots    [][]int // the places in the order that each column has
	left     []float64
	width    []float64
	margin   float64
	rows     []drawnRow
	cut      int // instants that are not drawn
	b        strings.Builder
}

// drawnRow is a lane: what is drawn at an instant, and what takes time.
type drawnRow struct {
	name  string
	class string
	marks []inside.LaneMark
	spans []inside.Span
	bars  []bar
}

// bar is a time that counts, such as a wait: not what was done, but until when it matters.
type bar struct {
	from, to time.Duration
	first    int  // the place of its start in the order
	over     bool // another one began before it ended
}

// draw returns a picture as SVG. Its ids begin with id.
func draw(p *inside.Picture, s conformance.Schedule, id, title, words string) string {
	d := &drawing{p: p}
	d.rows = rowsOf(p, s)
	d.layOut()
	d.header(id, title, words)
	d.difference()
	for i, r := range d.rows {
		d.row(r, float64(headH+i*laneH))
	}
	d.b.WriteString("</svg>")
	return d.b.String()
}

// callback is the name of spans that are callbacks.
const callback = "callback"

// rowsOf are the lanes of a picture: the operations, the times that count, the callbacks
// and what the rule adds.
func rowsOf(p *inside.Picture, s conformance.Schedule) []drawnRow {
	var ops, own []drawnRow
	fires := spansOf(p, callback)
	shown := len(fires) == 0
	for _, l := range p.Lanes {
		r := drawnRow{name: l.Name, class: "op", marks: l.Marks, spans: spansOf(p, l.Name)}
		switch {
		case l.Name == "got" && sameMarks(l, fires):
			r.class, r.marks, r.spans, shown = "got", nil, fires, true
		case l.Name == inside.LaneWindow:
			r.class, r.marks, r.bars = "wait", nil, windows(l)
		case l.Name == "got" || l.Name == "want":
			r.class = l.Name
		case len(r.spans) > 0:
			r.marks = undone(l, r.spans)
		case !slices.ContainsFunc(s.Steps, func(st conformance.Step) bool { return string(st.Op) == l.Name }):
			r.class = "own"
		}
		if r.class == "op" || r.class == "wait" {
			ops = append(ops, r)
		} else {
			own = append(own, r)
		}
	}
	if name, bars := lasting(p, s); bars != nil {
		ops = append(ops, drawnRow{name: name, class: "wait", bars: bars})
	}
	if !shown {
		ops = append(ops, drawnRow{name: callback, class: "got", spans: fires})
	}
	return append(ops, own...)
}

// spansOf are the spans of a lane.
func spansOf(p *inside.Picture, lane string) []inside.Span {
	return slices.DeleteFunc(slices.Clone(p.Spans), func(s inside.Span) bool { return s.Lane != lane })
}

// sameMarks reports whether a lane shows nothing but the starts of spans.
func sameMarks(l inside.Lane, spans []inside.Span) bool {
	return slices.EqualFunc(l.Marks, spans, func(m inside.LaneMark, s inside.Span) bool {
		return m.At == s.From && m.Text == s.Text
	})
}

// undone are the marks of steps that were not done, because the run did not get there.
func undone(l inside.Lane, spans []inside.Span) []inside.LaneMark {
	return slices.DeleteFunc(slices.Clone(l.Marks), func(m inside.LaneMark) bool {
		done := func(s inside.Span) bool { return s.Text == m.Text }
		return strings.HasSuffix(m.Text, "*") || slices.ContainsFunc(spans, done)
	})
}

// lasting are the times that count: the waits of a debouncer's calls, each of which lasts
// until the next call, or to its end; and the intervals that the emissions of a throttle, or
// the items that leave a bucket, open.
func lasting(p *inside.Picture, s conformance.Schedule) (name string, bars []bar) {
	const most = 8
	var from []inside.Span
	var lasts time.Duration
	switch cfg := s.Config; {
	case cfg.Has("wait"):
		name, from, lasts = "wait", spansOf(p, string(verb.Call)), cfg.Wait
	case cfg.Has("interval"):
		name, from, lasts = "interval", spansOf(p, callback), cfg.Interval
	}
	if lasts <= 0 || len(from) > most {
		return "", nil
	}
	for i, c := range from {
		b := bar{from: c.From, to: c.From + lasts, first: c.First}
		if i+1 < len(from) && from[i+1].From < b.to {
			b.to, b.over = from[i+1].From, true
		}
		bars = append(bars, b)
	}
	return name, bars
}

// windows are those of a lane. One that has begun before all else, or ends after it, has only
// the end that is drawn.
func windows(l inside.Lane) []bar {
	var bars []bar
	for i, m := range l.Marks {
		if strings.Contains(m.Text, ")") && len(bars) == 0 {
			bars = append(bars, bar{from: 0, to: m.At})
		}
		if strings.Contains(m.Text, "[") {
			b := bar{from: m.At, to: m.At, over: true} // its end is out of sight
			if i+1 < len(l.Marks) {
				b.to, b.over = l.Marks[i+1].At, false
			}
			bars = append(bars, b)
		}
	}
	return bars
}

// layOut finds the columns and how wide they must be.
func (d *drawing) layOut() {
	at := []time.Duration{max(0, d.p.At)}
	for _, r := range d.rows {
		for _, m := range r.marks {
			at = append(at, m.At)
		}
		for _, s := range r.spans {
			at = append(at, s.From)
			if s.Last != 0 {
				at = append(at, s.To)
			}
		}
		for _, b := range r.bars {
			at = append(at, b.from, b.to)
		}
		d.margin = max(d.margin, letter*float64(utf8.RuneCountInString(r.name))+20)
	}
	slices.Sort(at)
	at = slices.Compact(at)
	d.instants = near(at, d.p.At)
	d.cut = len(at) - len(d.instants)
	d.slots = make([][]int, len(d.instants))
	for _, r := range d.rows {
		for _, s := range r.spans {
			d.place(s.From, s.First)
			if s.Last != 0 && !d.brief(s) {
				d.place(s.To, s.Last)
			}
		}
	}
	x := d.margin
	for i := range d.instants {
		slices.Sort(d.slots[i])
		w := letter * float64(len(timeline.Duration(d.instants[i])))
		for _, r := range d.rows {
			w = max(w, d.widest(r, i))
		}
		w = max(w, float64(len(d.slots[i])*slotW))
		d.left, d.width = append(d.left, x), append(d.width, w)
		x += w + gap
	}
}

// near are the instants around one, if there are too many to draw.
func near(all []time.Duration, at time.Duration) []time.Duration {
	if len(all) <= mostInsts {
		return all
	}
	i, _ := slices.BinarySearch(all, at)
	from := min(max(0, i-mostInsts/2), len(all)-mostInsts)
	return all[from : from+mostInsts]
}

// place gives a point of the order a slot in the column of its instant.
func (d *drawing) place(at time.Duration, seq int) {
	if i, ok := slices.BinarySearch(d.instants, at); ok {
		d.slots[i] = append(d.slots[i], seq)
	}
}

// brief reports whether nothing came between the start and the end of a span.
func (d *drawing) brief(s inside.Span) bool {
	return s.From == s.To && !slices.ContainsFunc(d.p.Spans, func(o inside.Span) bool {
		return o.First > s.First && o.First < s.Last || o.Last > s.First && o.Last < s.Last
	})
}

// widest is the room that the texts of a row need in a column.
func (d *drawing) widest(r drawnRow, col int) float64 {
	w, broadest := 0.0, 0.0
	for _, text := range d.texts(r, col) {
		w += pill(text) + 2
		broadest = max(broadest, pill(text)+2)
	}
	if d.answered(r, col) != nil {
		w = max(w, broadest*float64(len(d.slots[col])))
	}
	for _, s := range r.spans {
		if s.From == d.instants[col] {
			w = max(w, pill(s.Text)*float64(max(1, len(d.slots[col]))))
		}
	}
	return w
}

// texts are those of a row's marks in a column.
func (d *drawing) texts(r drawnRow, col int) (texts []string) {
	for _, m := range r.marks {
		if m.At == d.instants[col] {
			texts = append(texts, m.Text)
		}
	}
	return texts
}

// pill is the width of a text with its frame.
func pill(text string) float64 { return max(pillH, letter*float64(utf8.RuneCountInString(text))+8) }

// x is where a point of the order is drawn; the middle of its instant for none.
func (d *drawing) x(at time.Duration, seq int) (x float64, ok bool) {
	i, ok := slices.BinarySearch(d.instants, at)
	if !ok {
		return 0, false
	}
	if k := slices.Index(d.slots[i], seq); k >= 0 {
		return d.left[i] + d.width[i]*(float64(k)+0.5)/float64(len(d.slots[i])), true
	}
	return d.left[i] + d.width[i]/2, true
}

func (d *drawing) end() float64 {
	return d.left[len(d.left)-1] + d.width[len(d.width)-1]
}

// header writes the frame, the instants, and a ground for each one that holds several points.
func (d *drawing) header(id, title, words string) {
	w, h := d.end()+gap, float64(headH+len(d.rows)*laneH+22)
	fmt.Fprintf(&d.b, `<svg viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" role="img" aria-labelledby="%s-t %s-d">`,
		w, h, w, h, id, id)
	fmt.Fprintf(&d.b, `<title id="%s-t">%s</title><desc id="%s-d">%s</desc>`,
		id, html.EscapeString(title), id, html.EscapeString(cmp.Or(words, title)))
	if d.cut > 0 {
		fmt.Fprintf(&d.b, `<text class="lane" x="4" y="%.1f">%d instants more are not drawn</text>`, h-6, d.cut)
	}
	for i, at := range d.instants {
		mid := d.left[i] + d.width[i]/2
		if len(d.slots[i]) > 1 {
			fmt.Fprintf(&d.b, `<rect class="tie" x="%.1f" y="2" width="%.1f" height="%d" rx="4"/>`,
				d.left[i]-5, d.width[i]+10, headH+len(d.rows)*laneH-4)
		}
		fmt.Fprintf(&d.b, `<text class="at" x="%.1f" y="17">%s</text>`, mid, timeline.Duration(at))
	}
}

func (d *drawing) row(r drawnRow, top float64) {
	mid := top + laneH/2
	fmt.Fprintf(&d.b, `<text class="lane" x="4" y="%.1f">%s</text>`, mid+4, html.EscapeString(r.name))
	fmt.Fprintf(&d.b, `<line class="rule" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, d.margin-6, mid, d.end()+6, mid)
	for _, b := range r.bars {
		d.bar(b, mid)
	}
	for i, s := range r.spans {
		over := i > 0 && (r.spans[i-1].Last == 0 || r.spans[i-1].Last > s.First)
		d.span(s, r.class, mid, over)
	}
	for i := range d.instants {
		d.marks(r, i, mid)
	}
}

// bar draws a time that counts: with an end mark if it came to its end.
func (d *drawing) bar(b bar, mid float64) {
	from, ok1 := d.x(b.from, b.first)
	to, ok2 := d.x(b.to, 0)
	if !ok1 || !ok2 {
		return
	}
	class := map[bool]string{true: " over"}[b.over]
	fmt.Fprintf(&d.b, `<line class="bar%s" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, class, from, mid, to, mid)
	if !b.over {
		fmt.Fprintf(&d.b, `<line class="deadline" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, to, mid-9, to, mid+9)
	}
}

// span draws a call or a callback: a pill where it began, and a bar to its end, which is
// lower if the one before it is still going on.
func (d *drawing) span(s inside.Span, class string, mid float64, over bool) {
	from, ok := d.x(s.From, s.First)
	if !ok {
		return
	}
	if s.Inside {
		class += " inside"
	}
	to, ended := d.end()+6, "open"
	if x, ok := d.x(s.To, s.Last); ok && s.Last != 0 {
		to, ended = x, ""
	}
	top := mid - 4
	if over {
		top += 10
	}
	if !d.brief(s) || s.Last == 0 {
		fmt.Fprintf(&d.b, `<rect class="run %s %s" x="%.1f" y="%.1f" width="%.1f" height="8" rx="3"/>`,
			class, ended, from, top, max(4, to-from))
	}
	d.pill(class, s.Text, from, mid)
}

// answered are the requests of an instant, in their order, if the marks of a row are what each was answered: where no
// callback fires and there are as many. It is nil otherwise.
func (d *drawing) answered(r drawnRow, col int) []int {
	fires := func(m inside.LaneMark) bool { return strings.HasPrefix(m.Text, "F") }
	if r.class != "want" && r.class != "got" || len(spansOf(d.p, callback)) > 0 || slices.ContainsFunc(r.marks, fires) {
		return nil
	}
	var requests []int
	for _, s := range d.p.Spans {
		if s.From == d.instants[col] {
			requests = append(requests, s.First)
		}
	}
	slices.Sort(requests)
	if len(d.texts(r, col)) != len(requests) {
		return nil
	}
	return requests
}

// marks draws the marks of one instant: answers below their requests, others one beside the other.
func (d *drawing) marks(r drawnRow, col int, mid float64) {
	texts, total := d.texts(r, col), 0.0
	for _, text := range texts {
		total += pill(text) + 2
	}
	x := d.left[col] + (d.width[col]-total)/2
	class := r.class
	if len(r.spans) > 0 {
		class += " undone"
	}
	requests := d.answered(r, col)
	for i, text := range texts {
		if requests != nil {
			below, _ := d.x(d.instants[col], requests[i])
			d.pill(class, text, below, mid)
			continue
		}
		d.pill(class, text, x+pill(text)/2+1, mid)
		x += pill(text) + 2
	}
}

func (d *drawing) pill(class, text string, x, mid float64) {
	w := pill(text)
	fmt.Fprintf(&d.b, `<rect class="pill %s" x="%.1f" y="%.1f" width="%.1f" height="%d" rx="%d"/>`,
		class, x-w/2, mid-pillH/2, w, pillH, pillH/2)
	fmt.Fprintf(&d.b, `<text class="mark %s" x="%.1f" y="%.1f">%s</text>`, class, x, mid+4, html.EscapeString(text))
}

// difference marks the instant at which what was seen first differs.
func (d *drawing) difference() {
	x, ok := d.x(d.p.At, 0)
	if !ok {
		return
	}
	bottom := float64(headH + len(d.rows)*laneH)
	fmt.Fprintf(&d.b, `<line class="diff" x1="%.1f" y1="%d" x2="%.1f" y2="%.1f"/>`, x, headH-4, x, bottom+2)
	const note = "first difference"
	half := letter * float64(len(note)) / 2
	fmt.Fprintf(&d.b, `<text class="note" x="%.1f" y="%.1f">%s</text>`,
		min(max(x, half+2), max(d.end()+gap-half, half+2)), bottom+16, note)
}
