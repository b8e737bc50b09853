package conformance_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/internal/zoo"
	"github.com/escapement-go/escapement/synctestcompat"
)

const rulesHead = `<!-- Made by: go test ./conformance -run '^TestRules_areDocumented$' -update -->

# Rules

One rule is one law, and one subtest of that name. A rule fails only if a MUST is broken. *Core* rules hold for every
implementation that has the operation; *extended* ones for those that declare the trait. The subtest CANARY comes first
and proves that time is taken from where the spec says; TRAITS fails while a choice is undeclared. With each rule stands
what one of the mistakes that it catches is told, if one neither hangs nor races, and the names of all of them.
`

// RULES.md is made from the rules, the mutants and the golden failures, so that it cannot
// fall behind them. Each rule has a heading of its own, to which its link leads.
func TestRules_areDocumented(t *testing.T) {
	synctestcompat.Require(t) // some mutants are listed only where there are bubbles
	var b strings.Builder
	b.WriteString(rulesHead)
	for _, c := range contracts() {
		fmt.Fprintf(&b, "\n**%s** (`%s`): %s\n", title(c.kind), c.pkg, index(c))
	}
	for _, c := range contracts() {
		told := failures(t, c.pkg)
		fmt.Fprintf(&b, "\n## %s\n\nPackage `%s`.\n", title(c.kind), c.pkg)
		for _, r := range c.rules {
			fmt.Fprintf(&b, "\n### %s: %s\n\n%s *%s*\n", title(c.kind), r.ID, r.Text, r.Level)
			b.WriteString(detail(r, c.mutants, told))
		}
	}
	b.WriteString("\n## Laws without a rule of that name\n\n")
	for _, law := range lawsElsewhere {
		fmt.Fprintf(&b, "- **%s**: %s\n", law.id, law.where)
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

// title is the name of a contract in headings.
func title(kind string) string { return strings.ToUpper(kind[:1]) + kind[1:] }

// index lists the rules of a contract, each with a link to its heading.
func index(c contract) string {
	var links []string
	for _, r := range c.rules {
		_, anchor, _ := strings.Cut(r.Link, "#")
		links = append(links, fmt.Sprintf("[%s](#%s)", r.ID, anchor))
	}
	return strings.Join(links, ", ")
}

// failures are the golden failures of a contract, by rule: the first of each.
func failures(t *testing.T, pkg string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(pkg, "testdata", "failures.golden"))
	if err != nil {
		t.Fatal(err)
	}
	first := map[string]string{}
	for _, section := range strings.Split(string(text), "\n## ")[1:] {
		_, told, _ := strings.Cut(section, "\n\n")
		if id, _, ok := strings.Cut(told, ":"); ok && first[id] == "" {
			first[id] = strings.TrimSpace(told)
		}
	}
	return first
}

// detail is what stands below a law: what it needs, what breaking it looks like, and which
// mistakes it catches.
func detail(r conformance.Rule, mutants []zoo.Mutant, told map[string]string) string {
	var b strings.Builder
	if len(r.Needs) > 0 {
		fmt.Fprintf(&b, "Needs %s.\n", strings.Join(r.Needs, ", "))
	}
	if text := told[r.ID]; text != "" {
		fmt.Fprintf(&b, "\n```\n%s\n```\n", shortened(text))
	}
	var names []string
	for _, m := range mutants {
		if m.Rule == r.ID {
			names = append(names, m.Name)
		}
	}
	if len(names) > 0 {
		fmt.Fprintf(&b, "\nCatches: %s.\n", strings.Join(names, "; "))
	}
	return b.String()
}

// shortened is a failure without its law, which stands above it, and with nothing but the
// schedule of its replay line.
func shortened(text string) string {
	lines := strings.Split(text, "\n")
	var out []string
	for i, line := range lines {
		if i == 1 {
			continue
		}
		if replay, ok := strings.CutPrefix(line, "replay: "); ok {
			_, schedule, _ := strings.Cut(replay, "ESCAPEMENT_SCHEDULE='")
			schedule, _, ok = strings.Cut(schedule, "'")
			if line = schedule; !ok {
				continue
			}
		}
		out = append(out, line)
	}
	return strings.TrimSpace(strings.Join(out, "\n"))
}
