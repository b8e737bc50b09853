package conformance

import (
	"time"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/synctestcompat"
	"github.com/jonboulle/clockwork"
)

// TimeSource says how an implementation takes its time.
type TimeSource int

const (
	// Injected: the implementation uses Env.Clock and no other clock.
	Injected TimeSource = iota + 1
	// PackageTime: the implementation calls package time. It runs unchanged inside
	// bubbles of testing/synctest; where the toolchain has none the suite skips.
	PackageTime
	// Explicit: the operations take the time as an argument and no clock is read.
	Explicit
)

// String returns the name of the constant.
func (s TimeSource) String() string {
	switch s {
	case Injected:
		return "Injected"
	case PackageTime:
		return "PackageTime"
	case Explicit:
		return "Explicit"
	}
	return "undeclared"
}

// Env is what an implementation is made in.
type Env struct {
	// Clock is the clock to inject. In a PackageTime run it is package time behind
	// the same interface.
	Clock clockwork.Clock
	// Start is the instant at which the schedule begins.
	Start time.Time
}

// driver owns time during one run of a schedule.
type driver interface {
	clock() clockwork.Clock
	// now returns how far time has moved since the schedule's start.
	now() time.Duration
	// to lets everything settle, moves time to at, and fires what is due on the
	// way and at at itself.
	to(at time.Duration)
	// settle waits until nothing moves any more at this instant.
	settle()
	// race does the step at the instant at, in the given order with its timers.
	race(at time.Duration, order Order, step func())
	// armed reports whether a timer is armed, as far as the driver can know.
	armed() bool
}

// hand is the driver with a fake clock, for Injected and Explicit runs. In a
// bubble it settles exactly; outside it waits for callbacks only.
type hand struct {
	c      *fakeclock.Clock
	start  time.Time
	bubble bool
	jump   bool          // package time moves an hour before each step, which is nobody's business
	at     time.Duration // the schedule's instant: Explicit runs may go back
}

func newHand(start time.Time, bubble bool) *hand {
	h := &hand{start: start, bubble: bubble}
	opts := []fakeclock.Option{fakeclock.WithStart(start)}
	if bubble {
		opts = append(opts, fakeclock.WithSettle(synctestcompat.Wait))
	}
	h.c = fakeclock.New(opts...)
	return h
}

func (h *hand) clock() clockwork.Clock { return h.c }
func (h *hand) now() time.Duration     { return h.c.Elapsed() }

func (h *hand) to(at time.Duration) {
	if h.jump {
		time.Sleep(time.Hour)
	}
	h.at = at
	h.c.Advance(max(0, at-h.c.Elapsed()))
}

func (h *hand) settle() {
	if h.bubble {
		synctestcompat.Wait()
	}
}

func (h *hand) race(at time.Duration, order Order, step func()) {
	h.at = at
	switch order {
	case OrderStepFirst:
		h.c.AdvanceUntil(h.start.Add(at))
		step()
		h.c.Advance(0)
	case OrderHeld:
		release := h.c.Hold()
		h.c.Advance(max(0, at-h.c.Elapsed()))
		if h.bubble {
			go step() // it may wait for the function that is held
			h.settle()
		} else {
			step()
		}
		release()
	default:
		h.to(at)
		step()
	}
}

func (h *hand) armed() bool {
	_, ok := h.c.Next()
	return ok
}

// bubbleTime is the driver of PackageTime runs; it lives in a bubble.
type bubbleTime struct {
	c     *synctestcompat.Clock
	start time.Time
}

// newBubbleTime lets the bubble, which begins in the year 2000, come to where schedules
// begin. That is after any instant that a package noted when it was loaded, and from which
// it may reckon all others: no time has passed since then that is less than nothing.
func newBubbleTime() *bubbleTime {
	time.Sleep(time.Until(Config{}.start()))
	return &bubbleTime{synctestcompat.NewClock(), time.Now()}
}

func (b *bubbleTime) clock() clockwork.Clock { return b.c }
func (b *bubbleTime) now() time.Duration     { return time.Since(b.start) }
func (b *bubbleTime) settle()                { synctestcompat.Wait() }
func (b *bubbleTime) armed() bool            { return false }

func (b *bubbleTime) to(at time.Duration) {
	if d := at - b.now(); d > 0 {
		synctestcompat.Sleep(d)
	} else {
		synctestcompat.Wait()
	}
}

// race wakes at the instant together with its timers: who goes first is chance.
func (b *bubbleTime) race(at time.Duration, _ Order, step func()) {
	synctestcompat.Wait()
	time.Sleep(at - b.now())
	step()
}
