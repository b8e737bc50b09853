package limiters

import (
	"errors"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/internal/prove"
)

func keyedLogs(room int, clock *fakeclock.Clock) *Keyed[int, *SlidingLog] {
	return NewKeyed(room, func(int) *SlidingLog { return NewSlidingLog(3, time.Second, WithClock(clock)) }, (*SlidingLog).Fresh)
}

func allowKey[L interface{ Allow() bool }](t *testing.T, k *Keyed[int, L], key int) (ok bool, err error) {
	t.Helper()
	err = k.Do(key, func(l L) { ok = l.Allow() })
	return ok, err
}

// What a key gets is what a limiter of its own, never forgotten, would grant; or it
// is refused because there is no room.
func TestKeyed_forgettingIsNotSeen(t *testing.T) {
	histories := prove.Long(300, 100_000)
	rnd := rand.New(rand.NewPCG(3, 4))
	refused, forgotten := 0, 0
	for h := range histories {
		clock := fakeclock.New()
		room := 1 + rnd.IntN(6)
		k := keyedLogs(room, clock)
		kept := map[int]*SlidingLog{}
		for i := range 200 {
			clock.Advance(time.Duration(rnd.IntN(500)) * time.Millisecond)
			key := rnd.IntN(10)
			if kept[key] == nil {
				kept[key] = NewSlidingLog(3, time.Second, WithClock(clock))
			}
			before := k.Len()
			got, err := allowKey(t, k, key)
			if err != nil {
				if refused++; !errors.Is(err, ErrTooManyKeys) || before < room {
					t.Fatalf("history %d, step %d: %v with %d of %d keys", h, i, err, before, room)
				}
				continue
			}
			if want := kept[key].Allow(); got != want {
				t.Fatalf("history %d, step %d: key %d: Allow = %v, kept %v", h, i, key, got, want)
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

// A flood of keys takes all the room, is refused then, and passes over those who
// were there.
func TestKeyed_flood(t *testing.T) {
	clock := fakeclock.New()
	k := keyedLogs(100, clock)
	for range 3 {
		if ok, err := allowKey(t, k, -1); !ok || err != nil {
			t.Fatalf("Allow = %v, %v", ok, err)
		}
	}
	refused := 0
	for key := range 10_000 {
		if _, err := allowKey(t, k, key); err != nil {
			refused++
		}
	}
	if k.Len() != 100 || refused != 10_000-99 {
		t.Errorf("%d keys, %d refused, want 100 and %d", k.Len(), refused, 10_000-99)
	}
	if ok, err := allowKey(t, k, -1); ok || err != nil {
		t.Errorf("Allow = %v, %v: the flood freed the key that had used its limit", ok, err)
	}
	clock.Advance(time.Second)
	for key := range 100 {
		if ok, err := allowKey(t, k, 20_000+key); !ok || err != nil {
			t.Fatalf("Allow = %v, %v when all others are idle", ok, err)
		}
	}
}

// Idle keys do not pile up: with a few keys at a time there are only ever a few.
func TestKeyed_idleKeysGo(t *testing.T) {
	clock := fakeclock.New()
	k := keyedLogs(1000, clock)
	for key := range 5000 {
		clock.Advance(500 * time.Millisecond)
		if ok, err := allowKey(t, k, key); !ok || err != nil {
			t.Fatalf("Allow = %v, %v", ok, err)
		}
		if k.Len() > 4 {
			t.Fatalf("%d keys after %d, of which two are within the window", k.Len(), key)
		}
	}
}

// A limiter in use is not forgotten, fresh or not: two calls never have one each.
func TestKeyed_inUse(t *testing.T) {
	clock := fakeclock.New()
	k := keyedLogs(2, clock)
	_ = k.Do(1, func(a *SlidingLog) {
		for key := 2; key < 50; key++ {
			_ = k.Do(key, func(*SlidingLog) {})
		}
		_ = k.Do(1, func(b *SlidingLog) {
			if a != b {
				t.Error("the limiter of a key in use was replaced")
			}
			if err := k.Do(2, func(*SlidingLog) { _ = k.Do(3, func(*SlidingLog) { t.Error("room for a third key") }) }); err != nil {
				t.Errorf("Do = %v with one key in use", err)
			}
		})
	})
}

func TestKeyed_panicReleases(t *testing.T) {
	k := keyedLogs(1, fakeclock.New())
	func() {
		defer func() { _ = recover() }()
		_ = k.Do(1, func(*SlidingLog) { panic("handler") })
	}()
	if ok, err := allowKey(t, k, 2); !ok || err != nil {
		t.Errorf("Allow = %v, %v: the panic left its key in use", ok, err)
	}
}

func TestKeyed_panics(t *testing.T) {
	zero, never := func(int) int { return 0 }, func(int) bool { return false }
	wantPanic(t, "limiters: NewKeyed: maxKeys 0 must be >= 1: without keys use the limiter itself", func() { NewKeyed(0, zero, never) })
	wantPanic(t, "limiters: NewKeyed: make and fresh must not be nil: pass a function that never reports fresh to keep all keys",
		func() { NewKeyed(1, zero, nil) })
	wantPanic(t, "limiters: Keyed.Do: key NaN is not equal to itself, so it would be new each time: use another", func() {
		_ = NewKeyed(1, func(float64) int { return 0 }, never).Do(math.NaN(), func(int) {})
	})
}

func TestKeyed_concurrent(t *testing.T) {
	clock := fakeclock.New()
	k := NewKeyed(8, func(int) *FixedWindow { return NewFixedWindow(10, time.Hour, WithClock(clock)) }, (*FixedWindow).Fresh)
	var granted [4]atomic.Int64
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range 200 {
				key := (g + i) % 4
				if ok, err := allowKey(t, k, key); ok && err == nil {
					granted[key].Add(1)
				}
				_ = k.Do(100+i%10, func(*FixedWindow) {}) // never used, so always fresh
			}
		}()
	}
	wg.Wait()
	for key := range granted {
		if n := granted[key].Load(); n != 10 {
			t.Errorf("key %d: %d granted, want 10", key, n)
		}
	}
}
