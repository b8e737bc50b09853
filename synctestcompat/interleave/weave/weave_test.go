package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/escapement-go/escapement/internal/prove"
	"github.com/escapement-go/escapement/synctestcompat"
)

// newWeaver returns the command with arguments, and what it prints.
func newWeaver(t *testing.T, args ...string) (*weaver, *bytes.Buffer) {
	t.Helper()
	out := new(bytes.Buffer)
	w := &weaver{env: append(os.Environ(), "ESCAPEMENT_INTERLEAVE="), out: out, err: out}
	if err := w.parse(args); err != nil {
		t.Fatal(err)
	}
	return w, out
}

// What is hard to rewrite compiles, does what it did, and has all its lines where they were.
func TestWeave_syntax(t *testing.T) {
	synctestcompat.Require(t)
	w, out := newWeaver(t, "-count=1", "-v", "../testdata/syntax")
	if err := w.prepare(); err != nil {
		t.Fatal(err)
	}
	if status := w.test(); status != 0 {
		t.Errorf("go test ended with %d:\n%s", status, out)
	}
	t.Logf("%s", out)
	c := newChecker(w)
	for _, p := range w.targets {
		files, err := c.rewrite(p)
		if err != nil {
			t.Fatal(err)
		}
		for name, got := range files {
			src, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if before, after := places(t, string(src)), places(t, got); !slices.Equal(before, after) {
				t.Errorf("%s: functions in lines %v, before %v:\n%s", name, after, before, got)
			}
		}
	}
}

// What has one mistake of order fails, in the same interleaving each time, and what has none does not.
func TestWeave_orders(t *testing.T) {
	synctestcompat.Require(t)
	prove.Require(t, prove.Suite)
	w, out := newWeaver(t, "-count=1", "-v", "../testdata/orders")
	if err := w.prepare(); err != nil {
		t.Fatal(err)
	}
	status := w.test()
	for line := range strings.Lines(out.String()) {
		if _, row, ok := strings.Cut(line, "row: "); ok {
			t.Log(strings.TrimSpace(row))
		}
	}
	if status != 0 {
		t.Errorf("go test ended with %d:\n%s", status, out)
	}
}

// places returns the lines in which functions begin and end.
func places(t *testing.T, src string) (lines []int) {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", src, parser.SkipObjectResolution)
	if err != nil {
		t.Fatalf("%v in\n%s", err, src)
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			lines = append(lines, set.Position(f.Pos()).Line, set.Position(f.End()).Line)
		}
	}
	return lines
}

func TestParse(t *testing.T) {
	w, _ := newWeaver(t, "-run", "^TestX$", "-v", "-with", "a/b,c", "--tags=x", "-count=1", "./...", "-args", "-y")
	got := [][]string{w.with, w.flags, w.rest, w.patterns, w.args}
	want := [][]string{{"a/b", "c"}, {"-tags=x"}, {"-run=^TestX$", "-v", "-count=1"}, {"./..."}, {"-args", "-y"}}
	for i := range want {
		if !slices.Equal(got[i], want[i]) {
			t.Errorf("got %q, want %q", got[i], want[i])
		}
	}
	err := new(weaver).parse([]string{"-overlay", "x"})
	if err == nil || !strings.Contains(err.Error(), "weave needs") {
		t.Errorf("-overlay: %v", err)
	}
}
