// Package batch has the zoo's batchers.
package batch

import (
	"fmt"

	bt "github.com/escapement-go/escapement/conformance/batchtest"
	"github.com/escapement-go/escapement/internal/zoo"
)

// Mutants are mistakes, each with the rule that must catch it.
func Mutants() []zoo.Mutant {
	var all []zoo.Mutant
	for _, m := range []struct{ name, rule string }{
		{"drops every fourth item", "BT-ONCE"},
	} {
		all = append(all, zoo.Mutant{Name: m.name, Rule: m.rule, Spec: timedSpec(bt.Injected, m.name)})
	}
	return all
}

// Designs are correct batchers of several kinds, on both clocks.
func Designs() []zoo.Design {
	var all []zoo.Design
	for _, source := range []bt.TimeSource{bt.Injected, bt.PackageTime} {
		for _, spec := range []bt.Spec{
			timedSpec(source, ""), lazy(source), underLock(source), reuser(source), runnerSpec(source), refuser(source),
			worker(source, 0), worker(source, 100), semaphore(source), beside(source), loopSpec(source, 0, ""),
			loopSpec(source, 100, ""), ticker(source, ticked{}), ticker(source, ticked{anew: true}),
			ticker(source, ticked{empty: true}), atOnce(source),
		} {
			all = append(all, zoo.Design{Name: fmt.Sprintf("%s %s", spec.Name, source), Spec: spec})
		}
	}
	return all
}
