package orders

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/escapement-go/escapement/synctestcompat/interleave"
)

// crowdedCount lets in who finds room, and counts afterwards.
type crowdedCount struct {
	running atomic.Int64
	limit   int64
}

func newCrowdedCount() allower { return &crowdedCount{limit: 1} }

func (c *crowdedCount) allow() bool {
	if c.running.Load() >= c.limit {
		return false
	}
	c.running.Add(1)
	return true
}

// laterWindow asserts that of two events at one instant, in a window after the
// first, one is granted.
func laterWindow(fresh func() allower) func(*interleave.T) {
	return func(t *interleave.T) {
		l := fresh()
		l.allow()
		time.Sleep(time.Second)
		var granted atomic.Int64
		var wg sync.WaitGroup
		for range 2 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				if l.allow() {
					granted.Add(1)
				}
			}()
		}
		wg.Wait()
		if got := granted.Load(); got != 1 {
			t.Errorf("%d events of one window were granted, want 1", got)
		}
	}
}

// rolledWindow begins a window in two steps: who comes between them is counted in
// the window before and then forgotten. That shows where there was room in that one.
type rolledWindow struct {
	window atomic.Int64
	used   atomic.Int64
}

func newRolledWindow() allower { return new(rolledWindow) }

func (w *rolledWindow) allow() bool {
	now := time.Now().Unix()
	if w.window.Swap(now) != now {
		w.used.Store(0)
	}
	return w.used.Add(1) <= 1
}
