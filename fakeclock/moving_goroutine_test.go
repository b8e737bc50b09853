package fakeclock_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/synctestcompat"
)

// counter counts ticks on a goroutine of its own.
type counter struct {
	clock clockwork.Clock
	gate  chan struct{} // if not nil, it waits for this before it counts
	ticks chan int      // holds the count
}

func newCounter(clock clockwork.Clock, gate chan struct{}) *counter {
	c := &counter{clock, gate, make(chan int, 1)}
	c.ticks <- 0
	go func() {
		for range 3 {
			clock.Sleep(time.Second)
			if c.gate != nil {
				<-c.gate
			}
			c.ticks <- 1 + <-c.ticks
		}
	}()
	return c
}

func (c *counter) count() int {
	n := <-c.ticks
	c.ticks <- n
	return n
}

// Advance does not wait for goroutines of the code's own, nor let them arm their next
// timer: MOVING.md once said that nothing is to be done for either.
func TestMoving_goroutineIsNotAwaited(t *testing.T) {
	clock := fakeclock.NewTest(t)
	gate := make(chan struct{})
	c := newCounter(clock, gate)
	clock.BlockUntil(1)
	clock.Advance(3 * time.Second)
	if n, armed := c.count(), len(clock.Timers()); n != 0 || armed != 0 {
		t.Errorf("a goroutine that has not run counted %d and armed %d", n, armed)
	}
	for i := range 3 { // the second way out: by what it arms
		if i > 0 {
			clock.BlockUntil(1)
			clock.Advance(time.Second)
		}
		gate <- struct{}{}
	}
}

// The second way out, in full: the goroutine arms another timer when it has counted.
func TestMoving_goroutineBlockUntilFunc(t *testing.T) {
	clock := fakeclock.NewTest(t)
	c := newCounter(clock, nil)
	for i := range 3 {
		if n := c.count(); n != i {
			t.Errorf("after %d seconds %d ticks", i, n)
		}
		if err := clock.BlockUntilFunc(context.Background(), asleep); err != nil {
			t.Fatal(err)
		}
		clock.Advance(time.Second)
		if i < 2 { // the last tick arms nothing
			if err := clock.BlockUntilFunc(context.Background(), asleep); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func asleep(timers []fakeclock.Timer) bool {
	return len(timers) == 1 && timers[0].Kind == fakeclock.KindSleep
}

// The first way out and the third: a settle that waits, and one that naps. Then one Advance
// also lets the goroutine re-arm.
func TestMoving_goroutineSettled(t *testing.T) {
	for name, settle := range map[string]func(){
		"synctest.Wait": synctestcompat.Wait,
		"a nap":         func() { time.Sleep(time.Millisecond) }, // of bubble time
	} {
		t.Run(name, func(t *testing.T) {
			synctestcompat.Run(t, func(t *testing.T) {
				clock := fakeclock.NewTest(t, fakeclock.WithSettle(settle))
				c := newCounter(clock, nil)
				clock.Advance(3 * time.Second)
				if n := c.count(); n != 3 {
					t.Errorf("after 3 seconds %d ticks", n)
				}
			})
		})
	}
}

// As in clockwork, a function may wait for what the test does after Advance.
func TestMoving_settleOfNothing(t *testing.T) {
	clock := fakeclock.NewTest(t, fakeclock.WithSettle(func() {}))
	gate, ended := make(chan struct{}), make(chan struct{})
	clock.AfterFunc(time.Second, func() {
		<-gate
		close(ended)
	})
	clock.Advance(time.Second)
	close(gate)
	<-ended
}

func TestMoving_whatDiffers(t *testing.T) {
	ours, theirs := new(fakeclock.Clock), new(clockwork.FakeClock)
	if got := ours.Now(); !got.Equal(start) || !theirs.Now().IsZero() {
		t.Errorf("zero clocks are at %v and %v", got, theirs.Now())
	}
	ctx, cancel := fakeclock.WithTimeout(context.Background(), ours, time.Second)
	defer cancel()
	var seen time.Duration
	ours.AfterFunc(time.Second, func() { ours.AfterFunc(time.Second, func() { seen = ours.Elapsed() }) })
	ours.Advance(time.Minute)
	if err := ctx.Err(); err != context.DeadlineExceeded || errors.Is(err, clockwork.ErrFakeClockDeadlineExceeded) {
		t.Errorf("Err() = %v", err)
	}
	if seen != 2*time.Second {
		t.Errorf("what was armed on the way fired at %v, want 2s", seen)
	}
}
