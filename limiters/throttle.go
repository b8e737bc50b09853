package limiters

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jonboulle/clockwork"
)

// A Throttle lets the first event pass, and then none until interval has passed: the
// leading edge of each window. It compares instants, and has no timer and no goroutine.
// Denied events are dropped for good.
//
// Its window opens with an event that passes, not on a grid: at t, with
// [PerWindow](k), the next k-1 events before t+interval pass too, and the first
// one at t+interval or later opens the next. With k = 1 they are at least
// interval apart. With more, k-1 at the end of a window and k at the start of the
// next can be close together: any period of length L has at most
// k * (L/interval + 1) + k-1 of them, the quotient rounded down. For an even flow
// use a [TokenBucket].
//
// Throttling is not debouncing, which asks another question:
//
//	                     debounce                   throttle
//	asks                 has it stopped?            is it too fast?
//	fires                wait after the last event  with the first, then every interval
//	at most              1 per wait                 k per window
//	under constant load  perhaps never              every interval
//	delay                wait                       0 (leading), up to interval (trailing, sample)
//	needs a timer        yes                        not for the leading edge
//
// Nor does a Throttle queue events or block: to queue events use a leaky bucket, to
// block the Wait of a rate limiter.
//
// The zero Throttle lets everything pass, as interval 0 does. A window is half
// open: an event exactly interval after its start is in the next one. The
// first event passes whatever the instant, also the zero time. Instants more than
// 292 years apart count as 292 years apart.
//
// Time may go back. An event that is before the start of the window by interval
// or more opens a window of its own. An event before the start by less than
// interval moves that start back to itself, so the window ends at most interval
// later. So however the clock is set, it takes no longer than interval from the
// first event on until one passes.
//
// In a synctest bubble, use a Throttle that has not seen an event outside of it,
// or Reset it. All methods are safe for concurrent use, and take effect one after
// the other. While time does not go back, denials take no lock; with k = 1 neither
// does an event that opens a window, except the first: that is one compare-and-swap.
type Throttle struct {
	clock    clockwork.Clock // nil: package time
	interval time.Duration
	k        int

	epoch atomic.Pointer[epoch] // nil: no event yet. Stored with mu held
	given atomic.Bool           // windows may begin at instants that are not of the clock

	mu    sync.Mutex
	start time.Duration // of the window, counted from the base of epoch; not if k is 1
	count int           // passed in the window; not if k is 1
}

// An epoch is what can be decided by without the lock.
type epoch struct {
	base time.Time
	full atomic.Int64 // start of a window that lets no more pass, or notFull
}

const (
	notFull = math.MaxInt64
	remote  = 1 << 62 // an epoch is for starts less far from its base
	moment  = 1000    // more than it takes to read the clock and to act on it
)

// A ThrottleOption is an option of [NewThrottle]: [WithClock] or [PerWindow].
type ThrottleOption interface{ applyThrottle(*throttleConfig) }

type throttleConfig struct {
	config
	k int
}

func (o Option) applyThrottle(cfg *throttleConfig) {
	if o != nil {
		o(&cfg.config)
	}
}

type perWindow int

func (k perWindow) applyThrottle(cfg *throttleConfig) { cfg.k = int(k) }

// PerWindow lets k events pass per window, instead of 1. The window opens with
// the first of them. It panics if k is less than 1.
func PerWindow(k int) ThrottleOption {
	if k < 1 {
		panic(fmt.Sprintf("limiters: PerWindow: k %d must be >= 1: to let nothing pass, do not ask", k))
	}
	return perWindow(k)
}

// NewThrottle returns a Throttle of one event, or PerWindow, per interval. If
// interval is 0 everything passes. It panics if interval is negative.
func NewThrottle(interval time.Duration, opts ...ThrottleOption) *Throttle {
	if interval < 0 {
		panic(fmt.Sprintf("limiters: NewThrottle: interval %v must be >= 0: use 0 to let everything pass", interval))
	}
	cfg := throttleConfig{k: 1}
	for _, opt := range opts {
		if opt != nil {
			opt.applyThrottle(&cfg)
		}
	}
	return &Throttle{clock: cfg.clock, interval: interval, k: cfg.k}
}

// Allow reports whether an event passes now.
func (h *Throttle) Allow() bool {
	if h.interval == 0 {
		return true
	}
	ep := h.epoch.Load()
	if ep == nil {
		return h.allow()
	}
	e := ep.now(h.clock)
	if ok, decided := h.decide(ep, e, h.clock == nil); decided {
		return ok
	}
	if h.k == 1 {
		return h.allow()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	// Unless others were here meanwhile, that instant is still good.
	if h.epoch.Load() == ep && e >= h.start && e < remote {
		return h.next(ep, e)
	}
	return h.pass(now(h.clock))
}

// AllowAt reports whether an event at t passes. It reads no clock.
func (h *Throttle) AllowAt(t time.Time) bool {
	if h.interval == 0 {
		return true
	}
	if !h.given.Load() {
		h.given.Store(true)
	}
	if ep := h.epoch.Load(); ep != nil {
		if ok, decided := h.decide(ep, t.Sub(ep.base), false); decided {
			return ok
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.k > 1 {
		return h.pass(t)
	}
	for {
		if ok, decided := h.only(h.full(), t); decided {
			return ok
		}
	}
}

// Reset closes the window: the next event passes as the first did.
func (h *Throttle) Reset() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.epoch.Store(nil)
}

// decide decides at e without the lock, if it can: in a window that lets no more pass and,
// with k = 1, after it. If e is before the window that can mean that the clock was set back,
// or that another goroutine, which read it later, was faster. If e is of package time, and
// so are all windows, and it is a moment that they differ by, it is the latter: then the
// event counts as one at the start of the window, which is an instant between the call and
// now.
func (h *Throttle) decide(ep *epoch, e time.Duration, packageTime bool) (ok, decided bool) {
	for {
		full := ep.full.Load()
		switch {
		case e >= remote:
			return false, false
		case int64(e) < full:
			return false, packageTime && int64(e) > full-moment && full != notFull && !h.given.Load()
		case int64(e)-full < int64(h.interval):
			return false, true
		case h.k > 1:
			return false, false
		case ep.full.CompareAndSwap(full, int64(e)):
			return true, true
		}
	}
}

// allow decides now, with the lock. The window is read before the clock: an instant before
// its start means that the clock was set back.
func (h *Throttle) allow() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.k > 1 {
		return h.pass(now(h.clock))
	}
	for {
		full := h.full()
		if ok, decided := h.only(full, now(h.clock)); decided {
			return ok
		}
	}
}

// full returns the start of the window, where k is 1. Others may move it at any time.
func (h *Throttle) full() int64 {
	if ep := h.epoch.Load(); ep != nil {
		return ep.full.Load()
	}
	return 0
}

// only decides at t with mu held, where k is 1 and the window began at full. If it does
// not any more, nothing is decided.
func (h *Throttle) only(full int64, t time.Time) (ok, decided bool) {
	ep := h.epoch.Load()
	if ep == nil {
		h.epoch.Store(&epoch{base: t})
		return true, true
	}
	gap := t.Sub(ep.base.Add(time.Duration(full)))
	ok = gap >= h.interval || gap <= -h.interval
	switch e := t.Sub(ep.base); {
	case !ok && gap >= 0:
		return false, true
	case e < remote && e > -remote:
		return ok, ep.full.CompareAndSwap(full, int64(e))
	case ep.full.CompareAndSwap(full, notFull): // from here on nobody decides without the lock
		h.epoch.Store(&epoch{base: t})
		return ok, true
	}
	return false, false
}

// next decides at e with mu held, where k is more than 1. It is not before the window.
func (h *Throttle) next(ep *epoch, e time.Duration) bool {
	if e-h.start >= h.interval {
		h.start, h.count = e, 0
		ep.full.Store(notFull)
	}
	return h.take(ep)
}

// pass decides at t with mu held, where k is more than 1.
func (h *Throttle) pass(t time.Time) bool {
	ep := h.epoch.Load()
	if ep == nil {
		h.count = 0
		ep = h.move(nil, t)
	} else if gap := t.Sub(ep.base.Add(h.start)); gap >= h.interval || gap <= -h.interval {
		h.count = 0
		ep = h.move(ep, t)
	} else if gap < 0 {
		ep = h.move(ep, t)
	}
	return h.take(ep)
}

// take lets an event pass that is in the window, if there is room.
func (h *Throttle) take(ep *epoch) bool {
	if h.count == h.k {
		return false
	}
	h.count++
	if h.count == h.k {
		ep.full.Store(int64(h.start))
	}
	return true
}

// move makes t the start of the window.
func (h *Throttle) move(ep *epoch, t time.Time) *epoch {
	var e time.Duration
	if ep != nil {
		e = t.Sub(ep.base)
	}
	far := ep == nil || e >= remote || e <= -remote
	if far {
		ep, e = &epoch{base: t}, 0
	}
	h.start = e
	if h.count == h.k {
		ep.full.Store(int64(e))
	} else {
		ep.full.Store(notFull)
	}
	if far {
		h.epoch.Store(ep)
	}
	return ep
}

// now returns how long after the base it is on clock.
func (ep *epoch) now(clock clockwork.Clock) time.Duration {
	if clock != nil {
		return clock.Now().Sub(ep.base)
	}
	return time.Since(ep.base) // Half the price of time.Now.
}

// within reports whether e is in the window that lets no more pass.
func (ep *epoch) within(e, interval time.Duration) bool {
	full := ep.full.Load()
	return int64(e) >= full && e < remote && int64(e)-full < int64(interval)
}

// now returns the instant on clock, or that of package time.
func now(clock clockwork.Clock) time.Time {
	if clock != nil {
		return clock.Now()
	}
	return time.Now()
}
