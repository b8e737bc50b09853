package concurrency

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	ct "github.com/escapement-go/escapement/conformance/concurrencytest"
	"github.com/escapement-go/escapement/internal/zoo"
)

var (
	errFull    = errors.New("full")
	errTimeout = errors.New("timeout")
	errTooBig  = errors.New("too big")
	errGone    = errors.New("gone")
)

// queue is a semaphore with a list of those who wait, a backlog and a timeout,
// correct unless mutant names one of its mistakes.
type queue struct {
	clock  clockwork.Clock
	cfg    ct.Config
	first  int // the limit that it was made with
	mutant string

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

// leavesTimer is a mistake: what ends a wait does not stop its timer.
const leavesTimer = "whoever has waited leaves the timer of the timeout armed"

func (q *queue) is(mutant string) bool { return q.mutant == mutant }

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

// wake lets those run whose turn it is. mu is held.
func (q *queue) wake() {
	for first := true; len(q.waiters) > 0 && (first || !q.is("wakes one at a time")); first = false {
		i := 0
		if q.is("serves the newest first") {
			i = len(q.waiters) - 1
		}
		if q.is(lightestFirst) {
			for k, w := range q.waiters {
				if w.weight < q.waiters[i].weight {
					i = k
				}
			}
		}
		if q.is(setsAside) {
			if i = slices.IndexFunc(q.waiters, func(w *waiter) bool { return w.weight <= q.cfg.Limit }); i < 0 {
				return
			}
		}
		w := q.waiters[i]
		if q.is(rejectsInTurn) && w.weight > q.cfg.Limit {
			q.rejectHeavy(1)
			continue
		}
		heavy := func(w *waiter) bool { return w.weight > q.cfg.Limit }
		switch {
		case q.is(stopsForHeavy) && slices.ContainsFunc(q.waiters, heavy):
			return
		case q.is(runsHeavyAlone) && q.used == 0:
		case !q.fits(w.weight):
			return
		}
		q.waiters = slices.Delete(q.waiters, i, i+1)
		q.used += w.weight
		w.granted = true
		if !q.is("a request that runs keeps its place") {
			q.seats--
		}
		close(w.ready)
	}
}

func (q *queue) reject(err error) error {
	if q.cfg.OnReject != nil {
		q.cfg.OnReject()
		if q.is("calls the hook twice when the backlog is full") && err == errFull {
			q.cfg.OnReject()
		}
	}
	return err
}

// turn lets the first wait behind all others, which only mistakes do.
func (q *queue) turn() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiters) > 0 {
		q.waiters = append(q.waiters[1:], q.waiters[0])
	}
}

func (q *queue) acquire(ctx context.Context, weight int) error {
	gone := ctx.Err() != nil && !q.is("looks at the context only while it waits")
	if gone && !q.is(looksLast) {
		if q.is("who is gone before it comes turns the queue") {
			q.turn()
		}
		return ctx.Err()
	}
	q.mu.Lock()
	q.n++
	if q.is("panics on the third request") && q.n == 3 {
		q.mu.Unlock()
		panic("index out of range")
	}
	if q.is("a timeout of 0 rejects everything") && q.cfg.Timeout == 0 {
		q.mu.Unlock()
		return q.reject(errTimeout)
	}
	most := q.cfg.Limit
	if q.is("more than the limit is more than the first one") {
		most = q.first
	}
	if weight > most && !q.is("a request for more than the limit waits") {
		q.tooBig = true
		q.mu.Unlock()
		if q.is(hooksFitting) {
			return errTooBig
		}
		return q.reject(errTooBig)
	}
	if q.fits(weight) && (len(q.waiters) == 0 || q.is("a light request overtakes") || q.is(lightestFirst)) {
		if gone {
			q.mu.Unlock()
			return ctx.Err()
		}
		if q.is("checks without the lock") {
			q.mu.Unlock()
			runtime.Gosched()
			q.mu.Lock()
		}
		q.used += weight
		q.mu.Unlock()
		return nil
	}
	full := q.cfg.Backlog >= 0 && q.seats >= q.cfg.Backlog
	if q.is("one place too many") {
		full = q.cfg.Backlog >= 0 && q.seats > q.cfg.Backlog
	}
	if q.is("without a backlog a heavy request waits for light ones") && q.cfg.Backlog == 0 {
		full = q.used == q.cfg.Limit
	}
	if full || q.cfg.Timeout == 0 {
		if q.is("keeps a lock when the backlog is full") {
			return q.reject(errFull)
		}
		if q.is("calls the hook under the lock") {
			defer q.mu.Unlock()
			return q.reject(errFull)
		}
		q.mu.Unlock()
		return q.reject(errFull)
	}
	if gone {
		q.mu.Unlock()
		return ctx.Err()
	}
	q.seats++
	w := &waiter{weight: weight, ready: make(chan struct{})}
	if q.is("joins after it has let go of the lock") {
		q.mu.Unlock()
		runtime.Gosched()
		q.mu.Lock()
	}
	q.waiters = append(q.waiters, w)
	q.mu.Unlock()
	return q.wait(ctx, w)
}

// either is a channel that brings what the first of two brings.
func either(a, b <-chan time.Time) <-chan time.Time {
	c := make(chan time.Time, 1)
	go func() {
		select {
		case t := <-a:
			c <- t
		case t := <-b:
			c <- t
		}
	}()
	return c
}

func (q *queue) wait(ctx context.Context, w *waiter) error {
	var expired <-chan time.Time
	timeout := q.cfg.Timeout
	if q.is("a timeout of a nanosecond is none") && timeout == 1 {
		timeout = 0
	}
	if timeout > 0 && !(q.tooBig && q.is("nobody times out once more than the limit was asked for")) {
		if q.is("the timeout grows with the limit") {
			timeout = timeout * time.Duration(q.cfg.Limit) / time.Duration(q.first)
		}
		switch {
		case q.is("times out a nanosecond late"):
			timeout++
		case q.is("times out in whole milliseconds"):
			timeout = timeout.Truncate(time.Millisecond)
		}
		timer := q.clock.NewTimer(timeout)
		if !q.is(leavesTimer) {
			defer timer.Stop()
		}
		expired = timer.Chan()
		if q.is("a wait times out on package time too") {
			early := make(chan time.Time, 1)
			defer time.AfterFunc(timeout, func() { early <- time.Now() }).Stop()
			expired = either(expired, early)
		}
	}
	done := ctx.Done()
	if q.is("a request that cannot be cancelled does not wait") && done == nil {
		return nil
	}
	if q.is("does not look at the context while it waits") {
		done = nil
	}
	select {
	case <-w.ready:
		if w.err != nil && !q.is(rejectsSilently) {
			return q.reject(w.err)
		}
		return w.err
	case <-done:
		q.mu.Lock()
		defer q.mu.Unlock()
		if w.err != nil && !q.is(cancelsRejected) {
			return ctx.Err()
		}
		if w.granted {
			if q.is("gives back one slot when it is cancelled as it gets them") {
				w.weight = 1
			}
			q.used -= w.weight
			q.wake()
		} else {
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
	case <-expired:
		q.mu.Lock()
		if w.granted || w.err != nil && !q.is(expiresRejected) {
			q.mu.Unlock()
			if w.err != nil {
				return q.reject(w.err)
			}
			if q.is("loses the slot at a tie") {
				return q.reject(errTimeout)
			}
			return nil
		}
		q.leave(w, "a request that timed out stays in the queue")
		if q.is("calls the hook under the lock at a timeout") {
			defer q.mu.Unlock()
			return q.reject(errTimeout)
		}
		q.mu.Unlock()
		if q.is("does not call the hook at a timeout") {
			return errTimeout
		}
		return q.reject(errTimeout)
	}
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
		len(q.waiters) > 0 && !q.is(tryOvertakes) {
		return false
	}
	if q.is("a try checks without the lock") {
		q.mu.Unlock()
		runtime.Gosched()
		q.mu.Lock()
	}
	q.used += weight
	return true
}

func (q *queue) release(weight int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	held := q.is("a release looks whether anything is held") && q.used > 0
	if q.used < weight && !held && !q.is("a release too many raises the limit") {
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
	err := q.acquire(ctx, 1)
	if q.is("serves what it has rejected") && err != nil {
		run()
		return err
	}
	if err != nil {
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

// Mistakes with limits of 0 and less.
const (
	zeroIsNone     = "a limit that is set to 0 is none"
	keepsLockBelow = "a limit below 0 is refused, and a lock kept"
)

func (q *queue) resize(limit int) {
	q.mu.Lock()
	if limit < 0 && q.is(keepsLockBelow) {
		panic("a limit below 0")
	}
	defer q.mu.Unlock()
	if limit == 0 && q.is(zeroIsNone) {
		limit = math.MaxInt
	}
	if q.is("a lower limit is forgotten") && limit < q.cfg.Limit {
		return
	}
	more := limit - q.cfg.Limit
	q.cfg.Limit = limit
	if q.is("a higher limit wakes as many as it adds") {
		for ; more > 0 && len(q.waiters) > 0; more-- {
			w := q.waiters[0]
			q.waiters = q.waiters[1:]
			q.used += w.weight
			w.granted = true
			q.seats--
			close(w.ready)
		}
	}
	wakes := !q.is("a higher limit wakes nobody")
	if slices.ContainsFunc([]string{
		rejectsHeavy, rejectsFirst, rejectsHeavyOnly, rejectsSilently, rejectsUnheard, cancelsRejected, expiresRejected,
	}, q.is) {
		most := len(q.waiters)
		if q.is(rejectsFirst) {
			most = 1
		}
		heavy := q.rejectHeavy(most)
		wakes = !heavy || !q.is(rejectsHeavyOnly)
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
		if w.weight <= q.cfg.Limit || most == 0 {
			return false
		}
		most--
		w.err = errTooBig
		if q.seats--; !q.is(rejectsUnheard) {
			close(w.ready)
		}
		return true
	})
	return len(q.waiters) < before
}

func newQueue(env ct.Env, cfg ct.Config, mutant string) *queue {
	if mutant == "keeps its limit in a byte" {
		cfg.Limit = int(uint8(cfg.Limit))
	}
	if mutant == "goroutine left behind" {
		zoo.LeaveForGood()
	}
	return &queue{clock: env.Clock, cfg: cfg, first: cfg.Limit, mutant: mutant}
}

// resizesLater is a mutant's name.
const resizesLater = "a new limit is set by a goroutine"

func queueSpec(mutant string, source ct.TimeSource) ct.Spec {
	if mutant == permitTwice || mutant == permitOthers || mutant == triedTwice {
		return permitsSpec(mutant, source)
	}
	return ct.Spec{
		Name: "zoo queue: " + mutant,
		Time: source,
		New: func(env ct.Env, cfg ct.Config) ct.Funcs {
			q := newQueue(env, cfg, mutant)
			f := ct.Funcs{Acquire: q.acquire, TryAcquire: q.try, Release: q.release, Do: q.do, Resize: q.resize}
			if mutant == resizesLater {
				f.Resize = func(limit int) { go q.resize(limit) }
			}
			if mutant == "counts requests without a lock" {
				n := 0
				f.TryAcquire = func(weight int) bool { n++; return q.try(weight) }
			}
			return f
		},
		Traits: ct.Traits{
			Backlog: ct.BacklogBounded, Timeout: ct.TimeoutBounded, Context: ct.ContextHonoured,
			ContextError: ct.ErrorOfContext, SeatHeld: ct.SeatFreed, Fair: ct.FairFIFO,
			Oversize: ct.OversizeFails, OverRelease: ct.OverReleasePanics, Hook: ct.HookOnce,
		},
	}
}
