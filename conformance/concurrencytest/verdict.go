package concurrencytest

import (
	"fmt"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance/internal/model"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
)

// exam is one run under judgement.
type exam struct {
	*suite.Recording
	*trace
	traits   *Traits
	declared Traits // as the spec has them
	// inForce reports whether a rule judges this run, so that a difference may break it.
	inForce func(rule string) bool
	result  func() *model.Result[*state]     // what the model says of the run, which is checked once
	like    func(rec *suite.Recording) *exam // another run in the same terms
}

// Exam puts a trace in the terms of a concurrency limiter.
func (c *contract) Exam(tr *Traits, rec *suite.Recording, j suite.Job) *exam {
	x := &exam{Recording: rec, trace: rec.Detail.(*trace), traits: tr, declared: c.spec.Traits}
	x.like = func(rec *suite.Recording) *exam { return c.Exam(tr, rec, j) }
	known := map[string]bool{}
	x.inForce = func(rule string) bool {
		yes, asked := known[rule]
		if !asked {
			yes = suite.InForce(c.suite, c, tr, j, rule)
			known[rule] = yes
		}
		return yes
	}
	x.result = suite.Modelled(c.suite, j, limiters, func() (*frame, []model.Event) {
		f := newFrame(tr.config(rec.Schedule.Config, nil), tr, x.trace)
		f.inForce = x.inForce
		return f, f.events()
	}, (*state).outcomes)
	return x
}

// legal reports whether a run breaks no law.
func (x *exam) legal() bool { return len(x.result().Marks) == 0 }

// breaks finds runs that break a rule before any other.
func breaks(rule string) func(x *exam) *suite.Violation {
	return func(x *exam) *suite.Violation {
		if x.Refused != "" || x.Stuck || x.legal() || x.result().Marks[0].Law != rule {
			return nil // X-CALLS judges refusals and runs that got stuck
		}
		return x.difference(x.result().Marks[0])
	}
}

// difference makes a violation of the mark that explains where the run leaves the model.
func (x *exam) difference(m model.Mark) *suite.Violation {
	r := x.result()
	s, first := r.State, r.Seen[0]
	if len(s.wrong) == 0 { // what a request returns, or how often the hook was called
		return suite.Broken(first.At, first.Because, "%s", first.Want)
	}
	i := max(0, slices.IndexFunc(s.wrong, func(w wrong) bool { return s.seen.fates[w.r] == fateRuns }))
	w := s.wrong[i]
	words := map[fate]string{fateWaits: "waits", fateRuns: "runs", fateFull: "is rejected"}
	at := s.at
	if got := s.seen.fates[w.r]; got != fateWaits {
		at = x.requests[w.r].decided.At
	}
	q := x.requests[w.r]
	out := suite.Broken(at, w.because,
		"request %d %s at %s, want %s", q.id, words[s.seen.fates[w.r]], timeline.Duration(at), wants[w.want])
	out.Lanes = x.lanes(s)
	if m.Want == "" {
		out.Because += ". The limiter behaves as if " + m.Because
	}
	if s.limit == 0 && s.seen.fates[w.r] == fateRuns {
		out.Because += "; where a limit of 0 means something else, Resize panics"
	}
	if name := x.declaredSo(m.Law); name != "" {
		out.Because += "; " + name + " is declared"
	}
	if own := firstOwn(x.Schedule.Steps); q.id >= own {
		out.Because += fmt.Sprintf(". (After %s and sends new ones, numbered from %d.)", lastly, own)
	} else if x.isOver(s.seen.group) {
		out.Because += ". (After " + lastly + ".)"
	}
	return out
}

// isOver reports whether the schedule was over when a group began.
func (t *trace) isOver(g *group) bool { return t.drained.Seq != 0 && g.began.Seq > t.drained.Seq }

// lastly is what comes of a run after the last step of its schedule.
const lastly = "the last step the suite releases all running requests"

// declaredSo names the declared choice without which a rule would not be broken, "" if there is none.
func (x *exam) declaredSo(rule string) string {
	d := &x.declared
	choice := map[string]struct {
		values   []string
		declared int
	}{
		"CT-FIFO": {orders, int(d.Fair)}, "CT-SEAT": {seats, int(d.SeatHeld)}, "CT-CTX": {contexts, int(d.Context)},
		"CT-TIME": {timeouts, int(d.Timeout)}, "CT-TIME0": {timeouts, int(d.Timeout)},
		"CT-OVER": {oversizes, int(d.Oversize)}, "CT-REJECT": {backlogs, int(d.Backlog)},
	}[rule]
	return append([]string{""}, choice.values...)[choice.declared]
}

// lanes show which requests were admitted (+) or rejected (x), and at the first difference
// which wait (w).
func (x *exam) lanes(s *state) []suite.Lane {
	want, got := suite.Lane{Name: "want"}, suite.Lane{Name: "got"}
	sign := map[fate]string{fateRuns: "+", fateFull: "x", fateWaits: "w"}
	put := func(l *suite.Lane, at time.Duration, r int, f fate) {
		l.Marks = append(l.Marks, suite.Mark{At: at, Text: fmt.Sprint(x.requests[r].id, sign[f])})
	}
	for r, f := range s.fates {
		seen, at := s.seen.fates[r], s.at
		if f == fateNone {
			continue
		}
		if seen != fateWaits {
			at = x.requests[r].decided.At
		}
		i := slices.IndexFunc(s.wrong, func(w wrong) bool { return w.r == r })
		switch {
		case i >= 0:
			if f := s.wrong[i].want; f != fateNone { // else several are right
				put(&want, s.at, r, f)
			}
			put(&got, at, r, seen)
		case seen != fateWaits:
			put(&want, at, r, seen)
			put(&got, at, r, seen)
		}
	}
	out := []suite.Lane{want, got}
	if x.isOver(s.seen.group) {
		end := suite.Lane{Name: endLane, Marks: []suite.Mark{{At: x.drained.At, Text: "all"}}}
		out = slices.Insert(out, 0, end)
	}
	return out
}

// Hung looks for what a run without progress proves. A request may wait for a slot by
// waiting for a lock, so that a wait for a lock proves nothing; unless it is that of an
// operation that needs no slot, or requests were seen to wait for slots in another way.
func (c *contract) Hung(s *suite.Suite, h *suite.Hang) (rule string, broken *suite.Violation, done bool) {
	proof, where := h, c.waitsForEver(s, h)
	if where == "" { // it may be that nobody has asked yet for what must not wait
		beside := suite.MustParse("limit=1 backlog=2 timeout=1h | acquire 1 @0 | acquire 2 @0 | release 1 @0")
		if proof = s.Run([]suite.Job{{Schedule: beside}}, func(suite.Job, *suite.Recording) {}); proof != nil {
			where = c.waitsForEver(s, proof)
		}
	}
	if where != "" {
		v := s.Lost(where)
		v.Run = suite.Unrecorded(proof.Job)
		return "", v, true
	}
	return "", nil, true
}

// waitsForEver describes an operation that waits for a lock which nobody will give back, ""
// if that cannot be proved.
func (c *contract) waitsForEver(s *suite.Suite, h *suite.Hang) string {
	if where := s.LostPromptly(h); where != "" || !c.parked {
		return where
	}
	return s.LostLock(h)
}
