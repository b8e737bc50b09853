package limiter

import (
	"context"
	"math"
	"math/big"
	"slices"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	lt "github.com/escapement-go/escapement/conformance/limitertest"
	"github.com/escapement-go/escapement/internal/zoo"
)

// instantBucket is a token bucket as one instant in whole nanoseconds: the one at which
// it would be full if nothing more were asked for.
type instantBucket struct {
	mu     sync.Mutex
	period time.Duration
	burst  int
	full   time.Time
	newest time.Time
	held   []*instantClaim
}

type instantClaim struct {
	n    int
	act  time.Time
	gone bool
	room time.Duration // the least that was missing in the bucket since
}

func newInstant(cfg lt.Config) *instantBucket {
	if cfg.Burst < 1 || !cfg.Rate.Exact() || cfg.Rate.Interval() > math.MaxInt64/4/time.Duration(cfg.Burst) {
		panic("instantBucket: want a burst of at least 1 and a rate with a whole period")
	}
	return &instantBucket{period: cfg.Rate.Interval(), burst: cfg.Burst}
}

// at is t, or the newest instant if that is later.
func (l *instantBucket) at(t time.Time) time.Time {
	if t.Before(l.newest) {
		return l.newest
	}
	l.newest = t
	for _, c := range l.held {
		c.room = max(0, min(c.room, l.full.Sub(t)))
	}
	return t
}

func (l *instantBucket) take(t time.Time, n int, by time.Duration) (*instantClaim, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t = l.at(t)
	if n < 0 || n > l.burst {
		return nil, false
	}
	full := l.full
	if full.Before(t) {
		full = t
	}
	full = full.Add(time.Duration(n) * l.period)
	act := full.Add(-time.Duration(l.burst) * l.period)
	if act.Before(t) {
		act = t
	}
	if n > 0 && act.Sub(t) > by {
		return nil, false
	}
	l.full = full
	c := &instantClaim{n: n, act: act, room: math.MaxInt64}
	l.held = append(l.held, c)
	return c, true
}

func (l *instantBucket) reserve(t time.Time, n int) lt.Reservation {
	c, ok := l.take(t, n, math.MaxInt64)
	if !ok {
		return refused
	}
	return lt.Reservation{
		DelayFrom: func(t time.Time) time.Duration { return max(0, c.act.Sub(t)) },
		CancelAt:  func(t time.Time) { l.cancel(c, t) },
	}
}

func (l *instantBucket) cancel(c *instantClaim, t time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t = l.at(t)
	if c.gone || t.After(c.act) {
		return
	}
	c.gone = true
	n, i := c.n, slices.Index(l.held, c)
	for _, o := range l.held[i+1:] {
		if !o.gone {
			n -= o.n
		}
	}
	back := min(c.room, time.Duration(max(0, n))*l.period)
	l.full = l.full.Add(-back)
	c.room -= back
	for _, o := range l.held[:i] { // what two have lost together is given back once
		o.room = min(o.room, c.room)
	}
	for _, o := range l.held[i+1:] {
		o.room -= back
	}
}

func (l *instantBucket) waitN(clock clockwork.Clock, ctx context.Context, n int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	now := clock.Now()
	c, ok := l.take(now, n, patience(ctx, now))
	switch {
	case !ok:
		return errTooLate
	case c.act.After(now) && !zoo.Sleep(clock, c.act.Sub(now), ctx.Done()):
		l.cancel(c, clock.Now())
		return ctx.Err()
	}
	return nil
}

func (l *instantBucket) setLimit(t time.Time, r lt.Rate) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t = l.at(t)
	if missing := l.full.Sub(t); missing > 0 {
		owed := new(big.Int).Mul(big.NewInt(int64(missing)), big.NewInt(int64(r.Interval())))
		l.full = t.Add(time.Duration(owed.Quo(owed, big.NewInt(int64(l.period))).Int64()))
	}
	for _, c := range l.held {
		c.room = time.Duration(float64(c.room) / float64(l.period) * float64(r.Interval()))
	}
	l.period = r.Interval()
}

func (l *instantBucket) setBurst(t time.Time, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t = l.at(t); l.full.Before(t) {
		l.full = t // what is missing of the larger bucket is what was missing of the smaller
	}
	l.burst = n
}

func instantSpec(source lt.TimeSource) lt.Spec {
	return lt.Spec{
		Name: "zoo: bucket as an instant",
		Time: source,
		New: func(env lt.Env, cfg lt.Config) lt.Funcs {
			l := newInstant(cfg)
			f := onClock(env.Clock, lt.Funcs{
				AllowAt:   func(t time.Time, n int) bool { _, ok := l.take(t, n, 0); return ok },
				ReserveAt: l.reserve, SetLimitAt: l.setLimit, SetBurstAt: l.setBurst,
			})
			f.WaitN = func(ctx context.Context, n int) error { return l.waitN(env.Clock, ctx, n) }
			return f
		},
		Traits: lt.Traits{
			Initial: lt.InitialFull, Oversize: lt.OversizeRejected, BackTime: lt.BackClamp,
			ZeroRate: lt.ZeroRateRefused, Inf: lt.InfAbsent, Fair: lt.FairFIFO,
			DeadlineCheck: lt.DeadlineFailFast, Refund: lt.RefundConservative, LateCancel: lt.LateIgnored,
			OnChange: lt.OnChangeKeeps, OnBurstRaised: lt.RaiseBringsTokens,
		},
	}
}
