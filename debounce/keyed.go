package debounce

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/escapement-go/escapement/internal/stackmark"
)

// ErrKeys is what Keyed.Call returns for a new key while [MaxKeys] others are held.
var ErrKeys = errors.New("debounce: too many keys have a burst under way")

// A Keyed is one [Debouncer] for each key: a burst of one key neither delays nor
// fires another, and their callbacks may overlap; those of one key do not.
//
// It holds a key only as long as that makes a difference: while the key has a
// burst or a running callback. What it holds is therefore bounded by the number of
// keys called within the last wait, and by [MaxKeys] if given. A key that was let
// go of and comes back finds what it would have found.
//
// Each key that is held has a timer of its own; there is no other goroutine. The
// zero Keyed is like the zero Debouncer, and all methods are safe for concurrent
// use.
type Keyed[K comparable, T any] struct {
	wait time.Duration
	f    func(K, T)
	cfg  config

	mu      sync.Mutex
	held    map[K]*entry[T]
	stopped bool
}

// entry is the debouncer of a key.
type entry[T any] struct {
	Debouncer[T]
	users int // calls under way; guarded by Keyed.mu
}

// NewKeyed returns a Keyed that runs f with a key and its newest value when no call
// for that key has come for wait, or as opts say. It panics if wait is negative or
// f is nil.
func NewKeyed[K comparable, T any](wait time.Duration, f func(K, T), opts ...Option) *Keyed[K, T] {
	if f == nil {
		panic("debounce: NewKeyed: f must not be nil: pass the function to run")
	}
	cfg := apply(opts)
	cfg.burst("NewKeyed", wait) // for its panic
	return &Keyed[K, T]{wait: wait, f: f, cfg: cfg, held: make(map[K]*entry[T])}
}

// Call is [Debouncer.Call] for key k. It returns [ErrKeys], and does nothing, if
// k has no burst and as many keys as [MaxKeys] allows have one; otherwise nil. It
// panics if k is not equal to itself, as NaN.
func (d *Keyed[K, T]) Call(k K, v T) error {
	if k == k && d.again(k, v) {
		return nil
	}
	e, err := d.enter(k, true)
	if e == nil {
		return err
	}
	defer d.exit(k, e)
	e.Debouncer.Call(v)
	return nil
}

// again is Call if k has something unfired to replace, and reports whether it has. An entry is
// not let go of while it is locked and has.
func (d *Keyed[K, T]) again(k K, v T) bool {
	d.mu.Lock()
	e := d.held[k]
	if e == nil {
		d.mu.Unlock()
		return false
	}
	e.mu.Lock()
	d.mu.Unlock()
	if !e.unfired {
		e.mu.Unlock()
		return false
	}
	e.value, e.newest = v, e.since()
	e.mu.Unlock()
	return true
}

// Cancel is [Debouncer.Cancel] for key k.
func (d *Keyed[K, T]) Cancel(k K) bool { return d.ask(k, (*Debouncer[T]).Cancel) }

// Flush is [Debouncer.Flush] for key k.
func (d *Keyed[K, T]) Flush(k K) bool { return d.ask(k, (*Debouncer[T]).Flush) }

// Pending is [Debouncer.Pending] for key k.
func (d *Keyed[K, T]) Pending(k K) bool { return d.ask(k, (*Debouncer[T]).Pending) }

// Len returns how many keys are held.
func (d *Keyed[K, T]) Len() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.held)
}

// Stop is [Debouncer.Stop] for all keys, now and later. Called by a callback, it
// waits for none, whatever their keys.
func (d *Keyed[K, T]) Stop() {
	all := d.stop()
	for _, e := range all { // First none can fire any more, then all are waited for.
		e.stop(false)
	}
	within := inCallback(all)
	for k, e := range all {
		if !within {
			e.Debouncer.Stop()
		}
		d.release(k, e)
	}
}

// Close is [Debouncer.Close] for all keys, one after the other, now and later. It
// returns the first error, after it has tried all. Called by a callback, it waits
// for none.
func (d *Keyed[K, T]) Close(ctx context.Context) error {
	all := d.stop()
	within := inCallback(all)
	var first error
	for k, e := range all {
		if err := e.close(ctx, !within); err != nil && first == nil {
			first = err
		}
		d.release(k, e)
	}
	return first
}

// stop ends the Keyed and returns what it holds.
func (d *Keyed[K, T]) stop() map[K]*entry[T] {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = true
	return maps.Clone(d.held)
}

// inCallback reports whether the caller was called by the callback of one of all.
func inCallback[K comparable, T any](all map[K]*entry[T]) bool {
	running := map[uint64]bool{}
	for _, e := range all {
		if mark := e.runs(); mark != 0 {
			running[mark] = true
		}
	}
	return len(running) > 0 && stackmark.Any(func(mark uint64) bool { return running[mark] })
}

// runs returns the mark of e's callback, 0 if it is not running.
func (e *entry[T]) runs() uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.running {
		return 0
	}
	return e.mark.Number()
}

// ask does what leaves a key alone that is not held.
func (d *Keyed[K, T]) ask(k K, what func(*Debouncer[T]) bool) bool {
	e, _ := d.enter(k, false)
	if e == nil {
		return false
	}
	defer d.exit(k, e)
	return what(&e.Debouncer)
}

// enter returns the entry of k, which stays held until exit: nil if there is none
// and none is to be made.
func (d *Keyed[K, T]) enter(k K, create bool) (*entry[T], error) {
	if create && d.f == nil {
		panic("debounce: Call: zero Keyed: use NewKeyed")
	}
	if create && k != k {
		panic(fmt.Sprintf("debounce: Keyed.Call: key %v is not equal to itself, so it would be new each time: use another", k))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	e := d.held[k]
	if e == nil {
		if !create || d.stopped {
			return nil, nil
		}
		if d.cfg.maxKeys > 0 && len(d.held) >= d.cfg.maxKeys {
			return nil, ErrKeys
		}
		e = new(entry[T])
		e.init("NewKeyed", d.wait, func(v T) { d.f(k, v) }, d.cfg)
		e.idle = func() { d.release(k, e) }
		d.held[k] = e
	}
	e.users++
	return e, nil
}

func (d *Keyed[K, T]) exit(k K, e *entry[T]) {
	d.mu.Lock()
	defer d.mu.Unlock()
	e.users--
	d.letGo(k, e)
}

// release lets go of k if e makes no difference any more.
func (d *Keyed[K, T]) release(k K, e *entry[T]) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.letGo(k, e)
}

// letGo is release with mu held.
func (d *Keyed[K, T]) letGo(k K, e *entry[T]) {
	if e.users == 0 && d.held[k] == e && e.fresh() {
		delete(d.held, k)
	}
}

// fresh reports whether e is as it was when it was made.
func (e *entry[T]) fresh() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return !e.running && !e.unfired && len(e.queue) == 0 && e.quiet(e.since()) <= 0
}
