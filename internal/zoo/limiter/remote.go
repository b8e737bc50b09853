package limiter

import (
	"time"

	lt "github.com/escapement-go/escapement/conformance/limitertest"
	"github.com/escapement-go/escapement/internal/zoo"
	"github.com/escapement-go/escapement/synctestcompat"
)

// remoteMutants are mistakes of remote limiters that fail open.
var remoteMutants = []mistake{
	{name: "fails closed where it should fail open", rule: "X-ERR"},
	{name: "asks again when it is denied", rule: "X-LATENCY"},
	{name: "is new when it can be reached again", rule: "RL-ENV"},
}

// remoteSpecs are correct remote limiters. What takes time on an injected clock can only be
// driven in a bubble.
func remoteSpecs() (all []lt.Spec) {
	sources := []lt.TimeSource{lt.PackageTime}
	if synctestcompat.Available {
		sources = append(sources, lt.Injected)
	}
	for _, source := range sources {
		closed := failingSpec("zoo: remote, fails closed", "", lt.FailClosed, source)
		all = append(all, remoteSpec("", source), closed, remoteRetrySpec(source), remoteDebtSpec(source))
	}
	return all
}

// remoteSpec is the bucket in floating point behind a network, whose requests are granted if they fail. It is correct
// unless mutant names one of its mistakes.
func remoteSpec(mutant string, source lt.TimeSource) lt.Spec {
	return failingSpec("zoo: remote: "+mutant, mutant, lt.FailOpen, source)
}

// failingSpec is that with a choice of what becomes of requests that fail.
func failingSpec(name, mutant string, errs lt.Errors, source lt.TimeSource) lt.Spec {
	spec := bucketOf(name, source, func(env lt.Env, cfg lt.Config) lt.Funcs {
		l, w := newBucket(cfg, ""), &zoo.Network{Clock: env.Clock, Jitters: errs == lt.FailClosed}
		open := (errs == lt.FailOpen) != (mutant == "fails closed where it should fail open")
		return lt.Funcs{
			Take: func(n int) lt.Answer {
				ok := false
				if err := w.Ask(func() { ok = l.allow(env.Clock.Now(), n) }); err != nil {
					return lt.Answer{OK: open, Err: err}
				}
				if !ok && mutant == "asks again when it is denied" {
					_ = w.Ask(func() { ok = l.allow(env.Clock.Now(), n) })
				}
				return lt.Answer{OK: ok}
			},
			Fail: func(failing bool) {
				w.Fail(failing)
				if !failing && mutant == "is new when it can be reached again" {
					l = newBucket(cfg, "")
				}
			},
		}
	})
	spec.Traits.Zero, spec.Traits.Latency, spec.Traits.Errors = lt.ZeroGranted, zoo.RoundTrip, errs
	return spec
}

// remoteRetrySpec is a remote limiter that tells who is denied when to ask again, and a client
// whose waits do that.
func remoteRetrySpec(source lt.TimeSource) lt.Spec {
	spec := retrySpec(source)
	spec.Name = "zoo: remote that is asked again"
	spec.New = func(env lt.Env, cfg lt.Config) lt.Funcs {
		try, w := tries(env, cfg, "", untilThere), &zoo.Network{Clock: env.Clock}
		return retried(env, cfg, lt.DeadlineSleeps, func(n int) (ok bool, retry time.Duration) {
			_ = w.Ask(func() { ok, retry = try(n) })
			return ok, retry
		})
	}
	spec.Traits.Latency = zoo.RoundTrip
	return spec
}

// remoteDebtSpec is the bucket in debt behind a network, without its waits, whose messages could
// overtake one another.
func remoteDebtSpec(source lt.TimeSource) lt.Spec {
	spec := over(debtSpec("", source), "zoo: remote bucket in debt", func(env lt.Env, f lt.Funcs) lt.Funcs {
		w := &zoo.Network{Clock: env.Clock, Jitters: true}
		return lt.Funcs{
			AllowN:   func(n int) (ok bool) { _ = w.Ask(func() { ok = f.AllowN(n) }); return ok },
			Reserve:  func(n int) (r lt.Reservation) { _ = w.Ask(func() { r = f.Reserve(n) }); return r },
			SetLimit: func(r lt.Rate) { _ = w.Ask(func() { f.SetLimit(r) }) },
			SetBurst: func(burst int) { _ = w.Ask(func() { f.SetBurst(burst) }) },
		}
	})
	spec.Traits.Latency = zoo.RoundTrip
	return spec
}
