package conformance

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"
)

var errTooMany = errors.New("more than the burst")

// fifoBucket keeps those who wait in a list that a timer serves, in whole units: a
// token is as many as the Per of its rate has nanoseconds. Nothing is taken before it
// is there, so who gives up leaves everything. Correct unless mutant says otherwise.
type fifoBucket struct {
	clock  clockwork.Clock
	mutant string

	mu     sync.Mutex
	rate   Rate
	burst  int
	level  int64
	last   time.Time
	queue  []*fifoWaiter
	wakeup clockwork.Timer
}

type fifoWaiter struct {
	n      int
	served chan struct{}
}

func newFIFOBucket(clock clockwork.Clock, cfg LimiterConfig, mutant string) *fifoBucket {
	if cfg.Burst < 1 || cfg.Rate.Events < 1 || int64(cfg.Rate.Per) > math.MaxInt64/4/int64(cfg.Burst) {
		panic("fifoBucket: want a rate and a burst of at least 1")
	}
	l := &fifoBucket{clock: clock, mutant: mutant, rate: cfg.Rate, burst: cfg.Burst, last: clock.Now()}
	l.level = l.units(cfg.Burst)
	return l
}

func (l *fifoBucket) units(n int) int64 { return int64(n) * int64(l.rate.Per) }

func (l *fifoBucket) fill() {
	now := l.clock.Now()
	elapsed := int64(now.Sub(l.last))
	if elapsed < 0 {
		return
	}
	l.last = now
	room := l.units(l.burst) - l.level
	if elapsed > room/int64(l.rate.Events) {
		l.level += max(0, room)
	} else {
		l.level += elapsed * int64(l.rate.Events)
	}
}

// serve gives to those who wait what is there, and sets the timer for the next.
func (l *fifoBucket) serve() {
	l.fill()
	for len(l.queue) > 0 && l.level >= l.units(l.queue[0].n) {
		l.level -= l.units(l.queue[0].n)
		close(l.queue[0].served)
		l.queue = l.queue[1:]
	}
	if l.wakeup != nil {
		l.wakeup.Stop()
	}
	if len(l.queue) > 0 {
		e := int64(l.rate.Events)
		l.wakeup = l.clock.AfterFunc(time.Duration((l.units(l.queue[0].n)-l.level+e-1)/e), func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.serve()
		})
	}
}

func (l *fifoBucket) allow(n int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fill()
	waits := len(l.queue) > 0 && l.mutant != "a request overtakes those who wait"
	if n < 0 || n > l.burst || n > 0 && waits || l.level < l.units(n) {
		return false
	}
	l.level -= l.units(n)
	return true
}

func (l *fifoBucket) waitN(ctx context.Context, n int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w := &fifoWaiter{n, make(chan struct{})}
	l.mu.Lock()
	if n < 0 || n > l.burst {
		l.mu.Unlock()
		return errTooMany
	}
	if l.mutant == "who comes last is served first" {
		l.queue = slices.Insert(l.queue, 0, w)
	} else {
		l.queue = append(l.queue, w)
	}
	l.serve()
	l.mu.Unlock()
	select {
	case <-w.served:
		return nil
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.queue, w)
	if i < 0 {
		return nil // served meanwhile
	}
	l.queue = slices.Delete(l.queue, i, i+1)
	if l.mutant == "who gives up leaves the next asleep" {
		l.wakeup.Stop()
	} else {
		l.serve()
	}
	return ctx.Err()
}

func (l *fifoBucket) setLimit(r Rate) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fill()
	if r.Per != l.rate.Per {
		l.level = int64(float64(l.level) / float64(l.rate.Per) * float64(r.Per))
	}
	l.rate = r
	if l.mutant != "a new limit leaves the timer" {
		l.serve()
	}
}

func (l *fifoBucket) setBurst(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fill()
	l.burst = n
	l.level = min(l.level, l.units(n))
	l.serve()
}

func fifoBucketSpec(mutant string, source TimeSource) LimiterSpec {
	return LimiterSpec{
		Name: "zoo: bucket with a queue: " + mutant,
		Time: source,
		New: func(env Env, cfg LimiterConfig) LimiterFuncs {
			l := newFIFOBucket(env.Clock, cfg, mutant)
			return LimiterFuncs{AllowN: l.allow, WaitN: l.waitN, SetLimit: l.setLimit, SetBurst: l.setBurst}
		},
		Traits: LimiterTraits{
			Initial: InitialFull, Oversize: OversizeRejected, BackTime: BackClamp, ZeroRate: ZeroRateRefused, Inf: InfAbsent, Fair: FairFIFO,
			DeadlineCheck: DeadlineSleeps, Refund: RefundFull, Rewake: RewakeServes, Raise: RaiseBringsNothing,
		},
	}
}

// fifoMutants are its mistakes, with the rule that must catch each and a family in
// which it shows.
var fifoMutants = []struct{ name, rule, family string }{
	{"who comes last is served first", "W-FIFO", "waits"},
	{"a request overtakes those who wait", "W-NOSTARVE", "starving"},
	{"who gives up leaves the next asleep", "W-NOLOST", "waits"},
	{"a new limit leaves the timer", "W-WAKE", "limits and waits"},
}

// tatBucket is a token bucket as one instant in whole nanoseconds: the one at which
// it would be full if nothing more were asked for.
type tatBucket struct {
	mu     sync.Mutex
	period time.Duration
	burst  int
	full   time.Time
	newest time.Time
	held   []*tatClaim
}

type tatClaim struct {
	n    int
	act  time.Time
	gone bool
}

func newTATBucket(cfg LimiterConfig) *tatBucket {
	if cfg.Burst < 1 || !cfg.Rate.Exact() || cfg.Rate.Interval() > math.MaxInt64/4/time.Duration(cfg.Burst) {
		panic("tatBucket: want a burst of at least 1 and a rate with a whole period")
	}
	return &tatBucket{period: cfg.Rate.Interval(), burst: cfg.Burst}
}

// at is t, or the newest instant if that is later.
func (l *tatBucket) at(t time.Time) time.Time {
	if t.Before(l.newest) {
		return l.newest
	}
	l.newest = t
	return t
}

func (l *tatBucket) take(t time.Time, n int, by time.Duration) (*tatClaim, bool) {
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
	c := &tatClaim{n: n, act: act}
	l.held = append(l.held, c)
	return c, true
}

func (l *tatBucket) cancel(c *tatClaim, t time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t = l.at(t)
	if c.gone || t.After(c.act) {
		return
	}
	c.gone = true
	back := c.n
	for _, o := range l.held[slices.Index(l.held, c)+1:] {
		if !o.gone {
			back -= o.n
		}
	}
	l.full = l.full.Add(-time.Duration(max(0, back)) * l.period)
}

func (l *tatBucket) waitN(clock clockwork.Clock, ctx context.Context, n int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	now, by := clock.Now(), time.Duration(math.MaxInt64)
	if deadline, ok := ctx.Deadline(); ok {
		by = deadline.Sub(now)
	}
	c, ok := l.take(now, n, by)
	if !ok {
		return errTooLate
	}
	if !c.act.After(now) {
		return nil
	}
	timer := clock.NewTimer(c.act.Sub(now))
	defer timer.Stop()
	select {
	case <-timer.Chan():
		return nil
	case <-ctx.Done():
		l.cancel(c, clock.Now())
		return ctx.Err()
	}
}

func (l *tatBucket) setLimit(t time.Time, r Rate) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t = l.at(t)
	if missing := l.full.Sub(t); missing > 0 {
		owed := new(big.Int).Mul(big.NewInt(int64(missing)), big.NewInt(int64(r.Interval())))
		l.full = t.Add(time.Duration(owed.Quo(owed, big.NewInt(int64(l.period))).Int64()))
	}
	l.period = r.Interval()
}

func (l *tatBucket) setBurst(t time.Time, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t = l.at(t); l.full.Before(t) {
		l.full = t // what is missing of the larger bucket is what was missing of the smaller
	}
	l.burst = n
}

func tatBucketSpec(source TimeSource) LimiterSpec {
	return LimiterSpec{
		Name: "zoo: bucket as an instant",
		Time: source,
		New: func(env Env, cfg LimiterConfig) LimiterFuncs {
			l := newTATBucket(cfg)
			allow := func(t time.Time, n int) bool { _, ok := l.take(t, n, 0); return ok }
			reserve := func(t time.Time, n int) Reservation {
				c, ok := l.take(t, n, math.MaxInt64)
				if !ok {
					return Reservation{OK: func() bool { return false }}
				}
				delay := func(t time.Time) time.Duration { return max(0, c.act.Sub(t)) }
				return Reservation{
					Delay: func() time.Duration { return delay(env.Clock.Now()) }, DelayFrom: delay,
					Cancel: func() { l.cancel(c, env.Clock.Now()) }, CancelAt: func(t time.Time) { l.cancel(c, t) },
				}
			}
			return LimiterFuncs{
				AllowN: func(n int) bool { return allow(env.Clock.Now(), n) }, AllowAt: allow,
				Reserve: func(n int) Reservation { return reserve(env.Clock.Now(), n) }, ReserveAt: reserve,
				WaitN:    func(ctx context.Context, n int) error { return l.waitN(env.Clock, ctx, n) },
				SetLimit: func(r Rate) { l.setLimit(env.Clock.Now(), r) }, SetLimitAt: l.setLimit,
				SetBurst: func(n int) { l.setBurst(env.Clock.Now(), n) }, SetBurstAt: l.setBurst,
			}
		},
		Traits: LimiterTraits{
			Initial: InitialFull, Oversize: OversizeRejected, BackTime: BackClamp, ZeroRate: ZeroRateRefused, Inf: InfAbsent, Fair: FairFIFO,
			DeadlineCheck: DeadlineFailFast, Refund: RefundConservative, LateCancel: LateIgnored, Rewake: RewakeKeeps, Raise: RaiseBringsTokens,
		},
	}
}

// tickerBucketSpec is a channel of tokens that a goroutine fills on a ticker, correct
// unless mutant says that the ticker outlives it.
func tickerBucketSpec(mutant string, source TimeSource) LimiterSpec {
	return LimiterSpec{
		Name: "zoo: channel of tokens",
		Time: source,
		New: func(env Env, cfg LimiterConfig) LimiterFuncs {
			if cfg.Burst < 1 || cfg.Burst > 1<<16 || !cfg.Rate.Exact() {
				panic("tickerBucket: want a burst of 1 to 65536, and a rate with a whole period")
			}
			tokens, stop := make(chan struct{}, cfg.Burst), make(chan struct{})
			for range cfg.Burst {
				tokens <- struct{}{}
			}
			ticker := env.Clock.NewTicker(cfg.Rate.Interval())
			go func() {
				if mutant == "" {
					defer ticker.Stop()
				}
				for {
					select {
					case <-ticker.Chan():
						select {
						case tokens <- struct{}{}:
						default:
						}
					case <-stop:
						return
					}
				}
			}()
			return LimiterFuncs{
				Allow: func() bool {
					select {
					case <-tokens:
						return true
					default:
						return false
					}
				},
				WaitN: func(ctx context.Context, _ int) error {
					if err := ctx.Err(); err != nil {
						return err
					}
					select {
					case <-tokens:
						return nil
					case <-ctx.Done():
						return ctx.Err()
					}
				},
				Stop: func() { close(stop) },
			}
		},
		Traits: LimiterTraits{
			Initial: InitialFull, Single: true, Quantum: 1, BackTime: BackClamp, ZeroRate: ZeroRateRefused, Inf: InfAbsent, Fair: FairFIFO,
			DeadlineCheck: DeadlineSleeps, Refund: RefundFull, Rewake: RewakeServes,
		},
	}
}

// retryBucketSpec is the bucket in floating point whose waits sleep and try again, so
// that anybody can overtake them.
func retryBucketSpec(source TimeSource) LimiterSpec {
	return LimiterSpec{
		Name: "zoo: bucket that is tried again",
		Time: source,
		New: func(env Env, cfg LimiterConfig) LimiterFuncs {
			l := newZooLimiter(cfg, "")
			return LimiterFuncs{
				AllowN: func(n int) bool { return l.allow(env.Clock.Now(), n) },
				WaitN: func(ctx context.Context, n int) error {
					for {
						if err := ctx.Err(); err != nil {
							return err
						}
						if n > cfg.Burst {
							return errTooMany
						}
						now := env.Clock.Now()
						if l.allow(now, n) {
							return nil
						}
						missing := float64(n) - l.tokensAt(now)
						timer := env.Clock.NewTimer(time.Duration(min(math.Ceil(missing/l.rate*1e9-1e-3), 1e18)))
						select {
						case <-timer.Chan():
						case <-ctx.Done():
							timer.Stop()
							return ctx.Err()
						}
					}
				},
			}
		},
		Traits: LimiterTraits{
			Initial: InitialFull, Oversize: OversizeRejected, BackTime: BackClamp, ZeroRate: ZeroRateBurst, Inf: InfAbsent, Fair: FairNone,
			DeadlineCheck: DeadlineSleeps, Refund: RefundFull, Rewake: RewakeKeeps,
		},
	}
}

// perSecondSpec is the bucket in floating point of those who say only how many per
// second: that is its burst, too. Its time begins when it is made.
func perSecondSpec(mutant string) LimiterSpec {
	return LimiterSpec{
		Name: "zoo: so many per second: " + mutant,
		Time: Explicit,
		New: func(env Env, cfg LimiterConfig) LimiterFuncs {
			if cfg.Burst != cfg.Rate.Events || cfg.Rate.Per != time.Second {
				panic("it takes events per second, and nothing else")
			}
			l := newZooLimiter(cfg, mutant)
			l.began, l.last, l.tokens = true, env.Start, float64(cfg.Burst)
			return LimiterFuncs{AllowAt: l.allow}
		},
		Traits: LikeXTime,
	}
}

// perSecondMutants are some of its mistakes, which only a burst above 1 shows.
var perSecondMutants = []struct{ name, rule string }{
	{"refills too fast", "RL-ENV"},
	{"forgets the rest on a grant", "RL-WORK"},
	{"moves on when it denies", "RL-FRAC"},
	{"bucket without a bound", "RL-CAP"},
	{"time stands still for a full bucket", "RL-CAP"},
	{"a large request resets the bucket", "RL-NBIG"},
}
