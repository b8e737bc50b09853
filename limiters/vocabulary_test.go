package limiters_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// VOCABULARY.md has each type with methods, with all of these, and each has a zero value that its comment speaks of.
func TestVocabulary(t *testing.T) {
	text, err := os.ReadFile("VOCABULARY.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(\\w+\\.\\w+)` \\| ([^|]*) \\| [^|]+ \\|$").FindAllStringSubmatch(string(text), -1) {
		rows[row[1]] = row[2]
	}
	if _, err := os.Stat("redislimit"); err != nil { // a module of its own, which is elsewhere in a module cache
		delete(rows, "redislimit.Limiter")
	}
	for _, folder := range []string{".", "httplimit", "redislimit", "../debounce"} {
		for name, typ := range typesOf(t, folder) {
			if len(typ.methods) == 0 {
				continue
			}
			slices.Sort(typ.methods)
			if got, want := rows[name], "`"+strings.Join(typ.methods, "` `")+"`"; got != want {
				t.Errorf("the row of %s has the methods %s, want %s", name, got, want)
			}
			if !strings.Contains(strings.Join(strings.Fields(typ.comment), " "), "zero "+name[strings.Index(name, ".")+1:]) {
				t.Errorf("the comment of %s does not say what its zero value is", name)
			}
			delete(rows, name)
		}
	}
	for name := range rows {
		t.Errorf("the row of %s is of no type with methods", name)
	}
}

// What has a bound on its keys calls it so, and the error too.
func TestVocabulary_keys(t *testing.T) {
	for folder, words := range map[string][]string{
		".":           {"ErrTooManyKeys", "maxKeys int"},
		"httplimit":   {"func MaxKeys(n int)", "DefaultMaxKeys", "ErrTooManyKeys"},
		"../debounce": {"ErrTooManyKeys", "func MaxKeys(n int)"},
	} {
		text := ""
		for _, name := range sources(t, folder) {
			src, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			text += string(src)
		}
		for _, word := range words {
			if !strings.Contains(text, word) {
				t.Errorf("%s has no %s", folder, word)
			}
		}
	}
}

// exported is an exported struct type.
type exported struct {
	methods []string
	comment string
}

// typesOf returns the exported structs of a package, by their names with that of the package.
func typesOf(t *testing.T, folder string) map[string]exported {
	t.Helper()
	all, embeds := map[string]exported{}, map[string][]string{}
	methods := map[string][]string{}
	for _, name := range sources(t, folder) {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Recv != nil && d.Name.IsExported() && d.Name.Name != "String" {
					of := base(d.Recv.List[0].Type)
					methods[of] = append(methods[of], d.Name.Name)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					typ, ok := spec.(*ast.TypeSpec)
					if !ok {
						continue
					}
					fields, ok := typ.Type.(*ast.StructType)
					if !ok || !typ.Name.IsExported() {
						continue
					}
					all[file.Name.Name+"."+typ.Name.Name] = exported{comment: d.Doc.Text()}
					for _, f := range fields.Fields.List {
						if len(f.Names) == 0 {
							embeds[typ.Name.Name] = append(embeds[typ.Name.Name], base(f.Type))
						}
					}
				}
			}
		}
	}
	for name, typ := range all {
		short := name[strings.Index(name, ".")+1:]
		typ.methods = slices.Clone(methods[short])
		for _, e := range embeds[short] {
			typ.methods = append(typ.methods, methods[e]...)
		}
		all[name] = typ
	}
	return all
}

// base is the name of a type, without a star and parameters.
func base(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.StarExpr:
		return base(x.X)
	case *ast.IndexExpr:
		return base(x.X)
	case *ast.IndexListExpr:
		return base(x.X)
	case *ast.Ident:
		return x.Name
	}
	return ""
}

// sources are the files of a package that are no tests.
func sources(t *testing.T, folder string) (all []string) {
	t.Helper()
	entries, err := fs.ReadDir(os.DirFS(folder), ".")
	if err != nil && folder != "redislimit" {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".go") && !strings.HasSuffix(e.Name(), "_test.go") {
			all = append(all, filepath.Join(folder, e.Name()))
		}
	}
	return all
}
