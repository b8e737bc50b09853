package main

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/escapement-go/escapement/synctestcompat"
)

// The packages that stand for those of std have all names that those have on this release.
func TestShims_areComplete(t *testing.T) {
	synctestcompat.Require(t)
	for path := range replaced {
		std := exported(t, filepath.Join(build.Default.GOROOT, "src", filepath.FromSlash(path)))
		ours := exported(t, filepath.Join("..", "shim", filepath.FromSlash(path)))
		if len(std) == 0 {
			t.Errorf("%s: no names found", path)
		}
		for name := range std {
			if !ours[name] {
				t.Errorf("%s.%s is missing", path, name)
			}
		}
	}
}

// exported returns the names that a package exports.
func exported(t *testing.T, dir string) map[string]bool {
	t.Helper()
	set := token.NewFileSet()
	pkgs, err := parser.ParseDir(set, dir, func(f fs.FileInfo) bool {
		ok, err := build.Default.MatchFile(dir, f.Name())
		return ok && err == nil && !strings.HasSuffix(f.Name(), "_test.go")
	}, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	names := make(map[string]bool)
	add := func(id *ast.Ident) {
		if id.IsExported() {
			names[id.Name] = true
		}
	}
	for _, pkg := range pkgs {
		for _, f := range pkg.Files {
			for _, d := range f.Decls {
				switch d := d.(type) {
				case *ast.FuncDecl:
					if d.Recv == nil {
						add(d.Name)
					}
				case *ast.GenDecl:
					for _, s := range d.Specs {
						switch s := s.(type) {
						case *ast.TypeSpec:
							add(s.Name)
						case *ast.ValueSpec:
							for _, id := range s.Names {
								add(id)
							}
						}
					}
				}
			}
		}
	}
	return names
}
