package concurrencytest

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/internal/verb"
)

// run is one run of a schedule.
type run struct {
	*suite.Stage
	c    *contract
	impl Funcs
	out  *trace
	byID map[int]int  // indices in out.requests
	gone map[int]bool // whose contexts were done before they came
	own  int          // the first request of the epilogue

	atOnce []conformance.Step // without a pause, those under way

	released func() // what was called last to give slots back

	counts bool // of goroutines, as a look at all stacks is dear: only what piled judges
}

// Play runs a schedule on a fresh limiter.
func (c *contract) Play(st *suite.Stage) {
	s := st.Schedule
	r := &run{Stage: st, c: c, out: &trace{}, byID: map[int]int{}, gone: map[int]bool{}, own: firstOwn(s.Steps)}
	r.counts = st.Look && piles(s)
	st.Rec.Locked(func(rec *suite.Recording) { rec.Detail = r.out })
	if !st.Make(r.create) {
		return
	}
	last := time.Duration(0)
	for i := 0; i < len(s.Steps) && !st.Rec.LeftOut(); {
		n := i + 1
		for n < len(s.Steps) && s.Steps[n].Racing && s.Steps[n].At == s.Steps[i].At {
			n++
		}
		r.together(s.Steps[i:n], st.Order)
		last, i = s.Steps[i].At, n
	}
	r.note(func() { r.out.drained = st.Rec.Mark() })
	own := len(r.out.groups)
	if c.traits.OverRelease == OverReleaseIgnored || !r.out.releasedNothing() {
		r.epilogue(last)
	}
	st.Rec.Locked(func(rec *suite.Recording) { rec.Done = r.out.done(own) })
	r.leave()
	c.parked = c.parked || r.out.parked()
	st.End(st.Now(), time.Hour, func() { r.impl.end(st) })
}

// create makes the limiter. If the stage asks for a second one, it makes that too and
// takes a slot of it for good.
func (r *run) create() {
	cfg := r.c.traits.config(r.Config(), func() {
		r.note(func() { r.out.hooks = append(r.out.hooks, r.Rec.Mark()) })
	})
	if !r.Twice {
		r.impl = r.c.spec.New(r.Plain(), cfg)
		return
	}
	beside := cfg
	beside.OnReject = func() {}
	other := r.c.spec.New(r.Plain(), beside)
	r.impl = r.c.spec.New(r.Plain(), cfg)
	op := verb.Try
	if other.enter(op) == nil {
		op = verb.Acquire
	}
	if !other.handles(op) { // else slots are given to handlers only
		_ = other.enter(op)(context.Background(), 1, func(func()) {})
	}
	if stop := r.impl.Stop; stop != nil {
		r.impl.Stop = func() { other.Stop(); stop() }
	}
}

// note changes what is recorded.
func (r *run) note(change func()) { r.Rec.Locked(func(*suite.Recording) { change() }) }

// together does the steps of one instant without a pause, and then lets everything settle.
func (r *run) together(steps []conformance.Step, order inside.Order) {
	if r.crowded(steps) {
		return
	}
	r.atOnce = steps
	g := &group{at: steps[0].At, racing: steps[0].Racing}
	do := func() {
		r.note(func() {
			g.began = r.Rec.Mark()
			r.out.groups = append(r.out.groups, g)
		})
		for _, s := range steps {
			r.step(g, s)
		}
	}
	if g.racing {
		r.To(max(r.Now(), g.at-1))
		r.Race(g.at, order, do)
	} else {
		r.To(g.at)
		do()
	}
	r.Settle()
	r.cut(steps)
	others := 0
	if r.counts && r.out.drained.Seq == 0 {
		others = r.Others()
	}
	r.note(func() { g.settled, g.others = r.Rec.Mark(), others })
}

// crowded reports whether two requests would wait at once where one that waits holds a lock.
// The run is left out then.
func (r *run) crowded(steps []conformance.Step) (yes bool) {
	if !r.c.traits.HoldsLockWhileWaiting {
		return false
	}
	r.To(steps[0].At)
	r.Settle()
	waiting, free := len(r.open(false)), r.Config().Limit-len(r.open(true))
	for _, s := range steps {
		switch s.Op {
		case verb.Acquire, verb.Try, verb.Do:
			if free--; free < 0 || waiting > 0 {
				waiting++
			}
		case verb.Resize:
			yes = yes || waiting > 0
		}
	}
	if yes = yes || waiting > 1; yes {
		r.LeaveOut()
	}
	return yes
}

// step does one step without waiting for what comes of it.
func (r *run) step(g *group, s conformance.Step) {
	done := &step{Step: s, request: -1}
	begun := func() { r.note(func() { g.steps = append(g.steps, done) }) }
	i, known := r.byID[s.N]
	switch s.Op {
	case verb.Acquire, verb.Try, verb.Do:
		done.request = len(r.out.requests)
		r.byID[s.N] = done.request
		begun()
		r.arrive(done)
	case verb.Cancel:
		if known {
			done.request = i
		} else {
			r.gone[s.N] = true // before it comes
		}
		begun()
		if known && r.out.requests[i].cutAt == 0 { // else together does, if nobody has asked
			r.out.requests[i].cancel()
		}
		r.finish(done, "")
	case verb.Resize:
		begun()
		r.finish(done, suite.Catch(func() { r.impl.Resize(s.N) }))
	case verb.Release, verb.Panic, verb.Exit:
		switch {
		case !known:
			begun()
			suite.Start(func() { r.finish(done, suite.Catch(func() { r.tooMany(max(1, s.K)) })) })
		case r.out.requests[i].mayEnd(r):
			done.request = i
			begun()
			r.end(done)
		}
	}
}

// tooMany gives slots back that nobody holds: by a second call of what was handed out, if slots are
// given back that way.
func (r *run) tooMany(weight int) {
	var again func()
	r.note(func() { again = r.released })
	switch {
	case !r.Accepts(opAgain):
		r.impl.Release(weight)
	case again != nil:
		again()
	case r.c.spec.Traits.OverRelease == OverReleasePanics:
		panic("it had returned no function to release it")
	}
}

// mayEnd reports whether the request runs, and if so notes that it is told to end.
func (q *request) mayEnd(r *run) (runs bool) {
	r.note(func() {
		runs = q.admitted && !q.finished
		q.finished = q.finished || runs
	})
	return runs
}

// end lets the request of a step give back its slots.
func (r *run) end(done *step) {
	if q := r.out.requests[done.request]; q.handler {
		q.end <- done.Op
		r.finish(done, "")
	} else {
		r.finish(done, r.release(q))
	}
}

// release gives the slots of a request back, and returns what that panicked with.
func (r *run) release(q *request) string {
	r.note(func() { r.released = q.release })
	return suite.Catch(func() {
		if q.release != nil {
			suite.Promptly(q.release)
		}
	})
}

// finish notes that a step has ended.
func (r *run) finish(done *step, panicked string) {
	r.note(func() { done.ended, done.panicked = true, panicked })
}

// arrive lets a request come, on a goroutine of its own.
func (r *run) arrive(done *step) {
	s := done.Step
	q := &request{id: s.N, weight: max(1, s.K), handler: r.impl.handles(s.Op), end: make(chan conformance.Op, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	if q.cancel, q.patient = cancel, r.patient(s); q.patient {
		ctx = context.Background()
	}
	if r.gone[s.N] {
		cancel()
	} else if r.isCut(s) {
		q.cutAt = r.cutAt()
	}
	if s.D > 0 {
		if r.Time == conformance.PackageTime {
			ctx, q.cancel = context.WithTimeout(ctx, s.D)
		} else {
			ctx, q.cancel = fakeclock.WithTimeout(ctx, r.Clock(), s.D)
		}
	}
	ask := func() { r.ask(ctx, q, s.Op) }
	prompt := s.Op == verb.Try
	r.note(func() {
		prompt = prompt || len(r.out.open(true)) == 0 && len(r.out.open(false)) == 0
		q.arrived = r.Rec.Mark()
		r.out.requests = append(r.out.requests, q)
	})
	if prompt { // it must not wait
		ask = func() { suite.Promptly(func() { r.ask(ctx, q, s.Op) }) }
	}
	suite.Start(func() {
		defer cancel()
		defer q.cancel()
		defer func() { r.finish(done, q.panicked) }() // also if the handler leaves by Goexit
		q.panicked = suite.Catch(ask)
	})
}

// patient reports whether a request has a context that is never done: every other one has, where
// nothing but a release has to end a wait.
func (r *run) patient(s conformance.Step) bool {
	ends := func(s conformance.Step) bool {
		return s.Op == verb.Cancel || s.Op == verb.Resize || s.D > 0 || s.K > r.Config().Limit
	}
	return s.N%2 == 0 && s.N < r.own && !slices.ContainsFunc(r.Steps(), ends)
}

// ask makes a request and records the answer. The panic of a handler that is told to panic
// is recovered here, as in a server.
func (r *run) ask(ctx context.Context, q *request, op conformance.Op) {
	defer func() {
		if r.told(q) != verb.Panic {
			return
		}
		if p := recover(); p != nil && p != handlerPanic {
			panic(p)
		}
	}()
	err := r.impl.enter(op)(r.given(ctx, q), q.weight, func(release func()) {
		r.note(func() {
			q.release = release
			if q.decided.Seq == 0 {
				q.decided, q.admitted = r.Rec.Mark(), true
			}
			q.runs++
			q.answered++
		})
		if q.handler {
			r.handle(q)
		}
	})
	r.note(func() {
		if q.runs > 0 && (err == nil || q.told == verb.Panic) {
			if q.handler && !q.left {
				q.early = r.Rec.Mark()
			}
			return
		}
		q.answered++
		q.err, q.ended = err, ctx.Err()
		if q.decided.Seq == 0 {
			q.decided = r.Rec.Mark()
		}
	})
}

// handle is the handler of a request: it runs until it is told how to end.
func (r *run) handle(q *request) {
	defer r.note(func() { q.left = true })
	told := <-q.end
	r.note(func() { q.told = told })
	switch told {
	case verb.Panic:
		if !suite.Caught() {
			r.Rec.Locked(func(rec *suite.Recording) { rec.LeftOut = ownGoroutine })
			return
		}
		panic(handlerPanic)
	case verb.Exit:
		runtime.Goexit()
	}
}

// ownGoroutine is why a run in which such a handler is to panic is left out.
const ownGoroutine = "the limiter runs the handler on a goroutine of its own, where a panic ends the process"

// told is how the handler of a request was told to end, "" if it was not.
func (r *run) told(q *request) (told conformance.Op) {
	r.note(func() { told = q.told })
	return told
}

// What a try returns that gets nothing, and what the handler of a schedule panics with.
var (
	errTried     = errors.New("false")
	handlerPanic = errors.New("the handler was told to panic")
)

// epilogue ends everything that the schedule began, and then shows how many slots and
// places there are. If waits have a timeout it comes after that, when no timer is left
// that could change anything.
func (r *run) epilogue(at time.Duration) {
	r.drain(at)
	cfg := r.Config()
	if cfg.Limit >= high {
		return // to show each slot would take long
	}
	if cfg.Timeout == suite.Wait {
		at += suite.Wait
		r.To(at)
	}
	limit := max(0, lastLimit(cfg, r.Steps()))
	more := max(0, min(2, cfg.Backlog)) + 1
	if r.c.traits.HoldsLockWhileWaiting {
		more = 1 // no two can wait
	}
	for i := range limit + more {
		r.alone(conformance.Step{Op: verb.Acquire, N: r.own + i, At: at})
	}
	r.drain(at)
}

// firstOwn is the number of the first request of the epilogue, behind all that the schedule names.
func firstOwn(steps []conformance.Step) int {
	most := 0
	for _, s := range steps {
		if s.Op != verb.Resize {
			most = max(most, s.N)
		}
	}
	return most + 1
}

// alone does a step of the epilogue by itself.
func (r *run) alone(s conformance.Step) { r.together([]conformance.Step{s}, inside.OrderSettled) }

// drain releases what runs, again and again, and then gives up what still waits.
func (r *run) drain(at time.Duration) {
	for again := true; again; {
		again = false
		for _, q := range r.open(true) {
			r.alone(conformance.Step{Op: verb.Release, N: q.id, At: at})
			again = true
		}
	}
	waiting := r.open(false)
	r.note(func() { r.out.lost = append(r.out.lost, waiting...) })
	for _, q := range waiting {
		r.alone(conformance.Step{Op: verb.Cancel, N: q.id, At: at})
	}
}

// lastLimit is the limit at the end of a schedule.
func lastLimit(cfg conformance.Config, steps []conformance.Step) int {
	limit := cfg.Limit
	for _, st := range steps {
		if st.Op == verb.Resize {
			limit = st.N
		}
	}
	return limit
}

// open lists the requests that run, or those that wait.
func (r *run) open(running bool) (open []*request) {
	r.note(func() { open = r.out.open(running) })
	return open
}

// leave ends every goroutine that can be made to end.
func (r *run) leave() {
	for range len(r.out.requests) + 1 {
		for _, q := range r.out.requests {
			q.cancel()
		}
		r.Settle()
		for _, q := range r.open(true) {
			q.finished = true
			if q.handler {
				q.end <- verb.Release
			} else {
				suite.Start(func() { r.release(q) })
			}
		}
		r.Settle()
	}
}

// many is how many requests must have been rejected before what each has left behind counts.
const many = 3

// piles reports whether a schedule can show goroutines that stay, one for each request that is
// rejected while one runs. Where something is released it does not.
func piles(s conformance.Schedule) bool {
	return len(s.Steps) > many && !suite.Has(verb.Release)(suite.Job{Schedule: s})
}

// high is a limit that a constructor may refuse.
const high = 300
