package peers

import (
	"slices"
	"testing"
	"time"

	"github.com/eapache/go-resiliency/semaphore"
	"github.com/romdo/go-debounce"
	"github.com/samber/lo"
	"github.com/zeromicro/go-zero/core/syncx"

	"github.com/escapement-go/escapement/synctestcompat"
	"github.com/escapement-go/escapement/synctestcompat/interleave"
)

// A wake-up is lost between the try and the wait: who borrows waits to its timeout, though the
// token was returned long ago.
func TestFound_goZeroTimeoutLimit(t *testing.T) {
	finds(t, func(t *interleave.T) {
		l := syncx.NewTimeoutLimit(1)
		l.TryBorrow()
		returned := false
		go func() {
			l.Return()
			returned = true
		}()
		began := time.Now()
		if err := l.Borrow(time.Second); err != nil && returned && time.Since(began) > 0 {
			t.Errorf("Borrow: %v, with a token free for %v", err, time.Since(began))
		}
	}, interleave.StillTime())
}

// The function of a timer that has expired resets the window that a reset has begun.
func TestFound_loThrottle(t *testing.T) {
	finds(t, func(t *interleave.T) {
		n := 0
		throttled, reset := lo.NewThrottle(time.Second, func() { n++ })
		throttled()
		time.Sleep(time.Second)
		reset()
		throttled() // begins a window
		synctestcompat.Wait()
		throttled()
		if n > 2 {
			t.Errorf("ran %d times, of which twice in the window from 1s on", n)
		}
		reset()
	})
}

// The function of a timer that has expired runs for a call that has just been made, and too early by all
// of the wait.
func TestFound_romdoMaxWait(t *testing.T) {
	finds(t, func(t *interleave.T) {
		began := time.Now()
		ran := make(chan time.Duration, 2)
		call, cancel := debounce.NewWithMaxWait(time.Second, 10*time.Second, func() { ran <- time.Since(began) })
		call()
		time.Sleep(time.Second)
		call()
		time.Sleep(5 * time.Second)
		cancel()
		close(ran)
		var all []time.Duration
		for at := range ran {
			all = append(all, at)
		}
		if !slices.Contains(all, 2*time.Second) {
			t.Errorf("called at 0 and 1s, ran at %v; want a run at 2s", all)
		}
	})
}

// With a timeout of 0 a free semaphore is refused by chance.
func TestFound_eapacheSemaphore(t *testing.T) {
	finds(t, func(t *interleave.T) {
		s := semaphore.New(1, 0)
		if err := s.Acquire(); err != nil {
			t.Error(err)
		}
	})
}
