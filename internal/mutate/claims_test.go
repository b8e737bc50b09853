package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

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
