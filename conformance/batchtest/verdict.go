package batchtest

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/model"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

// law is the guard of a rule. Behind the first mistake of a run nothing is judged. After a panic that the schedule
// wants the rule is X-PANIC.
func (s *state) law(w *ways, id string, holds bool, want, because string) bool {
	if n := s.cfg.Panics; !holds && n > 0 && len(s.past) >= n && s.Panicked {
		id = "X-PANIC"
	}
	if w.Law(id, holds, want, "%s", because) && !holds {
		w.Open("the run has broken a law")
	}
	return holds
}

// missing judges a batch that should have been handed over, and was not.
func (s *state) missing(b batch, w *ways) bool {
	got, when, wanted := b.items, "was never handed over", "it"
	if i, ok := s.first[b.items[0]]; ok {
		f := s.Fires[i]
		if got, when = f.Values, "was handed over at "+timeline.Duration(f.Began.At); !slices.Equal(got, b.items) {
			wanted = batchMark(b.items)
		}
	}
	want := fmt.Sprintf("batch %s %s, want %s at %s", batchMark(got), when, wanted, timeline.Duration(s.at))
	return s.law(w, s.whyMissing(b), false, want, s.because(b))
}

// because says why a batch is handed over.
func (s *state) because(b batch) string {
	d := timeline.Duration(s.cfg.Delay)
	switch {
	case b.cause == bySize:
		return fmt.Sprintf("item %d makes it full: the size is %d", b.items[len(b.items)-1], s.cfg.Size)
	case b.cause == byFlush:
		return fmt.Sprintf("it was flushed at %s", timeline.Duration(b.at))
	case b.cause == byClose:
		return fmt.Sprintf("the batcher was closed at %s", timeline.Duration(b.at))
	case s.cfg.Delay == 0:
		return "the delay is 0, and other batches were handed over at once"
	case s.tr.Anchor == AnchorLastBatch:
		return fmt.Sprintf("the last hand-over was at %s, and the delay is %s", timeline.Duration(s.last), d)
	case s.tr.Anchor == AnchorGrid:
		return fmt.Sprintf("the grid has a tick at each multiple of %s", d)
	}
	came, first := "came", b.items[0]
	if slices.ContainsFunc(s.Done, func(d conformance.Done) bool {
		return d.Op == verb.Put && d.N == first && d.Began.At < b.born
	}) {
		came = "was taken, when the consumer had returned,"
	}
	return fmt.Sprintf("its first item, %d, %s at %s, and the delay is %s", first, came, timeline.Duration(b.born), d)
}

// whyMissing is the rule that a batch breaks which is not handed over when it should be.
func (s *state) whyMissing(b batch) string {
	var when []time.Duration // its items are consumed, as far as they ever are
	for _, v := range b.items {
		if i, ok := s.first[v]; ok {
			when = append(when, s.Fires[i].Began.At)
		}
	}
	lost := len(when) == 0
	switch {
	case s.cfg.Busy > 0 && len(s.past) > 0:
		return "BT-BUSY"
	case !lost && len(when) < len(b.items):
		return "BT-ONCE"
	case b.cause == bySize && s.cfg.Size == 1:
		return "BT-N1"
	case b.cause == byFlush:
		return "BT-FLUSH"
	case b.cause == byClose:
		return "BT-CLOSE"
	case s.meets:
		return "BT-MEET"
	case b.cause == bySize:
		return "BT-FULL"
	case s.cfg.Delay == 0:
		return "BT-D0"
	case s.idled != never && (lost || when[0] == suite.Sum(s.idled, s.cfg.Delay)):
		return "BT-FLUSH0"
	case len(s.past) > 0 && s.tr.Anchor == AnchorFirstItem && (lost || s.countsFrom(when[0]-s.cfg.Delay)):
		return "BT-REARM"
	}
	return "BT-AGE"
}

// countsFrom reports whether something happened to an earlier batch at an instant.
func (s *state) countsFrom(at time.Duration) bool {
	return slices.ContainsFunc(s.past, func(b batch) bool { return b.at == at || b.born == at })
}

// wrong judges a batch that should not have been handed over.
func (s *state) wrong(e model.Event, w *ways) {
	items := s.Fires[e.N].Values
	id, because := s.whyWrong(items, e)
	s.law(w, id, false, fmt.Sprintf("batch %s was handed over at %s, want %s", batchMark(items),
		timeline.Duration(e.At), s.instead(items)), because)
}

// instead says what should have been handed over, and when.
func (s *state) instead(items []int) string {
	switch {
	case len(s.owed) > 0:
		return batchMark(s.owed[0].items)
	case s.due == never || len(items) == 0:
		return "nothing"
	}
	return batchMark(s.open.items) + " at " + timeline.Duration(s.due)
}

// whyWrong is the rule that a batch breaks which should not have been handed over, and why.
func (s *state) whyWrong(items []int, e model.Event) (id, because string) {
	if len(items) == 0 {
		return s.whyEmpty()
	}
	there := s.there()
	for i, v := range items {
		switch {
		case s.consumed(v) && s.meets:
			return "BT-MEET", fmt.Sprintf("item %d was handed over before, just as the delay ended", v)
		case s.consumed(v) || slices.Contains(items[:i], v):
			return "BT-ONCE", fmt.Sprintf("item %d was handed over before", v)
		case !slices.Contains(there, v) && s.closed:
			return "BT-CLOSE", fmt.Sprintf("item %d came after Close, or was dropped by it", v)
		case !slices.Contains(there, v):
			return "BT-ONCE", fmt.Sprintf("item %d was not accepted", v)
		}
	}
	if id, because := s.whyMixed(items, there); id != "" {
		return id, because
	}
	return s.whyEarly(items, e)
}

// whyEmpty is the rule that an empty batch breaks.
func (s *state) whyEmpty() (id, because string) {
	switch {
	case s.idled == s.at:
		return "BT-FLUSH0", "there was no item to flush"
	case s.meets:
		return "BT-MEET", "the batch had been handed over just as its delay ended"
	}
	return "BT-EMPTY", "no item had come since the last hand-over"
}

// there lists the items that are not handed over, in their order.
func (s *state) there() (out []int) {
	for _, b := range slices.Concat(s.owed, []batch{s.open}) {
		out = append(out, b.items...)
	}
	for _, i := range s.inbox {
		if d := &s.Done[i]; d.Op == verb.Put {
			out = append(out, d.N)
		}
	}
	return out
}

// consumed reports whether an item was handed over before.
func (s *state) consumed(v int) bool {
	return slices.ContainsFunc(s.past, func(b batch) bool { return slices.Contains(b.items, v) })
}

// whyMixed is the rule that a batch breaks whose items are not the first of those that are there.
func (s *state) whyMixed(items, there []int) (id, because string) {
	for i, v := range there[:len(items)] {
		if v == items[i] {
			continue
		}
		if _, ok := s.first[v]; !ok {
			return "BT-ONCE", fmt.Sprintf("item %d, which came before item %d, is in no batch", v, items[i])
		}
		return "BT-ORDER", fmt.Sprintf("item %d came before item %d", v, items[i])
	}
	return "", ""
}

// whyEarly is the rule that a batch of the first items breaks that comes too soon, or is not whole.
func (s *state) whyEarly(items []int, e model.Event) (id, because string) {
	if len(s.owed) > 0 { // it should have had more items, or fewer
		return s.whyMissing(s.owed[0]), s.because(s.owed[0])
	}
	if len(s.open.items) == 0 || s.cfg.Busy > 0 && len(s.running) > 0 {
		return "BT-BUSY", "the consumer ran"
	}
	for _, p := range s.past {
		if p.cause != byAge && p.due == e.At && s.cfg.Delay > 0 && s.tr.Anchor == AnchorFirstItem {
			return "BT-STALE", fmt.Sprintf("the delay of %s ended then, but it was handed over before, at %s",
				batchMark(p.items), timeline.Duration(p.at))
		}
	}
	if s.cfg.Delay == 0 {
		return "BT-D0", "there is no delay that could have ended"
	}
	because, d := s.because(s.open), s.cfg.Delay
	hurries := len(items) == 1 && len(s.past) > 0 && s.cfg.Size != 2 && s.justCame(items) // far from full
	switch {
	case s.idled != never && e.At == suite.Sum(s.idled, d):
		return "BT-FLUSH0", because
	case s.tr.Anchor == AnchorFirstItem && (s.countsFrom(e.At-d) || hurries):
		return "BT-REARM", because
	case s.justCame(items) && s.cfg.Size > len(items):
		return "BT-FULL", fmt.Sprintf("the size is %d", s.cfg.Size)
	}
	return "BT-AGE", because
}

// justCame reports whether the last of some items came at this instant.
func (s *state) justCame(items []int) bool {
	return slices.ContainsFunc(s.Done, func(d conformance.Done) bool {
		return d.Op == verb.Put && d.N == items[len(items)-1] && d.Began.At == s.at
	})
}

// Exam puts a trace in the terms of a batcher.
func (c *contract) Exam(tr *Traits, rec *suite.Recording, j suite.Job) *exam {
	x := &exam{Recording: rec, c: c, cfg: rec.Schedule.Config, tr: tr, first: map[int]int{}}
	x.result = suite.Modelled(c.suite, j, batchers,
		func() (*exam, []model.Event) { return x, x.events() }, (*state).outcomes)
	for i, fire := range x.Fires {
		for _, v := range fire.Values {
			if _, ok := x.first[v]; !ok {
				x.first[v] = i
			}
		}
	}
	return x
}

// judgeable reports whether the model can judge the run: X-CALLS and X-REENT judge what got stuck.
func (x *exam) judgeable() bool {
	stuck := x.Stuck || x.Turned || x.Reentered() != nil
	return x.Refused == "" && !stuck && (x.cfg.Busy == 0 || x.tr.Busy != 0)
}

// breaks finds runs that break a rule before any other.
func breaks(rule string) func(x *exam) *suite.Violation {
	return func(x *exam) *suite.Violation {
		if !x.judgeable() {
			return nil
		}
		if r := x.result(); len(r.Marks) > 0 && r.Marks[0].Law == rule {
			return x.broken(r.Marks[0].At, r.Marks[0].Because, "%s", r.Marks[0].Want)
		}
		return nil
	}
}

// broken makes a violation with the lanes of a batcher.
func (x *exam) broken(at time.Duration, because, headline string, args ...any) *suite.Violation {
	lanes := []suite.Lane{{Name: "want", Marks: x.wants()}, {Name: "got", Marks: marks(x.Recording)}}
	if lanes[0].Marks == nil {
		lanes = lanes[1:]
	}
	v := suite.Broken(at, because, headline, args...)
	v.Lanes = lanes
	return v
}

// events are the trace in the terms of the model. I is the Seq of an event, or of the first one after it.
func (x *exam) events() (out []model.Event) {
	var all []model.Event
	add := func(m conformance.Mark, e model.Event) {
		if e.At, e.I = m.At, m.Seq; m.Seq != 0 {
			all = append(all, e)
		}
	}
	for i, op := range x.Done {
		add(op.Began, model.Event{Kind: model.Call, N: i, Racing: op.Racing})
		add(op.Ended, model.Event{Kind: model.Return, N: i})
	}
	for i, fire := range x.Fires {
		add(fire.Began, model.Event{Kind: model.Fire, N: i})
		add(fire.Ended, model.Event{Kind: model.Return, N: consumed + i})
	}
	slices.SortFunc(all, func(a, b model.Event) int { return a.I - b.I })
	from, races := 0, false
	end := func(at time.Duration, seq int) {
		out = append(out, model.Event{Kind: model.Settled, At: at, I: seq})
		for i := range out[from:] { // all of a group races if one does
			out[from+i].Racing = races
		}
		from, races = len(out), false
	}
	settled, last := x.Detail.(*detail).settled, time.Duration(0)
	for i, e := range all {
		if i > 0 && (e.At != last || len(settled) > 0 && settled[0].Seq < e.I) {
			end(last, e.I)
		}
		for len(settled) > 0 && settled[0].Seq < e.I {
			settled = settled[1:]
		}
		out, races, last = append(out, e), races || e.Racing, e.At
	}
	end(last, math.MaxInt)
	end(x.End, math.MaxInt)
	return out
}

// wants is what the model hands over in a run in which it has no choice, nil in others.
func (x *exam) wants() (out []suite.Mark) {
	open := x.tr.Anchor == 0 || x.tr.Anchor == AnchorLastBatch || x.tr.CloseFlush == 0 || x.cfg.Delay == 0
	if open || x.cfg.Busy > 0 || x.cfg.Inside != "" || x.Schedule.RacingSteps() > 0 {
		return nil
	}
	s := &state{exam: x, due: never, idled: never}
	to := func(at time.Duration) {
		if s.due != never && s.due <= at {
			s.at = s.due
			s.decide(byAge)
		}
		s.at = at
	}
	for i, d := range x.Done {
		if d.Op == verb.Put && !d.OK && !s.closed {
			return nil
		}
		to(d.Began.At)
		s = s.does(i)[0]
	}
	to(x.End)
	for _, b := range s.owed {
		out = append(out, suite.Mark{At: b.at, Text: batchMark(b.items)})
	}
	return out
}
