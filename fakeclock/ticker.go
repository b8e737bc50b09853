package fakeclock

import "time"

// ticker is a repeating timer with the method set of a ticker.
type ticker timer

// Chan returns the channel on which the ticker ticks.
func (t *ticker) Chan() <-chan time.Time { return t.c }

// Stop ends the ticks and discards an unread one. It does not close the channel.
func (t *ticker) Stop() { (*timer)(t).Stop() }

// Reset makes the ticker tick every d from now and discards an unread tick. It
// works on a stopped ticker too, and panics if d <= 0.
func (t *ticker) Reset(d time.Duration) {
	if d <= 0 {
		panic("non-positive interval for Ticker.Reset")
	}
	t.clock.mu.Lock()
	defer t.clock.unlock()
	t.clock.disarm((*timer)(t))
	t.period = int64(d)
	t.clock.arm((*timer)(t), d, EventReset)
}
