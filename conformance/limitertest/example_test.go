package limitertest_test

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/escapement-go/escapement/conformance/limitertest"
	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/limiters"
	"github.com/jonboulle/clockwork"
)

// How a rate limiter is described: one that takes its time from a clock, and chooses as
// golang.org/x/time/rate does.
func ExampleRun() {
	spec := limitertest.Spec{
		Name: "limiters.TokenBucket",
		Time: limitertest.Injected,
		New: func(env limitertest.Env, cfg limitertest.Config) limitertest.Funcs {
			l := limiters.NewTokenBucket(limiters.Limit(cfg.Rate.PerSecond()), cfg.Burst, limiters.WithClock(env.Clock))
			return limitertest.Funcs{Allow: l.Allow, WaitN: l.WaitN}
		},
		Traits: limitertest.XTimeRate(),
	}
	// In a test: limitertest.Run(t, spec)
	rate := limitertest.Rate{Events: 10, Per: 1e9}
	l := spec.New(limitertest.Env{Clock: fakeclock.New()}, limitertest.Config{Rate: rate, Burst: 2})
	fmt.Println(l.Allow(), l.Allow(), l.Allow())
	// Output: true true false
}

// server is a limiter that others ask over a network.
type server struct {
	bucket *limiters.TokenBucket
	down   bool
}

// client asks a server, a millisecond away. Where it cannot be reached, requests are denied.
type client struct {
	clock  clockwork.Clock
	server *server
}

func (c *client) Allow(n int) (bool, error) {
	c.clock.Sleep(time.Millisecond)
	defer c.clock.Sleep(time.Millisecond)
	if c.server.down {
		return false, errors.New("the server is down")
	}
	return c.server.bucket.AllowN(c.clock.Now(), n), nil
}

// How a limiter is described that asks a server: a request takes 2ms, and those that fail are
// denied.
func ExampleFuncs_take() {
	spec := limitertest.Spec{
		Name: "client",
		Time: limitertest.PackageTime,
		New: func(env limitertest.Env, cfg limitertest.Config) limitertest.Funcs {
			s := &server{bucket: limiters.NewTokenBucket(limiters.Limit(cfg.Rate.PerSecond()), cfg.Burst)}
			c := &client{clock: env.Clock, server: s}
			return limitertest.Funcs{
				Take: func(n int) limitertest.Answer {
					ok, err := c.Allow(n)
					return limitertest.Answer{OK: ok, Err: err}
				},
				Fail: func(failing bool) { s.down = failing },
			}
		},
		Traits: limitertest.Traits{
			Initial:  limitertest.InitialFull,
			Oversize: limitertest.OversizeRejected,
			ZeroRate: limitertest.ZeroRateBurst,
			Inf:      limitertest.InfGrants,
			Latency:  2 * time.Millisecond,
			Errors:   limitertest.FailClosed,
		},
	}
	// In a test: limitertest.Run(t, spec)
	clock := fakeclock.New()
	rate := limitertest.Rate{Events: 10, Per: time.Second}
	l := spec.New(limitertest.Env{Clock: clock}, limitertest.Config{Rate: rate, Burst: 1})
	l.Fail(true)
	answer := make(chan limitertest.Answer)
	go func() { answer <- l.Take(1) }()
	for range 2 { // there and back
		clock.BlockUntil(1)
		clock.Advance(time.Millisecond)
	}
	a := <-answer
	fmt.Println(clock.Elapsed(), a.OK, a.Err)
	// Output:
	// 2ms false the server is down
}

// How a limiter is described that has a bucket for each user: all that it is asked for is asked for a key. Names are
// the bare numbers, in which a table that mixes up its keys shows.
func ExampleFuncs_allowKey() {
	spec := limitertest.Spec{
		Name: "a bucket for each user",
		Time: limitertest.Injected,
		New: func(env limitertest.Env, cfg limitertest.Config) limitertest.Funcs {
			limit := limiters.Limit(cfg.Rate.PerSecond())
			users := limiters.NewKeyed(130, func(string) *limiters.TokenBucket {
				return limiters.NewTokenBucket(limit, cfg.Burst, limiters.WithClock(env.Clock))
			}, (*limiters.TokenBucket).Fresh)
			return limitertest.Funcs{AllowKey: func(key, n int) (ok bool) {
				_ = users.Do(strconv.Itoa(key), func(l *limiters.TokenBucket) { ok = l.AllowN(env.Clock.Now(), n) })
				return ok
			}}
		},
		Traits: limitertest.XTimeRate(),
	}
	// In a test: limitertest.Run(t, spec)
	rate := limitertest.Rate{Events: 10, Per: time.Second}
	l := spec.New(limitertest.Env{Clock: fakeclock.New()}, limitertest.Config{Rate: rate, Burst: 1})
	fmt.Println(l.AllowKey(1, 1), l.AllowKey(1, 1), l.AllowKey(2, 1))
	// Output: true false true
}

// Rules can be listed with their sentences.
func ExampleRules() {
	for _, r := range limitertest.Rules()[:2] {
		fmt.Printf("%s (%s): %s\n", r.ID, r.Level, r.Text)
	}
	// Output:
	// RL-FULL (core): A new limiter MUST grant its burst at once.
	// RL-CAP (core): The bucket MUST NOT hold more than the burst, after any idle time.
}
