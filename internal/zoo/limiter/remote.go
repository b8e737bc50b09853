package limiter

import (
	"errors"
	"sync"
	"time"

	lt "github.com/escapement-go/escapement/conformance/limitertest"
	"github.com/escapement-go/escapement/internal/zoo"
	"github.com/escapement-go/escapement/synctestcompat"
)

// roundTrip is the most time that a request to a remote limiter takes.
const roundTrip = 2 * time.Millisecond

var errUnreachable = errors.New("the limiter cannot be reached")

// network is between a client and its limiter.
type network struct {
	env     lt.Env
	jitters bool // a message takes up to half of a round trip, not just that
	mu      sync.Mutex
	failing bool
	sent    int
	lost    int
}

// send takes as long as a message.
func (w *network) send() {
	w.mu.Lock()
	d := roundTrip / 2
	if w.jitters {
		d = d * [...]time.Duration{4, 4, 0, 2, 1, 3, 4, 1}[w.sent%8] / 4
	}
	w.sent++
	w.mu.Unlock()
	w.env.Clock.Sleep(d)
}

// ask does a request. While the limiter cannot be reached, each second one is lost on the way
// there, and the others on the way back.
func (w *network) ask(do func()) error {
	w.send()
	w.mu.Lock()
	failing := w.failing
	if failing {
		w.lost++
	}
	arrives := !failing || w.lost%2 == 0
	w.mu.Unlock()
	if arrives {
		do()
	}
	w.send()
	if failing {
		return errUnreachable
	}
	return nil
}

func (w *network) fail(failing bool) {
	w.mu.Lock()
	w.failing = failing
	w.mu.Unlock()
}

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
		l, w := newBucket(cfg, ""), &network{env: env, jitters: errs == lt.FailClosed}
		open := (errs == lt.FailOpen) != (mutant == "fails closed where it should fail open")
		return lt.Funcs{
			Take: func(n int) lt.Answer {
				ok := false
				if err := w.ask(func() { ok = l.allow(env.Clock.Now(), n) }); err != nil {
					return lt.Answer{OK: open, Err: err}
				}
				if !ok && mutant == "asks again when it is denied" {
					_ = w.ask(func() { ok = l.allow(env.Clock.Now(), n) })
				}
				return lt.Answer{OK: ok}
			},
			Fail: func(failing bool) {
				w.fail(failing)
				if !failing && mutant == "is new when it can be reached again" {
					l = newBucket(cfg, "")
				}
			},
		}
	}
	spec.Traits.Latency, spec.Traits.Errors = roundTrip, errs
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
		l, w := newBucket(cfg, ""), &network{env: env}
		take := func(n int) (ok bool, retry time.Duration) {
			_ = w.ask(func() {
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
	spec.Traits.Latency = roundTrip
	return spec
}

// remoteDebtSpec is the bucket in debt behind a network, without its waits, whose messages could
// overtake one another.
func remoteDebtSpec(source lt.TimeSource) lt.Spec {
	spec := debtSpec("", source)
	spec.Name = "zoo: remote bucket in debt"
	inner := spec.New
	spec.New = func(env lt.Env, cfg lt.Config) lt.Funcs {
		f, w := inner(env, cfg), &network{env: env, jitters: true}
		return lt.Funcs{
			AllowN:   func(n int) (ok bool) { _ = w.ask(func() { ok = f.AllowN(n) }); return ok },
			Reserve:  func(n int) (r lt.Reservation) { _ = w.ask(func() { r = f.Reserve(n) }); return r },
			SetLimit: func(r lt.Rate) { _ = w.ask(func() { f.SetLimit(r) }) },
			SetBurst: func(burst int) { _ = w.ask(func() { f.SetBurst(burst) }) },
			Stop:     f.Stop,
		}
	}
	spec.Traits.Latency = roundTrip
	return spec
}
