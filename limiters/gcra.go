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
	clock clockwork.Clock // nil: package time
	cellRate

	epoch atomic.Pointer[gcraEpoch] // nil: nothing granted yet
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
	return &GCRA{clock: cfg.clock, cellRate: rate}
}

// Allow reports whether an event may happen now, and grants it if so.
func (g *GCRA) Allow() bool {
	ep := g.epoch.Load()
	if ep == nil || g.clock != nil {
		return g.allow(1).Allowed
	}
	now := max(int64(time.Since(ep.base)), -tooFar) // Half the price of time.Now.
	for {
		tat := ep.tat.Load()
		if tat == over || now > tooFar {
			return g.allow(1).Allowed
		}
		next := max(now, tat) + g.interval
		if next-g.interval*g.burst > now {
			return false
		}
		if ep.tat.CompareAndSwap(tat, next) {
			return true
		}
	}
}

// AllowN reports whether n events may happen at t, all of them or none, and grants them if
// so. It reads no clock. If n is 0 the answer is true, if n is negative it is false, and
// neither changes anything.
func (g *GCRA) AllowN(t time.Time, n int) bool { return g.AllowAt(t, n).Allowed }

// allow grants n events now, all of them or none.
func (g *GCRA) allow(n int) Decision {
	if g.clock != nil {
		return g.AllowAt(g.clock.Now(), n)
	}
	if ep := g.epoch.Load(); ep != nil {
		if now := time.Since(ep.base); now <= tooFar {
			if r, ok := g.decide(ep, time.Time{}, int64(now), n); ok {
				return r
			}
		}
	}
	return g.AllowAt(time.Now(), n)
}

// AllowAt grants n events at t, all of them or none. It reads no clock. With n == 0 it only reports what remains and
// when one event will be granted. A negative n, or one above burst, is denied: it can never be granted.
func (g *GCRA) AllowAt(t time.Time, n int) Decision {
	for {
		ep := g.epoch.Load()
		if ep == nil {
			// The epoch begins with its first grant: one that began before would deny what is
			// earlier, though nothing was granted.
			if n == 0 {
				return g.peek(0, 0)
			}
			next, retry := g.judge(0, 0, n)
			if retry > 0 || g.begin(nil, t, next) {
				return g.result(0, next, retry)
			}
			continue
		}
		if r, ok := g.decide(ep, t, int64(t.Sub(ep.base)), n); ok {
			return r
		}
	}
}

// begin begins an epoch after old, unless another has begun.
func (g *GCRA) begin(old *gcraEpoch, t time.Time, tat int64) bool {
	ep := &gcraEpoch{base: t}
	ep.tat.Store(tat)
	return g.epoch.CompareAndSwap(old, ep)
}

// decide decides at t, which is now after the base of ep, unless that is over.
func (g *GCRA) decide(ep *gcraEpoch, t time.Time, now int64, n int) (r Decision, ok bool) {
	now = min(max(now, -tooFar), over)
	for {
		tat := ep.tat.Load()
		if tat == over {
			return r, false
		}
		if n == 0 {
			return g.peek(now, tat), true
		}
		next, retry := g.judge(now, tat, n)
		if retry > 0 {
			return g.result(now, next, retry), true
		}
		if now <= tooFar {
			if ep.tat.CompareAndSwap(tat, next) {
				return g.result(now, next, 0), true
			}
		} else if ep.tat.CompareAndSwap(tat, over) {
			g.begin(ep, t, next-now) // Until then the others try again.
			return g.result(now, next, 0), true
		}
	}
}

// Fresh reports whether earlier grants no longer matter: from now on it decides as a new
// one would. It is what a [Keyed] asks.
func (g *GCRA) Fresh() bool { return g.allow(0).ResetAfter <= 0 }
