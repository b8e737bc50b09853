package limiters

import (
	"errors"
	"fmt"
	"hash/maphash"
	"sync"
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
// room is taken; now and then a new key also moves the two thousand of its part of the
// table. A limiter that was changed after it was made, such as by a new rate, must not
// be reported as fresh, or the change is lost.
//
// The zero Keyed has no limiters and no room: make one with [NewKeyed]. It has no
// goroutine and no timer. All methods are safe for concurrent use.
type Keyed[K comparable, L any] struct {
	room  int
	make  func(key K) L
	fresh func(L) bool
	seed  maphash.Seed

	mu     sync.Mutex
	held   int
	depth  uint                // how many leading bits of a hash say which table has its key
	tables []*keyedTable[K, L] // by these bits: of each table, as many in a row as it needs no bits for
	uses   keyedUses
	at     int // the first place in tables of the one that is looked at next
	hand   int // and where in it
}

// looks is how many limiters a call with a new key looks at. With two, everything
// that is idle has been found before the keys have doubled; more make room sooner
// when there is none.
const looks = 4

// passes is how many slots a call with a new key passes at most, empty ones as well.
const passes = 64

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
	return &Keyed[K, L]{
		room: maxKeys, make: make, fresh: fresh, seed: maphash.MakeSeed(),
		tables: []*keyedTable[K, L]{newKeyedTable[K, L](0, 0)}, uses: keyedUses{first: []*keyedUse{nil}},
	}
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
	l, use := k.acquire(key)
	if use == nil {
		return ErrTooManyKeys
	}
	defer use.calls.Add(-1)
	f(l)
	return nil
}

// Len returns how many keys are held now, including those that could be forgotten.
func (k *Keyed[K, L]) Len() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.held
}

// acquire returns the limiter of key, and its use, which the caller ends: nil if there is no room.
func (k *Keyed[K, L]) acquire(key K) (l L, use *keyedUse) {
	if key != key {
		panic(fmt.Sprintf("limiters: Keyed.Do: key %v is not equal to itself, so it would be new each time: use another", key))
	}
	if len(k.tables) == 0 {
		return l, nil
	}
	hash := maphash.Comparable(k.seed, key) | 1
	k.mu.Lock()
	defer k.mu.Unlock()
	if s := k.table(hash).find(hash, key); s != nil {
		return s.l, k.uses.begin(hash)
	}
	k.sweep()
	if k.held >= k.room {
		return l, nil
	}
	l = k.make(key)
	t := k.table(hash)
	for t.used >= tableKeys && t.full() {
		k.split(t, hash)
		t = k.table(hash)
	}
	t.add(keyedSlot[K, L]{hash, key, l})
	k.held++
	return l, k.uses.begin(hash)
}

// table returns the table where a hash belongs.
func (k *Keyed[K, L]) table(hash uint64) *keyedTable[K, L] { return k.tables[hash>>(64-k.depth)] }

// split splits t, where hash belongs.
func (k *Keyed[K, L]) split(t *keyedTable[K, L], hash uint64) {
	if t.depth == k.depth {
		old := k.tables
		k.tables = make([]*keyedTable[K, L], 2*len(old))
		for i := range k.tables {
			k.tables[i] = old[i/2]
		}
		k.depth++
		k.at *= 2
	}
	places := 1 << (k.depth - t.depth)
	from := int(hash>>(64-k.depth)) &^ (places - 1)
	halves := t.split()
	for i := range places {
		k.tables[from+i] = halves[2*i/places]
	}
}

// sweep forgets what it can of the next few limiters.
func (k *Keyed[K, L]) sweep() {
	left := min(looks, k.held)
	t := k.tables[k.at]
	for i := 0; i < passes && left > 0; i++ {
		if k.hand >= len(t.slots) {
			k.at, k.hand = (k.at+1<<(k.depth-t.depth))%len(k.tables), 0
			t = k.tables[k.at]
			continue
		}
		s := &t.slots[k.hand]
		if s.hash == 0 {
			k.hand++
			continue
		}
		left--
		if k.uses.has(s.hash) || !k.fresh(s.l) {
			k.hand++
			continue
		}
		t.remove(k.hand)
		k.held--
		if was := len(t.slots); was > 8 && 4*t.used < was {
			t.resize(t.used)
			k.hand = k.hand * len(t.slots) / was
		}
	}
}
