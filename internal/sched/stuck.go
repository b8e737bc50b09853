package sched

import (
	"runtime"
	"strings"
)

// Stuck is the failure of a run in which goroutines wait for ever.
type Stuck struct {
	Ended bool // the body has ended: they are left over
	Waits []Wait
}

// Wait is what a goroutine waits for.
type Wait struct {
	G      *G
	Op     Op     // where a model decides
	Holder *G     // of a lock; nil if there is none, or it is not known
	Since  Op     // where Holder took it
	Stack  string // where the runtime decides: the trace
}

// holder is the state of a lock.
type holder interface {
	Holder() (*G, Op)
}

// judge finds out what is left when nothing more can happen.
func (r *Run) judge() {
	if r.failing || r.TooLong || len(r.live) == 0 {
		return
	}
	s := Stuck{Ended: r.ended}
	stacks := r.stacks()
	for _, g := range r.live {
		w := Wait{G: g}
		if g.parked {
			w.Op = g.op
			if h, ok := r.states[g.op.Object].(holder); ok {
				w.Holder, w.Since = h.Holder()
			}
		} else {
			if w.Stack = stacks[g]; w.Stack == "" {
				continue // one that others have started, and that has ended
			}
		}
		s.Waits = append(s.Waits, w)
	}
	if len(s.Waits) > 0 || !s.Ended {
		r.Fail(s)
	}
}

// stacks returns the traces of those who take part.
func (r *Run) stacks() map[*G]string {
	of := make(map[*G]string)
	for _, trace := range strings.Split(string(Dump()), "\n\n") {
		if g := r.ByTrace(trace); g != nil {
			of[g] = trace
		}
	}
	return of
}

// Dump returns the stack traces of all goroutines.
func Dump() []byte {
	for buf := make([]byte, 1<<16); ; buf = make([]byte, 2*len(buf)) {
		if n := runtime.Stack(buf, true); n < len(buf) {
			return buf[:n]
		}
	}
}

// Op returns what g is doing since it was let go last, or is about to do.
func (g *G) Op() Op { return g.op }

// Dying reports whether the run of g has been given up: nothing is awaited any more.
func (g *G) Dying() bool { return g.run.dying.Load() }
