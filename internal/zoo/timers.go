package zoo

import (
	"sync"
	"time"

	"github.com/jonboulle/clockwork"
)

// Sleep sleeps for d, and reports whether it did: not if until was closed before.
func Sleep(clock clockwork.Clock, d time.Duration, until <-chan struct{}) bool {
	timer := clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.Chan():
		return true
	case <-until:
		return false
	}
}

// OnTicks does something at each tick on a goroutine of its own, until it is stopped.
func OnTicks(ticker clockwork.Ticker, do func()) (stop func()) {
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-ticker.Chan():
				do()
			case <-done:
				return
			}
		}
	}()
	return sync.OnceFunc(func() { ticker.Stop(); close(done) })
}
