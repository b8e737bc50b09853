package conformance_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/escapement-go/escapement"

// Who imports whom, by the folder below the module's root: an arrow never points back up.
func TestImports(t *testing.T) {
	root := ".."
	files := 0
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && d.Name() == "testdata" {
			return err
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		files++
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		below, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		importer := path.Dir(filepath.ToSlash(below))
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if why := forbidden(importer, imported, strings.HasSuffix(name, "_test.go")); why != "" {
				t.Errorf("%s imports %s: %s", below, imported, why)
			}
		}
		return nil
	})
	if err != nil || files < 100 {
		t.Fatalf("WalkDir: %d files, %v", files, err)
	}
}

// forbidden says why a package, given by its folder, must not import another; "" if it may.
func forbidden(importer, imported string, test bool) string {
	own, ours := strings.CutPrefix(imported, module+"/")
	suite := importer == "conformance" || isContract(importer) || strings.HasPrefix(importer, "conformance/internal/")
	internal := strings.HasPrefix(own, "internal/") || strings.Contains(own, "/internal/")
	zoo := strings.HasPrefix(importer, "internal/zoo") || importer == "conformance/internal/proof"
	switch {
	case suite && imported == "pgregory.net/rapid":
		return "rapid registers ten global flags; whoever wants it imports properties"
	case !ours:
		return ""
	case internal && nested(importer) && !nested(own):
		return "a nested module is an outside user"
	case !zoo && !test && strings.HasPrefix(own, "internal/zoo"):
		return "nothing but tests imports the zoo"
	case test:
		return ""
	}
	return forbiddenInCode(importer, own)
}

// forbiddenInCode is forbidden for files that are not tests and imports from this module.
func forbiddenInCode(importer, own string) string {
	contract := isContract(importer)
	switch {
	case contract && isContract(own):
		return "contracts do not know each other: what two share is in conformance/internal/edge"
	case contract && (own == "limiters" || own == "debounce"):
		return "the suite does not know what it judges"
	case (importer == "debounce" || importer == "limiters") &&
		(own == "fakeclock" || strings.HasPrefix(own, "conformance")):
		return "production code takes clockwork's interfaces"
	case importer == "conformance" && own != "conformance/internal/inside" && own != "internal/timeline":
		return "the vocabulary stands below everything"
	}
	return ""
}

// isContract reports whether a folder is the room of a contract.
func isContract(folder string) bool {
	room, ok := strings.CutPrefix(folder, "conformance/")
	return ok && strings.HasSuffix(room, "test") && !strings.Contains(room, "/")
}

// nested reports whether a folder belongs to a module of its own.
func nested(folder string) bool {
	return strings.HasPrefix(folder, "conformance/peers") || strings.HasPrefix(folder, "limiters/redislimit") ||
		strings.HasPrefix(folder, "go1.24")
}
