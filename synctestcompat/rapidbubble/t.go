package rapidbubble

import (
	"context"

	"pgregory.net/rapid"
)

// T is what a property gets: the T of package rapid, with the methods that must
// belong to the bubble replaced. Generators draw from the embedded T:
//
//	n := rapid.Int().Draw(t.T, "n")
//
// Call everything else on T itself. The embedded T's own Cleanup and Context belong to
// no bubble and must not be used: on Go 1.25 and later a context made there ends the
// process.
//
// Goroutines of the bubble may call its methods concurrently, but not draw.
type T struct {
	*rapid.T
	it *iteration
}

// Cleanup registers a function that is called in the bubble when the property has
// returned or failed, last registered first.
func (t *T) Cleanup(f func()) {
	t.it.mu.Lock()
	defer t.it.mu.Unlock()
	t.it.cleanups = append(t.it.cleanups, f)
}

// Context returns a context of the bubble that is cancelled when the property has
// returned or failed, before the Cleanup functions are called.
func (t *T) Context() context.Context {
	it := t.it
	it.mu.Lock()
	defer it.mu.Unlock()
	if it.ctx == nil {
		it.ctx, it.cancel = context.WithCancel(context.Background())
		if it.over {
			it.cancel()
		}
	}
	return it.ctx
}

// Repeat is Repeat of package rapid, whose actions get this T: it does random
// actions, with the one named "" before the first and after each.
func (t *T) Repeat(actions map[string]func(*T)) {
	t.Helper()
	inner := make(map[string]func(*rapid.T), len(actions))
	for name, action := range actions {
		inner[name] = func(rt *rapid.T) { action(&T{rt, t.it}) }
	}
	t.T.Repeat(inner)
}

// Guard returns f in a form that may run on any goroutine of the bubble: a panic or a
// FailNow in it becomes the failure of the property instead of the end of the process.
// Wrap callbacks that a property passes to the code under test.
func (t *T) Guard(f func()) func() {
	return func() { t.it.attempt(f) }
}
