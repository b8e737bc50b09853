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
// comes, and how often each two of these meet in a run. Two that never do are listed in apart with the reason, as
// "A, B", and are one in twenty at most.
// With ESCAPEMENT_PROVE=all it also prints the families that have no pair for themselves, and no mutant whose smallest
// schedule is found there: what they add is no more than other lengths and gaps.
func Coverage(t *testing.T, designs []zoo.Design, mutants []zoo.Mutant, apart map[string]string) {
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
	met, all := c.met(), c.all()
	t.Log("\n" + c.table(all))
	pairs, never := 0, 0
	for i, a := range all {
		for _, b := range all[i+1:] {
			pair := a + ", " + b
			pairs++
			switch why, listed := apart[pair]; {
			case met[pair] && listed:
				t.Errorf("%s are listed as never meeting in a run (%s) and do", pair, why)
			case !met[pair] && !listed:
				t.Errorf("%s never meet in a run", pair)
			case !met[pair]:
				never++
			}
		}
	}
	if never*20 > pairs {
		t.Errorf("%d of %d pairs never meet in a run, want a twentieth at most", never, pairs)
	}
	if !prove.Reaches(prove.All) {
		return
	}
	caught := map[string]bool{}
	for _, m := range mutants {
		if !m.Hangs && m.Rule != "X-RACE" {
			caught[try(t, m, inside.Options{Until: m.Rule}).family] = true
		}
	}
	for _, family := range slices.Sorted(maps.Keys(c)) {
		if !caught[family] && !c.adds(family) {
			t.Logf("the family %q adds neither a pair nor a mutant", family)
		}
	}
}

// coverage are how many runs of a family have reached two guards or outcomes, or one, which is a pair with itself.
type coverage map[string]map[string]int

// saw counts a run.
func (c coverage) saw(family string, reached []string) {
	if c[family] == nil {
		c[family] = map[string]int{}
	}
	slices.Sort(reached)
	reached = slices.Compact(reached)
	for i, a := range reached {
		for _, b := range reached[i:] {
			c[family][a+", "+b]++
		}
	}
}

// total is how many runs have reached a pair.
func (c coverage) total(pair string) (n int) {
	for _, pairs := range c {
		n += pairs[pair]
	}
	return n
}

// met are the pairs that a run has reached.
func (c coverage) met() map[string]bool {
	out := map[string]bool{}
	for _, pairs := range c {
		for pair := range pairs {
			out[pair] = true
		}
	}
	return out
}

// all are the guards and outcomes that a run has reached.
func (c coverage) all() (out []string) {
	for pair := range c.met() {
		if a, b, _ := strings.Cut(pair, ", "); a == b {
			out = append(out, a)
		}
	}
	slices.Sort(out)
	return out
}

// adds reports whether a family reaches a pair that no other reaches.
func (c coverage) adds(family string) bool {
	for pair, n := range c[family] {
		if c.total(pair) == n {
			return true
		}
	}
	return false
}

// table is how many runs have reached each pair.
func (c coverage) table(all []string) string {
	var b strings.Builder
	for i, a := range all {
		fmt.Fprintf(&b, "%-10s", a)
		for j, with := range all {
			n := 0
			if j >= i {
				n = c.total(a + ", " + with)
			} else {
				n = c.total(with + ", " + a)
			}
			fmt.Fprintf(&b, "%9d", n)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
