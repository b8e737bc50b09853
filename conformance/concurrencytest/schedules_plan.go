package concurrencytest

import (
	"cmp"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
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
	p.enter = cmp.Or(p.enter, conformance.OpAcquire)
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
				idle := conformance.Step{Op: conformance.OpIdle, D: suite.Wait, At: last.At + suite.Wait}
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

// position is the state at a point of a schedule.
type position struct {
	m     *model
	index map[int]int  // of requests in the model
	early map[int]bool // whose contexts were cancelled before they came
}

// state is the only state of the model, where the order of service is given.
func (at *position) state() *state { return at.m.states[0] }

// after brings the model through steps that are done one after the other.
func (p plan) after(traits *Traits, steps []conformance.Step) *position {
	at := &position{newModel(traits.config(p.cfg, nil), traits), map[int]int{}, map[int]bool{}}
	for _, s := range steps {
		at.m.pass(s.At, true, always)
		i, known := at.index[s.N]
		switch {
		case comes(s.Op):
			i = at.m.add(demanded(s, s.At, at.early[s.N], s.Op == conformance.OpDo))
			at.index[s.N] = i
		case s.Op == conformance.OpCancel && !known:
			at.early[s.N] = true
			continue
		case s.Op == conformance.OpRelease && !known:
			continue
		}
		if s.Op != conformance.OpResize {
			s.N = i
		}
		at.m.group([]conformance.Step{s}, nil)
	}
	return at
}

func always(time.Duration) bool { return true }

// next lists what can be done at an instant after steps.
func (p plan) next(traits *Traits, steps []conformance.Step, at time.Duration) []conformance.Step {
	pos := p.after(traits, steps)
	pos.m.pass(at, true, always)
	out, id := p.ending(pos)
	out = append(out, p.coming(pos, id)...)
	if p.early && !pos.early[id] {
		out = append(out, conformance.Step{Op: conformance.OpCancel, N: id})
	}
	for _, n := range p.resize {
		// It is open what becomes of a request that waits for more slots than a lowered
		// limit has.
		if !slices.ContainsFunc(pos.state().waiting(), func(r int) bool { return pos.m.demands[r].weight > n }) {
			out = append(out, conformance.Step{Op: conformance.OpResize, N: n})
		}
	}
	if p.over && !slices.ContainsFunc(steps, func(s conformance.Step) bool { return s.N == nobody }) {
		released := func(s conformance.Step) bool { return s.Op == conformance.OpRelease }
		switch used := pos.state().used; {
		case used == 0, p.again && slices.ContainsFunc(steps, released):
			out = append(out, conformance.Step{Op: conformance.OpRelease, N: nobody})
		case traits.OverRelease == OverReleasePanics && traits.weighs():
			out = append(out, conformance.Step{Op: conformance.OpRelease, N: nobody, K: used + 1})
		}
	}
	return out
}

// ending lists what can be done with the requests that have come, and the number of the next
// one.
func (p plan) ending(pos *position) (out []conformance.Step, next int) {
	for id := 1; ; id++ {
		r, ok := pos.index[id]
		if !ok {
			return out, id
		}
		switch pos.state().fates[r] {
		case fateRuns:
			out = append(out, conformance.Step{Op: conformance.OpRelease, N: id})
			for _, end := range p.ends {
				out = append(out, conformance.Step{Op: end, N: id})
			}
			if p.running {
				out = append(out, conformance.Step{Op: conformance.OpCancel, N: id})
			}
		case fateWaits:
			if p.cancel {
				out = append(out, conformance.Step{Op: conformance.OpCancel, N: id})
			}
		}
	}
}

// coming lists the ways in which the next request can come.
func (p plan) coming(pos *position, id int) []conformance.Step {
	var out []conformance.Step
	for _, k := range p.weights {
		if len(p.resize) > 0 && k > pos.state().limit && pos.m.bigWaits {
			continue // no rule says whether it runs after a Resize
		}
		if k == 1 {
			k = 0 // the text says nothing of it
		}
		out = append(out, conformance.Step{Op: p.enter, N: id, K: k})
		if p.try {
			out = append(out, conformance.Step{Op: conformance.OpTry, N: id, K: k})
		}
		if p.deadline > 0 {
			out = append(out, conformance.Step{Op: p.enter, N: id, K: k, D: p.deadline})
		}
	}
	return out
}
