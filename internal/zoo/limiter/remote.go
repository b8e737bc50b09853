package limiter

import (
	"time"

	lt "github.com/escapement-go/escapement/conformance/limitertest"
	"github.com/escapement-go/escapement/internal/zoo"
	"github.com/escapement-go/escapement/synctestcompat"
)

// remoteMutants are mistakes of remote limiters.
func remoteMutants() []zoo.Mutant {
	var all []zoo.Mutant
	for _, m := range []struct{ name, rule string }{
		{"fails closed where it should fail open", "X-ERR"},
		{"asks again when it is denied", "X-LATENCY"},
		{"is new when it can be reached again", "RL-ENV"},
	} {
		all = append(all, zoo.Mutant{Name: "remote: " + m.name, Rule: m.rule,
			Spec: remoteSpec(m.name, lt.FailOpen, lt.PackageTime)})
	}
	return all
}

// remoteSpecs are correct remote limiters. What takes time on an injected clock can only be
// driven in a bubble.
func remoteSpecs() []lt.Spec {
	sources := []lt.TimeSource{lt.PackageTime}
	if synctestcompat.Available {
		sources = append(sources, lt.Injected)
	}
	var all []lt.Spec
	for _, source := range sources {
		closed := remoteSpec("", lt.FailClosed, source)
		closed.Name = "zoo: remote, fails closed"
		all = append(all, remoteSpec("", lt.FailOpen, source), closed, remoteRetrySpec(source), remoteDebtSpec(source))
	}
	return all
}

// remoteSpec is the bucket in floating point behind a network. What fails is granted, or denied
// if that is chosen. Mutant names a mistake, if there is one.
func remoteSpec(mutant string, errs lt.Errors, source lt.TimeSource) lt.Spec {
	spec := bucketSpec("", source)
	spec.Name = "zoo: remote: " + mutant
	spec.New = func(env lt.Env, cfg lt.Config) lt.Funcs {
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
	}
	spec.Traits.Latency, spec.Traits.Errors = zoo.RoundTrip, errs
	return spec
}

// remoteRetrySpec is a remote limiter that tells who is denied when to ask again, and a client
// whose waits do that.
func remoteRetrySpec(source lt.TimeSource) lt.Spec {
	spec := retrySpec(source)
	spec.Name = "zoo: remote that is asked again"
	spec.New = func(env lt.Env, cfg lt.Config) lt.Funcs {
		if cfg.Rate == lt.Inf {
			panic("no such limiter")
		}
		l, w := newBucket(cfg, ""), &zoo.Network{Clock: env.Clock}
		take := func(n int) (ok bool, retry time.Duration) {
			_ = w.Ask(func() {
				now := env.Clock.Now()
				ok = l.allow(now, n)
				retry = time.Duration((float64(n)-l.tokensAt(now))/l.rate*1e9) + 1
			})
			return ok, retry
		}
		return lt.Funcs{
			AllowN: func(n int) bool { ok, _ := take(n); return ok },
			WaitN:  waitN(env, cfg, lt.DeadlineSleeps, take),
		}
	}
	spec.Traits.Latency = zoo.RoundTrip
	return spec
}

// remoteDebtSpec is the bucket in debt behind a network, without its waits, whose messages could
// overtake one another.
func remoteDebtSpec(source lt.TimeSource) lt.Spec {
	spec := debtSpec("", source)
	spec.Name = "zoo: remote bucket in debt"
	inner := spec.New
	spec.New = func(env lt.Env, cfg lt.Config) lt.Funcs {
		f, w := inner(env, cfg), &zoo.Network{Clock: env.Clock, Jitters: true}
		return lt.Funcs{
			AllowN:   func(n int) (ok bool) { _ = w.Ask(func() { ok = f.AllowN(n) }); return ok },
			Reserve:  func(n int) (r lt.Reservation) { _ = w.Ask(func() { r = f.Reserve(n) }); return r },
			SetLimit: func(r lt.Rate) { _ = w.Ask(func() { f.SetLimit(r) }) },
			SetBurst: func(burst int) { _ = w.Ask(func() { f.SetBurst(burst) }) },
			Stop:     f.Stop,
		}
	}
	spec.Traits.Latency = zoo.RoundTrip
	return spec
}
