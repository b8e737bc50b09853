package redislimit_test

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/limiters"
	"github.com/escapement-go/escapement/limiters/redislimit"
	"github.com/redis/go-redis/v9"
)

var _ limiters.Taker = (*redislimit.Limiter)(nil)

var _ = []redislimit.Client{
	(*redis.Client)(nil), (*redis.ClusterClient)(nil), (*redis.Ring)(nil), redis.UniversalClient(nil),
}

var ctx = context.Background()

// A history is what a limiter is asked.
type history struct {
	interval time.Duration
	burst    int
	steps    []step
}

type step struct {
	gap time.Duration // since the step before; less than 0 goes back, unless the limiter is as if new
	n   int
}

// histories are drawn from fixed seeds: instants and intervals are whole microseconds, so that
// answers must be the same as in memory, to the last. No interval is less than least.
func histories(least time.Duration) []history {
	var out []history
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 18))
		h := history{interval: least + time.Duration(r.Int64N(1_000_000))*time.Microsecond, burst: 1 + r.IntN(5)}
		if seed%4 == 0 {
			h.interval = least
		}
		gaps := []time.Duration{
			0, time.Microsecond, h.interval - time.Microsecond, h.interval, h.interval + time.Microsecond,
			3 * h.interval / 2 / time.Microsecond * time.Microsecond, time.Duration(h.burst) * h.interval, -h.interval,
		}
		for range 25 {
			n := r.IntN(h.burst + 2)
			if r.IntN(10) == 0 {
				n = []int{-1, math.MinInt, math.MaxInt}[r.IntN(3)]
			}
			h.steps = append(h.steps, step{gaps[r.IntN(len(gaps))], n})
		}
		out = append(out, h)
	}
	return out
}

// play holds what ask answers to what a GCRA in memory does.
func (h history) play(t *testing.T, ask func(at time.Time, n int) (limiters.Decision, error)) {
	t.Helper()
	at, memory := start, limiters.NewGCRA(h.interval, h.burst)
	for i, s := range h.steps {
		if s.gap > 0 || memory.AllowAt(at, 0).ResetAfter > 0 {
			at = at.Add(s.gap)
		}
		got, err := ask(at, s.n)
		if want := memory.AllowAt(at, s.n); err != nil || got != want {
			t.Fatalf("%v, burst %d, step %d, %d at %v: %+v, %v, want %+v",
				h.interval, h.burst, i+1, s.n, at.Sub(start), got, err, want)
		}
	}
}

func TestLimiter_likeInMemory(t *testing.T) {
	s, rdb := connected(t)
	for _, h := range histories(time.Microsecond) {
		byServer := redislimit.New(rdb, "server", h.interval, h.burst, redislimit.Timeout(patience))
		h.play(t, func(at time.Time, n int) (limiters.Decision, error) {
			s.move(at)
			return byServer.Take(ctx, "a", n)
		})
		byCaller := redislimit.New(rdb, "caller", h.interval, h.burst, redislimit.Timeout(patience))
		s.reset()
		h.play(t, func(at time.Time, n int) (limiters.Decision, error) {
			s.move(at)
			return byCaller.TakeAt(ctx, at, "a", n)
		})
		s.FlushAll()
		s.reset()
	}
}

func TestLimiter_clock(t *testing.T) {
	_, rdb := connected(t)
	clock := fakeclock.New()
	l := redislimit.New(rdb, "q", time.Second, 1, redislimit.WithClock(clock), redislimit.Timeout(patience))
	for i, want := range []bool{true, false, true} {
		if i == 2 {
			clock.Advance(time.Second)
		}
		if d, err := l.Take(ctx, "a", 1); err != nil || d.Allowed != want {
			t.Errorf("Take %d = %+v, %v, want %v", i+1, d, err, want)
		}
	}
}

// Keys and limits do not influence each other, but all machines that ask do.
func TestLimiter_keys(t *testing.T) {
	s := newStillServer()
	defer s.Close()
	a, b := s.connect(), s.connect()
	defer a.Close()
	defer b.Close()
	allowed := func(rdb *redis.Client, name, key string) bool {
		d, err := redislimit.New(rdb, name, time.Second, 1, redislimit.Timeout(patience)).Take(ctx, key, 1)
		if err != nil {
			t.Error(err)
		}
		return d.Allowed
	}
	if !allowed(a, "q", "ann") || !allowed(b, "q", "bob") || !allowed(b, "other", "ann") || !allowed(a, "q", "") ||
		!allowed(a, "q", "}{\x00") {
		t.Error("a key or a name that was new was denied")
	}
	if allowed(b, "q", "ann") || allowed(a, "q", "bob") || allowed(b, "q", "") || allowed(b, "q", "}{\x00") {
		t.Error("what another machine had taken was granted")
	}
}

// A key is there for as long as somebody could tell, and a millisecond or two longer.
func TestLimiter_expires(t *testing.T) {
	s, rdb := connected(t)
	l := redislimit.New(rdb, "q", 1500*time.Microsecond, 3, redislimit.Timeout(patience))
	const key = "q:{a}"
	take := func(n int) {
		t.Helper()
		if _, err := l.Take(ctx, "a", n); err != nil {
			t.Fatal(err)
		}
	}
	take(0)
	take(4)
	take(-1)
	if s.Exists(key) {
		t.Error("looks, and what is never granted, made a key")
	}
	take(3)
	if got := s.TTL(key); got != 6*time.Millisecond {
		t.Errorf("it expires in %v, want 6ms: 4.5ms in whole milliseconds, and one more", got)
	}
	s.move(start.Add(time.Millisecond))
	take(1)
	if got := s.TTL(key); got != 5*time.Millisecond {
		t.Errorf("after a request that was denied it expires in %v, want 5ms", got)
	}
	s.move(start.Add(6 * time.Millisecond))
	if s.Exists(key) {
		t.Error("it is still there")
	}
}

// An interval that is no whole number of microseconds is rounded up: no more is granted.
func TestNew_rounds(t *testing.T) {
	_, rdb := connected(t)
	for interval, want := range map[time.Duration]time.Duration{
		1: time.Microsecond, time.Microsecond: time.Microsecond, 1001: 2 * time.Microsecond,
		time.Second / 3: 333334 * time.Microsecond, time.Second: time.Second,
	} {
		l := redislimit.New(rdb, "q", interval, 1, redislimit.Timeout(patience))
		if d, err := l.Take(ctx, "a", 0); err != nil || d.Window != want {
			t.Errorf("New with %v: a window of %v, %v, want %v", interval, d.Window, err, want)
		}
	}
}

// What somebody else keeps under the key is an error, and stays.
func TestLimiter_strangeValues(t *testing.T) {
	s, rdb := connected(t)
	l := redislimit.New(rdb, "q", time.Second, 1, redislimit.Timeout(patience))
	_ = s.Set("q:{text}", "hello")
	s.HSet("q:{hash}", "a", "b")
	for key, want := range map[string]string{"text": "something else than an arrival time", "hash": "WRONGTYPE"} {
		d, err := l.Take(ctx, key, 1)
		if err == nil || !strings.Contains(err.Error(), want) || d != (limiters.Decision{}) {
			t.Errorf("Take with a %s under the key = %+v, %v, want %s", key, d, err, want)
		}
	}
	if got, _ := s.Get("q:{text}"); got != "hello" {
		t.Errorf("the text is %q now", got)
	}
}

// In a cluster the limits of one key are in one slot, whatever the key, and clients go where it is.
func TestLimiter_cluster(t *testing.T) {
	nodes := map[string]*server{"10.0.0.1:1": newStillServer(), "10.0.0.2:1": newStillServer()}
	for _, s := range nodes {
		defer s.Close()
	}
	rdb := redis.NewClusterClient(clusterOf(nodes))
	defer rdb.Close()
	seen := map[string]int{}
	for _, key := range append(strings.Fields("ann bob cid dan eve fay gus } }ann a}b {"), "") {
		for _, name := range []string{"minute", "day"} {
			l := redislimit.New(rdb, name, time.Minute, 1, redislimit.Timeout(patience))
			if d, err := l.Take(ctx, key, 1); err != nil || !d.Allowed {
				t.Fatalf("Take = %+v, %v", d, err)
			}
		}
		for addr, s := range nodes {
			minutes, days := 0, 0
			for _, k := range s.Keys() {
				minutes += strings.Count(k, "minute:")
				days += strings.Count(k, "day:")
			}
			if minutes != days {
				t.Errorf("with %q, a node has %d keys of one limit and %d of the other", key, minutes, days)
			}
			seen[addr] = minutes
		}
	}
	if len(seen) != 2 {
		t.Errorf("keys by node: %v, want some on both", seen)
	}
}
