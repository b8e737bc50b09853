package concurrencytest

import (
	"fmt"
	"slices"

	"github.com/escapement-go/escapement/internal/timeline"
)

// settle judges what must have happened when everything has settled.
func (s *state) settle(w *ways) {
	c := s.pends(s.pending)
	c.notes = slices.Clone(s.notes)
	for r, f := range c.fates {
		seen := c.seen.fates[r]
		if c.haunts(r) || f != fateNone && seen != fateNone && f.outside() != seen {
			return
		}
		c.notes[r] &^= fresh
	}
	if len(c.pending) == 0 && c.works(w) && c.tells(w) {
		c.so = 0
		w.To(c)
	}
}

// works judges whether nobody waits who should run. What becomes of one who does is open from then on.
func (s *state) works(w *ways) bool {
	if s.so&hasRejected != 0 {
		s.spare()
	}
	used := s.used
	for {
		r, passed, ok := s.overlooked(used)
		if !ok {
			return used > s.used || w.Law("CT-WORK", true, "", "")
		}
		if used == s.used {
			because := func(s *state, r int) string {
				switch {
				case passed >= 0:
					return fmt.Sprintf("%s; request %d asks for more than the limit, for which another was rejected",
						s.itsTurn(r), s.demands[passed].id)
				case s.notes[r]&heavy != 0:
					return s.itsTurn(r) + "; the limit was too low for it before, and no longer is"
				}
				return s.itsTurn(r)
			}
			if !s.law(w, s.whyOverlooked(r, passed), false, r, fateRuns, because) {
				return false
			}
		}
		used += s.demands[r].weight
		s.dequeue(r)
		s.notes[r] |= lost
	}
}

// spare notes who is next too, and waits for more than the limit, when another was rejected for that.
func (s *state) spare() {
	next := slices.IndexFunc(s.queue, func(r int) bool { return !s.exceeds(r) })
	switch {
	case next < 0:
		next = len(s.queue)
	case s.tr.Fair != FairFIFO: // it may have been the turn of a light one
		return
	}
	for _, r := range s.queue[:next] {
		s.notes[r] |= spared
	}
}

// overlooked finds a request that waits though it must run. Where the order is open there is none if one does not fit,
// as that may be the next in turn. Passed is one before it that should have been rejected, -1 if there is none.
func (s *state) overlooked(used int) (found, passed int, ok bool) {
	passed = -1
	for _, r := range s.queue {
		switch {
		case s.exceeds(r) && s.notes[r]&spared != 0:
			passed = r
			continue
		case s.notes[r]&(never|ghost) != 0, s.demands[r].weight > s.limit+s.bias-used:
			return 0, -1, false
		case !ok:
			found, ok = r, true
		}
		if s.tr.Fair == FairFIFO {
			break
		}
	}
	return found, passed, ok
}

// whyOverlooked is the rule that is broken if a request waits which must run, by what happened last.
func (s *state) whyOverlooked(r, passed int) string {
	left, released := s.so&hasLeft != 0, s.so&hasReleased != 0
	switch {
	case s.so&hasPanicked != 0:
		return "X-PANIC"
	case passed >= 0, s.aside():
		return "CT-HEAD"
	case s.notes[r]&heavy != 0:
		return "CT-RESIZE"
	case left && released:
		return "CT-TIE"
	case left:
		return "CT-HEAD"
	case s.so&hasResized != 0:
		return "CT-RESIZE"
	}
	return "CT-WORK"
}

// aside reports whether a request waits that came for more than the limit.
func (s *state) aside() bool {
	for r, f := range s.fates {
		if f == fateWaits && s.exceeds(r) && s.notes[r]&never != 0 {
			return true
		}
	}
	return false
}

// tells judges how often the hook was called. It is left open whether it is called for a try and for a request whose
// context is done.
func (s *state) tells(w *ways) bool {
	if s.seen.hooks < 0 || s.hooked {
		return true
	}
	least, most := 0, 0
	for r, f := range s.fates {
		switch f {
		case fateFull, fateLate, fateTooBig:
			if !s.demands[r].try && (f != fateTooBig || s.tr.Hook == HookOnce) {
				least++
			}
			most++
		case fateGone:
			most++
		}
	}
	calls := s.seen.hooks
	if calls >= least && calls <= most || !s.inForce("CT-HOOK") {
		return w.Law("CT-HOOK", true, "", "")
	}
	s.hooked = true
	return w.Law("CT-HOOK", false,
		fmt.Sprintf("by %s the hook was called %d times, want %d", timeline.Duration(s.at), calls, least),
		"%s had been rejected, and %s is declared", timeline.Count(least, "request"), hooks[s.tr.Hook-1])
}
