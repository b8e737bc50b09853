package model_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/escapement-go/escapement/conformance/internal/model"
)

// toy is the model of a mutex whose waiters are served in any order, and give up after ten seconds.
var toy = model.Model[mutex, mutex, int]{
	Init: func(slots *int, w *model.Ways[mutex]) { w.To(mutex{free: *slots}) },
	Due:  mutex.due, Step: mutex.step, Free: mutex.unseen,
	Key: func(m mutex) mutex { return m }, Words: func(m mutex) string { return fmt.Sprintf("%d free", m.free) },
}

// patience is how long a waiter waits.
const patience = 10 * time.Second

// mutex is a state: waits and given are the sets of those who wait, and of those who have the lock and have not been
// seen to run.
type mutex struct {
	free         int
	waits, given uint8
	came         [8]time.Duration
	at           time.Duration
}

// What a call does.
const (
	comes = iota
	leaves
	breaks
)

func (m mutex) due() (next time.Duration, ok bool) {
	for i, came := range m.came {
		if end := came + patience; m.waits&(1<<i) != 0 && end > m.at && (!ok || end < next) {
			next, ok = end, true
		}
	}
	return next, ok
}

func (m mutex) step(e model.Event, w *model.Ways[mutex]) {
	one := uint8(1) << e.I
	if e.Kind != model.Settled {
		m.at = e.At
	}
	switch {
	case e.Kind == model.Call && e.N == comes:
		m.waits |= one
		m.came[e.I] = e.At
		w.To(m)
	case e.Kind == model.Call && e.N == leaves:
		if w.Slip("GIVEBACK", "%d kept the lock", e.I) {
			w.To(m)
		}
		m.free++
		w.To(m)
	case e.Kind == model.Call:
		w.Open("it is broken")
	case e.Kind == model.Fire && m.given&one != 0:
		m.given &^= one
		w.To(m)
	case e.Kind == model.Fire:
		if w.Law("LIMIT", m.free > 0, "it to wait", "%d are free", m.free) {
			m.free, m.waits = max(0, m.free-1), m.waits&^one
			w.To(m)
		}
	case e.Kind == model.Return:
		if w.Law("PATIENCE", e.At >= m.came[e.I]+patience, "it to wait", "it came at %s", m.came[e.I]) {
			m.waits &^= one
			w.To(m)
		}
	case e.Kind == model.Instant:
		w.To(m)
	case e.Kind == model.Settled && m.given == 0:
		ok := w.Law("WORK", m.free == 0 || m.waits == 0, "one to run", "%d are free", m.free)
		for i, came := range m.came {
			late := m.waits&(1<<i) != 0 && m.at >= came+patience
			ok = ok && w.Law("PATIENCE", !late, "it to give up", "it came at %s", came)
		}
		if ok {
			w.To(m)
		}
	}
}

// unseen gives the lock to one who waits.
func (m mutex) unseen(w *model.Ways[mutex]) {
	for i := range m.came {
		if one := uint8(1) << i; m.free > 0 && m.waits&one != 0 {
			next := m
			next.free, next.waits, next.given = m.free-1, m.waits&^one, m.given|one
			w.To(next)
		}
	}
}

// trace reads events: "come 1, run 1; come 2; 10s: end 2": groups are separated by semicolons.
func trace(t *testing.T, text string) (out []model.Event) {
	t.Helper()
	at := time.Duration(0)
	for n, part := range strings.Split(text, ";") {
		if when, rest, ok := strings.Cut(part, ":"); ok {
			d, err := time.ParseDuration(strings.TrimSpace(when))
			if err != nil {
				t.Fatal(err)
			}
			at, part = d, rest
		}
		for _, what := range strings.Split(part, ",") {
			e := model.Event{At: at}
			var word string
			if _, err := fmt.Sscan(what, &word, &e.I); err != nil {
				t.Fatalf("group %d, %q: %v", n, what, err)
			}
			switch word {
			case "come":
				e.N = comes
			case "leave":
				e.N = leaves
			case "break":
				e.N = breaks
			case "run":
				e.Kind = model.Fire
			case "end":
				e.Kind = model.Return
			}
			out = append(out, e)
		}
		out = append(out, model.Event{Kind: model.Settled, At: at, N: n})
	}
	return out
}

// A trace breaks the laws that its mistakes break, also where these show late.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		trace      string
		want, seen string // laws, and those refused where the trace leaves the model
		at         time.Duration
	}{
		{trace: "come 1, run 1; come 2; leave 1, run 2; 1s: leave 2"},
		{trace: "come 1, come 2, run 2; leave 2, run 1"},          // in any order
		{trace: "come 1, run 1; come 2; 10s: end 2; 30s: come 3"}, // who gives up
		{trace: "come 1, come 2, run 1, run 2", want: "LIMIT", seen: "LIMIT"},
		{trace: "come 1; come 2, run 2", want: "WORK", seen: "WORK"},
		{trace: "come 1, run 1; come 2; 9s: end 2", want: "PATIENCE", seen: "PATIENCE", at: 9 * time.Second},
		{trace: "come 1, run 1; come 2; 30s: come 3", want: "PATIENCE", seen: "PATIENCE", at: 10 * time.Second},
		{trace: "come 1, run 1; leave 1; 1s: come 2", want: "GIVEBACK", seen: "WORK", at: time.Second}, // it began
		{trace: "come 1, run 1; leave 1; 1s: come 2; 2s: come 3, run 3", want: "WORK", seen: "WORK", at: time.Second},
		{trace: "come 1, come 2, run 1, run 2; 1s: come 3; 2s: end 3", want: "LIMIT PATIENCE", seen: "LIMIT"},
		{trace: "come 1, run 1; break 0; come 2, run 2"}, // open
	} {
		slots := 1
		r := model.Check(toy, &slots, trace(t, c.trace))
		if got := laws(r.Marks); got != c.want || laws(r.Seen) != c.seen || r.At != c.at || r.Failed != "" {
			t.Errorf("Check(%s): breaks %q, leaves the model at %s by %q %s; want %q, at %s by %q",
				c.trace, got, r.At, laws(r.Seen), r.Failed, c.want, c.at, c.seen)
		}
	}
}

func laws(marks []model.Mark) string {
	var out []string
	for _, m := range marks {
		out = append(out, m.Law)
	}
	return strings.Join(out, " ")
}

// What is found says what should have been, and why.
func TestCheck_words(t *testing.T) {
	slots := 1
	r := model.Check(toy, &slots, trace(t, "come 1, run 1; leave 1; 1s: come 2"))
	if m := r.Seen[0]; m.Want != "one to run" || m.Because != "1 are free" || m.At != time.Second {
		t.Errorf("refused: %+v", m)
	}
	if m := r.Marks[0]; m.Want != "" || m.Because != "1 kept the lock" || m.At != 0 {
		t.Errorf("explained by %+v", m)
	}
	preferred := toy
	preferred.Order = []string{"WORK"}
	r = model.Check(preferred, &slots, trace(t, "come 1, run 1; leave 1, come 2"))
	if laws(r.Marks) != "WORK" {
		t.Errorf("of two laws that are broken at once %s is blamed, want the first in Order", laws(r.Marks))
	}
}

// Guards count as having judged a trace only on ways that come to its end.
func TestCheck_judged(t *testing.T) {
	slots := 1
	r := model.Check(toy, &slots, trace(t, "come 1, run 1"))
	if got := strings.Join(r.Judged, " "); got != "LIMIT WORK PATIENCE" {
		t.Errorf("judged by %s", got)
	}
	r = model.Check(toy, &slots, trace(t, "come 1, come 2, run 1"))
	if !slices.Contains(r.Judged, "LIMIT") || len(r.Marks) > 0 { // it refuses the way on which 2 has the lock
		t.Errorf("judged by %v, want LIMIT; %v", r.Judged, r.Marks)
	}
	if r = model.Check(toy, &slots, trace(t, "break 0; come 1")); r.Open != "it is broken" {
		t.Errorf("Open = %q", r.Open)
	}
}

// Ways to the same state are one, and more states than are allowed are no verdict.
func TestCheck_states(t *testing.T) {
	slots, crowd := 4, "come 1, come 2, come 3, come 4, come 5, come 6, come 7, run 1, run 2, run 3, run 4"
	few := toy
	few.Most = 99 // up to four of seven have it unseen
	if r := model.Check(few, &slots, trace(t, crowd)); len(r.Marks) > 0 || r.Failed != "" {
		t.Errorf("with %d states: %v %s", few.Most, r.Marks, r.Failed)
	}
	few.Most = 98
	r := model.Check(few, &slots, trace(t, crowd))
	if want := "more than 98 states at 0s, one of them: "; !strings.HasPrefix(r.Failed, want) || len(r.Marks) > 0 {
		t.Errorf("Failed = %q, want %q", r.Failed, want)
	}
}

// A law that is refused where nothing goes on is a mistake of the model.
func TestCheck_noWay(t *testing.T) {
	stuck := toy
	stuck.Step = func(m mutex, e model.Event, w *model.Ways[mutex]) {}
	slots := 1
	if r := model.Check(stuck, &slots, trace(t, "come 1")); !strings.Contains(r.Failed, "no way on") {
		t.Errorf("Failed = %q", r.Failed)
	}
}
