package guide

import (
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/synctestcompat"
)

// newEndlessCache is newCache whose janitor nobody can stop: a loop over a ticker, in a
// goroutine, and no Close.
func newEndlessCache(clock clockwork.Clock, ttl, sweepEvery time.Duration) *cache {
	c := &cache{clock: clock, ttl: ttl, expires: map[string]time.Time{}}
	if sweepEvery > 0 { // without an interval there is no janitor
		go func() {
			for range clock.NewTicker(sweepEvery).Chan() {
				c.sweep()
			}
		}()
	}
	return c
}

func janitorBefore(t testing.TB, clock clockwork.Clock) {
	c := newEndlessCache(clock, 20*time.Millisecond, 10*time.Millisecond)
	c.put("key")
	time.Sleep(35 * time.Millisecond)
	if n := c.len(); n != 0 {
		t.Errorf("%d keys after their time, want none", n)
	}
}

func TestJanitor_bubble(t *testing.T) {
	synctestcompat.Run(t, func(t *testing.T) {
		c := newEndlessCache(clockwork.NewRealClock(), time.Minute, 0) // no janitor
		c.put("key")
		synctestcompat.Sleep(time.Minute - 1)
		c.sweep() // what the janitor would do
		if n := c.len(); n != 1 {
			t.Errorf("%d keys a nanosecond before their time, want 1", n)
		}
		synctestcompat.Sleep(1)
		c.sweep()
		if n := c.len(); n != 0 {
			t.Errorf("%d keys after their time, want none", n)
		}
	})
}

func TestJanitor_fakeClock(t *testing.T) {
	clock := fakeclock.NewTest(t)
	c := newEndlessCache(clock, time.Minute, 0)
	c.put("key")
	clock.Advance(time.Minute - 1)
	c.sweep()
	if n := c.len(); n != 1 {
		t.Errorf("%d keys a nanosecond before their time, want 1", n)
	}
	clock.Advance(1)
	c.sweep()
	if n := c.len(); n != 0 {
		t.Errorf("%d keys after their time, want none", n)
	}
}
