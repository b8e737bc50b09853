package stackmark

import (
	"sync"
	"testing"
)

func TestMark(t *testing.T) {
	var m, other Mark
	var mu sync.Mutex
	on := func(want bool) {
		t.Helper()
		mu.Lock()
		defer mu.Unlock()
		if got := m.On(); got != want {
			t.Errorf("On() = %v, want %v", got, want)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	m.Unlocked(&mu, func() { on(true) })
	first := m.Number()
	m.Unlocked(&mu, func() {
		mu.Lock()
		other.Unlocked(&mu, func() { on(true) })
		mu.Unlock()
	})
	if m.Number() != first || other.Number() == first {
		t.Errorf("numbers %d, then %d, of another %d; want the same of one", first, m.Number(), other.Number())
	}
	func() {
		defer func() { recover() }()
		defer func() { // the frames of the panic are there still
			mu.Unlock()
			on(false)
			mu.Lock()
			m.Unlocked(&mu, func() { on(true) })
		}()
		m.Unlocked(&mu, func() {
			defer on(true)
			panic("in vain")
		})
	}()
	if m.Number() == first {
		t.Errorf("number %d as before the panic", first)
	}
	if got := testing.AllocsPerRun(100, func() { m.Unlocked(&mu, func() { first++ }) }); got != 0 {
		t.Errorf("Unlocked allocates %v times, want 0", got)
	}
}
