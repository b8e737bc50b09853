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
	if i+1 != cfg.Panics {
		return
	}
	if called, survived := survivable(); survived {
		r.mu.Lock()
		r.trace.Panicked, r.trace.called = true, called
		r.mu.Unlock()
		panic(plannedPanic)
	}
}

// survivable reports whether the suite can recover a panic of its caller: a call of
// the suite, or a timer of a guarded clock, is on the stack.
func survivable() (called, survived bool) {
	buf := make([]byte, 16<<10)
	buf = buf[:runtime.Stack(buf, false)]
	called = bytes.Contains(buf, []byte("conformance.catch("))
	return called, called || bytes.Contains(buf, []byte("guarded.AfterFunc."))
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

// guard guards the clock if a callback of the schedule panics, and watches it.
func guard(c clockwork.Clock, cfg Config, rec *recorder) clockwork.Clock {
	c = &watched{Clock: c, rec: rec, most: endless}
	if cfg.Panics == 0 {
		return c
	}
	return guarded{c}
}

// watched is a clock on which nobody can go on for ever at one instant: timers for no time
// do not expire any more once there were many, and the trace says so.
type watched struct {
	clockwork.Clock
	rec  *recorder
	most int       // of them at one instant
	at   time.Time // of the newest of them
	n    int
}

// endless is more timers for no time than one instance needs at one instant.
const endless = 1000

// turns reports whether a timer for d is one too many.
func (w *watched) turns(d time.Duration) bool {
	if d > 0 {
		return false
	}
	now := w.Clock.Now()
	w.rec.mu.Lock()
	defer w.rec.mu.Unlock()
	if w.n++; !now.Equal(w.at) {
		w.at, w.n = now, 1
	}
	if w.n > w.most {
		w.rec.trace.turned = true
	}
	return w.n > w.most
}

func (w *watched) AfterFunc(d time.Duration, f func()) clockwork.Timer {
	return w.timer(d, func(d time.Duration) clockwork.Timer { return w.Clock.AfterFunc(d, f) })
}

func (w *watched) NewTimer(d time.Duration) clockwork.Timer { return w.timer(d, w.Clock.NewTimer) }

func (w *watched) timer(d time.Duration, arm func(time.Duration) clockwork.Timer) clockwork.Timer {
	if !w.turns(d) {
		return &watchedTimer{arm(d), w}
	}
	t := arm(time.Hour)
	t.Stop()
	return t
}

type watchedTimer struct {
	clockwork.Timer
	w *watched
}

func (t *watchedTimer) Reset(d time.Duration) bool {
	if t.w.turns(d) {
		return t.Stop()
	}
	return t.Timer.Reset(d)
}

// settled notes of the newest step what was seen when all had settled.
func (r *recorder) settled(ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.trace.Done); n > 0 && !r.closed {
		r.trace.Done[n-1].OK = ok
	}
}
