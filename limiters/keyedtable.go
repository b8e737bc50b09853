package limiters

import (
	"math/bits"
	"slices"
	"sync/atomic"
)

// A keyedTable has the limiters of the keys whose hashes begin with the same bits. It is a hash
// table with linear probing, which has the limiters beside their keys: if both must come from
// memory, they do at once.
type keyedTable[K comparable, L any] struct {
	slots []keyedSlot[K, L] // at least one is empty
	used  int
	depth uint // how many bits
}

// A keyedSlot is a key with its limiter. The hash is odd, or 0 if there is none.
type keyedSlot[K comparable, L any] struct {
	hash uint64
	key  K
	l    L
}

// tableKeys is how many keys a table has at most, before it is split.
const tableKeys = 2048

func newKeyedTable[K comparable, L any](depth uint, keys int) *keyedTable[K, L] {
	t := &keyedTable[K, L]{depth: depth}
	t.resize(keys)
	return t
}

// resize makes room for a third more than so many keys.
func (t *keyedTable[K, L]) resize(keys int) {
	old := t.slots
	t.slots = slices.Grow([]keyedSlot[K, L](nil), max(8, keys*16/9+1))
	t.slots = t.slots[:cap(t.slots)]
	for i := range old {
		if old[i].hash != 0 {
			*t.vacant(old[i].hash) = old[i]
		}
	}
}

// find returns the slot of a key: nil if it is not there.
func (t *keyedTable[K, L]) find(hash uint64, key K) *keyedSlot[K, L] {
	for i := t.first(hash); ; i = t.after(i) {
		s := &t.slots[i]
		if s.hash == hash && s.key == key {
			return s
		}
		if s.hash == 0 {
			return nil
		}
	}
}

// first returns where a hash belongs. It is there, or in a slot after it up to the first that
// is empty.
func (t *keyedTable[K, L]) first(hash uint64) int {
	i, _ := bits.Mul64(hash<<t.depth, uint64(len(t.slots)))
	return int(i)
}

func (t *keyedTable[K, L]) after(i int) int {
	if i++; i == len(t.slots) {
		return 0
	}
	return i
}

// vacant returns the slot in which a new key goes.
func (t *keyedTable[K, L]) vacant(hash uint64) *keyedSlot[K, L] {
	i := t.first(hash)
	for t.slots[i].hash != 0 {
		i = t.after(i)
	}
	return &t.slots[i]
}

// full reports whether with one more key it would take too long to find them.
func (t *keyedTable[K, L]) full() bool { return 4*(t.used+1) > 3*len(t.slots) }

// add adds a key that is not there.
func (t *keyedTable[K, L]) add(s keyedSlot[K, L]) {
	if t.full() {
		t.resize(t.used)
	}
	*t.vacant(s.hash) = s
	t.used++
}

// remove removes what slot i has, which another key may have then.
func (t *keyedTable[K, L]) remove(i int) {
	for j := t.after(i); t.slots[j].hash != 0; j = t.after(j) {
		// What would not be found behind an empty slot moves there.
		if t.from(t.first(t.slots[j].hash), j) >= t.from(i, j) {
			t.slots[i], i = t.slots[j], j
		}
	}
	t.slots[i] = keyedSlot[K, L]{}
	t.used--
}

// from returns how many slots j is after i.
func (t *keyedTable[K, L]) from(i, j int) int {
	if j < i {
		j += len(t.slots)
	}
	return j - i
}

// split returns two tables, each with the keys of t that have the same next bit.
func (t *keyedTable[K, L]) split() (halves [2]*keyedTable[K, L]) {
	for i := range halves {
		halves[i] = newKeyedTable[K, L](t.depth+1, t.used/2)
	}
	for i := range t.slots {
		if s := &t.slots[i]; s.hash != 0 {
			halves[s.hash<<t.depth>>63].add(*s)
		}
	}
	return halves
}

// keyedUses say which limiters calls use now, by the hashes of their keys: apart from these, as
// whoever ends a call has no lock that would keep them where they are. A list has as many uses
// as it ever had calls at a time.
type keyedUses struct {
	first []*keyedUse // a list for each of the last bits of a hash, except the very last one
	made  int
}

// A keyedUse is alone in its line of the cache: others begin and end meanwhile.
type keyedUse struct {
	hash  uint64
	next  *keyedUse
	calls atomic.Int32 // they begin with the lock held
	_     [44]byte
}

func (u *keyedUses) list(hash uint64) **keyedUse {
	return &u.first[hash>>1&uint64(len(u.first)-1)]
}

// begin adds a call.
func (u *keyedUses) begin(hash uint64) *keyedUse {
	var use *keyedUse
	for one := *u.list(hash); one != nil; one = one.next {
		if one.hash == hash {
			use = one
			break
		}
		if use == nil && one.calls.Load() == 0 {
			use = one
		}
	}
	if use == nil {
		use = u.make(hash)
	}
	use.hash = hash
	use.calls.Add(1)
	return use
}

// make makes a use. There are at most twice as many as lists.
func (u *keyedUses) make(hash uint64) *keyedUse {
	if u.made == 2*len(u.first) {
		old := u.first
		u.first = make([]*keyedUse, 2*len(old))
		for _, use := range old {
			for use != nil {
				rest, list := use.next, u.list(use.hash)
				use.next, *list = *list, use
				use = rest
			}
		}
	}
	list := u.list(hash)
	*list = &keyedUse{hash: hash, next: *list}
	u.made++
	return *list
}

// has reports whether a call uses a limiter.
func (u *keyedUses) has(hash uint64) bool {
	for use := *u.list(hash); use != nil; use = use.next {
		if use.hash == hash {
			return use.calls.Load() > 0
		}
	}
	return false
}
