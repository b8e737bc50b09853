package concurrency

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	ct "github.com/escapement-go/escapement/conformance/concurrencytest"
	"github.com/escapement-go/escapement/internal/zoo"
)

// choosy is a concurrency limiter that decides everything under one lock.
type choosy struct {
	base
	traits ct.Traits
	whims  whims

	mu    sync.Mutex
	used  int
	kept  int // how many run that keep their places in the backlog
	queue []*choosyRequest
}

type choosyRequest struct {
	weight int
	big    bool          // more than the limit
	done   chan struct{} // closed when it has been decided
	ended  bool
	err    error
}

// whims is what no trait is about.
type whims struct {
	form     int  // 0: Acquire, 1: Lock, 2: Do only, 3: TryAcquire only
	tries    bool // there is a TryAcquire as well
	does     bool // there is a Do as well
	resizes  bool
	stops    bool
	overtake bool // a try looks at the slots only, not at who waits, where it may
	newest   bool // who came last is served first, with ct.FairNone
	barge    bool // a request takes slots that are free before those who wait, with ct.FairNone
	tried    bool // the hook is called for a try that fails, though there are requests that wait
	hooked   bool // the hook is called for contexts as well
}

func (q *choosy) hook() {
	if q.cfg.OnReject != nil && q.traits.Hook != ct.HookNone {
		q.cfg.OnReject()
	}
}

// acquire takes slots, or says why not; waited says whether it was in the backlog.
func (q *choosy) acquire(ctx context.Context, weight int) (waited bool, err error) {
	if q.traits.OneAtATime {
		weight = 1
	}
	defer func() {
		ended := err != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded))
		unheard := ended && !q.whims.hooked || errors.Is(err, errTooBig) && q.traits.Hook == ct.HookFits
		if err != nil && !unheard {
			q.hook()
		}
	}()
	if q.traits.Context == ct.ContextHonoured && ctx.Err() != nil {
		return false, ctx.Err()
	}
	r, err := q.come(ctx, weight)
	if r == nil || err != nil {
		return false, err
	}
	return q.wait(ctx, r)
}

// come decides what becomes of a request. One that has to wait is returned; it is in the
// backlog unless it can never run.
func (q *choosy) come(ctx context.Context, weight int) (*choosyRequest, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	weight = q.clamped(weight)
	big := weight > q.cfg.Limit && !q.traits.OneAtATime
	fits := q.used+weight <= q.cfg.Limit
	full := q.traits.Backlog == ct.BacklogBounded && len(q.queue)+q.kept >= q.cfg.Backlog
	r := &choosyRequest{weight: weight, big: big, done: make(chan struct{})}
	switch {
	case !big && fits && (len(q.queue) == 0 || q.traits.Fair == ct.FairNone && q.whims.barge):
		q.used += weight
		return nil, nil
	case big && q.traits.Oversize == ct.OversizeFails:
		return nil, errTooBig
	case q.traits.Context != ct.ContextIgnored && ctx.Err() != nil:
		return nil, ctx.Err()
	case q.traits.Backlog == ct.BacklogNone, !big && full:
		return nil, errFull
	case q.traits.Timeout == ct.TimeoutBounded && q.cfg.Timeout == 0:
		return nil, errTimeout
	case !big:
		q.queue = append(q.queue, r)
	}
	return r, nil
}

// wait waits until a request has been decided.
func (q *choosy) wait(ctx context.Context, r *choosyRequest) (waited bool, err error) {
	if q.traits.Timeout == ct.TimeoutBounded {
		timer := q.clock.AfterFunc(q.cfg.Timeout, func() { q.end(r, errTimeout) })
		defer timer.Stop()
	}
	var gone <-chan struct{}
	if q.traits.Context != ct.ContextIgnored {
		gone = ctx.Done()
	}
	select {
	case <-r.done:
	case <-gone:
		q.end(r, ctx.Err())
	}
	return !r.big, r.err
}

// end rejects a request that waits, if it still does.
func (q *choosy) end(r *choosyRequest, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !r.ended {
		r.ended, r.err = true, err
		close(r.done)
		q.queue = slices.DeleteFunc(q.queue, func(o *choosyRequest) bool { return o == r })
		q.serve()
	}
}

// serve gives what is free to those who wait.
func (q *choosy) serve() {
	for len(q.queue) > 0 {
		i := 0
		if q.traits.Fair == ct.FairNone && q.whims.newest {
			i = len(q.queue) - 1
		}
		r := q.queue[i]
		if q.used+r.weight > q.cfg.Limit {
			return
		}
		q.queue = slices.Delete(q.queue, i, i+1)
		q.used += r.weight
		if q.traits.SeatHeld == ct.SeatKept {
			q.kept++
		}
		r.ended = true
		close(r.done)
	}
}

func (q *choosy) try(weight int) bool {
	if q.traits.OneAtATime {
		weight = 1
	}
	q.mu.Lock()
	weight = q.clamped(weight)
	ok := weight <= q.cfg.Limit-q.used && (len(q.queue) == 0 || q.overtaken())
	if ok {
		q.used += weight
	}
	q.mu.Unlock()
	if !ok && (q.whims.form == 3 || q.whims.tried) {
		q.hook()
	}
	return ok
}

// overtaken reports whether a try may take what is free though others wait.
func (q *choosy) overtaken() bool {
	return q.traits.TryOvertakes || q.traits.Fair == ct.FairNone && q.whims.overtake
}

// clamped is what a request for so many slots counts as.
func (q *choosy) clamped(weight int) int {
	if q.traits.Oversize == ct.OversizeClamped {
		return min(weight, q.cfg.Limit)
	}
	return weight
}

func (q *choosy) release(weight int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.traits.OneAtATime {
		weight = 1
	}
	weight = q.clamped(weight)
	if weight > q.used {
		if q.traits.OverRelease == ct.OverReleasePanics {
			panic("choosy: nothing is held")
		}
		return
	}
	q.used -= weight
	q.serve()
}

func (q *choosy) do(ctx context.Context, run func()) error {
	waited, err := q.acquire(ctx, 1)
	if err != nil {
		return err
	}
	defer func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.used--
		if waited && q.traits.SeatHeld == ct.SeatKept {
			q.kept--
		}
		q.serve()
	}()
	run()
	return nil
}

func (q *choosy) resize(limit int) {
	if limit <= 0 && q.traits.Oversize == ct.OversizeClamped {
		panic("choosy: any request would count as none")
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.cfg.Limit = limit
	q.serve()
}

func choosyKind(tr ct.Traits, w whims) kind {
	return kind{traits: tr, make: func(b base) ct.Funcs {
		q := &choosy{base: b, traits: tr, whims: w}
		var f ct.Funcs
		switch w.form {
		case 0:
			f.Acquire = func(ctx context.Context, n int) error { _, err := q.acquire(ctx, n); return err }
		case 1:
			f.Lock = func(n int) { _, _ = q.acquire(context.Background(), n) }
		case 2:
			f.Do = q.do
		}
		if w.form != 2 {
			f.Release = q.release
		}
		if w.form != 2 && w.tries || w.form == 3 {
			f.TryAcquire = q.try
		}
		if w.form == 0 && w.does {
			f.Do = q.do
		}
		if w.resizes {
			f.Resize = q.resize
		}
		if w.stops {
			f.Stop = func() {}
		}
		return f
	}}
}

// Chosen are n correct limiters that choose all that may be chosen, drawn from a seed, which is always the same.
func Chosen(n int) (all []zoo.Design) {
	rnd := rand.New(rand.NewPCG(4, 4))
	for i := range n {
		pick := func(of int) int { return 1 + (i+rnd.IntN(of))%of }
		coin := func() bool { return rnd.IntN(2) == 0 }
		w := whims{
			form: []int{0, 0, 0, 1, 2, 2}[rnd.IntN(6)], tries: coin(), does: coin(), resizes: coin(), stops: coin(),
			overtake: coin(), newest: coin(), barge: coin(), hooked: coin(), tried: coin(),
		}
		tr := ct.Traits{
			Backlog: ct.Backlog(pick(3)), Timeout: ct.Timeout(pick(2)), Context: ct.Context(pick(3)),
			SeatHeld: ct.SeatHeld(pick(2)), Fair: ct.Fairness(pick(2)),
			OneAtATime: rnd.IntN(3) == 0, Oversize: ct.Oversize(pick(3)),
			OverRelease: ct.OverRelease(pick(3)), Hook: ct.Hook(pick(3)),
		}
		if tr.Backlog == ct.BacklogNone {
			tr.Timeout, tr.Fair, tr.SeatHeld, tr.Oversize = 0, 0, 0, ct.OversizeFails
			if coin() {
				w.form = 3
			}
		} else if w.form == 1 { // it has no errors, so it cannot reject
			tr.Backlog, tr.Timeout, tr.Context, tr.SeatHeld = ct.BacklogUnbounded, ct.TimeoutNone, 0, 0
			tr.Oversize, tr.Hook = ct.OversizeBlocks, ct.HookNone
		}
		if w.form == 1 && tr.Backlog == ct.BacklogNone {
			w.form = 0
		}
		switch {
		case w.form == 2:
			tr.OneAtATime, tr.OverRelease, tr.Oversize = true, 0, 0
		case w.form == 3:
			tr.Context = 0
			tr.SeatHeld = 0
		default: // a release does not say whose it is
			tr.SeatHeld = min(tr.SeatHeld, ct.SeatFreed)
		}
		if tr.OneAtATime {
			tr.Oversize = 0
		}
		if tr.Oversize != ct.OversizeFails {
			tr.Hook = max(1, tr.Hook%ct.HookFits)
		}
		tr.TryOvertakes = w.overtake && w.tries && tr.Fair == ct.FairFIFO && tr.Oversize != 0
		if tr.Backlog != ct.BacklogBounded {
			tr.SeatHeld = 0
		}
		k := choosyKind(tr, w).that(fmt.Sprintf("a choosy queue %d", i), "")
		source := []ct.TimeSource{ct.Injected, ct.PackageTime}[(i+i/2)%2]
		all = append(all, zoo.Design{Name: k.name, Spec: k.spec(source, "")})
	}
	return all
}
