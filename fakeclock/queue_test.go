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
		var q queue
		var want []*timer
		for range 300 {
			switch op := rng.IntN(3); {
			case op > 0 || len(want) == 0:
				u := &timer{when: rng.Int64N(20)}
				q.push(u)
				want = append(want, u)
			case rng.IntN(2) == 0:
				i := rng.IntN(len(want))
				if got := q.remove(want[i].pos); got != want[i] || got.pos != unarmed {
					t.Fatalf("seed %d: remove returned another timer", seed)
				}
				want = slices.Delete(want, i, i+1)
			default:
				slices.SortStableFunc(want, func(a, b *timer) int { return cmp.Compare(a.when, b.when) })
				if got := q.remove(0); got != want[0] {
					t.Fatalf("seed %d: first is due at %d, want %d", seed, got.when, want[0].when)
				}
				want = want[1:]
			}
			for i, e := range q.entries {
				if e.t.pos != i || e.when != e.t.when {
					t.Fatalf("seed %d: entry %d is at %d", seed, i, e.t.pos)
				}
			}
		}
	}
}
