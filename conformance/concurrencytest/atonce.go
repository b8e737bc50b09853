package concurrencytest

import (
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// effects take the only slot, raise the limit, and try to take another one. A release has no such promise: where slots
// are those of functions that run, a spec can only tell one to end.
func (c *contract) effects(p *suite.Probe) []suite.Script {
	if !p.Accepts(verb.Try) || !p.Accepts(verb.Resize) {
		return nil
	}
	return []suite.Script{{Text: "a larger limit and a try", Play: func(st *suite.Stage, pause func()) []string {
		f := c.make(st.Plain(), c.traits.many(1, 1))
		first := f.TryAcquire(1)
		st.Settle()
		f.Resize(2)
		pause()
		second := f.TryAcquire(1)
		if f.Stop != nil {
			f.Stop()
		}
		return []string{suite.YesNo(first), suite.YesNo(second)}
	}}}
}
