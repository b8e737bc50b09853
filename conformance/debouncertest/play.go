package debouncertest

import (
	"cmp"

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

// instance makes a debouncer for who plays schedules, and for probes.
func (c *contract) instance(env conformance.Env, cfg conformance.Config, fire func(v int, all []int)) edge.Instance {
	f := c.build(env, Config{cfg.Wait, cfg.MaxWait, cmp.Or(cfg.Edges, c.built()), cfg.K}, fire)
	return edge.Instance{Do: f.do, Release: f.release}
}

// Play runs a schedule on a fresh debouncer.
func (c *contract) Play(st *suite.Stage) {
	p := &edge.Player{Stage: st, Make: c.instance, Apart: edge.Apart(st, c.FamilyOf), Row: row}
	p.Play()
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
