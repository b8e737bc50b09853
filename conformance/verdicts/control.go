package main

import (
	"go/types"
	"slices"
)

// control sets the operations that the second result of the constructor has, as methods or as fields that are
// functions, and returns the name of that result, "" if it has none.
func (a *adapter) control(t types.Type) string {
	before, used := len(a.set), map[string]bool{}
	for _, o := range a.c.operations {
		for _, member := range o.methods {
			obj, _, _ := types.LookupFieldOrMethod(t, true, a.pkg.types, member)
			if obj == nil || used[member] || slices.Contains(a.c.must, o.field) || a.done(o.field) {
				continue
			}
			if sig, ok := obj.Type().Underlying().(*types.Signature); ok {
				if expr := a.call(o, sig, "control."+member, false); expr != "" {
					a.put(o.field, expr)
					used[member] = true
				}
			}
		}
	}
	if len(a.set) == before {
		return ""
	}
	for _, m := range members(t) {
		if !used[m.name] {
			a.note("not used: %s of the second result", m.name)
		}
	}
	return "control"
}
