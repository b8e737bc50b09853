package conformance

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// Trace is what one run of a schedule did and what came of it. Rules see traces,
// never implementations.
type Trace struct {
	Schedule Schedule
	// Order is how the racing steps met the timers of their instants.
	Order Order
	// Done lists the steps in the order in which they began, those done inside
	// a callback included.
	Done []Done
	// Fires lists the callbacks in the order in which they started.
	Fires []Fire
	// End is the last instant that was looked at; everything had time to settle.
	End time.Duration
	// Refused is what the constructor panicked with, if it did.
	Refused string
	// Stuck says that a step blocked for ever and the run was given up.
	Stuck bool
	// Armed says that a timer was still armed at the end (Injected only).
	Armed bool
	// Closed says that the output of a stream was closed at the end.
	Closed bool
	// Panicked says that a callback panicked, as the schedule wants it.
	Panicked bool
	called   bool // by an operation, not a timer
	// turned says that timers for no time came without end.
	turned bool
	// Left lists goroutines of the implementation that were alive at the end,
	// where the run looked for them.
	Left []string

	// Of a clock: what package time showed and what the clock showed, the step
	// under way if the run is stuck, and why nothing can be demanded of the
	// schedule.
	want, events []event
	doing        string
	unordered    string

	// Of a concurrency limiter: its requests.
	conc *concurrencyTrace
}

// Mark is a point of a trace: an instant, and a place in the order of all that was
// recorded. Seq is at least 1; a Mark with Seq 0 did not happen.
type Mark struct {
	At  time.Duration
	Seq int
}

// Done is a step that was done.
type Done struct {
	Step
	// Inside says that a callback did it.
	Inside bool
	// Began and Ended are the points just before the call and just after its
	// return. A request to a concurrency limiter ends when it gets its slots or is
	// rejected.
	Began, Ended Mark
	// OK is what an operation with a result said: cancelled, granted, pending.
	OK bool
	// Tokens is what a tokens query returned, Delay what a reservation said, Err what
	// a wait returned.
	Tokens float64
	Delay  time.Duration
	Err    error
	// Answer is what a quota answered.
	Answer Answer
	// Panic is what the call panicked with, if it did.
	Panic string
}

// Fire is one run of the callback.
type Fire struct {
	Value        int
	Values       []int // all that it got, where the callback gets a batch
	Key          int   // of the instance that ran it, where there are several
	Began, Ended Mark
}

// Order says how a racing step meets the timers of its instant.
type Order int

const (
	// OrderSettled is the order of schedules without racing steps.
	OrderSettled Order = iota
	// OrderStepFirst does the step when its instant is reached, and lets the timers of
	// that instant fire after what it did has settled.
	OrderStepFirst
	// OrderHeld lets the timers fire but keeps their functions back until the step has
	// returned, or blocks.
	OrderHeld
	// OrderFireFirst lets timers and functions go first, as for a step that is not
	// racing.
	OrderFireFirst
	// OrderSampled leaves the order to chance; many runs see what comes.
	OrderSampled
)

// String says in words how the step met its timers.
func (o Order) String() string {
	return [...]string{
		"each step after the timers of its instant",
		"the racing step went before the timers of its instant",
		"the timer had fired and its function was held until the racing step had returned",
		"the timer and its function went before the racing step",
		"timer and racing step met by chance",
	}[o]
}

// certain reports whether the driver made sure that the racing step returned
// before the implementation could act on its timer.
func (o Order) certain() bool { return o == OrderStepFirst || o == OrderHeld }

// recorder collects a Trace. Callbacks record from any goroutine.
type recorder struct {
	now func() time.Duration

	mu     sync.Mutex
	trace  Trace
	seq    int
	closed bool // what comes after the end is not recorded
}

func (r *recorder) mark() Mark {
	r.seq++
	return Mark{r.now(), r.seq}
}

// do records a step around its call and turns a panic into a part of the trace.
func (r *recorder) do(s Step, inside bool, call func(d *Done)) {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return
	}
	i := len(r.trace.Done)
	if i == 0 { // a callback may do more
		r.trace.Done = make([]Done, 0, len(r.trace.Schedule.Steps))
	}
	r.trace.Done = append(r.trace.Done, Done{Step: s, Inside: inside, Began: r.mark()})
	r.mu.Unlock()

	var d Done
	d.Panic = catch(func() { call(&d) })

	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	done := &r.trace.Done[i]
	done.Ended, done.OK, done.Panic = r.mark(), d.OK, d.Panic
	done.Tokens, done.Delay, done.Err, done.Answer = d.Tokens, d.Delay, d.Err, d.Answer
}

// fire records the start of a callback and returns its number, negative after
// the end of the trace.
func (r *recorder) fire(v int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return -1
	}
	r.trace.Fires = append(r.trace.Fires, Fire{Value: v, Began: r.mark()})
	return len(r.trace.Fires) - 1
}

// batch records what callback i got.
func (r *recorder) batch(i int, all []int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.trace.Fires[i].Values = slices.Clone(all)
	}
}

// fired records the end of callback i.
func (r *recorder) fired(i int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.trace.Fires[i].Ended = r.mark()
	}
}

// finish closes the trace and returns it.
func (r *recorder) finish() *Trace {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	return &r.trace
}

// catch calls f and returns what it panicked with, "" if it did not.
func catch(f func()) (msg string) {
	defer func() {
		if r := recover(); r != nil {
			msg = fmt.Sprint(r)
			if msg == "" {
				msg = "(empty panic)"
			}
		}
	}()
	f()
	return ""
}
