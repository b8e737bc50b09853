package sync

import (
	"sync"
	"sync/atomic"

	"github.com/escapement-go/escapement/internal/sched"
)

// Once is std's.
type Once struct {
	_    noCopy
	done atomic.Uint32
	mu   Mutex
}

// noCopy has go vet report copies: it does for what has Lock and Unlock.
type noCopy struct{}

// Lock does nothing.
func (*noCopy) Lock() {}

// Unlock does nothing.
func (*noCopy) Unlock() {}

// Do is std's.
func (o *Once) Do(f func()) {
	if g := sched.Self(); g != nil {
		g.Point("Once.Do", o)
	}
	if o.done.Load() == 1 {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.done.Load() == 0 {
		defer o.done.Store(1)
		f()
	}
}

// OnceFunc is std's.
func OnceFunc(f func()) func() {
	value := OnceValue(func() struct{} { f(); return struct{}{} })
	return func() { value() }
}

// OnceValue is std's.
func OnceValue[T any](f func() T) func() T {
	values := OnceValues(func() (T, struct{}) { return f(), struct{}{} })
	return func() T {
		t, _ := values()
		return t
	}
}

// OnceValues is std's: what f panics with, each call does.
func OnceValues[T1, T2 any](f func() (T1, T2)) func() (T1, T2) {
	var once Once
	var values func() (T1, T2)
	return func() (T1, T2) {
		once.Do(func() {
			values = sync.OnceValues(f)
			defer func() { recover() }() // each call panics anew, below
			values()
		})
		return values()
	}
}
