package debounce

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/escapement-go/escapement/internal/stackmark"
	"github.com/jonboulle/clockwork"
)

// ErrStopped is what Close returns if Stop or Cancel dropped the value for which
// it waited.
var ErrStopped = errors.New("debounce: stopped before the pending call could run")

// A Debouncer runs a function once a burst of calls is over: at exactly the newest call
// plus wait, with the newest value. Options make it also run at the first call, or only
// then, and bound how long it can be postponed.
//
// It keeps one timer and re-arms it lazily: a call during a burst only records its
// time, and the timer, when it expires, is armed again for the rest of the quiet
// period.
//
// The zero Debouncer has no function: its Call panics, and its other methods do
// nothing. Make one with [New].
//
// The quiet period is closed at its end: a call at exactly newest + wait extends the
// burst unless its firing was decided first; if nothing is left to fire, it begins a
// burst. A wait of 0 means that every call fires, and synchronously: see Call.
//
// The function runs on the goroutine of the timer, or on that of the caller (Call on
// the leading edge or if wait is 0, Flush, Close). A firing that falls due while the
// function is running is decided again when it returns, and runs on the same goroutine.
// A panic of the function propagates on that goroutine; the Debouncer stays usable.
//
// An idle Debouncer holds no goroutine and no armed timer; neither does one
// after Stop, Cancel or Close. Its timer is made by the first Call that needs it:
// in a synctest bubble, make the first Call in the bubble, and leave the Debouncer
// there. A clock that goes back may delay a firing, by wait at most, or, while
// calls go on, by MaxWait at most.
//
// All methods are safe for concurrent use.
type Debouncer[T any] struct {
	f     func(T)
	clock clockwork.Clock // nil: package time
	idle  func()          // if not nil: called, without mu, when nothing is left of a burst

	mu      sync.Mutex
	stopped bool

	// The burst. While it has something unfired, the timer is armed, for its
	// deadline or earlier, or its function is about to take mu, or leave will arm it.
	burst
	value  T         // of the newest call, while unfired
	base   time.Time // instants are counted from the first call
	begun  bool      // base is set
	timer  timer     // nil until it is needed
	coming int       // how many expire calls the timer has yet to make
	plain  bool      // a first call need not know when it came; see alone
	eager  bool      // what is unfired is due at once: in a Batch of one

	// The execution. Callbacks run one after the other, all on the goroutine
	// that set running; queue is what it has to run next, due already.
	running bool
	mark    stackmark.Mark // on the stack of the callback
	queue   []job[T]
	room    [1]job[T] // for a queue of one, as it mostly is
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

// New returns a Debouncer that runs f when no call has come for wait, or as opts
// say. It panics if wait is negative or f is nil. It starts no goroutine and no
// timer.
func New[T any](wait time.Duration, f func(T), opts ...Option) *Debouncer[T] {
	if f == nil {
		panic("debounce: New: f must not be nil: pass the function to run")
	}
	d := new(Debouncer[T])
	d.init("New", wait, f, apply(opts))
	return d
}

// init makes d what constructor returns.
func (d *Debouncer[T]) init(constructor string, wait time.Duration, f func(T), cfg config) {
	d.f, d.clock, d.burst = f, cfg.clock, cfg.burst(constructor, wait)
	d.queue, d.done.L = d.room[:0], &d.mu
	d.plain = d.clock == nil && d.edges == trailing && d.maxWait == 0 && wait > 0
}

// Call makes v the newest value and the end of the quiet period wait from now. It
// does not block on a running callback.
//
// If the call fires at once, on the leading edge of a burst or because wait is 0, Call
// runs f(v) itself before it returns, and then for values that other calls have left
// meanwhile; if a callback is running, it leaves v to that goroutine. Such calls fire
// one at a time, in order.
//
// After Stop and Close, Call does nothing. On a zero Debouncer it panics.
func (d *Debouncer[T]) Call(v T) {
	d.mu.Lock()
	if !d.unfired {
		d.first(v, v)
		return
	}
	d.value, d.newest = v, d.since()
	d.mu.Unlock()
}

// first is Call with nothing unfired to replace. If v fires at once and also stays
// to fire later, it stays as again. It releases mu.
func (d *Debouncer[T]) first(v, again T) {
	if d.f == nil || d.stopped {
		d.mu.Unlock()
		if d.f == nil {
			panic("debounce: Call: zero Debouncer: use New")
		}
		return
	}
	if d.alone() {
		d.unfired, d.newest, d.value = true, unread, again
		d.arm(d.wait)
		d.mu.Unlock()
		return
	}
	fires := d.burst.call(d.since())
	if fires {
		d.queue = append(d.queue, job[T]{value: v})
	}
	if d.unfired {
		d.value = again
		if d.eager || d.rest(d.newest) <= 0 { // wait is 0
			d.queue, fires = append(d.queue, job[T]{value: d.take()}), true
		}
	}
	switch {
	case fires && !d.running:
		d.run()
		return
	case d.unfired && len(d.queue) == 0: // Otherwise leave will arm the timer, or has, for now.
		d.arm(d.rest(d.newest))
	}
	d.mu.Unlock()
}

// alone reports whether a call with nothing unfired needs no read of the clock, which is a third
// of its price: if it stays alone it is due when the timer expires that is armed now. So expire
// must have begun for whatever the timer was armed for before.
func (d *Debouncer[T]) alone() bool {
	return d.plain && !d.eager && d.coming == 0 && d.timer != nil && !d.running && len(d.queue) == 0
}

// Cancel drops the call that has not fired yet, and ends the burst: the next call
// begins one. True means that f will not run for it; false, that nothing was pending or
// that its firing had been decided, so that f is about to run, is running, or has run.
// Cancel does not wait for a running callback.
func (d *Debouncer[T]) Cancel() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.drop()
}

// Flush runs f now, on the caller's goroutine, if a call is pending, and reports
// whether it did. This ends the burst: the next call begins another. A call that fired
// on the leading edge is not pending.
//
// If a callback is running, its goroutine runs f once more, right after it, and
// Flush waits for that. Called by the callback, Flush does not wait: true then
// means that f will run as soon as the callback has returned. Flush reports
// false if Cancel or Stop drop the call before that. It must not be called
// by a goroutine for which the callback waits.
func (d *Debouncer[T]) Flush() bool {
	d.mu.Lock()
	return d.flush()
}

// flush is Flush with mu held, which it releases.
func (d *Debouncer[T]) flush() bool {
	d.settle()
	if len(d.queue) == 0 {
		d.mu.Unlock()
		return false
	}
	if !d.running {
		d.run()
		return true
	}
	defer d.mu.Unlock()
	if d.inCallback() {
		return true
	}
	out := d.await()
	for !out.known {
		d.done.Wait()
	}
	return out.ran
}

// Pending reports whether Cancel would drop a call: one that has neither fired nor been
// cancelled. The call of a running callback is no longer pending, unless
// [LeadingAndTrailingTwice] will fire it again.
func (d *Debouncer[T]) Pending() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.pending()
}

func (d *Debouncer[T]) pending() bool { return d.unfired || len(d.queue) > 0 }

// Stop drops the call that has not fired yet and ends the Debouncer. It returns when a
// running callback has finished, unless the callback itself calls it: after Stop no
// callback runs, and Call, Cancel, Flush and Pending do nothing. Stop may be called
// again, and waits again; a goroutine for which the callback waits must not call it.
func (d *Debouncer[T]) Stop() { d.stop(true) }

func (d *Debouncer[T]) stop(wait bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = true
	d.drop()
	if wait && !d.inCallback() {
		for d.running {
			d.done.Wait()
		}
	}
}

// Close ends the Debouncer like Stop, but runs f for the pending call, on the caller's
// goroutine, or on one that is running a callback; it returns when no callback runs.
//
// ctx bounds only how long Close waits for other goroutines: if it is done first,
// Close returns its error, and the call still runs. Close returns [ErrStopped] if
// Stop or Cancel drop the call meanwhile. Called by the callback, Close does
// not wait and returns nil: f then runs as soon as the callback has returned. Close
// may be called again, and waits again. It panics if ctx is nil.
func (d *Debouncer[T]) Close(ctx context.Context) error { return d.close(ctx, true) }

func (d *Debouncer[T]) close(ctx context.Context, wait bool) error {
	mustHave(ctx)
	d.mu.Lock()
	d.stopped = true
	d.settle()
	d.disarm() // that of a burst of which nothing is unfired, in a Keyed
	d.burst.end()
	if !d.running {
		if len(d.queue) == 0 {
			d.mu.Unlock()
		} else {
			d.run()
		}
		return nil
	}
	defer d.mu.Unlock()
	if !wait || d.inCallback() {
		return nil
	}
	var out *outcome
	if len(d.queue) > 0 {
		out = d.await()
	}
	stop := context.AfterFunc(ctx, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.done.Broadcast()
	})
	defer stop()
	for d.running && ctx.Err() == nil {
		d.done.Wait()
	}
	switch {
	case out != nil && out.known && !out.ran:
		return ErrStopped
	case d.running:
		return ctx.Err()
	}
	return nil
}

func mustHave(ctx context.Context) {
	if ctx == nil {
		panic("debounce: Close: ctx is nil: use context.Background()")
	}
}

// settle makes what is unfired due and ends the burst.
func (d *Debouncer[T]) settle() {
	if d.unfired {
		d.disarm()
		d.queue = append(d.queue, job[T]{value: d.take()})
		d.burst.end()
	}
}

// await returns the outcome of the last of the queue, which has yet to come.
func (d *Debouncer[T]) await() *outcome {
	last := &d.queue[len(d.queue)-1]
	if last.out == nil {
		last.out = new(outcome)
	}
	return last.out
}

// expire is the function of the timer. It may come late, after a newer call or
// for a burst that is long over, so it trusts nothing but the state it finds.
func (d *Debouncer[T]) expire() {
	d.mu.Lock()
	d.coming--
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

// next decides what is due, and returns what has waited longest of that.
func (d *Debouncer[T]) next() (j job[T], ok bool) {
	if d.unfired && (d.newest == unread || d.rest(d.since()) <= 0) {
		d.queue = append(d.queue, job[T]{value: d.take()})
	}
	if len(d.queue) == 0 {
		return j, false
	}
	j, d.queue[0] = d.queue[0], j
	if d.queue = d.queue[1:]; len(d.queue) == 0 {
		d.queue = d.room[:0]
	}
	return j, true
}

// fire runs the callback without mu, and has mu again even if it panics.
func (d *Debouncer[T]) fire(j job[T]) {
	defer func() {
		j.out.set(true)
		d.done.Broadcast()
	}()
	d.mark.Unlocked(&d.mu, func() { d.f(j.value) })
}

// inCallback reports whether the caller's caller was called by the running callback.
func (d *Debouncer[T]) inCallback() bool { return d.running && d.mark.On() }

// leave ends a run. After a panic, there may be a queue: the timer takes it on.
func (d *Debouncer[T]) leave() {
	d.running = false
	idle := d.idle
	switch {
	case len(d.queue) > 0:
		d.arm(0)
		idle = nil
	case d.unfired:
		d.arm(d.rest(d.since()))
		idle = nil
	case idle != nil:
		if left := d.left(); left > 0 {
			d.arm(left) // Only to say then that the burst is over.
			idle = nil
		}
	}
	d.mu.Unlock()
	if idle != nil {
		idle()
	}
}

// arm lets expire run after wait.
func (d *Debouncer[T]) arm(wait time.Duration) {
	switch {
	case d.timer != nil:
		if d.timer.Reset(wait) {
			return
		}
	case d.clock == nil:
		d.timer = time.AfterFunc(wait, d.expire)
	default:
		d.timer = d.clock.AfterFunc(wait, d.expire)
	}
	d.coming++
}

func (d *Debouncer[T]) disarm() {
	if d.timer != nil && d.timer.Stop() {
		d.coming--
	}
}

// left returns how long a call would still find something of a burst of which nothing is
// unfired.
func (d *Debouncer[T]) left() time.Duration {
	if d.edges == trailing || !d.open {
		return 0
	}
	return d.quiet(d.since())
}

// since returns the present instant.
func (d *Debouncer[T]) since() time.Duration {
	switch {
	case !d.begun:
		d.begun = true
		if d.clock == nil {
			d.base = time.Now()
		} else {
			d.base = d.clock.Now()
		}
		return 0
	case d.clock == nil:
		return time.Since(d.base) // Half the price of time.Now.
	}
	return d.clock.Since(d.base)
}

// take takes the newest value; the burst goes on.
func (d *Debouncer[T]) take() (v T) {
	d.unfired = false
	v, d.value = d.value, v
	return v
}

// drop forgets all that has not been decided, and reports whether there was any.
func (d *Debouncer[T]) drop() bool {
	found := d.pending()
	d.disarm()
	d.take()
	d.burst.end()
	if len(d.queue) > 0 {
		for i := range d.queue {
			d.queue[i].out.set(false)
			d.queue[i] = job[T]{}
		}
		d.queue = d.room[:0]
		d.done.Broadcast()
	}
	return found
}

// set makes the outcome known, if anybody waits for it.
func (o *outcome) set(ran bool) {
	if o != nil {
		o.known, o.ran = true, ran
	}
}
