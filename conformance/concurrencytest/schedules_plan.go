package concurrencytest

import (
	"cmp"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/model"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// plan describes a part of the exploration: every schedule of such steps. Requests are
// numbered in the order in which they come. Where the order of service is given, only
// requests that run are released, and only requests that wait are cancelled.
type plan struct {
	cfg     conformance.Config
	epoch   string
	enter   conformance.Op  // OpAcquire if it is not set
	weights []int           // one slot each if there are none
	gaps    []time.Duration // none if there are none
	depth   int

	cancel, early, running bool // contexts are cancelled: while it waits, before it comes, while it runs
	deadline               time.Duration
	resize                 []int
	try, over              bool
	again                  bool             // what gave slots back is called again, though others run
	later                  bool             // each schedule also comes with time for every timeout at its end
	ends                   []conformance.Op // how a handler ends, besides by returning
}

// nobody is the number of a request that never comes.
const nobody = 9

// schedules lists every schedule of the plan, of up to its depth.
func (p plan) schedules(tr *Traits) []conformance.Schedule {
	p.enter = cmp.Or(p.enter, verb.Acquire)
	if p.weights == nil {
		p.weights = []int{0}
	}
	none := []time.Duration{0}
	if p.gaps == nil {
		p.gaps = none
	}
	traits := *tr
	traits.Fair = FairFIFO
	var out []conformance.Schedule
	var grow func(steps []conformance.Step)
	grow = func(steps []conformance.Step) {
		if len(steps) > 0 {
			out = append(out, conformance.Schedule{Config: p.cfg, Steps: slices.Clone(steps)})
			if last := steps[len(steps)-1]; p.later {
				idle := conformance.Step{Op: verb.Idle, D: suite.Wait, At: last.At + suite.Wait}
				out = append(out, conformance.Schedule{Config: p.cfg, Steps: append(slices.Clone(steps), idle)})
			}
		}
		if len(steps) == p.depth {
			return
		}
		gaps, at := p.gaps, time.Duration(0)
		if len(steps) == 0 {
			gaps = none
		} else {
			at = steps[len(steps)-1].At
		}
		for _, gap := range gaps {
			for _, s := range p.next(&traits, steps, at+gap) {
				s.At = at + gap
				grow(append(slices.Clone(steps), s))
			}
		}
	}
	grow(nil)
	return out
}

// after foretells what comes of steps that are done one after the other, up to an instant, where the order of service
// is given.
func (p plan) after(traits *Traits, steps []conformance.Step, at time.Duration) *state {
	tr := &trace{}
	for _, st := range append(slices.Clone(steps), conformance.Step{At: at}) {
		g := &group{at: st.At, settled: conformance.Mark{Seq: 1}}
		tr.groups = append(tr.groups, g)
		r := st.N - 1
		known := r < len(tr.requests)
		switch {
		case st.Op == "":
			continue
		case comes(st.Op):
			tr.requests = append(tr.requests, &request{id: st.N})
		case st.Op == verb.Cancel && !known:
			r = -1
		case st.Op == verb.Release && !known:
			continue
		}
		g.steps = []*step{{Step: st, request: r}}
	}
	f := newFrame(traits.config(p.cfg, nil), traits, tr)
	f.foretells = true
	return model.Check(limiters, f, f.events()).End[0]
}

// next lists what can be done at an instant after steps.
func (p plan) next(traits *Traits, steps []conformance.Step, at time.Duration) []conformance.Step {
	pos := p.after(traits, steps, at)
	done := func(op conformance.Op, n int) bool {
		return slices.ContainsFunc(steps, func(s conformance.Step) bool { return s.Op == op && (n == 0 || s.N == n) })
	}
	id := len(pos.fates) + 1
	out := append(p.ending(pos), p.coming(pos, id)...)
	if p.early && !done(verb.Cancel, id) {
		out = append(out, conformance.Step{Op: verb.Cancel, N: id})
	}
	for _, n := range p.resize {
		// It is open what becomes of a request that waits for more slots than a lowered
		// limit has.
		if !pos.waitsForMore(n) {
			out = append(out, conformance.Step{Op: verb.Resize, N: n})
		}
	}
	if p.over && !done(verb.Release, nobody) {
		switch used := pos.used; {
		case p.again && !done(verb.Release, 0): // there is nothing to call again
		case used == 0, p.again:
			out = append(out, conformance.Step{Op: verb.Release, N: nobody})
		case traits.OverRelease == OverReleasePanics && traits.weighs() && traits.Oversize != OversizeClamped:
			out = append(out, conformance.Step{Op: verb.Release, N: nobody, K: used + 1})
		}
	}
	return out
}

// waitsForMore reports whether a request waits that asks for more than n slots.
func (s *state) waitsForMore(n int) bool {
	for r, f := range s.fates {
		if f == fateWaits && s.demands[r].weight > n {
			return true
		}
	}
	return false
}

// ending lists what can be done with the requests that have come.
func (p plan) ending(pos *state) (out []conformance.Step) {
	for r, f := range pos.fates {
		switch id := r + 1; f {
		case fateRuns:
			out = append(out, conformance.Step{Op: verb.Release, N: id})
			for _, end := range p.ends {
				out = append(out, conformance.Step{Op: end, N: id})
			}
			if p.running {
				out = append(out, conformance.Step{Op: verb.Cancel, N: id})
			}
		case fateWaits:
			if p.cancel {
				out = append(out, conformance.Step{Op: verb.Cancel, N: id})
			}
		}
	}
	return out
}

// coming lists the ways in which the next request can come.
func (p plan) coming(pos *state, id int) []conformance.Step {
	var out []conformance.Step
	for _, k := range p.weights {
		if len(p.resize) > 0 && k > pos.limit && pos.tr.Oversize == OversizeBlocks {
			continue // no rule says whether it runs after a Resize
		}
		if k == 1 {
			k = 0 // the text says nothing of it
		}
		out = append(out, conformance.Step{Op: p.enter, N: id, K: k})
		if p.try {
			out = append(out, conformance.Step{Op: verb.Try, N: id, K: k})
		}
		if p.deadline > 0 {
			out = append(out, conformance.Step{Op: p.enter, N: id, K: k, D: p.deadline})
		}
	}
	return out
}
