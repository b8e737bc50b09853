package redislimit_test

import (
	"strings"
	"testing"
	"time"

	"github.com/escapement-go/escapement/limiters/redislimit"
)

// A key has the limit of its plan, or the limiter's; so has a request.
func TestLimiter_plans(t *testing.T) {
	_, rdb := connected(t)
	l := redislimit.New(rdb, "q", time.Hour, 1, redislimit.Timeout(patience), redislimit.PerKey(func(key string) redislimit.Plan {
		switch key {
		case "paid":
			return redislimit.Plan{Interval: time.Minute, Burst: 3}
		case "broken":
			return redislimit.Plan{Burst: 3}
		}
		return redislimit.Plan{}
	}))
	for key, want := range map[string]int{"free": 1, "paid": 3} {
		d, err := l.Take(ctx, key, 1)
		if err != nil || !d.Allowed || d.Limit != want || d.Remaining != want-1 {
			t.Errorf("%s: Take = %+v, %v, want a limit of %d", key, d, err, want)
		}
		if d, err = l.TakeAt(ctx, start, key, want); err != nil || d.Allowed || d.Limit != want {
			t.Errorf("%s: TakeAt = %+v, %v, want denied", key, d, err)
		}
	}
	const why = "interval 0s must be > 0"
	if d, err := l.Take(ctx, "broken", 1); err == nil || !strings.Contains(err.Error(), why) || d.Allowed {
		t.Errorf("with a plan that is none Take = %+v, %v, want %s", d, err, why)
	}
	if d, err := l.TakePlan(ctx, redislimit.Plan{Burst: 1}, "free", 1); err == nil || !strings.Contains(err.Error(), why) || d.Allowed {
		t.Errorf("with a plan that is none TakePlan = %+v, %v, want %s", d, err, why)
	}
	// What is used of one plan is used of another, in time: an hour is 4 of 15 minutes.
	quarters := redislimit.Plan{Interval: 15 * time.Minute, Burst: 6}
	if d, err := l.TakePlan(ctx, quarters, "free", 1); err != nil || !d.Allowed || d.Limit != 6 || d.Remaining != 1 {
		t.Errorf("TakePlan = %+v, %v, want 1 of 6 remaining", d, err)
	}
}

// What cannot be decided is decided otherwise by the limit of the key.
func TestLimiter_planFailsOpen(t *testing.T) {
	s, rdb := connected(t)
	l := redislimit.New(rdb, "q", time.Hour, 1, redislimit.Timeout(patience), redislimit.FailOpen(),
		redislimit.PerKey(func(string) redislimit.Plan { return redislimit.Plan{Interval: time.Hour, Burst: 5} }))
	mustLook(t, l, 5)
	s.refuse("LOADING Redis is loading the dataset in memory")
	for n, want := range map[int]bool{5: true, 6: false} {
		if d, err := l.Take(ctx, "a", n); err != nil || d.Allowed != want {
			t.Errorf("Take %d = %+v, %v, want %v", n, d, err, want)
		}
	}
}

// After Reset a key has its burst, and no other has.
func TestLimiter_Reset(t *testing.T) {
	s, rdb := connected(t)
	l := redislimit.New(rdb, "q", time.Hour, 1, redislimit.Timeout(patience))
	for _, key := range []string{"a", "b", "", "}"} {
		if d, err := l.Take(ctx, key, 1); err != nil || !d.Allowed {
			t.Fatalf("Take of %q = %+v, %v", key, d, err)
		}
	}
	for _, key := range []string{"a", "", "}", "unknown"} {
		if err := l.Reset(ctx, key); err != nil {
			t.Errorf("Reset of %q: %v", key, err)
		}
	}
	for key, want := range map[string]bool{"a": true, "": true, "}": true, "b": false} {
		if d, err := l.Take(ctx, key, 1); err != nil || d.Allowed != want {
			t.Errorf("after Reset Take of %q = %+v, %v, want %v", key, d, err, want)
		}
	}
	s.SetError("LOADING Redis is loading the dataset in memory")
	if err := l.Reset(ctx, "a"); err == nil || !strings.Contains(err.Error(), "redislimit: Reset of q: LOADING") {
		t.Errorf("Reset = %v, want what the server says", err)
	}
}

// A server whose clock goes ahead and back again has forgotten the keys that expired meanwhile.
func TestLimiter_clockAhead(t *testing.T) {
	s, rdb := connected(t)
	l := redislimit.New(rdb, "q", time.Second, 3, redislimit.Timeout(patience))
	take := func(want bool) {
		t.Helper()
		if d, err := l.Take(ctx, "a", 3); err != nil || d.Allowed != want {
			t.Errorf("Take 3 = %+v, %v, want %v", d, err, want)
		}
	}
	take(true)
	s.move(start.Add(time.Hour))
	s.move(start.Add(2 * time.Second))
	take(true) // a burst in 2 seconds more than the envelope has
	take(false)
}
