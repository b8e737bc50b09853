package quota

import (
	"time"

	qt "github.com/escapement-go/escapement/conformance/quotatest"
	"github.com/escapement-go/escapement/internal/zoo"
)

// buckets is a log by parts of the window: it counts in a ring of ten of them.
func buckets() qt.Spec {
	const parts = 10
	return serial("a ring of ten parts of the window", qt.SlidingLog,
		qt.Traits{Edge: qt.EdgeHalfOpen, CountDenied: qt.DeniedFree, Buckets: parts},
		func(cfg qt.Config) takeAt {
			if cfg.Window < parts || cfg.Window%parts != 0 {
				panic("the window is divided into ten parts")
			}
			part := cfg.Window / parts
			var origin time.Time
			used := false
			var last int64 // the newest part
			var counts [parts]int
			return func(t time.Time, k int) qt.Answer {
				if !used {
					origin, used = t, true
				}
				now := int64(t.Sub(origin) / part)
				for ; last < now; last++ {
					if now-last > parts {
						last = now - parts
					}
					counts[(last+1)%parts] = 0
				}
				sum := 0
				for _, n := range counts {
					sum += n
				}
				if k > cfg.Limit-sum {
					return qt.Answer{}
				}
				counts[now%parts] += k
				return qt.Answer{OK: true}
			}
		})
}

// remote is a limiter behind a network. Where the limiter cannot be reached, requests are granted; one that is lost on
// the way back has been counted. Mutant names a mistake, if there is one.
func remote(kind qt.Kind, source qt.TimeSource, mutant string) qt.Spec {
	spec := limiterSpec("", kind, source)
	local := spec.New
	spec.Name = "a remote " + kind.String()
	spec.Traits.Latency, spec.Traits.Fields, spec.Traits.RetryNever = zoo.RoundTrip, 0, 0
	spec.Traits.Errors = qt.FailOpen
	spec.New = func(env qt.Env, cfg qt.Config) qt.Funcs {
		l, w := local(env, cfg), &zoo.Network{Clock: env.Clock}
		return qt.Funcs{
			Take: func(k int) qt.Answer {
				ok := false
				if err := w.Ask(func() { ok = l.Take(k).OK }); err != nil {
					return qt.Answer{OK: mutant != "fails closed where it should fail open", Err: err}
				}
				if !ok && mutant == "asks again when it is denied" {
					env.Clock.Sleep(zoo.RoundTrip)
				}
				return qt.Answer{OK: ok}
			},
			Fail: w.Fail,
		}
	}
	return spec
}
