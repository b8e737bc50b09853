package checks

import (
	"go/ast"
	"go/types"
)

// readValues finds the functions that the tests of a package hold in variables and fields:
// the rows of a table have theirs in one field.
func (g *graph) readValues() map[types.Object][]*ast.FuncLit {
	all := map[types.Object][]*ast.FuncLit{}
	for _, file := range g.pass.Files {
		if !inTestFile(g.pass, file.Pos()) {
			continue
		}
		ast.Inspect(file, func(n ast.Node) bool {
			bindings(g.pass, n, func(obj types.Object, value ast.Expr) {
				if lit, ok := ast.Unparen(value).(*ast.FuncLit); ok {
					all[obj] = append(all[obj], lit)
				}
			})
			return true
		})
	}
	return all
}

// literals are the functions that an expression writes, or names.
func (w *walker) literals(e ast.Expr) []*ast.FuncLit {
	switch e := ast.Unparen(e).(type) {
	case *ast.FuncLit:
		return []*ast.FuncLit{e}
	case *ast.Ident:
		return w.values[w.pass.TypesInfo.Uses[e]]
	case *ast.SelectorExpr:
		return w.values[w.pass.TypesInfo.Uses[e.Sel]]
	}
	return nil
}
