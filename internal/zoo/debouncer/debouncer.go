// Package debouncer has the zoo's debouncers.
package debouncer

import (
	"fmt"
	"strings"

	db "github.com/escapement-go/escapement/conformance/debouncertest"
	"github.com/escapement-go/escapement/internal/zoo"
)

// mistake is what is wrong with a mutant, and the rule that must catch it.
type mistake struct{ name, rule string }

// Mutants are mistakes, each with the rule that must catch it.
func Mutants() []zoo.Mutant {
	var all []zoo.Mutant
	add := func(prefix string, of func(mutant string, source db.TimeSource) db.Spec, mistakes []mistake) {
		for _, m := range mistakes {
			all = append(all, mutant(prefix+m.name, m.rule, of(m.name, db.Injected)))
		}
	}
	add("", trailingSpec, trailingMutants)
	add("", edgesSpec, edgeMutants)
	add("a bound on call: ", onCallSpec, onCallMutants)
	add("", batchSpec, batchMutants)
	all = append(all, onPackageTime()...)
	const races = "counts before it locks"
	return append(all,
		mutant(races, "X-RACE", trailingSpec(races, db.Injected)),
		mutant(races+", on package time", "X-RACE", trailingSpec(races, db.PackageTime)))
}

func mutant(name, rule string, spec db.Spec) zoo.Mutant {
	return zoo.Mutant{
		Name: name, Rule: rule, Spec: spec,
		Hangs: rule == "X-REENT" || strings.Contains(name, "keeps a lock"), Chance: rule == "X-CONC",
	}
}

// onPackageTime are mistakes that show on package time too, one for each rule. Nobody can
// count package time's timers, order a tie there, set it back or catch a panic; the
// watchdog waits as on the injected clock; and two locks show in a tie there.
func onPackageTime() []zoo.Mutant {
	seen := map[string]bool{"DB-TIE": true, "X-REENT": true, "X-BACK": true, "X-CLOCK1": true, "X-PANIC": true, "X-CONC": true}
	var all []zoo.Mutant
	add := func(of func(mutant string, source db.TimeSource) db.Spec, mistakes []mistake) {
		for _, m := range mistakes {
			if !seen[m.rule] && m.name != "timer left armed" {
				seen[m.rule] = true
				all = append(all, mutant(m.name+", on package time", m.rule, of(m.name, db.PackageTime)))
			}
		}
	}
	add(trailingSpec, trailingMutants)
	add(edgesSpec, edgeMutants)
	return all
}

// Designs are correct debouncers of many kinds, on both clocks.
func Designs() []zoo.Design {
	var all []zoo.Design
	add := func(name string, spec db.Spec) {
		all = append(all, zoo.Design{Name: fmt.Sprintf("%s %s", name, spec.Time), Spec: spec})
	}
	for _, source := range []db.TimeSource{db.Injected, db.PackageTime} {
		for _, spec := range []db.Spec{trailingSpec("", source), edgesSpec("", source), onCallSpec("", source), batchSpec("", source)} {
			add(spec.Name, spec)
		}
		for _, d := range designs(source) {
			d.spec.Name = d.name
			add(d.name, d.spec)
		}
	}
	for _, only := range []db.Edges{db.Leading, db.LeadingAndTrailing} {
		spec := edgeSpec(only)
		add(spec.Name+", "+only.String()+" only", spec)
	}
	for _, spec := range queued() {
		add("a queue: "+spec.Name, spec)
	}
	return all
}

// Chosen are n correct debouncers that choose all that may be chosen, drawn from a constant.
func Chosen(n int) []zoo.Design {
	var all []zoo.Design
	for _, spec := range chosen(n) {
		all = append(all, zoo.Design{Name: spec.Name, Spec: spec})
	}
	return all
}
