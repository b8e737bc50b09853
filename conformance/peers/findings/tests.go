package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// tests are the tests that show findings with the library alone.
type tests struct {
	fset    *token.FileSet
	files   map[string]string          // the file of a function or variable, by its name
	decls   map[string]ast.Decl        // by name
	methods map[string][]*ast.FuncDecl // by the name of the receiver's type
	uses    map[string]*ast.File       // the file, for its imports
}

// readTests reads the tests of a folder.
func readTests(folder string) (*tests, error) {
	t := &tests{
		fset: token.NewFileSet(), files: map[string]string{}, decls: map[string]ast.Decl{},
		methods: map[string][]*ast.FuncDecl{}, uses: map[string]*ast.File{},
	}
	paths, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		return nil, err
	}
	for _, name := range paths {
		file, err := parser.ParseFile(t.fset, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil {
				of := receiver(f)
				t.methods[of] = append(t.methods[of], f)
			}
			for _, declared := range names(d) {
				t.decls[declared], t.files[declared], t.uses[declared] = d, filepath.Base(name), file
			}
		}
	}
	return t, nil
}

// names are what a declaration declares; methods go with their types.
func names(d ast.Decl) []string {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return []string{d.Name.Name}
		}
	case *ast.GenDecl:
		var out []string
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.ValueSpec:
				for _, n := range s.Names {
					out = append(out, n.Name)
				}
			case *ast.TypeSpec:
				out = append(out, s.Name.Name)
			}
		}
		return out
	}
	return nil
}

// receiver is the name of the type of a method.
func receiver(f *ast.FuncDecl) string {
	x := f.Recv.List[0].Type
	if star, ok := x.(*ast.StarExpr); ok {
		x = star.X
	}
	if name, ok := x.(*ast.Ident); ok {
		return name.Name
	}
	return ""
}

// file is the file of a test.
func (t *tests) file(name string) (string, error) {
	if t.files[name] == "" {
		return "", fmt.Errorf("there is no test %s", name)
	}
	return t.files[name], nil
}

// alone is a file with nothing but a test, what it uses, and the imports for both.
func (t *tests) alone(name string) (string, error) {
	if _, err := t.file(name); err != nil {
		return "", err
	}
	var decls []ast.Decl
	imports := map[string]string{} // line by path
	var add func(name string)
	add = func(name string) {
		d := t.decls[name]
		if d == nil || slices.Contains(decls, d) {
			return
		}
		look := func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok {
					if line, path := imported(t.uses[name], x.Name); path != "" {
						imports[path] = line
						return false
					}
				}
			case *ast.Ident:
				add(n.Name)
			}
			return true
		}
		decls = append(decls, d)
		ast.Inspect(d, look)
		for _, m := range t.methods[name] {
			decls = append(decls, m)
			ast.Inspect(m, look)
		}
	}
	add(name)
	var b bytes.Buffer
	b.WriteString("package issue\n\nimport (\n")
	var paths []string
	for p := range imports {
		paths = append(paths, p)
	}
	slices.SortFunc(paths, func(a, b string) int { // std first
		return strings.Compare(boolText(strings.Contains(a, "."))+a, boolText(strings.Contains(b, "."))+b)
	})
	for _, p := range paths {
		b.WriteString(imports[p] + "\n")
	}
	b.WriteString(")\n")
	for _, d := range decls {
		b.WriteString("\n")
		if err := format.Node(&b, t.fset, d); err != nil {
			return "", err
		}
		b.WriteString("\n")
	}
	text, err := format.Source([]byte(inBubble(b.String())))
	return string(text), err
}

var (
	required = regexp.MustCompile(`(?m)^\s*synctestcompat\.Require\(\w+\)\n`)
	sleeps   = regexp.MustCompile(`(?m)^(\s*)synctestcompat\.Sleep\((.*)\)$`)
	runs     = regexp.MustCompile(`synctestcompat\.Run\((\w+), func\(\*testing\.T\)`)
)

// inBubble says what a test does in a bubble by testing/synctest alone.
func inBubble(code string) string {
	code = required.ReplaceAllString(code, "")
	code = sleeps.ReplaceAllString(code, "${1}time.Sleep(${2})\n${1}synctest.Wait()")
	code = runs.ReplaceAllString(code, "synctestcompat.Run($1, func(_ *testing.T)")
	return strings.NewReplacer(
		`"github.com/escapement-go/escapement/synctestcompat"`, `"testing/synctest"`,
		"synctestcompat.Run(", "synctest.Test(", "synctestcompat.Wait()", "synctest.Wait()",
	).Replace(code)
}

func boolText(b bool) string { return strconv.FormatBool(b) }

// imported is the import of a file that a name stands for.
func imported(f *ast.File, name string) (line, importPath string) {
	for _, s := range f.Imports {
		p, err := strconv.Unquote(s.Path.Value)
		if err != nil {
			continue
		}
		if s.Name != nil && s.Name.Name == name {
			return name + " " + s.Path.Value, p
		}
		if s.Name == nil && packageName(p) == name {
			return s.Path.Value, p
		}
	}
	return "", ""
}

// packageName is the usual name of a package: the last part of its path that is no version.
func packageName(p string) string {
	base := path.Base(p)
	if len(base) > 1 && base[0] == 'v' && strings.Trim(base[1:], "0123456789") == "" {
		base = path.Base(path.Dir(p))
	}
	base = strings.TrimPrefix(base, "go-")
	return base
}
