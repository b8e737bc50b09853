package concurrencytest

import (
	"time"

	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/fakeclock"
)

// racingTime is a fake clock in a bubble that does not settle by itself, so that a step and
// the timers of its instant can meet with nothing settled between them.
type racingTime struct{ *suite.FakeTime }

func newRacingTime(start time.Time, bubble bool) *racingTime {
	return &racingTime{&suite.FakeTime{Fake: fakeclock.New(fakeclock.WithStart(start)), Start: start, Bubble: bubble}}
}

// To lets everything happen that is due on the way and at at itself.
func (h *racingTime) To(at time.Duration) {
	h.before(at + 1)
	h.FakeTime.To(at)
	h.Settle()
}

// before lets everything happen that is due before at.
func (h *racingTime) before(at time.Duration) {
	h.Settle()
	for {
		next, ok := h.Fake.Next()
		if !ok || next.Sub(h.Start) >= at {
			return
		}
		h.Fake.AdvanceTo(next)
		h.Settle()
	}
}

// Race does a step beside the timers of its instant, in one of four orders.
func (h *racingTime) Race(at time.Duration, order inside.Order, step func()) {
	h.before(at)
	switch order {
	case inside.OrderFireFirst:
		h.FakeTime.To(at)
		h.Settle()
		step()
	case inside.OrderStepFirst:
		h.Fake.AdvanceUntil(h.Start.Add(at))
		step()
		h.Settle()
		h.Fake.Advance(0)
	case inside.OrderHeld:
		release := h.Fake.Hold()
		h.FakeTime.To(at)
		step()
		release()
	default: // the timer has fired, but who waits for it has not run yet
		h.FakeTime.To(at)
		step()
	}
	h.Settle()
}
