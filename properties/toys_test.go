package properties

import (
	"math/big"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/escapement-go/escapement/conformance/debouncertest"
	"github.com/escapement-go/escapement/conformance/limitertest"
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

func toySpec(mutant string) debouncertest.Spec {
	return debouncertest.Spec{
		Name: "toy",
		Time: debouncertest.Injected,
		New: func(env debouncertest.Env, cfg debouncertest.Config, fire func(int)) debouncertest.Funcs {
			if cfg.Wait <= 0 {
				panic("toy: it needs a wait")
			}
			d := &toy{clock: env.Clock, wait: cfg.Wait, fire: fire, mutant: mutant}
			return debouncertest.Funcs{Call: d.call, Pending: d.isPending, Stop: d.stop}
		},
		Traits: debouncertest.Traits{
			Edges:     []debouncertest.Edges{debouncertest.Trailing},
			Payload:   debouncertest.LastPayload,
			Tie:       debouncertest.EitherTie,
			StaleFire: debouncertest.StaleAllowed,
			ZeroWait:  debouncertest.ZeroRefused,
			Overlap:   debouncertest.Parallel,
		},
	}
}

// bucketSpec is an exact token bucket.
func bucketSpec(mutant string) limitertest.Spec {
	return limitertest.Spec{
		Name: "bucket",
		Time: limitertest.Explicit,
		New: func(env limitertest.Env, cfg limitertest.Config) limitertest.Funcs {
			// In units of which a token is as many as the rate's Per has nanoseconds, and each
			// nanosecond brings as many as there are events.
			token, flow := big.NewInt(int64(cfg.Rate.Per)), big.NewInt(int64(cfg.Rate.Events))
			times := func(a *big.Int, n int64) *big.Int { return new(big.Int).Mul(a, big.NewInt(n)) }
			full := times(token, int64(cfg.Burst))
			level, last := full, env.Start
			return limitertest.Funcs{AllowAt: func(t time.Time, n int) bool {
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
		Traits: limitertest.LikeXTime,
	}
}

// nanosecondSpec is a bucket that counts in nanoseconds: a token is an interval, rounded to whole
// ones. It refuses intervals that rounding would change much.
func nanosecondSpec() limitertest.Spec {
	return limitertest.Spec{
		Name: "nanoseconds",
		Time: limitertest.Explicit,
		New: func(env limitertest.Env, cfg limitertest.Config) limitertest.Funcs {
			token := cfg.Rate.Interval()
			if token < time.Microsecond {
				panic("want an interval of a microsecond or more")
			}
			full := token * time.Duration(cfg.Burst)
			level, last := full, env.Start
			return limitertest.Funcs{AllowAt: func(t time.Time, n int) bool {
				level, last = min(full, level+t.Sub(last)), t
				cost := token * time.Duration(n)
				if cost > level {
					return false
				}
				level -= cost
				return true
			}}
		},
		Traits: limitertest.LikeXTime,
	}
}

// tickingSpec is a bucket to which a token comes at whole multiples of the interval
// since it was made. That goes on while nobody asks, so it is never quite as if new.
func tickingSpec() limitertest.Spec {
	return limitertest.Spec{
		Name: "ticking",
		Time: limitertest.Explicit,
		New: func(env limitertest.Env, cfg limitertest.Config) limitertest.Funcs {
			if !cfg.Rate.Exact() || cfg.Burst < 0 {
				panic("want a whole interval and no negative burst")
			}
			every, tokens, last := cfg.Rate.Interval(), cfg.Burst, env.Start
			return limitertest.Funcs{AllowAt: func(t time.Time, n int) bool {
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
		Traits: limitertest.Traits{
			Initial:    limitertest.InitialFull,
			Oversize:   limitertest.OversizeRejected,
			ZeroRate:   limitertest.ZeroRateRefused,
			Inf:        limitertest.InfAbsent,
			BackTime:   limitertest.BackClamp,
			RefillSize: 1,
		},
	}
}
