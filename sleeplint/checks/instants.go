package checks

import (
	"go/ast"
	"go/constant"
	"go/types"
	"time"
)

// instants are the durations in what a test reaches, as far as they are constant.
type instants struct {
	sleeps   []int64        // of the test, in the order of the text; in loops, several times
	given    map[int64]bool // all others
	periodic bool           // there is a ticker
	unknown  bool           // the test sleeps for a time that is not constant
}

// inLoops is how often a sleep in a loop is counted.
const inLoops = 16

// meets reports whether a sleep, or several in a row, may end at an instant that something
// else is given: real time always adds a little to a sleep, a bubble does not. It says yes
// for what is not constant. Bubbles begin at midnight, where what is aligned meets full seconds.
func (g *graph) meets(all []*node, aligned bool) bool {
	at := &instants{given: map[int64]bool{}, periodic: aligned}
	if aligned {
		at.given[int64(time.Second)] = true
	}
	for _, n := range all {
		for _, part := range n.parts {
			at.add(g, part, n.inTest)
		}
	}
	if at.unknown {
		return true
	}
	for i := range at.sleeps {
		sum := int64(0)
		for _, s := range at.sleeps[i:] {
			if sum += s; at.isGiven(sum) {
				return true
			}
		}
	}
	return false
}

// isGiven reports whether something else may happen that much later than an event.
func (at *instants) isGiven(sum int64) bool {
	for d := range at.given {
		if d > 0 && (sum == d || at.periodic && sum%d == 0) {
			return true
		}
	}
	return false
}

// add notes the durations of a function.
func (at *instants) add(g *graph, body ast.Node, inTest bool) {
	var loops []ast.Node // around what is visited, as the visit goes by position
	ast.Inspect(body, func(n ast.Node) bool {
		for len(loops) > 0 && n != nil && n.Pos() >= loops[len(loops)-1].End() {
			loops = loops[:len(loops)-1]
		}
		switch n := n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			loops = append(loops, n)
		case ast.Expr:
			if length, ok := duration(g, n); ok {
				at.given[length] = true
				return false
			}
			if call, ok := n.(*ast.CallExpr); ok {
				return !at.call(g, call, inTest, len(loops) > 0)
			}
		}
		return true
	})
}

// call notes what a call means for the instants, and reports whether it is a sleep of the test.
func (at *instants) call(g *graph, call *ast.CallExpr, inTest, inLoop bool) (sleeps bool) {
	name := callee(g.pass, call)
	if isEventually(name) && len(call.Args) > 3 { // its last tick is at its end
		length, ok := duration(g, call.Args[2])
		tick, constant := duration(g, call.Args[3])
		at.unknown = at.unknown || !ok || !constant || length <= 2*tick
		return true
	}
	at.periodic = at.periodic || name == "time.NewTicker" || name == "time.Tick"
	if !inTest || name != "time.Sleep" && name != "time.After" && name != "time.NewTimer" {
		at.unknown = at.unknown || inTest && (name == "time.NewTicker" || name == "time.Tick")
		return false
	}
	length, ok := duration(g, call.Args[0])
	at.unknown = at.unknown || !ok
	times := 1
	if inLoop {
		times = inLoops
	}
	for range times {
		at.sleeps = append(at.sleeps, length)
	}
	return true
}

// duration is the value of a constant duration.
func duration(g *graph, e ast.Expr) (length int64, ok bool) {
	tv := g.pass.TypesInfo.Types[e]
	if tv.Value == nil || types.TypeString(tv.Type, nil) != "time.Duration" {
		return 0, false
	}
	return constant.Int64Val(tv.Value)
}
