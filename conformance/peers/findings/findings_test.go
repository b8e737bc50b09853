package main

import (
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
	tests, err := readTests("..")
	if err != nil {
		t.Fatal(err)
	}
	five := 0
	for _, n := range notes {
		if n.five {
			five++
		}
		code, err := tests.alone(n.test)
		if err != nil {
			t.Errorf("%s %s: %v", n.library, n.rule, err)
		}
		if strings.Contains(code, "escapement") {
			t.Errorf("%s is not shown by the library alone:\n%s", n.test, code)
		}
	}
	if five != 5 {
		t.Errorf("%d findings to look at first, want 5", five)
	}
}
