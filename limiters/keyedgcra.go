package limiters

import (
	"context"
	"fmt"
	"hash/maphash"
	"math/bits"
	"sync/atomic"
	"time"

	"github.com/jonboulle/clockwork"
)

// A KeyedGCRA is one [GCRA] for each key: for each user, address or tenant. It decides as a
// [Keyed] of them does, for many keys in less time and a third of the memory: it keeps each
// key with one number, its theoretical arrival time, in a hash table. There is room for a
// bounded number of keys.
//
// A key is held from its first grant on. It is forgotten only when it decides as a new one
// would, and another needs its place: so forgetting never grants anything. If there is no
// room, a new key is refused: choose the bound so that this happens only under attack. A
// query, with n == 0, and a denial need no room.
//
// A new key takes the lock of the few thousand keys of its part of the table, and now and then
// that part is rebuilt without the keys that can be forgotten. If all room is taken, a new key
// checks a few keys of its part in turn, then a few of the others, and is refused if none of
// these can be forgotten.
//
// The zero KeyedGCRA has no room, and rejects all events (other than n == 0). Make one with
// [NewKeyedGCRA].
//
// Any instant is allowed, as for a [GCRA]. An instant before a key's newest grant is taken
// as it is; and for a key that is not held, one before a forgotten arrival time is judged
// as if that were the key's own. So if the clock goes back, a key may be denied until it
// is where it was, but is never granted more.
//
// In a synctest bubble, use a KeyedGCRA that has not granted anything outside of it.
//
// It has no goroutines or timers. A decision on a key that is held takes no lock: a grant is
// one compare-and-swap, a denial only reads. It allocates only for keys that contain
// pointers other than those of strings. All methods are safe for concurrent use, and take
// effect one after the other.
type KeyedGCRA[K comparable] struct {
	clock clockwork.Clock // nil: package time
	cellRate

	room int64
	held atomic.Int64
	seed maphash.Seed

	elsewhere atomic.Uint64 // shards that were looked at for a new key of another

	shards []arrivalShard[K] // each for an equal part of the hashes
}

const (
	shardKeys  = 2048 // for how many keys of the room there is a shard
	mostShards = 4096 // whatever the room

	looksElsewhere = 16 // of a new key, at keys of other shards, if there is no room
)

// NewKeyedGCRA returns a KeyedGCRA with room for maxKeys keys, and for each of them one event
// per interval, and burst at once. A negative burst is 0. It panics if maxKeys is less than 1,
// interval is less than a nanosecond, or burst intervals are more than 73 years.
//
//	users := limiters.NewKeyedGCRA[string](1_000_000, time.Second/10, 20)
func NewKeyedGCRA[K comparable](maxKeys int, interval time.Duration, burst int, opts ...Option) *KeyedGCRA[K] {
	if maxKeys < 1 {
		panic(fmt.Sprintf("limiters: NewKeyedGCRA: maxKeys %d must be >= 1: without keys use a GCRA", maxKeys))
	}
	var cfg config
	for _, opt := range opts {
		if opt != nil {
			opt(&cfg)
		}
	}
	return &KeyedGCRA[K]{
		clock: cfg.clock, cellRate: newCellRate("NewKeyedGCRA", interval, burst), room: int64(maxKeys),
		seed: maphash.MakeSeed(), shards: make([]arrivalShard[K], min((maxKeys-1)/shardKeys+1, mostShards)),
	}
}

// Allow reports whether an event of key may happen now, and grants it if so. Without room for
// the key it is denied; Take returns an error then. It panics if key is not equal to itself, as
// NaN.
func (g *KeyedGCRA[K]) Allow(key K) bool {
	if g.burst == 0 { // also of the zero KeyedGCRA
		return false
	}
	s, place := g.place(key)
	if t := s.table.Load(); t != nil && g.clock == nil {
		if a := t.find(key, place); a != nil {
			now := max(int64(time.Since(t.base)), -tooFar) // Half the price of time.Now.
			for tat := a.tat.Load(); tat < over && now <= tooFar; tat = a.tat.Load() {
				next := max(now, tat) + g.interval
				if next-g.interval*g.burst > now {
					return false
				}
				if a.tat.CompareAndSwap(tat, next) {
					return true
				}
			}
		}
	}
	d, _ := g.decide(key, time.Time{}, true, 1)
	return d.Allowed
}

// AllowAt grants n events of key at t, all of them or none. It reads no clock. With n == 0 it only reports what
// remains and when one event will be granted. A negative n, or one above burst, is denied: it can never be granted. If
// there is no room for the key, nothing is granted and the error is ErrTooManyKeys; otherwise it is nil. It panics as
// Allow does.
func (g *KeyedGCRA[K]) AllowAt(key K, t time.Time, n int) (Decision, error) {
	return g.decide(key, t, false, n)
}

// Take decides on n events of key now, as AllowAt does; see [Taker], which a KeyedGCRA with
// keys of type string is.
func (g *KeyedGCRA[K]) Take(ctx context.Context, key K, n int) (Decision, error) {
	if ctx == nil {
		noContext("KeyedGCRA.Take")
	}
	if err := ctx.Err(); err != nil {
		return Decision{}, err
	}
	return g.decide(key, time.Time{}, true, n)
}

// Len returns how many keys are held now, including those that could be forgotten.
func (g *KeyedGCRA[K]) Len() int { return int(g.held.Load()) }

// place returns the shard of a key, and where in its table the key belongs.
func (g *KeyedGCRA[K]) place(key K) (*arrivalShard[K], place) {
	h := maphash.Comparable(g.seed, key)
	shard, rest := bits.Mul64(h, uint64(len(g.shards)))
	return &g.shards[shard], place{rest, h&0x7f | 0x80}
}

// read returns the present instant.
func (g *KeyedGCRA[K]) read() time.Time {
	if g.clock != nil {
		return g.clock.Now()
	}
	return time.Now()
}

// decide decides on n events of key at t, or now.
func (g *KeyedGCRA[K]) decide(key K, t time.Time, clock bool, n int) (d Decision, err error) {
	if key != key {
		panic(fmt.Sprintf("limiters: KeyedGCRA: key %v is not equal to itself, so it would be new each time: use another",
			key))
	}
	if len(g.shards) == 0 {
		if n == 0 {
			return g.peek(0, 0), nil
		}
		_, retry := g.judge(0, 0, n)
		return g.result(0, 0, retry), nil
	}
	s, place := g.place(key)
	if table := s.table.Load(); table != nil {
		if a := table.find(key, place); a != nil {
			var now int64
			switch {
			case !clock:
				now = int64(t.Sub(table.base))
			case g.clock == nil:
				now = int64(time.Since(table.base)) // Half the price of time.Now.
			default:
				now = int64(g.clock.Now().Sub(table.base))
			}
			if now <= tooFar {
				if g.renew(a, max(now, -tooFar), n, &d) {
					return d, nil
				}
			}
		}
	}
	return g.admit(s, key, place, t, clock, n)
}

// renew decides on n events of a key that is held, unless it is not there any more, and tells d,
// which is zero.
func (g *KeyedGCRA[K]) renew(a *arrival[K], now int64, n int, d *Decision) bool {
	for tat := a.tat.Load(); tat < over; tat = a.tat.Load() {
		if n == 0 {
			*d = g.peek(now, tat)
			return true
		}
		next, retry := g.judge(now, tat, n)
		if retry > 0 || a.tat.CompareAndSwap(tat, next) {
			g.tell(d, now, next, retry)
			return true
		}
	}
	return false
}

// admit decides on n events of a key that may be new.
func (g *KeyedGCRA[K]) admit(
	s *arrivalShard[K], key K, place place, t time.Time, clock bool, n int,
) (d Decision, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if clock {
		t = g.read()
	}
	table := s.table.Load()
	if table == nil {
		table = newArrivalTable[K](t, -tooFar, 0)
	}
	for {
		now, tat := min(max(int64(t.Sub(table.base)), -tooFar), over), table.floor
		a := table.find(key, place)
		if a != nil {
			if now <= tooFar {
				if g.renew(a, now, n, &d) {
					return d, nil
				}
			}
			if own := a.tat.Load(); own != gone {
				tat = own
			}
		}
		next, retry := g.judge(now, tat, n)
		switch {
		case n == 0:
			return g.peek(now, tat), nil
		case retry > 0:
			return g.result(now, next, retry), nil
		case now > tooFar:
			table = g.move(s, table, t, now)
		case a == nil && table.full():
			table = g.move(s, table, table.base, now)
		case !g.enter(s, table, t, now):
			return Decision{}, ErrTooManyKeys
		case a == nil:
			table.put(key, place, next)
			return g.result(now, next, 0), nil
		default:
			a.tat.Store(next)
			return g.result(now, next, 0), nil
		}
	}
}

// enter counts a key more in the shard s, if there is room or what can be forgotten at t, which
// is now after the base of its table.
func (g *KeyedGCRA[K]) enter(s *arrivalShard[K], table *arrivalTable[K], t time.Time, now int64) bool {
	for held := g.held.Load(); held < g.room; held = g.held.Load() {
		if g.held.CompareAndSwap(held, held+1) {
			return true
		}
	}
	forgotten := s.sweep(table, now)
	for i := 0; i < looksElsewhere && forgotten == 0; i++ {
		other := &g.shards[g.elsewhere.Add(1)%uint64(len(g.shards))]
		if other != s && other.mu.TryLock() { // who waits may hold what another waits for
			if table := other.table.Load(); table != nil {
				forgotten = other.sweep(table, int64(t.Sub(table.base)))
			}
			other.mu.Unlock()
		}
	}
	if forgotten > 0 {
		g.held.Add(int64(1 - forgotten))
	}
	return forgotten > 0
}

// move makes the table of s anew, with instants that are counted from base, without the keys
// that decide as new ones at now, which is counted from the base of old.
func (g *KeyedGCRA[K]) move(s *arrivalShard[K], old *arrivalTable[K], base time.Time, now int64) *arrivalTable[K] {
	type kept struct {
		key K
		tat int64
	}
	keep, forgotten := make([]kept, 0, old.used), 0
	for i := range old.tags {
		group := old.group(i)
		for k := range group {
			a := &group[k]
			switch tat := a.tat.Swap(over); { // From now on nobody changes it.
			case tat == gone:
			case tat <= now:
				old.floor = max(old.floor, tat)
				forgotten++
			default:
				keep = append(keep, kept{a.key, tat})
			}
		}
	}
	g.held.Add(-int64(forgotten))
	shift, floor := int64(0), old.floor
	if base != old.base {
		shift, floor = now, max(floor, now) // as nobody counts back as far as they were
	}
	// Two thirds of a full one, so that it lasts for a while.
	t := newArrivalTable[K](base, floor-shift, (3*(len(keep)+1)+13)/14)
	for _, k := range keep {
		_, place := g.place(k.key)
		t.put(k.key, place, k.tat-shift)
	}
	s.table.Store(t)
	return t
}
