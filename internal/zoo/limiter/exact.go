package limiter

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"
	"sync"
	"time"

	"github.com/escapement-go/escapement/conformance/limitertest"
	"github.com/escapement-go/escapement/internal/zoo"
)

// exact are designs without a rounding: two buckets in rational numbers, one of them with a
// list of those who wait, and turns that are whole numbers of nanoseconds.
func exact() []zoo.Design {
	refused := func(cfg limitertest.Config) {
		if cfg.Rate == limitertest.Inf || cfg.Burst < 0 {
			panic("no such limiter")
		}
	}
	return []zoo.Design{
		{Name: "a bucket in rational numbers", Spec: limitertest.Spec{
			Name: "rational", Time: limitertest.Explicit,
			New: func(env limitertest.Env, cfg limitertest.Config) limitertest.Funcs {
				refused(cfg)
				r := &rational{burst: cfg.Burst, rate: rationalRate(cfg.Rate), tokens: big.NewRat(int64(cfg.Burst), 1)}
				return limitertest.Funcs{
					AllowAt: r.allow, TokensAt: r.left,
					SetLimitAt: func(t time.Time, rate limitertest.Rate) { r.set(t, rationalRate(rate), r.burst) },
					SetBurstAt: func(t time.Time, burst int) { r.set(t, r.rate, burst) },
				}
			},
			Traits: limitertest.Traits{
				Initial: limitertest.InitialFull, Oversize: limitertest.OversizeRejected,
				ZeroRate: limitertest.ZeroRateBurst, Inf: limitertest.InfAbsent, BackTime: limitertest.BackClamp,
				OnBurstRaised: limitertest.RaiseBringsNothing, OneGoroutine: true,
			},
		}},
		{Name: "the instant of the next turn, and callers that sleep until theirs", Spec: limitertest.Spec{
			Name: "turns", Time: limitertest.PackageTime,
			New: func(_ limitertest.Env, cfg limitertest.Config) limitertest.Funcs {
				every := cfg.Rate.Interval()
				if every <= 0 || cfg.Burst < 1 || int64(cfg.Burst) > math.MaxInt64/8/int64(every) {
					panic("no such limiter")
				}
				return limitertest.Funcs{WaitN: (&turns{every: every, burst: cfg.Burst, start: time.Now()}).wait}
			},
			Traits: limitertest.Traits{
				Initial: limitertest.InitialFull, Oversize: limitertest.OversizeRejected,
				ZeroRate: limitertest.ZeroRateRefused, Inf: limitertest.InfAbsent, Fair: limitertest.FairFIFO,
				DeadlineCheck: limitertest.DeadlineFailFast, Refund: limitertest.RefundNone,
				OnChange: limitertest.OnChangeKeeps, WaitErrors: limitertest.WaitErrorsDeadline,
			},
		}},
		{Name: "a list of those who wait, and a timer for the first", Spec: listedSpec(false)},
		{Name: "a list of those who wait and of reservations, which moves up", Spec: listedSpec(true)},
	}
}

// listedSpec is a bucket in rational numbers with a list of those who wait, and if it reserves, of reservations as
// well, which say how long they have to wait as they are in the list at that moment.
func listedSpec(reserves bool) limitertest.Spec {
	spec := limitertest.Spec{
		Name: "counter with a list", Time: limitertest.PackageTime,
		Traits: limitertest.Traits{
			Initial: limitertest.InitialFull, Oversize: limitertest.OversizeRejected,
			ZeroRate: limitertest.ZeroRateBurst, Inf: limitertest.InfAbsent, Fair: limitertest.FairFIFO,
			DeadlineCheck: limitertest.DeadlineSleeps, Refund: limitertest.RefundFull,
			OnChange: limitertest.OnChangeServes, OnBurstRaised: limitertest.RaiseBringsNothing,
			WaitErrors: limitertest.WaitErrorsContext,
		},
	}
	if reserves {
		spec.Traits.LateCancel = limitertest.LateIgnored
	}
	spec.New = func(_ limitertest.Env, cfg limitertest.Config) limitertest.Funcs {
		if cfg.Rate == limitertest.Inf || cfg.Burst < 0 {
			panic("no such limiter")
		}
		l := &listed{}
		l.rational = rational{
			burst: cfg.Burst, rate: rationalRate(cfg.Rate), tokens: big.NewRat(int64(cfg.Burst), 1),
			at: time.Now(), used: true,
		}
		f := limitertest.Funcs{AllowN: l.allow, WaitN: l.wait, SetLimit: l.setLimit, SetBurst: l.setBurst}
		if reserves { // for as much as a burst that is not lowered
			f.Reserve, f.SetBurst = l.reserve, nil
		}
		return f
	}
	return spec
}

// rationalRate is a rate in tokens for each nanosecond.
func rationalRate(r limitertest.Rate) *big.Rat { return big.NewRat(int64(r.Events), int64(r.Per)) }

// rational is a bucket without floats; it is not for several goroutines.
type rational struct {
	burst  int
	rate   *big.Rat
	tokens *big.Rat
	at     time.Time // the newest instant
	used   bool
}

// move brings the tokens that came until t.
func (r *rational) move(t time.Time) {
	if r.used && t.After(r.at) {
		came := new(big.Rat).SetInt64(int64(t.Sub(r.at)))
		r.tokens.Add(r.tokens, came.Mul(came, r.rate))
	}
	if !r.used || t.After(r.at) {
		r.at, r.used = t, true
	}
	if full := big.NewRat(int64(r.burst), 1); r.tokens.Cmp(full) > 0 {
		r.tokens = full
	}
}

func (r *rational) allow(t time.Time, n int) bool {
	r.move(t)
	asked := big.NewRat(int64(n), 1)
	if n < 0 || r.tokens.Cmp(asked) < 0 {
		return false
	}
	r.tokens.Sub(r.tokens, asked)
	return true
}

func (r *rational) left(t time.Time) float64 {
	kept := *r
	kept.tokens = new(big.Rat).Set(r.tokens)
	kept.move(t)
	f, _ := kept.tokens.Float64()
	return f
}

func (r *rational) set(t time.Time, rate *big.Rat, burst int) {
	r.move(t)
	r.rate, r.burst = rate, max(0, burst)
	r.move(t)
}

// turns counts from the start, in nanoseconds, when the next turn would be if the burst were 1.
type turns struct {
	every time.Duration
	burst int
	start time.Time

	mu   sync.Mutex
	next time.Duration
}

func (l *turns) wait(ctx context.Context, n int) error {
	if n < 0 || n > l.burst {
		return errors.New("turns: more than the burst")
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	l.mu.Lock()
	now := time.Since(l.start)
	next := max(l.next, now) + time.Duration(n)*l.every
	delay := next - time.Duration(l.burst)*l.every - now
	if until, ok := ctx.Deadline(); ok && delay > 0 && time.Until(until) < delay {
		l.mu.Unlock()
		return context.DeadlineExceeded
	}
	l.next = next
	l.mu.Unlock()
	if delay <= 0 {
		return nil
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// listed takes tokens for those who wait when they are there, in the order of the list.
type listed struct {
	mu sync.Mutex
	rational
	waits []*waiting
	timer *time.Timer
}

type waiting struct {
	n      int
	served chan error // of 1
}

func (l *listed) allow(n int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return (n == 0 || len(l.waits) == 0) && l.rational.allow(time.Now(), n)
}

func (l *listed) wait(ctx context.Context, n int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	l.mu.Lock()
	if n < 0 || n > l.burst {
		l.mu.Unlock()
		return errors.New("listed: more than the burst")
	}
	w := &waiting{n: n, served: make(chan error, 1)}
	l.waits = append(l.waits, w)
	l.serve()
	l.mu.Unlock()
	select {
	case err := <-w.served:
		return err
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case err := <-w.served:
		return err
	default:
	}
	l.leave(w)
	return ctx.Err()
}

// leave takes one out of the list, and others move up.
func (l *listed) leave(w *waiting) {
	l.waits = slices.DeleteFunc(l.waits, func(o *waiting) bool { return o == w })
	l.serve()
}

// reserve puts one into the list that nobody waits for.
func (l *listed) reserve(n int) limitertest.Reservation {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := &waiting{n: n, served: make(chan error, 1)}
	if n >= 0 && n <= l.burst {
		l.waits = append(l.waits, w)
		l.serve()
	}
	ok := len(w.served) > 0 || slices.Contains(l.waits, w) && l.rate.Sign() > 0
	if !ok {
		l.leave(w)
	}
	locked := func(do func()) func() {
		return func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			do()
		}
	}
	return limitertest.Reservation{
		OK:     func() bool { return ok },
		Delay:  func() (d time.Duration) { locked(func() { d = l.delay(w) })(); return d },
		Cancel: locked(func() { l.leave(w) }),
	}
}

// delay is how long one in the list has to wait: for its own tokens and those of all before it.
func (l *listed) delay(w *waiting) time.Duration {
	i := slices.Index(l.waits, w)
	if i < 0 {
		return 0
	}
	n := 0
	for _, o := range l.waits[:i+1] {
		n += o.n
	}
	l.move(time.Now())
	d, ever := l.until(n)
	if !ever {
		return math.MaxInt64
	}
	return d
}

// serve gives tokens to the first in the list, and arms the timer for the next.
func (l *listed) serve() {
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
	for len(l.waits) > 0 {
		w := l.waits[0]
		switch {
		case w.n > l.burst:
			w.served <- errors.New("listed: the burst is now less")
		case l.rational.allow(time.Now(), w.n):
			w.served <- nil
		default:
			l.arm(w.n)
			return
		}
		l.waits = l.waits[1:]
	}
}

// until is how long it takes until n tokens are there, if they ever come.
func (l *listed) until(n int) (d time.Duration, ever bool) {
	if l.rate.Sign() <= 0 {
		return 0, false
	}
	missing := new(big.Rat).Sub(big.NewRat(int64(n), 1), l.tokens)
	missing.Quo(missing, l.rate)
	whole, rest := new(big.Int).QuoRem(missing.Num(), missing.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		whole.Add(whole, big.NewInt(1))
	}
	return time.Duration(whole.Int64()), whole.IsInt64()
}

// arm starts the timer for n tokens, if they ever come.
func (l *listed) arm(n int) {
	d, ever := l.until(n)
	if !ever {
		return
	}
	l.timer = time.AfterFunc(d, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.serve()
	})
}

func (l *listed) setLimit(rate limitertest.Rate) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.set(time.Now(), rationalRate(rate), l.burst)
	l.serve()
}

func (l *listed) setBurst(burst int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.set(time.Now(), l.rate, burst)
	l.serve()
}
