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

// bubbleFix puts a whole test into a bubble, and a Wait behind each of its sleeps. It does
// so for tests that stand by themselves: a function of the testing package's form, without
// subtests, in a module of Go 1.25 or later, which calls nothing but this package, the
// standard library and testify, and uses no variable of a package that a bubble could not
// share with other tests. A Parallel at its beginning stays outside. Whether the test is then
// certain to pass is asked of [reach].
func bubbleFix(pass *analysis.Pass, f *ast.FuncDecl) (fix analysis.SuggestedFix, ok bool) {
	t := testParam(pass, f)
	if t == nil || !allows(pass, "go1.25") || !standsAlone(pass, f, t) {
		return fix, false
	}
	body := f.Body.List
	if call, ok := called(body[0]); ok && callee(pass, call) == "(*testing.T).Parallel" {
		body = body[1:]
	}
	if len(body) == 0 {
		return fix, false
	}
	file := fileOf(pass, f)
	name, edits := imported(file, synctest)
	insert := func(pos token.Pos, text string) {
		edits = append(edits, analysis.TextEdit{Pos: pos, End: pos, NewText: []byte(text)})
	}
	insert(body[0].Pos(), name+".Test("+t.Name()+", func("+t.Name()+" *testing.T) {\n")
	w := &walker{pass: pass, visit: func(stmt ast.Stmt, at place) {
		if call, ok := called(stmt); ok && callee(pass, call) == "time.Sleep" && !waits(pass, at.next) {
			insert(stmt.End(), "\n"+name+".Wait()")
		}
	}}
	w.block(body, place{test: f})
	insert(f.Body.Rbrace, "})\n")
	return analysis.SuggestedFix{Message: "Run the test in a bubble", TextEdits: edits}, true
}

// testParam is the T of a function that go test runs.
func testParam(pass *analysis.Pass, f *ast.FuncDecl) types.Object {
	if f.Recv != nil || !strings.HasPrefix(f.Name.Name, "Test") || len(f.Body.List) == 0 {
		return nil
	}
	if f.Type.Params.NumFields() != 1 || len(f.Type.Params.List[0].Names) != 1 {
		return nil
	}
	t := pass.TypesInfo.Defs[f.Type.Params.List[0].Names[0]]
	if t == nil || t.Name() == "_" || types.TypeString(t.Type(), nil) != "*testing.T" {
		return nil
	}
	return t
}

// allows reports whether the module's go line is at least that version.
func allows(pass *analysis.Pass, least string) bool {
	v := pass.Pkg.GoVersion()
	return v != "" && version.Compare(v, least) >= 0
}

// standsAlone reports whether nothing in f speaks against a bubble.
func standsAlone(pass *analysis.Pass, f *ast.FuncDecl, t types.Object) bool {
	alone := true
	ast.Inspect(f.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			switch callee(pass, n) {
			case "(*testing.T).Run", "(*testing.T).Deadline":
				alone = false
			case "(*testing.T).Parallel":
				if call, ok := called(f.Body.List[0]); !ok || call != n {
					alone = false
				}
			}
		case *ast.Ident:
			obj := pass.TypesInfo.Uses[n]
			alone = alone && (obj == nil || obj.Pkg() == nil || known(pass, obj))
		}
		return alone
	})
	return alone
}

// known reports whether a test in a bubble may use obj.
func known(pass *analysis.Pass, obj types.Object) bool {
	path := obj.Pkg().Path()
	own := path == strings.TrimSuffix(pass.Pkg.Path(), "_test") || path == pass.Pkg.Path()
	if v, ok := obj.(*types.Var); ok && own && obj.Parent() == obj.Pkg().Scope() {
		_, isBasic := v.Type().Underlying().(*types.Basic)
		return isBasic || types.TypeString(v.Type(), nil) == "error"
	}
	first, _, _ := strings.Cut(path, "/")
	return own || !strings.Contains(first, ".") || strings.HasPrefix(path, "github.com/stretchr/testify/")
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
