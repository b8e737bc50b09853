// Package shape has nothing but a test: that files, lines and functions stay small enough
// to be read.
package shape

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

const (
	maxColumns    = 120 // a tab counts 4
	maxLines      = 500
	maxComplexity = 25
	maxNesting    = 5
)

// held are the folders in which the limits hold, with tests or without. The tests of the
// bundled types are not held yet: they are older than the limits, and some files of them
// are above 500 lines, some functions nest eight deep, since goroutines start in bubbles
// that start in subtests.
var held = []struct {
	folder string
	tests  bool
}{
	{"conformance", true},
	{"guide", true},
	{"internal", true},
	{"properties", true},
	{"sleeplint", true},
	{"debounce", false},
	{"fakeclock", false},
	{"limiters", false},
	{"synctestcompat", false},
}

// Reasons for exceptions.
const (
	unwrapped = "written before the limit, and not wrapped yet"
	mutants   = "mutants stand in the code that they are one statement away from, which makes its functions long"
	reference = "one step does each operation on two limiters and compares them"
	subtests  = "loops within subtests within loops"
	literals  = "functions within the literal of a spec"
)

// excepted are files and folders that are above a limit, with the reason.
var excepted = map[string]map[string]string{
	"columns": {
		"conformance/example_test.go": "a line of the output",
		"conformance/peers":           unwrapped,
		"debounce":                    unwrapped,
		"fakeclock":                   unwrapped,
		"internal/baseline":           unwrapped,
		"limiters":                    unwrapped,
		"properties":                  unwrapped,
		"synctestcompat":              unwrapped,
	},
	"complexity": {
		"conformance/peers/xtime_differential_test.go": reference,
		"internal/zoo": mutants,
	},
	"nesting": {
		"conformance/peers/clocks_bench_test.go": subtests,
		"conformance/peers/clocks_test.go":       literals,
	},
}

func TestShape(t *testing.T) {
	const root = "../.."
	c := checker{t, map[string]bool{}}
	for _, h := range held {
		files := 0
		err := fs.WalkDir(os.DirFS(root), h.folder, func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && d.Name() == "testdata":
				return fs.SkipDir
			case d.IsDir() || path.Ext(name) != ".go" || !h.tests && strings.HasSuffix(name, "_test.go"):
				return nil
			}
			files++
			src, err := os.ReadFile(path.Join(root, name))
			if err == nil {
				c.check(name, src)
			}
			return err
		})
		if err != nil || files == 0 {
			t.Errorf("%s: %d files, %v", h.folder, files, err)
		}
	}
	for limit, all := range excepted {
		for name := range all {
			if !c.needed[limit+" "+name] {
				t.Errorf("%s: %s keeps within the limit: it needs no exception", limit, name)
			}
		}
	}
}

// checker holds files to the limits.
type checker struct {
	*testing.T
	needed map[string]bool // exceptions that were needed, each a limit and what is excepted
}

// check holds one file to the limits.
func (c *checker) check(name string, src []byte) {
	lines := bytes.Split(bytes.TrimSuffix(src, []byte("\n")), []byte("\n"))
	if len(lines) > maxLines {
		c.report("lines", name, 1, len(lines), maxLines)
	}
	for i, line := range lines {
		if n := columns(line); n > maxColumns {
			c.report("columns", name, i+1, n, maxColumns)
		}
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, src, parser.SkipObjectResolution)
	if err != nil {
		c.Error(err)
		return
	}
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		line := set.Position(f.Pos()).Line
		if n := complexity(f); n > maxComplexity {
			c.report("complexity", name, line, n, maxComplexity)
		}
		if n := nesting(f.Body); n > maxNesting {
			c.report("nesting", name, line, n, maxNesting)
		}
	}
}

// report fails the test unless the file, or a folder that it is in, is excepted.
func (c *checker) report(limit, name string, line, got, most int) {
	for above := name; above != "."; above = path.Dir(above) {
		if excepted[limit][above] != "" {
			c.needed[limit+" "+above] = true
			return
		}
	}
	c.Errorf("%s:%d: %s: %d, want %d at most", name, line, limit, got, most)
}

// columns is the width of a line.
func columns(line []byte) int {
	return utf8.RuneCount(line) + 3*bytes.Count(line, []byte("\t"))
}

// complexity is the cyclomatic complexity of a function, those within it included: 1, and
// 1 more for each branch, loop, case, && and ||.
func complexity(f *ast.FuncDecl) int {
	n := 1
	ast.Inspect(f, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			n++
		case *ast.CaseClause:
			n += min(1, len(node.List)) // default has none
		case *ast.CommClause:
			if node.Comm != nil {
				n++
			}
		case *ast.BinaryExpr:
			if node.Op == token.LAND || node.Op == token.LOR {
				n++
			}
		}
		return true
	})
	return n
}

// nesting is how deep statements and functions that contain blocks stand in one another.
// An else if stands beside its if.
func nesting(node ast.Node) int {
	deepest := 0
	within := func(inner ast.Node) { deepest = max(deepest, 1+nesting(inner)) }
	ast.Inspect(node, func(inner ast.Node) bool {
		switch inner := inner.(type) {
		case *ast.IfStmt:
			within(inner.Body)
			switch other := inner.Else.(type) {
			case *ast.IfStmt:
				deepest = max(deepest, nesting(&ast.BlockStmt{List: []ast.Stmt{other}}))
			case *ast.BlockStmt:
				within(other)
			}
			return false
		case *ast.ForStmt:
			within(inner.Body)
		case *ast.RangeStmt:
			within(inner.Body)
		case *ast.SwitchStmt:
			within(inner.Body)
		case *ast.TypeSwitchStmt:
			within(inner.Body)
		case *ast.SelectStmt:
			within(inner.Body)
		case *ast.FuncLit:
			within(inner.Body)
		default:
			return true
		}
		return false
	})
	return deepest
}

// TestDoc holds what go doc prints of a contract to a screen.
func TestDoc(t *testing.T) {
	const most = 60
	contracts, err := filepath.Glob("../../conformance/*test")
	if err != nil || len(contracts) == 0 {
		t.Fatal(contracts, err)
	}
	for _, folder := range contracts {
		out, err := exec.Command("go", "doc", folder).CombinedOutput()
		if n := bytes.Count(out, []byte("\n")); err != nil || n > most {
			t.Errorf("go doc %s: %d lines, %v; want %d at most", folder, n, err, most)
		}
	}
}
