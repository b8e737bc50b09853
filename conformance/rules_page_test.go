package conformance_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/synctestcompat"
)

const madeBy = "<!-- Made by: go test ./conformance -run '^TestRules_areDocumented$' -update -->\n\n"

const rulesHead = madeBy + `# Rules

Each rule is one law and one subtest of its name. A rule fails only if a MUST is broken. *Core* rules hold for every
implementation that has the operation: if few of them are judged, the verdict is partial. *Extended* rules concern
features or promises that not every implementation has; without the feature, or the trait, they are skipped.

Two subtests are no rules, though verdicts count them. CANARY comes first and proves that time comes from where the
spec says. TRAITS fails until all choices are made.

| contract | rules | core | |
|---|---|---|---|
`

const rulesTail = `
## What no rule judges

- Laws that compare two runs, such as the same history an hour later: ` + "`properties.Laws`" + ` checks them.
- What a leaky bucket, semaphore or batcher does with a senseless configuration, and a batcher when its clock goes back.
- A batcher whose items weigh more than one.
- A stream whose reader is late, and one whose reader stops, before its context is cancelled.
`

// RULES.md and the page of each contract are made from the rules, the mutants and the golden failures, so that they
// cannot fall behind them. Each rule has a heading of its own, to which its link leads.
func TestRules_areDocumented(t *testing.T) {
	synctestcompat.Require(t) // some mutants are listed only where there are bubbles
	pages := map[string]string{}
	index := rulesHead
	for _, c := range contracts() {
		file, core := c.pkg+"/RULES.md", 0
		for _, r := range c.rules {
			if r.Level == conformance.Core {
				core++
			}
		}
		index += fmt.Sprintf("| [%s](%s) | %d | %d | `%s` |\n", title(c.kind), file, len(c.rules), core, c.pkg)
		pages[file] = rulesPage(t, c)
	}
	pages["RULES.md"] = index + rulesTail
	for name, want := range pages {
		if *update {
			if err := os.WriteFile(name, []byte(want), 0o666); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if got, err := os.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("%s is not what the rules say (%v); run with -update", name, err)
		}
	}
}

// rulesPage has the rules of one contract.
func rulesPage(t *testing.T, c contract) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "%s# Rules of `%s`\n\n[RULES.md](../RULES.md) says what *core* and *extended* mean, and lists the "+
		"other contracts. Below each law: what it needs;\nthe choices with which it is not judged; and the failure "+
		"of an implementation that breaks it, unless that hangs or races.\nIn failures that are not the same each "+
		"time, N stands for a number and T for an instant. What is not judged in some\ncases depends on other "+
		"choices, and on the operations: verdicts -v prints the reason.\n", madeBy, c.pkg)
	told, in := failures(t, c.pkg), forcesOf(t, c)
	for _, r := range c.rules {
		fmt.Fprintf(&b, "\n## %s\n\n%s *%s*\n", r.ID, r.Text, r.Level)
		b.WriteString(detail(r, told, in))
	}
	return b.String()
}

// title is the name of a contract in headings.
func title(kind string) string { return strings.ToUpper(kind[:1]) + kind[1:] }

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

// forces are what choices do to the rules of a contract, by rule.
type forces struct {
	on, off map[string][]string // values with which it is in force, and out of force
	needs   map[string][]string // traits without which it is out of force
}

// forcesOf are those of a contract, with the other traits of any mutant.
func forcesOf(t *testing.T, c contract) forces {
	t.Helper()
	all, tried := forces{map[string][]string{}, map[string][]string{}, map[string][]string{}}, map[string]bool{}
	add := func(to map[string][]string, id string, values ...string) {
		for _, v := range values {
			if !slices.Contains(to[id], v) {
				to[id] = append(to[id], v)
			}
		}
	}
	for _, m := range c.mutants {
		traits := fmt.Sprint(reflect.ValueOf(m.Spec).FieldByName("Traits"))
		if tried[traits] {
			continue
		}
		tried[traits] = true
		m.Spec.Examine(t, inside.Options{Listed: func(tr inside.Trait) {
			for id, values := range tr.On {
				add(all.on, id, values...)
			}
			for id, values := range tr.Off {
				add(all.off, id, values...)
			}
			for _, id := range tr.Needed {
				if tr.Kind != "number" { // an undeclared one is exact
					add(all.needs, id, tr.Name)
				}
			}
		}})
	}
	return all
}

// edges are lists of one, of which the pages say that alone.
var edges = regexp.MustCompile(`\[\]\w+\.Edges\{\w+\.(\w+)\}`)

// inWords are operations that several functions of a contract are, so that their names are words.
var inWords = regexp.MustCompile(`the operation (way|request|reservation|wait that)`)

// detail is what stands below a law: what it needs, the choices that take it out of force, and what breaking it looks
// like.
func detail(r conformance.Rule, told map[string]string, in forces) string {
	var b strings.Builder
	if needs := need(r.Needs, in.needs[r.ID]); needs != "" {
		fmt.Fprintf(&b, "Needs%s.\n", inWords.ReplaceAllString(needs, "a $1"))
	}
	never, sometimes := in.off[r.ID], []string{}
	never = slices.DeleteFunc(slices.Clone(never), func(v string) bool {
		some := slices.Contains(in.on[r.ID], v)
		if some {
			sometimes = append(sometimes, v)
		}
		return some
	})
	for _, not := range []struct {
		begin  string
		values []string
	}{{"Not", never}, {"In some cases not", sometimes}} {
		if len(not.values) > 0 {
			fmt.Fprintf(&b, "%s judged with %s.\n", not.begin,
				edges.ReplaceAllString(strings.Join(not.values, ", "), "$1"))
		}
	}
	if text := told[r.ID]; text != "" {
		fmt.Fprintf(&b, "\n```\n%s\n```\n", shortened(text))
	}
	return b.String()
}

// need is what a rule needs always, and where there is a choice.
func need(always, choices []string) string {
	out, and := "", " "
	if len(always) > 0 {
		out, and = " "+strings.Join(always, ", "), ", and "
	}
	var others []string
	for _, name := range choices {
		if !slices.Contains(always, "the trait "+name) {
			others = append(others, name)
		}
	}
	slices.Sort(others)
	switch len(others) {
	case 0:
		return out
	case 1:
		return out + and + "the trait " + others[0] + " where it applies"
	}
	return out + and + "the traits " + strings.Join(others, ", ") + " where they apply"
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
