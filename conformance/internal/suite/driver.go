package suite

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/internal/sched"
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
	Race(at time.Duration, order inside.Order, step func())
	// Armed reports whether a timer is armed that somebody could stop, as far as the driver can know.
	Armed() bool
}

// FakeTime is the driver of Injected and Explicit runs: it moves a fake clock. In a bubble
// it waits until everything has settled, elsewhere for callbacks only.
type FakeTime struct {
	Fake   *fakeclock.Clock
	Start  time.Time
	Bubble bool
	jump   bool // package time moves an hour before each step, which must not matter
	moving bool // the clock is being advanced, and its timers count
	// unsettled says that the clock moves on although something may run.
	unsettled bool
	// turn says that the clock is being moved, and waits for the functions that it runs.
	turn atomic.Bool
	budget
}

// NewFakeTime returns a driver whose clock starts at start.
func NewFakeTime(start time.Time, bubble bool) *FakeTime {
	f := &FakeTime{Start: start, Bubble: bubble}
	opts := []fakeclock.Option{fakeclock.WithStart(start)}
	if bubble {
		opts = append(opts, fakeclock.WithSettle(func() {
			if !f.unsettled {
				f.settled(synctestcompat.Wait)
			}
		}))
	}
	f.Fake = fakeclock.New(opts...)
	return f
}

// Clock returns the fake clock.
func (f *FakeTime) Clock() clockwork.Clock { return f.Fake }

// Now returns how far the fake clock has moved.
func (f *FakeTime) Now() time.Duration { return f.Fake.Elapsed() }

// To moves the fake clock.
func (f *FakeTime) To(at time.Duration) {
	if f.jump {
		time.Sleep(time.Hour)
	}
	f.advance(max(0, at-f.Fake.Elapsed()))
}

// Settle waits for the bubble, if there is one.
func (f *FakeTime) Settle() {
	if f.Bubble {
		synctestcompat.Wait()
	}
}

// Race brings about the order.
func (f *FakeTime) Race(at time.Duration, order inside.Order, step func()) {
	if g := sched.Self(); g != nil { // who goes first is chosen by package interleave
		f.To(max(f.Fake.Elapsed(), at-1))
		order, step = inside.OrderReceived, f.racing(g, step)
	}
	switch order {
	case inside.OrderStepFirst:
		f.move(func() { f.Fake.AdvanceUntil(f.Start.Add(at)) })
		step()
		f.move(func() { f.Fake.Advance(0) })
	case inside.OrderHeld:
		release := f.Fake.Hold()
		f.move(func() { f.Fake.Advance(max(0, at-f.Fake.Elapsed())) })
		if f.Bubble {
			Start(step) // it may wait for the function that is held
			f.Settle()
		} else {
			step()
		}
		release()
	case inside.OrderReceived:
		f.To(max(f.Fake.Elapsed(), at-1))
		f.unsettled = true
		f.To(at)
		f.unsettled = false
		Start(step) // on the one processor it is next, before all that the timers have woken
		f.Settle()
	default:
		f.To(at)
		step()
	}
}

// move moves the fake clock.
func (f *FakeTime) move(by func()) {
	f.turn.Store(true)
	defer f.turn.Store(false)
	by()
}

// loses reports whether nobody would wait for a function that the clock runs at once.
func (f *FakeTime) loses() bool { return !f.Bubble && !f.turn.Load() }

// Armed asks the fake clock. Timers of After do not count, as nobody can stop them.
func (f *FakeTime) Armed() bool {
	return slices.ContainsFunc(f.Fake.Timers(), func(t fakeclock.Timer) bool { return t.Kind != fakeclock.KindAfter })
}

// BubbleTime is the driver of PackageTime runs: it sleeps in a bubble.
type BubbleTime struct {
	clock *synctestcompat.Clock
	start time.Time
	// quick says that what is tested may wake a million times in a second.
	quick bool
	terms []time.Duration // of the configuration
	ends  []time.Duration // when they may end
	budget
}

// NewBubbleTime moves the bubble's clock, which begins in the year 2000, to the instant at
// which schedules begin. That is later than any instant of the real clock that a package
// may have noted when it was initialized, so that the time since then is not negative.
func NewBubbleTime(cfg conformance.Config) *BubbleTime {
	nap(time.Until(conformance.Config{}.Start()))
	return &BubbleTime{clock: synctestcompat.NewClock(), start: time.Now(), quick: quick(cfg), terms: terms(cfg)}
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
	if d := at - b.Now(); b.spent {
		return
	} else if d > 0 {
		b.sleep(d, synctestcompat.Sleep)
	} else {
		synctestcompat.Wait()
	}
}

// Race wakes at the instant together with its timers: who goes first is chance.
func (b *BubbleTime) Race(at time.Duration, _ inside.Order, step func()) {
	if g := sched.Self(); g != nil {
		b.To(max(b.Now(), at-1))
		step = b.racing(g, step)
	}
	synctestcompat.Wait()
	b.sleep(at-b.Now(), nap)
	step()
}
