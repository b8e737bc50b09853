package throttletest

import (
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// do does one operation. An event that is allowed is an emission.
func (f *Funcs) do(s conformance.Step, at time.Time, explicit bool, emit func(int)) {
	switch s.Op {
	case verb.Reset:
		if key := edge.Key(s); key != 0 {
			f.ResetKey(key)
			return
		}
		f.Reset()
	case verb.Flush:
		f.Flush()
	case verb.Drop:
		f.Drop()
	case verb.Stop:
		f.Stop()
	case verb.Fault:
		f.Fault(s.N)
	case verb.Close:
		f.Close()
	case verb.Cancel:
		f.Cancel()
	case verb.Call:
		f.event(s, at, explicit, emit)
	}
}

// event brings an event by whatever takes it.
func (f *Funcs) event(s conformance.Step, at time.Time, explicit bool, emit func(int)) {
	switch {
	case s.K != 0:
		f.CallKey(s.K, s.N)
	case explicit:
		if f.AllowAt(at) {
			emit(s.N)
		}
	case f.Call != nil:
		f.Call(s.N)
	case f.Allow():
		emit(s.N)
	}
}

// release lets go of what the throttle holds, unless the end of its input has done so.
func (f *Funcs) release(ended bool) {
	switch {
	case f.Stop != nil:
		f.Stop()
	case f.Cancel != nil:
		f.Cancel()
	case f.Close != nil && !ended:
		f.Close()
	}
}

// run is one schedule on a fresh throttle, or on one for each key if the throttle has no
// keys of its own, or not for all steps.
type run struct {
	*suite.Stage
	c     *contract
	env   Env
	edges Edges
	apart bool           // each key has a throttle of its own
	made  map[int]*Funcs // by key
	ended bool           // the input has ended
}

// Play runs a schedule.
func (c *contract) Play(st *suite.Stage) {
	if st.OutOfTime() {
		return
	}
	cfg := st.Config()
	r := &run{Stage: st, c: c, env: st.Env(), edges: cfg.Edges, made: map[int]*Funcs{}}
	if r.edges == 0 {
		r.edges = c.built()
	}
	r.apart = edge.Apart(st, c.FamilyOf)
	if !st.Make(func() { r.instance(0) }) {
		return
	}
	blocks := (cfg.Busy > 0 || cfg.Inside != "") && st.Exact() // a step may wait for a callback
	st.Blocks = func(conformance.Step) bool { return blocks }
	st.Rests, st.After = true, r.after
	st.Released = edge.StoppedSoon(st.Schedule)
	impl := r.made[0]
	end := st.Each(suite.Together, r.step)
	rest := suite.Times(3, cfg.Interval)
	end = st.Until(end, max(rest, time.Millisecond))
	if readerGone(st.Schedule) {
		r.leaveReader(end)
	}
	end += time.Duration(2*len(st.Steps())+2) * cfg.Busy // each event may be emitted twice
	st.To(end)
	st.Settle()
	if impl.Closed != nil {
		closed := impl.Closed()
		st.Rec.Locked(func(rec *suite.Recording) { rec.Closed = closed })
	}
	st.End(end, rest, func() { r.release(blocks) })
}

// instance returns the throttle of a key, and makes it when it is first needed.
func (r *run) instance(key int) *Funcs {
	if r.made[key] == nil {
		cfg := r.Config()
		f := r.c.made(r.Stage, r.env, Config{cfg.Interval, r.edges, cfg.K}, func(v int) { r.emit(key, v) })
		r.made[key] = &f
	}
	return r.made[key]
}

// made makes a throttle. If the stage asks for a second one, everything is done to that
// one first.
func (c *contract) made(st *suite.Stage, env Env, cfg Config, emit func(int)) Funcs {
	f := c.spec.New(env, cfg, emit)
	if !st.Twice {
		return f
	}
	other := c.spec.New(env, cfg, func(int) {})
	call, allow, at, stop := f.Call, f.Allow, f.AllowAt, f.Stop
	if call != nil {
		f.Call = func(v int) { other.Call(-v); call(v) }
	}
	if allow != nil {
		f.Allow = func() bool { other.Allow(); return allow() }
	}
	if at != nil {
		f.AllowAt = func(t time.Time) bool { other.AllowAt(t); return at(t) }
	}
	if stop != nil {
		f.Stop = func() { other.Stop(); stop() }
	}
	return f
}

// emit is what a throttle calls with what it emits.
func (r *run) emit(key, v int) {
	i := r.Rec.Fire(v)
	if i < 0 {
		return
	}
	r.During(i, key, func(s conformance.Step) {
		r.Rec.Do(s, true, func(*conformance.Done) {
			r.made[0].do(s, r.env.Start.Add(s.At), r.c.explicit(), func(int) {})
		})
	})
}

// step does one step.
func (r *run) step(s conformance.Step) {
	at, one := r.made[0], s
	if k := edge.Key(s); k != 0 && r.apart {
		at, one = r.instance(k), edge.WithKey(s, 0)
	}
	if r.forsaken(s) {
		return
	}
	r.Rec.Do(s, false, func(*conformance.Done) {
		at.do(one, r.env.Start.Add(s.At+r.wall(s.At)), r.c.explicit(), func(v int) { r.emit(edge.Key(s), v) })
	})
}

// after notes whether the output is closed when the input has ended or was cancelled.
func (r *run) after(s conformance.Step) {
	r.ended = r.ended || s.Op == verb.Close
	if closed := r.made[0].Closed; closed != nil && (s.Op == verb.Close || s.Op == verb.Cancel) {
		r.Rec.Settled(closed())
	}
}

// wall returns by how much the wall clock has been set forward, or back if negative, by an
// instant.
func (r *run) wall(at time.Duration) (skew time.Duration) {
	for _, s := range r.Steps() {
		if s.Op == verb.Wall && s.At <= at {
			skew += s.D
		}
	}
	return skew
}

// release lets go of what was made.
func (r *run) release(blocks bool) {
	for _, f := range r.made {
		release := func() { f.release(r.ended && f == r.made[0]) }
		if blocks {
			suite.Start(func() { _ = suite.Catch(release) })
		} else {
			_ = suite.Catch(release)
		}
	}
}
