package conformance

import (
	"context"
	"runtime"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/synctestcompat"
)

// concurrencyTrace is what was done to a concurrency limiter and what came of it.
type concurrencyTrace struct {
	groups   []*concurrencyGroup
	requests []*request
	hooks    []Mark
	// drained is where the schedule ended and the epilogue began: everything is
	// released, and as many requests come as there are slots and places, and one
	// more.
	drained Mark
}

// concurrencyGroup is steps of one instant with nothing settled in between.
type concurrencyGroup struct {
	at     time.Duration
	racing bool // the timers of the instant did not go first
	steps  []*concurrencyStep
	// began and settled are the points before the first step and when everything had
	// come to rest.
	began, settled Mark
}

// concurrencyStep is a step that was done.
type concurrencyStep struct {
	Step
	request  int // its index in requests, -1 for a resize and for a release of nothing
	ended    bool
	panicked string
}

// request is what became of an acquire, a try or a do.
type request struct {
	id, weight int
	arrived    Mark
	decided    Mark // when it got its slots or was rejected
	admitted   bool
	err        error
	panicked   string // what Acquire itself panicked with
	runs       int    // how often the handler ran
	answered   int    // how many answers it got: runs and errors

	handler  bool
	finished bool // it has released
	end      chan Op
	cancel   context.CancelFunc
}

// concurrencyRun is one run of a schedule.
type concurrencyRun struct {
	spec *ConcurrencySpec
	impl ConcurrencyFuncs
	d    driver
	rec  *recorder
	out  *concurrencyTrace
	byID map[int]int // indices in requests
	done map[int]bool
}

// play runs a schedule on a fresh limiter.
func (spec *ConcurrencySpec) play(d driver, j job, rec *recorder) {
	s := j.schedule
	if _, ok := d.(*hand); ok && s.racing() > 0 {
		d = newLoose(s.Config.start())
	}
	rec.now = d.now
	rec.trace.Schedule, rec.trace.Order = s, j.order
	r := &concurrencyRun{spec: spec, d: d, rec: rec, out: &concurrencyTrace{}, byID: map[int]int{}, done: map[int]bool{}}
	rec.trace.conc = r.out
	rec.trace.Refused = catch(func() {
		r.impl = spec.New(Env{d.clock(), s.Config.start()}, spec.config(s.Config, r.hook))
	})
	if rec.trace.Refused != "" {
		return
	}
	last := time.Duration(0)
	for i := 0; i < len(s.Steps); {
		n := i + 1
		for n < len(s.Steps) && s.Steps[n].Racing && s.Steps[n].At == s.Steps[i].At {
			n++
		}
		r.group(s.Steps[i:n], j.order)
		last, i = s.Steps[i].At, n
	}
	over := r.overReleased()
	rec.mu.Lock()
	r.out.drained = rec.mark()
	rec.mu.Unlock()
	own := len(r.out.groups)
	if !over {
		r.epilogue(last, s)
	}
	rec.mu.Lock()
	rec.trace.Done = r.told(own)
	rec.mu.Unlock()
	r.leave()
	rec.mu.Lock()
	rec.trace.End = d.now()
	rec.closed = !j.look
	rec.mu.Unlock()
	if r.impl.Stop != nil {
		_ = catch(r.impl.Stop)
	}
	if j.look {
		d.to(d.now() + time.Hour)
		rec.trace.Armed = d.armed()
	}
	d.settle()
}

// hook is the limiter's hook for what it rejects.
func (r *concurrencyRun) hook() {
	r.rec.mu.Lock()
	defer r.rec.mu.Unlock()
	r.out.hooks = append(r.out.hooks, r.rec.mark())
}

// group does steps of one instant and lets everything settle.
func (r *concurrencyRun) group(steps []Step, order Order) {
	g := &concurrencyGroup{at: steps[0].At, racing: steps[0].Racing}
	do := func() {
		r.rec.mu.Lock()
		g.began = r.rec.mark()
		r.out.groups = append(r.out.groups, g)
		r.rec.mu.Unlock()
		for _, s := range steps {
			r.step(g, s)
		}
	}
	if g.racing {
		r.d.race(g.at, order, do)
	} else {
		r.d.to(g.at)
		do()
	}
	r.d.settle()
	r.rec.mu.Lock()
	g.settled = r.rec.mark()
	r.rec.mu.Unlock()
}

// step does one step without waiting for what comes of it.
func (r *concurrencyRun) step(g *concurrencyGroup, s Step) {
	done := &concurrencyStep{Step: s, request: -1}
	i, known := r.byID[s.N]
	switch s.Op {
	case OpAcquire, OpTry, OpDo:
		done.request = len(r.out.requests)
		r.byID[s.N] = done.request
		r.record(g, done)
		r.arrive(done)
	case OpCancel:
		if known {
			done.request = i
			r.record(g, done)
			r.out.requests[i].cancel()
		} else {
			r.done[s.N] = true // before it comes
			r.record(g, done)
		}
		r.finish(done, "")
	case OpResize:
		r.record(g, done)
		r.finish(done, catch(func() { r.impl.Resize(s.N) }))
	case OpRelease, OpPanic, OpExit:
		if !known {
			r.record(g, done)
			go func() { r.finish(done, catch(func() { r.impl.Release(max(1, s.K)) })) }()
			return
		}
		q := r.out.requests[i]
		r.rec.mu.Lock()
		runs := q.admitted && !q.finished
		q.finished = q.finished || runs
		r.rec.mu.Unlock()
		if !runs {
			return // there is nothing to release
		}
		done.request = i
		r.record(g, done)
		if q.handler {
			q.end <- s.Op
			r.finish(done, "")
		} else {
			r.finish(done, r.release(q.weight))
		}
	}
}

// release gives slots back, and returns what it panicked with.
func (r *concurrencyRun) release(weight int) string {
	return catch(func() { unhindered(func() { r.impl.Release(weight) }) })
}

// unhindered does what need not wait for a slot. Its name is looked for in stacks.
//
//go:noinline
func unhindered(do func()) { do() }

func (r *concurrencyRun) record(g *concurrencyGroup, done *concurrencyStep) {
	r.rec.mu.Lock()
	defer r.rec.mu.Unlock()
	g.steps = append(g.steps, done)
}

func (r *concurrencyRun) finish(done *concurrencyStep, panicked string) {
	r.rec.mu.Lock()
	defer r.rec.mu.Unlock()
	done.ended, done.panicked = true, panicked
}

// arrive lets a request come, on a goroutine of its own.
func (r *concurrencyRun) arrive(done *concurrencyStep) {
	s := done.Step
	q := &request{id: s.N, weight: max(1, s.K), handler: r.impl.handles(s), end: make(chan Op, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	q.cancel = cancel
	if r.done[s.N] {
		cancel()
	}
	if s.D > 0 {
		if _, ok := r.d.(*bubbleTime); ok {
			ctx, q.cancel = context.WithTimeout(ctx, s.D)
		} else {
			ctx, q.cancel = fakeclock.WithTimeout(ctx, r.d.clock(), s.D)
		}
	}
	ask := func() { r.ask(ctx, q, s.Op) }
	if s.Op == OpTry || len(r.open(true)) == 0 && len(r.open(false)) == 0 {
		ask = func() { unhindered(func() { r.ask(ctx, q, s.Op) }) }
	}
	r.rec.mu.Lock()
	q.arrived = r.rec.mark()
	r.out.requests = append(r.out.requests, q)
	r.rec.mu.Unlock()
	go func() {
		defer cancel()
		defer q.cancel()
		defer func() { r.finish(done, q.panicked) }() // also if the handler leaves by Goexit
		q.panicked = catch(ask)
	}()
}

// ask makes a request and records the answer. Of a handler that is told to panic
// the panic stops here, as it would in a server.
func (r *concurrencyRun) ask(ctx context.Context, q *request, op Op) {
	told := Op("")
	run := func() {
		r.rec.mu.Lock()
		if q.decided.Seq == 0 {
			q.decided, q.admitted = r.rec.mark(), true
		}
		q.runs++
		q.answered++
		r.rec.mu.Unlock()
		if !q.handler {
			return
		}
		switch told = <-q.end; told {
		case OpPanic:
			panic(handlerPanic)
		case OpExit:
			runtime.Goexit()
		}
	}
	defer func() {
		if told != OpPanic {
			return
		}
		if p := recover(); p != nil && p != handlerPanic {
			panic(p)
		}
	}()
	var err error
	switch {
	case op == OpDo:
		err = r.impl.Do(ctx, run)
	case op != OpTry:
		err = r.impl.enter()(ctx, q.weight, run)
	case r.impl.TryAcquire(q.weight):
		run()
		return
	default:
		err = errTried
	}
	r.rec.mu.Lock()
	defer r.rec.mu.Unlock()
	if err != nil && told != OpPanic || q.runs == 0 {
		q.answered++
		q.err = err
		if q.decided.Seq == 0 {
			q.decided = r.rec.mark()
		}
	}
}

type playError string

func (e playError) Error() string { return string(e) }

const (
	errTried     = playError("false")
	handlerPanic = playError("the handler was told to panic")
)

// overReleased reports whether something was released that nobody held.
func (r *concurrencyRun) overReleased() bool {
	for _, g := range r.out.groups {
		for _, s := range g.steps {
			if s.Op == OpRelease && s.request < 0 && r.spec.Traits.OverRelease != OverReleaseIgnored {
				return true
			}
		}
	}
	return false
}

// told lists the steps of the first groups as everybody can see them. A request ends when
// it gets its slots or is rejected. mu is held.
func (r *concurrencyRun) told(groups int) []Done {
	var out []Done
	for _, g := range r.out.groups[:groups] {
		for _, s := range g.steps {
			d := Done{Step: s.Step, Began: g.began, Panic: s.panicked}
			if s.ended {
				d.Ended = g.settled
			}
			if s.Op == OpAcquire || s.Op == OpTry || s.Op == OpDo {
				q := r.out.requests[s.request]
				d.Began, d.Ended, d.OK, d.Err = q.arrived, q.decided, q.admitted, q.err
			}
			out = append(out, d)
		}
	}
	return out
}

// epilogue lets everything end that the schedule began, and shows what is left of
// slots and places. If there is a timeout that ends, it does so after it, when no timer
// is left that could change anything.
func (r *concurrencyRun) epilogue(at time.Duration, s Schedule) {
	r.drain(at)
	if s.Config.Timeout == wait {
		at += wait
		r.d.to(at)
	}
	limit := s.Config.Limit
	for _, st := range s.Steps {
		if st.Op == OpResize {
			limit = st.N
		}
	}
	for i := range limit + max(0, min(2, s.Config.Backlog)) + 1 {
		r.group([]Step{{Op: OpAcquire, N: epilogueID + i, At: at}}, OrderSettled)
	}
	r.drain(at)
}

// epilogueID is the number of the first request of the epilogue.
const epilogueID = 1001

// drain releases what runs, again and again, and then gives up what still waits.
func (r *concurrencyRun) drain(at time.Duration) {
	for again := true; again; {
		again = false
		for _, q := range r.open(true) {
			r.group([]Step{{Op: OpRelease, N: q.id, At: at}}, OrderSettled)
			again = true
		}
	}
	for _, q := range r.open(false) {
		r.group([]Step{{Op: OpCancel, N: q.id, At: at}}, OrderSettled)
	}
}

// open lists the requests that run, or those that wait.
func (r *concurrencyRun) open(running bool) []*request {
	r.rec.mu.Lock()
	defer r.rec.mu.Unlock()
	var out []*request
	for _, q := range r.out.requests {
		if running && q.admitted && !q.finished || !running && q.decided.Seq == 0 {
			out = append(out, q)
		}
	}
	return out
}

// leave makes every goroutine end that can be made to.
func (r *concurrencyRun) leave() {
	for range len(r.out.requests) + 1 {
		for _, q := range r.out.requests {
			q.cancel()
		}
		r.d.settle()
		for _, q := range r.open(true) {
			q.finished = true
			if q.handler {
				q.end <- OpRelease
			} else {
				go r.release(q.weight)
			}
		}
		r.d.settle()
	}
}

// loose is a fake clock in a bubble that does not settle by itself, so that a step
// and the timers of its instant can meet with nothing settled between them.
type loose struct{ *hand }

func newLoose(start time.Time) *loose {
	return &loose{&hand{c: fakeclock.New(fakeclock.WithStart(start)), start: start, bubble: synctestcompat.Available}}
}

func (l *loose) to(at time.Duration) {
	l.before(at + 1)
	l.hand.to(at)
	l.settle()
}

// before lets everything happen that is due before at.
func (l *loose) before(at time.Duration) {
	l.settle()
	for {
		next, ok := l.c.Next()
		if !ok || next.Sub(l.start) >= at {
			return
		}
		l.c.AdvanceTo(next)
		l.settle()
	}
}

func (l *loose) race(at time.Duration, order Order, step func()) {
	l.before(at)
	switch order {
	case OrderFireFirst:
		l.hand.to(at)
		l.settle()
		step()
	case OrderStepFirst:
		l.c.AdvanceUntil(l.start.Add(at))
		step()
		l.settle()
		l.c.Advance(0)
	case OrderHeld:
		release := l.c.Hold()
		l.hand.to(at)
		step()
		release()
	default: // the timer has fired, but who waits for it has not run yet
		l.hand.to(at)
		step()
	}
	l.settle()
}
