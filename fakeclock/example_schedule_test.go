package fakeclock_test

import (
	"context"
	"fmt"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/escapement-go/escapement/fakeclock"
)

// sleep is Sleep that obeys a context: what waits in it can be told to stop.
func sleep(ctx context.Context, clock clockwork.Clock, d time.Duration) error {
	timer := clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.Chan():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// A sleep of an hour that ends when it is told to, and leaves no timer behind.
func ExampleClock_NewTimer() {
	clock := fakeclock.New()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- sleep(ctx, clock, time.Hour) }()
	clock.BlockUntil(1)
	clock.Advance(time.Minute)
	cancel()
	fmt.Println(<-ended, "after", clock.Elapsed(), "with", len(clock.Timers()), "timers armed")
	// Output: context canceled after 1m0s with 0 timers armed
}

// A ticker drops the ticks that its reader is too slow for. The time of the next one tells
// how many.
func ExampleClock_NewTicker() {
	clock := fakeclock.New()
	ticker := clock.NewTicker(time.Second)
	defer ticker.Stop()
	last := clock.Now()
	for _, work := range []time.Duration{time.Second, 3500 * time.Millisecond, time.Second} {
		clock.Advance(work)
		tick := <-ticker.Chan()
		fmt.Printf("tick of %v, read at %v", tick.Sub(last), clock.Elapsed())
		if late := clock.Since(tick); late >= time.Second {
			fmt.Printf(", %d later ones dropped", late/time.Second)
		}
		fmt.Println()
		last = tick
	}
	// Output:
	// tick of 1s, read at 1s
	// tick of 1s, read at 4.5s, 2 later ones dropped
	// tick of 3s, read at 5.5s
}

// A loop that sleeps for its interval comes later by its work each time. One that sleeps
// until the next multiple of it does not.
func ExampleClock_Sleep() {
	const interval, work = 100 * time.Millisecond, 10 * time.Millisecond
	clock := fakeclock.New()
	clock.AfterFunc(interval, func() {
		for range 3 {
			fmt.Println("drifts: ", clock.Elapsed())
			clock.Sleep(work)
			clock.Sleep(interval)
		}
	})
	clock.Advance(time.Second)

	clock = fakeclock.New()
	clock.AfterFunc(interval, func() {
		next := clock.Now()
		for range 3 {
			fmt.Println("is even:", clock.Elapsed())
			clock.Sleep(work)
			next = next.Add(interval)
			clock.Sleep(clock.Until(next))
		}
	})
	clock.Advance(time.Second)
	// Output:
	// drifts:  100ms
	// drifts:  210ms
	// drifts:  320ms
	// is even: 100ms
	// is even: 200ms
	// is even: 300ms
}

// backoff waits longer each time, up to most, by one timer that is armed again and again. jitter
// picks from what it is given, so that clients which failed together do not come back together.
type backoff struct {
	timer     clockwork.Timer
	next      time.Duration
	most      time.Duration
	jitter    func(time.Duration) time.Duration
	giveUp    int
	attempted int
}

func (b *backoff) run(attempt func() error) {
	if b.attempted++; attempt() != nil && b.attempted < b.giveUp {
		b.timer.Reset(b.jitter(b.next))
		b.next = min(2*b.next, b.most)
	}
}

// Two clients that fail at the same time come back at different times. The clock shows each
// instant; jitter is handed in, so that the test knows it.
func ExampleClock_AfterFunc() {
	clock := fakeclock.New()
	start := func(name string, jitter func(time.Duration) time.Duration) {
		b := &backoff{next: time.Second, most: 3 * time.Second, jitter: jitter, giveUp: 4}
		b.timer = clock.AfterFunc(time.Second, func() {
			b.run(func() error {
				fmt.Println(name, "at", clock.Elapsed())
				return context.DeadlineExceeded
			})
		})
	}
	start("a", func(d time.Duration) time.Duration { return d })
	start("b", func(d time.Duration) time.Duration { return d * 7 / 10 })
	clock.Advance(time.Minute)
	// Output:
	// a at 1s
	// b at 1s
	// b at 1.7s
	// a at 2s
	// b at 3.1s
	// a at 4s
	// b at 5.2s
	// a at 7s
}

// What is to run on the minute has to look at the wall clock again when it wakes: a timer's
// duration does not change when somebody sets the clock back in the meantime.
func ExampleClock_SetWall_onTheMinute() {
	clock := fakeclock.New(fakeclock.WithStart(time.Date(2026, 3, 1, 12, 0, 20, 0, time.UTC)))
	onTheMinute := func(f func()) {
		for range 2 {
			next := clock.Now().Truncate(time.Minute).Add(time.Minute)
			for clock.Now().Before(next) {
				clock.Sleep(next.Sub(clock.Now()))
				if clock.Now().Before(next) {
					fmt.Println("woke too early, at", clock.Now().Format(time.TimeOnly))
				}
			}
			f()
		}
	}
	clock.AfterFunc(time.Second, func() {
		onTheMinute(func() { fmt.Println("runs at", clock.Now().Format(time.TimeOnly)) })
	})
	clock.Advance(10 * time.Second)
	clock.SetWall(clock.Now().Add(-15 * time.Second)) // now 12:00:15 again
	clock.Advance(2 * time.Minute)
	// Output:
	// woke too early, at 12:00:45
	// runs at 12:01:00
	// runs at 12:02:00
}

// A cache that notes until when an entry is good serves it for half an hour too long after
// the clock was set back by half an hour. One that measures how old it is does not.
func ExampleClock_Since() {
	clock := fakeclock.New()
	const ttl = time.Minute
	stored := clock.Now()
	expires := stored.Add(ttl)
	clock.Advance(10 * time.Second)
	clock.SetWall(clock.Now().Add(-30 * time.Minute))
	clock.Advance(ttl)
	fmt.Println("good by its instant:", clock.Now().Before(expires))
	fmt.Println("good by its age:    ", clock.Since(stored) < ttl)
	// Output:
	// good by its instant: true
	// good by its age:     false
}
