package debounce

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/escapement-go/escapement/internal/goroutine"
	"github.com/jonboulle/clockwork"
)

// A Debouncer runs a function once a burst of calls is over: at exactly the
// newest call plus wait, with the newest value.
//
// It keeps one timer and re-arms it lazily: a call during a burst only notes
// its time, and the timer, when it expires, goes back to sleep for what is left
// of the quiet period.
//
// The zero Debouncer has no function to run: its Call panics, and its other
// methods find nothing to do. Make one with [New].
//
// The quiet period is closed at its end: a call at exactly newest + wait comes
// too late if the firing was decided first, and otherwise extends the burst. A
// wait of 0 means that every call fires, and synchronously: see Call.
//
// The function runs on the goroutine of the timer, or on that of the caller
// (Flush, and Call if wait is 0). A firing that falls due while the function is
// running is decided anew when it returns, and runs on the same goroutine. If
// the function panics, the panic goes where package time or the caller would
// see it; the Debouncer stays usable.
//
// An idle Debouncer holds no goroutine and no armed timer; neither does one
// after Stop or Cancel. Its timer is made by the first Call that needs it: in a
// synctest bubble, make that first Call in the bubble, and leave the Debouncer
// there. A clock that goes back may delay a firing, by wait at most.
//
// All methods are safe for concurrent use.
type Debouncer[T any] struct {
	wait  time.Duration
	f     func(T)
	clock clockwork.Clock // nil: package time

	mu      sync.Mutex
	stopped bool

	// The burst. While pending, the timer is armed, for base + newest + wait or
	// earlier, or its function is about to take mu, or leave will arm it.
	pending bool
	value   T             // of the newest call
	base    time.Time     // when the burst began
	newest  time.Duration // the newest call, counted from base
	timer   timer         // nil until the first burst

	// The execution. Callbacks run one after the other, all on the goroutine
	// that set running; queue is what it has to run next, due already.
	running bool
	runner  atomic.Uint64 // its goroutine; written before a callback, without mu
	queue   []job[T]
	done    sync.Cond // L is mu: a callback has ended, or an outcome is known
}

// timer is what *time.Timer and clockwork.Timer have in common.
type timer interface {
	Reset(time.Duration) bool
	Stop() bool
}

// job is a value that is due.
type job[T any] struct {
	value T
	out   *outcome // nil: nobody waits for it
}

// outcome is what became of a job.
type outcome struct {
	known bool
	ran   bool // false: Cancel or Stop dropped it
}

// New returns a Debouncer that runs f when no call has come for wait. It panics
// if wait is negative or f is nil. It starts no goroutine and no timer.
func New[T any](wait time.Duration, f func(T), opts ...Option) *Debouncer[T] {
	if wait < 0 {
		panic(fmt.Sprintf("debounce: New: wait %v must be >= 0", wait))
	}
	if f == nil {
		panic("debounce: New: f must not be nil: pass the function to run")
	}
	var cfg config
	for _, opt := range opts {
		if opt != nil {
			opt(&cfg)
		}
	}
	d := &Debouncer[T]{wait: wait, f: f, clock: cfg.clock}
	d.done.L = &d.mu
	return d
}

// Call makes v the newest value and the end of the quiet period wait from now.
// It does not block on a running callback.
//
// If wait is 0, Call runs f(v) itself before it returns, and then whatever
// other calls have left behind meanwhile; if a callback is running, it leaves v
// to the goroutine that runs it. Every call fires, one at a time, in order.
//
// After Stop, Call does nothing. On a zero Debouncer it panics.
func (d *Debouncer[T]) Call(v T) {
	d.mu.Lock()
	if !d.pending {
		d.first(v)
		return
	}
	d.value, d.newest = v, d.since()
	d.mu.Unlock()
}

// first is Call with no burst to join. It releases mu.
func (d *Debouncer[T]) first(v T) {
	switch {
	case d.f == nil:
		d.mu.Unlock()
		panic("debounce: Call: zero Debouncer: use New")
	case d.stopped:
	case d.wait == 0:
		d.queue = append(d.queue, job[T]{value: v})
		if !d.running {
			d.run()
			return
		}
	default:
		d.pending, d.value = true, v
		d.begin()
		if len(d.queue) == 0 { // Otherwise leave will arm the timer, or has, for now.
			d.arm(d.wait)
		}
	}
	d.mu.Unlock()
}

// Cancel drops the call that has not fired yet. True means that there was one,
// and that nothing will run for it; false, that nothing was pending or that its
// firing had been decided already, so that f is about to run, is running, or
// has run. Cancel does not wait for a running callback.
func (d *Debouncer[T]) Cancel() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.drop()
}

// Flush runs f now, on the caller's goroutine, if a call is pending, and reports
// whether it did. The deadline is dead with it: the next call begins a burst.
//
// If a callback is running, its goroutine runs f once more, right after it, and
// Flush waits for that. Called by the callback, Flush does not wait: true then
// means that f will run as soon as the callback has returned. Flush reports
// false if Cancel or Stop drop the call before that. It must not be called
// by a goroutine for which the callback waits.
func (d *Debouncer[T]) Flush() bool {
	d.mu.Lock()
	if d.pending {
		d.timer.Stop()
		d.queue = append(d.queue, job[T]{value: d.take()})
	}
	if len(d.queue) == 0 {
		d.mu.Unlock()
		return false
	}
	if !d.running {
		d.run()
		return true
	}
	defer d.mu.Unlock()
	if d.runner.Load() == goroutine.ID() {
		return true
	}
	last := &d.queue[len(d.queue)-1]
	if last.out == nil {
		last.out = new(outcome)
	}
	out := last.out
	for !out.known {
		d.done.Wait()
	}
	return out.ran
}

// Pending reports whether a call has not fired yet and is not cancelled: whether
// Cancel would find something to drop. In the callback, the call for which it
// runs is no longer pending.
func (d *Debouncer[T]) Pending() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.pending || len(d.queue) > 0
}

// Stop drops the call that has not fired yet and ends the Debouncer. It returns
// when a running callback has finished, unless the callback itself calls it:
// after Stop nothing of the Debouncer runs, and Call, Cancel, Flush and Pending
// find nothing to do. Stop may be called again, and waits again; it must not be
// called by a goroutine for which the callback waits.
func (d *Debouncer[T]) Stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = true
	d.drop()
	if d.running && d.runner.Load() != goroutine.ID() {
		for d.running {
			d.done.Wait()
		}
	}
}

// expire is the function of the timer. It may come late, after a newer call or
// for a burst that is long over, so it trusts nothing but the state it finds.
func (d *Debouncer[T]) expire() {
	d.mu.Lock()
	if d.running {
		d.mu.Unlock() // The runner will see what is due when its callback ends.
		return
	}
	d.run()
}

// run runs all that is due, and leaves the timer armed for what is not. It is
// called with mu held and nothing running, and releases mu.
func (d *Debouncer[T]) run() {
	d.running = true
	defer d.leave()
	for {
		j, ok := d.next()
		if !ok {
			return
		}
		d.fire(j)
	}
}

// next decides: it takes what is due, the longest waiting first.
func (d *Debouncer[T]) next() (j job[T], ok bool) {
	if len(d.queue) > 0 {
		j, d.queue[0] = d.queue[0], j
		d.queue = d.queue[1:]
		return j, true
	}
	if !d.pending || d.rest() > 0 {
		return j, false
	}
	j.value = d.take()
	return j, true
}

// fire runs the callback without mu, and has mu again even if it panics.
func (d *Debouncer[T]) fire(j job[T]) {
	d.mu.Unlock()
	defer func() {
		d.mu.Lock()
		j.out.set(true)
		d.done.Broadcast()
	}()
	// A Stop or Flush that comes before the store belongs to another goroutine
	// and waits, as it should. Asking only then who is running would be free
	// for a firing, but nothing can tell them.
	if d.runner.Load() == 0 {
		d.runner.Store(goroutine.ID())
	}
	d.f(j.value)
}

// leave ends a run. After a panic, there may be a queue: the timer takes it on.
func (d *Debouncer[T]) leave() {
	d.running = false
	d.runner.Store(0)
	if len(d.queue) > 0 {
		d.arm(0)
	} else if d.pending {
		d.arm(d.rest())
	}
	d.mu.Unlock()
}

// begin begins a burst, or begins it anew, at the present instant.
func (d *Debouncer[T]) begin() {
	d.newest = 0
	if d.clock == nil {
		d.base = time.Now()
	} else {
		d.base = d.clock.Now()
	}
}

// arm lets expire run after wait.
func (d *Debouncer[T]) arm(wait time.Duration) {
	switch {
	case d.timer != nil:
		d.timer.Reset(wait)
	case d.clock == nil:
		d.timer = time.AfterFunc(wait, d.expire)
	default:
		d.timer = d.clock.AfterFunc(wait, d.expire)
	}
}

// since returns the time since the burst began.
func (d *Debouncer[T]) since() time.Duration {
	if d.clock == nil {
		return time.Since(d.base) // Half the price of time.Now.
	}
	return d.clock.Since(d.base)
}

// rest returns how much of the quiet period is left: for the timer to wait, or,
// if nothing, to fire.
func (d *Debouncer[T]) rest() time.Duration {
	now := d.since()
	if now < d.newest { // The clock went back: do not wait until it is here again.
		d.begin()
		return d.wait
	}
	return d.wait - (now - d.newest)
}

// take takes the newest value and ends the burst.
func (d *Debouncer[T]) take() (v T) {
	d.pending = false
	v, d.value = d.value, v
	return v
}

// drop forgets all that has not been decided, and reports whether there was any.
func (d *Debouncer[T]) drop() bool {
	found := d.pending || len(d.queue) > 0
	if d.timer != nil {
		d.timer.Stop()
	}
	d.take()
	for _, j := range d.queue {
		j.out.set(false)
	}
	d.queue = nil
	d.done.Broadcast()
	return found
}

// set makes the outcome known, if anybody waits for it.
func (o *outcome) set(ran bool) {
	if o != nil {
		o.known, o.ran = true, ran
	}
}
