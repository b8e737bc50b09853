package edge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
)

// every lists the edges in the order in which a choice names them.
var every = []conformance.Edges{
	conformance.Trailing, conformance.Leading, conformance.LeadingAndTrailing, conformance.NoEdges,
}

// several is where the values of a choice begin that stand for more than one of the edges.
const several = 1 << 4

// Chosen is the value by which a choice stands for a list of edges: that of the edges if there
// is one, 0 if there is none.
func Chosen(list []conformance.Edges) (value int) {
	if len(list) == 1 {
		return int(list[0])
	}
	for i, e := range every {
		if slices.Contains(list, e) {
			value |= several << i
		}
	}
	return value
}

// Listed is the list of edges for which a value of [Chosen] stands.
func Listed(value int) (list []conformance.Edges) {
	if value > 0 && value < several {
		return []conformance.Edges{conformance.Edges(value)}
	}
	for i, e := range every {
		if value&(several<<i) != 0 {
			list = append(list, e)
		}
	}
	return list
}

// names are those of the constants.
var names = map[conformance.Edges]string{
	conformance.Trailing: "Trailing", conformance.Leading: "Leading",
	conformance.LeadingAndTrailing: "LeadingAndTrailing", conformance.NoEdges: "NoEdges",
}

// Literal returns what writes a value of [Chosen] in the terms of a package.
func Literal(pkg string) func(value int) string {
	return func(value int) string {
		var list []string
		for _, e := range Listed(value) {
			list = append(list, pkg+"."+names[e])
		}
		return fmt.Sprintf("[]%s.Edges{%s}", pkg, strings.Join(list, ", "))
	}
}

// Single are the values of a choice that stand for one of the edges, as Literal writes them.
func Single(pkg string) (values []string) {
	for _, e := range every[:3] {
		values = append(values, Literal(pkg)(int(e)))
	}
	return values
}

// Observed returns the edges that an implementation can build, as a value of [Chosen]: those
// with which it fires, for two events of one burst, on just these edges. Fires returns what
// fires with some edges in a run where the second event comes soon, and false if there was no
// such run. That nothing fires is never taken for a choice.
func Observed(fires func(e conformance.Edges) ([]conformance.Fire, bool)) int {
	var list []conformance.Edges
	for _, e := range every[:3] {
		if got, ok := fires(e); ok && shown(got) == e {
			list = append(list, e)
		}
	}
	return Chosen(list)
}

// shown are the edges on which something fired, at once or later.
func shown(fires []conformance.Fire) (seen conformance.Edges) {
	for _, f := range fires {
		if f.Began.At < suite.Wait/2 {
			seen |= conformance.Leading
		} else {
			seen |= conformance.Trailing
		}
	}
	return seen
}
