package zoo

import (
	"runtime"
	"slices"
	"sync"
	"time"
)

// Keyed has something for each key, made when the key is first asked for: a limiter, or a quota. It is
// correct unless Mutant names one of its mistakes.
type Keyed[L any] struct {
	Make func() L
	// Idle is after how long without a request what a key has is as good as new: it is forgotten when a new
	// one comes. 0 stands for never.
	Idle   time.Duration
	Mutant string

	mu        sync.Mutex
	keys      []*held[L] // in the order in which they came
	forgotten map[int]bool
}

// held is what a key has.
type held[L any] struct {
	key         int
	came, asked time.Time
	own         L
}

// KeyedMutants are the mistakes, each with the rule that must catch it.
var KeyedMutants = []struct{ Name, Rule string }{
	{"keys share one", "X-ISO"},
	{"keys share sixteen", "X-ISO"},
	{"the newest fifty keys are kept", "X-ISO"},
	{"a hundred keys are forgotten at once", "X-ISO"},
	{"keys that came a minute ago are forgotten", "X-EVICT"},
	{"keys that are idle for a minute are forgotten", "X-EVICT"},
	{"keys that are idle for a fifth of their time are forgotten", "X-EVICT"},
	{"a key that comes back is empty", "X-ISO"},
	{sweptByNow, "X-CLOCK1"},
	{zeroIsNew, "RL-EPOCH"},
	{twiceMade, "X-CONC"},
	{noKeyLock, "X-RACE"},
}

const (
	twiceMade = "a key that several bring at once is made for each of them"
	noKeyLock = "keys are added without the lock"

	sweptByNow = "keys are swept on package time"
	zeroIsNew  = "a key that was asked for at the zero time is new"
)

// TenIntervals is a mistake of who makes a Keyed: a time to live that counts in intervals, which is enough for a
// burst of so many only.
const TenIntervals = "keys that are idle for ten intervals are forgotten"

// OfKeys selects the families of keys: all others find nothing in a table of them.
func OfKeys(family string) bool { return family == "keys" || family == "leaks" }

// Of returns what a key has at an instant, and whether it has been forgotten and now comes back.
func (k *Keyed[L]) Of(key int, now time.Time) (own L, returned bool) {
	if k.Mutant != noKeyLock {
		k.mu.Lock()
		defer k.mu.Unlock()
	}
	switch k.Mutant {
	case sweptByNow:
		now = time.Now()
	case zeroIsNew:
		k.keys = slices.DeleteFunc(k.keys, func(h *held[L]) bool { return h.asked.IsZero() })
	case "keys share one":
		key = 0
	case "keys share sixteen":
		key %= 16
	}
	if i := slices.IndexFunc(k.keys, func(h *held[L]) bool { return h.key == key }); i >= 0 {
		k.keys[i].asked = now
		return k.keys[i].own, false
	}
	if k.Mutant == twiceMade {
		k.mu.Unlock()
		for range 100 {
			runtime.Gosched() // lets others in
		}
		k.mu.Lock()
	}
	k.sweep(now)
	switch {
	case k.Mutant == "the newest fifty keys are kept" && len(k.keys) == 50:
		k.keys = k.keys[1:]
	case k.Mutant == "a hundred keys are forgotten at once" && len(k.keys) == 100:
		k.keys = nil
	}
	k.keys = append(k.keys, &held[L]{key: key, came: now, asked: now, own: k.Make()})
	return k.keys[len(k.keys)-1].own, k.forgotten[key]
}

// Each goes over the keys in the order in which they came; those for which do reports false are forgotten.
func (k *Keyed[L]) Each(do func(key int, own L) (keep bool)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.keys = slices.DeleteFunc(k.keys, func(h *held[L]) bool { return !do(h.key, h.own) })
}

// sweep forgets what is old.
func (k *Keyed[L]) sweep(now time.Time) {
	k.keys = slices.DeleteFunc(k.keys, func(h *held[L]) bool {
		old := k.old(h, now)
		if old && k.forgotten == nil {
			k.forgotten = map[int]bool{}
		}
		if old {
			k.forgotten[h.key] = true
		}
		return old
	})
}

// old reports whether what a key has is forgotten.
func (k *Keyed[L]) old(h *held[L], now time.Time) bool {
	switch k.Mutant {
	case "keys that came a minute ago are forgotten":
		return now.Sub(h.came) > time.Minute
	case "keys that are idle for a minute are forgotten":
		return now.Sub(h.asked) > time.Minute
	case "keys that are idle for a fifth of their time are forgotten":
		return now.Sub(h.asked) > k.Idle/5
	}
	return k.Idle > 0 && now.Sub(h.asked) >= k.Idle
}
