package proof

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/internal/prove"
	"github.com/escapement-go/escapement/internal/zoo"
	"github.com/escapement-go/escapement/synctestcompat"
)

// Coverage prints, with -v, how often each guard of a model judges the runs of correct designs, how often each outcome
// comes, and how often each two of these meet in a run: each two must.
// With ESCAPEMENT_PROVE=all it also prints the families that have no pair for themselves, and no mutant whose smallest
// schedule is found there: what they add is no more than other lengths and gaps.
func Coverage(t *testing.T, designs []zoo.Design, mutants []zoo.Mutant) {
	t.Helper()
	synctestcompat.Require(t)
	prove.Require(t, prove.Suite)
	c := coverage{}
	chosen := once(designs)
	for i, d := range designs {
		if chosen[i] {
			d.Spec.Examine(t, inside.Options{Most: 600, Unprobed: true, Reached: c.saw})
		}
	}
	all := c.all()
	t.Log("\n" + c.table(all))
	for i, a := range all {
		for _, b := range all[i+1:] {
			if p := (pair{a, b}); c.total(p) == 0 {
				t.Errorf("%s and %s never meet in a run", p.a, p.b)
			}
		}
	}
	if !prove.Reaches(prove.All) {
		return
	}
	caught := map[string]bool{}
	for _, m := range mutants {
		o := optionsOf(m)
		o.Keep = nil // all families, as the first one is wanted
		if m.Rule != "X-RACE" {
			caught[try(t, m, o).family] = true
		}
	}
	for _, family := range slices.Sorted(maps.Keys(c)) {
		if !caught[family] && !c.adds(family) {
			t.Logf("the family %q adds neither a pair nor a mutant", family)
		}
	}
}

// pair is two guards or outcomes in the order of their names, or one with itself.
type pair struct{ a, b string }

// coverage are how many runs of a family have reached each pair.
type coverage map[string]map[pair]int

// saw counts a run.
func (c coverage) saw(family string, reached []string) {
	if c[family] == nil {
		c[family] = map[pair]int{}
	}
	slices.Sort(reached)
	reached = slices.Compact(reached)
	for i, a := range reached {
		for _, b := range reached[i:] {
			c[family][pair{a, b}]++
		}
	}
}

// total is how many runs have reached a pair.
func (c coverage) total(p pair) (n int) {
	for _, pairs := range c {
		n += pairs[p]
	}
	return n
}

// all are the guards and outcomes that a run has reached.
func (c coverage) all() (out []string) {
	for _, pairs := range c {
		for p := range pairs {
			if p.a == p.b {
				out = append(out, p.a)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// adds reports whether a family reaches a pair that no other reaches.
func (c coverage) adds(family string) bool {
	for p, n := range c[family] {
		if c.total(p) == n {
			return true
		}
	}
	return false
}

// table is how many runs have reached each pair.
func (c coverage) table(all []string) string {
	var b strings.Builder
	for _, a := range all {
		fmt.Fprintf(&b, "%-10s", a)
		for _, with := range all {
			fmt.Fprintf(&b, "%9d", c.total(pair{min(a, with), max(a, with)}))
		}
		b.WriteByte('\n')
	}
	return b.String()
}
