package limiters

import (
	"context"
	"testing"
	"time"
)

// A call that has found its key just before its table is made anew decides by the new one.
func TestKeyedGCRA_madeAnewMeanwhile(t *testing.T) {
	c := &nowClock{now: t0}
	k := NewKeyedGCRA[int](100, 10, 3, WithClock(c))
	k.Allow(0)
	old := k.shards[0].table.Load()
	c.script(func() { // when the key is found
		for key := 1; k.shards[0].table.Load() == old; key++ {
			_, _ = k.AllowAt(key, t0, 1)
		}
	})
	want := Decision{Allowed: true, Limit: 3, Window: 30, Remaining: 1, ResetAfter: 20}
	if d, err := k.Take(context.Background(), 0, 1); d != want || err != nil {
		t.Errorf("%+v, %v, want %+v", d, err, want)
	}
}

// A key that another call has added before this one has the lock is not counted again.
func TestKeyedGCRA_addedMeanwhile(t *testing.T) {
	for _, e := range []time.Duration{0, tooFar} {
		k := NewKeyedGCRA[int](100, 10, 3)
		_, _ = k.AllowAt(0, t0, 1)
		_, _ = k.AllowAt(1, t0.Add(e), 1)
		s, place := k.place(1)
		if d, err := k.admit(s, 1, place, t0.Add(e), false, 1); !d.Allowed || d.Remaining != 1 || err != nil {
			t.Errorf("after %v: %+v, %v", e, d, err)
		}
		if n := k.Len(); n != 2 {
			t.Errorf("after %v: %d keys, want 2", e, n)
		}
	}
}
