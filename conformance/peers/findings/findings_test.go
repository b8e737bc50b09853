package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Each note names a test that is there, and what stands for it as an issue's text parses and
// needs nothing of this repository.
func TestNotes(t *testing.T) {
	notes, err := readNotes("notes.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all []*tests
	for _, f := range folders {
		read, err := readTests(filepath.Join("..", f.dir))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, read)
	}
	five := 0
	for _, n := range notes {
		if n.five {
			five++
		}
		i := slices.IndexFunc(all, func(t *tests) bool { return t.files[n.test] != "" })
		if i < 0 {
			t.Errorf("%s %s: there is no test %s", n.library, n.rule, n.test)
			continue
		}
		code, err := all[i].alone(n.test)
		if err != nil {
			t.Errorf("%s %s: %v", n.library, n.rule, err)
		}
		if n.class == "defect" && strings.Contains(code, "escapement") {
			t.Errorf("%s is not shown by the library alone:\n%s", n.test, code)
		}
	}
	if five != 5 {
		t.Errorf("%d findings to look at first, want 5", five)
	}
}
