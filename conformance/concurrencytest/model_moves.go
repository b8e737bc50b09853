package concurrencytest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/internal/verb"
)

// do does a step. What comes of it at once happens here, the rest at some moment of the group.
func (s *state) do(st *step, w *ways) {
	r := st.request
	switch {
	case st.releasesNothing() && s.tr.OverRelease == OverReleaseIgnored:
		w.To(s)
		s.rob(st, w)
	case st.releasesNothing():
		w.Open("what nobody holds was released")
	case st.unclear():
		w.Open("nobody knows what the limit is")
	case comes(st.Op) && s.requests[r].panicked != "":
		w.Open("a request panicked")
	case st.Op == verb.Resize:
		s.resize(st.N, w)
	case st.gives() && !s.demands[r].handler:
		s.release(r, st.Op, w)
	case st.gives():
		w.To(s.pends(append(slices.Clip(s.pending), occurrence{releases, r, st.Op})))
	case comes(st.Op):
		w.To(s.pends(append(slices.Clip(s.pending), occurrence{arrives, r, st.Op})))
	case st.Op == verb.Cancel && r >= 0 && s.cancels(r):
		w.To(s.pends(append(slices.Clip(s.pending), occurrence{isCancelled, r, st.Op})))
	default:
		w.To(s)
	}
}

// rob gives back slots that nobody holds, or those of another.
func (s *state) rob(st *step, w *ways) {
	if s.slip(w, "CT-OVERREL", "the release raised the limit by %d", max(1, st.K)) {
		c := s.clone()
		c.used -= max(1, st.K)
		w.To(c)
	}
	for r, f := range s.fates {
		if f == fateRuns && s.slip(w, "CT-OVERREL", "the release gave back what request %d holds", s.demands[r].id) {
			c := s.clone()
			c.used -= s.demands[r].weight
			c.notes[r] |= robbed
			w.To(c)
		}
	}
}

// resize changes the limit.
func (s *state) resize(limit int, w *ways) {
	c := s.clone()
	c.limit, c.least, c.most = limit, min(s.least, limit), max(s.most, limit)
	c.so |= hasResized
	for _, r := range c.queue {
		if c.exceeds(r) {
			c.notes[r] |= heavy
		}
	}
	w.To(c)
	if s.slip(w, "CT-RESIZE", "the limit were still %d", s.limit) {
		w.To(s)
	}
}

// release gives back what a request holds.
func (s *state) release(r int, op conformance.Op, w *ways) {
	if s.fates[r] != fateRuns {
		return // it had its slots before
	}
	weight, rule, so := s.demands[r].weight, "CT-RELEASE", hasReleased
	if s.notes[r]&robbed != 0 {
		weight = 0
	}
	if op != verb.Release {
		rule, so = "X-PANIC", hasReleased|hasPanicked
	}
	gives := []int{weight}
	if w.Slips() && s.cfg.Timeout != 0 && !s.releasedNothing() { // which explain more
		gives = append(gives, 0, 1, 2*weight)
	}
	for i, n := range gives {
		if i == 0 || s.slip(w, rule, "request %d gave back %d of %d slots", s.demands[r].id, n, weight) {
			c := s.clone()
			c.fates[r], c.notes[r] = fateLeft, 0
			c.used -= n
			c.so |= so
			w.To(c)
		}
	}
}

// free lets one thing happen that need not be seen at once.
func (s *state) free(w *ways) {
	for i, o := range s.pending {
		c := s.pends(slices.Concat(s.pending[:i], s.pending[i+1:]))
		switch o.kind {
		case arrives:
			c.arrive(o.r, w)
		case releases:
			c.release(o.r, o.op, w)
		default:
			c.end(o, w)
		}
	}
	for r, f := range s.fates {
		switch {
		case f == fateWaits && s.seen.fates[r] != fateWaits:
			s.decide(r, w)
		case s.haunts(r):
			c := s.clone()
			c.dequeue(r)
			c.notes[r] &^= ghost
			c.used += s.demands[r].weight
			w.To(c)
		}
	}
}

// haunts reports whether it is the turn of a request that has given up.
func (s *state) haunts(r int) bool {
	return s.notes[r]&ghost != 0 && s.queue[0] == r && s.fits(r)
}

// arrive lets a request come. It runs, is rejected, or waits.
func (s *state) arrive(r int, w *ways) {
	want, seen := s.wants(r), s.seen.fates[r]
	got := cmp.Or(seen, want)
	if got == fateFull {
		s.turnAway(r, want, w)
	}
	// One that is seen to be rejected may have its slots, and then find that its context is done.
	if got == fateRuns || got == fateFull && want == fateRuns && s.mayEnd(r) {
		s.runAtOnce(r, want, w)
	}
	if got == fateWaits || want == fateWaits && (got == fateRuns || s.seen.ties()) {
		s.join(r, want, w)
	}
}

// join lets a request wait.
func (s *state) join(r int, want fate, w *ways) {
	c, q := s.clone(), &s.demands[r]
	ok := want != fateFull || s.limit == 0
	timeless := s.cfg.Timeout == 0 && !q.try
	if !c.law(w, "CT-CTXPRE", ok || !s.gone(r), r, fateFull, (*state).contextWasDone) ||
		!c.law(w, "CT-OVER", ok || !s.exceeds(r) || s.gone(r), r, fateFull, (*state).tooMuch) ||
		!c.law(w, "CT-TIME0", ok || s.cfg.Timeout != 0 || q.try || s.exceeds(r), r, fateFull, (*state).noTime) ||
		!c.law(w, "CT-REJECT", ok || s.exceeds(r) || s.gone(r) || timeless, r, fateFull, (*state).noRoom) {
		return
	}
	c.fates[r] = fateWaits
	if s.exceeds(r) && (s.limit > 0 || !s.tr.OneAtATime) {
		c.notes[r] |= never
	}
	if s.exceeds(r) && s.limit == 0 {
		c.notes[r] |= heavy
	}
	if !s.exceeds(r) || s.limit == 0 {
		c.queue = append(slices.Clip(c.queue), r)
	}
	w.To(c)
}

// turnAway rejects a request as it comes. Where there are several reasons all are right.
func (s *state) turnAway(r int, want fate, w *ways) {
	q, exceeds, lawful := &s.demands[r], s.exceeds(r), false
	fits := !exceeds && s.fits(r) && len(s.queue) == 0
	tooBig := exceeds && (q.try || s.tr.Oversize != OversizeBlocks || s.limit == 0)
	full, _ := s.full()
	for f, ok := range [...]bool{
		fateGone:   s.gone(r),
		fateTooBig: tooBig,
		fateFull:   !exceeds && !fits && (q.try || full),
		fateLate:   !tooBig && !fits && s.cfg.Timeout == 0,
	} {
		if ok {
			lawful = true
			s.rejected(r, fate(f), w)
		}
	}
	rule, because := "CT-REJECT", (*state).room
	switch {
	case want == fateRuns && s.cfg.Timeout == 0:
		rule, because = "CT-TIME0", (*state).itsTurn
	case want == fateRuns && s.used+q.weight > s.least:
		rule, because = "CT-RESIZE", (*state).itsTurn
	case want == fateRuns:
		rule, because = "CT-WORK", (*state).itsTurn
	case exceeds:
		rule, because = "CT-OVER", (*state).tooMuch
	}
	if c := s.clone(); !lawful && c.law(w, rule, false, r, want, because) {
		c.rejected(r, fateFull, w)
	}
}

// rejected rejects a request. The error of one that its context has ended must be the right one.
func (s *state) rejected(r int, f fate, w *ways) {
	c, q := s.clone(), s.requests[r]
	c.fates[r] = f
	c.notes[r] &= ghost
	if f == fateGone && q.err != nil && q.ended != nil {
		want, because := "", ""
		switch {
		case q.lies():
			want = fmt.Sprintf("request %d returns %q, though its context says %q", q.id, q.err, q.ended)
		case s.tr.ContextError == ErrorOfContext && !errors.Is(q.err, q.ended):
			want = fmt.Sprintf("request %d returns %q, in which errors.Is does not find %q", q.id, q.err, q.ended)
			because = "ErrorOfContext is declared"
		}
		if want != "" && !s.inForce("CT-CTXERR") {
			want = ""
		}
		if !w.Law("CT-CTXERR", want == "", want, "%s", because) {
			return
		}
	}
	w.To(c)
}

// runAtOnce lets a request run as it comes.
func (s *state) runAtOnce(r int, want fate, w *ways) {
	late := s.tr.Context == ContextEndsWait
	if s.gone(r) && !s.demands[r].gone && !late {
		return // it came before its context was done
	}
	c := s.clone()
	if c.law(w, "CT-CTXPRE", !s.gone(r) || late, r, fateFull, (*state).contextWasDone) &&
		c.mayHave(r, want, w) {
		c.takes(r)
		w.To(c)
	}
}

// mayHave judges whether a request may have its slots.
func (s *state) mayHave(r int, want fate, w *ways) bool {
	q, rule := &s.demands[r], "CT-LIMIT"
	exceeds := s.exceeds(r) && s.limit > 0 && s.notes[r]&heavy == 0
	switch {
	case s.exceeds(r) && !exceeds:
		want = fateNone // it waits for a higher limit, or is rejected
	case s.fits(r):
	case s.so&hasResized != 0, s.used+q.weight <= s.most:
		rule = "CT-RESIZE"
	case s.mayEnd(r):
		rule = "CT-TIE"
	}
	turn := !s.overtakes(r) || !s.fits(r)
	ok := s.law(w, "CT-OVER", !exceeds, r, want, (*state).tooMuch) &&
		s.law(w, rule, exceeds || s.fits(r), r, want, (*state).noSlots) &&
		s.law(w, "CT-FIFO", turn, r, want, (*state).notItsTurn)
	if o := s.ahead(r); ok && !turn && s.fits(o) && s.seen.fates[o] == fateWaits {
		s.wrong = append(s.wrong, wrong{o, fateRuns, ""})
	}
	return ok
}

// overtakes reports whether a request must not run before others that wait.
func (s *state) overtakes(r int) bool {
	return s.tr.Fair == FairFIFO && !(s.tr.TryOvertakes && s.demands[r].try) &&
		s.notes[r]&(lost|never|heavy) == 0 && s.ahead(r) >= 0
}

// ahead is the first that waits before a request, -1 if nobody does who need not be passed over.
func (s *state) ahead(r int) int {
	for _, o := range s.queue {
		if o == r {
			break
		}
		if s.notes[o]&heavy == 0 {
			return o
		}
	}
	return -1
}

// decide ends the wait of a request for a reason that is no event: it is its turn, or it waits for more than
// a lowered limit.
func (s *state) decide(r int, w *ways) {
	full := s.seen.fates[r] == fateFull
	if full {
		s.reject(r, w)
	}
	if full && (!s.mayEnd(r) || s.exceeds(r) || !s.fits(r) || s.overtakes(r)) {
		return
	} // else it may have its slots, and then find that its wait has ended
	id := s.demands[r].id
	for places := range 2 {
		if places > 0 && (s.backlog < 0 || full || !s.slip(w, "CT-SEAT", "request %d kept its place", id)) {
			return
		}
		c := s.clone()
		if c.places += places; c.mayHave(r, fateWaits, w) {
			c.dequeue(r)
			c.takes(r)
			if c.notes[r] &^= heavy | never | lost; s.seatKept {
				c.notes[r] |= keeps
			}
			w.To(c)
		}
	}
}

// reject ends the wait of a request that is neither cancelled nor too late.
func (s *state) reject(r int, w *ways) {
	if s.notes[r]&heavy == 0 && s.mayEnd(r) {
		return
	}
	c := s.clone()
	if c.law(w, "CT-TIME", s.notes[r]&heavy != 0, r, fateWaits, (*state).noEnd) {
		c.dequeue(r)
		c.so |= hasLeft
		if s.notes[r]&heavy != 0 && s.exceeds(r) && !s.seen.racing && !slices.Contains(s.seen.cancels, true) {
			c.so |= hasRejected
		}
		c.rejected(r, fateTooBig, w)
	}
}

// end ends the wait of a request by its context or by the timeout. One that has got its slots meanwhile may find
// both, and give them to the next.
func (s *state) end(o occurrence, w *ways) {
	r, f, rule, because := o.r, fateLate, "CT-TIME", (*state).late
	if o.kind == isCancelled {
		f, rule, because = fateGone, "CT-CTX", (*state).cancelled
	}
	seen := s.seen.fates[r]
	switch {
	case s.fates[r] == fateWaits && seen == fateRuns: // it had its slots before
	case s.fates[r] == fateWaits:
		if s.law(w, rule, seen != fateWaits, r, fateFull, because) && seen == fateWaits {
			w.To(s)
		} else if seen != fateWaits {
			s.leave(r, f, rule, w)
		}
	case s.fates[r] == fateRuns && s.notes[r]&fresh != 0 && seen == fateFull:
		s.giveBack(r, f, w)
	default:
		c := s
		if s.fates[r] == fateNone {
			c = s.clone()
			c.notes[r] |= done
		}
		w.To(c)
	}
}

// leave lets a request stop waiting.
func (s *state) leave(r int, f fate, rule string, w *ways) {
	id := s.demands[r].id
	leaves := func(places int, stays note) {
		c := s.clone()
		c.so |= hasLeft
		if c.places += places; stays == 0 {
			c.dequeue(r)
		}
		c.notes[r] |= stays
		c.rejected(r, f, w)
	}
	leaves(0, 0)
	if s.slip(w, rule, "request %d kept its place", id) {
		leaves(1, 0)
	}
	if s.seen.ties() && s.slip(w, "CT-TIE", "request %d gave its place back twice", id) {
		leaves(-1, 0)
	}
	if slices.Contains(s.queue, r) && s.slip(w, "CT-NOGHOST", "request %d stayed in the queue", id) {
		leaves(0, ghost)
	}
}

// giveBack lets a request give up that has just got its slots.
func (s *state) giveBack(r int, f fate, w *ways) {
	weight, id := s.demands[r].weight, s.demands[r].id
	for _, n := range []int{weight, 0, 1} {
		if n == weight || s.slip(w, "CT-TIE", "request %d gave back %d of %d slots when it gave up", id, n, weight) {
			c := s.clone()
			c.used -= n
			c.so |= hasLeft
			c.rejected(r, f, w)
		}
	}
}
