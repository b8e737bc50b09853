package limiters

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/internal/prove"
	"github.com/escapement-go/escapement/synctestcompat"
	"github.com/jonboulle/clockwork"
)

// What a key is told is what a GCRA of its own, never forgotten, says; or it is refused because
// there is no room. Some of the gaps are longer than arrival times can be counted.
func TestKeyedGCRA_forgettingIsNotSeen(t *testing.T) {
	histories := prove.Long(300, 100_000)
	rnd := rand.New(rand.NewPCG(5, 6))
	refused, forgotten := 0, 0
	gaps := []time.Duration{1, 100 * ms, 300 * ms, 500 * ms, 35 * years, 40 * years, math.MaxInt64}
	for h := range histories {
		clock := clockwork.NewFakeClockAt(t0)
		room := 1 + rnd.IntN(40)
		most := 5
		if h%4 == 0 {
			most = len(gaps)
		}
		k := NewKeyedGCRA[int](room, 100*ms, 3, WithClock(clock))
		kept := map[int]*GCRA{}
		for i := range 200 {
			if rnd.IntN(8) == 0 {
				clock.Advance(time.Duration(rnd.Int64N(int64(gaps[rnd.IntN(most-1)]))))
			}
			key, n, before := rnd.IntN(60), rnd.IntN(6)-1, k.Len()
			if kept[key] == nil {
				kept[key] = NewGCRA(100*ms, 3, WithClock(clock))
			}
			want := kept[key].allow(0)
			got, err := k.AllowAt(key, clock.Now(), 0)
			if err != nil || got != want {
				t.Fatalf("history %d, step %d: key %d: a look: %+v, %v, kept %+v", h, i, key, got, err, want)
			}
			if got, err = k.Take(context.Background(), key, n); err != nil {
				if refused++; !errors.Is(err, ErrTooManyKeys) || before < room || got != (Decision{}) {
					t.Fatalf("history %d, step %d: %+v, %v with %d of %d keys", h, i, got, err, before, room)
				}
				continue
			}
			if want := kept[key].allow(n); got != want {
				t.Fatalf("history %d, step %d: key %d: Take(%d) = %+v, kept %+v", h, i, key, n, got, want)
			}
			if k.Len() > room {
				t.Fatalf("history %d: %d keys, room for %d", h, k.Len(), room)
			}
		}
		forgotten += len(kept) - k.Len()
	}
	if refused == 0 || forgotten == 0 {
		t.Errorf("%d refused and %d forgotten: the histories try nothing", refused, forgotten)
	}
}

// However the clock goes, no key is granted more than its envelope, whatever was forgotten.
func TestKeyedGCRA_earlierInstants(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	type granted struct {
		first, newest time.Time
		n             int
	}
	again := 0
	for h := range prove.Long(300, 100_000) {
		k := NewKeyedGCRA[int](8, 10, 3)
		at, all := t0, map[int]*granted{}
		jumps := []int{20, 200}[h%2]
		for range 300 {
			at = at.Add(time.Duration(rnd.IntN(jumps) - jumps/2))
			if h%3 == 0 && rnd.IntN(50) == 0 {
				at = t0.Add([]time.Duration{0, 40 * years, 200 * years}[rnd.IntN(3)])
			}
			key := rnd.IntN(20)
			if d, err := k.AllowAt(key, at, 1); err != nil || !d.Allowed {
				continue
			}
			g := all[key]
			if g == nil {
				g = &granted{first: at, newest: at}
				all[key] = g
			}
			if at.Before(g.newest) {
				again++
			}
			if at.Before(g.first) {
				g.first = at
			}
			if at.After(g.newest) {
				g.newest = at
			}
			if g.n++; int64(g.n) > 3+int64(g.newest.Sub(g.first)/10) {
				t.Fatalf("history %d, key %d: %d granted in %v", h, key, g.n, g.newest.Sub(g.first))
			}
		}
	}
	if again == 0 {
		t.Error("nothing was granted before the newest instant: the histories try nothing")
	}
}

// Going back to before what was forgotten: another key's arrival time counts as its own.
func TestKeyedGCRA_backToTheForgotten(t *testing.T) {
	k := NewKeyedGCRA[string](1, 100*ms, 2)
	for _, step := range []struct {
		key     string
		at      time.Duration
		allowed bool
		err     error
	}{
		{"a", 0, true, nil}, {"a", 0, true, nil}, {"a", 0, false, nil},
		{"b", 199 * ms, false, ErrTooManyKeys},
		{"b", 200 * ms, true, nil}, // and a is forgotten
		{"b", 200 * ms, true, nil},
		{"a", 400 * ms, true, nil}, // and b, whose arrival time was 400ms
		{"c", 600 * ms, true, nil},
		{"b", 200 * ms, false, nil}, // as of a, 500ms
		{"b", 300 * ms, false, nil},
		{"b", 400 * ms, false, ErrTooManyKeys}, // half of the burst; but c is there
	} {
		d, err := k.AllowAt(step.key, t0.Add(step.at), 1)
		if d.Allowed != step.allowed || !errors.Is(err, step.err) {
			t.Errorf("AllowAt(%s, %v) = %v, %v, want %v, %v", step.key, step.at, d.Allowed, err, step.allowed, step.err)
		}
	}
}

// Allow, on package time, grants a key again that was forgotten and has kept its place.
func TestKeyedGCRA_allowsTheForgotten(t *testing.T) {
	synctestcompat.Run(t, func(t *testing.T) {
		k := NewKeyedGCRA[string](1, 100*ms, 1)
		for i, key := range []string{"a", "b", "a", "b", "b", "a"} {
			if !k.Allow(key) {
				t.Errorf("event %d, of key %s, is denied", i, key)
			}
			time.Sleep(100 * ms)
		}
	})
}

// A flood of keys takes all the room, is refused then, and passes over those who were there.
func TestKeyedGCRA_flood(t *testing.T) {
	clock := fakeclock.New()
	const room = 5000 // of several shards
	k := NewKeyedGCRA[int](room, time.Second, 3, WithClock(clock))
	if d, err := k.Take(context.Background(), -1, 3); err != nil || !d.Allowed {
		t.Fatalf("Take = %+v, %v", d, err)
	}
	granted := 0
	for key := range 2 * room {
		if k.Allow(key) {
			granted++
		}
	}
	if k.Len() != room || granted != room-1 {
		t.Errorf("%d keys, %d granted, want %d and %d", k.Len(), granted, room, room-1)
	}
	if k.Allow(-1) {
		t.Error("the flood freed the key that had used its burst")
	}
	if d, err := k.AllowAt(-2, clock.Now(), 0); err != nil || d.Remaining != 3 {
		t.Errorf("a look at a new key: %+v, %v, want 3 remaining, as it needs no room", d, err)
	}
	clock.Advance(3 * time.Second)
	for key := range room / 4 { // of the rest, a look at a few finds one
		if !k.Allow(3*room + key) {
			t.Fatalf("key %d is denied when most of the others are idle", key)
		}
	}
	if n := k.Len(); n < room/4 || n > room {
		t.Errorf("%d keys, want %d to %d", n, room/4, room)
	}
}

// Idle keys do not pile up, nor does what is left of them: with a few keys at a time the tables
// stay as small as they are at first.
func TestKeyedGCRA_idleKeysGo(t *testing.T) {
	clock := fakeclock.New()
	k := NewKeyedGCRA[int](shardKeys, time.Second, 3, WithClock(clock))
	for key := range 5000 {
		clock.Advance(500 * ms)
		if !k.Allow(key) {
			t.Fatalf("key %d is denied", key)
		}
		if groups := len(k.shards[0].table.Load().tags); k.Len() > 7 || groups > 1 {
			t.Fatalf("%d keys and %d groups after %d, of which two are within the interval", k.Len(), groups, key)
		}
	}
}

// A table has a slot and a byte for each key, and no more slots than 12/7 of the keys when it is
// made, and 8/7 when it is full.
func TestKeyedGCRA_memory(t *testing.T) {
	if narrow {
		t.Skip("the sizes are those of 64 bits")
	}
	if got := unsafe.Sizeof(arrivalGroup[string]{}); got != 8*(8+16) {
		t.Errorf("a group takes %d bytes, want 8 times a number and a string", got)
	}
	const room = 20_000
	k := NewKeyedGCRA[int](room, time.Hour, 1)
	for key := range room {
		k.AllowAt(key, t0, 1)
	}
	slots, shards := 0, len(k.shards)
	for i := range k.shards {
		slots += 8 * len(k.shards[i].table.Load().tags)
	}
	if k.Len() != room || slots < room*8/7 || slots > room*12/7+8*shards {
		t.Errorf("%d slots for %d keys", slots, k.Len())
	}
	if got := len(NewKeyedGCRA[int](maxInt, 1, 1).shards); got != mostShards {
		t.Errorf("%d shards for the most room, want %d", got, mostShards)
	}
}

// All methods decide on a key as a GCRA of its own does, on package time and on a clock.
func TestKeyedGCRA_likeGCRAs(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for s := range prove.Long(100, 5000) {
		synctestcompat.Run(t, func(t *testing.T) {
			var opts []Option
			if s%2 == 1 {
				opts = append(opts, WithClock(clockwork.NewRealClock()))
			}
			burst := rng.IntN(4)
			k, own := NewKeyedGCRA[int](8, 10, burst, opts...), map[int]*GCRA{}
			for i := range 60 {
				key, n, now := rng.IntN(4), rng.IntN(5)-1, time.Now()
				if own[key] == nil {
					own[key] = NewGCRA(10, burst)
				}
				var got, want any
				switch rng.IntN(3) {
				case 0:
					got, want = k.Allow(key), own[key].AllowAt(now, 1).Allowed
				case 1:
					got, _ = k.Take(context.Background(), key, n)
					want = own[key].AllowAt(now, n)
				default:
					got, _ = k.AllowAt(key, now, n)
					want = own[key].AllowAt(now, n)
				}
				if got != want {
					t.Fatalf("schedule %d, step %d, burst %d: n=%d of key %d: got %+v, want %+v", s, i, burst, n, key, got, want)
				}
				if i == 30 {
					time.Sleep(50 * years)
				}
				time.Sleep([]time.Duration{0, 0, 1, 4, 9, 10, 11}[rng.IntN(7)])
			}
		})
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if d, err := NewKeyedGCRA[int](1, 1, 1).Take(ctx, 1, 1); err != context.Canceled || d.Allowed {
		t.Errorf("Take with a context that is done = %+v, %v", d, err)
	}
}

// An arrival time that is decades away outlives the table in which it was written.
func TestKeyedGCRA_decades(t *testing.T) {
	k := NewKeyedGCRA[string](2, 70*years, 1)
	at := func(key string, e time.Duration, n int) Decision {
		d, err := k.AllowAt(key, t0.Add(e), n)
		if err != nil {
			t.Errorf("key %s at %v: %v", key, e, err)
		}
		return d
	}
	at("a", 0, 1)
	if d := at("a", 40*years, 0); d.Remaining != 0 || d.ResetAfter != 30*years {
		t.Errorf("a look after 40 of 70 years: %+v", d)
	}
	if d := at("a", 40*years, 1); d.Allowed || d.RetryAfter != 30*years {
		t.Errorf("after 40 of 70 years: %+v", d)
	}
	if !at("b", 40*years, 1).Allowed { // moves the table
		t.Error("another key is denied")
	}
	if at("a", 70*years-1, 1).Allowed || !at("a", 70*years, 1).Allowed {
		t.Error("the arrival time was lost with the table")
	}
	for e := 280 * years; e <= 290*years; e += 10 * years {
		if d := at("a", e, 1); d.Allowed != (e == 280*years) {
			t.Errorf("%d years on: %+v", e/years, d)
		}
	}
}

// Looks and denials leave a key as it is, for instants before theirs, too.
func TestKeyedGCRA_denialsChangeNothing(t *testing.T) {
	k := NewKeyedGCRA[string](1, 10, 1)
	_, _ = k.AllowAt("a", t0, 1)
	_, _ = k.AllowAt("a", t0.Add(1000), 0)
	_, _ = k.AllowAt("a", t0.Add(1000), 2)
	_, _ = k.AllowAt("a", t0.Add(1000), -1)
	if d, _ := k.AllowAt("a", t0.Add(10), 1); !d.Allowed {
		t.Errorf("denied at its arrival time: %+v", d)
	}
}

// A table that is made anew forgets nothing that is less than over, and knows how far back
// what it forgot makes a difference.
func TestKeyedGCRA_madeAnew(t *testing.T) {
	k := NewKeyedGCRA[int](100, 10, 1)
	allow := func(key int, e time.Duration) Decision {
		d, _ := k.AllowAt(key, t0.Add(e), 1)
		return d
	}
	allow(0, 1) // until 11
	for key := 1; k.shards[0].table.Load().used < 7; key++ {
		allow(key, 0) // until 10
	}
	if !allow(50, 10).Allowed { // makes the table anew
		t.Fatal("a new key is denied")
	}
	if n := k.Len(); n != 2 {
		t.Errorf("%d keys, want those until 11 and 20", n)
	}
	if d := allow(51, 10); !d.Allowed {
		t.Errorf("another new key: %+v", d)
	}
	if d := allow(1, 9); d.Allowed || d.RetryAfter != 1 {
		t.Errorf("1ns before the arrival time that was forgotten: %+v", d)
	}
	if !allow(1, 10).Allowed || allow(0, 10).Allowed || !allow(0, 11).Allowed {
		t.Error("an arrival time has changed")
	}
}

// Without room a key takes the place of one in another shard that can be forgotten.
func TestKeyedGCRA_otherShards(t *testing.T) {
	const room = 2 * shardKeys
	for own := range 2 {
		k := NewKeyedGCRA[int](room, 10, 1)
		in := func(shard, key int) bool { s, _ := k.place(key); return s == &k.shards[shard] }
		for key := range room {
			if d, err := k.AllowAt(key, t0, 1); err != nil || !d.Allowed {
				t.Fatalf("key %d: %+v, %v", key, d, err)
			}
		}
		for key := range room {
			if in(own, key) {
				_, _ = k.AllowAt(key, t0.Add(10), 1)
			}
		}
		key := room
		for !in(own, key) {
			key++
		}
		if d, err := k.AllowAt(key, t0.Add(9), 1); err != ErrTooManyKeys || d.Allowed {
			t.Errorf("shard %d: when none can be forgotten: %+v, %v", own, d, err)
		}
		if d, err := k.AllowAt(key, t0.Add(10), 1); err != nil || !d.Allowed {
			t.Errorf("shard %d: when those elsewhere can be: %+v, %v", own, d, err)
		}
		if k.Len() > room {
			t.Errorf("%d keys, room for %d", k.Len(), room)
		}
	}
	k := NewKeyedGCRA[int](room, 10, 1)
	k.held.Store(room) // as though others were about to enter all of them
	if d, err := k.AllowAt(1, t0, 1); err != ErrTooManyKeys || d.Allowed {
		t.Errorf("in empty tables: %+v, %v", d, err)
	}
}

func TestKeyedGCRA_zeroValue(t *testing.T) {
	var k KeyedGCRA[string]
	for _, n := range []int{-1, 1, maxInt} {
		if got, err := k.AllowAt("a", t0, n); err != nil || got != (Decision{RetryAfter: InfDuration}) {
			t.Errorf("AllowAt(%d) = %+v, %v", n, got, err)
		}
	}
	got, err := k.Take(context.Background(), "a", 0)
	if want := (Decision{Allowed: true, RetryAfter: InfDuration}); err != nil || got != want || k.Allow("a") || k.Len() != 0 {
		t.Errorf("Take(0) = %+v, %v, want %+v, and Allow false", got, err, want)
	}
	if NewKeyedGCRA[int](1, 1, -3).Allow(1) || NewKeyedGCRA[int](1, 1, 0).Allow(1) {
		t.Error("no burst, but a grant")
	}
}

func TestKeyedGCRA_panics(t *testing.T) {
	wantPanic(t, "limiters: NewKeyedGCRA: maxKeys 0 must be >= 1: without keys use a GCRA", func() { NewKeyedGCRA[int](0, 1, 1) })
	wantPanic(t, "limiters: NewKeyedGCRA: interval 0s must be >= 1ns: use a TokenBucket for higher rates, and for Inf",
		func() { NewKeyedGCRA[int](1, 0, 1) })
	nan := "limiters: KeyedGCRA: key NaN is not equal to itself, so it would be new each time: use another"
	k := NewKeyedGCRA[float64](1, 1, 1)
	wantPanic(t, nan, func() { k.Allow(math.NaN()) })
	wantPanic(t, nan, func() { _, _ = k.AllowAt(math.NaN(), t0, 0) })
	if !k.Allow(0) || k.Len() != 1 {
		t.Error("the panic left something behind")
	}
}

// However many goroutines ask, at one instant each key has its burst, also while others come
// and are forgotten, and looks change nothing.
func TestKeyedGCRA_concurrent(t *testing.T) {
	const keys, burst = 4, 25
	clock := clockwork.NewFakeClockAt(t0)
	k := NewKeyedGCRA[string](100, time.Second, burst, WithClock(clock))
	var others atomic.Int64
	for round, jump := range []time.Duration{time.Hour, 50 * years, time.Hour} {
		var granted [keys]atomic.Int64
		var tick atomic.Int64
		var wg sync.WaitGroup
		for g := range 8 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for i := range 200 {
					key := (g + i) % keys
					if k.Allow(fmt.Sprint("key ", key)) {
						granted[key].Add(1)
					}
					_, _ = k.Take(context.Background(), fmt.Sprint("key ", key), 0)
					// One of each is forgotten when the next comes, long before the instant of the keys.
					at := clock.Now().Add(-time.Hour + time.Duration(tick.Add(1))*2*time.Second)
					d, err := k.AllowAt(fmt.Sprint(g, " ", i), at, 1)
					if err == nil && d.Allowed {
						others.Add(1)
					}
				}
			}()
		}
		wg.Wait()
		for key := range granted {
			if n := granted[key].Load(); n != burst {
				t.Errorf("round %d: key %d: %d granted, want %d", round, key, n, burst)
			}
		}
		if n := k.Len(); n > 100 {
			t.Errorf("round %d: %d keys, room for 100", round, n)
		}
		clock.Advance(jump)
	}
	if others.Load() < 1000 {
		t.Errorf("%d others were granted, want ten times the room", others.Load())
	}
}

// What is held is decided while somebody else has the lock, and nothing is allocated.
func TestKeyedGCRA_held(t *testing.T) {
	type pair struct {
		user string
		port int
	}
	for name, clock := range map[string]clockwork.Clock{"package time": nil, "clock": clockwork.NewFakeClockAt(t0)} {
		k := NewKeyedGCRA[pair](1, time.Hour, 10_000, WithClock(clock))
		key, ctx := pair{"ann", 1}, context.Background()
		k.Allow(key)
		k.shards[0].mu.Lock()
		if got := testing.AllocsPerRun(100, func() {
			if d, err := k.Take(ctx, key, 1); !k.Allow(key) || err != nil || !d.Allowed || d.Limit != 10_000 {
				t.Errorf("%s: denied, or %+v, %v", name, d, err)
			}
			_, _ = k.AllowAt(key, t0, 2)
			_, _ = k.AllowAt(key, t0, 20_000)
		}); got != 0 {
			t.Errorf("%s: %v allocations, want 0", name, got)
		}
		k.shards[0].mu.Unlock()
	}
}
