package limiters

import (
	"iter"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"
)

// An arrivalShard has a part of the keys of a KeyedGCRA.
type arrivalShard[K comparable] struct {
	table atomic.Pointer[arrivalTable[K]] // nil: nothing granted yet
	mu    sync.Mutex                      // for new keys, and for those that are forgotten
	hand  int                             // the group of table that was looked at last
}

// An arrivalTable has the theoretical arrival times of keys, counted from base. It is a hash
// table with open addressing in groups of eight. Keys are only added, which those who look
// for one need not notice: the tag of a key is written after it. What is forgotten stays,
// marked as gone, until the table is made anew.
type arrivalTable[K comparable] struct {
	base   time.Time
	groups []arrivalGroup[K]

	// Guarded by the mu of the shard.
	used  int   // keys, also those that are gone
	floor int64 // no key that is not held has had an arrival time after this
}

// An arrivalGroup has eight keys. Its tags are 8 bits for each: 0 if there is none.
type arrivalGroup[K comparable] struct {
	tags atomic.Uint64
	keys [8]arrival[K]
}

// An arrival is a key and its theoretical arrival time, which is gone if it was forgotten, and
// over if a newer table has it.
type arrival[K comparable] struct {
	tat atomic.Int64
	key K
}

// gone is the arrival time of a key that was forgotten: later than any, as over is.
const gone = over + 1

// A place is where a key belongs in the table of its shard: the group as a part of all of them,
// in units of 2^-64, and the tag.
type place struct{ part, tag uint64 }

const (
	eachByte = 0x0101010101010101
	highBits = 0x80 * eachByte // set in all tags
)

// find returns what the table has of a key: nil if it is not there.
func (t *arrivalTable[K]) find(key K, p place) *arrival[K] {
	if len(t.groups) == 0 {
		return nil
	}
	for i := t.first(p); ; i = t.after(i) {
		group := &t.groups[i]
		tags := group.tags.Load()
		// The bytes that are 0 in x; and some that are 1, which belong to other keys.
		x := tags ^ p.tag*eachByte
		for m := (x - eachByte) &^ x & highBits; m != 0; m &= m - 1 {
			if a := &group.keys[bits.TrailingZeros64(m)/8]; a.key == key {
				return a
			}
		}
		if ^tags&highBits != 0 {
			return nil
		}
	}
}

// first returns the group where a key belongs. It is there, or in one after it up to the
// first that has room.
func (t *arrivalTable[K]) first(p place) int {
	i, _ := bits.Mul64(p.part, uint64(len(t.groups)))
	return int(i)
}

func (t *arrivalTable[K]) after(i int) int {
	if i++; i == len(t.groups) {
		return 0
	}
	return i
}

// full reports whether with one more key it would take too long to find them.
func (t *arrivalTable[K]) full() bool { return t.used >= 7*len(t.groups) }

// put adds a key, which is not there, to a table that is not full.
func (t *arrivalTable[K]) put(key K, p place, tat int64) {
	i := t.first(p)
	for t.groups[i].tags.Load()&highBits == highBits {
		i = t.after(i)
	}
	group := &t.groups[i]
	tags := group.tags.Load()
	at := bits.TrailingZeros64(^tags&highBits) / 8
	group.keys[at].key = key
	group.keys[at].tat.Store(tat)
	group.tags.Store(tags | p.tag<<(8*at))
	t.used++
}

// all yields the keys of a group.
func (group *arrivalGroup[K]) all() iter.Seq[*arrival[K]] {
	return func(yield func(*arrival[K]) bool) {
		for i := range bits.OnesCount64(group.tags.Load() & highBits) {
			if !yield(&group.keys[i]) {
				return
			}
		}
	}
}

// sweep forgets what can be forgotten at now of the next few keys, and returns how many.
func (s *arrivalShard[K]) sweep(t *arrivalTable[K], now int64) (forgotten int) {
	looked := 0
	for range t.groups {
		s.hand = t.after(min(s.hand, len(t.groups)-1))
		for a := range t.groups[s.hand].all() {
			tat := a.tat.Load()
			if tat == gone {
				continue
			}
			looked++
			if tat <= now && a.tat.CompareAndSwap(tat, gone) {
				t.floor = max(t.floor, tat)
				forgotten++
			}
		}
		if looked >= looks {
			break
		}
	}
	return forgotten
}
