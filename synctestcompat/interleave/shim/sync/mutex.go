package sync

import (
	"sync"

	"github.com/escapement-go/escapement/internal/sched"
)

// Mutex is std's. Of those who wait any may be the next.
type Mutex struct{ mu sync.Mutex }

// Lock is std's.
func (m *Mutex) Lock() {
	g := sched.Self()
	if g == nil {
		m.mu.Lock()
		return
	}
	g.Await("Mutex.Lock", m, m.free)
	m.mu.Lock()
	sched.State[held](g, m).take(g, m.mu.Unlock)
}

// free reports whether nobody has locked m, also outside of the bubble.
func (m *Mutex) free() bool {
	if !m.mu.TryLock() {
		return false
	}
	m.mu.Unlock()
	return true
}

// TryLock is std's.
func (m *Mutex) TryLock() bool {
	g := sched.Self()
	if g == nil {
		return m.mu.TryLock()
	}
	sched.Try()
	g.Point("Mutex.TryLock", m)
	if !m.mu.TryLock() {
		return false
	}
	sched.State[held](g, m).take(g, m.mu.Unlock)
	return true
}

// Unlock is std's, but panics where that ends the process.
func (m *Mutex) Unlock() {
	g := sched.Self()
	if g == nil {
		m.mu.Unlock()
		return
	}
	if m.free() {
		if g.Dying() {
			return
		}
		panic("sync: unlock of unlocked mutex")
	}
	if sched.Tried() {
		g.Point("Mutex.Unlock", m)
	}
	sched.State[held](g, m).by = nil
	m.mu.Unlock()
	g.Point("after Mutex.Unlock", nil) // it does not matter to m whether g goes on before others lock it
}
