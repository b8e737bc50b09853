package sync

import (
	"slices"
	"sync"

	"github.com/escapement-go/escapement/internal/sched"
)

// Map is std's. Range goes through it in the order in which keys were stored.
type Map struct {
	_    noCopy
	mu   sync.Mutex
	m    map[any]any
	keys []any
}

// point begins each operation, and returns what ends it. In between mu is locked, which is not held across points.
func (m *Map) point(name string) (end func()) {
	if g := sched.Self(); g != nil {
		g.Point(name, m)
	}
	m.mu.Lock()
	return m.mu.Unlock
}

func (m *Map) store(key, value any) {
	if m.m == nil {
		m.m = make(map[any]any)
	}
	if _, ok := m.m[key]; !ok {
		m.keys = append(m.keys, key)
	}
	m.m[key] = value
}

func (m *Map) delete(key any) {
	if _, ok := m.m[key]; ok {
		delete(m.m, key)
		i := slices.Index(m.keys, key)
		m.keys = slices.Delete(slices.Clone(m.keys), i, i+1)
	}
}

// Load is std's.
func (m *Map) Load(key any) (value any, ok bool) {
	defer m.point("Map.Load")()
	value, ok = m.m[key]
	return value, ok
}

// Store is std's.
func (m *Map) Store(key, value any) {
	defer m.point("Map.Store")()
	m.store(key, value)
}

// Clear is std's.
func (m *Map) Clear() {
	defer m.point("Map.Clear")()
	m.m, m.keys = nil, nil
}

// LoadOrStore is std's.
func (m *Map) LoadOrStore(key, value any) (actual any, loaded bool) {
	defer m.point("Map.LoadOrStore")()
	if actual, loaded = m.m[key]; !loaded {
		m.store(key, value)
		actual = value
	}
	return actual, loaded
}

// LoadAndDelete is std's.
func (m *Map) LoadAndDelete(key any) (value any, loaded bool) {
	defer m.point("Map.LoadAndDelete")()
	value, loaded = m.m[key]
	m.delete(key)
	return value, loaded
}

// Delete is std's.
func (m *Map) Delete(key any) {
	defer m.point("Map.Delete")()
	m.delete(key)
}

// Swap is std's.
func (m *Map) Swap(key, value any) (previous any, loaded bool) {
	defer m.point("Map.Swap")()
	previous, loaded = m.m[key]
	m.store(key, value)
	return previous, loaded
}

// CompareAndSwap is std's.
func (m *Map) CompareAndSwap(key, old, new any) (swapped bool) {
	defer m.point("Map.CompareAndSwap")()
	if v, ok := m.m[key]; !ok || v != old {
		return false
	}
	m.store(key, new)
	return true
}

// CompareAndDelete is std's.
func (m *Map) CompareAndDelete(key, old any) (deleted bool) {
	defer m.point("Map.CompareAndDelete")()
	if v, ok := m.m[key]; !ok || v != old {
		return false
	}
	m.delete(key)
	return true
}

// Range is std's: it shows no key twice, and of one that changes meanwhile any value.
func (m *Map) Range(f func(key, value any) bool) {
	end := m.point("Map.Range")
	keys := slices.Clone(m.keys)
	end()
	for _, key := range keys {
		if value, ok := m.Load(key); ok && !f(key, value) {
			return
		}
	}
}
