package guide

import (
	"sync"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/synctestcompat"
)

// cache forgets keys after a while. A janitor, a goroutine of its own, removes them.
type cache struct {
	clock clockwork.Clock
	ttl   time.Duration
	stop  chan struct{}

	mu      sync.Mutex
	expires map[string]time.Time
}

func newCache(clock clockwork.Clock, ttl, sweepEvery time.Duration) *cache {
	c := &cache{clock: clock, ttl: ttl, stop: make(chan struct{}), expires: map[string]time.Time{}}
	go c.janitor(sweepEvery)
	return c
}

func (c *cache) janitor(every time.Duration) {
	ticker := c.clock.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.Chan():
			c.sweep()
		case <-c.stop:
			return
		}
	}
}

func (c *cache) sweep() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, at := range c.expires {
		if !c.clock.Now().Before(at) {
			delete(c.expires, key)
		}
	}
}

func (c *cache) put(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.expires[key] = c.clock.Now().Add(c.ttl)
}

func (c *cache) len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.expires)
}

func (c *cache) close() { close(c.stop) }

func cacheBefore(t testing.TB, clock clockwork.Clock) {
	c := newCache(clock, 20*time.Millisecond, 10*time.Millisecond)
	defer c.close()
	c.put("key")
	time.Sleep(35 * time.Millisecond) // the janitor needs a moment
	if n := c.len(); n != 0 {
		t.Errorf("%d keys after their time, want none", n)
	}
}

func TestCache_bubble(t *testing.T) {
	synctestcompat.Run(t, func(t *testing.T) {
		c := newCache(clockwork.NewRealClock(), time.Minute, 10*time.Second)
		defer c.close()
		c.put("key")
		synctestcompat.Sleep(time.Minute - 1)
		if n := c.len(); n != 1 {
			t.Errorf("%d keys a nanosecond before their time, want 1", n)
		}
		synctestcompat.Sleep(1)
		if n := c.len(); n != 0 {
			t.Errorf("%d keys after their time, want none", n)
		}
	})
}

func TestCache_fakeClockInBubble(t *testing.T) {
	synctestcompat.Run(t, func(t *testing.T) {
		clock := fakeclock.NewTest(t, fakeclock.WithSettle(synctestcompat.Wait))
		c := newCache(clock, time.Minute, 10*time.Second)
		defer func() { c.close(); synctestcompat.Wait() }() // NewTest sees that the ticker is stopped
		c.put("key")
		clock.Advance(time.Minute - 1)
		if n := c.len(); n != 1 {
			t.Errorf("%d keys a nanosecond before their time, want 1", n)
		}
		clock.Advance(1)
		if n := c.len(); n != 0 {
			t.Errorf("%d keys after their time, want none", n)
		}
	})
}
