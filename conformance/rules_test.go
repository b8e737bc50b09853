package conformance

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// RULES.md is made from the rules, so that it cannot fall behind them.
func TestRules_areDocumented(t *testing.T) {
	var b strings.Builder
	b.WriteString("<!-- Made by: go test ./conformance -run '^TestRules_areDocumented$' -update -->\n\n# Rules\n\n" +
		"One rule is one law, and one subtest of that name. A rule fails only on a MUST. *Core* rules hold for every\n" +
		"implementation that has the operation; *extended* ones for those that declare the trait.\n" +
		"`CANARY` comes first and proves that time is taken from where the spec says; `TRAITS` fails while a choice is undeclared.\n")
	for _, contract := range []string{"debouncer", "throttle", "limiter", "leaky bucket", "quota", "clock"} {
		fmt.Fprintf(&b, "\n## %s\n", strings.ToUpper(contract[:1])+contract[1:])
		for _, r := range Rules(contract) {
			fmt.Fprintf(&b, "\n### %s\n\n%s *%s*\n", r.ID, r.Text, r.Level)
		}
	}
	if *update {
		if err := os.WriteFile("RULES.md", []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, err := os.ReadFile("RULES.md"); err != nil || string(got) != b.String() {
		t.Errorf("RULES.md is not what the rules say (%v); run with -update", err)
	}
}

// A rule's ID is a subtest's name: it must be selectable with -run, and unique in
// its contract.
func TestRules_haveSelectableNames(t *testing.T) {
	name := regexp.MustCompile(`^[A-Z]+-[A-Z0-9]+$`)
	for _, contract := range []string{"debouncer", "throttle", "limiter", "leaky bucket", "quota", "clock"} {
		seen := map[string]bool{"CANARY": true, "TRAITS": true}
		for _, r := range Rules(contract) {
			if !name.MatchString(r.ID) || seen[r.ID] {
				t.Errorf("%s: the ID %q is not unique or not selectable", contract, r.ID)
			}
			seen[r.ID] = true
			if !strings.Contains(r.Text, "MUST") || !strings.HasSuffix(r.Text, ".") {
				t.Errorf("%s: %q does not say what an implementation MUST do", r.ID, r.Text)
			}
		}
	}
}

// What a rule is about is said only of rules that there are.
func TestConcerns_nameRules(t *testing.T) {
	known := map[string]bool{}
	for _, r := range slices.Concat(Rules("debouncer"), Rules("throttle"), Rules("limiter"), Rules("leaky bucket"), Rules("quota"), Rules("clock")) {
		known[r.ID] = true
	}
	for id := range concerns {
		if !known[id] {
			t.Errorf("concerns names %q, which is no rule", id)
		}
	}
}
