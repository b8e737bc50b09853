package checks_test

import (
	"path/filepath"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/escapement-go/escapement/sleeplint/checks"
)

// all is every analyzer as one, so that the packages are loaded once, and each is tried on
// what the others are for.
var all = &analysis.Analyzer{
	Name:     "all",
	Doc:      "all analyzers",
	Requires: required(),
	Run: func(pass *analysis.Pass) (any, error) {
		for _, a := range checks.All() {
			if _, err := a.Run(pass); err != nil {
				return nil, err
			}
		}
		return nil, nil
	},
}

func required() (all []*analysis.Analyzer) {
	for _, a := range checks.All() {
		all = append(all, a.Requires...)
	}
	return all
}

func TestAll_reportsAndFixes(t *testing.T) {
	analysistest.RunWithSuggestedFixes(t, filepath.Join(analysistest.TestData(), "go124"), all, "./...")
}

// A module's name need not have a dot, as those outside of the standard library mostly do.
func TestAll_moduleWithoutDot(t *testing.T) {
	analysistest.Run(t, filepath.Join(analysistest.TestData(), "plain"), all, "./...")
}

func TestAll_valid(t *testing.T) {
	if err := analysis.Validate(checks.All()); err != nil {
		t.Error(err)
	}
}
