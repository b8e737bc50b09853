package redislimit_test

import (
	"context"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/escapement-go/escapement/conformance/quotatest"
	"github.com/escapement-go/escapement/limiters"
	"github.com/escapement-go/escapement/limiters/redislimit"
)

// prove skips a test that .ci/run leaves to ESCAPEMENT_PROVE=1, and to releases that are not
// run with -short.
func prove(t *testing.T) {
	t.Helper()
	if os.Getenv("ESCAPEMENT_PROVE") == "" || testing.Short() {
		t.Skip("ESCAPEMENT_PROVE=1 without -short runs it")
	}
}

// On the server's clock, which is set to the instant of each request.
func TestConformance(t *testing.T) {
	s := newStillServer()
	defer s.Close()
	s.keepLua(t)
	rdb := s.connect()
	defer rdb.Close()
	quotatest.Run(t, s.quota("redislimit, the server's clock", traits, func(key string, cfg quotatest.Config) asker {
		l := redislimit.New(rdb, "q", cfg.Window/time.Duration(cfg.Limit), cfg.Burst, redislimit.Timeout(patience))
		return func(_ time.Time, n int) quotatest.Answer { return answer(l.Take(context.Background(), key, n)) }
	}))
}

// On the caller's clock, which begins anywhere.
func TestConformance_callersClock(t *testing.T) {
	prove(t)
	s := newStillServer()
	defer s.Close()
	s.keepLua(t)
	rdb := s.connect()
	defer rdb.Close()
	quotatest.Run(t, s.quota("redislimit, the caller's clock", traits, func(key string, cfg quotatest.Config) asker {
		l := redislimit.New(rdb, "q", cfg.Window/time.Duration(cfg.Limit), cfg.Burst, redislimit.Timeout(patience))
		return func(t time.Time, n int) quotatest.Answer { return answer(l.TakeAt(context.Background(), t, key, n)) }
	}))
}

// In bubbles, with a server and a client in each, all on the time of the bubble.
func TestConformance_bubbles(t *testing.T) {
	prove(t)
	quotatest.Run(t, quotatest.Spec{
		Name: "redislimit, in bubbles", Time: quotatest.PackageTime, Kind: quotatest.GCRA, Traits: traits,
		New: func(_ quotatest.Env, cfg quotatest.Config) quotatest.Funcs {
			s := newServer()
			rdb := s.connect()
			l := redislimit.New(rdb, "q", cfg.Window/time.Duration(cfg.Limit), cfg.Burst, redislimit.Timeout(patience))
			return quotatest.Funcs{
				Take: func(n int) quotatest.Answer { return answer(l.Take(context.Background(), "key", n)) },
				Peek: func() quotatest.Answer { return answer(l.Take(context.Background(), "key", 0)) },
				Stop: func() { rdb.Close(); s.Close() },
			}
		},
	})
}

var traits = quotatest.Traits{
	RetryNever: quotatest.RetryForever, BackTime: quotatest.BackReject, Resolution: time.Microsecond,
	Fields: quotatest.FieldRetry | quotatest.FieldReset | quotatest.FieldRemaining,
}

func answer(d limiters.Decision, err error) quotatest.Answer {
	if err != nil {
		panic(err)
	}
	return quotatest.Answer{OK: d.Allowed, RetryAfter: d.RetryAfter, ResetAfter: d.ResetAfter, Remaining: d.Remaining}
}

// An asker asks for n events, and for a look with 0.
type asker func(t time.Time, n int) quotatest.Answer

var instances atomic.Int64

// quota describes what make makes for a key of its own. The clock of the server keeps pace with
// the instants of the requests.
func (s *server) quota(
	name string, tr quotatest.Traits, make func(key string, cfg quotatest.Config) asker, known ...quotatest.Known,
) quotatest.Spec {
	return quotatest.Spec{
		Name: name, Time: quotatest.Explicit, Kind: quotatest.GCRA, Traits: tr, KnownFailing: known,
		New: func(env quotatest.Env, cfg quotatest.Config) quotatest.Funcs {
			s.reset()
			key := strconv.FormatInt(instances.Add(1), 10)
			ask := make(key, cfg)
			takeAt := func(t time.Time, n int) quotatest.Answer {
				s.move(start.Add(t.Sub(env.Start)))
				return ask(t, n)
			}
			return quotatest.Funcs{
				TakeAt: takeAt,
				PeekAt: func(t time.Time) quotatest.Answer { return takeAt(t, 0) },
				Stop:   func() { s.Del("q:{" + key + "}"); s.Del("rate:" + key) },
			}
		},
	}
}
