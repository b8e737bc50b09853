package batchtest

import (
	"fmt"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/model"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// exam is one run under judgement, which all states of it share.
type exam struct {
	*suite.Recording
	c   *contract
	cfg conformance.Config
	tr  *Traits
	// first is the fire that first has an item; items that nobody consumes are not in it.
	first  map[int]int
	result func() *model.Result[*state] // what the model says of the run, which is checked once
}

// batchers is the model: every correct batcher with the same traits.
var batchers = model.Model[*state, string, exam]{
	Init: func(x *exam, w *ways) { w.To(&state{exam: x, due: never, idled: never}) },
	Due:  func(s *state) (time.Duration, bool) { return s.due, s.due != never },
	Step: (*state).step, Free: (*state).unseen,
	Key: (*state).key, Words: (*state).words,
	Order: []string{"BT-STALE", "BT-MEET", "BT-FLUSH0", "BT-ONCE", "BT-ORDER"},
}

type ways = model.Ways[*state]

// never is the instant of what is not due.
const never time.Duration = -1

// cause is why a batch is handed over.
type cause byte

const (
	byAge cause = iota
	bySize
	byFlush
	byClose
)

// batch is a batch that is decided.
type batch struct {
	items []int
	cause cause
	at    time.Duration // when it was decided
	born  time.Duration // when its first item came
	due   time.Duration // when its delay ends, or would have
}

// What a delay of 0 means.
const (
	zeroNone = iota + 1
	zeroNow
)

// state is one state that a batcher may be in. It is not changed once it was handed on, and its lists never are.
type state struct {
	*exam
	at   time.Duration
	open batch // the one that gathers items, due while it has any
	due  time.Duration
	// overdue says that the delay of the open batch has ended while the consumer ran, which will take it then.
	overdue bool
	owed    []batch // decided and not handed over, in order
	late    []int   // operations that race and have not done their work
	inbox   []int   // operations whose turn comes when the consumer has returned
	running []int   // the consumer's runs
	closed  bool
	zero    int           // what a delay of 0 has turned out to mean: no bound, at once, or nothing so far
	last    time.Duration // when a batch was last handed over
	past    []batch       // what was handed over
	idled   time.Duration // when a Flush last found nothing since the last hand-over
	meets   bool          // something was due at the instant at which this group races
}

func (s *state) clone() *state {
	c := *s
	return &c
}

// key tells states apart. What follows from the trace is not in it.
func (s *state) key() string {
	return fmt.Sprint(s.open.items, s.open.born, s.due, s.overdue, s.owed, s.late, s.inbox,
		s.running, s.closed, s.zero, s.last, s.idled, s.meets)
}

// words describes the state.
func (s *state) words() string {
	return fmt.Sprintf("%s is open, and %d batches are to be handed over", batchMark(s.open.items), len(s.owed))
}

// step goes to the states to which an event may lead.
func (s *state) step(e model.Event, w *ways) {
	switch {
	case e.Kind == model.Settled || e.Kind == model.Instant:
		for _, c := range s.expired(e.At, true) {
			if e.Kind == model.Instant {
				w.To(c)
			} else if len(c.late) == 0 {
				c.settle(e, w)
			}
		}
	case e.Kind == model.Fire:
		s.fire(e, w)
	case e.Kind == model.Call:
		for _, c := range s.expired(e.At, false) {
			if !e.Racing {
				c.call(e.N, w)
				continue
			}
			c.meets, c.late = c.meets || s.due == e.At, append(slices.Clip(s.late), e.N)
			w.To(c)
		}
	case e.N >= consumed:
		c := s.clone()
		c.at, c.running = e.At, without(s.running, e.N-consumed)
		c.drain(w)
	case !slices.Contains(s.late, e.N): // else it cannot have returned
		w.To(s)
	}
}

// unseen goes to where an operation that races leads when it does its work.
func (s *state) unseen(w *ways) {
	for _, i := range s.late {
		c := s.clone()
		c.late = without(s.late, i)
		c.call(i, w)
	}
}

// consumed and the index of a fire are the N of its return.
const consumed = 1 << 30

// expired are the states after the delays that end by an instant; and the one before them, unless they must.
func (s *state) expired(at time.Duration, must bool) (out []*state) {
	c := s.clone()
	c.at = at
	due := s.due != never && s.due <= at
	if !due || !must {
		out = append(out, c)
	}
	if due {
		c := c.clone()
		c.decide(byAge)
		out = append(out, c)
		if s.busy() { // who takes it when the consumer is back may take what has come by then
			c := s.clone()
			c.at, c.due, c.overdue = at, never, true
			out = append(out, c)
		}
	}
	return out
}

// busy reports whether the next batch waits for the consumer.
func (s *state) busy() bool {
	return len(s.running) > 0 && (s.tr.Busy != BusyOverlaps || s.cfg.Inside != "")
}

// decide ends the open batch.
func (s *state) decide(why cause) {
	b := s.open
	b.cause, b.at = why, s.at
	s.owed = append(slices.Clip(s.owed), b)
	s.open, s.due, s.overdue = batch{}, never, false
}

// call goes to where an operation leads: it does its work now, or when the consumer has returned.
func (s *state) call(i int, w *ways) {
	op := &s.Done[i]
	if op.Op == verb.Put && !s.accepts(op, w) {
		return
	}
	if !s.busy() || !s.behind(i, s.inbox) {
		for _, c := range s.does(i) {
			w.To(c)
		}
	}
	if s.busy() {
		c := s.clone()
		c.inbox = append(slices.Clip(s.inbox), i)
		w.To(c)
	}
}

// behind reports whether an operation cannot be done before some that wait for the consumer. Callers that wait may be
// overtaken.
func (s *state) behind(i int, others []int) bool {
	return slices.ContainsFunc(others, func(k int) bool {
		returned := s.Done[k].Ended.Seq
		return s.tr.Busy != BusyBlocks || returned != 0 && returned < s.Done[i].Began.Seq
	})
}

// accepts judges whether an item is taken, and goes on if it is not.
func (s *state) accepts(op *conformance.Done, w *ways) bool {
	refused := op.Ended.Seq != 0 && !op.OK && op.Panic != suite.PlannedPanic
	if refused && op.Panic != "" && !edge.ClosedFirst(s.Recording, op) {
		w.Open("X-CALLS judges what panics")
		return false
	}
	waits := len(s.running) > 0 && s.tr.Busy == BusyRefuses
	switch {
	case s.closed && !refused && s.c.suite.Accepts(opRefuses) && op.Ended.Seq != 0:
		return s.law(w, "BT-CLOSE", false, fmt.Sprintf("item %d was accepted, want it refused", op.N),
			"the batcher was closed before")
	case !s.closed && refused && !waits && !edge.ClosedFirst(s.Recording, op):
		return s.law(w, "BT-BUSY", false, fmt.Sprintf("item %d was refused, want it accepted", op.N),
			"no declared trait lets items be refused")
	case s.closed || refused:
		w.To(s)
		return false
	}
	return true
}

// does returns the states in which an operation has done its work.
func (s *state) does(i int) []*state {
	c, op := s.clone(), &s.Done[i]
	switch {
	case op.Op == verb.Put:
		if s.closed {
			return []*state{c}
		}
		return s.joins(op)
	case len(s.open.items) > 0 && op.Op == verb.Flush:
		c.decide(byFlush)
	case op.Op == verb.Flush && s.tr.Anchor == AnchorLastBatch: // it may start the ticker anew
		anew := c.clone()
		anew.last = s.at
		return []*state{c, anew}
	case op.Op == verb.Flush:
		c.idled = s.at
	default:
		return s.closes()
	}
	return []*state{c}
}

// closes returns the states in which the batcher has been closed. Who drops the open batch may drop what is not handed
// over yet, too.
func (s *state) closes() (out []*state) {
	as := func(policy CloseFlush, do func(c *state)) {
		if s.tr.CloseFlush == policy || s.tr.CloseFlush == 0 {
			c := s.clone()
			c.closed = true
			do(c)
			out = append(out, c)
		}
	}
	as(CloseFires, func(c *state) {
		if len(c.open.items) > 0 {
			c.decide(byClose)
		}
	})
	as(CloseAtDeadline, func(*state) {})
	drop := func(c *state) { c.open, c.due, c.overdue = batch{}, never, false }
	as(CloseDrops, drop)
	as(CloseDrops, func(c *state) {
		drop(c)
		c.owed = nil
	})
	return out
}

// joins returns the states in which an item has joined the open batch.
func (s *state) joins(op *conformance.Done) (out []*state) {
	c := s.clone()
	c.open.items = append(slices.Clip(s.open.items), op.N)
	if len(s.open.items) > 0 {
		return []*state{c.fills()}
	}
	c.open.born = s.at
	for _, due := range s.deadlines(op) {
		c := c.clone()
		if c.due, c.open.due = due, due; due != never {
			c.zero = zeroNow
		} else {
			c.zero = zeroNone
		}
		out = append(out, c.fills())
	}
	return out
}

// fills decides the open batch if it is full.
func (s *state) fills() *state {
	if s.cfg.Size > 0 && len(s.open.items) >= s.cfg.Size {
		s.decide(bySize)
	}
	return s
}

// deadlines are the instants at which the delay of a batch may end that begins now.
func (s *state) deadlines(op *conformance.Done) []time.Duration {
	d := s.cfg.Delay
	tick := func(from time.Duration) []time.Duration {
		if since := s.at - from; op.Racing && (s.meets || since > 0 && since%d == 0) { // it may be on its way
			return []time.Duration{suite.Sum(s.at, d), s.at}
		}
		return []time.Duration{suite.Sum(from, suite.Times(int((s.at-from)/d)+1, d))}
	}
	switch {
	case d == 0 && s.zero == 0:
		return []time.Duration{never, s.at}
	case d == 0 && s.zero == zeroNone:
		return []time.Duration{never}
	case s.tr.Anchor == AnchorLastBatch && d > 0:
		return tick(s.last)
	case s.tr.Anchor == AnchorGrid && d > 0:
		return tick(0)
	case op.Began.At < s.at && s.tr.Busy == BusyQueues: // it has waited in the inbox
		return []time.Duration{max(s.at, suite.Sum(op.Began.At, d))}
	case op.Began.At < s.at: // it may count from its arrival
		return []time.Duration{suite.Sum(s.at, d), max(s.at, suite.Sum(op.Began.At, d))}
	}
	return []time.Duration{suite.Sum(s.at, d)}
}

// drain does what has waited for the consumer, until a batch is to be handed over.
func (s *state) drain(w *ways) {
	if s.overdue && len(s.running) == 0 {
		s.decide(byAge)
	}
	if s.busy() {
		w.To(s)
		return
	}
	s.takes(w)
}

// takes does what has waited, until a batch is to be handed over.
func (s *state) takes(w *ways) {
	if len(s.inbox) == 0 || len(s.owed) > 0 {
		w.To(s)
		return
	}
	for i, next := range s.inbox {
		if s.behind(next, s.inbox[:i]) {
			continue
		}
		for _, c := range s.does(next) {
			c.inbox = slices.Concat(s.inbox[:i], s.inbox[i+1:])
			c.takes(w)
		}
	}
}

// fire goes to where a batch that is handed over leads.
func (s *state) fire(e model.Event, w *ways) {
	items, matched := s.Fires[e.N].Values, false
	all := s.expired(e.At, false)
	for _, c := range all {
		if len(items) == 0 && s.tr.EmptyBatches {
			c.begin(e.N, batch{at: e.At, due: never})
			w.To(c)
			matched = true
			continue
		}
		for i, b := range c.owed {
			if !slices.Equal(b.items, items) || i > 0 && !e.Racing && s.tr.Busy != BusyOverlaps {
				continue
			}
			matched = true
			after := c.clone()
			after.owed = slices.Concat(c.owed[:i], c.owed[i+1:])
			after.begin(e.N, b)
			if !c.waits(w) {
				continue
			}
			if w.To(after); len(after.inbox) > 0 { // who waited until that was handed over may go on
				after.takes(w)
			}
		}
	}
	if !matched {
		all[len(all)-1].wrong(e, w)
	}
}

// waits judges whether the consumer is free.
func (s *state) waits(w *ways) bool {
	free := len(s.running) == 0 || s.tr.Busy == BusyOverlaps || s.cfg.Inside != ""
	return s.law(w, "BT-BUSY", free, "the consumer was called while it ran",
		busies[max(0, int(s.tr.Busy)-1)]+" is declared")
}

// begin lets the consumer run.
func (s *state) begin(fire int, b batch) {
	s.running = append(slices.Clip(s.running), fire)
	s.past = append(slices.Clip(s.past), b)
	s.last, s.idled = s.at, never
}

// settle judges what must have happened when everything has settled.
func (s *state) settle(e model.Event, w *ways) {
	c := s.clone()
	if len(s.owed) > 0 && !s.busy() && !s.missing(s.owed[0], w) || s.cfg.Busy > 0 && !s.returns(e, w) {
		return
	}
	c.meets = false
	w.To(c)
}

// returns judges whether callers wait that should not.
func (s *state) returns(e model.Event, w *ways) bool {
	for i := range s.Done {
		d := &s.Done[i]
		returned := d.Ended.Seq != 0 && d.Ended.Seq < e.I
		onItsOwn := func(i int) bool { return s.Fires[i].Began.Seq > d.Began.Seq } // perhaps the caller's goroutine
		if d.Op != verb.Put || d.Inside || d.Began.Seq >= e.I || returned || d.Began.At > e.At ||
			slices.ContainsFunc(s.running, onItsOwn) || s.tr.Busy == BusyBlocks && len(s.running) > 0 {
			continue
		}
		return s.law(w, "BT-BUSY", false, fmt.Sprintf("the caller with item %d still waited, want it not to", d.N),
			"the consumer did not run, or "+busies[max(0, int(s.tr.Busy)-1)]+" is declared")
	}
	return w.Law("BT-BUSY", true, "", "")
}

// outcomes names the causes of what was handed over.
func (s *state) outcomes() (out []string) {
	for _, b := range s.past {
		out = append(out, [...]string{byAge: "age", bySize: "size", byFlush: "flush", byClose: "close"}[b.cause])
	}
	return out
}

// without returns a list without an element.
func without(list []int, x int) []int {
	return slices.DeleteFunc(slices.Clone(list), func(y int) bool { return x == y })
}
