package conformance_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The files of a contract that is a model are read from left to right: what a user says, how a run is made, what is
// right, how the run is judged by that, what is run, what is observed, the laws, runs of their own, and what is drawn.
// A file is of the first whose name it begins with.
var leftToRight = [][]string{
	{"spec", "traits", "presets"},
	{"trace", "play", "funcs", "contexts"},
	{"model"},
	{"verdict"},
	{"schedules"},
	{"choices"},
	{"laws", "rules"},
	{"probes"},
	{"draw"},
}

// A file of such a contract names nothing that is declared to the right of it.
func TestRooms_leftToRight(t *testing.T) {
	for _, room := range []string{"batchtest", "concurrencytest"} {
		names, err := filepath.Glob(filepath.Join(room, "*.go"))
		if err != nil || len(names) == 0 {
			t.Fatal(room, err)
		}
		names = slices.DeleteFunc(names, func(name string) bool { return strings.HasSuffix(name, "_test.go") })
		for _, why := range backwards(t, names) {
			t.Error(why)
		}
	}
}

// backwards lists what files name that stands to the right of them.
func backwards(t *testing.T, names []string) (out []string) {
	t.Helper()
	set := token.NewFileSet()
	var files []*ast.File
	for _, name := range names {
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	uses := types.Info{Uses: map[*ast.Ident]types.Object{}}
	own := types.Config{Error: func(error) {}, Importer: nothing{}} // what is imported does not matter
	pkg, _ := own.Check("contract", set, files, &uses)
	for id, obj := range uses.Uses {
		if obj.Parent() != pkg.Scope() {
			continue
		}
		from, to := set.Position(id.Pos()), set.Position(obj.Pos())
		if placeOf(t, from.Filename) < placeOf(t, to.Filename) {
			out = append(out, from.String()+" names "+obj.Name()+" of "+filepath.Base(to.Filename))
		}
	}
	slices.Sort(out)
	return out
}

// placeOf is the place of a file, counted from the left.
func placeOf(t *testing.T, name string) int {
	t.Helper()
	is := func(part string) bool { return strings.HasPrefix(filepath.Base(name), part) }
	i := slices.IndexFunc(leftToRight, func(parts []string) bool { return slices.ContainsFunc(parts, is) })
	if i < 0 {
		t.Fatalf("%s has no place among %v", name, leftToRight)
	}
	return i
}

// nothing imports nothing.
type nothing struct{}

func (nothing) Import(string) (*types.Package, error) { return nil, errors.New("not needed") }
