package sync

import (
	"sync"

	"github.com/escapement-go/escapement/internal/sched"
)

// RWMutex is std's: readers are side by side, but none comes in while a writer waits for
// those that are there; when it unlocks, those that have waited for it come first.
type RWMutex struct{ rw sync.RWMutex }

// readWrite is what a run keeps about a RWMutex.
type readWrite struct {
	held
	writer  bool // has locked it, or waits for readers to leave
	readers int
	waiting []*bool // of the readers that wait: whether they may come in
}

// Release leaves nothing behind: std's RWMutex was not used.
func (s *readWrite) Release() {}

// Lock is std's.
func (m *RWMutex) Lock() {
	g := sched.Self()
	if g == nil {
		m.rw.Lock()
		return
	}
	s := sched.State[readWrite](g, m)
	g.Await("RWMutex.Lock", m, func() bool { return !s.writer })
	s.writer = true
	if s.readers > 0 {
		g.Await("RWMutex.Lock", m, func() bool { return s.readers == 0 })
	}
	s.by, s.since = g, g.Op()
}

// TryLock is std's.
func (m *RWMutex) TryLock() bool {
	g := sched.Self()
	if g == nil {
		return m.rw.TryLock()
	}
	s := sched.State[readWrite](g, m)
	sched.Try()
	g.Point("RWMutex.TryLock", m)
	if s.writer || s.readers > 0 {
		return false
	}
	s.writer, s.by, s.since = true, g, g.Op()
	return true
}

// Unlock is std's, but panics where that ends the process.
func (m *RWMutex) Unlock() {
	g := sched.Self()
	if g == nil {
		m.rw.Unlock()
		return
	}
	s := sched.State[readWrite](g, m)
	if !s.writer || s.readers > 0 {
		if g.Dying() {
			return
		}
		panic("sync: Unlock of unlocked RWMutex")
	}
	if sched.Tried() {
		g.Point("RWMutex.Unlock", m)
	}
	s.writer, s.by = false, nil
	for _, in := range s.waiting {
		*in = true
		s.readers++
	}
	s.waiting = nil
	g.Point("after RWMutex.Unlock", m)
}

// RLock is std's.
func (m *RWMutex) RLock() {
	g := sched.Self()
	if g == nil {
		m.rw.RLock()
		return
	}
	s := sched.State[readWrite](g, m)
	g.Point("RWMutex.RLock", m)
	if !s.writer {
		s.readers++
		return
	}
	in := new(bool)
	s.waiting = append(s.waiting, in)
	g.Await("RWMutex.RLock", m, func() bool { return *in })
}

// TryRLock is std's.
func (m *RWMutex) TryRLock() bool {
	g := sched.Self()
	if g == nil {
		return m.rw.TryRLock()
	}
	s := sched.State[readWrite](g, m)
	sched.Try()
	g.Point("RWMutex.TryRLock", m)
	if s.writer {
		return false
	}
	s.readers++
	return true
}

// RUnlock is std's, but panics where that ends the process.
func (m *RWMutex) RUnlock() {
	g := sched.Self()
	if g == nil {
		m.rw.RUnlock()
		return
	}
	s := sched.State[readWrite](g, m)
	if s.readers == 0 {
		if g.Dying() {
			return
		}
		panic("sync: RUnlock of unlocked RWMutex")
	}
	if sched.Tried() {
		g.Point("RWMutex.RUnlock", m)
	}
	s.readers--
	g.Point("after RWMutex.RUnlock", m)
}

// RLocker is std's.
func (m *RWMutex) RLocker() Locker { return (*rlocker)(m) }

type rlocker RWMutex

func (r *rlocker) Lock()   { (*RWMutex)(r).RLock() }
func (r *rlocker) Unlock() { (*RWMutex)(r).RUnlock() }
