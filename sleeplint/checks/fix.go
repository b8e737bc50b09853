package checks

import (
	"go/ast"
	"go/token"
	"go/types"
	"go/version"
	"strconv"
	"strings"

	"golang.org/x/tools/go/analysis"
)

const synctest = "testing/synctest"

// bubbleFix puts a test or a subtest into a bubble, and a Wait behind each of its sleeps, in a
// module of Go 1.25 or later. Parallel stays outside, as does a deferred look for leaks that it
// begins with. Whether what is reached speaks against a bubble, [graph.fits] tells.
func (g *graph) bubbleFix(at place) (fix analysis.SuggestedFix, ok bool) {
	t := testParam(g.pass, at.unit)
	if t == nil || !allows(g.pass, "go1.25") {
		return fix, false
	}
	body := at.unit.body.List
	for len(body) > 0 && staysOutside(g.pass, body[0], t) {
		body = body[1:]
	}
	if len(body) == 0 || !g.standsAlone(at, body, t) || !g.fits(body) {
		return fix, false
	}
	file := fileOf(g.pass, at.unit.body)
	name, edits := imported(file, synctest)
	insert := func(pos token.Pos, text string) {
		edits = append(edits, analysis.TextEdit{Pos: pos, End: pos, NewText: []byte(text)})
	}
	insert(body[0].Pos(), name+".Test("+t.Name()+", func("+t.Name()+" *testing.T) {\n")
	w := newWalker(g, func(stmt ast.Stmt, in place) {
		call, ok := called(stmt)
		inside := stmt.Pos() >= body[0].Pos() && stmt.End() <= at.unit.body.End()
		if ok && inside && callee(g.pass, call) == "time.Sleep" && !waits(g.pass, in.next) {
			insert(stmt.End(), "\n"+name+".Wait()")
		}
	})
	w.block(body, at)
	insert(at.unit.body.Rbrace, "})\n")
	return analysis.SuggestedFix{Message: "Run the test in a bubble", TextEdits: edits}, true
}

// testParam is the T of a test or a subtest.
func testParam(pass *analysis.Pass, u unit) types.Object {
	if u.body == nil || u.params.NumFields() != 1 || len(u.params.List[0].Names) != 1 {
		return nil
	}
	t := pass.TypesInfo.Defs[u.params.List[0].Names[0]]
	if t == nil || t.Name() == "_" || types.TypeString(t.Type(), nil) != "*testing.T" {
		return nil
	}
	return t
}

// staysOutside reports whether a statement at the beginning is Parallel, or a deferred call that
// is handed the T and nothing else.
func staysOutside(pass *analysis.Pass, stmt ast.Stmt, t types.Object) bool {
	if call, ok := called(stmt); ok {
		return callee(pass, call) == "(*testing.T).Parallel"
	}
	d, ok := stmt.(*ast.DeferStmt)
	if !ok || len(d.Call.Args) != 1 {
		return false
	}
	id, ok := d.Call.Args[0].(*ast.Ident)
	return ok && pass.TypesInfo.Uses[id] == t
}

// allows reports whether the module's go line is at least that version.
func allows(pass *analysis.Pass, least string) bool {
	v := pass.Pkg.GoVersion()
	return v != "" && version.Compare(v, least) >= 0
}

// standsAlone reports whether nothing in the statements is refused in a bubble, or is from
// outside and may belong to no bubble.
func (g *graph) standsAlone(at place, body []ast.Stmt, t types.Object) bool {
	from := body[0].Pos()
	for _, stmt := range body {
		if anyOf(stmt, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				return panics[callee(g.pass, n)] != ""
			case *ast.Ident:
				v, ok := g.pass.TypesInfo.Uses[n].(*types.Var)
				return ok && v != t && !v.IsField() && (v.Pos() < from || v.Pos() > at.unit.body.End()) &&
					v.Pkg() != nil && !g.isStandard(v.Pkg().Path()) && !isPlain(v.Type())
			}
			return false
		}) {
			return false
		}
	}
	return true
}

// fits reports whether nothing that the statements reach speaks against a bubble: the network,
// what they open and do not close, what else could keep time from moving, and what could happen
// at the very instant at which the test looks. It says no where it does not know; of the last
// two only if nothing is to be tried out.
func (g *graph) fits(body []ast.Stmt) bool {
	n := &node{inTest: true, parts: []ast.Node{&ast.BlockStmt{List: body}}}
	all := g.all(n)
	sum := g.reaches(n)
	switch {
	case sum.network() != "" || g.lasting(n):
		return false
	case tryBubbles:
		return true
	case sum.Writes != "" || sum.Unfit || sum.Concurs && (sum.Locked || sum.CallsHeld && g.valuesWait(all)):
		return false
	}
	return !g.meets(all, sum.Aligned)
}

func fileOf(pass *analysis.Pass, n ast.Node) *ast.File {
	for _, file := range pass.Files {
		if file.FileStart <= n.Pos() && n.Pos() < file.FileEnd {
			return file
		}
	}
	return nil
}

// imported is the name that a file has for a package, with the edits that import it.
func imported(file *ast.File, path string) (name string, edits []analysis.TextEdit) {
	for _, spec := range file.Imports {
		if p, _ := strconv.Unquote(spec.Path.Value); p == path {
			if spec.Name != nil {
				return spec.Name.Name, nil
			}
			return path[strings.LastIndexByte(path, '/')+1:], nil
		}
	}
	name = path[strings.LastIndexByte(path, '/')+1:]
	for _, decl := range file.Decls {
		if d, ok := decl.(*ast.GenDecl); ok && d.Tok == token.IMPORT && d.Lparen.IsValid() {
			at := d.Specs[len(d.Specs)-1].End()
			for _, spec := range d.Specs { // the standard library's stand together
				if path == synctest && spec.(*ast.ImportSpec).Path.Value == `"testing"` {
					at = spec.End()
				}
			}
			return name, []analysis.TextEdit{{Pos: at, End: at, NewText: []byte("\n\t" + strconv.Quote(path))}}
		}
	}
	at := file.Name.End()
	return name, []analysis.TextEdit{{Pos: at, End: at, NewText: []byte("\n\nimport " + strconv.Quote(path))}}
}

// waits reports whether a statement lets the bubble settle.
func waits(pass *analysis.Pass, stmt ast.Stmt) bool {
	call, ok := called(stmt)
	return ok && settling[callee(pass, call)]
}
