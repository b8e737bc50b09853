// Package sync stands for std's sync in code that was rewritten for package interleave. In an explored
// body its types wait durably, and each operation is a point; elsewhere they are std's, in size too.
package sync

import (
	"sync"

	"github.com/escapement-go/escapement/internal/sched"
)

// Locker is std's.
type Locker = sync.Locker

// held is what a run keeps about a lock.
type held struct {
	by     *sched.G // nil: nobody
	since  sched.Op
	unlock func()
}

func (h *held) take(g *sched.G, unlock func()) { h.by, h.since, h.unlock = g, g.Op(), unlock }

// Holder is for reports.
func (h *held) Holder() (*sched.G, sched.Op) { return h.by, h.since }

// Release unlocks what was held when the run was given up.
func (h *held) Release() {
	if h.by != nil {
		h.by = nil
		h.unlock()
	}
}
