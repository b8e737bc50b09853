package peers

import (
	"context"
	"testing"
	"time"

	bep "github.com/bep/debounce"
	"github.com/escapement-go/escapement/conformance"
	"github.com/samber/lo"
	uber "go.uber.org/ratelimit"
	"golang.org/x/time/rate"
)

// bepDebounce: the function that fired last wins, so a callback that carries its
// value has the payload of the newest call. There is no cancel and no stop.
func bepDebounce() conformance.DebouncerSpec {
	return conformance.DebouncerSpec{
		Name: "bep/debounce v1.2.1",
		Time: conformance.PackageTime,
		New: func(_ conformance.Env, cfg conformance.DebounceConfig, fire func(int)) conformance.DebouncerFuncs {
			debounced := bep.New(cfg.Wait)
			return conformance.DebouncerFuncs{Call: func(v int) { debounced(func() { fire(v) }) }}
		},
		Traits: conformance.DebounceTraits{
			Edges:   []conformance.Edges{conformance.Trailing},
			Payload: conformance.LastPayload, // "the last one will win"
			Tie:     conformance.EitherTie,
			// The docs are silent; the code ignores the result of Timer.Stop.
			StaleFire: conformance.StaleAllowed,
			ZeroWait:  conformance.ZeroNextTick,
			Overlap:   conformance.Parallel, // each fire is a timer's own goroutine
		},
	}
}

// loDebounce: the callback takes no argument; cancel ends the debouncer for good.
// The docs name neither; both are read from the source.
func loDebounce() conformance.DebouncerSpec {
	return conformance.DebouncerSpec{
		Name: "samber/lo v1.53.0 NewDebounce",
		Time: conformance.PackageTime,
		New: func(_ conformance.Env, cfg conformance.DebounceConfig, fire func(int)) conformance.DebouncerFuncs {
			debounced, cancel := lo.NewDebounce(cfg.Wait, func() { fire(0) })
			return conformance.DebouncerFuncs{Call: func(int) { debounced() }, Cancel: cancel}
		},
		Traits: conformance.DebounceTraits{
			Edges:         []conformance.Edges{conformance.Trailing},
			Payload:       conformance.NoPayload,
			Tie:           conformance.EitherTie,
			StaleFire:     conformance.StaleAllowed,
			CancelBarrier: conformance.NoBarrier,
			AfterCancel:   conformance.CancelFinal,
			ZeroWait:      conformance.ZeroNextTick,
			Overlap:       conformance.Parallel,
		},
	}
}

// xtime is golang.org/x/time/rate. Its docs say nothing of instants that go back
// or of negative numbers, so the default laws are declared.
func xtime(source conformance.TimeSource, known ...conformance.Known) conformance.LimiterSpec {
	return conformance.LimiterSpec{
		Name: "golang.org/x/time/rate v0.14.0",
		Time: source,
		New: func(_ conformance.Env, cfg conformance.LimiterConfig) conformance.LimiterFuncs {
			l := rate.NewLimiter(rate.Limit(cfg.Rate.PerSecond()), cfg.Burst)
			return conformance.LimiterFuncs{
				Allow:    l.Allow,
				AllowN:   func(n int) bool { return l.AllowN(time.Now(), n) },
				AllowAt:  l.AllowN,
				Tokens:   l.Tokens,
				TokensAt: l.TokensAt,
				Wait:     func(n int) { _ = l.WaitN(context.Background(), n) },
			}
		},
		Traits:       conformance.LikeXTime,
		KnownFailing: known,
	}
}

// uberLimiter is a leaky bucket whose slack is a burst that idle time earns: with
// slack s it grants s+1 in a row, but only one at first.
func uberLimiter(known ...conformance.Known) conformance.LimiterSpec {
	return conformance.LimiterSpec{
		Name: "go.uber.org/ratelimit v0.3.1",
		Time: conformance.Injected,
		New: func(env conformance.Env, cfg conformance.LimiterConfig) conformance.LimiterFuncs {
			l := uber.New(cfg.Rate.Events, uber.Per(cfg.Rate.Per), uber.WithClock(env.Clock), uber.WithSlack(cfg.Burst-1))
			return conformance.LimiterFuncs{Wait: func(int) { l.Take() }}
		},
		Traits:       conformance.LimiterTraits{Initial: conformance.InitialOne, Single: true},
		KnownFailing: known,
	}
}

// What is known to fail. Each is shown by the library alone in
// reproductions_test.go.
var (
	xtimeNegative = conformance.Known{
		Rule: "RL-NEG", Schedule: "rate=10/1s burst=3 | allow 1 @0 | allow -1 @0 | allow 3 @0",
		Why: "AllowN with a negative n gives tokens back; the docs do not mention n < 0",
	}
	xtimePast = conformance.Known{
		Rule: "RL-PAST", Schedule: "rate=1/1s burst=2 | allow 1 @0 | allow 0 @1s | allow 1 @0 | allow 2 @1s",
		Why: "AllowN with an older t moves the limiter back, and the time since is paid again; the docs do not mention it (golang/go#56287)",
	}
	uberKnown = []conformance.Known{
		{
			Rule: "RL-ENV", Schedule: "rate=600000000/1s burst=1 | wait 1 @0 | wait 1 @0 | wait 1 @0",
			Why: "the time for one request is cut to whole nanoseconds: 6e8 a second become 1e9; the docs promise \"the given RPS\"",
		},
		{
			Rule: "RL-WORK", Schedule: "rate=10/1s burst=2 epoch=1970-01-01T00:00:00Z | wait 1 @0 | wait 1 @10s | wait 1 @10.05s",
			Why: "a clock at Unix(0) looks like a new limiter: what idle time had earned is lost",
		},
		{
			Rule: "RL-MODEL", Schedule: "rate=10/1s burst=2 epoch=1970-01-01T00:00:00Z | wait 1 @0 | wait 1 @0",
			Why: "a clock at Unix(0) looks like a new limiter: every Take is the first",
		},
		{
			Rule: "RL-EPOCH", Schedule: "rate=10/1s burst=2 epoch=1970-01-01T00:00:00Z | wait 1 @0 | wait 1 @0",
			Why: "a clock at Unix(0) looks like a new limiter: every Take is the first",
		},
	}
)

// TestPeers runs the suite over the libraries and prints the table of verdicts.
func TestPeers(t *testing.T) {
	var reports []*conformance.Report
	keep := func(r *conformance.Report) { reports = append(reports, r) }
	t.Run("BepDebounce", func(t *testing.T) { keep(conformance.RunDebouncer(t, bepDebounce())) })
	t.Run("LoDebounce", func(t *testing.T) { keep(conformance.RunDebouncer(t, loDebounce())) })
	t.Run("XTimeExplicit", func(t *testing.T) {
		keep(conformance.RunLimiter(t, xtime(conformance.Explicit, xtimeNegative, xtimePast)))
	})
	t.Run("XTimePackageTime", func(t *testing.T) { keep(conformance.RunLimiter(t, xtime(conformance.PackageTime, xtimeNegative))) })
	t.Run("UberRatelimit", func(t *testing.T) { keep(conformance.RunLimiter(t, uberLimiter(uberKnown...))) })
	t.Log("\n" + conformance.Table(reports...))
}
