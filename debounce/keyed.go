package debounce

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/escapement-go/escapement/internal/stackmark"
)

// ErrTooManyKeys is what Keyed.Call returns for a new key while [MaxKeys] others are held; compare
// with errors.Is.
var ErrTooManyKeys = errors.New("debounce: too many keys are in use")

// A Keyed is one [Debouncer] for each key: a burst of one key neither delays nor
// fires another, and their callbacks may overlap; those of one key do not.
//
// It holds a key only while the key has a burst or a running callback: at most the keys
// called within the last wait and those whose callback is running, and never more than
// [MaxKeys], if given.
// Forgetting a key changes nothing when it comes back. To make bursts cheaper, a Keyed
// keeps the last 32 forgotten keys with their stopped timers, for reuse by other keys.
//
// Each key that is held has a timer of its own; there is no other goroutine. In a
// synctest bubble, use a Keyed that was not called outside of it. The zero Keyed is
// like the zero Debouncer, and all methods are safe for concurrent use.
type Keyed[K comparable, T any] struct {
	wait time.Duration
	f    func(K, T)
	cfg  config

	mu      sync.Mutex
	known   map[K]*entry[K, T] // of keys that are held, or at rest
	held    int                // how many of those are held
	resting [rests]*entry[K, T]
	next    int // the place in resting that was filled longest ago
	stopped bool
}

// rests is how many keys are remembered that are not held.
const rests = 32

// An entry is the debouncer of a key, held or at rest: then nobody can tell it from a new
// one, and it may become that of another key. Who locks it for its key does so with Keyed.mu
// held, which may be released then; who has locked it does not lock Keyed.mu.
type entry[K comparable, T any] struct {
	Debouncer[T]
	key   K   // written at rest, with Keyed.mu
	place int // in resting, or isHeld; guarded by Keyed.mu
}

const isHeld = -1

// NewKeyed returns a Keyed that runs f with a key and its newest value when no call
// for that key has come for wait, or as opts say. It panics if wait is negative or
// f is nil.
func NewKeyed[K comparable, T any](wait time.Duration, f func(K, T), opts ...Option) *Keyed[K, T] {
	if f == nil {
		panic("debounce: NewKeyed: f must not be nil: pass the function to run")
	}
	cfg := apply(opts)
	cfg.burst("NewKeyed", wait) // for its panic
	return &Keyed[K, T]{wait: wait, f: f, cfg: cfg, known: make(map[K]*entry[K, T])}
}

// Call is [Debouncer.Call] for key k. It returns [ErrTooManyKeys], and does nothing, if
// k is not held and as many keys as [MaxKeys] allows are; otherwise nil. It
// panics if k is not equal to itself, as NaN.
func (d *Keyed[K, T]) Call(k K, v T) error {
	d.mu.Lock()
	e := d.known[k]
	if e == nil || e.place != isHeld {
		var err error
		if e, err = d.hold(k, e); e == nil {
			d.mu.Unlock()
			return err
		}
	}
	e.mu.Lock()
	d.mu.Unlock()
	if !e.unfired {
		e.first(v, v)
		return nil
	}
	e.value, e.newest = v, e.since()
	e.mu.Unlock()
	return nil
}

// Cancel is [Debouncer.Cancel] for key k.
func (d *Keyed[K, T]) Cancel(k K) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	e := d.known[k]
	if e == nil || e.place != isHeld {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	found := e.drop()
	d.letGo(e)
	return found
}

// Flush is [Debouncer.Flush] for key k.
func (d *Keyed[K, T]) Flush(k K) bool {
	e := d.find(k)
	return e != nil && e.flush()
}

// Pending is [Debouncer.Pending] for key k.
func (d *Keyed[K, T]) Pending(k K) bool {
	e := d.find(k)
	if e == nil {
		return false
	}
	defer e.mu.Unlock()
	return e.pending()
}

// Len returns how many keys are held.
func (d *Keyed[K, T]) Len() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.held
}

// Stop is [Debouncer.Stop] for all keys, now and later. Called by a callback, it
// waits for none, whatever their keys.
func (d *Keyed[K, T]) Stop() {
	all := d.stop()
	for _, e := range all { // First none can fire any more, then all are waited for.
		e.stop(false)
	}
	within := inCallback(all)
	for _, e := range all {
		if !within {
			e.Debouncer.Stop()
		}
		d.release(e)
	}
}

// Close is [Debouncer.Close] for all keys, one after the other, now and later. It
// closes all of them and returns the first error. Called by a callback, it waits for
// none.
func (d *Keyed[K, T]) Close(ctx context.Context) error {
	mustHave(ctx)
	all := d.stop()
	within := inCallback(all)
	var first error
	for _, e := range all {
		if err := e.close(ctx, !within); err != nil && first == nil {
			first = err
		}
		d.release(e)
	}
	return first
}

// stop ends the Keyed and returns what it holds.
func (d *Keyed[K, T]) stop() (all []*entry[K, T]) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = true
	for _, e := range d.known {
		if e.place == isHeld {
			all = append(all, e)
		}
	}
	return all
}

// inCallback reports whether the caller was called by the callback of one of all.
func inCallback[K comparable, T any](all []*entry[K, T]) bool {
	running := map[uint64]bool{}
	for _, e := range all {
		if mark := e.runs(); mark != 0 {
			running[mark] = true
		}
	}
	return len(running) > 0 && stackmark.Any(func(mark uint64) bool { return running[mark] })
}

// runs returns the mark of e's callback, 0 if it is not running.
func (e *entry[K, T]) runs() uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.running {
		return 0
	}
	return e.mark.Number()
}

// find returns the entry of k, locked: nil if k is not held.
func (d *Keyed[K, T]) find(k K) *entry[K, T] {
	d.mu.Lock()
	defer d.mu.Unlock()
	e := d.known[k]
	if e == nil || e.place != isHeld {
		return nil
	}
	e.mu.Lock()
	return e
}

// hold makes k held, which is not, and whose entry e is if it is at rest. It returns nil if
// k must not be held. It is called with mu held, and still has it unless it panics.
func (d *Keyed[K, T]) hold(k K, e *entry[K, T]) (*entry[K, T], error) {
	switch {
	case d.f == nil:
		d.mu.Unlock()
		panic("debounce: Call: zero Keyed: use NewKeyed")
	case k != k:
		d.mu.Unlock()
		panic(fmt.Sprintf("debounce: Keyed.Call: key %v is not equal to itself, so it would be new each time: use another", k))
	case d.stopped:
		return nil, nil
	case d.cfg.maxKeys > 0 && d.held >= d.cfg.maxKeys:
		return nil, ErrTooManyKeys
	}
	if e == nil {
		if e = d.resting[d.next]; e != nil {
			delete(d.known, e.key)
			e.key = k
		} else {
			e = d.newEntry(k)
		}
		d.known[k] = e
	}
	if e.place >= 0 {
		d.resting[e.place] = nil
	}
	e.place = isHeld
	d.held++
	return e, nil
}

// newEntry returns an entry of k that is not known yet.
func (d *Keyed[K, T]) newEntry(k K) *entry[K, T] {
	e := &entry[K, T]{key: k, place: isHeld}
	e.init("NewKeyed", d.wait, func(v T) { d.f(e.key, v) }, d.cfg)
	e.idle = func() { d.release(e) }
	return e
}

// release is letGo of whoever has locked nothing.
func (d *Keyed[K, T]) release(e *entry[K, T]) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if e.place == isHeld {
		e.mu.Lock()
		defer e.mu.Unlock()
		d.letGo(e)
	}
}

// letGo lets go of the key of e, which is held, if it makes no difference any more: whoever
// makes that so calls it. d and e are locked.
func (d *Keyed[K, T]) letGo(e *entry[K, T]) {
	if e.running || e.unfired || len(e.queue) > 0 || e.left() > 0 {
		return
	}
	e.burst.end()
	d.held--
	e.place, d.next = d.next, (d.next+1)%rests
	if oldest := d.resting[e.place]; oldest != nil {
		delete(d.known, oldest.key)
	}
	d.resting[e.place] = e
}
