package concurrencytest

import (
	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
)

// effects take the only slot, do what makes one free, and try to take it.
func (c *contract) effects(p *suite.Probe) (out []suite.Script) {
	if !p.Accepts(conformance.OpTry) {
		return nil
	}
	add := func(text string, do func(f *Funcs)) {
		out = append(out, suite.Script{Text: text, Play: func(st *suite.Stage, pause func()) []string {
			f := c.make(st.Plain(), c.traits.many(1, 1))
			first := f.TryAcquire(1)
			st.Settle()
			do(&f)
			pause()
			second := f.TryAcquire(1)
			if f.Stop != nil {
				f.Stop()
			}
			return []string{suite.YesNo(first), suite.YesNo(second)}
		}})
	}
	if p.Accepts(conformance.OpRelease) {
		add("a try, a release and a try", func(f *Funcs) { f.Release(1) })
	}
	if p.Accepts(conformance.OpResize) {
		add("a try, a larger limit and a try", func(f *Funcs) { f.Resize(2) })
	}
	return out
}
