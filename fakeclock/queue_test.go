package fakeclock

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// The queue against a sorted slice: few deadlines, so that many are equal.
func TestQueue_order(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 0))
		q := newQueue()
		var want []*timer
		for range 600 {
			switch op := rng.IntN(7); { // grows well beyond the nursery
			case op > 4 && len(want) > 0:
				i := rng.IntN(len(want))
				u, before, when := want[i], want[i].when, rng.Int64N(30)
				if !q.postpone(u, when) {
					if when >= before || u.when != before {
						t.Fatalf("seed %d: postpone from %d to %d: false, and it is due at %d", seed, before, when, u.when)
					}
					break
				}
				want = append(slices.Delete(want, i, i+1), u) // the last that was armed
			case op > 1 || len(want) == 0:
				u := &timer{when: rng.Int64N(20)}
				q.push(u)
				want = append(want, u)
			case rng.IntN(2) == 0:
				i := rng.IntN(len(want))
				q.remove(want[i])
				if got := want[i].pos; got != unarmed {
					t.Fatalf("seed %d: pos is %d after remove", seed, got)
				}
				want = slices.Delete(want, i, i+1)
			default:
				slices.SortStableFunc(want, func(a, b *timer) int { return cmp.Compare(a.when, b.when) })
				got := q.first()
				if got.t != want[0] {
					t.Fatalf("seed %d: first is due at %d, want %d", seed, got.when, want[0].when)
				}
				q.remove(got.t)
				want = want[1:]
			}
			if q.len() != len(want) {
				t.Fatalf("seed %d: len() = %d, want %d", seed, q.len(), len(want))
			}
			for _, h := range []heap{q.young, q.old} {
				for i, e := range h.entries {
					if int(e.t.pos) != h.base+i || e.when > e.t.when || e.order == e.t.order && e.when != e.t.when {
						t.Fatalf("seed %d: entry %d is at %d", seed, i, e.t.pos)
					}
				}
			}
		}
	}
}
