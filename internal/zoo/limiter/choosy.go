package limiter

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	lt "github.com/escapement-go/escapement/conformance/limitertest"
)

// choosyBucket is a token bucket in exact fractions.
type choosyBucket struct {
	traits lt.Traits
	mutant string

	mu     sync.Mutex
	rate   lt.Rate
	burst  int
	level  *big.Rat
	newest time.Time
	asked  bool // newest is set
	held   []*choosyClaim
	past   []choosyEvent

	changes int // how many limits and bursts have been set
}

type choosyClaim struct {
	n    int
	act  time.Time
	gone bool // it cannot be given up any more
	back bool // it was given up

	changes int // how many limits and bursts had been set when it was made
}

// choosyEvent changed the level, or how it changes: n tokens were taken by a claim, or
// brought, or there are a new rate and burst.
type choosyEvent struct {
	at    time.Time
	n     *big.Rat
	claim *choosyClaim
	rate  lt.Rate
	burst int
}

// prepaidMutants are mistakes with requests for more than the burst, where they are granted.
var prepaidMutants = []mistake{
	{name: "more than the burst is never granted, though the next request is to pay", rule: "RL-WORK"},
	{name: "more than the burst is granted by a bucket that owes", rule: "RL-ENV"},
	{name: "more than the burst is granted, and nobody pays", rule: "RL-ENV"},
	{name: "more than the burst is granted, and when it is paid for is divided by the rate", rule: "X-CALLS"},
}

// grantsMore is one where they have to wait.
const grantsMore = "after a change more than the burst is granted at once, though it has to wait"

// grantsMoreSpec is a bucket that lets who asks for more than the burst reserve it, with that mistake.
func grantsMoreSpec() lt.Spec {
	tr := lt.Traits{Initial: lt.InitialFull, Oversize: lt.OversizeWaits, BackTime: lt.BackClamp,
		ZeroRate: lt.ZeroRateBurst, Inf: lt.InfGrants, Refund: lt.RefundFull, LateCancel: lt.LateIgnored}
	spec := choosySpec(lt.Explicit, tr, grantsMore)
	spec.Name = "zoo: more than the burst is reserved: " + grantsMore
	return spec
}

func (l *choosyBucket) is(mutant string) bool { return l.mutant == mutant }

// without is what the level would be if there had never been a claim, nor any that was given up
// before it.
func (l *choosyBucket) without(c *choosyClaim) *big.Rat {
	w := &choosyBucket{traits: l.traits}
	for _, e := range l.past {
		if e.claim != nil && (e.claim == c || e.claim.back) {
			continue
		}
		if w.level == nil {
			w.level, w.newest, w.asked = tokensOf(0), e.at, true
		} else {
			w.pass(e.at)
		}
		w.rate, w.burst = e.rate, e.burst
		w.level = new(big.Rat).Add(w.level, e.n)
		w.cap()
	}
	w.pass(l.newest)
	return w.level
}

// did remembers what has just been done.
func (l *choosyBucket) did(n *big.Rat, c *choosyClaim) {
	l.past = append(l.past, choosyEvent{l.newest, n, c, l.rate, l.burst})
}

func newChoosyBucket(tr lt.Traits, cfg lt.Config) *choosyBucket {
	if cfg.Burst < 0 || cfg.Rate.Events == 0 && tr.ZeroRate == lt.ZeroRateRefused ||
		cfg.Rate == lt.Inf && tr.Inf != lt.InfGrants {
		panic("choosyBucket: it cannot be made so")
	}
	initial := cfg.Burst
	switch {
	case tr.Initial == lt.InitialEmpty, cfg.Rate.Events == 0 && tr.ZeroRate == lt.ZeroRateRejects:
		initial = 0
	case tr.Initial == lt.InitialOne:
		initial = min(1, cfg.Burst)
	}
	return &choosyBucket{traits: tr, rate: cfg.Rate, burst: cfg.Burst, level: tokensOf(initial)}
}

func tokensOf(n int) *big.Rat { return new(big.Rat).SetInt64(int64(n)) }

// flow is what d brings.
func (l *choosyBucket) flow(d time.Duration) *big.Rat {
	out := new(big.Rat).SetInt64(int64(d))
	return out.Mul(out, big.NewRat(int64(l.rate.Events), int64(l.rate.Per)))
}

// time is how long it takes until n tokens have come, in whole nanoseconds.
func (l *choosyBucket) time(n *big.Rat) time.Duration {
	ns := new(big.Rat).Quo(n, big.NewRat(int64(l.rate.Events), int64(l.rate.Per)))
	up := new(big.Int).Add(ns.Num(), new(big.Int).Sub(ns.Denom(), big.NewInt(1)))
	if up.Quo(up, ns.Denom()); !up.IsInt64() {
		return math.MaxInt64
	}
	return time.Duration(up.Int64())
}

// pass comes to t, and says whether t may ask for anything.
func (l *choosyBucket) pass(t time.Time) (time.Time, bool) {
	switch {
	case !l.asked:
		l.newest, l.asked = t, true
		l.did(l.level, nil)
	case t.Before(l.newest):
		return l.newest, l.traits.BackTime != lt.BackReject
	case l.rate == lt.Inf:
		l.newest = t
	default:
		l.level = new(big.Rat).Add(l.level, l.flow(t.Sub(l.newest)))
		l.newest = t
		l.cap()
	}
	return t, true
}

func (l *choosyBucket) cap() {
	if full := tokensOf(l.burst); l.level.Cmp(full) > 0 {
		l.level = full
	}
}

func (l *choosyBucket) allow(t time.Time, n int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	t, may := l.pass(t)
	switch {
	case !may || n < 0:
		return false
	case n == 0 || l.rate == lt.Inf:
		return true
	case (l.traits.Oversize == lt.OversizePrepaid || l.is(grantsMore) && l.changes > 0) && n > l.burst:
		switch full := l.level.Cmp(tokensOf(l.burst)) >= 0; {
		case l.is("more than the burst is never granted, though the next request is to pay"):
			return false
		case l.is("more than the burst is granted, and nobody pays"):
			return full
		case !full && !l.is("more than the burst is granted by a bucket that owes"):
			return false
		}
	case n > l.burst || l.level.Cmp(tokensOf(n)) < 0:
		return false
	}
	l.take(t, n)
	return true
}

// take takes n, and says when they are there.
func (l *choosyBucket) take(t time.Time, n int) *choosyClaim {
	l.level = new(big.Rat).Sub(l.level, tokensOf(n))
	c := &choosyClaim{n: n, act: t, changes: l.changes}
	switch {
	case l.level.Sign() >= 0:
	case l.rate.Events == 0 && // it is never there
		!l.is("more than the burst is granted, and when it is paid for is divided by the rate"):
		c.act = t.Add(math.MaxInt64)
	default:
		c.act = t.Add(l.time(new(big.Rat).Neg(l.level)))
	}
	l.held = append(l.held, c)
	l.did(tokensOf(-n), c)
	return c
}

func (l *choosyBucket) reserve(t time.Time, n int) lt.Reservation {
	l.mu.Lock()
	defer l.mu.Unlock()
	t, may := l.pass(t)
	c := &choosyClaim{act: t, gone: true}
	switch {
	case !may || n < 0:
		return refused
	case n > 0 && l.rate != lt.Inf:
		if l.rate.Events == 0 || n > l.burst && l.traits.Oversize == lt.OversizeRejected {
			return refused
		}
		c = l.take(t, n)
	}
	return lt.Reservation{
		DelayFrom: func(t time.Time) time.Duration { return l.delay(c, t) },
		CancelAt:  func(t time.Time) { l.cancel(c, t) },
	}
}

func (l *choosyBucket) delay(c *choosyClaim, t time.Time) time.Duration {
	l.mu.Lock() // who is before it may be cancelled meanwhile
	defer l.mu.Unlock()
	return max(0, c.act.Sub(t))
}

func (l *choosyBucket) cancel(c *choosyClaim, t time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t, _ = l.pass(t)
	late := t.After(c.act)
	if c.gone || late && l.traits.LateCancel == lt.LateIgnored || l.traits.Refund == lt.RefundNone {
		return
	}
	c.gone = true
	defer func() { c.back = true }()
	n, behind := c.n, l.held[slices.Index(l.held, c)+1:]
	for _, o := range behind {
		if l.traits.Refund == lt.RefundConservative && !late && !o.gone {
			n -= o.n
		}
	}
	back := tokensOf(max(0, n))
	if late || c.changes != l.changes {
		if most := new(big.Rat).Sub(l.without(c), l.level); back.Cmp(most) > 0 {
			if back = most; back.Sign() < 0 { // it has come already, when the bucket was full
				back = tokensOf(0)
			}
		}
	}
	l.level = new(big.Rat).Add(l.level, back)
	l.cap()
	l.did(back, c)
	whole, _ := back.Float64()
	sooner := time.Duration(whole * float64(l.rate.Interval()))
	for _, o := range behind {
		if l.traits.Refund == lt.RefundFull && o.act.After(t) { // it moves up
			o.act = time.Unix(0, max(t.UnixNano(), o.act.Add(-sooner).UnixNano()))
		}
	}
}

func (l *choosyBucket) setLimit(t time.Time, r lt.Rate) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pass(t)
	l.changes++
	l.rate = r
	l.did(tokensOf(0), nil)
}

func (l *choosyBucket) setBurst(t time.Time, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pass(t)
	l.changes++
	more := tokensOf(0)
	if l.traits.OnBurstRaised == lt.RaiseBringsTokens {
		more = tokensOf(n - l.burst)
	}
	l.level, l.burst = new(big.Rat).Add(l.level, more), n
	l.cap()
	l.did(more, nil)
}

func (l *choosyBucket) tokens(t time.Time) float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pass(t)
	if l.rate == lt.Inf {
		return float64(l.burst)
	}
	f, _ := l.level.Float64()
	return max(0, f)
}

// prepaidSpec is a bucket that grants a request for more than the burst when it is full.
func prepaidSpec(mutant string, source lt.TimeSource) lt.Spec {
	tr := lt.Traits{Initial: lt.InitialFull, Oversize: lt.OversizePrepaid, BackTime: lt.BackClamp,
		ZeroRate: lt.ZeroRateBurst, Inf: lt.InfGrants}
	name := "zoo: more than the burst is paid for later: " + mutant
	return over(choosySpec(source, tr, mutant), name, func(_ lt.Env, f lt.Funcs) lt.Funcs {
		return lt.Funcs{AllowN: f.AllowN, AllowAt: f.AllowAt, Tokens: f.Tokens, TokensAt: f.TokensAt}
	})
}

func choosySpec(source lt.TimeSource, tr lt.Traits, mutant string) lt.Spec {
	return lt.Spec{
		Name: "a choosy bucket", Time: source, Traits: tr,
		New: func(env lt.Env, cfg lt.Config) lt.Funcs {
			l := newChoosyBucket(tr, cfg)
			l.mutant = mutant
			return onClock(env.Clock, lt.Funcs{
				AllowAt: l.allow, TokensAt: l.tokens, SetLimitAt: l.setLimit, SetBurstAt: l.setBurst,
				ReserveAt: l.reserve,
			})
		},
	}
}

// chosenBuckets are buckets with choices drawn from a seed, which is always the same. Each
// choice is made by some.
func chosenBuckets(n int) []lt.Spec {
	rnd := rand.New(rand.NewPCG(1, 1))
	var out []lt.Spec
	for i := range n {
		pick := func(of int) int { return 1 + (i+rnd.IntN(of))%of }
		tr := lt.Traits{
			Initial: lt.Initial(pick(3)), Oversize: lt.Oversize(pick(3)), ZeroRate: lt.ZeroRate(pick(3)),
			Inf: lt.InfRate(pick(2)), BackTime: lt.BackTime(pick(3)),
			Refund: lt.Refund(pick(3)), LateCancel: lt.LateCancel(pick(2)), OnBurstRaised: lt.OnBurstRaised(pick(2)),
		}
		spec := choosySpec([]lt.TimeSource{lt.Explicit, lt.Injected}[i%2], tr, "")
		spec.Name = fmt.Sprintf("%s %d", spec.Name, i)
		out = append(out, spec)
	}
	return out
}
