package peers

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/eapache/go-resiliency/batcher"
	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/debouncertest"
	"github.com/escapement-go/escapement/conformance/limitertest"
	"github.com/escapement-go/escapement/conformance/throttletest"
	"github.com/samber/lo"
	"golang.org/x/time/rate"
)

// loThrottle invokes "given functions only once in every interval". The functions
// take no argument.
func loThrottle() throttletest.Spec {
	return throttletest.Spec{
		Name: "samber/lo v1.53.0 NewThrottle",
		Time: throttletest.PackageTime,
		New: func(_ throttletest.Env, cfg throttletest.Config, emit func(int)) throttletest.Funcs {
			throttled, reset := lo.NewThrottle(cfg.Interval, func() { emit(0) })
			return throttletest.Funcs{Call: func(int) { throttled() }, Reset: reset}
		},
		Traits:       throttletest.LoThrottle(), // source: a timer ends the interval
		KnownFailing: []throttletest.Known{loReentry, loReset},
	}
}

// loThrottleBy is NewThrottleByWithCount, which "will be invoked count times in every
// interval" for each key. The functions get the key; the newest event of a key
// stands for the payload, since they run before the call returns.
func loThrottleBy() throttletest.Spec {
	return throttletest.Spec{
		Name: "samber/lo v1.53.0 NewThrottleByWithCount",
		Time: throttletest.PackageTime,
		New: func(_ throttletest.Env, cfg throttletest.Config, emit func(int)) throttletest.Funcs {
			var newest sync.Map
			throttled, reset := lo.NewThrottleByWithCount(cfg.Interval, cfg.K, func(key int) {
				v, _ := newest.Load(key)
				emit(v.(int))
			})
			call := func(key, v int) {
				newest.Store(key, v)
				throttled(key)
			}
			return throttletest.Funcs{Call: func(v int) { call(0, v) }, CallKey: call, Reset: reset}
		},
		Traits:       throttletest.LoThrottleBy(), // source; calls back no more than NewThrottle
		KnownFailing: []throttletest.Known{loKeys, loReset, loZero},
	}
}

// eapacheBatcher "will batch all calls to Run that occur within `timeout` time before
// calling doWork just once for the entire batch": a throttle with the trailing edge,
// whose newest call stands for the batch. The docs leave undefined what Run does
// after Shutdown, and nothing here tries it.
func eapacheBatcher() throttletest.Spec {
	return throttletest.Spec{
		Name: "eapache/go-resiliency v1.7.0 batcher",
		Time: throttletest.PackageTime,
		New: func(_ throttletest.Env, cfg throttletest.Config, emit func(int)) throttletest.Funcs {
			b := batcher.New(cfg.Interval, func(all []interface{}) error {
				emit(all[len(all)-1].(int))
				return nil
			})
			var closed atomic.Bool
			return throttletest.Funcs{
				Call:   func(v int) { go b.Run(v) }, // waits for its batch
				Close:  func() { go func() { b.Shutdown(true); closed.Store(true) }() },
				Closed: closed.Load,
			}
		},
		Traits: throttletest.EapacheBatcher(), // Shutdown "flushes and executes any pending batches"
	}
}

// xtimeSometimes runs f "if Interval has elapsed since Do last ran f", and with an
// Interval of 0 only the first time, as the zero value does: no throttle.
func xtimeSometimes() throttletest.Spec {
	return throttletest.Spec{
		Name: "golang.org/x/time/rate v0.14.0 Sometimes",
		Time: throttletest.PackageTime,
		New: func(_ throttletest.Env, cfg throttletest.Config, emit func(int)) throttletest.Funcs {
			if cfg.Interval == 0 {
				panic("an Interval of 0 is no filter")
			}
			s := rate.Sometimes{Interval: cfg.Interval}
			return throttletest.Funcs{Call: func(v int) { s.Do(func() { emit(v) }) }}
		},
		Traits: throttletest.XTimeSometimes(), // source; "if f causes Do to be called, it will deadlock"
	}
}

// What is known to fail. Each is shown by the library alone in
// reproductions_test.go.
var (
	loReentry = throttletest.Known{
		Rule: "X-REENT", Schedule: "interval=100ms edges=leading inside=call | call 1 @0",
		Why: "the functions run under the mutex that the throttled function takes; the docs do not forbid the call",
	}
	loReset = throttletest.Known{
		Rule: "TH-RESET",
		Schedule: "interval=100ms edges=leading | call 1 @0 | reset @100ms~ | call 2 @100ms~ | " +
			"call 3 @100.000001ms",
		Why: "a timer that has expired when reset comes ends the interval that begins after it; " +
			"the docs promise \"only once in every interval\"",
	}
	loKeys = throttletest.Known{
		Rule: "TH-KEY", Schedule: "interval=100ms | call 1 1 @0 | call 2 2 @50ms | call 3 2 @100ms",
		Why: "all keys share the timer of the first; the docs promise \"only once in every interval\" for each",
	}
	loZero = throttletest.Known{
		Rule: "TH-ZERO", Schedule: "interval=0 edges=leading | call 1 @0~ | call 2 @0~",
		Why: "a timer ends an interval of 0, too, and what comes before it is dropped; the docs leave 0 open",
	}
)

// throttles, and rateLimiters in another file, are what TestPeers and TestProperties judge,
// by the names of their subtests.
func throttles() []peer[throttletest.Spec] {
	return []peer[throttletest.Spec]{
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

// hanging are those of which some runs end only by the watchdog. They are left out
// with -short, and random schedules leave them out.
var hanging = []string{"LoThrottle", "k8s", "clockz", "juju"}

// each runs a test for each of the libraries.
func each[S any](t *testing.T, peers []peer[S], run func(t *testing.T, spec S)) {
	for _, p := range peers {
		t.Run(p.name, func(t *testing.T) {
			if testing.Short() && slices.Contains(hanging, p.name) {
				t.Skip("-short: some of its runs end only by the watchdog")
			}
			run(t, p.spec)
		})
	}
}

// TestPeers runs the suite over the libraries and prints the table of verdicts.
func TestPeers(t *testing.T) {
	var reports []*conformance.Report
	each(t, debouncers(), func(t *testing.T, spec debouncertest.Spec) {
		reports = append(reports, debouncertest.Run(t, spec))
	})
	each(t, throttles(), func(t *testing.T, spec throttletest.Spec) {
		reports = append(reports, throttletest.Run(t, spec))
	})
	each(t, rateLimiters(), func(t *testing.T, spec limitertest.Spec) {
		reports = append(reports, limitertest.Run(t, spec))
	})
	t.Log("\n" + conformance.Table(reports...))
}
