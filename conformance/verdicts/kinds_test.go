package main

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// A window that slides has the kind that its comments or its fields tell; otherwise both are tried.
func TestAdapter_algorithms(t *testing.T) {
	pkg, err := load("./testdata/subjects")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]string{
		"SlidingStamps": {"SlidingLog"}, "SlidingWindow": {"SlidingLog"},
		"SlidingMute": {"SlidingCounter", "SlidingLog"}, "Tally": {"SlidingCounter"}, "Shares": {"FixedWindow"},
	} {
		all, err := newAdapters(pkg, name, "quotatest")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, a := range all {
			got = append(got, a.kind)
		}
		if !slices.Equal(got, want) {
			t.Errorf("init %s tries %q, want %q", name, got, want)
		}
	}
}

// Where a dependency is missing, what the go command says of it is told.
func TestLoad_missing(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"go.mod": "module m\n\ngo 1.24\n\nrequire github.com/jonboulle/clockwork v0.5.0\n",
		"m.go":   "package m\n\nimport \"github.com/jonboulle/clockwork\"\n\nvar Clock clockwork.Clock\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := load("."); err == nil || !strings.Contains(err.Error(), "missing go.sum entry") {
		t.Errorf("load() = %v, want what is missing", err)
	}
}

// A generic type without a constructor that is not made with ints is refused for what it is.
func TestInit_noInts(t *testing.T) {
	pkg, err := load("./testdata/subjects")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newAdapters(pkg, "TextsDebouncer", ""); err == nil || !strings.Contains(err.Error(), "with ints") {
		t.Errorf("newAdapters() = %v, want what it is not made with", err)
	}
}
