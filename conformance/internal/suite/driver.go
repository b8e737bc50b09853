package suite

import (
	"math"
	"runtime/metrics"
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
	// used is what the run has used up so far.
	used() *budget
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

// Aside is an environment in which nothing is run.
func Aside() conformance.Env {
	start := conformance.Config{}.Start()
	return conformance.Env{Clock: NewFakeTime(start, false).Clock(), Start: start}
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
	case inside.OrderReceived, inside.OrderSampled:
		f.To(max(f.Fake.Elapsed(), at-1))
		f.unsettled = true
		f.To(at)
		f.unsettled = false
		if order == inside.OrderSampled { // what the timers have woken runs when the step starts others, or blocks
			step()
			return
		}
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

// An implementation may look at the clock all the time, by a ticker or by naps, and then a
// schedule with days in it takes minutes. A run may let the implementation wake often
// enough for an hour of a ticker of 50 ms; where that is not enough, it ends there and is
// left out, and so are schedules of the same configuration that are as long.
//
// All runs together may wake it sixteen times as often. From then on schedules are left out, of whatever
// configuration, that are as long as one in which it woke often.
const (
	mostWakes = 110_000
	oftenWoke = mostWakes / 8
	enough    = 16 * mostWakes
)

// polls is why such a run is not judged.
const polls = "the implementation reads the clock so often that this schedule takes too long"

// budget counts how often an implementation wakes in a run.
type budget struct {
	wakes int
	spent bool // time stands still because it is used up

	overtaken bool // see racing
}

// wake counts one more, and reports whether that is one too many.
func (b *budget) wake() bool {
	b.wakes++
	b.spent = b.spent || b.wakes > mostWakes
	return b.spent
}

func (b *budget) used() *budget { return b }

// exhausted is what ends an advance of the fake clock.
type exhausted struct{}

// advance moves the fake clock by d, or as far as the budget goes.
func (f *FakeTime) advance(d time.Duration) {
	if f.spent {
		return
	}
	f.moving = true
	defer func() {
		f.moving = false
		if r := recover(); r != nil && r != (exhausted{}) {
			panic(r)
		}
	}()
	f.move(func() { f.Fake.Advance(d) })
}

// settled is called by the fake clock after each instant at which something was due.
func (f *FakeTime) settled(wait func()) {
	wait()
	if f.moving && f.wake() {
		panic(exhausted{})
	}
}

// The longest sleep in a bubble after which nobody looks how often something woke, unless what is
// tested is quick. Of a longer one the first part is short, as a ticker of a nanosecond would not
// come to the end of a second, and each is twice as long as the one before.
const (
	firstSleep = 16 * time.Microsecond
	longSleep  = time.Minute
)

// terms are the times of a configuration.
func terms(cfg conformance.Config) []time.Duration {
	return []time.Duration{cfg.Wait, cfg.MaxWait, cfg.Timeout, cfg.Interval, cfg.Delay, cfg.Rate.Interval()}
}

// quick reports whether a ticker that is as fast as a configuration says would wake too often in
// [longSleep].
func quick(cfg conformance.Config) bool {
	for _, d := range terms(cfg) {
		if 0 < d && d < longSleep/mostWakes {
			return true
		}
	}
	return false
}

// sleep lets package time pass for d, or as far as the budget goes.
func (b *BubbleTime) sleep(d time.Duration, sleep func(time.Duration)) {
	if d <= firstSleep || !b.quick && d <= longSleep {
		sleep(d)
		return
	}
	d = min(d, time.Until(time.Unix(0, math.MaxInt64))-1) // the runtime's time ends there
	for _, term := range b.terms {
		b.ends = append(b.ends, b.Now()+term)
	}
	before := wakes()
	for slice := firstSleep; d > 0; slice *= 2 {
		next := min(slice, d)
		if ends := b.nextEnd(); 0 < ends && ends <= next { // a ticker may start there
			next, slice = ends, firstSleep/2
		}
		sleep(next)
		d -= next
		if n := wakes() - before; b.wakes+n > mostWakes {
			b.spent = true
			return
		}
	}
	b.wakes += wakes() - before
}

// nextEnd returns how long it takes until a time of the configuration ends that may have begun when a sleep
// began, 0 if there is none.
func (b *BubbleTime) nextEnd() time.Duration {
	b.ends = slices.DeleteFunc(b.ends, func(end time.Duration) bool { return end <= b.Now() })
	if len(b.ends) == 0 {
		return 0
	}
	return slices.Min(b.ends) - b.Now()
}

// wakes estimates how often goroutines were woken so far. The runtime notes one in eight,
// and wakes the root of the bubble for each of the implementation's.
func wakes() int {
	s := []metrics.Sample{{Name: "/sched/latencies:seconds"}}
	metrics.Read(s)
	n := uint64(0)
	for _, c := range s[0].Value.Float64Histogram().Counts {
		n += c
	}
	return int(n) * 8 / 2
}
