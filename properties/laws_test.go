package properties

import (
	"slices"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/concurrencytest"
	"github.com/escapement-go/escapement/conformance/leakybuckettest"
	"github.com/escapement-go/escapement/conformance/quotatest"
	"github.com/escapement-go/escapement/internal/zoo"
	"github.com/escapement-go/escapement/internal/zoo/debouncer"
	"github.com/escapement-go/escapement/limiters"
	"github.com/escapement-go/escapement/synctestcompat"
)

// firstBroken is the first of some pairs, always the same, that breaks a law.
func firstBroken(law Law, w *twin) (p pair, why string) {
	pairs := w.pairs()
	for seed := range 100 {
		p = pairs.Example(seed)
		if why = law.broken(w, p); why != "" {
			return p, why
		}
	}
	return p, ""
}

// Each law catches the mutant made for it, and none the unmutated ones.
func TestLaws_catchMutants(t *testing.T) {
	mutants := map[string]string{
		"X-REPLAY":  "counts the calls of all instances",
		"X-SHIFT":   "rounds the deadline",
		"X-SCALE":   "waits no longer than a second",
		"X-RENAME":  "takes 0 and less for nothing",
		"X-QUERY":   "a question puts it off",
		"X-ISO":     "merges calls of all instances",
		"X-EVICT":   "sleeps after an hour",
		"DB-INSERT": "counts three calls of a burst",
		"DB-CONCAT": "later bursts wait longer",
		"RL-SPLIT":  "a discount for many",
	}
	for _, law := range AllLaws() {
		t.Run(law.ID, func(t *testing.T) {
			make := func(mutant string) *twin { return newTwin(toySpec(mutant).Judge(t)) }
			if law.ID == "RL-SPLIT" {
				make = func(mutant string) *twin { return newTwin(bucketSpec(mutant).Judge(t)) }
			}
			if p, why := firstBroken(law, make("")); why != "" {
				t.Errorf("the unmutated one breaks it on %#v: %s", p, why)
			}
			p, why := firstBroken(law, make(mutants[law.ID]))
			if why == "" {
				t.Errorf("%q is not caught", mutants[law.ID])
			}
			t.Logf("%q on %#v:\n%s", mutants[law.ID], p, why)
		})
	}
}

// The laws see mistakes in queues, windows, semaphores and payloads too.
func TestLaws_otherContracts(t *testing.T) {
	for _, m := range []struct {
		law, mutant string
		make        func(mutant bool) conformance.Spec
	}{
		{"X-QUERY", "a look takes one", func(mutant bool) conformance.Spec {
			return logSpec(func(f *quotatest.Funcs) {
				if mutant {
					f.PeekAt = func(t time.Time) quotatest.Answer { return f.TakeAt(t, 1) }
				}
			})
		}},
		{"RL-SPLIT", "a discount for many", func(mutant bool) conformance.Spec {
			return logSpec(func(f *quotatest.Funcs) {
				take := f.TakeAt
				f.TakeAt = func(t time.Time, n int) quotatest.Answer {
					if mutant && n > 1 {
						n--
					}
					return take(t, n)
				}
			})
		}},
		{"X-RENAME", "takes 0 and less for nothing", func(mutant bool) conformance.Spec {
			return queueSpec(func(_ leakybuckettest.Env, put func(int) bool) func(int) bool {
				return func(v int) bool { return mutant && v <= 0 || put(v) }
			})
		}},
		{"X-EVICT", "refuses the first after a minute", func(mutant bool) conformance.Spec {
			return queueSpec(func(env leakybuckettest.Env, put func(int) bool) func(int) bool {
				last := env.Clock.Now()
				return func(v int) bool {
					idle := env.Clock.Since(last)
					last = env.Clock.Now()
					return (!mutant || idle < time.Minute) && put(v)
				}
			})
		}},
		{"X-SCALE", "waits no longer than a second", func(mutant bool) conformance.Spec {
			return semaphoreSpec(func(env concurrencytest.Env, cfg concurrencytest.Config) concurrencytest.Funcs {
				if mutant {
					cfg.Timeout = min(cfg.Timeout, time.Second)
				}
				return newSemaphore(env, cfg)
			})
		}},
		{"X-ISO", "one semaphore for all", func(mutant bool) conformance.Spec {
			var first concurrencytest.Funcs
			var made clockwork.Clock // the clock of first
			return semaphoreSpec(func(env concurrencytest.Env, cfg concurrencytest.Config) concurrencytest.Funcs {
				if !mutant || env.Clock != made {
					first, made = newSemaphore(env, cfg), env.Clock
				}
				return first
			})
		}},
		{"X-ISO", "debouncers share a payload", func(mutant bool) conformance.Spec {
			if !mutant {
				return debouncer.Choosing(debouncer.Plain())
			}
			all := debouncer.Mutants()
			return all[slices.IndexFunc(all, func(m zoo.Mutant) bool { return m.Name == "instances share a payload" })].Spec
		}},
	} {
		t.Run(m.law+" "+m.mutant, func(t *testing.T) {
			synctestcompat.Require(t)
			w := newTwin(m.make(false).Judge(t))
			if !slices.Contains(w.Laws, m.law) {
				t.Fatalf("the laws are %v, want %s among them", w.Laws, m.law)
			}
			law := AllLaws()[slices.IndexFunc(AllLaws(), func(l Law) bool { return l.ID == m.law })]
			if p, why := firstBroken(law, w); why != "" {
				t.Errorf("the unmutated one breaks it on %#v: %s", p, why)
			}
			p, why := firstBroken(law, newTwin(m.make(true).Judge(t)))
			if why == "" {
				t.Error("it is not caught")
			}
			t.Logf("on %#v:\n%s", p, why)
		})
	}
}

// logSpec describes limiters.SlidingLog with some of its operations replaced.
func logSpec(change func(f *quotatest.Funcs)) quotatest.Spec {
	return quotatest.Spec{
		Name: "a sliding log",
		Time: quotatest.Explicit,
		Kind: quotatest.SlidingLog,
		New: func(_ quotatest.Env, cfg quotatest.Config) quotatest.Funcs {
			l := limiters.NewSlidingLog(cfg.Limit, cfg.Window)
			f := quotatest.Funcs{
				TakeAt: func(t time.Time, n int) quotatest.Answer {
					return quotatest.Answer{OK: l.AllowN(t, n), Remaining: l.RemainingAt(t)}
				},
				PeekAt: func(t time.Time) quotatest.Answer { return quotatest.Answer{Remaining: l.RemainingAt(t)} },
			}
			change(&f)
			return f
		},
		Traits: quotatest.Traits{
			Edge: quotatest.EdgeHalfOpen, CountDenied: quotatest.DeniedFree, BackTime: quotatest.BackClamp,
			Fields: quotatest.FieldRemaining,
		},
	}
}

// queueSpec describes limiters.LeakyBucket with another Put.
func queueSpec(change func(env leakybuckettest.Env, put func(int) bool) func(int) bool) leakybuckettest.Spec {
	return leakybuckettest.Spec{
		Name: "a leaky bucket",
		Time: leakybuckettest.Injected,
		New: func(env leakybuckettest.Env, cfg leakybuckettest.Config, leave func(int)) leakybuckettest.Funcs {
			b := limiters.NewLeakyBucket(cfg.Interval, cfg.Backlog, leave, limiters.WithClock(env.Clock))
			put := func(v int) bool { _, err := b.Put(v); return err == nil }
			return leakybuckettest.Funcs{Put: change(env, put), Stop: b.Stop}
		},
		Traits: leakybuckettest.Traits{FirstItem: leakybuckettest.FirstAtOnce},
	}
}

// semaphoreSpec describes limiters.Concurrency, made by another constructor.
func semaphoreSpec(make func(concurrencytest.Env, concurrencytest.Config) concurrencytest.Funcs) conformance.Spec {
	return concurrencytest.Spec{
		Name: "a semaphore",
		Time: concurrencytest.Injected,
		New:  make,
		Traits: concurrencytest.Traits{
			Backlog:     concurrencytest.BacklogBounded,
			Timeout:     concurrencytest.TimeoutBounded,
			Context:     concurrencytest.ContextHonoured,
			SeatHeld:    concurrencytest.SeatFreed,
			Fair:        concurrencytest.FairFIFO,
			Oversize:    concurrencytest.OversizeFails,
			OverRelease: concurrencytest.OverReleasePanics,
			Hook:        concurrencytest.HookNone,
		},
	}
}

func newSemaphore(env concurrencytest.Env, cfg concurrencytest.Config) concurrencytest.Funcs {
	c := limiters.NewConcurrency(cfg.Limit, limiters.Backlog(cfg.Backlog), limiters.Timeout(cfg.Timeout),
		limiters.WithClock(env.Clock))
	return concurrencytest.Funcs{Acquire: c.Acquire, TryAcquire: c.TryAcquire, Release: c.Release}
}

// The toys that the mutants are made of are right, and other laws hold for them.
func TestLaws_toysAreRight(t *testing.T) {
	t.Run("Debouncer", func(t *testing.T) { Check(t, toySpec("")) })
	t.Run("Limiter", func(t *testing.T) { Check(t, bucketSpec("")) })
	t.Run("LimiterLaws", func(t *testing.T) { Laws(t, bucketSpec("")) })
	t.Run("TickingLimiter", func(t *testing.T) { Check(t, tickingSpec()) })
	t.Run("TickingLimiterLaws", func(t *testing.T) { Laws(t, tickingSpec()) })
}
