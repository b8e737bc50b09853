//go:build go1.25

package checks_test

import (
	"path/filepath"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/escapement-go/escapement/sleeplint/checks"
)

// Before Go 1.25 there is no synctest.Test, and no fix that writes it.
func TestAll_fixesThatNeedGo125(t *testing.T) {
	analysistest.RunWithSuggestedFixes(t, filepath.Join(analysistest.TestData(), "go125"), all, "./certain", "./wait")
}

func TestAll_fixesToBeTriedOut(t *testing.T) {
	if err := checks.Sleep.Flags.Set("bubble", "true"); err != nil {
		t.Fatal(err)
	}
	defer checks.Sleep.Flags.Set("bubble", "false")
	analysistest.RunWithSuggestedFixes(t, filepath.Join(analysistest.TestData(), "go125"), all, "./leaf")
}
