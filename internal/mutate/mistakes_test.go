package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What only a mistake runs, and what describes designs, is no mutant of a design.
func TestMistakes(t *testing.T) {
	const text = `package p
func Designs() []zoo.Design { none(); return all(func() { some() }) }
func (q *queue) is(mutant string) bool { return q.mutant == mutant }
func (q *queue) take() {
	if q.is("a") { none() } else { some() }
	if x && q.is("a") { none() }
	if x || !q.is("a") { some() } else { none() }
	if x || q.is("a") { some() }
	if mutant != "" { none() }
	if mutant == "" { some() } else { none() }
	switch q.mutant {
	case "a", b: none()
	case "": some()
	default: some()
	}
	switch {
	case q.is("a"): none()
	case x: some()
	}
}`
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, "p.go", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	apart, calls := mistakes(f), 0
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		name, ok := call.Fun.(*ast.Ident)
		if !ok || name.Name != "some" && name.Name != "none" {
			return true
		}
		calls++
		found := false
		for _, s := range apart {
			found = found || s.holds(n)
		}
		if found != (name.Name == "none") {
			t.Errorf("%s: %s() is apart: %v", set.Position(n.Pos()), name.Name, found)
		}
		return true
	})
	if calls != strings.Count(text, "some()")+strings.Count(text, "none()") {
		t.Errorf("%d calls were looked at", calls)
	}
}

// What is drawn is what a survivor is called, whatever stands beside it.
func TestDrawClaims(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	names := func(n int) string {
		claims, err := drawClaims(dir, n)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, c := range claims {
			all = append(all, c.survivor)
		}
		return strings.Join(all, "\n")
	}
	entry := func(name string) string { return "survived: " + name + "\n\tequivalent: nobody reads it\n" }
	write("a.txt", "# head\n\n"+entry("F: drop x")+"survived: F: drop y\n\toutside: no law\n"+entry("F: drop z"))
	if got, want := names(9), "survived: F: drop x\nsurvived: F: drop z"; got != want {
		t.Errorf("all claims are %q, want %q", got, want)
	}
	one := names(1)
	write("b.txt", strings.Repeat("# nothing\n", 3))
	write("a.txt", "# head\n\n"+entry("F: drop z")+entry("F: drop x"))
	if got := names(1); got != one {
		t.Errorf("in another order %q is drawn, want %q", got, one)
	}
}
