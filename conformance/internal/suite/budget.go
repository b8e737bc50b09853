package suite

import (
	"math"
	"runtime/metrics"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
)

// An implementation may look at the clock all the time, by a ticker or by naps, and then a
// schedule with days in it takes minutes. A run may let the implementation wake often
// enough for an hour of a ticker of 50 ms; where that is not enough, it ends there and is
// left out, and so are schedules of the same configuration that are as long.
const mostWakes = 110_000

// polls is why such a run is not judged.
const polls = "the implementation reads the clock so often that this schedule takes too long"

// budget counts how often an implementation wakes in a run.
type budget struct {
	wakes int
	spent bool

	overtaken bool // see racing
}

// wake counts one more, and reports whether that is one too many.
func (b *budget) wake() bool {
	b.wakes++
	b.spent = b.spent || b.wakes > mostWakes
	return b.spent
}

// Spent reports whether time stands still because the budget is used up.
func (b *budget) Spent() bool { return b.spent }

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
