package sync

import (
	"sync"

	"github.com/escapement-go/escapement/internal/sched"
)

// Cond is std's. Signal wakes who has waited longest.
type Cond struct {
	_ noCopy
	// L is held while observing or changing the condition
	L Locker

	link sync.Once
	cond sync.Cond
}

// waiting is what a run keeps about a Cond: of each goroutine that waits whether it may go on.
type waiting struct{ woken []*bool }

// NewCond is std's.
func NewCond(l Locker) *Cond { return &Cond{L: l} }

func (c *Cond) std() *sync.Cond {
	c.link.Do(func() { c.cond.L = c.L })
	return &c.cond
}

// Wait is std's.
func (c *Cond) Wait() {
	g := sched.Self()
	if g == nil {
		c.std().Wait()
		return
	}
	g.Point("Cond.Wait", c) // a signal that comes now is lost
	s, woken := sched.State[waiting](g, c), new(bool)
	s.woken = append(s.woken, woken)
	c.L.Unlock()
	g.Await("Cond.Wait", c, func() bool { return *woken })
	c.L.Lock()
}

// Signal is std's.
func (c *Cond) Signal() {
	g := sched.Self()
	if g == nil {
		c.std().Signal()
		return
	}
	g.Point("Cond.Signal", c)
	sched.State[waiting](g, c).wake(1)
}

// Broadcast is std's.
func (c *Cond) Broadcast() {
	g := sched.Self()
	if g == nil {
		c.std().Broadcast()
		return
	}
	g.Point("Cond.Broadcast", c)
	s := sched.State[waiting](g, c)
	s.wake(len(s.woken))
}

func (s *waiting) wake(n int) {
	for range min(n, len(s.woken)) {
		*s.woken[0] = true
		s.woken = s.woken[1:]
	}
}
