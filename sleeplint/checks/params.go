package checks

import (
	"go/ast"
	"go/types"
	"strings"

	"golang.org/x/tools/go/types/typeutil"
)

// How a function runs a function that it is handed.
type mode int

const (
	unknown  mode = iota // later, on another goroutine, or not at all
	here                 // while it is called, on the same goroutine
	inBubble             // so, in a bubble
)

// bubbles are the functions that run one in a bubble, with the number of its parameter.
var bubbles = map[string]int{
	"testing/synctest.Test":                          1,
	"testing/synctest.Run":                           0,
	"pgregory.net/rapid.SyncTest":                    1,
	escapement + "/synctestcompat.Run":               1,
	escapement + "/synctestcompat/rapidbubble.Check": 1,
}

// subtests are functions that call their last argument as part of the test.
var subtests = map[string]bool{
	"(*testing.T).Run":                               true,
	"(*testing.common).Cleanup":                      true,
	"(testing.TB).Cleanup":                           true,
	"(*sync.Once).Do":                                true,
	"pgregory.net/rapid.Check":                       true,
	"(*github.com/stretchr/testify/suite.Suite).Run": true,
}

// argMode is how a call runs its argument number i.
func (g *graph) argMode(call *ast.CallExpr, i int) mode {
	fn, ok := typeutil.Callee(g.pass.TypesInfo, call).(*types.Func)
	if !ok || fn.Pkg() == nil {
		return unknown
	}
	name := fn.FullName()
	if at, ok := bubbles[name]; ok && at == i {
		return inBubble
	}
	if subtests[name] && i == len(call.Args)-1 || strings.HasPrefix(fn.Pkg().Path(), "github.com/onsi/ginkgo") {
		return here
	}
	modes := g.paramModes(fn.Origin())
	switch bit := uint64(1) << min(i, 63); {
	case modes[1]&bit != 0:
		return inBubble
	case modes[0]&bit != 0:
		return here
	}
	return unknown
}

// paramModes are the parameters that a function calls here, and in a bubble.
func (g *graph) paramModes(fn *types.Func) *[2]uint64 {
	if known := g.modes[fn]; known != nil {
		return known
	}
	modes := new([2]uint64)
	g.modes[fn] = modes // as it is while the function calls itself
	if n := g.nodes[fn]; n != nil && n.decl.Body != nil {
		p := &paramReader{g, map[types.Object]int{}, modes}
		for i := range fn.Signature().Params().Len() {
			v := fn.Signature().Params().At(i)
			if _, ok := v.Type().Underlying().(*types.Signature); ok {
				p.params[v] = i
			}
		}
		if len(p.params) > 0 {
			p.read(n.decl.Body, here)
		}
		return modes
	}
	fact := new(reached)
	if fn.Pkg() != g.pass.Pkg && g.pass.ImportObjectFact(fn, fact) {
		modes[0], modes[1] = fact.Here, fact.Bubbles
	}
	return modes
}

// paramReader finds out how a function calls its parameters.
type paramReader struct {
	*graph
	params map[types.Object]int
	modes  *[2]uint64
}

// read notes the parameters that n calls, itself run so.
func (p *paramReader) read(n ast.Node, as mode) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt, *ast.FuncLit:
			return false
		case *ast.CallExpr:
			p.run(n.Fun, as)
			for i, arg := range n.Args {
				if m := p.argMode(n, i); m != unknown {
					p.run(arg, max(m, as))
				}
			}
		}
		return true
	})
}

// run notes that a function is run so.
func (p *paramReader) run(f ast.Expr, as mode) {
	switch f := ast.Unparen(f).(type) {
	case *ast.FuncLit:
		p.read(f.Body, as)
	case *ast.Ident:
		if i, ok := p.params[p.pass.TypesInfo.Uses[f]]; ok {
			p.modes[as-here] |= 1 << min(i, 63)
		}
	}
}
