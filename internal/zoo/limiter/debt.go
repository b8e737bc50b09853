package limiter

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	lt "github.com/escapement-go/escapement/conformance/limitertest"
	"github.com/escapement-go/escapement/internal/zoo"
)

var errTooLate = errors.New("the tokens come after the deadline")

// debtBucket is a token bucket in floating point that goes into debt for what is
// reserved and waited for, correct unless mutant names one of its mistakes. It keeps
// the instants of reservations and refunds conservatively, as x/time/rate does.
type debtBucket struct {
	clock  clockwork.Clock
	mutant string

	mu     sync.Mutex
	inf    bool
	rate   float64 // per second
	per    time.Duration
	burst  int
	tokens float64
	last   time.Time
	began  bool
	held   []*debtClaim

	cancels int
	changes int  // how many limits and bursts have been set
	endless bool // a rate was infinite, and is no more
}

type debtClaim struct {
	l    *debtBucket
	n    int
	act  time.Time
	free bool // nothing was taken
	gone bool // given back
	past bool // due when another came; only a mistake wants to know
	rate float64
	per  time.Duration // of the rate as it was
	room float64       // the least that the bucket had room for since

	changes int // how many limits and bursts had been set when it was made; only a mistake wants to know
}

func newDebtBucket(clock clockwork.Clock, cfg lt.Config, mutant string) *debtBucket {
	l := &debtBucket{clock: clock, mutant: mutant, burst: cfg.Burst}
	l.limit(cfg.Rate)
	switch l.mutant {
	case "a rate of 0 is no limit":
		l.inf = l.inf || cfg.Rate.Events == 0
	case "an interval below 1ns is no limit":
		l.inf = l.inf || cfg.Rate.Events > 0 && cfg.Rate.Per/time.Duration(cfg.Rate.Events) == 0
	}
	return l
}

func (l *debtBucket) is(mutant string) bool { return l.mutant == mutant }

func (l *debtBucket) limit(r lt.Rate) {
	l.endless = l.endless || l.inf
	l.inf, l.rate, l.per = r == lt.Inf, r.PerSecond(), r.Per
	if l.inf && l.is("an infinite rate is a high one") {
		l.inf, l.rate = false, 1e6
	}
	if r.Events == 0 && l.is("a rate of 0 is a token in 292 years") {
		l.rate = 1 / time.Duration(math.MaxInt64).Seconds()
	}
}

// full is what the bucket holds at the most.
func (l *debtBucket) full() float64 { return float64(max(0, l.burst)) }

// fill brings the bucket up to t; the mistake rewinds lets the caller take it back.
func (l *debtBucket) fill(t time.Time, rewinds string) {
	if !l.began {
		l.began, l.last, l.tokens = true, t, l.full()
	}
	dt := t.Sub(l.last)
	if dt < 0 {
		if rewinds != "" && l.is(rewinds) || l.is("a clock that is set back rewinds") {
			l.last = t
		}
		return
	}
	l.last = t
	if l.is("a lower burst leaves the tokens for old instants") {
		l.tokens = min(l.tokens, float64(l.burst))
	}
	if l.is("what is owed is forgotten after an hour") && dt > time.Hour {
		l.tokens = max(0, l.tokens)
	}
	if l.inf {
		l.tokens = l.full()
	} else if l.tokens < l.full() {
		l.tokens = min(l.full(), l.tokens+dt.Seconds()*l.rate)
	}
	if l.is("keeps thousandths only") {
		l.tokens = math.Floor(l.tokens*1e3) / 1e3
	}
	for _, c := range l.held {
		if !c.free && !(dt == 0 && l.is("the room at an instant is noted once")) {
			c.room = min(c.room, l.full()-l.tokens)
		}
	}
}

const (
	grain = 1e-9

	// refusesNever is a choice: a reservation that is never due may be refused.
	refusesNever = "what never comes is refused"
	// followsBurst is a choice: what is missing stays the same as the burst changes.
	followsBurst = "a burst brings as many tokens as it grew"
	// givesReasons is a choice: only a wait whose tokens never come has an error of its own.
	givesReasons = "waits say why they fail"
)

func (l *debtBucket) allow(t time.Time, n int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fill(t, "")
	if l.inf {
		return l.burst > 0 || !l.is("an infinite rate without a burst grants nothing")
	}
	switch {
	case l.is("one more than the largest burst overflows") && n >= l.burst+1:
		return false
	case l.is("divides by the burst"):
		_ = n % l.burst
	}
	if n < 0 || n > max(0, l.burst) || l.tokens < float64(n)-grain && n > 0 {
		return false
	}
	l.tokens -= float64(n)
	return true
}

func (l *debtBucket) tokensAt(t time.Time) float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.began {
		return l.full()
	}
	dt := max(0, t.Sub(l.last))
	switch {
	case l.is("a look at what is owed panics") && l.tokens < 0:
		panic("there is nothing to show")
	case l.is("a look makes reservations final"):
		l.keepAll()
	case l.is("a look at a clock that is set back rewinds") && t.Before(l.last):
		l.last = t
	case l.is("a query shows the level of the last request"):
		dt = 0
	case l.is("a query looks both ways"):
		dt = t.Sub(l.last).Abs()
	}
	return min(l.full(), l.tokens+dt.Seconds()*l.rate)
}

// keepAll lets no reservation be given back any more, which only mistakes do.
func (l *debtBucket) keepAll() {
	for _, c := range l.held {
		c.free = true
	}
}

// wait is how long the bucket needs to get out of debt.
func (l *debtBucket) wait(tokens float64) time.Duration {
	if tokens >= -grain {
		return 0
	}
	ns := -tokens / l.rate * 1e9
	switch {
	case ns < math.MaxInt64:
		return time.Duration(math.Ceil(ns - 1e-3))
	case l.is("a long delay overflows"):
		return 0
	}
	return math.MaxInt64
}

// take takes n tokens at t and says when they are there; by is how long the caller
// has.
func (l *debtBucket) take(t time.Time, n int, by time.Duration) (*debtClaim, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fill(t, "a reservation in the past rewinds"); t.Before(l.last) {
		t = l.last
	}
	if l.inf {
		return l.hold(&debtClaim{n: n, act: t, free: true}), true
	}
	switch refuses := n > max(0, l.burst) || n < 0; {
	case n == 0 && l.is("a reservation for 0 empties the bucket"):
		l.tokens = min(0, l.tokens)
	case n == 0 && l.is("a reservation for 0 makes others final"):
		l.keepAll()
	case n < 0 && l.is("a reservation for a negative number adds tokens"),
		refuses && l.is("a reservation that is refused takes its tokens"):
		l.tokens -= float64(n)
		return nil, false
	case refuses:
		return nil, false
	}
	d := l.wait(l.tokens - float64(n))
	switch l.mutant {
	case "a delay is for its own tokens":
		d = l.wait(-float64(n))
	case "a delay is a tenth too short":
		d = d * 9 / 10
	}
	never := d > 0 && l.rate == 0 && (l.is(refusesNever) || l.is("what never comes is refused and taken"))
	if never || d > by && !l.is("a deadline is not looked at") {
		if l.is("what never comes is refused and taken") || l.is("a wait that is refused takes its tokens") {
			l.tokens -= float64(n)
		}
		return nil, false
	}
	if l.tokens -= float64(n); l.is("a debt is forgiven") {
		l.tokens = max(0, l.tokens)
	}
	for _, o := range l.held {
		o.past = o.past || l.is("who is due has nobody behind") && !o.act.After(t)
	}
	return l.hold(&debtClaim{n: n, act: t.Add(d)}), true
}

func (l *debtBucket) hold(c *debtClaim) *debtClaim {
	c.l, c.rate, c.per, c.room, c.changes = l, l.rate, l.per, math.Inf(1), l.changes
	l.held = append(l.held, c)
	return c
}

// cancelAt gives back what c took, less what was taken after it.
func (c *debtClaim) cancelAt(t time.Time) {
	l := c.l
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fill(t, "a cancel in the past rewinds")
	if t.Before(l.last) && !l.is("a late cancel about an earlier instant refunds") {
		t = l.last
	}
	if c.free && !l.is("what was free is refunded") || c.gone && !l.is("a second cancel refunds again") {
		return
	}
	late := t.After(c.act) || t.Equal(c.act) && l.is("a cancel at its instant is too late")
	switch {
	case late && l.is("a late cancel panics"):
		panic("it is too late")
	case late && !l.is("a late cancel refunds"):
		return
	case l.is("a cancel looks and refunds under two locks"):
		l.mu.Unlock()
		runtime.Gosched()
		l.mu.Lock()
	}
	c.gone = true
	later, after := 0, false
	for _, o := range l.held {
		if l.is("a cancel forgets those who came after a change") && o.changes > c.changes {
			continue
		}
		if after && !o.gone && !o.free && !c.past {
			if later += o.n; l.is("a cancel sees four later reservations") {
				later = min(later, 4) // of one token each
			}
		}
		after = after || o == c
	}
	most := float64(max(0, c.n-later))
	back := max(0, min(most, c.room))
	switch l.cancels++; l.mutant {
	case "a cancel brings what would have been lost", "a cancel brings what there was no room for",
		"what comes back may be more than the bucket holds":
		back = most
	case "a cancel after a new limit refunds nothing":
		if c.rate != l.rate {
			back = 0
		}
	case "the third cancel refunds nothing":
		if l.cancels == 3 {
			back = 0
		}
	case "a cancel refunds in units of the period of its time":
		if l.per != c.per {
			back = min(back, back*c.per.Seconds()/l.per.Seconds())
		}
	case "a cancel refunds everything":
		back = float64(c.n)
	case "a cancel refunds twice":
		back *= 2
	case "a cancel takes the tokens again":
		back = -float64(c.n)
	case "a cancel after an infinite rate takes the tokens again":
		if l.endless {
			back = -float64(c.n)
		}
	case "a cancel refunds a token at most":
		back = min(1, back)
	case "a cancel refunds whole tokens only":
		back = math.Floor(back)
	}
	if l.tokens += back; !l.is("what comes back may be more than the bucket holds") {
		l.tokens = min(l.full(), l.tokens)
	}
	c.room -= back
	if l.is("a cancel that brought less may come again") {
		c.gone = back == float64(c.n)
		c.n -= int(back)
	}
	l.share(c, back)
}

// share takes what c gives back off the room of the others: what two have lost together is given back once.
func (l *debtBucket) share(c *debtClaim, back float64) {
	if l.is("what two have lost together comes back twice") {
		return
	}
	i := slices.Index(l.held, c)
	for _, o := range l.held[:i] {
		o.room = min(o.room, c.room)
	}
	for _, o := range l.held[i+1:] {
		if !l.is("what comes back of one leaves the room of the next") {
			o.room -= back
		}
	}
}

func (c *debtClaim) delay(t time.Time) time.Duration { return max(0, c.act.Sub(t)) }

func (l *debtBucket) waitN(ctx context.Context, n int) error {
	if err := ctx.Err(); err != nil && !l.is("a context is looked at only while it sleeps") {
		return err
	}
	if l.is("a wait never gets more than the burst") && n > l.burst ||
		l.is("a wait for what is there is refused at a tiny rate") && l.rate < 1e-9 {
		return errTooMany
	}
	now := l.clock.Now()
	by := patience(ctx, now)
	if l.is("a deadline is compared with package time") {
		by = patience(ctx, time.Now())
	}
	c, ok := l.take(now, n, by)
	if l.is("a wait for more than the burst empties the bucket") && n > l.burst {
		l.mu.Lock()
		l.tokens = min(0, l.tokens)
		l.mu.Unlock()
	}
	if !ok {
		return l.reason(n)
	}
	d, clock := c.delay(now), l.clock
	switch l.mutant {
	case "a wait wakes early":
		d = d * 9 / 10
	case "a wait sleeps whole milliseconds":
		d = d.Truncate(time.Millisecond)
	case "a wait wakes late":
		d += time.Millisecond
	case "a wait sleeps on package time":
		clock = clockwork.NewRealClock()
	case "panics where a nanosecond is missing":
		if d == 1 {
			panic("a timer of nothing")
		}
	}
	if d > 0 && !zoo.Sleep(clock, d, ctx.Done()) {
		if l.is("a cancelled wait leaves a goroutine") {
			zoo.LeaveForGood()
		}
		if !l.is("a cancelled wait keeps its tokens") {
			c.cancelAt(l.clock.Now())
		}
		if l.is("a cancelled wait returns an error of its own") {
			return errTooLate
		}
		return ctx.Err()
	}
	if l.is("a wait takes nothing in the end") {
		l.mu.Lock()
		l.tokens += float64(n)
		l.mu.Unlock()
	}
	return nil
}

// reason is the error of a wait whose tokens come too late, or never.
func (l *debtBucket) reason(n int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.is(givesReasons) && n <= l.burst && l.rate > 0 {
		return context.DeadlineExceeded
	}
	return errTooLate
}

func (l *debtBucket) setLimit(t time.Time, r lt.Rate) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.is("a limit of 0 forgets what has accrued") && r.Events == 0:
		l.last = t
	case !l.is("a new limit counts from the beginning"):
		l.fill(t, "a limit that is set in the past rewinds")
	}
	if l.is("a new limit divides by what is there") {
		_ = 1 / int(l.tokens)
	}
	l.changes++
	l.limit(r)
	if l.is("a new limit fills the bucket") {
		l.tokens = float64(l.burst)
	}
}

func (l *debtBucket) setBurst(t time.Time, burst int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fill(t, "a burst that is set in the past rewinds")
	old := l.burst
	l.changes++
	l.burst = burst
	switch {
	case l.is("a new burst divides by what is there"):
		_ = 1 / int(l.tokens)
	case l.is("a lower burst is pro-rated") && burst < old:
		l.tokens *= float64(burst) / float64(old)
	case l.is("a burst of 0 is for good") && old == 0:
		l.tokens = math.Inf(-1) // as what divides by it may be
	case l.is("a higher burst brings tokens"):
		l.tokens += float64(max(0, burst-old))
	case l.is(followsBurst):
		l.tokens += float64(burst - old)
	case l.is("a burst is set without the lock"):
		tokens := l.tokens
		l.mu.Unlock()
		runtime.Gosched()
		l.mu.Lock()
		l.tokens = tokens
	case l.is("a lower burst puts off the next token") && burst < old:
		l.last = t.Add(time.Hour)
	}
	if !l.is("a lower burst leaves the tokens") && !l.is("a lower burst leaves the tokens for old instants") {
		l.tokens = min(l.tokens, float64(burst))
	}
}
