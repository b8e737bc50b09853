package floor

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/escapement-go/escapement/conformance"
)

// documented fails the test unless the rules that a report skips for want of a bubble are
// those of the row for Go 1.24 in the tables: in this folder, and in the README of the module.
func documented(t *testing.T, r *conformance.Report) {
	t.Helper()
	var skipped []string
	for _, v := range r.Verdicts {
		if v.Status == conformance.Skip && strings.Contains(v.Reason, "bubble") {
			skipped = append(skipped, v.Rule)
		}
	}
	if r.Bubbles {
		if len(skipped) > 0 {
			t.Errorf("skipped for want of a bubble, in one: %v", skipped)
		}
		return
	}
	slices.Sort(skipped)
	rule := regexp.MustCompile(`\b[A-Z]{1,2}-[A-Z0-9]+\b`)
	for _, name := range []string{"README.md", "../README.md"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		row := regexp.MustCompile(`(?m)^\| 1\.24 \|.*$`).FindString(string(text))
		listed := rule.FindAllString(row, -1)
		slices.Sort(listed)
		if !slices.Equal(listed, skipped) {
			t.Errorf("%s lists %v as skipped on Go 1.24, want %v", name, listed, skipped)
		}
	}
}
