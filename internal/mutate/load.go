package main

import (
	"bytes"
	"encoding/json"
	"errors"
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
	"slices"
	"strings"
)

// source is a package whose mutants are made, with its types.
type source struct {
	dir   string // from the root of the repository
	set   *token.FileSet
	files []*file
	pkg   *types.Package
	info  *types.Info
	made  int // how many mutants its files have
}

// file is one file of a package.
type file struct {
	name string // of the file alone
	path string // absolute
	text []byte
	tree *ast.File
	// sites are the places of the file that mutants change.
	sites []site
}

// listed is what `go list` says of a package.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
}

// load parses and checks the package in a folder of the repository.
func load(root, dir string) (*source, error) {
	cmd := exec.Command("go", "list", "-deps", "-export", "-json=ImportPath,Dir,Export,GoFiles", ".")
	cmd.Dir = filepath.Join(root, dir)
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: go list: %w", dir, withStderr(err))
	}
	exports := map[string]string{}
	var self listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listed
		if err := d.Decode(&l); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("%s: go list: %w", dir, err)
		}
		exports[l.ImportPath] = l.Export
		self = l // the package itself comes after all that it needs
	}
	s := &source{dir: dir, set: token.NewFileSet()}
	s.info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
	var trees []*ast.File
	for _, name := range self.GoFiles {
		f := &file{name: name, path: filepath.Join(self.Dir, name)}
		if f.text, err = os.ReadFile(f.path); err != nil {
			return nil, err
		}
		if f.tree, err = parser.ParseFile(s.set, f.path, f.text, parser.ParseComments); err != nil {
			return nil, err
		}
		s.files = append(s.files, f)
		trees = append(trees, f.tree)
	}
	lookup := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
	conf := types.Config{Importer: importer.ForCompiler(s.set, "gc", lookup)}
	s.pkg, err = conf.Check(self.ImportPath, s.set, trees, s.info)
	return s, err
}

// withStderr adds to the error of a command what the command said.
func withStderr(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return fmt.Errorf("%w\n%s", err, exit.Stderr)
	}
	return err
}

// offset is a position as an offset into its file.
func (s *source) offset(p token.Pos) int { return s.set.Position(p).Offset }

// textOf is the source text of a node.
func (s *source) textOf(f *file, n ast.Node) string {
	return string(f.text[s.offset(n.Pos()):s.offset(n.End())])
}

// typeName is how a file writes a type, "" if it cannot.
func (s *source) typeName(f *file, t types.Type) string {
	if t == nil {
		return ""
	}
	if b, ok := t.(*types.Basic); ok && b.Info()&types.IsUntyped != 0 {
		if b.Kind() == types.UntypedBool {
			return "bool"
		}
		return ""
	}
	missing := false
	name := types.TypeString(t, func(p *types.Package) string {
		if p == s.pkg {
			return ""
		}
		for _, spec := range f.tree.Imports {
			if strings.Trim(spec.Path.Value, `"`) == p.Path() {
				if spec.Name != nil {
					return spec.Name.Name
				}
				return p.Name()
			}
		}
		missing = true
		return p.Name()
	})
	if missing {
		return ""
	}
	return name
}

// choose keeps the files that are named, or all if none is.
func (s *source) choose(names []string) error {
	for _, name := range names {
		if !slices.ContainsFunc(s.files, func(f *file) bool { return f.name == name }) {
			return fmt.Errorf("%s has no file %s", s.dir, name)
		}
	}
	if len(names) > 0 {
		s.files = slices.DeleteFunc(s.files, func(f *file) bool { return !slices.Contains(names, f.name) })
	}
	return nil
}
