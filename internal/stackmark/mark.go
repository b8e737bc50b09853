package stackmark

import "sync"

// A Mark is on the stack of calls of which one is made at a time. Its number is the same
// for all that return. When one panics or ends its goroutine, the next has another: what
// is deferred further out still finds the old one on its stack, and is not called by the
// next. The zero Mark is ready for use; the lock that is given to Unlocked guards it.
type Mark struct{ number uint64 }

// Unlocked calls f, marked, without mu, which is held before and after, also if f panics.
func (m *Mark) Unlocked(mu sync.Locker, f func()) {
	if m.number == 0 {
		m.number = New()
	}
	number, returned := m.number, false
	mu.Unlock()
	defer func() {
		mu.Lock()
		if !returned {
			m.number = 0
		}
	}()
	Call(number, f)
	returned = true
}

// On reports whether the caller was called by f of an Unlocked that has not returned,
// directly or not, and on the goroutine of f. It must not be called between two.
func (m *Mark) On() bool { return On(m.number) }

// Number returns what Any gives for the call that is being made.
func (m *Mark) Number() uint64 { return m.number }
