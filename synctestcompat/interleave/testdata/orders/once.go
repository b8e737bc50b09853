package orders

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/escapement-go/escapement/synctestcompat/interleave"
)

// swappedOnce is a limiter that is set up by its first caller. The flag is up
// before the limit is: the second caller finds a limit of zero.
type swappedOnce struct {
	ready atomic.Bool
	left  atomic.Int64
	limit func() int64
}

func newSwappedOnce() allower { return &swappedOnce{limit: func() int64 { return 2 }} }

func (l *swappedOnce) allow() bool {
	if l.ready.CompareAndSwap(false, true) {
		l.left.Store(l.limit())
	}
	for {
		left := l.left.Load()
		if left <= 0 {
			return false
		}
		if l.left.CompareAndSwap(left, left-1) {
			return true
		}
	}
}

var errLoad = errors.New("load failed")

type loader interface{ get() int }

// loadAgain asserts that after a load that failed, one that succeeds is the last.
func loadAgain(fresh func(load func() (int, error)) loader) func(*interleave.T) {
	return func(t *interleave.T) {
		var calls atomic.Int64
		c := fresh(func() (int, error) {
			if calls.Add(1) == 1 {
				return 0, errLoad
			}
			return 7, nil
		})
		var wg sync.WaitGroup
		wg.Add(1)
		go func() {
			defer wg.Done()
			c.get()
		}()
		if got := c.get(); got != 7 {
			t.Errorf("get() = %d, want 7", got)
		}
		wg.Wait()
		if got := calls.Load(); got != 2 {
			t.Errorf("loaded %d times, want 2", got)
		}
	}
}

type attempt struct {
	once  sync.Once
	value int
	err   error
}

// forgetfulOnce loads a value once, and again if that failed. Who finds that an
// attempt failed replaces whichever is there, also a newer one that did not.
type forgetfulOnce struct {
	mu   sync.Mutex
	now  *attempt
	load func() (int, error)
}

func newForgetfulOnce(load func() (int, error)) loader {
	return &forgetfulOnce{now: new(attempt), load: load}
}

func (c *forgetfulOnce) get() int {
	for {
		c.mu.Lock()
		a := c.now
		c.mu.Unlock()
		a.once.Do(func() { a.value, a.err = c.load() })
		if a.err == nil {
			return a.value
		}
		c.mu.Lock()
		c.now = new(attempt)
		c.mu.Unlock()
	}
}
