package orders

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/escapement-go/escapement/synctestcompat"
	"github.com/escapement-go/escapement/synctestcompat/interleave"
)

type lease interface{ release() }

// releaseAtExpiry asserts that a slot which is given back as its lease ends is
// given back once.
func releaseAtExpiry(fresh func(free *atomic.Int64, ttl time.Duration) lease) func(*interleave.T) {
	return func(t *interleave.T) {
		var free atomic.Int64
		l := fresh(&free, time.Second)
		time.Sleep(time.Second)
		l.release()
		synctestcompat.Sleep(time.Second)
		if got := free.Load(); got != 1 {
			t.Errorf("one slot was given back %d times", got)
		}
	}
}

// twiceFreed gives its slot back when it expires and says so afterwards; and does
// not ask whether the timer that it stops has run.
type twiceFreed struct {
	free    *atomic.Int64
	expired atomic.Bool
	timer   *time.Timer
}

func newTwiceFreed(free *atomic.Int64, ttl time.Duration) lease {
	l := &twiceFreed{free: free}
	l.timer = time.AfterFunc(ttl, l.expire)
	return l
}

func (l *twiceFreed) expire() {
	l.free.Add(1)
	l.expired.Store(true)
}

func (l *twiceFreed) release() {
	if l.expired.Load() {
		return
	}
	l.timer.Stop()
	l.free.Add(1)
}

// abandonJob asserts that the slot of a job that is abandoned as it begins is given
// back once, and not while the job runs.
func abandonJob(run func(ctx context.Context, free *atomic.Int64, f func())) func(*interleave.T) {
	return func(t *interleave.T) {
		var free atomic.Int64
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Add(1)
		go func() {
			defer wg.Done()
			run(ctx, &free, func() {
				if free.Load() != 0 {
					t.Error("a job runs without its slot")
				}
			})
		}()
		cancel()
		wg.Wait()
		synctestcompat.Wait()
		if got := free.Load(); got != 1 {
			t.Errorf("one slot was given back %d times", got)
		}
	}
}

// runTwiceReleased runs f in a goroutine with a slot and returns at the end of its
// context, and takes the slot of a job that has not begun. That may begin between
// the two looks.
func runTwiceReleased(ctx context.Context, free *atomic.Int64, f func()) {
	var cancelled, begun atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		if cancelled.Load() {
			return
		}
		begun.Store(true)
		f()
		free.Add(1)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		cancelled.Store(true)
		if !begun.Load() {
			free.Add(1)
		}
	}
}
