package verb

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"

	"github.com/escapement-go/escapement/conformance"
)

// Each operation is one that schedules can have.
func TestVerbs_areWritten(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "verb.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok {
			return true
		}
		n++
		name, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil || !conformance.Op(name).Written() {
			t.Errorf("%s is %q, which no schedule can have", spec.Names[0], name)
		}
		return true
	})
	if n == 0 {
		t.Error("there is no operation")
	}
}
