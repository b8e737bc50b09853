package concurrency

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	ct "github.com/escapement-go/escapement/conformance/concurrencytest"
	"github.com/escapement-go/escapement/internal/zoo"
)

// ofQueue are the choices of a queue.
func ofQueue(over ct.OverRelease) ct.Traits {
	return ct.Traits{
		Backlog: ct.BacklogBounded, Timeout: ct.TimeoutBounded, Context: ct.ContextHonoured,
		ContextError: ct.ErrorOfContext, SeatHeld: ct.SeatFreed, Fair: ct.FairFIFO,
		Oversize: ct.OversizeFails, OverRelease: over, Hook: ct.HookOnce,
	}
}

// queueKind is a semaphore with a list of those who wait, a backlog and a timeout.
var queueKind = kind{
	name: "zoo queue: ", traits: ofQueue(ct.OverReleasePanics), unraced: true, make: func(b base) ct.Funcs {
		q := newQueue(b)
		f := ct.Funcs{Acquire: q.acquire, TryAcquire: q.try, Release: q.release, Do: q.do, Resize: q.resize}
		switch b.mutant {
		case "a new limit is set by a goroutine":
			f.Resize = func(limit int) { go q.resize(limit) }
		case "counts requests without a lock":
			n := 0
			f.TryAcquire = func(weight int) bool { n++; return q.try(weight) }
		}
		return f
	},
}

// strictKind is the queue in which nobody waits for more than a lower limit.
var strictKind = queueKind.that("zoo strict queue", "a lower limit rejects who waits for more")

type queue struct {
	base
	first int // the limit that it was made with

	mu      sync.Mutex
	used    int
	seats   int
	n       int
	waiters []*waiter
	tooBig  bool // a request asked for more than the limit
}

type waiter struct {
	weight  int
	ready   chan struct{}
	granted bool
	err     error // why it was rejected by a lower limit
}

func newQueue(b base) *queue {
	switch b.mutant {
	case "a backlog of 0 is one of 1":
		if b.cfg.Backlog == 0 {
			b.cfg.Backlog = 1
		}
	case "keeps its limit in a byte":
		b.cfg.Limit = int(uint8(b.cfg.Limit))
	case "goroutine left behind":
		zoo.LeaveForGood()
	}
	return &queue{base: b, first: b.cfg.Limit}
}

func (q *queue) fits(weight int) bool {
	limit := q.cfg.Limit
	if q.is("lets one more run") {
		limit++
	}
	if q.is("adds before it compares") {
		return q.used+weight <= limit
	}
	return weight <= limit-q.used
}

// heavy reports whether one waits for more than the limit, which was lowered then.
func (q *queue) heavy(w *waiter) bool { return w.weight > q.cfg.Limit }

// next is whose turn it is, -1 if it is nobody's. mu is held.
func (q *queue) next() int {
	switch {
	case q.is("serves the newest first"):
		return len(q.waiters) - 1
	case q.is("serves the lightest first"):
		return slices.Index(q.waiters,
			slices.MinFunc(q.waiters, func(a, b *waiter) int { return cmp.Compare(a.weight, b.weight) }))
	case q.is("who waits for more than a lower limit lets others pass"):
		return slices.IndexFunc(q.waiters, func(w *waiter) bool { return !q.heavy(w) })
	case q.is("nobody runs while one waits for more than a lower limit") && slices.ContainsFunc(q.waiters, q.heavy):
		return -1
	}
	return 0
}

// wake lets those run whose turn it is. mu is held.
func (q *queue) wake() {
	for first := true; len(q.waiters) > 0 && (first || !q.is("wakes one at a time")); first = false {
		i := q.next()
		if i < 0 {
			return
		}
		w := q.waiters[i]
		if q.heavy(w) && q.is("who waits for more than a lower limit is rejected when its turn comes") {
			q.rejectHeavy(1)
			continue
		}
		alone := q.used == 0 && q.is("who waits for more than a lower limit runs when nothing else does")
		if !q.fits(w.weight) && !alone {
			return
		}
		q.admit(i)
	}
}

// admit lets one run that waits. mu is held.
func (q *queue) admit(i int) {
	w := q.waiters[i]
	q.waiters = slices.Delete(q.waiters, i, i+1)
	q.used += w.weight
	w.granted = true
	if !q.is("a request that runs keeps its place") {
		q.seats--
	}
	close(w.ready)
}

func (q *queue) reject(err error) error {
	if q.cfg.OnReject != nil {
		q.cfg.OnReject()
		if err == errFull && q.is("calls the hook twice when the backlog is full") {
			q.cfg.OnReject()
		}
	}
	return err
}

func (q *queue) acquire(ctx context.Context, weight int) error {
	gone := ctx.Err()
	if q.is("looks at the context only while it waits") {
		gone = nil
	}
	q.mu.Lock()
	w, err := q.come(weight, gone)
	switch {
	case err == errFull && q.is("keeps a lock when the backlog is full"):
	case err == errFull && q.is("calls the hook under the lock"):
		defer q.mu.Unlock()
	default:
		q.mu.Unlock()
	}
	switch {
	case w != nil:
		return q.wait(ctx, w)
	case err == gone, // nil if it runs
		err == errTooBig && q.is("does not call the hook for more than the limit"):
		return err
	}
	return q.reject(err)
}

// come decides what becomes of a request, whose context may have gone: it waits, runs, or has an error. mu is held.
func (q *queue) come(weight int, gone error) (*waiter, error) {
	if gone != nil && !q.is("looks at the context last") {
		if len(q.waiters) > 0 && q.is("who is gone before it comes turns the queue") {
			q.waiters = append(q.waiters[1:], q.waiters[0])
		}
		return nil, gone
	}
	if q.n++; q.n == 3 && q.is("panics on the third request") {
		q.mu.Unlock()
		panic("index out of range")
	}
	most := q.cfg.Limit
	if q.is("more than the limit is more than the first one") {
		most = q.first
	}
	next := len(q.waiters) == 0 || q.is("a light request overtakes") || q.is("serves the lightest first")
	full := q.cfg.Backlog >= 0 && q.seats >= q.cfg.Backlog
	switch {
	case q.is("one place too many"):
		full = q.cfg.Backlog >= 0 && q.seats > q.cfg.Backlog
	case q.cfg.Backlog == 0 && q.is("without a backlog a heavy request waits for light ones"):
		full = q.used == q.cfg.Limit
	}
	switch {
	case q.cfg.Timeout == 0 && q.is("a timeout of 0 rejects everything"):
		return nil, errTimeout
	case weight > most && !q.is("a request for more than the limit waits"):
		q.tooBig = true
		return nil, errTooBig
	case next && q.fits(weight):
		if gone == nil {
			q.letIn("checks without the lock")
			q.used += weight
		}
		return nil, gone
	case full || q.cfg.Timeout == 0:
		return nil, errFull
	case gone != nil:
		return nil, gone
	}
	q.seats++
	w := &waiter{weight: weight, ready: make(chan struct{})}
	q.letIn("joins after it has let go of the lock")
	if len(q.waiters) != 8 || !q.is("the ninth who waits is forgotten") {
		q.waiters = append(q.waiters, w)
	}
	return w, nil
}

// letIn lets others in between two steps, which only mistakes do. mu is held.
func (q *queue) letIn(mistake string) {
	if q.is(mistake) {
		q.mu.Unlock()
		runtime.Gosched()
		q.mu.Lock()
	}
}

// expiry brings the end of a wait, which never comes if it is nil, and stops its timer.
func (q *queue) expiry() (expired <-chan time.Time, stop func() bool) {
	timeout := q.cfg.Timeout
	switch {
	case timeout <= 0, timeout == 1 && q.is("a timeout of a nanosecond is none"),
		q.is("who comes in 1970 does not time out") && q.clock.Now().UnixNano() == 0,
		q.tooBig && q.is("nobody times out once more than the limit was asked for"):
		return nil, func() bool { return false }
	case q.is("the timeout grows with the limit"):
		timeout = timeout * time.Duration(q.cfg.Limit) / time.Duration(q.first)
	case q.is("times out a nanosecond late"):
		timeout++
	case q.is("times out in whole milliseconds"):
		timeout = timeout.Truncate(time.Millisecond)
	case q.is("a wait times out on package time too"):
		either := make(chan time.Time, 2)
		expire := func() { either <- time.Time{} }
		own, other := q.clock.AfterFunc(timeout, expire), time.AfterFunc(timeout, expire)
		return either, func() bool { other.Stop(); return own.Stop() }
	}
	timer := q.clock.NewTimer(timeout)
	return timer.Chan(), timer.Stop
}

func (q *queue) wait(ctx context.Context, w *waiter) error {
	expired, stop := q.expiry()
	if !q.is("whoever has waited leaves the timer of the timeout armed") {
		defer stop()
	}
	done := ctx.Done()
	if done == nil && q.is("a request that cannot be cancelled does not wait") {
		return nil
	}
	if q.is("does not look at the context while it waits") {
		done = nil
	}
	select {
	case <-w.ready:
		if w.err != nil && !q.is("the hook does not hear of who is rejected by a lower limit") {
			return q.reject(w.err)
		}
		return w.err
	case <-done:
		return q.cancel(ctx, w)
	case <-expired:
		return q.expire(w)
	}
}

// cancel ends the wait of one whose context has ended.
func (q *queue) cancel(ctx context.Context, w *waiter) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case w.err != nil && !q.is("who is cancelled as a lower limit rejects it leaves its place twice"):
		return ctx.Err()
	case w.granted:
		if q.is("gives back one slot when it is cancelled as it gets them") {
			w.weight = 1
		}
		q.used -= w.weight
		q.wake()
	default:
		q.leave(w, "a cancelled request stays in the queue")
		if q.is("a cancelled request keeps its place") {
			q.seats++
		}
	}
	switch {
	case q.is("a deadline is called a cancellation"):
		return context.Canceled
	case q.is("a context ends a wait with an error of its own"):
		return errGone
	}
	return ctx.Err()
}

// expire ends the wait of one that has waited for too long.
func (q *queue) expire(w *waiter) error {
	q.mu.Lock()
	granted := w.granted
	rejected := w.err != nil && !q.is("who times out as a lower limit rejects it leaves its place twice")
	waits := !granted && !rejected
	if waits {
		q.leave(w, "a request that timed out stays in the queue")
	}
	if waits && q.is("calls the hook under the lock at a timeout") {
		defer q.mu.Unlock()
	} else {
		q.mu.Unlock()
	}
	switch {
	case rejected:
		return q.reject(w.err)
	case granted && !q.is("loses the slot at a tie"):
		return nil
	case waits && q.is("does not call the hook at a timeout"):
		return errTimeout
	}
	return q.reject(errTimeout)
}

// leave takes w out of the queue. mu is held.
func (q *queue) leave(w *waiter, stays string) {
	if !q.is(stays) {
		q.waiters = slices.DeleteFunc(q.waiters, func(o *waiter) bool { return o == w })
		q.seats--
	}
	if !q.is("nobody looks again when the first gives up") {
		q.wake()
	}
}

func (q *queue) try(weight int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	fits := q.fits(weight)
	if q.is("a try looks at the first limit") {
		fits = q.used+weight <= q.first
	}
	if weight > q.cfg.Limit && !q.is("adds before it compares") || !fits ||
		len(q.waiters) > 0 && !q.is("a try takes free slots though others wait") {
		return false
	}
	q.letIn("a try checks without the lock")
	q.used += weight
	return true
}

func (q *queue) release(weight int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.used >= weight, q.is("a release too many raises the limit"),
		q.is("a permit gives its slots back twice"), q.is("a permit of a try gives its slots back twice"),
		q.used > 0 && q.is("a release looks whether anything is held"):
	case q.is("a permit that is given back twice gives back another's slots"):
		return
	default:
		panic("released more than was acquired")
	}
	if q.is("gives back one slot only") {
		weight = 1
	}
	q.used -= weight
	if !q.is("wakes nobody") {
		q.wake()
	}
}

func (q *queue) do(ctx context.Context, run func()) error {
	if q.is("a handler waits without its context") {
		ctx = context.Background()
	}
	if q.is("behind a handler nobody times out") {
		q.mu.Lock()
		q.cfg.Timeout = -1
		q.mu.Unlock()
	}
	if err := q.acquire(ctx, 1); err != nil {
		if q.is("serves what it has rejected") {
			run()
		}
		return err
	}
	if q.is("a panic keeps the slot") {
		run()
		q.release(1)
		return nil
	}
	defer q.release(1)
	run()
	return nil
}

func (q *queue) resize(limit int) {
	q.mu.Lock()
	if limit < 0 && q.is("a limit below 0 is refused, and a lock kept") {
		panic("a limit below 0")
	}
	defer q.mu.Unlock()
	if limit == 0 && q.is("a limit that is set to 0 is none") {
		limit = math.MaxInt
	}
	if limit < q.cfg.Limit && q.is("a lower limit is forgotten") {
		return
	}
	more := limit - q.cfg.Limit
	q.cfg.Limit = limit
	if q.is("a higher limit wakes as many as it adds") {
		for ; more > 0 && len(q.waiters) > 0; more-- {
			q.admit(0)
		}
	}
	wakes := !q.is("a higher limit wakes nobody")
	if q.is("a lower limit rejects who waits for more") {
		most := len(q.waiters)
		if q.is("a lower limit rejects only the first of those who wait for more") {
			most = 1
		}
		heavy := q.rejectHeavy(most)
		wakes = !heavy || !q.is("who is rejected by a lower limit leaves nobody to be woken")
	}
	if wakes {
		q.wake()
	}
}

// rejectHeavy rejects the first of those who wait for more than the limit, as many as most says, and
// reports whether there were any. mu is held.
func (q *queue) rejectHeavy(most int) bool {
	before := len(q.waiters)
	q.waiters = slices.DeleteFunc(q.waiters, func(w *waiter) bool {
		if !q.heavy(w) || most == 0 {
			return false
		}
		most--
		w.err = errTooBig
		if q.seats--; !q.is("who is rejected by a lower limit does not hear of it") {
			close(w.ready)
		}
		return true
	})
	return len(q.waiters) < before
}
