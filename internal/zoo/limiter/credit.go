package limiter

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	lt "github.com/escapement-go/escapement/conformance/limitertest"
	"github.com/escapement-go/escapement/internal/zoo"
)

// creditMutants are the mistakes of the bucket that gives credit.
func creditMutants() []zoo.Mutant {
	all := kind(creditSpec).mutants("the next request pays: ", lt.Explicit,
		mistake{name: "what is owed is forgiven", rule: "RL-ENV"},
		mistake{name: "a request pays for itself", rule: "RL-WORK"},
		mistake{name: "a wait is for its own tokens", rule: "W-EXACT", source: lt.Injected},
		mistake{name: "a reservation is for its own tokens", rule: "RS-DELAY"},
		mistake{name: "a debt of more than 73 years is forgiven", rule: "RS-DELAY"},
		mistake{name: grantsDebts, rule: "RL-ENV"})
	for i := range all {
		all[i].Steps = 4
	}
	return all
}

// refusesDebts is no mistake: what takes centuries to pay is refused. It is one to grant that for nothing.
const (
	refusesDebts = "refuses what takes centuries to pay"
	grantsDebts  = "what takes centuries to pay is free"
)

// credit is a bucket that gives credit to one request at a time: as soon as nothing is owed, it
// grants any number of tokens. It keeps the instant at which it holds none.
type credit struct {
	every  time.Duration
	burst  int
	mutant string

	mu    sync.Mutex
	begun bool
	start time.Time
	now   time.Duration // since start; the newest instant
	empty time.Duration // since start; later than now while something is owed
}

func newCredit(cfg lt.Config, mutant string) *credit {
	every := cfg.Rate.Interval()
	coarse := !cfg.Rate.Exact() && every < time.Microsecond
	if every < 1 || coarse || cfg.Burst < 1 || int64(cfg.Burst) > math.MaxInt64/4/int64(every) {
		panic("no such limiter")
	}
	return &credit{every: every, burst: cfg.Burst, mutant: mutant}
}

// look brings the bucket to an instant.
func (l *credit) look(t time.Time) {
	if !l.begun {
		l.begun, l.start, l.empty = true, t, math.MinInt64/2
	}
	l.now = max(l.now, t.Sub(l.start))
	l.empty = max(l.empty, l.now-l.worth(l.burst))
}

// worth is the time in which n tokens come.
func (l *credit) worth(n int) time.Duration {
	most := int64(math.MaxInt64 / 2)
	if l.mutant == "a debt of more than 73 years is forgiven" {
		most /= 2
	}
	if int64(n) > most/int64(l.every) {
		return time.Duration(most)
	}
	return time.Duration(n) * l.every
}

// take takes n tokens if they can be used within patience, and returns after what time.
func (l *credit) take(t time.Time, n int, patience time.Duration, own bool) (delay time.Duration, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.look(t)
	if n < 0 {
		return 0, false
	}
	refuses := l.mutant == refusesDebts || l.mutant == grantsDebts
	if refuses && l.worth(n) > 100*366*24*time.Hour {
		return 0, l.mutant == grantsDebts
	}
	delay = max(0, l.empty-l.now)
	if own { // a mistake
		delay = max(0, l.empty+l.worth(n)-l.now)
	}
	if delay > patience {
		return 0, false
	}
	if l.empty = min(l.empty+l.worth(n), math.MaxInt64/2); l.mutant == "what is owed is forgiven" {
		l.empty = min(l.empty, l.now)
	}
	return delay, true
}

func (l *credit) allow(t time.Time, n int) bool {
	_, ok := l.take(t, n, 0, l.mutant == "a request pays for itself")
	return ok
}

func (l *credit) reserve(t time.Time, n int) lt.Reservation {
	delay, ok := l.take(t, n, math.MaxInt64, l.mutant == "a reservation is for its own tokens")
	return lt.Reservation{OK: func() bool { return ok }, Delay: func() time.Duration { return delay }}
}

func (l *credit) tokens(t time.Time) float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.look(t)
	if l.mutant == "Tokens shows the burst" {
		return float64(l.burst)
	}
	return float64(l.now-l.empty) / float64(l.every)
}

func (l *credit) wait(ctx context.Context, clock clockwork.Clock, n int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if n < 0 {
		return errTooMany
	}
	now := clock.Now()
	delay, ok := l.take(now, n, patience(ctx, now), l.mutant == "a wait is for its own tokens")
	switch {
	case !ok:
		return context.DeadlineExceeded
	case delay > 0 && !zoo.Sleep(clock, delay, ctx.Done()):
		return ctx.Err()
	}
	return nil
}

// creditSpec describes it.
func creditSpec(mutant string, source lt.TimeSource) lt.Spec {
	return lt.Spec{
		Name: "zoo: the next request pays: " + mutant,
		Time: source,
		New: func(env lt.Env, cfg lt.Config) lt.Funcs {
			l := newCredit(cfg, mutant)
			f := onClock(env.Clock, lt.Funcs{AllowAt: l.allow, TokensAt: l.tokens, ReserveAt: l.reserve})
			f.WaitN = func(ctx context.Context, n int) error { return l.wait(ctx, env.Clock, n) }
			return f
		},
		Traits: lt.Traits{
			Overdraft: true, Initial: lt.InitialFull, ZeroRate: lt.ZeroRateRefused, Inf: lt.InfAbsent,
			BackTime: lt.BackClamp, Fair: lt.FairFIFO, DeadlineCheck: lt.DeadlineFailFast, Refund: lt.RefundNone,
			OnChange: lt.OnChangeKeeps, WaitErrors: lt.WaitErrorsDeadline,
		},
	}
}
