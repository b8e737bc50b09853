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

// point begins each operation. It returns with mu locked, which is not held across points.
func (m *Map) point(name string) {
	if g := sched.Self(); g != nil {
		g.Point(name, m)
	}
	m.mu.Lock()
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
	m.point("Map.Load")
	defer m.mu.Unlock()
	value, ok = m.m[key]
	return value, ok
}

// Store is std's.
func (m *Map) Store(key, value any) {
	m.point("Map.Store")
	defer m.mu.Unlock()
	m.store(key, value)
}

// Clear is std's.
func (m *Map) Clear() {
	m.point("Map.Clear")
	defer m.mu.Unlock()
	m.m, m.keys = nil, nil
}

// LoadOrStore is std's.
func (m *Map) LoadOrStore(key, value any) (actual any, loaded bool) {
	m.point("Map.LoadOrStore")
	defer m.mu.Unlock()
	if actual, loaded = m.m[key]; !loaded {
		m.store(key, value)
		actual = value
	}
	return actual, loaded
}

// LoadAndDelete is std's.
func (m *Map) LoadAndDelete(key any) (value any, loaded bool) {
	m.point("Map.LoadAndDelete")
	defer m.mu.Unlock()
	value, loaded = m.m[key]
	m.delete(key)
	return value, loaded
}

// Delete is std's.
func (m *Map) Delete(key any) {
	m.point("Map.Delete")
	defer m.mu.Unlock()
	m.delete(key)
}

// Swap is std's.
func (m *Map) Swap(key, value any) (previous any, loaded bool) {
	m.point("Map.Swap")
	defer m.mu.Unlock()
	previous, loaded = m.m[key]
	m.store(key, value)
	return previous, loaded
}

// CompareAndSwap is std's.
func (m *Map) CompareAndSwap(key, old, new any) (swapped bool) {
	m.point("Map.CompareAndSwap")
	defer m.mu.Unlock()
	if v, ok := m.m[key]; !ok || v != old {
		return false
	}
	m.store(key, new)
	return true
}

// CompareAndDelete is std's.
func (m *Map) CompareAndDelete(key, old any) (deleted bool) {
	m.point("Map.CompareAndDelete")
	defer m.mu.Unlock()
	if v, ok := m.m[key]; !ok || v != old {
		return false
	}
	m.delete(key)
	return true
}

// Range is std's: it shows no key twice, and of one that changes meanwhile any value.
func (m *Map) Range(f func(key, value any) bool) {
	m.point("Map.Range")
	keys := slices.Clone(m.keys)
	m.mu.Unlock()
	for _, key := range keys {
		if value, ok := m.Load(key); ok && !f(key, value) {
			return
		}
	}
}
