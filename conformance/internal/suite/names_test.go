package suite_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The engine names no contract: no kind, no rule but those that every contract has, and no
// operation but those of the driver.
func TestSuite_namesNoContract(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) < 10 {
		t.Fatalf("Glob: %v, %v", files, err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if what := contractIn(n); what != "" {
				t.Errorf("%s: %s", fset.Position(n.Pos()), what)
			}
			return true
		})
	}
}

// contractIn says what a node names that belongs to a contract.
func contractIn(n ast.Node) string {
	switch n := n.(type) {
	case *ast.SelectorExpr:
		driver := []string{"Idle", "Wall"}
		name := n.Sel.Name
		if id, ok := n.X.(*ast.Ident); ok && id.Name == "verb" && !slices.Contains(driver, name) {
			return "the operation " + name
		}
	case *ast.Ident:
		for _, kind := range kinds {
			if strings.Contains(strings.ToLower(n.Name), kind) {
				return "the identifier " + n.Name
			}
		}
	case *ast.BasicLit:
		text, err := strconv.Unquote(n.Value)
		if n.Kind != token.STRING || err != nil {
			return ""
		}
		for _, prefix := range prefixes {
			if strings.HasPrefix(text, prefix) {
				return "the rule " + text
			}
		}
		for _, kind := range kinds {
			if strings.Contains(strings.ToLower(text), kind) && !strings.Contains(text, "/") {
				return "the kind in " + strconv.Quote(text)
			}
		}
	}
	return ""
}

var (
	kinds = []string{
		"debounc", "throttl", "limiter", "leaky", "bucket", "quota", "semaphore", "concurrencytest", "clocktest",
	}
	prefixes = []string{
		"DB-", "TH-", "RL-", "W-", "RS-", "CN-", "SL-", "SB-", "LB-", "GC-", "SW-", "SC-", "FW-", "CT-", "CK-",
	}
)
