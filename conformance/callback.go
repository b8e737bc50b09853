package conformance

import (
	"bytes"
	"runtime"
	"time"

	"github.com/jonboulle/clockwork"
)

// plannedPanic is what a callback panics with if the schedule wants it.
const plannedPanic = "conformance: the callback panics, as the schedule says"

// during does what the callback of a schedule does, after its start was recorded as
// fire i: an operation, some time, a panic.
func (r *recorder) during(i, key int, cfg Config, d driver, inside func(Step)) {
	defer r.fired(i)
	if key != 0 {
		r.mu.Lock()
		r.trace.Fires[i].Key = key
		r.mu.Unlock()
	}
	if i == 0 && cfg.Inside != "" {
		step := Step{Op: cfg.Inside, At: d.now()}
		if step.Op == OpCall {
			step.N = insideValue
		}
		inside(step)
	}
	if cfg.Busy > 0 {
		d.clock().Sleep(cfg.Busy)
	}
	if i+1 == cfg.Panics && survivable() {
		r.mu.Lock()
		r.trace.Panicked = true
		r.mu.Unlock()
		panic(plannedPanic)
	}
}

// survivable reports whether the suite can recover a panic of its caller: a call of
// the suite, or a timer of a guarded clock, is on the stack.
func survivable() bool {
	buf := make([]byte, 16<<10)
	buf = buf[:runtime.Stack(buf, false)]
	return bytes.Contains(buf, []byte("conformance.catch(")) || bytes.Contains(buf, []byte("guarded.AfterFunc."))
}

// guarded is a clock whose functions survive the panic that the schedule wants.
type guarded struct{ clockwork.Clock }

func (g guarded) AfterFunc(d time.Duration, f func()) clockwork.Timer {
	return g.Clock.AfterFunc(d, func() {
		defer func() {
			if r := recover(); r != nil && r != plannedPanic {
				panic(r)
			}
		}()
		f()
	})
}

// guard guards the clock if a callback of the schedule panics.
func guard(c clockwork.Clock, cfg Config) clockwork.Clock {
	if cfg.Panics == 0 {
		return c
	}
	return guarded{c}
}

// settled notes of the newest step what was seen when all had settled.
func (r *recorder) settled(ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.trace.Done); n > 0 && !r.closed {
		r.trace.Done[n-1].OK = ok
	}
}
