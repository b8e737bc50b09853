package concurrencytest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// trace is what was done to a concurrency limiter and what came of it. It is the detail of a
// recording.
type trace struct {
	groups   []*group
	requests []*request
	hooks    []conformance.Mark
	// drained is the point at which the schedule ended and the epilogue began: in it
	// everything is released, and as many requests come as there are slots and places, and
	// one more.
	drained conformance.Mark
	// lost are the requests that wait still when everything has been released.
	lost []*request
}

// group is the steps of one instant that are done without a pause.
type group struct {
	at     time.Duration
	racing bool // the timers of the instant did not go first
	steps  []*step
	// others counts the goroutines of the bubble when it had settled, in runs that look.
	others int
	// began and settled are the points before the first step and after everything had
	// settled.
	began, settled conformance.Mark
}

// step is a step that was done.
type step struct {
	conformance.Step
	request  int // its index in requests, -1 for a resize and for a release of nothing
	ended    bool
	panicked string
}

// releasesNothing reports whether nobody held what the step released.
func (s *step) releasesNothing() bool { return s.Op == verb.Release && s.request < 0 }

// gives reports whether the step gives slots back that its request holds.
func (s *step) gives() bool {
	return s.request >= 0 && slices.Contains(leaving, s.Op)
}

// unclear reports whether the step sets a limit that means nothing, or refuses to have none run: who
// knows what the limit is then.
func (s *step) unclear() bool {
	return s.Op == verb.Resize && (s.N < 0 || s.N == 0 && s.panicked != "")
}

// request is what became of an acquire, a try or a do.
type request struct {
	id, weight int
	arrived    conformance.Mark
	decided    conformance.Mark // when it got its slots or was rejected
	admitted   bool
	err        error
	ended      error  // what its context said when it was rejected
	panicked   string // what Acquire itself panicked with
	runs       int    // how often the handler ran
	answered   int    // how many answers it got: runs and errors

	cutAt    int64 // its context ends at this call of its methods, or later at that instant; 0: it does not
	handler  bool
	finished bool   // it has released
	release  func() // gives its slots back, nil if it is a handler
	end      chan conformance.Op
	told     conformance.Op   // how its handler ends
	left     bool             // its handler has ended
	early    conformance.Mark // when it returned before that
	cancel   context.CancelFunc
	patient  bool // its context is never done
}

// lies reports whether a request says that its context ended otherwise than it did.
func (q *request) lies() bool {
	for _, end := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(q.err, end) && !errors.Is(q.err, q.ended) {
			return true
		}
	}
	return false
}

// Lanes show which requests ran (+) or were rejected (x), and where the epilogue began.
func (t *trace) Lanes() []suite.Lane {
	end := suite.Lane{Name: endLane, Marks: []suite.Mark{{At: t.drained.At, Text: "all"}}}
	got := suite.Lane{Name: "got"}
	for _, q := range t.requests {
		sign := "x"
		if q.admitted {
			sign = "+"
		}
		if q.decided.Seq > 0 {
			got.Marks = append(got.Marks, suite.Mark{At: q.decided.At, Text: fmt.Sprint(q.id, sign)})
		}
	}
	return []suite.Lane{end, got}
}

// rejected reports whether request id was rejected while its schedule ran, admitted whether it got slots. In a trace
// that is nil, as there is no run, neither was.
func (t *trace) rejected(id int) bool { return t.decided(id, false) }

func (t *trace) admitted(id int) bool { return t.decided(id, true) }

func (t *trace) decided(id int, admitted bool) bool {
	return t != nil && slices.ContainsFunc(t.requests, func(q *request) bool {
		return q.id == id && q.admitted == admitted && q.decided.Seq > 0 && q.decided.Seq < t.drained.Seq
	})
}

// parked reports whether a request waited for a slot while everything was settled: a
// request that waits for a lock keeps a bubble from settling.
func (t *trace) parked() bool {
	return slices.ContainsFunc(t.requests, func(q *request) bool {
		return slices.ContainsFunc(t.groups, func(g *group) bool {
			return g.settled.Seq > q.arrived.Seq && (q.decided.Seq == 0 || q.decided.Seq > g.settled.Seq)
		})
	})
}

// releasedNothing reports whether something was released that nobody held.
func (t *trace) releasedNothing() bool {
	return slices.ContainsFunc(t.groups, func(g *group) bool {
		return slices.ContainsFunc(g.steps, (*step).releasesNothing)
	})
}

// open lists the requests that run, or else those that wait.
func (t *trace) open(running bool) []*request {
	var out []*request
	for _, q := range t.requests {
		if running && q.admitted && !q.finished || !running && q.decided.Seq == 0 {
			out = append(out, q)
		}
	}
	return out
}

// done lists the steps of the first groups in the terms of package conformance. A request
// ends when it gets its slots or is rejected.
func (t *trace) done(groups int) []conformance.Done {
	var out []conformance.Done
	for _, g := range t.groups[:groups] {
		for _, s := range g.steps {
			d := conformance.Done{Step: s.Step, Began: g.began, Panic: s.panicked}
			if s.ended {
				d.Ended = g.settled
			}
			if comes(s.Op) {
				q := t.requests[s.request]
				d.Began, d.Ended, d.OK, d.Err = q.arrived, q.decided, q.admitted, q.err
			}
			out = append(out, d)
		}
	}
	return out
}

// comes reports whether an operation is a request.
func comes(op conformance.Op) bool {
	return op == verb.Acquire || op == verb.Try || op == verb.Do
}

// decisions are what became of a schedule's requests, and when.
func decisions(rec *suite.Recording) (out []suite.Mark) {
	t, _ := rec.Detail.(*trace)
	if t == nil {
		return nil
	}
	for _, q := range t.requests {
		if q.arrived.Seq > t.drained.Seq {
			break
		}
		as, says := "w", "waited"
		switch {
		case q.decided.Seq > t.drained.Seq:
		case q.decided.Seq > 0 && q.admitted:
			as, says = "+", "ran"
		case q.decided.Seq > 0:
			as, says = "x", "was rejected"
		}
		out = append(out, suite.Mark{
			At: q.decided.At, Text: fmt.Sprint(q.id, as), Of: fmt.Sprint("request ", q.id), Says: says,
		})
	}
	return out
}
