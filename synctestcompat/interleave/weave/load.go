package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/escapement-go/escapement/internal/sched"
)

// listed is what go list says about a package.
type listed struct {
	ImportPath, Name, Dir, Export, ForTest string
	Standard, DepOnly                      bool
	GoFiles, CgoFiles                      []string
	TestGoFiles, XTestGoFiles              []string
	Imports                                []string
	ImportMap                              map[string]string
	Module                                 *module
	Error                                  *struct{ Err string }
}

type module struct {
	Path, Version, Dir, GoMod, GoVersion string
	Main                                 bool
	Replace                              *module
}

// golist runs go list.
func (w *weaver) golist(args ...string) ([]*listed, error) {
	cmd := exec.Command("go", append([]string{"list"}, args...)...)
	cmd.Env = w.env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %s", strings.TrimSpace(stderr.String()))
	}
	var pkgs []*listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		p := new(listed)
		if err := dec.Decode(p); err == io.EOF {
			return pkgs, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %v", err)
		}
		pkgs = append(pkgs, p)
	}
}

const fields = "-json=ImportPath,Name,Dir,Export,ForTest,Standard,DepOnly,GoFiles,CgoFiles,TestGoFiles,XTestGoFiles," +
	"Imports,ImportMap,Module,Error"

// load lists the packages to test and all that they need, those that are needed first.
func (w *weaver) load() error {
	args := append([]string{"-deps", "-test", fields}, w.flags...)
	pkgs, err := w.golist(append(args, w.patterns...)...)
	if err != nil {
		return err
	}
	w.byPath = make(map[string]*listed)
	var others []string
	for _, p := range pkgs {
		if p.ForTest != "" || strings.HasSuffix(p.ImportPath, ".test") && p.Name == "main" {
			continue
		}
		if p.Error != nil {
			return fmt.Errorf("%s: %s", p.ImportPath, p.Error.Err)
		}
		w.byPath[p.ImportPath] = p
		if w.takesPart(p) {
			w.targets = append(w.targets, p)
		} else if p.ImportPath != "unsafe" && p.ImportPath != "C" {
			others = append(others, p.ImportPath)
		}
	}
	if w.byPath[strings.TrimSuffix(shims, "/shim/")] == nil {
		fmt.Fprintf(w.err, "weave: no test of these packages imports %s\n", strings.TrimSuffix(shims, "/shim/"))
	}
	args = append([]string{"-export", "-json=ImportPath,Export"}, w.flags...)
	exports, err := w.golist(append(args, others...)...)
	if err != nil {
		return err
	}
	for _, p := range exports {
		if q := w.byPath[p.ImportPath]; q != nil {
			q.Export = p.Export
		}
	}
	return nil
}

// machinery are packages that run the others, and so are not rewritten themselves.
var machinery = []string{
	"github.com/escapement-go/escapement/conformance",
	"github.com/escapement-go/escapement/fakeclock",
	"github.com/escapement-go/escapement/internal/goroutine",
	"github.com/escapement-go/escapement/internal/sched",
	"github.com/escapement-go/escapement/internal/stackmark",
	"github.com/escapement-go/escapement/synctestcompat",
	"github.com/escapement-go/escapement/synctestcompat/interleave",
}

// runs reports whether a package runs the others: it is of the machinery, a shim, or one of the conformance suite.
func runs(path string) bool {
	return sched.OfSuite(path) || strings.HasPrefix(path, shims) || slices.Contains(machinery, path)
}

// takesPart reports whether a package is rewritten: those of the main modules are, and those of -with.
func (w *weaver) takesPart(p *listed) bool {
	if p.Standard || runs(p.ImportPath) {
		return false
	}
	return p.Module != nil && p.Module.Main || w.named(p.ImportPath)
}

// named reports whether a package is one of -with, or below one.
func (w *weaver) named(path string) bool {
	return slices.ContainsFunc(w.with, func(p string) bool { return path == p || strings.HasPrefix(path, p+"/") })
}

// checker types packages from their sources, and others from what the compiler exports.
type checker struct {
	w      *weaver
	fset   *token.FileSet
	std    types.ImporterFrom
	byPath map[string]*types.Package
}

func newChecker(w *weaver) *checker {
	c := &checker{w: w, fset: token.NewFileSet(), byPath: make(map[string]*types.Package)}
	lookup := func(path string) (io.ReadCloser, error) {
		if p := w.byPath[path]; p != nil && p.Export != "" {
			return os.Open(p.Export)
		}
		return nil, fmt.Errorf("no export data of %s", path)
	}
	c.std = importer.ForCompiler(c.fset, "gc", lookup).(types.ImporterFrom)
	return c
}

// imports is an importer for one package.
type imports struct {
	*checker
	p    *listed
	self *types.Package // what an external test imports under the path of the package under test
}

func (i imports) Import(path string) (*types.Package, error) {
	if to := i.p.ImportMap[path]; to != "" {
		path = to
	}
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if i.self != nil && path == i.p.ImportPath {
		return i.self, nil
	}
	if p := i.byPath[path]; p != nil {
		return p, nil
	}
	return i.std.ImportFrom(path, "", 0)
}

// parse reads files of a package.
func (c *checker) parse(p *listed, names []string) ([]*file, error) {
	var files []*file
	for _, name := range names {
		src, err := os.ReadFile(filepath.Join(p.Dir, name))
		if err != nil {
			return nil, err
		}
		path := filepath.Join(p.Dir, name)
		syntax, err := parser.ParseFile(c.fset, path, src, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		offset := func(pos token.Pos) int { return c.fset.PositionFor(pos, false).Offset }
		files = append(files, &file{text: text{src: string(src)}, syntax: syntax, offset: offset, name: path})
	}
	return files, nil
}

// check types files. Errors are left to the compiler, and what could not be typed is rewritten by its syntax.
func (c *checker) check(p *listed, path string, files []*file, self *types.Package) *types.Package {
	info := &types.Info{
		Types: make(map[ast.Expr]types.TypeAndValue), Uses: make(map[*ast.Ident]types.Object),
		Instances: make(map[*ast.Ident]types.Instance),
	}
	cfg := types.Config{Importer: imports{c, p, self}, FakeImportC: true, Error: func(error) {}}
	var syntax []*ast.File
	for _, f := range files {
		syntax = append(syntax, f.syntax)
	}
	pkg := typeCheck(cfg, path, c.fset, syntax, info)
	for _, f := range files {
		f.info, f.pkg = info, pkg
	}
	return pkg
}

// typeCheck is cfg.Check. The importer panics where export data is of a newer compiler than this program.
func typeCheck(cfg types.Config, path string, set *token.FileSet, files []*ast.File, info *types.Info) *types.Package {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(os.Stderr, "weave: this program was built by %s, and cannot read what the go command makes: %v\n"+
				"Use it by go run or go tool, which build it anew\n", runtime.Version(), p)
			os.Exit(2)
		}
	}()
	pkg, _ := cfg.Check(path, set, files, info)
	return pkg
}
