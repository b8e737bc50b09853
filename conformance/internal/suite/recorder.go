package suite

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/escapement-go/escapement/conformance"
)

// Recording is the trace of one run and what the suite and the contract know besides.
type Recording struct {
	conformance.Trace
	// Detail is what the contract records in terms of its own.
	Detail any
	// Kept is the operation that Released names, if a timer was still armed an hour after it.
	Kept conformance.Op
	// Turned says that the implementation armed timers of no duration without end.
	Turned bool
	// Called says that the planned panic came out of a callback that an operation ran,
	// rather than a timer.
	Called bool

	wakes int // how often the implementation woke, as far as that was counted
}

// Recorder collects a Recording. Callbacks record from any goroutine.
type Recorder struct {
	now func() time.Duration

	mu     sync.Mutex
	rec    Recording
	seq    int
	closed bool // what comes after the end is not recorded
	// spare is where the next step puts its results, if no other does.
	spare *conformance.Done
	late  int // so many operations began before the end: that what was made is released ends none of them
}

// Locked calls f with what is recorded so far, while nothing else is recorded.
func (r *Recorder) Locked(f func(rec *Recording)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(&r.rec)
}

// LeftOut reports whether the run is left out.
func (r *Recorder) LeftOut() (yes bool) {
	r.Locked(func(rec *Recording) { yes = rec.LeftOut != "" })
	return yes
}

// Mark returns the next point of the trace. It must be called within Locked.
func (r *Recorder) Mark() conformance.Mark {
	Meets(r)
	r.seq++
	return conformance.Mark{At: r.now(), Seq: r.seq}
}

// Do records a step around its call and turns a panic into a part of the trace. Inside
// says that a callback does it.
func (r *Recorder) Do(s conformance.Step, inside bool, call func(d *conformance.Done)) {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return
	}
	i := len(r.rec.Done)
	if i == 0 { // enough, unless callbacks do steps too
		r.rec.Done = make([]conformance.Done, 0, len(r.rec.Schedule.Steps))
	}
	r.rec.Done = append(r.rec.Done, conformance.Done{Step: s, Inside: inside, Began: r.Mark()})
	d := r.spare
	r.spare = nil
	r.mu.Unlock()

	if d == nil {
		d = new(conformance.Done)
	}
	d.Panic = Catch(func() { operation(func() { call(d) }) })

	r.mu.Lock()
	defer r.mu.Unlock()
	defer func() { *d, r.spare = conformance.Done{}, d }()
	if r.closed || i < r.late {
		return
	}
	done := &r.rec.Done[i]
	done.Ended, done.OK, done.Panic = r.Mark(), d.OK, d.Panic
	done.Tokens, done.Delay, done.Err, done.Answer = d.Tokens, d.Delay, d.Err, d.Answer
}

// open calls f with what is recorded so far, unless what comes now is not recorded any more.
func (r *Recorder) open(f func(rec *Recording)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		f(&r.rec)
	}
}

// Settled sets the result of the newest step to what was seen when everything had settled.
func (r *Recorder) Settled(ok bool) {
	r.open(func(rec *Recording) {
		if n := len(rec.Done); n > 0 {
			rec.Done[n-1].OK = ok
		}
	})
}

// Fire records the start of a callback and returns its number, negative after the end of
// the trace.
func (r *Recorder) Fire(v int) (number int) {
	number = -1
	r.open(func(rec *Recording) {
		number = len(rec.Fires)
		rec.Fires = append(rec.Fires, conformance.Fire{Value: v, Began: r.Mark()})
	})
	return number
}

// Batch records all that callback i got.
func (r *Recorder) Batch(i int, all []int) {
	r.open(func(rec *Recording) { rec.Fires[i].Values = slices.Clone(all) })
}

// Fired records the end of callback i.
func (r *Recorder) Fired(i int) { r.open(func(rec *Recording) { rec.Fires[i].Ended = r.Mark() }) }

// finish closes the recording and returns it.
func (r *Recorder) finish() *Recording {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	return &r.rec
}

// Catch calls f and returns what it panicked with, "" if it did not.
func Catch(f func()) (msg string) {
	defer func() {
		if r := recover(); r != nil {
			msg = fmt.Sprint(r)
			if msg == "" {
				msg = "(empty panic)"
			}
		}
	}()
	caught(f)
	return ""
}

// ThrowAway ends an instance that was only looked at. It panics as end does, but does not wait
// for an end that takes long: nothing watches over what happens before the first run, and runs
// tell of an end that never comes.
func ThrowAway(end func()) {
	ended := make(chan string, 1)
	Start(func() { ended <- Catch(end) })
	for range 20_000 {
		select {
		case text := <-ended:
			if text != "" {
				panic(text)
			}
			return
		default:
			runtime.Gosched()
		}
	}
}

// PlannedPanic is what a callback panics with if the schedule wants it.
const PlannedPanic = "conformance: the callback panics, as the schedule says"

// survivable reports whether the suite would recover a panic of its caller, because a call
// of the suite or a timer of a guarded clock is on the stack, and whether it is the
// former.
func survivable() (called, survived bool) {
	var callers [256]uintptr
	for _, at := range callers[:runtime.Callers(2, callers[:])] {
		switch runtime.FuncForPC(at-1).Name() + "(" {
		case markCaught:
			return true, true
		case markExpired:
			survived = true
		}
	}
	return false, survived
}

// Recovers makes planned panics come on any goroutine, until what it returns is called, if the implementation recovers
// them: where all is declared its author says so, and else a panic may end the process.
func (s *Suite) Recovers(yes bool) (back func()) {
	s.recovers = yes && !s.undeclared
	return func() { s.recovers = false }
}

// Caught reports whether a panic of the caller would come to the suite: whether an
// operation that the suite has called is on the stack.
func Caught() bool {
	called, _ := survivable()
	return called
}

// AsBegun is a run with each step at the instant at which it began. That is another one than
// planned only if a step before it took time.
func AsBegun(rec *Recording) *Recording {
	late := func(d conformance.Done) bool { return d.Began.At > d.At }
	if !slices.ContainsFunc(rec.Done, late) || GoesBack(rec.Schedule) {
		return rec
	}
	begun := *rec
	begun.Done = slices.Clone(rec.Done)
	for i := range begun.Done {
		begun.Done[i].At = max(begun.Done[i].At, begun.Done[i].Began.At)
	}
	return &begun
}

// Decided says what a request got.
func Decided(granted bool) string { return cmp.Or(If(granted, "granted"), "denied") }
