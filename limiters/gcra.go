package limiters

import (
	"sync/atomic"
	"time"

	"github.com/jonboulle/clockwork"
)

// A GCRA grants events at a rate with bursts, as a [TokenBucket] does, by the generic cell
// rate algorithm of ATM networks (ITU-T I.371, virtual scheduling). Its state is one
// number, the theoretical arrival time of the next event if events came evenly. An event
// is granted if it comes at most burst-1 intervals before that, and then moves it on by an
// interval.
//
// It decides exactly as a bucket of burst tokens into which one token flows per
// interval: so burst events at once when it has been idle, then one per interval. It
// counts in whole nanoseconds, and nothing is rounded. The envelope is closed at its
// end: a token that takes exactly d is granted d later.
//
// To choose: a GCRA takes no lock, so goroutines do not wait for each other. A
// [TokenBucket] also has intervals that are no whole number of nanoseconds, can wait
// and reserve, and can change its rate.
//
// The zero GCRA rejects all events (other than n == 0). Make one with [NewGCRA].
//
// Any instant is allowed, also the zero time. An instant before the newest grant is
// taken as it is: fewer events are left there, so it may be denied where a
// [TokenBucket], which counts it as the newest, still has tokens. It never grants more.
//
// In a synctest bubble, use a GCRA that has not granted anything outside of it.
//
// It has no goroutines, timers or locks: a grant is one compare-and-swap, a denial
// only reads. All methods are safe for concurrent use, and take effect one after the other.
type GCRA struct {
	clock *clockwork.Clock // nil: package time. One word, so that a GCRA is 64 bytes, a line of the cache
	cellRate

	epoch atomic.Pointer[gcraEpoch] // nil: nothing granted yet
	first gcraEpoch                 // the first one, unless two goroutines begin it
}

// A gcraEpoch is the state as counted from an instant that was granted. The first
// grant, and one that is very much later, begin an epoch.
type gcraEpoch struct {
	base time.Time
	tat  atomic.Int64 // the theoretical arrival time, or over
}

const (
	tooFar = 1 << 60 // 36 years: a grant so long after the base begins an epoch
	over   = 1 << 62 // the next epoch has begun. Later than any arrival time
)

// NewGCRA returns a GCRA of one event per interval, and burst at once. A negative
// burst is 0. It panics if interval is less than a nanosecond, or burst intervals
// are more than 73 years.
func NewGCRA(interval time.Duration, burst int, opts ...Option) *GCRA {
	rate := newCellRate("NewGCRA", interval, burst)
	var cfg config
	for _, opt := range opts {
		if opt != nil {
			opt(&cfg)
		}
	}
	g := &GCRA{cellRate: rate}
	if clock := cfg.clock; clock != nil {
		g.clock = &clock
	}
	return g
}

// Allow reports whether an event may happen now, and grants it if so.
func (g *GCRA) Allow() bool {
	ep := g.epoch.Load()
	if ep == nil || g.clock != nil {
		return g.allow(1).Allowed
	}
	now := max(int64(time.Since(ep.base)), -tooFar) // Half the price of time.Now.
	for tat := ep.tat.Load(); tat != over && now <= tooFar; tat = ep.tat.Load() {
		next := max(now, tat) + g.interval
		if next-g.interval*g.burst > now {
			return false
		}
		if ep.tat.CompareAndSwap(tat, next) {
			return true
		}
	}
	return g.allow(1).Allowed
}

// AllowN reports whether n events may happen at t, all of them or none, and grants them if
// so. It reads no clock. If n is 0 the answer is true, if n is negative it is false, and
// neither changes anything.
func (g *GCRA) AllowN(t time.Time, n int) bool {
	if ep := g.epoch.Load(); ep != nil {
		if _, retry, ok := g.swap(ep, ep.at(t), n); ok {
			return retry == 0
		}
	}
	return g.AllowAt(t, n).Allowed
}

// allow grants n events now, all of them or none.
func (g *GCRA) allow(n int) Decision {
	if now, next, retry, ok := g.swapNow(n); ok {
		return g.result(now, next, retry)
	}
	if g.clock != nil {
		return g.AllowAt((*g.clock).Now(), n)
	}
	return g.AllowAt(time.Now(), n)
}

// swapNow is swap now, on package time.
func (g *GCRA) swapNow(n int) (now, next int64, retry time.Duration, ok bool) {
	ep := g.epoch.Load()
	if ep == nil || g.clock != nil {
		return 0, 0, 0, false
	}
	now = max(int64(time.Since(ep.base)), -tooFar) // Half the price of time.Now.
	next, retry, ok = g.swap(ep, now, n)
	return now, next, retry, ok
}

// AllowAt grants n events at t, all of them or none. It reads no clock. With n == 0 it only reports what remains and
// when one event will be granted. A negative n, or one above burst, is denied: it can never be granted.
func (g *GCRA) AllowAt(t time.Time, n int) (d Decision) {
	if ep := g.epoch.Load(); ep != nil {
		now := ep.at(t)
		if next, retry, ok := g.swap(ep, now, n); ok {
			g.tell(&d, now, next, retry)
			return d
		}
	}
	for {
		if d, ok := g.decide(g.epoch.Load(), t, n); ok {
			return d
		}
	}
}

// at returns how long after its base t is.
func (ep *gcraEpoch) at(t time.Time) int64 { return max(int64(t.Sub(ep.base)), -tooFar) }

// swap decides on n > 0 events at now, unless ep is over or should be, and returns what the
// theoretical arrival time is then.
func (g *GCRA) swap(ep *gcraEpoch, now int64, n int) (next int64, retry time.Duration, ok bool) {
	if n == 0 || now > tooFar {
		return 0, 0, false
	}
	for tat := ep.tat.Load(); tat != over; tat = ep.tat.Load() {
		next, retry = g.judge(now, tat, n)
		if retry > 0 || ep.tat.CompareAndSwap(tat, next) {
			return next, retry, true
		}
	}
	return 0, 0, false
}

// decide decides at t, unless ep is over.
func (g *GCRA) decide(ep *gcraEpoch, t time.Time, n int) (d Decision, ok bool) {
	var now, tat int64
	if ep != nil {
		now, tat = min(ep.at(t), over), ep.tat.Load()
	}
	next, retry := g.judge(now, tat, n)
	switch {
	case tat == over:
		return d, false
	case n == 0:
		return g.peek(now, tat), true
	case retry > 0:
		return g.result(now, next, retry), true
	case ep == nil:
		// It begins with its first grant: one that began before would deny what is earlier,
		// though nothing was granted.
		return g.result(0, next, 0), g.begin(nil, t, next)
	case now <= tooFar:
		return g.result(now, next, 0), ep.tat.CompareAndSwap(tat, next)
	}
	if ok = ep.tat.CompareAndSwap(tat, over); ok {
		g.begin(ep, t, next-now) // Until then the others try again.
	}
	return g.result(now, next, 0), ok
}

// begin begins an epoch after old, unless another has begun.
func (g *GCRA) begin(old *gcraEpoch, t time.Time, tat int64) bool {
	ep := &g.first
	if old != nil || !ep.tat.CompareAndSwap(0, tat) {
		ep = new(gcraEpoch)
		ep.tat.Store(tat)
	}
	ep.base = t
	return g.epoch.CompareAndSwap(old, ep)
}

// Fresh reports whether earlier grants no longer matter: from now on it decides as a new
// one would. It is what a [Keyed] asks.
func (g *GCRA) Fresh() bool {
	if ep := g.epoch.Load(); ep != nil && g.clock == nil {
		return ep.tat.Load() <= int64(time.Since(ep.base)) // over is later than any
	}
	return g.allow(0).ResetAfter <= 0
}
