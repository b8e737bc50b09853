package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/escapement-go/escapement/internal/prove"
)

var updateGolden = flag.Bool("update-golden", false, "rewrite testdata/sample.golden")

var sample = target{
	name: "sample", dir: "internal/mutate/testdata/sample", files: []string{"sample.go"}, run: "^TestConformance_",
}

// The mutants of the sample are those of the golden file, and with ESCAPEMENT_PROVE=1 so is
// what its tests make of them.
func TestSample(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	s, err := load(root, sample.dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.choose(sample.files); err != nil {
		t.Fatal(err)
	}
	all := makeMutants(s)
	status := func(mutant) string { return "" } // not asked
	if prove.Reaches(prove.Suite) {
		p, err := build(t.Context(), root, sample, s, short)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(p.tmp) })
		if err := p.measure(t.Context()); err != nil {
			t.Fatal(err)
		}
		status = func(m mutant) string { return p.try(t.Context(), m.ID).Status }
	}
	const golden = "testdata/sample.golden"
	if *updateGolden {
		var b strings.Builder
		b.WriteString("# Made by: ESCAPEMENT_PROVE=1 go test ./internal/mutate -update-golden\n")
		for _, m := range all {
			fmt.Fprintf(&b, "%s: %s\n", status(m), m.Key)
		}
		if err := os.WriteFile(golden, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSpace(string(text)), "\n")[1:]
	if len(want) != len(all) {
		t.Errorf("%d mutants, want %d", len(all), len(want))
	}
	for i, m := range all[:min(len(all), len(want))] {
		wantStatus, key, _ := strings.Cut(want[i], ": ")
		if m.Key != key {
			t.Fatalf("mutant %d is %s, want %s", i+1, m.Key, key)
		}
		if got := status(m); got != "" && got != wantStatus {
			t.Errorf("%s: %s, want %s", m.Key, got, wantStatus)
		}
	}
}

// Reasons outlive the run that writes who survives.
func TestSummary_keepsReasons(t *testing.T) {
	dir := t.TempDir()
	old := *record
	*record = true
	t.Cleanup(func() { *record = old })
	all := []mutant{{Key: "a/b.go F: drop x = 1"}, {Key: "a/b.go F: drop y = 1"}, {Key: "a/b.go F: drop z = 1"}}
	v := &verdicts{byKey: map[string]verdict{
		all[0].Key: {Status: survived}, all[1].Key: {Status: "killed short"}, all[2].Key: {Status: unreached},
	}}
	name := filepath.Join(dir, "t.txt")
	before := "# head\n\nsurvived: " + all[0].Key + "\n\tequivalent: nobody reads x\n" +
		"survived: " + all[1].Key + "\n\tgone\n"
	if err := os.WriteFile(name, []byte(before), 0o666); err != nil {
		t.Fatal(err)
	}
	n, err := v.summary(target{name: "t"}, all, dir)
	if err != nil || n != 1 {
		t.Errorf("summary = %d, %v; want 1 without a reason", n, err)
	}
	reasons, err := readReasons(name)
	if err != nil || len(reasons) != 1 || reasons[all[0].Key] != "equivalent: nobody reads x" {
		t.Errorf("reasons = %q, %v", reasons, err)
	}
}

// What nothing reaches has one reason for each function, but for what has one of its own.
func TestSummary_unreached(t *testing.T) {
	dir := t.TempDir()
	old := *record
	*record = true
	t.Cleanup(func() { *record = old })
	all := []mutant{{Key: "a/b.go F: drop x = 1"}, {Key: "a/b.go F: drop y = 1"}, {Key: "a/b.go F: drop z = 1"},
		{Key: "a/b.go G: drop x = 1"}}
	v := &verdicts{byKey: map[string]verdict{}}
	for _, m := range all {
		v.byKey[m.Key] = verdict{Status: unreached}
	}
	name := filepath.Join(dir, "t.txt")
	before := "# head\n\nunreached (3): a/b.go F\n\tno operation\nunreached: " + all[1].Key + "\n\tnobody reads y\n"
	if err := os.WriteFile(name, []byte(before), 0o666); err != nil {
		t.Fatal(err)
	}
	if n, err := v.summary(target{name: "t"}, all, dir); err != nil || n != 1 {
		t.Errorf("summary = %d, %v; want 1 without a reason, that of G", n, err)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	want := "unreached (2): a/b.go F\n\tno operation\n" +
		"unreached: " + all[1].Key + "\n\tnobody reads y\n" +
		"unreached: a/b.go G\n\t?\n"
	if _, got, _ := strings.Cut(string(text), "\n\n"); got != want {
		t.Errorf("the file has\n%s\nwant\n%s", got, want)
	}
}
