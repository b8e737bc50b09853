package limiters

import (
	"context"
	"fmt"
	"math"
	"time"
)

// A Decision is a limiter's answer to a request for n events, with its state afterwards, as
// an HTTP server needs it for headers. The zero Decision is a denial without numbers.
type Decision struct {
	// Allowed says whether all n events were granted.
	Allowed bool
	// Limit is the most events that can be granted together, or in Window: math.MaxInt if
	// there is no limit.
	Limit int
	// Window is the period of Limit: the length of a window, or the time in which a
	// bucket fills, InfDuration if it never does.
	Window time.Duration
	// Remaining is how many more could be granted at the same instant.
	Remaining int
	// RetryAfter is how much later the n events will be granted, if there are no others,
	// and not sooner. It is 0 if they were granted, and InfDuration if they never can
	// be. With n == 0 it is that of one event: 0 if one could be granted now.
	RetryAfter time.Duration
	// ResetAfter is how long until the limiter decides like a new one: InfDuration if it never does.
	ResetAfter time.Duration
}

// A Taker decides whether the user of a key may do n things now, all or none, and counts them
// if so; it does not wait for tokens. [FixedWindow], [SlidingLog], [SlidingCounter], [GCRA] and
// [TokenBucket] implement it, with one limit for all keys; a [Keyed] of these and a [KeyedGCRA],
// with a limit for each; and a limiter on a store shared by many machines can.
//
// With n == 0 the Decision is allowed and nothing is counted: it reports what remains, and in RetryAfter when one
// event will be granted. A negative n is denied. An error means that there is no decision, and the Decision is zero:
// it is that of ctx if ctx is already done, or [ErrTooManyKeys] of a limiter with keys. The limiters of this package
// use ctx for nothing else, panic if it is nil, and do not block. A Taker is safe for concurrent use.
type Taker interface {
	Take(ctx context.Context, key string, n int) (Decision, error)
}

var (
	_ Taker = (*FixedWindow)(nil)
	_ Taker = (*SlidingLog)(nil)
	_ Taker = (*SlidingCounter)(nil)
	_ Taker = (*GCRA)(nil)
	_ Taker = (*TokenBucket)(nil)
	_ Taker = (*Keyed[string, *GCRA])(nil)
	_ Taker = (*KeyedGCRA[string])(nil)
)

// Take decides on n events now; see [Taker]. The key does not matter.
func (w *FixedWindow) Take(ctx context.Context, _ string, n int) (d Decision, err error) {
	if ctx == nil {
		noContext("FixedWindow.Take")
	}
	if err := ctx.Err(); err != nil {
		return Decision{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tell(&d, w.now(), n)
	return d, nil
}

// AllowAt decides on n events at t as AllowN does, and reports what remains and when to
// try again.
func (w *FixedWindow) AllowAt(t time.Time, n int) (d Decision) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tell(&d, t, n)
	return d
}

// tell decides, and sets d, which is zero: to return it would copy it.
func (w *FixedWindow) tell(d *Decision, t time.Time, n int) {
	w.decided(d, w.take(t, n), n)
	d.Remaining = w.remaining(t)
	if d.Remaining < w.limit {
		d.ResetAfter = less(w.window, t.Sub(w.start))
	}
	if d.RetryAfter == 0 && (!d.Allowed || n == 0 && d.Remaining == 0) {
		d.RetryAfter = d.ResetAfter
	}
}

// decided sets what can be said of a decision without looking at events: RetryAfter only if it
// is InfDuration.
func (w *windows) decided(d *Decision, ok bool, n int) {
	d.Allowed, d.Limit, d.Window = ok, w.limit, w.window
	if n < 0 || max(n, 1) > w.limit {
		d.RetryAfter = InfDuration
	}
}

// Take decides on n events now; see [Taker]. The key does not matter.
func (w *SlidingLog) Take(ctx context.Context, _ string, n int) (d Decision, err error) {
	if ctx == nil {
		noContext("SlidingLog.Take")
	}
	if err := ctx.Err(); err != nil {
		return Decision{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tell(&d, w.now(), n)
	return d, nil
}

// AllowAt decides on n events at t as AllowN does, and reports what remains and when to
// try again.
func (w *SlidingLog) AllowAt(t time.Time, n int) (d Decision) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tell(&d, t, n)
	return d
}

func (w *SlidingLog) tell(d *Decision, t time.Time, n int) {
	w.decided(d, w.take(t, n), n)
	i, left := w.expired(t)
	if d.Remaining = left; i == w.n {
		return
	}
	d.ResetAfter = less(w.window, t.Sub(w.entry(w.n-1).at))
	if d.RetryAfter != 0 || d.Allowed && (n > 0 || left > 0) {
		return
	}
	for left += w.entry(i).n; left < max(n, 1); left += w.entry(i).n {
		i++
	}
	d.RetryAfter = less(w.window, t.Sub(w.entry(i).at))
}

// Take decides on n events now; see [Taker]. The key does not matter.
func (w *SlidingCounter) Take(ctx context.Context, _ string, n int) (d Decision, err error) {
	if ctx == nil {
		noContext("SlidingCounter.Take")
	}
	if err := ctx.Err(); err != nil {
		return Decision{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tell(&d, w.now(), n)
	return d, nil
}

// AllowAt decides on n events at t as AllowN does, and reports what remains and when to
// try again.
func (w *SlidingCounter) AllowAt(t time.Time, n int) (d Decision) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tell(&d, t, n)
	return d
}

func (w *SlidingCounter) tell(d *Decision, t time.Time, n int) {
	v := w.at(t)
	left, ok := w.takeIn(&v, n)
	w.decided(d, ok, n)
	d.Remaining = left
	end := less(w.window, v.since)
	switch {
	case v.current > 0:
		d.ResetAfter = less(end, -w.window)
	case v.before > 0:
		d.ResetAfter = end
	}
	wanted := max(n, 1) // of a look, one
	switch room := w.limit - v.current - wanted; {
	case d.RetryAfter != 0 || d.Allowed && (n > 0 || d.Remaining > 0):
	case room >= 0: // The window before fades out.
		d.RetryAfter = less(w.faded(v.before, room), v.since)
	default: // This one does, after its end.
		d.RetryAfter = less(end, -w.faded(v.current, w.limit-wanted))
	}
}

// Take decides on n events now; see [Taker]. The key does not matter.
func (g *GCRA) Take(ctx context.Context, _ string, n int) (d Decision, err error) {
	if ctx == nil {
		noContext("GCRA.Take")
	}
	if err := ctx.Err(); err != nil {
		return Decision{}, err
	}
	if now, next, retry, ok := g.swapNow(n); ok { // as allow does: to hand its Decision on would take a fifth longer
		g.tell(&d, now, next, retry)
		return d, nil
	}
	return g.allow(n), nil
}

// Take decides on n events now; see [Taker]. The key does not matter.
func (l *TokenBucket) Take(ctx context.Context, _ string, n int) (d Decision, err error) {
	if ctx == nil {
		noContext("TokenBucket.Take")
	}
	if err := ctx.Err(); err != nil {
		return Decision{}, err
	}
	l.lock()
	defer l.mu.Unlock()
	if !l.own || n <= 0 || l.limit == Inf {
		now, _ := l.read()
		return l.allow(now, n, true), nil
	}
	e := time.Since(l.at) // Half the price of time.Now.
	newest := max(e, l.last)
	ok, moved := l.grant(e, int64(n))
	if moved { // at is the newest instant now
		e -= newest
	}
	l.tell(&d, e, int64(n), ok)
	return d, nil
}

// AllowAt decides on n events at t as AllowN does, and reports what remains and when to
// try again. At rate [Inf] that is without a limit, whatever the burst.
func (l *TokenBucket) AllowAt(t time.Time, n int) Decision {
	l.lock()
	defer l.mu.Unlock()
	return l.allow(t, n, false)
}

func (l *TokenBucket) allow(t time.Time, n int, clock bool) (d Decision) {
	if l.limit == Inf {
		d = Decision{Allowed: n >= 0, Limit: math.MaxInt, Remaining: math.MaxInt}
		if n < 0 {
			d.RetryAfter = InfDuration
		}
		return d
	}
	ok := n == 0
	if n > 0 {
		var moved bool
		e := l.after(t)
		if ok, moved = l.grant(e, int64(n)); moved {
			l.moved(t, e, clock)
		}
	}
	l.tell(&d, t.Sub(l.at), int64(n), ok)
	return d
}

// tell says in d, which is zero, how things stand at e after at, where ok was the answer.
func (l *TokenBucket) tell(d *Decision, e time.Duration, n int64, ok bool) {
	d.Allowed, d.Limit, d.Window, d.Remaining = ok, int(l.burst), InfDuration, int(l.burst)
	forever := l.interval == never || l.interval.still() // Of a zero TokenBucket it is not set.
	if !forever {
		d.Window = l.interval.wait(uint64(l.burst), 0, 0)
	}
	if !ok || n == 0 && l.burst == 0 {
		d.RetryAfter = InfDuration
	}
	now := max(e, l.last)
	if l.full(now) {
		return
	}
	missing := uint64(l.burst) - uint64(l.left)
	if forever {
		if d.Remaining, d.ResetAfter = int(max(l.left, 0)), InfDuration; n == 0 && d.Remaining == 0 {
			d.RetryAfter = InfDuration
		}
		return
	}
	// What is complete before the next nanosecond can be granted.
	if !l.interval.fit(missing, uint64(now)+1, l.phase) {
		d.Remaining = int(max(l.left+int64(l.interval.before(uint64(now)+1, l.phase)), 0))
	}
	behind := less(now, e)
	reset, exact := l.interval.left(missing, uint64(now), l.phase)
	if !exact && reset < InfDuration {
		reset++ // The last of it is complete between two nanoseconds.
	}
	if d.ResetAfter = reset; reset < InfDuration {
		d.ResetAfter = less(behind, -reset)
	}
	if !ok && n > 0 && n <= l.burst || n == 0 && d.Remaining == 0 {
		d.RetryAfter = InfDuration
		if wait := l.interval.wait(uint64(max(n, 1))-uint64(l.left), uint64(now), l.phase); wait < InfDuration {
			d.RetryAfter = less(behind, -wait)
		}
	}
}

// Take decides on n events of key now; see [Taker], which a Keyed with keys of type string
// is. It panics if the limiters of k are no [Taker].
func (k *Keyed[K, L]) Take(ctx context.Context, key K, n int) (d Decision, err error) {
	if ctx == nil {
		noContext("Keyed.Take")
	}
	if err := ctx.Err(); err != nil {
		return d, err
	}
	l, use := k.acquire(key)
	if use == nil {
		return d, ErrTooManyKeys
	}
	defer use.calls.Add(-1)
	taker, ok := any(l).(Taker)
	if !ok {
		panic(fmt.Sprintf("limiters: Keyed.Take: a %T has no Take: use Do", l))
	}
	name, _ := any(key).(string)
	return taker.Take(ctx, name, n)
}

// noContext panics in place of a nil dereference.
func noContext(method string) {
	panic("limiters: " + method + ": ctx is nil: use context.Background()")
}

// less is d - by, or the nearest time.Duration.
func less(d, by time.Duration) time.Duration {
	switch diff := d - by; {
	case by < 0 && diff < d:
		return math.MaxInt64
	case by > 0 && diff > d:
		return math.MinInt64
	default:
		return diff
	}
}
