package throttletest

import (
	"cmp"
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

// instance makes a throttle for who plays schedules, and for probes.
func (c *contract) instance(env conformance.Env, cfg conformance.Config, fire func(v int, all []int)) edge.Instance {
	emit := func(v int) { fire(v, nil) }
	f := c.spec.New(env, Config{cfg.Interval, cmp.Or(cfg.Edges, c.built()), cfg.K}, emit)
	do := func(s conformance.Step, _ *conformance.Done) { f.do(s, env.Start.Add(s.At), c.explicit(), emit) }
	return edge.Instance{Do: do, Release: f.release, Closed: f.Closed}
}

// Play runs a schedule on a fresh throttle.
func (c *contract) Play(st *suite.Stage) {
	p := &edge.Player{Stage: st, Make: c.instance, Apart: edge.Apart(st, c.FamilyOf), Row: suite.Together}
	if st.Rests = true; readerGone(st.Schedule) {
		p.Forsakes = func(s conformance.Step) bool { return forsaken(st, s) }
		p.Leaves = func(at time.Duration) { leaveReader(st, at) }
	}
	p.Play()
}
