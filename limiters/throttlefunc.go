package limiters

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/escapement-go/escapement/internal/stackmark"
	"github.com/jonboulle/clockwork"
)

// Edges are the ends of a window at which a [ThrottleFunc] runs its function:
// Leading, Trailing, Leading|Trailing, or Sample alone.
type Edges uint8

const (
	Leading  Edges = 1 << iota // the first event, at once; alone, the rest is dropped
	Trailing                   // the newest event, at the end of the window
	Sample                     // the newest event, at the end of each interval of a fixed grid
)

// A ThrottleFuncOption is an option of [NewThrottleFunc]: [WithClock] or [Edges].
type ThrottleFuncOption interface {
	applyThrottleFunc(*throttleFuncConfig)
}

type throttleFuncConfig struct {
	config
	edges Edges
}

func (o Option) applyThrottleFunc(cfg *throttleFuncConfig) {
	if o != nil {
		o(&cfg.config)
	}
}

func (e Edges) applyThrottleFunc(cfg *throttleFuncConfig) { cfg.edges = e }

// A ThrottleFunc runs a function with the events given to Call, at most once per
// interval, and can run it with the newest event where a [Throttle] would drop that.
// Its edges:
//
//   - Leading|Trailing, the default: an event outside of a window opens one and
//     runs at once. If more come within, the newest runs at its end.
//   - Trailing: an event outside of a window opens one; the newest runs at its end.
//   - Leading: as Throttle. There is no timer.
//   - Sample: the first event begins a fixed grid of intervals. The newest event
//     of each runs at its end; one without events runs nothing.
//
// A run at the end of a window opens the next one, so runs are at least interval
// apart; with Sample they are one per interval of the grid. No event runs twice.
//
// The zero ThrottleFunc has no function to run: its Call panics. Make one with
// [NewThrottleFunc]. If a timer is armed, an event at exactly the start of the window
// plus interval belongs to that window if it comes before the timer, otherwise to the
// next; if none is armed, it opens the next window. With interval 0 every event runs,
// in order, before Call returns or, if the function is running, after.
//
// The function runs on the goroutine of the caller (the leading edge, Flush) or of the
// timer, one run at a time and under no lock: it may call any method. An event that
// falls due while it runs follows on the same goroutine, with the newest value, and
// opens its window then; with Leading alone it is dropped. If the function panics, an
// event that had fallen due waits for the timer, or with interval 0 for a Call.
//
// A timer is armed only while an event waits. A clock that goes back delays a run by
// interval at most. All methods are safe for concurrent use.
type ThrottleFunc[T any] struct {
	interval time.Duration
	f        func(T)
	clock    clockwork.Clock // nil: package time
	edges    Edges

	// The window, for Leading alone: what it drops takes no lock. nil: no event yet.
	// Stored with mu held.
	epoch atomic.Pointer[epoch]

	mu      sync.Mutex
	stopped bool
	opened  bool      // start is one
	start   time.Time // of the newest window, or interval of the grid
	pending bool      // value waits for the timer or, if due, for the running f
	due     bool
	value   T
	queue   []T  // with interval 0
	room    [1]T // for a queue of one, as it mostly is
	timer   throttleTimer

	running bool
	mark    stackmark.Mark // on the stack of f
	done    sync.Cond      // L is mu: a run has ended
}

// throttleTimer is what *time.Timer and clockwork.Timer have in common.
type throttleTimer interface {
	Reset(time.Duration) bool
	Stop() bool
}

// NewThrottleFunc returns a ThrottleFunc that runs f. It panics if interval is
// negative, f is nil, or the edges are none of those listed for [Edges].
func NewThrottleFunc[T any](interval time.Duration, f func(T), opts ...ThrottleFuncOption) *ThrottleFunc[T] {
	if interval < 0 {
		panic(fmt.Sprintf("limiters: NewThrottleFunc: interval %v must be >= 0: use 0 to run every event", interval))
	}
	if f == nil {
		panic("limiters: NewThrottleFunc: f must not be nil: pass the function to run")
	}
	cfg := throttleFuncConfig{edges: Leading | Trailing}
	for _, opt := range opts {
		if opt != nil {
			opt.applyThrottleFunc(&cfg)
		}
	}
	if cfg.edges == 0 || cfg.edges > Sample {
		panic(fmt.Sprintf("limiters: NewThrottleFunc: edges %d: use Leading, Trailing, Leading|Trailing or Sample", cfg.edges))
	}
	h := &ThrottleFunc[T]{interval: interval, f: f, clock: cfg.clock, edges: cfg.edges}
	h.done.L = &h.mu
	return h
}

// Call is an event v. It runs the function if v is due at once, and does not wait
// for a run on another goroutine. After Stop it does nothing.
func (h *ThrottleFunc[T]) Call(v T) {
	if h.f == nil {
		panic("limiters: ThrottleFunc.Call: no function to run: use NewThrottleFunc")
	}
	if ep := h.epoch.Load(); ep != nil && ep.within(ep.now(h.clock), h.interval) {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.stopped:
	case h.interval == 0:
		h.queue = append(h.queue, v)
		if !h.running {
			h.run(time.Time{})
		}
	case h.pending:
		h.value = v
	default:
		h.first(v)
	}
}

// first is an event with none pending.
func (h *ThrottleFunc[T]) first(v T) {
	now := h.now()
	gap := now.Sub(h.start)
	if h.edges == Sample && h.opened && gap >= 0 {
		gap %= h.interval
		h.start = now.Add(-gap)
	}
	within := h.opened && gap < h.interval && gap > -h.interval
	switch {
	case within && gap < 0:
		gap = 0
		h.open(now)
	case !within && h.edges&Leading != 0:
		if h.running { // for longer than the window
			if h.edges&Trailing != 0 {
				h.value, h.pending, h.due = v, true, true
			}
			return
		}
		h.value, h.pending = v, true
		h.run(now)
		return
	case !within:
		gap = 0
		h.open(now)
	}
	if h.edges != Leading {
		h.value, h.pending = v, true
		h.arm(h.interval - gap)
	}
}

// Cancel drops the event that waits, if any, and reports whether there was one.
// The window stays.
func (h *ThrottleFunc[T]) Cancel() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.drop()
}

// Flush runs the function now with the event that waits, if any, and reports
// whether there was one. The run opens a window. If the function is running
// already, that run is followed by this one, and Flush does not wait for it.
func (h *ThrottleFunc[T]) Flush() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.pending {
		return false
	}
	h.disarm()
	if h.running {
		h.due = true
	} else {
		h.run(h.now())
	}
	return true
}

// Pending reports whether an event waits: whether Cancel would find one to drop.
func (h *ThrottleFunc[T]) Pending() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.pending || len(h.queue) > 0
}

// Close makes Call do nothing, and runs the function now for the event that waits, on the
// caller's goroutine, or on the one on which it is running already: so the last run may come
// less than interval after the one before. When it returns nil the function is not running,
// unless it is the function that called, and no timer is armed. ctx bounds only how long Close
// waits for another goroutine: if it is done first, Close returns its error, and the event still
// runs. Stop and Cancel drop the event also while Close waits. It panics if ctx is nil.
func (h *ThrottleFunc[T]) Close(ctx context.Context) error {
	if ctx == nil {
		noContext("ThrottleFunc.Close")
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stopped = true
	h.disarm()
	switch {
	case h.running:
		h.due = h.pending
	case h.pending || len(h.queue) > 0:
		h.run(h.now())
	}
	if !h.running || h.mark.On() {
		return nil
	}
	wakes := context.AfterFunc(ctx, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.done.Broadcast()
	})
	defer wakes()
	for h.running && ctx.Err() == nil {
		h.done.Wait()
	}
	if h.running {
		return ctx.Err()
	}
	return nil
}

// Stop drops the event that waits and makes Call do nothing. When it returns the
// function is not running, unless it is the function that called, and no timer is
// armed.
func (h *ThrottleFunc[T]) Stop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stopped = true
	h.drop()
	if h.running && h.mark.On() {
		return
	}
	for h.running {
		h.done.Wait()
	}
}

func (h *ThrottleFunc[T]) drop() bool {
	had := h.pending || len(h.queue) > 0
	var zero T
	clear(h.queue)
	h.value, h.pending, h.due, h.queue = zero, false, false, h.room[:0]
	h.disarm()
	return had
}

// expire is the function of the timer. If it comes for a window that is no more
// it finds nothing pending, or that it is early.
func (h *ThrottleFunc[T]) expire() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.pending || h.due {
		return
	}
	now := h.now()
	switch gap := now.Sub(h.start); {
	case gap < 0: // the clock went back: wait once, not until it is here again
		h.start = now
		h.arm(h.interval)
	case gap < h.interval:
		h.arm(h.interval - gap)
	case h.running:
		h.due = true
	default:
		h.run(now)
	}
}

// run runs what is pending or queued, and then what has fallen due meanwhile. It
// takes and leaves with mu held, also if f panics. With interval 0 it does not ask for
// the time.
func (h *ThrottleFunc[T]) run(now time.Time) {
	h.running = true
	defer h.leave()
	for {
		var v, zero T
		if h.interval == 0 {
			v, h.queue[0] = h.queue[0], zero
			if h.queue = h.queue[1:]; len(h.queue) == 0 {
				h.queue = h.room[:0]
			}
		} else {
			v, h.value, h.pending, h.due = h.value, zero, false, false
			h.begin(now)
		}
		h.mark.Unlocked(&h.mu, func() { h.f(v) })
		switch {
		case len(h.queue) > 0:
		case h.due:
			now = h.now()
		default:
			return
		}
	}
}

// leave ends a run.
func (h *ThrottleFunc[T]) leave() {
	h.running = false
	if h.due { // f panicked
		h.due = false
		h.arm(1)
	}
	h.done.Broadcast()
}

// begin opens the window of a run that begins now.
func (h *ThrottleFunc[T]) begin(now time.Time) {
	if gap := now.Sub(h.start); h.edges == Sample && h.opened && gap >= 0 {
		now = now.Add(-(gap % h.interval))
	}
	h.open(now)
}

// open makes now the start of the window.
func (h *ThrottleFunc[T]) open(now time.Time) {
	h.opened, h.start = true, now
	if h.edges != Leading {
		return
	}
	if ep := h.epoch.Load(); ep != nil {
		if e := now.Sub(ep.base); e < remote && e > -remote {
			ep.full.Store(int64(e))
			return
		}
	}
	h.epoch.Store(&epoch{base: now})
}

func (h *ThrottleFunc[T]) arm(d time.Duration) {
	switch {
	case h.timer != nil:
		h.timer.Reset(d)
	case h.clock != nil:
		h.timer = h.clock.AfterFunc(d, h.expire)
	default:
		h.timer = time.AfterFunc(d, h.expire)
	}
}

func (h *ThrottleFunc[T]) disarm() {
	if h.timer != nil {
		h.timer.Stop()
	}
}

func (h *ThrottleFunc[T]) now() time.Time {
	switch {
	case h.clock != nil:
		return h.clock.Now()
	case h.opened:
		return h.start.Add(time.Since(h.start)) // half the price of time.Now
	}
	return time.Now()
}
