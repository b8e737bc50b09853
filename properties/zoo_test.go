package properties

import (
	"cmp"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/internal/prove"
	"github.com/escapement-go/escapement/internal/zoo"
	"github.com/escapement-go/escapement/internal/zoo/batch"
	"github.com/escapement-go/escapement/internal/zoo/clock"
	"github.com/escapement-go/escapement/internal/zoo/concurrency"
	"github.com/escapement-go/escapement/internal/zoo/debouncer"
	"github.com/escapement-go/escapement/internal/zoo/leakybucket"
	"github.com/escapement-go/escapement/internal/zoo/limiter"
	"github.com/escapement-go/escapement/internal/zoo/quota"
	"github.com/escapement-go/escapement/internal/zoo/throttle"
	"github.com/escapement-go/escapement/synctestcompat"
)

var update = flag.Bool("update", false, "rewrite MUTANTS.md")

// contracts are the parts of the zoo, by the folder of their rules under conformance.
var contracts = []struct {
	folder  string
	mutants func() []zoo.Mutant
	designs func() []zoo.Design
	chosen  []func(n int) []zoo.Design
}{
	{"debouncertest", debouncer.Mutants, debouncer.Designs, []func(int) []zoo.Design{debouncer.Chosen}},
	{"throttletest", throttle.Mutants, throttle.Designs, []func(int) []zoo.Design{throttle.Chosen}},
	{"limitertest", limiter.Mutants, limiter.Designs, []func(int) []zoo.Design{limiter.Chosen, limiter.ChosenWaits}},
	{"leakybuckettest", leakybucket.Mutants, leakybucket.Designs, []func(int) []zoo.Design{leakybucket.Chosen}},
	{"quotatest", quota.Mutants, quota.Designs, []func(int) []zoo.Design{quota.Chosen}},
	{"concurrencytest", concurrency.Mutants, concurrency.Designs, []func(int) []zoo.Design{concurrency.Chosen}},
	{"batchtest", batch.Mutants, batch.Designs, nil},
	{"clocktest", clock.Mutants, clock.Designs, nil},
}

// drawn are the mutants that can be shown by drawn schedules: not those that hang until a
// watchdog looks, race, or show by chance, nor the same mistake on another clock.
func drawn(all []zoo.Mutant) []zoo.Mutant {
	return slices.DeleteFunc(all, func(m zoo.Mutant) bool {
		chance := m.Chance && m.Rule != "CK-AWAIT" // which other rules find for sure
		return m.Hangs || m.Rule == "X-RACE" || chance || strings.HasSuffix(m.Name, ", on package time")
	})
}

// find is what random schedules found of a mutant: the rule that broke, "" if none did, and the
// schedules that rapid and Smallest came to.
type find struct {
	rule              string
	byRapid, smallest string
}

// look checks a mutant.
func look(t *testing.T, m zoo.Mutant) find {
	t.Helper()
	j := m.Spec.Judge(t)
	l := listen(t, func(l *listener) { CheckWith(l, j, Schedules(j)) })
	if !l.failed {
		return find{}
	}
	var f find
	log, better, _ := strings.Cut(l.log.String(), "a smaller schedule breaks the rule as well:")
	if found := regexp.MustCompile(`(?m)^\s*([A-Z]+-[A-Z0-9]+): `).FindStringSubmatch(log); found != nil {
		f.rule = found[1]
	}
	replay := regexp.MustCompile(`ESCAPEMENT_SCHEDULE='([^']*)' go test`)
	for _, found := range replay.FindAllStringSubmatch(log, -1) {
		f.byRapid = found[1]
	}
	f.smallest = f.byRapid
	if found := replay.FindStringSubmatch(better); found != nil {
		f.smallest = found[1]
	}
	return f
}

// Which of the suite's mutants properties find too, and how small what they come to is; -v
// prints the tables. Unless the suite is to be proved it is one of each contract in which one is
// found and made smaller within a second. That those which are listed in notDrawn are not found takes all draws of
// each, and is shown by the long form only.
func TestMutants(t *testing.T) {
	synctestcompat.Require(t)
	set(t, "rapid.checks", "3000")
	for _, c := range contracts {
		every := prove.Number(1000, 1000, 12, 1)
		if c.folder == "concurrencytest" && every == 12 { // one takes half a minute, most of it to be made smaller
			every = 1000
		}
		if !prove.Reaches(prove.Suite) && !slices.Contains([]string{"throttletest", "leakybuckettest", "concurrencytest"}, c.folder) {
			continue
		}
		t.Run(c.folder, func(t *testing.T) {
			tab, explored := newTable(), explored(t, c.folder)
			mutants := drawn(c.mutants())
			if every > 1 {
				mutants = slices.DeleteFunc(mutants, func(m zoo.Mutant) bool { return whyNot(m) != "" })
				slices.SortFunc(mutants, func(a, b zoo.Mutant) int { return cmp.Compare(mark(a.Name), mark(b.Name)) })
				mutants = mutants[:len(mutants)/every+1]
			}
			for _, m := range mutants {
				tab.add(t, m, look(t, m), explored[m.Name])
			}
			t.Log("\n" + tab.String())
			if prove.Reaches(prove.All) && *update {
				record(t, c.folder, tab)
			}
		})
	}
}

// mark tells mutants apart by their names: which ones a sample takes does not change with those that come and go.
func mark(name string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(name))
	return h.Sum32()
}

// record puts the table of a contract into the file that has those of all.
func record(t *testing.T, folder string, tab *table) {
	t.Helper()
	name := filepath.Join("testdata", "MUTANTS.md")
	old, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string]string{folder: tab.summary()}
	for _, part := range strings.Split(string(old), "\n## ")[1:] {
		if of, text, _ := strings.Cut(part, "\n\n"); of != folder {
			parts[of] = text
		}
	}
	text := mutantsHead
	for _, c := range contracts {
		if part, ok := parts[c.folder]; ok {
			text += "\n## " + c.folder + "\n\n" + part
		}
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// explored are the smallest schedules that the suite finds, by mutant.
func explored(t *testing.T, folder string) map[string]string {
	t.Helper()
	golden, err := os.ReadFile(filepath.Join("..", "conformance", folder, "testdata", "failures.golden"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, section := range strings.Split(string(golden), "\n## ")[1:] {
		name, text, _ := strings.Cut(section, "\n")
		if found := regexp.MustCompile(`ESCAPEMENT_SCHEDULE='([^']*)'`).FindStringSubmatch(text); found != nil {
			out[name] = found[1]
		}
	}
	return out
}

// table says what found which mutant.
type table struct {
	rows               strings.Builder
	all                int
	found, alike, same int // all that are found, by their own rule, in as few steps
}

func newTable() *table {
	t := &table{}
	t.row("mutant", "conformance", "properties", "explorer", "rapid", "Smallest")
	return t
}

func (tab *table) row(mutant, rule, found, explorer, byRapid, smallest string) {
	line := fmt.Sprintf("%-44s %-13s %-13s %-8s %-6s %s", mutant, rule, found, explorer, byRapid, smallest)
	fmt.Fprintln(&tab.rows, strings.TrimRight(line, " "))
}

// add checks that a mutant is found, or is listed in notDrawn.
func (tab *table) add(t *testing.T, m zoo.Mutant, f find, explorer string) {
	t.Helper()
	tab.all++
	why := whyNot(m)
	switch {
	case f.rule == "" && why == "":
		t.Errorf("%s (%s) is not found", m.Name, m.Rule)
	case f.rule != "" && why != "":
		t.Errorf("%s is found (%s), although it is listed: %s", m.Name, f.rule, why)
	}
	if f.rule == "" {
		tab.row(m.Name, m.Rule, "-", why, "", "")
		return
	}
	tab.found++
	byRapid, smallest := steps(t, f.byRapid), fmt.Sprint(steps(t, f.smallest))
	if explorer == "" || f.rule != m.Rule {
		tab.row(m.Name, m.Rule, f.rule, "-", fmt.Sprint(byRapid), smallest)
		return
	}
	tab.alike++
	if steps(t, f.smallest) == steps(t, explorer) {
		tab.same++
	}
	if f.smallest != explorer {
		smallest += "  " + f.smallest + " | explorer: " + explorer
	}
	tab.row(m.Name, m.Rule, f.rule, fmt.Sprint(steps(t, explorer)), fmt.Sprint(byRapid), smallest)
}

func steps(t *testing.T, text string) int {
	t.Helper()
	s, err := conformance.ParseSchedule(text)
	if err != nil {
		t.Errorf("%q: %v", text, err)
	}
	return len(s.Steps)
}

// String is the table and what it comes to.
func (tab *table) String() string {
	return fmt.Sprintf("```\n%s```\n\n%s", tab.rows.String(), tab.summary())
}

func (tab *table) summary() string {
	return fmt.Sprintf("%d of %d found; %d by the rule that is made for them, of which %d came to as few\n"+
		"steps as the explorer.\n", tab.found, tab.all, tab.alike, tab.same)
}

// designs are correct implementations of other designs than those of this module: a share of
// them, a third if the suite is to be proved, and all of them in the long form.
func designs(share int) []zoo.Design {
	var all []zoo.Design
	for _, c := range contracts {
		all = append(all, c.designs()...)
		for _, chosen := range c.chosen {
			all = append(all, chosen(prove.Number(1, 1, 4, 40))...)
		}
	}
	switch {
	case testing.Short():
	case prove.Reaches(prove.All):
		share = 1
	case prove.Reaches(prove.Suite):
		share = 3
	}
	var some []zoo.Design
	for i := 0; i < len(all); i += share {
		some = append(some, all[i])
	}
	return some
}

// Correct implementations of other designs keep their rules on random schedules too.
func TestDesigns(t *testing.T) {
	synctestcompat.Require(t)
	prove.SameSeed(t)
	for _, d := range designs(16) {
		t.Run(d.Name, func(t *testing.T) { Check(t, d.Spec) })
	}
}

// They keep the laws of two runs as well.
func TestDesigns_laws(t *testing.T) {
	synctestcompat.Require(t)
	prove.SameSeed(t)
	for _, d := range designs(24) {
		t.Run(d.Name, func(t *testing.T) {
			if strings.HasPrefix(d.Name, "zoo: so many per second") {
				t.Skip("its constructor takes whole numbers per second only, and X-SCALE asks for other rates")
			}
			Laws(t, d.Spec)
		})
	}
}

// mutantsHead explains the tables.
const mutantsHead = `<!-- Made by: ESCAPEMENT_PROVE=all go test -timeout 0 ./properties -run '^TestMutants$' -update, which takes over an hour;
     with -run '^TestMutants$/quotatest' only that part is made again. -->

# What finds which mutant

Every rule of the suite has a mutant that is one statement away from a correct implementation. The suite finds each
of them by its own rule (TestMutants of each contract shows it). Below is what 3000 random schedules find, from one
fixed seed; -v prints the tables. What they do not find stands in notdrawn_test.go, each with its reason.

The laws of two runs have mutants of their own, in laws_test.go. What only the suite finds shows when goroutines call
at once or in what package time leaves open. Mutants that hang until a watchdog looks, that only the
race detector sees, or that show by chance are left out. No mutant here is found by properties only, because the
mutants were made for the suite; what properties found in honest code was in histories of five steps and more.
`
