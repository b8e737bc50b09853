package peers

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	bep "github.com/bep/debounce"
	"github.com/eapache/go-resiliency/batcher"
	"github.com/escapement-go/escapement/conformance"
	"github.com/samber/lo"
	uber "go.uber.org/ratelimit"
	"golang.org/x/time/rate"
)

// bepDebounce has no cancel and no stop. A callback that carries its value stands
// for the payload: "The debounced function can be invoked with different functions,
// if needed, the last one will win." Of the rest the docs say only that the function
// "will be called when the debounced function stops being called for the given
// duration"; what is read from the source is marked so.
func bepDebounce() conformance.DebouncerSpec {
	return conformance.DebouncerSpec{
		Name: "bep/debounce v1.2.1",
		Time: conformance.PackageTime,
		New: func(_ conformance.Env, cfg conformance.DebounceConfig, fire func(int)) conformance.DebouncerFuncs {
			debounced := bep.New(cfg.Wait)
			return conformance.DebouncerFuncs{Call: func(v int) { debounced(func() { fire(v) }) }}
		},
		Traits: conformance.DebounceTraits{
			Edges:     []conformance.Edges{conformance.Trailing},
			Payload:   conformance.LastPayload,
			Tie:       conformance.EitherTie,    // source: whichever of timer and call comes first
			StaleFire: conformance.StaleAllowed, // source: the result of Timer.Stop is ignored; see TestPeers_stricter
			ZeroWait:  conformance.ZeroNextTick, // source: an AfterFunc of 0
			Overlap:   conformance.Parallel,     // source: each fire is a timer's own goroutine
		},
	}
}

// loDebounce delays "invoking functions given until after wait milliseconds have
// elapsed, until cancel is called", says the README: so cancel is final. The
// functions take no argument.
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
			Tie:           conformance.EitherTie,    // source
			StaleFire:     conformance.StaleAllowed, // source: the result of Timer.Stop is ignored; see TestPeers_stricter
			CancelBarrier: conformance.NoBarrier,    // source: the callback does not look whether it was cancelled
			AfterCancel:   conformance.CancelFinal,  // README
			ZeroWait:      conformance.ZeroNextTick, // source: an AfterFunc of 0
			Overlap:       conformance.Parallel,     // source: each fire is a timer's own goroutine
		},
	}
}

// uberLimiter is a leaky bucket. Slack "allows the limiter to accumulate 'unspent'
// requests for future bursts of traffic": with a slack of b-1 it lets b pass in a
// row, and WithSlack(0) is WithoutSlack. Slack must first be earned, as the source
// and the README's example show: of a new limiter only the first Take is free.
func uberLimiter(known ...conformance.Known) conformance.LimiterSpec {
	return conformance.LimiterSpec{
		Name: "go.uber.org/ratelimit v0.3.1",
		Time: conformance.Injected,
		New: func(env conformance.Env, cfg conformance.LimiterConfig) conformance.LimiterFuncs {
			l := uber.New(cfg.Rate.Events, uber.Per(cfg.Rate.Per), uber.WithClock(env.Clock), uber.WithSlack(cfg.Burst-1))
			return conformance.LimiterFuncs{Wait: func(int) { l.Take() }}
		},
		Traits:       conformance.LimiterTraits{Initial: conformance.InitialOne, Single: true, Fair: conformance.FairFIFO, Rewake: conformance.RewakeKeeps},
		KnownFailing: known,
	}
}

// loThrottle invokes "given functions only once in every interval". The functions
// take no argument.
func loThrottle() conformance.ThrottleSpec {
	return conformance.ThrottleSpec{
		Name: "samber/lo v1.53.0 NewThrottle",
		Time: conformance.PackageTime,
		New: func(_ conformance.Env, cfg conformance.ThrottleConfig, emit func(int)) conformance.ThrottleFuncs {
			throttled, reset := lo.NewThrottle(cfg.Interval, func() { emit(0) })
			return conformance.ThrottleFuncs{Call: func(int) { throttled() }, Reset: reset}
		},
		Traits: conformance.ThrottleTraits{
			Edges:    []conformance.Edges{conformance.Leading},
			Boundary: conformance.BoundaryPasses, // source: a timer ends the interval
			Payload:  conformance.NoPayload,
		},
		KnownFailing: []conformance.Known{loReentry, loReset},
	}
}

// loThrottleBy is NewThrottleByWithCount, which "will be invoked count times in every
// interval" for each key. The functions get the key; the newest event of a key
// stands for the payload, since they run before the call returns.
func loThrottleBy() conformance.ThrottleSpec {
	return conformance.ThrottleSpec{
		Name: "samber/lo v1.53.0 NewThrottleByWithCount",
		Time: conformance.PackageTime,
		New: func(_ conformance.Env, cfg conformance.ThrottleConfig, emit func(int)) conformance.ThrottleFuncs {
			var newest sync.Map
			throttled, reset := lo.NewThrottleByWithCount(cfg.Interval, cfg.K, func(key int) {
				v, _ := newest.Load(key)
				emit(v.(int))
			})
			call := func(key, v int) {
				newest.Store(key, v)
				throttled(key)
			}
			return conformance.ThrottleFuncs{Call: func(v int) { call(0, v) }, CallKey: call, Reset: reset}
		},
		Traits: conformance.ThrottleTraits{
			Edges:      []conformance.Edges{conformance.Leading},
			Boundary:   conformance.BoundaryPasses,      // source: a timer ends the interval
			Windows:    conformance.WindowsFromFirst,    // source
			Reentrancy: conformance.ReentrancyForbidden, // as NewThrottle, where it is shown
		},
		KnownFailing: []conformance.Known{loKeys, loReset},
	}
}

// eapacheBatcher "will batch all calls to Run that occur within `timeout` time before
// calling doWork just once for the entire batch": a throttle with the trailing edge,
// whose newest call stands for the batch. The docs leave undefined what Run does
// after Shutdown, and nothing here tries it.
func eapacheBatcher() conformance.ThrottleSpec {
	return conformance.ThrottleSpec{
		Name: "eapache/go-resiliency v1.7.0 batcher",
		Time: conformance.PackageTime,
		New: func(_ conformance.Env, cfg conformance.ThrottleConfig, emit func(int)) conformance.ThrottleFuncs {
			b := batcher.New(cfg.Interval, func(all []interface{}) error {
				emit(all[len(all)-1].(int))
				return nil
			})
			var closed atomic.Bool
			return conformance.ThrottleFuncs{
				Call:   func(v int) { go b.Run(v) }, // waits for its batch
				Close:  func() { go func() { b.Shutdown(true); closed.Store(true) }() },
				Closed: closed.Load,
			}
		},
		Traits: conformance.ThrottleTraits{
			Edges:      []conformance.Edges{conformance.Trailing},
			Payload:    conformance.LastPayload,
			CloseFlush: conformance.CloseFires, // Shutdown "flushes and executes any pending batches"
		},
	}
}

// xtimeSometimes runs f "if Interval has elapsed since Do last ran f", and with an
// Interval of 0 only the first time, as the zero value does: no throttle.
func xtimeSometimes() conformance.ThrottleSpec {
	return conformance.ThrottleSpec{
		Name: "golang.org/x/time/rate v0.14.0 Sometimes",
		Time: conformance.PackageTime,
		New: func(_ conformance.Env, cfg conformance.ThrottleConfig, emit func(int)) conformance.ThrottleFuncs {
			if cfg.Interval == 0 {
				panic("an Interval of 0 is no filter")
			}
			s := rate.Sometimes{Interval: cfg.Interval}
			return conformance.ThrottleFuncs{Call: func(v int) { s.Do(func() { emit(v) }) }}
		},
		Traits: conformance.ThrottleTraits{
			Edges:      []conformance.Edges{conformance.Leading},
			Boundary:   conformance.BoundaryPasses,      // source
			Reentrancy: conformance.ReentrancyForbidden, // "if f causes Do to be called, it will deadlock"
		},
	}
}

// What is known to fail. Each is shown by the library alone in
// reproductions_test.go.
var (
	loReentry = conformance.Known{
		Rule: "X-REENT", Schedule: "interval=100ms edges=leading inside=call | call 1 @0",
		Why: "the functions run under the mutex that the throttled function takes; the docs do not forbid the call",
	}
	loReset = conformance.Known{
		Rule: "TH-RESET", Schedule: "interval=100ms edges=leading | call 1 @0 | reset @100ms~ | call 2 @100ms~ | call 3 @100.000001ms",
		Why: "a timer that has expired when reset comes ends the interval that begins after it; the docs promise \"only once in every interval\"",
	}
	loKeys = conformance.Known{
		Rule: "TH-KEY", Schedule: "interval=100ms | call 1 1 @0 | call 2 2 @50ms | call 3 2 @100ms",
		Why: "all keys share the timer of the first; the docs promise \"only once in every interval\" for each",
	}
	uberKnown = []conformance.Known{
		{
			Rule: "RL-ENV", Schedule: "rate=600000000/1s burst=1 | wait 1 @0 | wait 1 @0 | wait 1 @0",
			Why: "the time for one request is cut to whole nanoseconds: 6e8 a second become 1e9; the docs of New promise \"the given RPS\"",
		},
		{
			Rule: "RL-HUGE", Schedule: "rate=1500000000/1s burst=1 | wait 1 @0 | wait 1 @0 | wait 1 @0",
			Why: "the time for one request is cut to whole nanoseconds: above 1e9 a second nothing waits; the docs of New promise \"the given RPS\"",
		},
		{
			Rule: "W-EATS", Schedule: "rate=10/1s burst=2 epoch=1970-01-01T00:00:00Z | wait 1 @0 | wait 1 @0",
			Why: "a clock at Unix(0) looks like a new limiter: every Take is the first, and takes nothing from the next; the docs do not mention it",
		},
		{
			Rule: "RL-EPOCH", Schedule: "rate=10/1s burst=2 epoch=1970-01-01T00:00:00Z | wait 1 @0 | wait 1 @0",
			Why: "a clock at Unix(0) looks like a new limiter: every Take is the first; the docs do not mention it",
		},
	}
)

// debouncers and throttles, and rateLimiters in another file, are what TestPeers and
// TestProperties judge, by the names of their subtests.
func debouncers() []peer[conformance.DebouncerSpec] {
	return []peer[conformance.DebouncerSpec]{{"BepDebounce", bepDebounce()}, {"LoDebounce", loDebounce()}}
}

func throttles() []peer[conformance.ThrottleSpec] {
	return []peer[conformance.ThrottleSpec]{
		{"LoThrottle", loThrottle()},
		{"LoThrottleBy", loThrottleBy()},
		{"EapacheBatcher", eapacheBatcher()},
		{"XTimeSometimes", xtimeSometimes()},
	}
}

// peer is a library in a test.
type peer[S any] struct {
	name string
	spec S
}

// hanging are those of which some runs hang until the watchdog looks. They are left out
// with -short, and random schedules leave them out.
var hanging = []string{"LoThrottle", "k8s", "clockz", "juju"}

// each runs a test for each of the libraries.
func each[S any](t *testing.T, peers []peer[S], run func(t *testing.T, spec S)) {
	for _, p := range peers {
		t.Run(p.name, func(t *testing.T) {
			if testing.Short() && slices.Contains(hanging, p.name) {
				t.Skip("-short: some of its runs hang until the watchdog looks")
			}
			run(t, p.spec)
		})
	}
}

// TestPeers runs the suite over the libraries and prints the table of verdicts.
func TestPeers(t *testing.T) {
	var reports []*conformance.Report
	each(t, debouncers(), func(t *testing.T, spec conformance.DebouncerSpec) {
		reports = append(reports, conformance.RunDebouncer(t, spec))
	})
	each(t, throttles(), func(t *testing.T, spec conformance.ThrottleSpec) {
		reports = append(reports, conformance.RunThrottle(t, spec))
	})
	each(t, rateLimiters(), func(t *testing.T, spec conformance.LimiterSpec) {
		reports = append(reports, conformance.RunLimiter(t, spec))
	})
	t.Log("\n" + conformance.Table(reports...))
}

// TestPeers_stricter shows what the debouncers would be told if they promised more
// than their docs do: that a newer call supersedes a callback that has not started,
// and that none starts once cancel has returned. The rules are extended ones, in
// force only where the promise is made, so this is no verdict on the libraries.
func TestPeers_stricter(t *testing.T) {
	const why = "a timer that has expired cannot be stopped, and its callback does not look back"
	stale := conformance.Known{Rule: "DB-NOSTALE", Schedule: "wait=100ms | call 1 @0 | call 2 @100ms~", Why: why}
	late := conformance.Known{Rule: "DB-CANCELBAR", Schedule: "wait=100ms | call 1 @0 | cancel @100ms~", Why: why}
	t.Run("BepDebounce", func(t *testing.T) {
		spec := bepDebounce()
		spec.Name += ", stricter"
		spec.Traits.StaleFire = conformance.StaleForbidden
		spec.KnownFailing = []conformance.Known{stale}
		conformance.RunDebouncer(t, spec)
	})
	t.Run("LoDebounce", func(t *testing.T) {
		spec := loDebounce()
		spec.Name += ", stricter"
		spec.Traits.StaleFire = conformance.StaleForbidden
		spec.Traits.CancelBarrier = conformance.FinishBarrier
		spec.KnownFailing = []conformance.Known{stale, late}
		conformance.RunDebouncer(t, spec)
	})
}
