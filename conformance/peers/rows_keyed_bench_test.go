package peers

import (
	"context"
	"hash/maphash"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	bep "github.com/bep/debounce"
	"github.com/escapement-go/escapement/debounce"
	"github.com/escapement-go/escapement/limiters"
	romdo "github.com/romdo/go-debounce"
	"github.com/sethvargo/go-limiter/memorystore"
	"golang.org/x/time/rate"
)

// BenchmarkRows_keys has what is kept for each key, and middleware: see costRow.
func BenchmarkRows_keys(b *testing.B) {
	rows := []costRow{
		manyKeysRow(), keyedOfGCRARow(), fewKeysRow(1), fewKeysRow(2), keyBytesRow(), keyedOfGCRABytesRow(), headersRow(),
	}
	measureRows(b, append(rows, clientsRows()...))
}

// BenchmarkRows_debounce has what debouncers are called for most.
func BenchmarkRows_debounce(b *testing.B) {
	measureRows(b, []costRow{
		pendingRow(), callCancelRow(), keyedPendingRow(1), keyedPendingRow(2), keyedCallCancelRow(),
	})
}

const million = 1_000_000

// names are keys as they come in requests, and an order in which each comes once.
func names(n int) (keys []string, order []int32) {
	keys, order = make([]string, n), make([]int32, n)
	for i, k := range rand.New(rand.NewPCG(1, 2)).Perm(n) {
		keys[i], order[i] = "user-"+strconv.Itoa(million+i), int32(k)
	}
	return keys, order
}

// keyed is a limiter that lets each key have some thousand events, and one more in an hour: so
// all keys that have had one stay.
type keyed struct {
	name  string
	allow func(key string) bool
}

const thousands = 10_000

func keyedGCRA(room int) keyed {
	k := limiters.NewKeyedGCRA[string](room, time.Hour, thousands)
	return keyed{"limiters.KeyedGCRA", k.Allow}
}

func keyedOfGCRA(room int) keyed {
	k := limiters.NewKeyed(room, func(string) *limiters.GCRA { return limiters.NewGCRA(time.Hour, thousands) },
		(*limiters.GCRA).Fresh)
	return keyed{"limiters.Keyed of GCRA", func(key string) (ok bool) {
		_ = k.Do(key, func(g *limiters.GCRA) { ok = g.Allow() })
		return ok
	}}
}

func keyedSethvargo(b *testing.B) keyed {
	store, err := memorystore.New(&memorystore.Config{Tokens: thousands, Interval: time.Hour})
	if err != nil {
		b.Fatal(err)
	}
	ctx := context.Background()
	b.Cleanup(func() { _ = store.Close(ctx) })
	return keyed{"sethvargo/go-limiter", func(key string) bool {
		_, _, _, ok, _ := store.Take(ctx, key)
		return ok
	}}
}

// keyedSyncMap is what one writes without a library: it never forgets a key.
func keyedSyncMap() keyed {
	var m sync.Map
	return keyed{"sync.Map of x/time/rate", func(key string) bool {
		l, ok := m.Load(key)
		if !ok {
			l, _ = m.LoadOrStore(key, rate.NewLimiter(rate.Every(time.Hour), thousands))
		}
		return l.(*rate.Limiter).Allow()
	}}
}

// keyedMutexMap is the other way to write it.
func keyedMutexMap() keyed {
	var mu sync.Mutex
	m := map[string]*rate.Limiter{}
	return keyed{"mutex and map of x/time/rate", func(key string) bool {
		mu.Lock()
		l, ok := m[key]
		if !ok {
			l = rate.NewLimiter(rate.Every(time.Hour), thousands)
			m[key] = l
		}
		mu.Unlock()
		return l.Allow()
	}}
}

func (k keyed) fill(keys []string) keyed {
	for _, key := range keys {
		k.allow(key)
	}
	return k
}

// manyKeysRow asks a million keys in random order: mostly it waits for memory. The floor is an
// array of numbers, of which the hash of the key says which.
func manyKeysRow() costRow {
	return costRow{name: "a limiter for each of 1M keys", most: 500, sides: func(b *testing.B) []side {
		keys, order := names(million)
		sides := []side{}
		for _, k := range []keyed{keyedGCRA(million), keyedOfGCRA(million), keyedSethvargo(b), keyedSyncMap()} {
			k.fill(keys)
			sides = append(sides, side{name: k.name, most: 1, loop: inOrder(keys, order, func(key string) { k.allow(key) })})
		}
		length := 0
		return append(sides, side{name: "floor: hash, swap and read the clock", loop: inOrder(keys, order, swapByHash(million))},
			side{name: "read the key and the clock", loop: inOrder(keys, order, func(key string) {
				length += int(key[len(key)-1]) + int(time.Since(began))
			})})
	}}
}

// keyedOfGCRARow is the same of what has any limiter for each key.
func keyedOfGCRARow() costRow {
	return costRow{name: "any limiter for each of 1M keys", sides: func(b *testing.B) []side {
		keys, order := names(million)
		sides := []side{}
		for _, k := range []keyed{keyedOfGCRA(million), keyedMutexMap(), keyedSyncMap()} {
			k.fill(keys)
			sides = append(sides, side{name: k.name, most: 1, loop: inOrder(keys, order, func(key string) { k.allow(key) })})
		}
		return sides
	}}
}

// swapByHash returns what changes the one of n numbers that belongs to a key. They lie as far
// apart as they would beside their keys.
func swapByHash(n int) func(key string) {
	type place struct {
		number atomic.Int64
		_      string
	}
	places, seed := make([]place, n), maphash.MakeSeed()
	for i := range places {
		places[i].number.Store(1)
	}
	return func(key string) {
		p := &places[maphash.String(seed, key)%uint64(n)]
		was := p.number.Load()
		p.number.CompareAndSwap(was, int64(time.Since(began)))
	}
}

// inOrder makes calls with one key after the other, and goes on where it ended.
func inOrder(keys []string, order []int32, call func(key string)) func(n int) {
	next := 0
	return func(n int) {
		for range n {
			call(keys[order[next]])
			if next++; next == len(order) {
				next = 0
			}
		}
	}
}

// fewKeysRow asks a thousand keys, each goroutine in another order.
func fewKeysRow(goroutines int) costRow {
	row := costRow{name: "a limiter for each of 1k keys", goroutines: goroutines, sides: func(b *testing.B) []side {
		keys, order := names(1024)
		var sides []side
		for _, k := range []keyed{keyedGCRA(10_000), keyedOfGCRA(10_000), keyedSethvargo(b), keyedSyncMap()} {
			k.fill(keys)
			sides = append(sides, side{name: k.name, most: 1, loop: func(n int) {
				next := rand.IntN(len(order))
				for range n {
					k.allow(keys[order[next%len(order)]])
					next++
				}
			}})
		}
		swap := swapByHash(len(keys))
		return append(sides, side{name: "floor: hash, swap and read the clock", loop: func(n int) {
			next := rand.IntN(len(order))
			for range n {
				swap(keys[order[next%len(order)]])
				next++
			}
		}})
	}}
	if goroutines == 2 {
		row.most = 35
	}
	return row
}

// lockAndRead is the floor of what notes when it was called.
func lockAndRead() func(n int) {
	var mu sync.Mutex
	var last time.Duration
	return func(n int) {
		for range n {
			mu.Lock()
			last = time.Since(began)
			mu.Unlock()
		}
		_ = last
	}
}

// pendingRow is one more call of a burst.
func pendingRow() costRow {
	return costRow{name: "Debouncer.Call, pending", sides: func(b *testing.B) []side {
		own := debounce.New(time.Hour, func(int) {})
		b.Cleanup(own.Stop)
		debounced, cancel := romdo.New(time.Hour, func() {})
		b.Cleanup(cancel)
		f := func() {}
		restarted := bep.New(time.Hour)
		return []side{
			{name: "debounce.Debouncer", loop: func(n int) {
				for range n {
					own.Call(1)
				}
			}},
			{name: "floor: lock and read the clock", most: 1.1, loop: lockAndRead()},
			{name: "romdo", most: 1, loop: func(n int) {
				for range n {
					debounced()
				}
			}},
			{name: "bep", most: 1, calls: 2000, loop: func(n int) {
				for range n {
					restarted(f)
				}
			}},
		}
	}}
}

// callCancelRow begins a burst and ends it by hand. The floor is what that needs: two locks, and
// a timer that is armed, which reads the clock, and stopped. Beside it is what a type takes that
// also reads the clock for each call.
func callCancelRow() costRow {
	return costRow{name: "Debouncer, Call and Cancel", sides: func(b *testing.B) []side {
		own := debounce.New(time.Hour, func(int) {})
		debounced, cancel := romdo.New(time.Hour, func() {})
		var mu sync.Mutex
		var last time.Duration
		timer := time.AfterFunc(time.Hour, func() {})
		return []side{
			{name: "debounce.Debouncer", loop: func(n int) {
				for range n {
					own.Call(1)
					own.Cancel()
				}
			}},
			{name: "lock, read, Reset; lock, Stop", most: 1, loop: func(n int) {
				for range n {
					mu.Lock()
					last = time.Since(began)
					timer.Reset(time.Hour)
					mu.Unlock()
					mu.Lock()
					timer.Stop()
					mu.Unlock()
				}
				_ = last
			}},
			{name: "floor: lock, Reset; lock, Stop", most: 1.1, loop: times(func() {
				mu.Lock()
				timer.Reset(time.Hour)
				mu.Unlock()
				mu.Lock()
				timer.Stop()
				mu.Unlock()
			})},
			{name: "romdo", most: 1, loop: func(n int) {
				for range n {
					debounced()
					cancel()
				}
			}},
		}
	}}
}

// lockedTimer is a debouncer of a key as one writes it: it keeps its key for ever.
type lockedTimer struct {
	mu    sync.Mutex
	timer *time.Timer
}

func (l *lockedTimer) call() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.timer.Reset(time.Hour)
}

func (l *lockedTimer) cancel() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.timer.Stop()
}

// lockedTimers has one for each key.
type lockedTimers struct{ m sync.Map }

func (all *lockedTimers) of(key string) *lockedTimer {
	l, ok := all.m.Load(key)
	if !ok {
		timer := time.AfterFunc(time.Hour, func() {})
		timer.Stop()
		l, _ = all.m.LoadOrStore(key, &lockedTimer{timer: timer})
	}
	return l.(*lockedTimer)
}

// keyedPendingRow is one more call of a burst of one of a few keys.
func keyedPendingRow(goroutines int) costRow {
	return costRow{name: "debounce.Keyed, Call, pending", goroutines: goroutines, sides: func(b *testing.B) []side {
		keys, _ := names(16)
		own, plain := debounce.NewKeyed(time.Hour, func(string, int) {}), new(lockedTimers)
		b.Cleanup(own.Stop)
		var mu sync.Mutex
		found := map[string]*lockedTimer{}
		for _, key := range keys {
			found[key] = plain.of(key)
			b.Cleanup(plain.of(key).cancel)
		}
		return []side{
			{name: "debounce.Keyed", loop: func(n int) {
				for i := range n {
					_ = own.Call(keys[i%len(keys)], 1)
				}
			}},
			{name: "sync.Map, mutex and Reset", most: 1, loop: func(n int) {
				for i := range n {
					plain.of(keys[i%len(keys)]).call()
				}
			}},
			{name: "floor: two locks, a map and the clock", loop: func(n int) {
				for i := range n {
					mu.Lock()
					l := found[keys[i%len(keys)]]
					l.mu.Lock()
					mu.Unlock()
					time.Since(began)
					l.mu.Unlock()
				}
			}},
		}
	}}
}

// keyedCallCancelRow begins the burst of a key and ends it by hand, after which a Keyed does
// not hold the key any more. The floor is that of callCancelRow with a map, in which the key is
// found twice.
func keyedCallCancelRow() costRow {
	return costRow{name: "debounce.Keyed, Call and Cancel", sides: func(b *testing.B) []side {
		keys, _ := names(16)
		own, plain, bare := debounce.NewKeyed(time.Hour, func(string, int) {}), new(lockedTimers), new(lockedTimers)
		var mu sync.Mutex
		found := map[string]*lockedTimer{}
		for _, key := range keys {
			found[key] = bare.of(key)
		}
		return []side{
			{name: "debounce.Keyed", loop: func(n int) {
				for i := range n {
					_ = own.Call(keys[i%len(keys)], 1)
					own.Cancel(keys[i%len(keys)])
				}
			}},
			{name: "sync.Map, mutex, Reset and Stop", loop: func(n int) {
				for i := range n {
					plain.of(keys[i%len(keys)]).call()
					plain.of(keys[i%len(keys)]).cancel()
				}
			}},
			{name: "floor: a key that is new, AfterFunc and Stop", loop: func(n int) {
				f := func() {}
				for range n {
					time.AfterFunc(time.Hour, f).Stop()
				}
			}},
			{name: "floor: two locks, a map, Reset; the same, Stop", most: 1.1, loop: func(n int) {
				for i := range n {
					mu.Lock()
					l := found[keys[i%len(keys)]]
					l.mu.Lock()
					mu.Unlock()
					l.timer.Reset(time.Hour)
					l.mu.Unlock()
					mu.Lock()
					l = found[keys[i%len(keys)]]
					l.mu.Lock()
					mu.Unlock()
					l.timer.Stop()
					l.mu.Unlock()
				}
			}},
		}
	}}
}
