package edge

import (
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// Player plays a schedule on a fresh instance. If steps have keys and the implementation has none, or not for all
// of them, there is one more instance for each key.
type Player struct {
	*suite.Stage
	Make Make
	// Apart says that each key has an instance of its own.
	Apart bool
	// Row says how many of the steps that are left are done without a pause.
	Row func(left []conformance.Step) int
	// Forsakes reports whether a step is left out, and Leaves is called when everything has come but what a callback
	// holds up; nil if there are no such.
	Forsakes func(s conformance.Step) bool
	Leaves   func(at time.Duration)

	env   conformance.Env
	first Instance         // that of steps without a key
	made  map[int]Instance // by key; 0 is the first
	// second are the instances to which everything is done too, just before or just after, and of
	// which nothing is recorded, by key; only if the stage asks for a second instance.
	second map[int]Instance
	ended  atomic.Bool // the input has ended, or is about to
}

// besides is added to the payloads of a second instance.
const besides = 100_000

// Changed are the batches that were changed while their callbacks ran, as they were handed out, by the point at which
// the callback began.
type Changed map[int][]int

// Play plays the schedule.
func (p *Player) Play() {
	if p.OutOfTime() {
		return
	}
	p.env, p.made, p.second = p.Env(), map[int]Instance{}, map[int]Instance{}
	if !p.Stage.Make(func() { p.first = p.instance(0) }) {
		return
	}
	cfg := p.Config()
	// A step that may wait for a callback must not keep time from moving. Without a bubble
	// nobody could tell when it is done, so there it is simply called.
	waits := (cfg.Busy > 0 || cfg.Inside != "") && p.Exact()
	p.Blocks = func(conformance.Step) bool { return waits }
	p.Released, p.After = StoppedSoon(p.Schedule), p.after
	end := p.Each(p.Row, p.step)
	// Long enough for every fire that can still come, and for one that must not come.
	rest := suite.Times(3, max(0, cfg.Wait, cfg.Interval))
	end = p.Until(end, max(rest, time.Millisecond))
	if p.Leaves != nil {
		p.Leaves(end)
	}
	end = p.Until(end, time.Duration(2*len(p.Steps())+4)*cfg.Busy) // each event may fire on both edges
	if closed := p.first.Closed; closed != nil {
		p.To(end)
		p.Settle()
		yes := closed()
		p.Rec.Locked(func(rec *suite.Recording) { rec.Closed = yes })
	}
	p.End(end, rest, func() { p.release(waits) })
}

// instance returns the instance of a key, and makes it if it is not there.
func (p *Player) instance(key int) Instance {
	if _, ok := p.made[key]; !ok {
		if p.Twice {
			p.second[key] = p.Make(p.env, p.Config(), silent)
		}
		p.made[key] = p.Make(p.env, p.Config(), func(v int, all []int) { p.fired(key, v, all) })
	}
	return p.made[key]
}

// fired is the callback.
func (p *Player) fired(key, v int, all []int) {
	i := p.Rec.Fire(v)
	if i < 0 {
		return
	}
	handed := slices.Clone(all)
	if all != nil {
		p.Rec.Batch(i, all)
	}
	p.During(i, key, func(s conformance.Step) {
		if s.Op == verb.Call && p.ended.Load() {
			return // no event comes after the end of the input
		}
		p.ending(s)
		p.Rec.Do(s, true, func(d *conformance.Done) { p.first.Do(s, d) })
	})
	if all != nil {
		p.Rec.Batch(i, all) // the callback owns it until it returns
	}
	if !slices.Equal(handed, all) {
		p.Rec.Locked(func(rec *suite.Recording) {
			if rec.Detail == nil {
				rec.Detail = Changed{}
			}
			rec.Detail.(Changed)[rec.Fires[i].Began.Seq] = handed
		})
	}
}

// ending notes that a step ends the input, before it does.
func (p *Player) ending(s conformance.Step) {
	if s.Op == verb.Close {
		p.ended.Store(true)
	}
}

// step does a step.
func (p *Player) step(s conformance.Step) {
	if p.Forsakes != nil && p.Forsakes(s) {
		return
	}
	p.ending(s)
	on, keys := s, []int{0}
	switch k := Key(s); {
	case p.Apart && s.Op == verb.Stop:
		keys = slices.Collect(maps.Keys(p.made))
	case p.Apart && k != 0:
		on, keys = WithKey(s, 0), []int{k}
	}
	if p.Time == conformance.Explicit {
		on.At += p.wall(s.At)
	}
	p.instance(keys[0])
	p.Rec.Do(s, false, func(d *conformance.Done) {
		for _, key := range keys {
			p.do(key, on, d)
		}
	})
}

// do does a step on the instance of a key, and on the second one.
func (p *Player) do(key int, s conformance.Step, d *conformance.Done) {
	made, second := p.instance(key), p.second[key]
	other, first := s, s.N%2 == 0
	if s.Op == verb.Call {
		other.N += besides // who shares payloads shows it, whichever of the two has been called last
	}
	if second.Do != nil && first {
		second.Do(other, &conformance.Done{})
	}
	if made.Do(s, d); second.Do != nil && !first {
		second.Do(other, &conformance.Done{})
	}
}

// after notes whether the output is closed when the input has ended or was cancelled.
func (p *Player) after(s conformance.Step) {
	if closed := p.first.Closed; closed != nil && (s.Op == verb.Close || s.Op == verb.Cancel) {
		p.Rec.Settled(closed())
	}
}

// wall returns by how much the wall clock has been set forward, or back if negative, by an
// instant.
func (p *Player) wall(at time.Duration) (skew time.Duration) {
	for _, s := range p.Steps() {
		if s.Op == verb.Wall && s.At <= at {
			skew += s.D
		}
	}
	return skew
}

// release lets go of what was made. Where steps may wait for callbacks, so may this.
func (p *Player) release(waits bool) {
	closed := slices.ContainsFunc(p.Steps(), func(s conformance.Step) bool { return s.Op == verb.Close })
	for i, all := range []map[int]Instance{p.second, p.made} {
		for key, one := range all {
			ended := key == 0 && (closed || i == 1 && p.ended.Load())
			release := func() { _ = suite.Catch(func() { one.Release(ended) }) }
			if waits {
				suite.Start(release)
			} else {
				release()
			}
		}
	}
}
