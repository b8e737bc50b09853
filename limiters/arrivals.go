package limiters

import (
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
// marked as gone, until the table is made anew. The tags lie apart from the keys: all of them
// take so little memory that they are mostly in a cache when the keys are not.
type arrivalTable[K comparable] struct {
	base time.Time
	tags []atomic.Uint64 // of each group, 8 bits for each key: 0 if there is none
	keys []arrivalGroup[K]

	// Guarded by the mu of the shard.
	used  int   // keys, also those that are gone
	floor int64 // no key that is not held has had an arrival time after this
}

// newArrivalTable returns a table of so many groups.
func newArrivalTable[K comparable](base time.Time, floor int64, groups int) *arrivalTable[K] {
	return &arrivalTable[K]{
		base: base, floor: floor, tags: make([]atomic.Uint64, groups), keys: make([]arrivalGroup[K], groups),
	}
}

// An arrivalGroup has eight keys.
type arrivalGroup[K comparable] [8]arrival[K]

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
	for i := t.first(p); i < len(t.tags); i = t.after(i) {
		tags := t.tags[i].Load()
		t.keys[i][0].tat.Load() // If both must come from memory, they do at once.
		// The bytes that are 0 in x; and some that are 1, which belong to other keys.
		x := tags ^ p.tag*eachByte
		for m := (x - eachByte) &^ x & highBits; m != 0; m &= m - 1 {
			if a := &t.keys[i][bits.TrailingZeros64(m)/8]; a.key == key {
				return a
			}
		}
		if ^tags&highBits != 0 {
			break
		}
	}
	return nil
}

// first returns the group where a key belongs. It is there, or in one after it up to the
// first that has room.
func (t *arrivalTable[K]) first(p place) int {
	i, _ := bits.Mul64(p.part, uint64(len(t.tags)))
	return int(i)
}

func (t *arrivalTable[K]) after(i int) int {
	if i++; i == len(t.tags) {
		return 0
	}
	return i
}

// full reports whether with one more key it would take too long to find them.
func (t *arrivalTable[K]) full() bool { return t.used >= 7*len(t.tags) }

// put adds a key, which is not there, to a table that is not full.
func (t *arrivalTable[K]) put(key K, p place, tat int64) {
	i := t.first(p)
	for t.tags[i].Load()&highBits == highBits {
		i = t.after(i)
	}
	tags := t.tags[i].Load()
	at := bits.TrailingZeros64(^tags&highBits) / 8
	t.keys[i][at].key = key
	t.keys[i][at].tat.Store(tat)
	t.tags[i].Store(tags | p.tag<<(8*at))
	t.used++
}

// group returns the keys of a group.
func (t *arrivalTable[K]) group(i int) []arrival[K] {
	return t.keys[i][:bits.OnesCount64(t.tags[i].Load()&highBits)]
}

// sweep forgets what can be forgotten at now of the next few keys, and returns how many.
func (s *arrivalShard[K]) sweep(t *arrivalTable[K], now int64) (forgotten int) {
	looked := 0
	for range t.tags {
		s.hand = t.after(min(s.hand, len(t.tags)-1))
		group := t.group(s.hand)
		for i := range group {
			a := &group[i]
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
