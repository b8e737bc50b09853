package limiters

import (
	"math/rand/v2"
	"testing"

	"github.com/escapement-go/escapement/fakeclock"
)

// A keyedTable has what a map has, whatever its hashes have in common, and each half of it too.
func TestKeyedTable_likeMap(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		keys := 1 + rnd.IntN(60)
		hashes := make([]uint64, keys)
		for i := range hashes {
			hashes[i] = rnd.Uint64()>>rnd.IntN(3)<<(56+rnd.IntN(8)) | 1 // few places, and the last ones
			if rnd.IntN(2) == 0 {
				hashes[i] |= 0x7f << 57
			}
		}
		table, kept := newKeyedTable[int, int](0, 0), map[int]int{}
		for v := range 300 {
			key := rnd.IntN(keys)
			s := table.find(hashes[key], key)
			if want, ok := kept[key]; (s != nil) != ok || ok && s.l != want {
				t.Fatalf("find(%x, %d) = %v, want %d, %v", hashes[key], key, s, want, ok)
			}
			if s == nil {
				table.add(keyedSlot[int, int]{hashes[key], key, v})
				kept[key] = v
				continue
			}
			for i := range table.slots {
				if s == &table.slots[i] {
					table.remove(i)
					break
				}
			}
			delete(kept, key)
		}
		halves, found := table.split(), 0
		for key, v := range kept {
			half := halves[hashes[key]>>63]
			if s := half.find(hashes[key], key); s == nil || s.l != v {
				t.Fatalf("after split find(%x, %d) = %v, want %d", hashes[key], key, s, v)
			}
			found++
		}
		if halves[0].used+halves[1].used != found || table.used != found {
			t.Fatalf("%d and %d of %d keys, want %d", halves[0].used, halves[1].used, table.used, found)
		}
	}
}

// Many tables are one: each key keeps its limiter, all are forgotten when they are idle, and
// what is left takes little room.
func TestKeyed_manyTables(t *testing.T) {
	const keys = 20 * tableKeys
	idle := map[*int]bool{}
	k := NewKeyed(2*keys, func(int) *int { return new(int) }, func(l *int) bool { return idle[l] })
	made := map[int]*int{}
	for range 2 {
		for key := range keys {
			_ = k.Do(key, func(l *int) {
				if made[key] == nil {
					made[key] = l
				}
				if made[key] != l {
					t.Fatalf("key %d has two limiters", key)
				}
			})
		}
	}
	if k.Len() != keys || len(k.tables) < keys/tableKeys/2 { // a table is split when it has no room for more
		t.Fatalf("Len = %d, want %d; %d tables", k.Len(), keys, len(k.tables))
	}
	for _, l := range made {
		idle[l] = true
	}
	for key := range keys / 2 {
		if err := k.Do(keys+key, func(*int) {}); err != nil {
			t.Fatal(err)
		}
	}
	if k.Len() != keys/2 {
		t.Errorf("Len = %d, want only the %d that are not idle", k.Len(), keys/2)
	}
	for key := range keys {
		_ = k.Do(key, func(l *int) {
			if made[key] == l {
				t.Fatalf("key %d was not forgotten", key)
			}
		})
	}
}

// Keys that calls use stay, however many calls there are, and go when these have ended.
func TestKeyed_manyInUse(t *testing.T) {
	const calls = 300
	k := keyedLogs(calls+1, fakeclock.New())
	var nest func(key int)
	nest = func(key int) {
		if key < calls {
			_ = k.Do(key, func(*SlidingLog) { nest(key + 1) })
			return
		}
		for key := range 2 * calls {
			_ = k.Do(calls+key, func(*SlidingLog) {})
		}
		for key := range calls {
			hash := uint64(0)
			for _, table := range k.tables {
				for _, s := range table.slots {
					if s.hash != 0 && s.key == key {
						hash = s.hash
					}
				}
			}
			if hash == 0 || !k.uses.has(hash) {
				t.Errorf("key %d was forgotten in use", key)
			}
		}
	}
	for range 2 {
		nest(0)
		if k.uses.made > 2*calls {
			t.Errorf("%d uses were made for %d calls at a time", k.uses.made, calls+1)
		}
		for key := range 2 * calls {
			_ = k.Do(-1-key, func(*SlidingLog) {})
		}
		if k.Len() > 8 {
			t.Errorf("Len = %d when all calls have ended", k.Len())
		}
	}
}
