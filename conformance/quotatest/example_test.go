package quotatest_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/escapement-go/escapement/conformance/quotatest"
	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/limiters"
)

// How a limiter by windows is described that is told the time.
func ExampleRun() {
	spec := quotatest.Spec{
		Name: "limiters.SlidingLog",
		Time: quotatest.Explicit,
		Kind: quotatest.SlidingLog,
		New: func(_ quotatest.Env, cfg quotatest.Config) quotatest.Funcs {
			l := limiters.NewSlidingLog(cfg.Limit, cfg.Window)
			return quotatest.Funcs{TakeAt: func(t time.Time, n int) quotatest.Answer {
				return quotatest.Answer{OK: l.AllowN(t, n)}
			}}
		},
		Traits: quotatest.Traits{
			Edge:        quotatest.EdgeHalfOpen,
			CountDenied: quotatest.DeniedFree,
			BackTime:    quotatest.BackClamp,
		},
	}
	// In a test: quotatest.Run(t, spec)
	l := spec.New(quotatest.Env{}, quotatest.Config{Limit: 1, Window: time.Second})
	start := time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, at := range []time.Duration{0, time.Second - 1, time.Second} {
		fmt.Println(at, l.TakeAt(start.Add(at), 1).OK)
	}
	// Output:
	// 0s true
	// 999.999999ms false
	// 1s true
}

// server is a limiter that others ask over a network.
type server struct {
	window *limiters.FixedWindow
	down   bool
}

// client asks a server, a millisecond away. Where it cannot be reached, requests are granted.
type client struct {
	clock  clockwork.Clock
	server *server
}

func (c *client) Allow(n int) (bool, error) {
	c.clock.Sleep(time.Millisecond)
	defer c.clock.Sleep(time.Millisecond)
	if c.server.down {
		return true, errors.New("the server is down")
	}
	return c.server.window.AllowN(c.clock.Now(), n), nil
}

// How a limiter is described that asks a server: a request takes 2ms, and those that fail are
// granted.
func ExampleFuncs_fail() {
	spec := quotatest.Spec{
		Name: "client",
		Time: quotatest.PackageTime,
		Kind: quotatest.FixedWindow,
		New: func(env quotatest.Env, cfg quotatest.Config) quotatest.Funcs {
			s := &server{window: limiters.NewFixedWindow(cfg.Limit, cfg.Window)}
			c := &client{clock: env.Clock, server: s}
			return quotatest.Funcs{
				Take: func(n int) quotatest.Answer {
					ok, err := c.Allow(n)
					return quotatest.Answer{OK: ok, Err: err}
				},
				Fail: func(failing bool) { s.down = failing },
			}
		},
		Traits: quotatest.Traits{
			Edge:        quotatest.EdgeHalfOpen,
			Align:       quotatest.AlignEpoch,
			CountDenied: quotatest.DeniedFree,
			Latency:     2 * time.Millisecond,
			Errors:      quotatest.FailOpen,
		},
	}
	// In a test: quotatest.Run(t, spec)
	clock := fakeclock.New()
	l := spec.New(quotatest.Env{Clock: clock}, quotatest.Config{Limit: 1, Window: time.Hour})
	l.Fail(true)
	answer := make(chan quotatest.Answer)
	go func() { answer <- l.Take(1) }()
	for range 2 { // there and back
		clock.BlockUntil(1)
		clock.Advance(time.Millisecond)
	}
	a := <-answer
	fmt.Println(clock.Elapsed(), a.OK, a.Err)
	// Output:
	// 2ms true the server is down
}
