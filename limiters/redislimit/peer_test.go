package redislimit_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/escapement-go/escapement/conformance/quotatest"
	"github.com/escapement-go/escapement/limiters/redislimit"
	"github.com/escapement-go/escapement/synctestcompat"
	"github.com/go-redis/redis_rate/v10"
	"github.com/redis/go-redis/v9"
)

// TestPeer holds go-redis/redis_rate v10.0.1, unmodified, to the suite. Its instants are doubles
// in seconds since 2017, and roundings add up, so that it is not exact to the microsecond. Its
// documents do not say what RetryAfter is for what never fits.
func TestPeer(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it is the same on every release")
	}
	s := newStillServer()
	defer s.Close()
	s.keepLua(t)
	rdb := s.connect()
	defer rdb.Close()
	peer := redis_rate.NewLimiter(rdb)
	tr := traits
	tr.Resolution = 10 * time.Microsecond
	known := []quotatest.Known{
		{Rule: "GC-RETRYNEG", Schedule: "rate=10/1s burst=4 | allow 2147483647 @0",
			Why: "what never fits is told to come again, each time"},
		{Rule: "GC-REMAIN", Schedule: "rate=10/1s burst=4 | allow -1 @0",
			Why: "more than the burst remain after a negative number"},
		{Rule: "GC-NEG", Schedule: "rate=10/1s burst=4 | allow 4 @0 | allow -1 @0 | allow 1 @0",
			Why: "a negative number gives back what was never taken; the docs do not mention it"},
		{Rule: "X-CFG", Schedule: "rate=1500000000/1s burst=1 | allow 1 @0 | allow 1 @0",
			Why: "an interval that is lost in a double is none; the docs do not bound the rate"},
		{Rule: "X-CONC", Why: "the sum of five intervals is rounded to more than the burst"},
	}
	quotatest.Run(t, s.quota("go-redis/redis_rate v10.0.1", tr, func(key string, cfg quotatest.Config) asker {
		limit := redis_rate.Limit{Rate: cfg.Limit, Period: cfg.Window, Burst: cfg.Burst}
		return func(_ time.Time, n int) quotatest.Answer {
			r, err := peer.AllowN(context.Background(), key, limit, n)
			if err != nil {
				panic(err)
			}
			return quotatest.Answer{
				OK: r.Allowed == n && n > 0, RetryAfter: r.RetryAfter, ResetAfter: r.ResetAfter, Remaining: r.Remaining,
			}
		}
	}, known...))
}

// What follows is what redis_rate does by itself, some of it beside what a Limiter does.

// alone returns redis_rate with a server in memory, whose clock stands.
func alone() (*miniredis.Miniredis, *redis_rate.Limiter) {
	s := miniredis.NewMiniRedis()
	s.SetTime(time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC))
	return s, redis_rate.NewLimiter(redis.NewClient(&redis.Options{
		Dialer:      func(context.Context, string, string) (net.Conn, error) { return s.Dial() },
		ReadTimeout: -1, WriteTimeout: -1,
	}))
}

// The docs say AllowAtMost returns the "number of allowed events". It takes the fractions of
// tokens too, and grants only whole ones: 3 are asked for each 150ms at 10/s, of which in 30s there
// are 310.
func TestPeer_takesFractions(t *testing.T) {
	s, rdb := connected(t)
	peer, granted := redis_rate.NewLimiter(rdb), 0
	for at := time.Duration(0); at <= 30*time.Second; at += 150 * time.Millisecond {
		s.move(start.Add(at))
		r, err := peer.AllowAtMost(ctx, "a", redis_rate.PerSecond(10), 3)
		if err != nil {
			t.Fatal(err)
		}
		granted += r.Allowed
	}
	if granted != 212 {
		t.Errorf("%d were granted, which were 212 of 310", granted)
	}
}

// The docs say RetryAfter is "the time until the next request will be permitted". It is cut to
// nanoseconds here and to microseconds there, and who waits exactly that long is denied again.
func TestPeer_retryAfterIsTooEarly(t *testing.T) {
	s, rdb := connected(t)
	const tries = 100
	again := func(ask func() (allowed bool, retry time.Duration)) (denied int) {
		at := start
		s.reset()
		s.FlushAll()
		for range tries {
			for allowed, wait := ask(); !allowed; allowed, wait = ask() {
				at = at.Add(wait)
				if s.move(at); wait == 0 {
					t.Fatal("denied with a RetryAfter of 0")
				}
				denied++
			}
		}
		return denied - tries + 3 // each but the first 3 is denied once
	}
	peer, limit := redis_rate.NewLimiter(rdb), redis_rate.PerSecond(3)
	if n := again(func() (bool, time.Duration) {
		r, err := peer.Allow(ctx, "a", limit)
		if err != nil {
			t.Fatal(err)
		}
		return r.Allowed > 0, r.RetryAfter
	}); n <= 0 {
		t.Errorf("redis_rate denied %d of %d who had waited: it is mended", n, tries)
	}
	l := redislimit.New(rdb, "q", time.Second/3, 3, redislimit.Timeout(patience))
	if n := again(func() (bool, time.Duration) {
		d, err := l.Take(ctx, "a", 1)
		if err != nil {
			t.Fatal(err)
		}
		return d.Allowed, d.RetryAfter
	}); n != 0 {
		t.Errorf("a Limiter denied %d of %d who had waited", n, tries)
	}
}

// The docs say Remaining is "the maximum number of requests that could be permitted". Of 3, 7
// remain after -5; and 4 are told to come again in 333ms, always.
func TestPeer_strangeNumbers(t *testing.T) {
	s, peer := alone()
	defer s.Close()
	for i, want := range []struct {
		n, remaining int
		retry        time.Duration
	}{{-5, 7, -1}, {4, 0, 333}, {4, 0, 333}} {
		s.SetTime(time.Date(2040, 1, 1, 0, i, 0, 0, time.UTC))
		r, err := peer.AllowN(context.Background(), "a", redis_rate.PerSecond(3), want.n)
		if err != nil {
			t.Fatal(err)
		}
		retry := r.RetryAfter
		if retry != -1 {
			retry /= time.Millisecond
		}
		if r.Remaining != want.remaining || retry != want.retry {
			t.Errorf("AllowN %d: %+v, which was %+v", want.n, r, want)
		}
	}
}

// An interval that a double of seconds cannot hold is none: of one at once, all are granted.
func TestPeer_highRate(t *testing.T) {
	s, peer := alone()
	defer s.Close()
	for range 10 {
		r, err := peer.Allow(context.Background(), "a", redis_rate.Limit{Rate: 1_500_000_000, Period: time.Second, Burst: 1})
		if err != nil || r.Allowed != 1 {
			t.Errorf("Allow = %+v, %v, which was granted", r, err)
		}
	}
}

// Of 5 at once the fifth is denied: five times 200ms, added one by one to a number of seconds,
// are more than one second.
func TestPeer_burst(t *testing.T) {
	s, peer := alone()
	defer s.Close()
	passed := 0
	for range 5 {
		r, err := peer.Allow(context.Background(), "a", redis_rate.PerSecond(5))
		if err != nil {
			t.Fatal(err)
		}
		passed += r.Allowed
	}
	if passed != 4 {
		t.Errorf("%d of 5 were granted, which were 4", passed)
	}
}

// A client that gets no answer sends the request again, and both are counted.
func TestPeer_countsTwice(t *testing.T) {
	synctestcompat.Require(t)
	synctestcompat.Run(t, func(t *testing.T) {
		s := newServer()
		defer s.Close()
		rdb := s.connect()
		defer rdb.Close()
		peer, l := redis_rate.NewLimiter(rdb), redislimit.New(rdb, "q", time.Hour, 5)
		if r, err := peer.Allow(ctx, "a", redis_rate.PerHour(5)); err != nil || r.Remaining != 4 {
			t.Fatal(r, err)
		}
		s.fault.Store(losesAnAnswer)
		if r, err := peer.Allow(ctx, "a", redis_rate.PerHour(5)); err != nil || r.Remaining != 2 {
			t.Errorf("%+v, %v: after a second request, whose first answer was lost, 2 of 5 remained", r, err)
		}
		mustLook(t, l, 5)
		s.fault.Store(losesAnAnswer)
		if d, err := l.Take(ctx, "a", 1); err == nil {
			t.Errorf("Take = %+v, want the error that the client has seen", d)
		}
		mustLook(t, l, 4)
	})
}

// A context that is done ends no wait for the server.
func TestPeer_ignoresContexts(t *testing.T) {
	synctestcompat.Require(t)
	synctestcompat.Run(t, func(t *testing.T) {
		s := newServer()
		defer s.Close()
		rdb := s.connect()
		defer rdb.Close()
		peer := redis_rate.NewLimiter(rdb)
		if _, err := peer.Allow(ctx, "a", redis_rate.PerHour(5)); err != nil {
			t.Fatal(err)
		}
		s.fault.Store(keepsAnswers)
		short, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		var returned atomic.Bool
		go func() {
			_, _ = peer.Allow(short, "a", redis_rate.PerHour(5))
			returned.Store(true)
		}()
		synctestcompat.Sleep(time.Minute)
		if returned.Load() {
			t.Error("Allow has returned: it looks at the context now")
		}
		s.mend()
		synctestcompat.Wait()
	})
}
