// Package proof shows that the rules of a contract are right: each catches the mutants
// made for it, with the text that is written down, and accuses no correct design. The
// tests of the contracts' packages are calls of it.
package proof

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/prove"
	"github.com/escapement-go/escapement/internal/zoo"
	"github.com/escapement-go/escapement/synctestcompat"
)

var update = flag.Bool("update", false, "rewrite golden files")

// catch is what the suite made of one mutant.
type catch struct {
	mutant, rule, family string
	others               []string
	text                 string // the failure text of its rule
	whole                bool   // the first of its rule: the golden file has all of the text
}

// golden is the text in the golden file: of one mutant for each rule all of it, of the others the schedule, or what was
// found if there is none.
func (c *catch) golden() string {
	if c.whole {
		return c.text
	}
	if quoted, ok := replayed(c.text); ok {
		return fmt.Sprintf("%s: %s%s'\n", c.rule, replays, quoted)
	}
	headline, _, _ := strings.Cut(c.text, "\n")
	return headline + "\n"
}

// Mutants checks that the rule of each mutant catches it, each in a subtest, and compares the texts with
// testdata/failures.golden. One mutant for each rule is run, or all of them if ESCAPEMENT_PROVE=1
// is set, or those that -run names. Each is explored until its rule has found it; with -v the table of who caught
// what is printed. Every rule must have a mutant.
func Mutants(t *testing.T, rules []conformance.Rule, all []zoo.Mutant) {
	t.Helper()
	synctestcompat.Require(t)
	var rows []catch
	caught, shown, steps := map[string]bool{}, map[string]bool{}, recordedSteps(t)
	for _, m := range all {
		again := caught[m.Rule] && !everyMutant() && !named() // one for each rule is enough
		caught[m.Rule] = true
		racing := suite.RaceDetector && m.Chance // the mutant has a data race as well
		if m.Hangs || m.Rule == "X-RACE" {
			continue
		}
		whole := !shown[m.Rule]
		shown[m.Rule] = true
		if racing {
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			if again {
				t.Skip("another mutant of its rule is judged: ESCAPEMENT_PROVE=1 judges all of them")
			}
			short := m
			if n := steps[m.Name]; n > 0 && m.Steps == 0 && !everyMutant() {
				short.Steps = n
			}
			row := try(t, short, optionsOf(short))
			if row.family == "" { // its schedule was made smaller than any that is explored
				row = judge(t, m, optionsOf(m))
			}
			row.whole = whole
			rows = append(rows, row)
		})
	}
	t.Log("\n" + matrix(rows))
	golden(t, "failures.golden", rows)
	for _, r := range rules {
		if !caught[r.ID] {
			t.Errorf("%s has no mutant", r.ID)
		}
	}
}

// named reports whether -run names subtests.
func named() bool { return strings.Contains(flag.Lookup("test.run").Value.String(), "/") }

// InFull checks that the mutants which are shown only a part of all schedules are caught when
// all are explored, by all rules, too. It takes minutes, and runs with ESCAPEMENT_PROVE=all;
// -v prints what else is seen.
func InFull(t *testing.T, all []zoo.Mutant) {
	t.Helper()
	synctestcompat.Require(t)
	prove.Require(t, prove.All)
	for _, m := range all {
		if m.Hangs || m.Steps == 0 && m.Only == nil || suite.RaceDetector && m.Chance {
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			row := judge(t, m, inside.Options{})
			t.Logf("in %s; and by %v\n%s", row.family, row.others, row.text)
		})
	}
}

// optionsOf are how a mutant is explored: until its rule has found it, as far as it needs.
func optionsOf(m zoo.Mutant) inside.Options {
	o := inside.Options{Until: m.Rule, Keep: explored(m, m.Family)}
	if m.Hangs {
		o.FirstLook = soon
	}
	return o
}

// judge runs the suite on a mutant and checks that its rule caught it.
func judge(t *testing.T, m zoo.Mutant, o inside.Options) catch {
	t.Helper()
	out := try(t, m, o)
	if out.family == "" {
		t.Errorf("%s is not caught by %s; others: %v", m.Name, m.Rule, out.others)
	}
	return out
}

// try runs the suite on a mutant. No family means that its rule did not catch it.
func try(t *testing.T, m zoo.Mutant, o inside.Options) catch {
	t.Helper()
	out := catch{mutant: m.Name, rule: m.Rule}
	for _, v := range m.Spec.Examine(t, o).Verdicts {
		switch {
		case v.Status != conformance.Fail:
		case v.Rule == m.Rule:
			out.family, out.text = v.Family, frequencies.ReplaceAllString(v.Text, "(in N of M runs)")
			// What a rule finds is shown by the subtest of the mutant: the rules have none here.
			out.text = strings.ReplaceAll(out.text, "/^"+m.Rule+"$'", "'")
			// On Go 1.24 something else starts the first goroutine of a bubble.
			out.text = strings.ReplaceAll(out.text, "internal/synctest.Run", bubbleRoot)
			if m.Chance { // how many, and when first
				got, want, wants := strings.Cut(out.text, ", want ")
				if out.text = fires.ReplaceAllString(got, "FN at T"); wants {
					out.text += ", want " + fires.ReplaceAllString(want, "others at T")
				}
				out.text = wanted.ReplaceAllString(chances.ReplaceAllString(out.text, "${1}N$2"), "${1}M")
			}
		default:
			out.others = append(out.others, v.Rule)
		}
	}
	return out
}

// bubbleRoot is what starts the first goroutine of a bubble.
const bubbleRoot = "testing/synctest.testingSynctestTest"

// recordedSteps are the numbers of steps in the schedules of the golden texts: longer ones
// show nothing that these do not.
func recordedSteps(t *testing.T) map[string]int {
	text, err := os.ReadFile(filepath.Join("testdata", "failures.golden"))
	if err != nil && !*update {
		t.Fatal(err)
	}
	steps := map[string]int{}
	for _, section := range strings.Split(string(text), "\n## ")[1:] {
		name, _, _ := strings.Cut(section, "\n")
		if quoted, ok := replayed(section); ok {
			if schedule, err := conformance.ParseSchedule(quoted); err == nil {
				steps[name] = len(schedule.Steps)
			}
		}
	}
	return steps
}

// replays is what stands before the schedule in a text that says how to run it again.
const replays = "ESCAPEMENT_SCHEDULE='"

// replayed is the schedule that a text says how to run again, if there is one.
func replayed(text string) (schedule string, ok bool) {
	_, replay, ok := strings.Cut(text, replays)
	schedule, _, _ = strings.Cut(replay, "'")
	return schedule, ok
}

// explored chooses the schedules that a mutant is run with, of one family or with "" of all.
func explored(m zoo.Mutant, only string) func(family string, steps int) bool {
	return func(family string, steps int) bool {
		return (m.Steps == 0 || steps <= m.Steps) && (m.Only == nil || m.Only(family)) && (only == "" || family == only)
	}
}

// chances are the numbers in what rules of concurrent use say.
var chances = regexp.MustCompile(
	`\b(|brought |had |granted |got |and |round |instant |run, )\d+([, ]| of \d+ goroutines)`)

// wanted is what goroutines that ask together should get, which depends on the round.
var wanted = regexp.MustCompile(`(each at one instant (?:were granted N|got N tokens), want )\d+`)

// fires are what came out, and when.
var fires = regexp.MustCompile(`\bnothing\b|\bF\d+ at [0-9.]+(ms|s|)`)

// frequencies say in how many runs a racing schedule broke a rule.
var frequencies = regexp.MustCompile(`\(in \d+ of \d+ runs\)`)

// matrix prints which rule catches which mutant, and where.
func matrix(rows []catch) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-48s %-15s %-16s %s\n", "mutant", "caught by", "first seen in", "and by")
	for _, r := range rows {
		fmt.Fprintf(&b, "%-48s %-15s %-16s %s\n", r.mutant, r.rule, r.family, strings.Join(r.others, " "))
	}
	return b.String()
}

// Hangs is Mutants for those that hang. They are judged as soon as the stacks prove it; what
// they leave behind stays, so that they have a test of their own.
func Hangs(t *testing.T, all []zoo.Mutant) {
	t.Helper()
	synctestcompat.Require(t)
	prove.Require(t, prove.Suite)
	var rows []catch
	seen := map[string]bool{}
	for _, m := range all {
		whole := m.Hangs && !seen[m.Rule]
		if !whole && (!m.Hangs || !everyMutant() && !named()) {
			continue
		}
		seen[m.Rule] = true
		t.Run(m.Name, func(t *testing.T) {
			row := judge(t, m, optionsOf(m))
			row.whole = whole
			rows = append(rows, row)
			firstHang(t, m.Spec)
		})
	}
	golden(t, "hangs.golden", rows)
}

// firstHang checks that the first run of what hangs fails a rule, or asks whether an operation may not be called, or
// wait, where it hangs: no other choice excuses that.
func firstHang(t *testing.T, spec conformance.Spec) {
	t.Helper()
	if given(spec) {
		return
	}
	r := bare(spec).Examine(t, inside.Options{FirstLook: soon, Most: 200})
	excuses := func(d conformance.Decision) bool {
		return d.Trait == "Reentrancy" || d.Trait == "HoldsLockWhileWaiting"
	}
	if !slices.ContainsFunc(r.Verdicts, suite.Failed) && !slices.ContainsFunc(r.Decisions, excuses) {
		t.Errorf("a first run does not tell that it hangs: %s", r)
	}
}

// Unfinished checks that no verdict is given on an implementation whose runs do not come to
// their end: core rules are inconclusive, in words that say why, and none fails. As runs leave goroutines, it has
// a process of its own.
func Unfinished(t *testing.T, spec conformance.Spec, words ...string) {
	t.Helper()
	synctestcompat.Require(t)
	if os.Getenv(process) == "" {
		if out, err := alone(t, t.Name()); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	r := spec.Examine(t, inside.Options{FirstLook: soon})
	open := 0
	for _, v := range r.Verdicts {
		switch {
		case v.Status == conformance.Fail:
			t.Errorf("%s fails: %s", v.Rule, v.Text)
		case v.Status == conformance.Inconclusive && v.Level == conformance.Core:
			open++
			for _, want := range append(words, "could not be judged", "KnownFailing") {
				if !strings.Contains(v.Text, want) {
					t.Errorf("%s lacks %q:\n%s", v.Rule, want, v.Text)
				}
			}
		}
	}
	if open == 0 {
		t.Errorf("no core rule is inconclusive: %s", r)
	}
}

// Asleep is Unfinished for an implementation that holds a lock while it waits, and does not declare it.
func Asleep[S conformance.Spec](t *testing.T, undeclared func(conformance.TimeSource) S) {
	t.Helper()
	for _, source := range []conformance.TimeSource{conformance.Injected, conformance.PackageTime} {
		t.Run(source.String(), func(t *testing.T) {
			Unfinished(t, undeclared(source), "Traits{HoldsLockWhileWaiting: true}")
		})
	}
}

// soon is how long runs that hang are left before their stacks are looked at.
const soon = time.Millisecond

// everyMutant reports whether all mutants of a rule are judged, and not only the first.
func everyMutant() bool { return prove.Reaches(prove.Suite) && !testing.Short() || *update }

// Designs checks that no rule accuses a correct design, and that the core rules can judge it.
// A sixth of them run with one of the ways to take time with which they are listed, without the longest schedules and
// what probes do; with ESCAPEMENT_PROVE=1 these with both, and the others without the longest; then all of them with
// both.
func Designs(t *testing.T, all []zoo.Design) {
	t.Helper()
	chosen := once(all)
	names, nth := map[string]bool{}, 0
	for i, d := range all {
		if names[d.Name] {
			t.Errorf("there are two designs %q: only one of them is run", d.Name)
		}
		names[d.Name] = true
		inFull := chosen[i] && nth%6 == 0
		if chosen[i] {
			nth++
		}
		t.Run(d.Name, func(t *testing.T) {
			level := prove.All
			if inFull {
				level = prove.Suite
			} else {
				prove.Require(t, prove.Suite)
			}
			judgeDesign(t, d.Spec, level)
		})
	}
}

// judgeDesign judges a correct design as a user does if the tests go as far as a level, or else
// checks that no rule accuses it on the shortest schedules of each family.
func judgeDesign(t *testing.T, spec conformance.Spec, level prove.Level) {
	t.Helper()
	defer func() {
		if t.Failed() {
			t.Logf("%+v", spec)
		}
	}()
	if prove.Reaches(level) {
		spec.Run(t)
		return
	}
	r := spec.Examine(t, inside.Options{Most: prove.Number(40, 40, 200, 200), Unprobed: !prove.Reaches(prove.Suite)})
	if r.Count(conformance.Pass) == 0 && synctestcompat.Available {
		t.Errorf("nothing was judged: %s", r)
	}
	for _, v := range r.Verdicts {
		asked := v.Status == conformance.Undecided && v.Text != "" // TRAITS
		open := v.Status == conformance.Inconclusive && v.Level == conformance.Core
		if suite.Failed(v) || asked || open {
			t.Errorf("%s\n%s", v.Rule, v.Text)
		}
	}
}

// once chooses one way to take time for each design, in turn, so that each way is used
// equally often.
func once(all []zoo.Design) (chosen map[int]bool) {
	places := map[string][]int{} // by design
	var names []string
	for i, d := range all {
		name := d.Name
		for _, source := range []conformance.TimeSource{
			conformance.Injected, conformance.PackageTime, conformance.Explicit,
		} {
			name = strings.TrimSuffix(name, " "+source.String())
		}
		if places[name] == nil {
			names = append(names, name)
		}
		places[name] = append(places[name], i)
	}
	chosen = map[int]bool{}
	for n, name := range names {
		chosen[places[name][n%len(places[name])]] = true
	}
	return chosen
}

// Chosen is Designs for designs whose choices are drawn from a constant seed: a few of
// them, more if ESCAPEMENT_PROVE=1 is set, or as many as [prove.Drawn] says.
func Chosen(t *testing.T, draw func(n int) []zoo.Design) {
	t.Helper()
	for _, d := range draw(prove.Draws(1, 1, 6, 100)) {
		t.Run(d.Name, func(t *testing.T) { judgeDesign(t, d.Spec, prove.Suite) })
	}
}

// golden compares the text of each row with a file in testdata.
func golden(t *testing.T, name string, rows []catch) {
	t.Helper()
	if *update && named() {
		t.Fatal("-update writes the texts of all mutants: let -run name none of them")
	}
	var b strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&b, "\n## %s\n\n%s", r.mutant, r.golden())
	}
	path, want := recorded(t, name, b.String())
	// Some mutants may be left out: compare section by section.
	for _, section := range strings.Split(b.String(), "\n## ")[1:] {
		if !strings.Contains(want+"\n## ", "\n## "+section) {
			t.Errorf("%s does not hold this text; if it is right, run with -update:\n## %s", path, section)
		}
	}
}

// recorded is a file in testdata and what it holds: with -update this text, below the command that made it.
func recorded(t *testing.T, name, text string) (path, want string) {
	t.Helper()
	path = filepath.Join("testdata", name)
	if *update {
		text = fmt.Sprintf("# Made by: go test -run '^%s$' -update\n", t.Name()) + text
		if err := cmp.Or(os.MkdirAll("testdata", 0o777), os.WriteFile(path, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	all, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, string(all)
}
