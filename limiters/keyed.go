package limiters

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
)

// ErrTooManyKeys is the error of [Keyed.Do] if there is no room for another key;
// compare with errors.Is.
var ErrTooManyKeys = errors.New("limiters: too many keys are in use")

// A Keyed has one limiter for each key: a user, an address or a tenant. Keys are
// independent, except that there is room for a bounded number.
//
// A limiter is made when its key is first used. It is forgotten only when no caller can
// notice: when it decides as a new one would, which fresh reports, and no call uses it.
// So forgetting never grants anything, whatever the keys. If there is no room, a new
// key is refused: choose the bound so that this happens only under attack, and deny
// then. This holds unless the clock goes back beyond a forgotten grant.
//
// Each call with a new key checks a few other keys in turn, so idle keys are forgotten
// as fast as new ones come, and a call costs no more than a few checks, even if all
// room is taken. A limiter that was changed after it was made, such as by a new rate,
// must not be reported as fresh, or the change is lost.
//
// The zero Keyed has no limiters and no room: make one with [NewKeyed]. It has no
// goroutine and no timer. All methods are safe for concurrent use.
type Keyed[K comparable, L any] struct {
	room  int
	make  func(key K) L
	fresh func(L) bool

	mu   sync.Mutex
	keys map[K]*keyedEntry[K, L]
	all  []*keyedEntry[K, L]
	hand int // what in all is looked at next
}

type keyedEntry[K comparable, L any] struct {
	key   K
	l     L
	users atomic.Int32 // calls of Do; they begin with mu held
}

// looks is how many limiters a call with a new key looks at. With two, everything
// that is idle has been found before the keys have doubled; more make room sooner
// when there is none.
const looks = 4

// NewKeyed returns a Keyed with room for maxKeys keys. make makes the limiter of a
// key. fresh reports whether a limiter decides from now on as one that make has just
// made; for a [FixedWindow], [SlidingLog], [SlidingCounter], [GCRA] or [TokenBucket] that is
// its method Fresh. Both are called with a lock held and must not use the Keyed. It panics if
// maxKeys is less than 1 or a function is nil.
//
//	users := limiters.NewKeyed(100_000, func(string) *limiters.SlidingLog {
//		return limiters.NewSlidingLog(10, time.Minute)
//	}, (*limiters.SlidingLog).Fresh)
func NewKeyed[K comparable, L any](maxKeys int, make func(key K) L, fresh func(L) bool) *Keyed[K, L] {
	if maxKeys < 1 {
		panic(fmt.Sprintf("limiters: NewKeyed: maxKeys %d must be >= 1: without keys use the limiter itself", maxKeys))
	}
	if make == nil || fresh == nil {
		panic("limiters: NewKeyed: make and fresh must not be nil: pass a function that never reports fresh to keep all keys")
	}
	return &Keyed[K, L]{room: maxKeys, make: make, fresh: fresh, keys: map[K]*keyedEntry[K, L]{}}
}

// Do calls f with the limiter of key, under no lock. Do not keep the limiter after f has
// returned: it may be forgotten. If there is no room for the key, f is not called and
// the error is ErrTooManyKeys; otherwise it is nil. It panics if f is nil, or key is not
// equal to itself, as NaN.
//
//	ok := false
//	err := users.Do(name, func(l *limiters.SlidingLog) { ok = l.Allow() })
func (k *Keyed[K, L]) Do(key K, f func(L)) error {
	if f == nil {
		panic(fmt.Sprintf("limiters: Keyed.Do(%v, nil): f must not be nil: pass what is done with the limiter", key))
	}
	e := k.acquire(key)
	if e == nil {
		return ErrTooManyKeys
	}
	defer e.users.Add(-1)
	f(e.l)
	return nil
}

// Len returns how many keys are held now, including those that could be forgotten.
func (k *Keyed[K, L]) Len() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.all)
}

func (k *Keyed[K, L]) acquire(key K) *keyedEntry[K, L] {
	if key != key {
		panic(fmt.Sprintf("limiters: Keyed.Do: key %v is not equal to itself, so it would be new each time: use another", key))
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	e := k.keys[key]
	if e == nil {
		k.sweep()
		if len(k.all) >= k.room {
			return nil
		}
		e = &keyedEntry[K, L]{key: key, l: k.make(key)}
		k.keys[key] = e
		k.all = append(k.all, e)
	}
	e.users.Add(1)
	return e
}

// sweep forgets what it can of the next few limiters.
func (k *Keyed[K, L]) sweep() {
	for range min(looks, len(k.all)) {
		if k.hand >= len(k.all) {
			k.hand = 0
		}
		e := k.all[k.hand]
		if e.users.Load() > 0 || !k.fresh(e.l) {
			k.hand++
			continue
		}
		delete(k.keys, e.key)
		last := len(k.all) - 1
		k.all[k.hand], k.all[last] = k.all[last], nil
		k.all = k.all[:last]
	}
}
