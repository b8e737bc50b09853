package leakybuckettest

import (
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/model"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

// buckets is the model: every correct leaky bucket with the same traits.
var buckets = model.Model[*state, key, exam]{
	Init: begin, Due: (*state).due, Step: (*state).step, Key: (*state).key, Words: (*state).words,
}

type ways = model.Ways[*state]

// state is one state that a bucket may be in. It is not changed once it was handed on, and its queue never is.
type state struct {
	*exam
	turns
	at              time.Duration
	queue           []entry // in the order in which they were put
	closed, stopped bool
	cancelled       bool // an item was
	left            int  // how many have
}

// entry is an item in the queue.
type entry struct {
	*item
	idle  bool // it found nothing waiting, nor an interval running
	ghost bool // it was cancelled, and its turn may be used by those behind it, or be lost
}

// turns are the instants at which items leave, one after the other.
type turns struct {
	begun bool
	last  time.Duration // the newest turn, before the slack is taken off
	// lazy says that a period without an item goes on to its end, or that a new bucket has its slack.
	lazy bool
}

// turn returns when the next item leaves.
func (t *turns) turn(x *exam, came time.Duration) (due time.Duration) {
	interval, tr := x.Schedule.Config.Interval, x.traits
	next, slack := suite.Sum(t.last, interval), suite.Times(tr.Slack, interval)
	switch {
	case tr.FirstItem == FirstOnGrid:
		if due = suite.Sum(came-came%interval, interval); t.begun {
			due = max(due, next)
		}
		t.last = due
	case tr.FirstItem == FirstWaits:
		if due = next; !t.begun || came >= next || came >= t.last && !t.lazy {
			due = suite.Sum(came, interval)
		}
		t.last = due
	case !t.begun && !t.lazy:
		due, t.last = came, came
	case !t.begun:
		due, t.last = came, came-slack
	default:
		t.last = max(next, came-slack)
		due = max(came, t.last)
	}
	t.begun = true
	return due
}

// begin goes to a new bucket, or to two where the traits leave open when an item leaves.
func begin(x *exam, w *ways) {
	w.To(&state{exam: x})
	if x.exact && (x.traits.FirstItem == FirstWaits || x.traits.Slack > 0) {
		w.To(&state{exam: x, turns: turns{lazy: true}})
	}
}

// key is what tells states apart. What follows from the trace is not in it.
type key struct {
	turns
	queue string // the numbers of the items, negative where one was cancelled
}

func (s *state) key() key {
	var queue []byte
	for _, q := range s.queue {
		queue = binary.AppendVarint(queue, int64(q.put.N-2*q.put.N*suite.Number(q.ghost)))
	}
	return key{s.turns, string(queue)}
}

// words describes the state.
func (s *state) words() string { return fmt.Sprintf("%d items wait", len(s.queue)) }

// timed reports whether the instants are known at which items leave.
func (s *state) timed() bool {
	drains := s.traits.CloseFlush == CloseAtDeadline && s.steady() && s.cancels == 0
	return s.known && !s.stopped && (!s.closed || drains)
}

// due is the turn of the first in the queue, or when it must have left at the latest.
func (s *state) due() (at time.Duration, ok bool) {
	if len(s.queue) == 0 || !s.timed() {
		return 0, false
	}
	first := s.queue[0]
	switch at = first.put.Began.At; {
	case s.exact:
		t := s.turns
		return t.turn(s.exam, at), true
	case s.Schedule.Config.Busy == 0:
		return suite.Sum(first.latest, s.delay()), true
	}
	for _, f := range s.Fires[:s.left] { // whether an interval counts from where its function begins or ends is open
		if at = max(at, f.Ended.At); f.Ended.Seq == 0 {
			return 0, false
		}
	}
	return suite.Sum(at, s.Schedule.Config.Interval), true
}

// step goes to the states to which an event may lead.
func (s *state) step(e model.Event, w *ways) {
	c := *s
	c.at = e.At
	on := true
	switch e.Kind {
	case model.Settled:
		c.settle(e.N == over, w)
		return
	case model.Fire:
		on = c.leave(&s.Fires[e.N], w)
	case model.Call:
		on = c.call(&s.Done[e.N], w)
	}
	if on {
		w.To(&c)
	}
}

// call is an operation that begins.
func (s *state) call(d *conformance.Done, w *ways) bool {
	switch d.Op {
	case verb.Put:
		return s.put(d, w)
	case verb.Cancel:
		return s.cancel(d, w)
	case verb.Close:
		s.closed = true
	case verb.Stop:
		s.stopped = true
	}
	return true
}

// put is an item that comes.
func (s *state) put(d *conformance.Done, w *ways) bool {
	if d.Ended.Seq == 0 {
		w.Open("X-CALLS judges what does not return")
		return false
	}
	waiting, places := 0, 0
	for _, q := range s.queue {
		waiting += suite.Number(!q.ghost)
	}
	for _, it := range s.items { // one that was cancelled may keep its place until its turn
		held := !s.timed() || it.latest > s.at || it.latest == s.at && d.Racing
		places += suite.Number(held && before(it.cancelled, d.Began))
	}
	ended := s.left == 0 || s.at >= suite.Sum(s.Fires[s.left-1].Began.At, s.Schedule.Config.Interval)
	idle := waiting == 0 && (s.traits.FirstItem != FirstAtOnce || ended)
	id, because := "", ""
	switch {
	case s.stopped || d.Inside:
	case s.closed && d.OK && !s.calledBack && s.traits.CloseFlush != 0:
		id, because = "LB-CLOSE", s.whyClosed()
	case !s.closed && s.bounded && (!d.Racing || !d.OK && !s.crowded): // no order makes more wait than the trace shows
		id, because = s.mistaken(d.OK, waiting, waiting+places, idle)
	}
	if id != "" {
		answer := [...]string{"refused, want accepted", "accepted, want refused"}[suite.Number(d.OK)]
		return s.refuse(w, because, fmt.Sprintf("item %d was %s", d.N, answer), id)
	}
	if d.OK {
		s.queue = append(slices.Clip(s.queue), entry{item: s.item(d.N), idle: idle})
	}
	return true
}

// mistaken is the rule that a bucket breaks which accepts an item, or refuses it, and why.
func (s *state) mistaken(accepts bool, waiting, places int, idle bool) (id, because string) {
	tr, backlog := s.traits, s.Schedule.Config.Backlog
	atOnce := tr.FirstItem == FirstAtOnce && waiting == 0 && (tr.Slack > 0 || idle)
	held := func() string { return fmt.Sprintf("%d waited, and the backlog is %d", waiting, backlog) }
	switch busy := s.Schedule.Config.Busy > 0; { // what is due may still wait for the function
	case tr.Unbounded && !accepts:
		return "LB-BOUND", "Unbounded is declared"
	case tr.Unbounded:
	case !accepts && places < backlog && s.cancelled:
		return "LB-CANCEL", held() + ": a cancelled item must not keep its place for ever"
	case !accepts && places < backlog:
		return "LB-BOUND", held()
	case !accepts && atOnce && places == 0 && tr.Slack == 0 && !busy:
		return "LB-BOUND", "nothing waited, and the interval was over"
	case accepts && waiting >= backlog && !atOnce && !busy:
		return "LB-BOUND", held() + ": Unbounded is not declared"
	}
	return "", ""
}

// cancel takes an item out of the queue. After Close one may be refused, and after Stop it is open what waits.
func (s *state) cancel(d *conformance.Done, w *ways) bool {
	it, q := s.item(d.N), s.find(d.N)
	there, because := q >= 0 && !s.queue[q].ghost, "it waited"
	chance := d.Racing && (!d.OK || it == nil || len(it.left) == 0)
	if there != d.OK && !chance && !s.calledBack && !s.stopped && (d.OK || !s.closed) {
		if d.OK {
			because = "it was not waiting: it had left, was refused, or was never put"
		}
		return s.refuse(w, because, fmt.Sprintf("cancel %d at %s reported %v, want %v",
			d.N, timeline.Duration(s.at), d.OK, there), "LB-CANCEL")
	}
	if there && d.OK {
		s.cancelled = true
		if s.queue = slices.Clone(s.queue); s.exact && s.timed() {
			s.queue[q].ghost = true
		} else {
			s.queue = slices.Delete(s.queue, q, q+1)
		}
	}
	return true
}

// find is the place of an item in the queue, negative if it has none.
func (s *state) find(n int) int {
	return slices.IndexFunc(s.queue, func(q entry) bool { return q.put.N == n })
}

// leave is an item that leaves.
func (s *state) leave(f *conformance.Fire, w *ways) bool {
	s.left++
	if id, because, but := s.barred(f); id != "" {
		return s.refuse(w, because, fmt.Sprintf("item %d left at %s, %s", f.Value, timeline.Duration(s.at), but), id)
	}
	q := s.find(f.Value)
	switch on := s.ordered(q, w) && s.spaced(w); {
	case !on || q < 0:
		return on
	case s.exact && s.timed():
		s.takesTurn(q, w)
		return false
	}
	s.queue = slices.Concat(s.queue[:q], s.queue[q+1:])
	return true
}

// takesTurn goes to where an item leads that leaves in its own turn, or in that of one that was cancelled before it.
// Those whose turns are still to come then may keep them, or leave them to others.
func (s *state) takesTurn(q int, w *ways) {
	turns, due, matched := s.turns, time.Duration(0), false
	for lost := range q + 1 { // so many of the turns before it
		c := *s
		c.turns = turns
		if due = c.turn(s.exam, s.queue[q].put.Began.At); due == s.at {
			matched = true
			for kept := lost; kept <= q; kept++ {
				next := c
				next.queue = slices.Concat(s.queue[lost:kept], s.queue[q+1:])
				w.To(&next)
			}
		}
		turns.turn(s.exam, s.queue[lost].put.Began.At)
	}
	if !matched {
		s.mistimed(s.queue[q], due, w)
	}
}

// barred is the rule against an item that leaves at all, why, and what should have been or was before.
func (s *state) barred(f *conformance.Fire) (id, because, but string) {
	it, drops := s.item(f.Value), s.traits.CloseFlush == CloseDrops && !s.calledBack
	dropped := func(by *conformance.Done, from conformance.Mark) bool { // else it may have been on its way
		return from.Seq > 0 && from.Seq < f.Began.Seq && before(it.put, by.Began) &&
			(!by.Racing || by.Began.At < s.at)
	}
	switch {
	case it == nil || !before(it.put, f.Began):
		return "LB-EMPTY", "", "which nobody put"
	case !it.put.OK:
		return "LB-DROP", "", "which was refused at " + timeline.Duration(it.put.Began.At)
	case it.left[0].Began.Seq < f.Began.Seq:
		return "LB-DROP", "", "and before at " + timeline.Duration(it.left[0].Began.At)
	case before(it.cancelled, f.Began) && !s.calledBack:
		return "LB-CANCEL", "it was cancelled at " + timeline.Duration(it.cancelled.Began.At), "want never"
	case s.stopped && dropped(s.stop, s.stop.Ended):
		return "LB-DROP", fmt.Sprintf("stop at %s had returned", timeline.Duration(s.stop.Began.At)), "want never"
	case s.closed && drops && !before(s.stop, s.closing.Began) && dropped(s.closing, s.closing.Began):
		return "LB-CLOSE", s.whyClosed() + ", and CloseDrops is declared", "want never"
	}
	return "", "", ""
}

// ordered judges whether an item may leave before those that came before it.
func (s *state) ordered(q int, w *ways) bool {
	if s.crowded {
		return true
	}
	for _, e := range s.queue[:max(0, q)] {
		switch {
		case e.ghost:
		case len(e.left) > 0:
			return s.refuse(w, "", fmt.Sprintf("item %d left at %s, after item %d, which came later",
				e.put.N, timeline.Duration(e.left[0].Began.At), s.queue[q].put.N), "LB-FIFO")
		case s.lost(e):
			return s.mistimed(e, s.at, w)
		}
	}
	return true
}

// lost reports whether an item that is in the queue should have left, and never does.
func (s *state) lost(q entry) bool {
	leaves := !s.closed || s.traits.CloseFlush == CloseAtDeadline && !s.calledBack
	return !q.ghost && len(q.left) == 0 && leaves && !s.stopped && !s.cut()
}

// spaced judges whether an item leaves too soon after others.
func (s *state) spaced(w *ways) bool {
	interval, slack := s.Schedule.Config.Interval, s.traits.Slack
	k := s.left - 1
	i := k - 1 - slack
	if s.traits.FirstItem == 0 || i < 0 || s.at-s.Fires[i].Began.At >= interval {
		return true
	}
	before, f, broken := &s.Fires[i], &s.Fires[k], []string{"LB-SPACE"}
	because := fmt.Sprintf("the interval is %s, and a Slack of %d is declared", timeline.Duration(interval), slack)
	headline := fmt.Sprintf("item %d left %s after item %d, want %s at least",
		f.Value, timeline.Duration(s.at-before.Began.At), before.Value, timeline.Duration(interval))
	switch idled := i == 0 || before.Began.At-s.Fires[i-1].Began.At > interval; {
	case slack == 0 && before.Began.At == s.at:
		broken = append(broken, "LB-SAMEINSTANT")
		headline = fmt.Sprintf("items %d and %d left together at %s", before.Value, f.Value, timeline.Duration(s.at))
	case idled && before.Began.At < s.at && s.exact && s.timed():
		broken = append(broken, "LB-IDLE")
		because += fmt.Sprintf("; idle time before item %d does not count", before.Value)
	}
	return s.refuse(w, because, headline, broken...)
}

// settle judges what must have happened when everything has settled. The turn of one that was cancelled is lost then,
// or it has been of no account.
func (s *state) settle(end bool, w *ways) {
	due, ok := s.due()
	switch first := s.queue; {
	case !ok || due > s.at:
		if !end || s.ends(w) {
			w.To(s)
		}
	case !first[0].ghost:
		s.mistimed(first[0], due, w)
	default:
		lost, free := *s, *s
		lost.turn(s.exam, first[0].put.Began.At)
		lost.queue, free.queue = first[1:], first[1:]
		lost.settle(end, w)
		free.settle(end, w)
	}
}

// ends judges what must have happened by the end of the run.
func (s *state) ends(w *ways) bool {
	if i := slices.IndexFunc(s.queue, s.lost); i >= 0 {
		return s.mistimed(s.queue[i], s.at, w)
	}
	if !s.closed || s.closing.Ended.Seq != 0 || before(s.stop, s.closing.Began) || s.calledBack ||
		s.traits.CloseFlush == 0 || s.cut() {
		return true
	}
	return s.refuse(w, "nothing waited any more", fmt.Sprintf("close at %s had not returned by %s",
		timeline.Duration(s.closing.Began.At), timeline.Duration(s.End)), "LB-CLOSE")
}
