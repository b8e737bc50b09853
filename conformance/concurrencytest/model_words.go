package concurrencytest

import (
	"fmt"

	"github.com/escapement-go/escapement/internal/timeline"
)

// The methods below say why something else should have become of a request.

// came says when a request came.
func (s *state) came(r int) string { return timeline.Duration(s.demands[r].at) }

// itsTurn says why a request should run.
func (s *state) itsTurn(r int) string {
	return fmt.Sprintf("%d of %d slots are taken, it needs %d, and it is its turn",
		s.used, s.limit, s.demands[r].weight)
}

// notItsTurn says why a request should not run.
func (s *state) notItsTurn(r int) string {
	text, o := fmt.Sprintf("%d of %d slots are taken, and ", s.used, s.limit), s.demands[s.ahead(r)].id
	if s.demands[r].try {
		return text + fmt.Sprintf("request %d waits, and TryAcquire must not overtake it", o)
	}
	return text + fmt.Sprintf("it is the turn of request %d", o)
}

// tooMuch says why a request should not run, or be rejected.
func (s *state) tooMuch(r int) string {
	return fmt.Sprintf("it asks for %d slots of %d", s.demands[r].weight, s.limit)
}

// noSlots says why a request should not run.
func (s *state) noSlots(r int) string {
	return fmt.Sprintf("%d of %d slots are taken, and it needs %d", s.used, s.limit, s.demands[r].weight)
}

// noEnd says why a request should wait on.
func (s *state) noEnd(r int) string {
	if s.cfg.Timeout <= 0 {
		return "nothing ends its wait"
	}
	return fmt.Sprintf("it came at %s, and the timeout of %s ends at %s", s.came(r),
		timeline.Duration(s.cfg.Timeout), timeline.Duration(s.demands[r].at+s.cfg.Timeout))
}

// late and cancelled say why a wait should have ended.
func (s *state) late(r int) string {
	return fmt.Sprintf("it came at %s and the timeout is %s", s.came(r), timeline.Duration(s.cfg.Timeout))
}

func (s *state) cancelled(int) string { return "its context is done" }

// contextWasDone says why a request should be rejected.
func (s *state) contextWasDone(r int) string {
	why := "its context was done before it came"
	if s.seen.fates[r] == fateRuns {
		why += "; if it may run without waiting, declare ContextEndsWait"
	}
	return why
}

// noTime says why a request should be rejected.
func (s *state) noTime(int) string { return "the timeout is 0" }

// room says why a request should not be rejected.
func (s *state) room(int) string {
	if s.backlog < 0 {
		return "any number may wait"
	}
	taken, _ := s.seats()
	return fmt.Sprintf("%d of %d places in the backlog are taken", taken, s.backlog)
}

// noRoom says why a request should be rejected.
func (s *state) noRoom(r int) string {
	q, kept := &s.demands[r], 0
	text := fmt.Sprintf("%d of %d slots are taken", s.used, s.limit)
	if q.weight > 1 {
		text = fmt.Sprintf("it asks for %d, %s", q.weight, text)
	}
	for _, n := range s.notes {
		if n&keeps != 0 {
			kept++
		}
	}
	switch {
	case q.try:
		return text + ", and a try does not wait"
	case kept > 0:
		return fmt.Sprintf("%s; of %d places in the backlog waiters hold %d and running requests %d",
			text, s.backlog, len(s.queue), kept)
	}
	return fmt.Sprintf("%s and %d of %d places in the backlog", text, len(s.queue), s.backlog)
}
