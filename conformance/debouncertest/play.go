package debouncertest

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// do does one operation of a schedule and notes its result.
func (f *Funcs) do(s conformance.Step, d *conformance.Done) {
	if key := edge.Key(s); key != 0 {
		f.doKey(s, key)
		return
	}
	switch s.Op {
	case verb.Call:
		f.Call(s.N)
	case verb.Close:
		f.Close()
	case verb.Cancel:
		if f.CancelReports != nil {
			d.OK = f.CancelReports()
		} else {
			f.Cancel()
		}
	case verb.Flush:
		f.Flush()
	case verb.Pending:
		d.OK = f.Pending()
	case verb.Stop:
		f.Stop()
	}
}

// doKey does one operation with a key.
func (f *Funcs) doKey(s conformance.Step, key int) {
	switch s.Op {
	case verb.Call:
		f.CallKey(key, s.N)
	case verb.Cancel:
		f.CancelKey(key)
	case verb.Flush:
		f.FlushKey(key)
	}
}

// release ends the debouncer, if it can be ended and the end of its input has not ended
// it.
func (f *Funcs) release(ended bool) {
	switch {
	case f.Stop != nil:
		f.Stop()
	case f.Close != nil && !ended:
		f.Close()
	}
}

// player plays a schedule on a fresh debouncer. If steps have keys and the implementation
// has none, or not for all of them, there is one more debouncer for each key.
type player struct {
	c     *contract
	st    *suite.Stage
	env   Env
	cfg   Config
	steps []conformance.Step
	apart bool           // each key has a debouncer of its own
	impl  *Funcs         // that of steps without a key
	made  map[int]*Funcs // by key; 0 is impl
	// second are the debouncers to which everything is done too, just before or just after, and of
	// which nothing is recorded, by key; only if the stage asks for a second instance.
	second map[int]*Funcs
	ended  atomic.Bool // the input has ended, or is about to
}

// besides is added to the payloads of a second instance.
const besides = 100_000

// Play runs a schedule on a fresh debouncer.
func (c *contract) Play(st *suite.Stage) {
	if st.OutOfTime() {
		return
	}
	cfg := st.Config()
	p := &player{c: c, st: st, env: st.Env(), cfg: Config{cfg.Wait, cfg.MaxWait, cfg.Edges, cfg.K},
		steps: st.Steps(), made: map[int]*Funcs{}, second: map[int]*Funcs{}}
	if p.cfg.Edges == 0 {
		p.cfg.Edges = c.built()
	}
	p.apart = edge.Apart(st, c.FamilyOf)
	if !st.Make(func() { p.impl = p.instance(0) }) {
		return
	}
	// A step that may wait for a callback must not keep time from moving. Without a bubble
	// nobody could tell when it is done, so there it is simply called.
	waits := (cfg.Busy > 0 || cfg.Inside != "") && st.Exact()
	st.Blocks = func(conformance.Step) bool { return waits }
	st.Released = edge.StoppedSoon(st.Schedule)
	end := st.Each(row, p.do)
	// Long enough for every fire that can still come, and for one that must not come.
	fires := len(p.steps) + 2
	if p.cfg.Edges == LeadingAndTrailing && c.spec.Traits.BothSingle != BothOnce {
		fires *= 2
	}
	rest := suite.Times(3, max(0, cfg.Wait))
	end = st.Until(end, suite.Sum(max(rest, time.Millisecond), time.Duration(fires)*cfg.Busy))
	st.End(end, rest, func() { p.release(waits) })
}

// instance returns the instance of a key, and makes it if it is not there.
func (p *player) instance(key int) *Funcs {
	if p.made[key] == nil {
		if p.st.Twice {
			f := p.c.build(p.env, p.cfg, func(int, []int) {})
			p.second[key] = &f
		}
		f := p.c.build(p.env, p.cfg, func(v int, all []int) { p.fired(key, v, all) })
		p.made[key] = &f
	}
	return p.made[key]
}

// fired is the callback.
func (p *player) fired(key, v int, all []int) {
	rec := p.st.Rec
	i := rec.Fire(v)
	if i < 0 {
		return
	}
	handed := slices.Clone(all)
	if all != nil {
		rec.Batch(i, all)
	}
	p.st.During(i, key, func(step conformance.Step) {
		if step.Op == verb.Call && p.ended.Load() {
			return // no event comes after the end of the input
		}
		p.ending(step)
		rec.Do(step, true, func(done *conformance.Done) { p.impl.do(step, done) })
	})
	if all != nil {
		rec.Batch(i, all) // the callback owns it until it returns
	}
	if !slices.Equal(handed, all) {
		rec.Locked(func(rec *suite.Recording) {
			if rec.Detail == nil {
				rec.Detail = changed{}
			}
			rec.Detail.(changed)[rec.Fires[i].Began.Seq] = handed
		})
	}
}

// changed are the batches that were changed while their callbacks ran, as they were handed out, by the point at which
// the callback began.
type changed map[int][]int

// ending notes that a step ends the input, before it does.
func (p *player) ending(s conformance.Step) {
	if s.Op == verb.Close {
		p.ended.Store(true)
	}
}

// do does a step.
func (p *player) do(s conformance.Step) {
	p.ending(s)
	on, key := s, 0
	if k := edge.Key(s); k != 0 && p.apart {
		key, on = k, edge.WithKey(s, 0)
	}
	if s.Op == verb.Stop && p.apart {
		p.stopAll(s)
		return
	}
	f := p.instance(key)
	p.st.Rec.Do(s, false, func(done *conformance.Done) {
		second := p.second[key]
		if second == nil {
			f.do(on, done)
			return
		}
		other, last := on, on.N%2 == 1
		if on.Op == verb.Call {
			other.N += besides // who shares payloads shows it, whichever of the two has been called last
		}
		if !last {
			second.do(other, &conformance.Done{})
		}
		if f.do(on, done); last {
			second.do(other, &conformance.Done{})
		}
	})
}

// stopAll stops the debouncers of all keys.
func (p *player) stopAll(s conformance.Step) {
	p.st.Rec.Do(s, false, func(*conformance.Done) {
		for _, made := range []map[int]*Funcs{p.second, p.made} {
			for _, f := range made {
				f.Stop()
			}
		}
	})
}

// release ends what was made. Where steps may wait for callbacks, so may this.
func (p *player) release(waits bool) {
	did := func(op conformance.Op) bool {
		return slices.ContainsFunc(p.steps, func(s conformance.Step) bool { return s.Op == op })
	}
	for i, made := range []map[int]*Funcs{p.second, p.made} {
		ended := did(verb.Close) || p.ended.Load() && i == 1
		for key, f := range made {
			release := func() { _ = suite.Catch(func() { f.release(ended && key == 0) }) }
			switch {
			case did(verb.Stop) && key == 0:
			case waits:
				suite.Start(release)
			default:
				release()
			}
		}
	}
}

// row counts the steps that are done without a pause: two where a cancel or flush and the
// call after it race with a deadline. That call begins a new burst, in which a timer that
// has expired for the old burst must not fire.
func row(left []conformance.Step) int {
	if len(left) < 2 {
		return 1
	}
	end, call := left[0], left[1]
	ends := end.Op == verb.Cancel || end.Op == verb.Flush
	if ends && call.Op == verb.Call && end.Racing && call.Racing && end.At == call.At {
		return 2
	}
	return 1
}
