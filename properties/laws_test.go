package properties

import (
	"math/big"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/internal/bundled"
	"github.com/escapement-go/escapement/synctestcompat"
)

// toy is a trailing debouncer that is correct unless mutant names a mistake that only
// shows when two runs are compared, or shows there first.
type toy struct {
	clock  clockwork.Clock
	wait   time.Duration
	fire   func(int)
	mutant string

	mu             sync.Mutex
	timer          clockwork.Timer
	pending        bool
	stopped        bool
	value, gen     int
	inBurst, burst int
	last           time.Time
}

// What mutants share that must not be shared.
var shared struct {
	calls int
	last  time.Time
}

func (d *toy) call(v int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopped {
		return
	}
	now := d.clock.Now()
	switch d.mutant {
	case "counts the calls of all instances":
		if shared.calls++; shared.calls%7 == 0 {
			return
		}
	case "merges calls of all instances":
		same := shared.last.Equal(now)
		if shared.last = now; same {
			return
		}
	case "takes 0 and less for nothing":
		if v <= 0 {
			return
		}
	case "sleeps after an hour":
		asleep := !d.last.IsZero() && now.Sub(d.last) > time.Hour
		if d.last = now; asleep {
			return
		}
	}
	if !d.pending {
		d.inBurst = 0
	}
	d.inBurst++
	d.pending, d.value = true, v
	if d.mutant == "counts three calls of a burst" && d.inBurst > 3 {
		return
	}
	d.arm(now)
}

func (d *toy) arm(now time.Time) {
	wait := d.wait
	switch {
	case d.mutant == "waits no longer than a second":
		wait = min(wait, time.Second)
	case d.mutant == "rounds the deadline":
		wait = now.Add(wait).Truncate(time.Millisecond).Sub(now)
	case d.mutant == "later bursts wait longer" && d.burst > 0:
		wait++
	}
	d.gen++
	gen := d.gen
	if d.timer != nil {
		d.timer.Stop()
	}
	d.timer = d.clock.AfterFunc(wait, func() {
		d.mu.Lock()
		if gen != d.gen || !d.pending {
			d.mu.Unlock()
			return
		}
		v := d.value
		d.pending = false
		d.burst++
		d.mu.Unlock()
		d.fire(v)
	})
}

func (d *toy) isPending() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.mutant == "a question puts it off" && d.pending {
		d.arm(d.clock.Now())
	}
	return d.pending
}

func (d *toy) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pending, d.stopped = false, true
	if d.timer != nil {
		d.timer.Stop()
	}
}

func toySpec(mutant string) conformance.DebouncerSpec {
	return conformance.DebouncerSpec{
		Name: "toy",
		Time: conformance.Injected,
		New: func(env conformance.Env, cfg conformance.DebounceConfig, fire func(int)) conformance.DebouncerFuncs {
			if cfg.Wait <= 0 {
				panic("toy: it needs a wait")
			}
			d := &toy{clock: env.Clock, wait: cfg.Wait, fire: fire, mutant: mutant}
			return conformance.DebouncerFuncs{Call: d.call, Pending: d.isPending, Stop: d.stop}
		},
		Traits: conformance.DebounceTraits{
			Edges:   []conformance.Edges{conformance.Trailing},
			Payload: conformance.LastPayload,
			Tie:     conformance.EitherTie, StaleFire: conformance.StaleAllowed, ZeroWait: conformance.ZeroRefused, Overlap: conformance.Parallel,
		},
	}
}

// bucketSpec is an exact token bucket.
func bucketSpec(mutant string) conformance.LimiterSpec {
	return conformance.LimiterSpec{
		Name: "bucket",
		Time: conformance.Explicit,
		New: func(env conformance.Env, cfg conformance.LimiterConfig) conformance.LimiterFuncs {
			// In units of which a token is as many as the rate's Per has nanoseconds, and each
			// nanosecond brings as many as there are events.
			token, flow := big.NewInt(int64(cfg.Rate.Per)), big.NewInt(int64(cfg.Rate.Events))
			times := func(a *big.Int, n int64) *big.Int { return new(big.Int).Mul(a, big.NewInt(n)) }
			full := times(token, int64(cfg.Burst))
			level, last := full, env.Start
			return conformance.LimiterFuncs{AllowAt: func(t time.Time, n int) bool {
				if d := t.Sub(last); d > 0 {
					level, last = new(big.Int).Add(level, times(flow, int64(d))), t
				}
				if level.Cmp(full) > 0 {
					level = full
				}
				cost := times(token, int64(n))
				if mutant == "a discount for many" && n > 1 {
					cost.Sub(cost, token)
				}
				if n < 0 || n > cfg.Burst || cost.Cmp(level) > 0 {
					return false
				}
				level = new(big.Int).Sub(level, cost)
				return true
			}}
		},
		Traits: conformance.LikeXTime,
	}
}

// tickingSpec is a bucket to which a token comes at whole multiples of the interval
// since it was made. That goes on while nobody asks, so it is never quite as if new.
func tickingSpec() conformance.LimiterSpec {
	return conformance.LimiterSpec{
		Name: "ticking",
		Time: conformance.Explicit,
		New: func(env conformance.Env, cfg conformance.LimiterConfig) conformance.LimiterFuncs {
			if !cfg.Rate.Exact() || cfg.Burst < 0 {
				panic("want a whole interval and no negative burst")
			}
			every, tokens, last := cfg.Rate.Interval(), cfg.Burst, env.Start
			return conformance.LimiterFuncs{AllowAt: func(t time.Time, n int) bool {
				if ticks := t.Sub(last) / every; ticks > 0 {
					tokens += int(min(ticks, time.Duration(cfg.Burst-tokens)))
					last = last.Add(ticks * every)
				}
				if n < 0 || n > tokens {
					return false
				}
				tokens -= n
				return true
			}}
		},
		Traits: conformance.LimiterTraits{
			Initial: conformance.InitialFull, Oversize: conformance.OversizeRejected, ZeroRate: conformance.ZeroRateRefused, Inf: conformance.InfAbsent,
			BackTime: conformance.BackClamp, Quantum: 1,
		},
	}
}

// firstBroken is the first of some pairs, always the same, that breaks a law.
func firstBroken(law Law, w *twin) (p pair, why string) {
	for seed := range 100 {
		p = w.pairs.Example(seed)
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
	for _, law := range Laws() {
		t.Run(law.ID, func(t *testing.T) {
			make := func(mutant string) *twin { return debouncerTwin(t, toySpec(mutant)) }
			if law.ID == "RL-SPLIT" {
				make = func(mutant string) *twin { return limiterTwin(t, bucketSpec(mutant)) }
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

// The laws see mistakes in queues, windows and semaphores too.
func TestLaws_otherContracts(t *testing.T) {
	for _, m := range []struct {
		law, mutant string
		make        func(t *testing.T, mutant bool) *twin
	}{
		{"X-QUERY", "a look takes one", func(t *testing.T, mutant bool) *twin {
			spec := bundled.Quota(conformance.SlidingLog, conformance.Explicit)
			create := spec.New
			spec.New = func(env conformance.Env, cfg conformance.QuotaConfig) conformance.QuotaFuncs {
				f := create(env, cfg)
				if mutant {
					f.PeekAt = func(t time.Time) conformance.Answer { return f.TakeAt(t, 1) }
				}
				return f
			}
			return quotaTwin(t, spec)
		}},
		{"RL-SPLIT", "a discount for many", func(t *testing.T, mutant bool) *twin {
			spec := bundled.Quota(conformance.GCRA, conformance.Explicit)
			create := spec.New
			spec.New = func(env conformance.Env, cfg conformance.QuotaConfig) conformance.QuotaFuncs {
				f := create(env, cfg)
				take := f.TakeAt
				f.TakeAt = func(t time.Time, n int) conformance.Answer {
					if mutant && n > 1 {
						n--
					}
					return take(t, n)
				}
				return f
			}
			return quotaTwin(t, spec)
		}},
		{"X-RENAME", "takes 0 and less for nothing", func(t *testing.T, mutant bool) *twin {
			spec := bundled.LeakyBucket(conformance.Injected)
			create := spec.New
			spec.New = func(env conformance.Env, cfg conformance.LeakyBucketConfig, leave func(int)) conformance.LeakyBucketFuncs {
				f := create(env, cfg, leave)
				put := f.Put
				f.Put = func(v int) bool { return mutant && v <= 0 || put(v) }
				return f
			}
			return leakyTwin(t, spec)
		}},
		{"X-EVICT", "refuses the first after a minute", func(t *testing.T, mutant bool) *twin {
			spec := bundled.LeakyBucket(conformance.Injected)
			create := spec.New
			spec.New = func(env conformance.Env, cfg conformance.LeakyBucketConfig, leave func(int)) conformance.LeakyBucketFuncs {
				f := create(env, cfg, leave)
				put, last := f.Put, env.Clock.Now()
				f.Put = func(v int) bool {
					idle := env.Clock.Since(last)
					last = env.Clock.Now()
					return (!mutant || idle < time.Minute) && put(v)
				}
				return f
			}
			return leakyTwin(t, spec)
		}},
		{"X-SCALE", "waits no longer than a second", func(t *testing.T, mutant bool) *twin {
			spec := bundled.Concurrency(conformance.Injected)
			create := spec.New
			spec.New = func(env conformance.Env, cfg conformance.ConcurrencyConfig) conformance.ConcurrencyFuncs {
				if mutant {
					cfg.Timeout = min(cfg.Timeout, time.Second)
				}
				return create(env, cfg)
			}
			return concurrencyTwin(t, spec)
		}},
		{"X-ISO", "one semaphore for all", func(t *testing.T, mutant bool) *twin {
			spec := bundled.Concurrency(conformance.Injected)
			create := spec.New
			var first conformance.ConcurrencyFuncs
			var made clockwork.Clock // the clock of first
			spec.New = func(env conformance.Env, cfg conformance.ConcurrencyConfig) conformance.ConcurrencyFuncs {
				if !mutant || env.Clock != made {
					first, made = create(env, cfg), env.Clock
				}
				return first
			}
			return concurrencyTwin(t, spec)
		}},
	} {
		t.Run(m.law+" "+m.mutant, func(t *testing.T) {
			synctestcompat.Require(t)
			w := m.make(t, false)
			law := w.laws[slices.IndexFunc(w.laws, func(l Law) bool { return l.ID == m.law })]
			if p, why := firstBroken(law, w); why != "" {
				t.Errorf("the unmutated one breaks it on %#v: %s", p, why)
			}
			p, why := firstBroken(law, m.make(t, true))
			if why == "" {
				t.Error("it is not caught")
			}
			t.Logf("on %#v:\n%s", p, why)
		})
	}
}

// The toys that the mutants are made of are right, and other laws hold for them.
func TestLaws_toysAreRight(t *testing.T) {
	t.Run("Debouncer", func(t *testing.T) { CheckDebouncer(t, toySpec("")) })
	t.Run("Limiter", func(t *testing.T) { CheckLimiter(t, bucketSpec("")) })
	t.Run("LimiterLaws", func(t *testing.T) { LawsLimiter(t, bucketSpec("")) })
	t.Run("TickingLimiter", func(t *testing.T) { CheckLimiter(t, tickingSpec()) })
	t.Run("TickingLimiterLaws", func(t *testing.T) { LawsLimiter(t, tickingSpec()) })
}
