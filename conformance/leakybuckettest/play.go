package leakybuckettest

import (
	"strings"
	"sync/atomic"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// do does one operation of a schedule and notes its result.
func (f *Funcs) do(s conformance.Step, d *conformance.Done) {
	switch s.Op {
	case verb.Put:
		d.OK = f.Put(s.N)
	case verb.Cancel:
		d.OK = f.Cancel(s.N)
	case verb.Close:
		f.Close()
	case verb.Stop:
		f.Stop()
	}
}

// end releases what can be released.
func (f *Funcs) end() {
	switch {
	case f.Stop != nil:
		_ = suite.Catch(f.Stop)
	case f.Close != nil:
		suite.Start(func() { _ = suite.Catch(f.Close) })
	}
}

// Play runs a schedule on a fresh leaky bucket.
func (c *contract) Play(st *suite.Stage) {
	cfg := st.Config()
	if st.OutOfTime() {
		return
	}
	var impl Funcs
	var returned atomic.Int64 // of the callers that block for their turn
	leave := func(v int) {
		returned.Add(1)
		st.Callback(func() {
			if i := st.Rec.Fire(v); i >= 0 {
				c.inside(st, &impl, i)
				st.Work(i)
				st.Rec.Fired(i)
			}
		})
	}
	refused := map[int]bool{} // items that found as many waiting as may
	refuse := func(v int) {
		returned.Add(1)
		st.Rec.Locked(func(rec *suite.Recording) { refused[v] = refusedAt(rec, v, st.Now()) })
	}
	if !st.Make(func() { impl = c.made(st, Config{cfg.Interval, cfg.Backlog}, leave, refuse) }) {
		c.refused(st)
		return
	}
	st.Rests, st.Released = true, edge.StoppedSoon(st.Schedule)
	st.Alone, st.Fresh = true, true
	st.Blocks = func(s conformance.Step) bool {
		return s.Op == verb.Close || s.Op == verb.Stop || cfg.Busy > 0
	}
	if c.spec.Traits.HoldsLockWhileWaiting {
		st.Occupied = occupied
	}
	stopped, came := false, 0
	st.Waits = func() bool { return !st.Accepts(opServes) && int(returned.Load()) < came }
	var row func(left []conformance.Step) int
	if st.Accepts(opServes) { // or else the order of two callers is chance
		row = atOnce
	}
	end := st.Each(row, func(s conformance.Step) {
		if s.Op == verb.Put {
			came++
		}
		stopped = stopped || s.Op == verb.Stop
		do := func() { st.Rec.Do(s, false, func(done *conformance.Done) { impl.do(s, done) }) }
		if s.Racing && (s.Op == verb.Close || cfg.Busy > 0) && st.Bubble { // it may wait for an item
			suite.Start(do)
		} else {
			do()
		}
	})
	end = max(end, min(lasts(st.Schedule), suite.Last(c.spec.Time)))
	st.End(end, suite.Times(3, cfg.Interval), func() {
		if !stopped {
			impl.end()
		}
	})
	st.Rec.Locked(func(rec *suite.Recording) {
		for i := range rec.Done {
			d := &rec.Done[i]
			d.OK = d.OK && !(d.Op == verb.Put && refused[d.N])
		}
	})
}

// atOnce is how many of the steps that are left are done without a pause, beside the timers of
// their instant: a cancel and what comes with it, or a put and a Close.
func atOnce(left []conformance.Step) int {
	n := suite.Together(left)
	switch {
	case left[0].Op == verb.Put && n > 1 && left[1].Op == verb.Close:
		return 2
	case left[0].Op != verb.Cancel:
		return 1
	}
	return n
}

// crowded reports whether several items come without a pause: where each has a caller that blocks
// for it, their order is chance.
func crowded(s conformance.Schedule) bool {
	for i := range s.Steps {
		if atOnce(s.Steps[i:]) > 2 {
			return true
		}
	}
	return false
}

// refusedAt reports whether a Take that returns false now refuses item v: at the instant at
// which it came, unless the bucket was stopped or closed since.
func refusedAt(rec *suite.Recording, v int, now time.Duration) bool {
	came, at := false, time.Duration(0)
	for _, d := range rec.Done {
		switch {
		case came && (d.Op == verb.Stop || d.Op == verb.Close):
			return false
		case d.Op == verb.Put && d.N == v:
			came, at = true, d.Began.At
		}
	}
	return came && at == now
}

// occupied reports whether an item that was put has not left.
func occupied(rec *suite.Recording, _ conformance.Step) bool {
	waiting := -len(rec.Fires)
	for _, d := range rec.Done {
		if d.Op == verb.Put && (d.OK || d.Ended.Seq == 0) {
			waiting++
		}
	}
	return waiting > 0
}

// refused leaves a run out whose configuration the constructor refused, as it may document. The
// runtime's panics are no refusals, unless nothing may wait: who holds one item beside its queue
// makes the queue by one smaller.
func (c *contract) refused(st *suite.Stage) {
	st.Rec.Locked(func(rec *suite.Recording) {
		if !strings.HasPrefix(rec.Refused, "runtime error: ") || st.Config().Backlog == 0 {
			rec.LeftOut = suite.RefusedWhy(st.Config(), rec.Refused)
		}
	})
}

// make makes a bucket. Where callers block for their turn, an item is a goroutine that does, and
// refuse is called with one that gets none.
func (c *contract) make(env Env, cfg Config, leave, refuse func(int)) Funcs {
	return c.spec.New(env, cfg, leave).withItems(leave, refuse)
}

// withItems gives a bucket whose callers block a Put.
func (f Funcs) withItems(leave, refuse func(int)) Funcs {
	if take := f.Take; f.Put == nil && take != nil {
		f.Put = func(v int) bool {
			suite.Start(func() {
				if take() {
					leave(v)
				} else if refuse != nil {
					refuse(v)
				}
			})
			return true
		}
	}
	return f
}

// made makes the bucket of a stage. If the stage asks for a second bucket, whatever is put
// into the first is put into the second before.
func (c *contract) made(st *suite.Stage, cfg Config, leave, refuse func(int)) Funcs {
	f := c.make(st.Plain(), cfg, leave, refuse)
	if !st.Twice {
		return f
	}
	other := c.make(st.Plain(), cfg, func(int) {}, nil)
	put, stop := f.Put, f.Stop
	f.Put = func(v int) bool { other.Put(-v); return put(v) }
	if stop != nil {
		f.Stop = func() { other.Stop(); stop() }
	}
	return f
}

// inside does the operation that the schedule wants from the callback, with which item i
// leaves. The first two items do it, since the first may leave within its Put, where the
// second hardly can. Close is left to the first: it may wait for items that this callback
// keeps from leaving.
func (c *contract) inside(st *suite.Stage, impl *Funcs, i int) {
	op := st.Config().Inside
	if op == "" || i != 0 && (i != 1 || op == verb.Close) {
		return
	}
	step := conformance.Step{Op: op, At: st.Now()}
	switch op {
	case verb.Put:
		step.N = suite.InsideNumber(st.Schedule) + i
	case verb.Cancel:
		step.N = st.Steps()[len(st.Steps())-1].N
	}
	st.Rec.Do(step, true, func(done *conformance.Done) { impl.do(step, done) })
}
