package conformance

import (
	"context"
	"errors"
	"math"
	"runtime"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"
)

var errTooLate = errors.New("the tokens come after the deadline")

// heldBucket is a token bucket in floating point that goes into debt for what is
// reserved and waited for, correct unless mutant names one of its mistakes. It keeps
// the instants of reservations and refunds conservatively, as x/time/rate does.
type heldBucket struct {
	clock  clockwork.Clock
	mutant string

	mu     sync.Mutex
	inf    bool
	rate   float64 // per second
	burst  int
	tokens float64
	last   time.Time
	began  bool
	held   []*heldClaim

	cancels int
}

type heldClaim struct {
	l    *heldBucket
	n    int
	at   time.Time // when it was made
	act  time.Time
	free bool // nothing was taken
	gone bool // given back
	rate float64
}

func newHeldBucket(clock clockwork.Clock, cfg LimiterConfig, mutant string) *heldBucket {
	l := &heldBucket{clock: clock, mutant: mutant, burst: cfg.Burst}
	l.limit(cfg.Rate)
	if l.is("a rate of 0 is no limit") && cfg.Rate.Events == 0 {
		l.inf = true
	}
	if l.is("an interval below 1ns is no limit") && cfg.Rate != Inf && cfg.Rate.Events > 0 && cfg.Rate.Per/time.Duration(cfg.Rate.Events) == 0 {
		l.inf = true
	}
	return l
}

func (l *heldBucket) is(mutant string) bool { return l.mutant == mutant }

func (l *heldBucket) limit(r Rate) {
	l.inf, l.rate = r == Inf, r.PerSecond()
	if l.inf && l.is("an infinite rate is a high one") {
		l.inf, l.rate = false, 1e6
	}
}

// fill brings the bucket up to t.
func (l *heldBucket) fill(t time.Time) {
	if !l.began {
		l.began, l.last, l.tokens = true, t, float64(max(0, l.burst))
	}
	dt := t.Sub(l.last)
	if dt < 0 {
		if l.is("an old instant rewinds") {
			l.last = t
		}
		return
	}
	l.last = t
	if l.inf {
		l.tokens = float64(max(0, l.burst))
	} else if room := float64(max(0, l.burst)); l.tokens < room {
		l.tokens = min(room, l.tokens+dt.Seconds()*l.rate)
	}
	if l.is("keeps thousandths only") {
		l.tokens = math.Floor(l.tokens*1e3) / 1e3
	}
}

const grain = 1e-9

func (l *heldBucket) allow(t time.Time, n int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fill(t)
	if l.inf {
		return true
	}
	if l.is("divides by the burst") {
		_ = n % l.burst
	}
	if n < 0 || n > max(0, l.burst) || l.tokens < float64(n)-grain && n > 0 {
		return false
	}
	l.tokens -= float64(n)
	return true
}

func (l *heldBucket) tokensAt(t time.Time) float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.began {
		return float64(max(0, l.burst))
	}
	dt := max(0, t.Sub(l.last))
	if l.is("a query shows the level of the last request") {
		dt = 0
	}
	if l.is("a query looks both ways") {
		dt = t.Sub(l.last).Abs()
	}
	return min(float64(max(0, l.burst)), l.tokens+dt.Seconds()*l.rate)
}

// wait is how long the bucket needs to get out of debt.
func (l *heldBucket) wait(tokens float64) time.Duration {
	if tokens >= -grain {
		return 0
	}
	ns := -tokens / l.rate * 1e9
	if l.is("a long delay overflows") {
		if ns >= math.MaxInt64 {
			return 0
		}
	}
	if ns >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(math.Ceil(ns - 1e-3))
}

// take takes n tokens at t and says when they are there; by is how long the caller
// has.
func (l *heldBucket) take(t time.Time, n int, by time.Duration) (*heldClaim, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fill(t)
	if l.inf {
		c := &heldClaim{l: l, n: n, at: t, act: t, free: true}
		if l.is("what was free is refunded") {
			c.free = false
		}
		l.held = append(l.held, c)
		return c, true
	}
	if l.is("a reservation for 0 empties the bucket") && n == 0 {
		l.tokens = min(0, l.tokens)
	}
	if n > max(0, l.burst) || n < 0 {
		if l.is("a reservation for a negative number adds tokens") {
			l.tokens += float64(max(0, -n))
		}
		if l.is("a reservation that is refused takes its tokens") {
			l.tokens -= float64(n)
		}
		return nil, false
	}
	d := l.wait(l.tokens - float64(n))
	if l.is("a delay is for its own tokens") {
		d = l.wait(-float64(n))
	}
	if l.is("a delay is a tenth too short") {
		d = d * 9 / 10
	}
	if d > by && !l.is("a deadline is not looked at") {
		if l.is("a wait that is refused takes its tokens") {
			l.tokens -= float64(n)
		}
		return nil, false
	}
	if l.tokens -= float64(n); l.is("a debt is forgiven") {
		l.tokens = max(0, l.tokens)
	}
	c := &heldClaim{l: l, n: n, at: t, act: t.Add(d), rate: l.rate}
	l.held = append(l.held, c)
	return c, true
}

// cancelAt gives back what c took, less what was taken after it.
func (c *heldClaim) cancelAt(t time.Time) {
	l := c.l
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fill(t)
	if c.free || c.gone && !l.is("a second cancel refunds again") {
		return
	}
	if t.After(c.act) && !l.is("a late cancel refunds") {
		return
	}
	if t.Equal(c.act) && l.is("a cancel at its instant is too late") {
		return
	}
	if l.is("a cancel looks and refunds under two locks") {
		l.mu.Unlock()
		runtime.Gosched()
		l.mu.Lock()
	}
	c.gone = true
	later := 0
	after := false
	for _, o := range l.held {
		if after && !o.gone && !o.free {
			later += o.n
		}
		after = after || o == c
	}
	back := max(0, c.n-later)
	switch l.cancels++; l.mutant {
	case "a cancel after a new limit refunds nothing":
		if c.rate != l.rate {
			back = 0
		}
	case "the third cancel refunds nothing":
		if l.cancels == 3 {
			back = 0
		}
	case "a cancel refunds everything":
		back = c.n
	case "a cancel refunds twice":
		back *= 2
	case "a cancel takes the tokens again":
		back = -c.n
	case "a cancel refunds a token at most":
		back = min(1, back)
	}
	l.tokens = min(float64(max(0, l.burst)), l.tokens+float64(back))
}

func (c *heldClaim) delay(t time.Time) time.Duration { return max(0, c.act.Sub(t)) }

func (l *heldBucket) waitN(ctx context.Context, n int) error {
	if err := ctx.Err(); err != nil && !l.is("a context is looked at only while it sleeps") {
		return err
	}
	if n > l.burst && l.is("a wait never gets more than the burst") {
		return errTooMany
	}
	by := time.Duration(math.MaxInt64)
	now := l.clock.Now()
	if deadline, ok := ctx.Deadline(); ok {
		by = deadline.Sub(now)
	}
	c, ok := l.take(now, n, by)
	if n > l.burst && l.is("a wait for more than the burst empties the bucket") {
		l.mu.Lock()
		l.tokens = min(0, l.tokens)
		l.mu.Unlock()
	}
	if !ok {
		return errTooLate
	}
	d := c.delay(now)
	switch l.mutant {
	case "a wait wakes early":
		d = d * 9 / 10
	case "a wait sleeps whole milliseconds":
		d = d.Truncate(time.Millisecond)
	case "a wait wakes late":
		d += time.Millisecond
	}
	if d > 0 {
		timer := l.clock.NewTimer(d)
		if l.is("a wait sleeps on package time") {
			timer = clockwork.NewRealClock().NewTimer(d)
		}
		defer timer.Stop()
		select {
		case <-timer.Chan():
		case <-ctx.Done():
			if l.is("a cancelled wait leaves a goroutine") {
				go func() { <-timer.Chan() }()
			}
			if !l.is("a cancelled wait keeps its tokens") {
				c.cancelAt(l.clock.Now())
			}
			return ctx.Err()
		}
	}
	if l.is("a wait takes nothing in the end") {
		l.mu.Lock()
		l.tokens += float64(n)
		l.mu.Unlock()
	}
	return nil
}

func (l *heldBucket) setLimit(t time.Time, r Rate) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.is("a limit of 0 forgets what has accrued") && r.Events == 0:
		l.last = t
	case !l.is("a new limit counts from the beginning"):
		l.fill(t)
	}
	l.limit(r)
	if l.is("a new limit fills the bucket") {
		l.tokens = float64(l.burst)
	}
}

func (l *heldBucket) setBurst(t time.Time, burst int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fill(t)
	old := l.burst
	l.burst = burst
	if l.is("a higher burst brings tokens") {
		l.tokens += float64(max(0, burst-old))
	}
	if l.is("a burst is set without the lock") {
		tokens := l.tokens
		l.mu.Unlock()
		runtime.Gosched()
		l.mu.Lock()
		l.tokens = tokens
	}
	if !l.is("a lower burst leaves the tokens") {
		l.tokens = min(l.tokens, float64(burst))
	}
	if l.is("a lower burst puts off the next token") && burst < old {
		l.last = t.Add(time.Hour)
	}
}

// funcs describes a bucket; reservations and instants come in both forms.
func (l *heldBucket) funcs() LimiterFuncs {
	reserve := func(t time.Time, n int) Reservation {
		c, ok := l.take(t, n, math.MaxInt64)
		if !ok {
			if l.is("a reservation above the burst is OK") {
				return Reservation{Delay: func() time.Duration { return 0 }, DelayFrom: func(time.Time) time.Duration { return 0 }, Cancel: func() {}, CancelAt: func(time.Time) {}}
			}
			return Reservation{OK: func() bool { return false }}
		}
		return Reservation{
			Delay: func() time.Duration { return c.delay(l.clock.Now()) }, DelayFrom: c.delay,
			Cancel: func() { c.cancelAt(l.clock.Now()) }, CancelAt: c.cancelAt,
		}
	}
	return LimiterFuncs{
		AllowN: func(n int) bool { return l.allow(l.clock.Now(), n) }, AllowAt: l.allow,
		Tokens: func() float64 { return l.tokensAt(l.clock.Now()) }, TokensAt: l.tokensAt,
		WaitN:   l.waitN,
		Reserve: func(n int) Reservation { return reserve(l.clock.Now(), n) }, ReserveAt: reserve,
		SetLimit: func(r Rate) { l.setLimit(l.clock.Now(), r) }, SetLimitAt: l.setLimit,
		SetBurst: func(n int) { l.setBurst(l.clock.Now(), n) }, SetBurstAt: l.setBurst,
	}
}

func heldBucketSpec(mutant string, source TimeSource) LimiterSpec {
	return LimiterSpec{
		Name:   "zoo: bucket in debt: " + mutant,
		Time:   source,
		New:    func(env Env, cfg LimiterConfig) LimiterFuncs { return newHeldBucket(env.Clock, cfg, mutant).funcs() },
		Traits: LikeXTime,
	}
}

// heldMutants are its mistakes, with the rule that must catch each and a family in
// which it shows.
var heldMutants = []struct {
	name, rule, family string
	source             TimeSource
}{
	{"a wait wakes early", "W-NOTEARLY", "waits", Injected},
	{"a wait wakes late", "W-EXACT", "waits", Injected},
	{"a wait takes nothing in the end", "W-EATS", "waits", Injected},
	{"a context is looked at only while it sleeps", "W-PRE", "cancelled before", Injected},
	{"a deadline is not looked at", "W-DEAD", "deadlines", Injected},
	{"a wait that is refused takes its tokens", "W-DEAD", "deadlines", Injected},
	{"a cancel at its instant is too late", "W-DEADEQ", "deadlines", Injected},
	{"a cancelled wait keeps its tokens", "W-CANCEL", "waits", Injected},
	{"a cancelled wait leaves a goroutine", "X-LEAK", "leaks", Injected},
	{"a wait sleeps on package time", "X-CLOCK1", "deadlines", Injected},
	{"a reservation that is refused takes its tokens", "RS-OK", "reservations", Explicit},
	{"a reservation above the burst is OK", "RS-OK", "reservations", Explicit},
	{"a delay is a tenth too short", "RS-DELAY", "reservations", Explicit},
	{"a delay is for its own tokens", "RS-MONO", "reservations", Explicit},
	{"a debt is forgiven", "RS-DEBT", "reservations", Explicit},
	{"a cancel refunds twice", "CN-UPPER", "reservations", Explicit},
	{"a cancel takes the tokens again", "CN-LOWER", "reservations", Explicit},
	{"a cancel refunds a token at most", "CN-LIFO", "reservations", Explicit},
	{"a cancel refunds everything", "CN-ANY", "reservations in a row", Explicit},
	{"a late cancel refunds", "CN-LATE", "reservations", Explicit},
	{"a second cancel refunds again", "CN-IDEM", "reservations", Explicit},
	{"a cancel looks and refunds under two locks", "X-CONC", "cancelled before", Explicit},
	{"a new limit counts from the beginning", "SL-NORETRO", "limits", Explicit},
	{"a new limit fills the bucket", "SL-KEEP", "limits", Explicit},
	{"a lower burst leaves the tokens", "SB-CAP", "bursts", Explicit},
	{"a higher burst brings tokens", "SB-NOGIFT", "bursts", Explicit},
	{"a lower burst puts off the next token", "SB-LIVE", "bursts", Explicit},
	{"a burst is set without the lock", "SL-CONC", "cancelled before", Explicit},
	{"an infinite rate is a high one", "RL-INF", "infinite", Explicit},
	{"a wait never gets more than the burst", "RL-INF", "infinite", Injected},
	{"what was free is refunded", "RL-INFOUT", "after an infinite rate", Explicit},
	{"a rate of 0 is no limit", "RL-LIM0", "no rate", Explicit},
	{"a long delay overflows", "RL-TINY", "tiny rates", Explicit},
	{"an interval below 1ns is no limit", "RL-HUGE", "huge rates", Explicit},
	{"a query looks both ways", "RL-PASTQ", "back in time", Explicit},
	{"keeps thousandths only", "RL-DRIFT", "starving", Explicit},
	{"divides by the burst", "X-CFG", "odd bursts", Explicit},
	{"an old instant rewinds", "X-BACK", "cancelled before", Injected},
	{"a reservation for 0 empties the bucket", "RL-N0", "odd waits and reservations", Explicit},
	{"a reservation for a negative number adds tokens", "RL-NEG", "odd waits and reservations", Explicit},
	{"a wait for more than the burst empties the bucket", "RL-NBIG", "odd waits and reservations", Injected},
	{"a wait sleeps whole milliseconds", "W-NOTEARLY", "odd instants", Injected},
	{"the third cancel refunds nothing", "CN-LIFO", "odd instants", Explicit},
	{"a cancel after a new limit refunds nothing", "CN-LIFO", "given up after a change", Explicit},
	{"a limit of 0 forgets what has accrued", "SL-NORETRO", "no rate for a while", Explicit},
	{"a query shows the level of the last request", "RL-TOKENS", "what is shown", Explicit},
}
