package suite

import (
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/synctestcompat"
	"github.com/jonboulle/clockwork"
)

// Driver owns time during one run of a schedule.
type Driver interface {
	// Clock is the clock to inject.
	Clock() clockwork.Clock
	// Now returns how far time has moved since the schedule's start.
	Now() time.Duration
	// To lets everything settle, moves time to at, and fires what is due on the way and at
	// at itself.
	To(at time.Duration)
	// Settle waits until nothing moves any more at this instant.
	Settle()
	// Race does the step at the instant at, in the given order with its timers.
	Race(at time.Duration, order conformance.Order, step func())
	// Armed reports whether a timer is armed, as far as the driver can know.
	Armed() bool
}

// Hand is the driver with a fake clock, for Injected and Explicit runs. In a bubble it
// settles exactly; outside it waits for callbacks only.
type Hand struct {
	Fake   *fakeclock.Clock
	Start  time.Time
	Bubble bool
	jump   bool // package time moves an hour before each step, which is nobody's business
}

// NewHand returns a hand whose clock starts at start.
func NewHand(start time.Time, bubble bool) *Hand {
	h := &Hand{Start: start, Bubble: bubble}
	opts := []fakeclock.Option{fakeclock.WithStart(start)}
	if bubble {
		opts = append(opts, fakeclock.WithSettle(synctestcompat.Wait))
	}
	h.Fake = fakeclock.New(opts...)
	return h
}

// Clock returns the fake clock.
func (h *Hand) Clock() clockwork.Clock { return h.Fake }

// Now returns how far the fake clock has moved.
func (h *Hand) Now() time.Duration { return h.Fake.Elapsed() }

// To moves the fake clock.
func (h *Hand) To(at time.Duration) {
	if h.jump {
		time.Sleep(time.Hour)
	}
	h.Fake.Advance(max(0, at-h.Fake.Elapsed()))
}

// Settle waits for the bubble, if there is one.
func (h *Hand) Settle() {
	if h.Bubble {
		synctestcompat.Wait()
	}
}

// Race brings about the order.
func (h *Hand) Race(at time.Duration, order conformance.Order, step func()) {
	switch order {
	case conformance.OrderStepFirst:
		h.Fake.AdvanceUntil(h.Start.Add(at))
		step()
		h.Fake.Advance(0)
	case conformance.OrderHeld:
		release := h.Fake.Hold()
		h.Fake.Advance(max(0, at-h.Fake.Elapsed()))
		if h.Bubble {
			Start(step) // it may wait for the function that is held
			h.Settle()
		} else {
			step()
		}
		release()
	default:
		h.To(at)
		step()
	}
}

// Armed asks the fake clock.
func (h *Hand) Armed() bool {
	_, ok := h.Fake.Next()
	return ok
}

// BubbleTime is the driver of PackageTime runs; it lives in a bubble.
type BubbleTime struct {
	clock *synctestcompat.Clock
	start time.Time
}

// NewBubbleTime lets the bubble, which begins in the year 2000, come to where schedules
// begin. That is after any instant that a package noted when it was loaded, and from which
// it may reckon all others: no time has passed since then that is less than nothing.
func NewBubbleTime() *BubbleTime {
	time.Sleep(time.Until(conformance.Config{}.Start()))
	return &BubbleTime{synctestcompat.NewClock(), time.Now()}
}

// Clock is package time behind the interface of a clock.
func (b *BubbleTime) Clock() clockwork.Clock { return b.clock }

// Now returns how much package time has passed.
func (b *BubbleTime) Now() time.Duration { return time.Since(b.start) }

// Settle waits for the bubble.
func (b *BubbleTime) Settle() { synctestcompat.Wait() }

// Armed says no: package time does not tell.
func (b *BubbleTime) Armed() bool { return false }

// To sleeps.
func (b *BubbleTime) To(at time.Duration) {
	if d := at - b.Now(); d > 0 {
		synctestcompat.Sleep(d)
	} else {
		synctestcompat.Wait()
	}
}

// Race wakes at the instant together with its timers: who goes first is chance.
func (b *BubbleTime) Race(at time.Duration, _ conformance.Order, step func()) {
	synctestcompat.Wait()
	time.Sleep(at - b.Now())
	step()
}
