package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/concurrencytest"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/internal/zoo"
	"github.com/escapement-go/escapement/internal/zoo/concurrency"
	"github.com/escapement-go/escapement/internal/zoo/debouncer"
	"github.com/escapement-go/escapement/internal/zoo/limiter"
	"github.com/escapement-go/escapement/internal/zoo/throttle"
	"github.com/escapement-go/escapement/synctestcompat"
)

var update = flag.Bool("update", false, "judge again, and rewrite what is in testdata")

// chosen are the implementations of the golden page: mistakes whose pictures differ.
var chosen = []struct {
	mutants []zoo.Mutant
	names   []string
}{
	{debouncer.Mutants(), []string{"not reset by later events", "callbacks overlap"}},
	{throttle.Mutants(), []string{"errors wait their turn"}},
	{limiter.Mutants(), []string{"refills too fast"}},
	{concurrency.Mutants(), []string{"lets one more run"}},
}

// The reports in testdata, from which the golden page and tables are made, are written with
// -update only: what the suite finds is the matter of other tests.
func TestReports_update(t *testing.T) {
	if !*update {
		t.Skip("only with -update")
	}
	synctestcompat.Require(t)
	var lines bytes.Buffer
	for _, c := range chosen {
		for _, m := range c.mutants {
			if !slices.Contains(c.names, m.Name) {
				continue
			}
			lines.Write(reported(t, m.Spec, m.Name))
		}
	}
	undeclared := design(t, "zoo channel Injected")
	undeclared.Traits = concurrencytest.Traits{}
	lines.Write(reported(t, undeclared, "declares nothing"))
	if err := os.WriteFile(filepath.Join("testdata", "reports.jsonl"), lines.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}

// reported is a line of a report.
func reported(t *testing.T, spec conformance.Spec, name string) []byte {
	t.Helper()
	r := spec.Examine(t, inside.Options{Name: name})
	if filepath.Base(r.File) != "golden_test.go" || r.Line == 0 {
		t.Errorf("the report of %s was made at %s:%d, want a line of this file", name, r.File, r.Line)
	}
	r.Package, r.Test, r.File, r.Line = "example.com/mine", "TestConformance", "/src/mine/mine_test.go", 12
	line, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return append(line, '\n')
}

// design is a correct design.
func design(t *testing.T, name string) concurrencytest.Spec {
	t.Helper()
	for _, d := range concurrency.Designs() {
		if d.Name == name {
			return d.Spec.(concurrencytest.Spec)
		}
	}
	t.Fatalf("there is no design %q", name)
	return concurrencytest.Spec{}
}

// golden compares a text with a file, or writes it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not what is made now (%v); run with -update, and read the difference", path, err)
	}
}

// saved are the reports in testdata.
func saved(t *testing.T) []*report {
	t.Helper()
	f := folder{path: "testdata"}
	all := f.news()
	if len(all) < 5 {
		t.Fatalf("%d reports in testdata", len(all))
	}
	return ordered(all)
}

func TestTables_golden(t *testing.T) {
	for name, width := range map[string]int{"tables-80.txt": 80, "tables-160.txt": 160} {
		var b bytes.Buffer
		all := saved(t)
		printAll(&b, all, &options{}, screen{width: func() int { return width }})
		golden(t, name, b.Bytes())
	}
}

// Rules that fail by one cause are told once, what could not be judged comes behind them, with its place, and what is
// skipped last.
func TestPrintFailures_byCause(t *testing.T) {
	r := &report{Report: conformance.Report{Name: "mine", Contract: "debouncer", Time: "Injected"}}
	for _, rule := range []string{"DB-KEY", "DB-ONE", "X-ISO"} {
		r.Verdicts = append(r.Verdicts, conformance.Verdict{Rule: rule, Text: rule + ": told\n"})
	}
	r.Verdicts = append(r.Verdicts, conformance.Verdict{Rule: "X-CONC", Text: "X-CONC: could not be judged\n"})
	r.Causes = []conformance.Cause{
		{Status: conformance.Fail, Rules: []string{"DB-ONE", "DB-KEY", "X-ISO"}},
		{Status: conformance.Inconclusive, Rules: []string{"X-CONC", "X-LEAK"}, Place: "mine.Call at mine.go:7"},
	}
	r.Verdicts = append(r.Verdicts, conformance.Verdict{Rule: "X-RACE", Status: conformance.Skip, Reason: "no -race"})
	var b bytes.Buffer
	printAll(&b, []*report{r}, &options{verbose: true}, screen{width: func() int { return 80 }})
	_, told, _ := strings.Cut(b.String(), "===")
	want := " mine (debouncer, Injected)\n\nDB-ONE: told\nbreaks too: DB-KEY, X-ISO\n" +
		"\nX-CONC: could not be judged\nit hangs in mine.Call at mine.go:7\nleft open too: X-LEAK\n" +
		"\nskipped by mine:\n  no -race: X-RACE\n"
	if told != want {
		t.Errorf("got\n%swant\n%s", told, want)
	}
}

// Tables are never wider than the screen; what the suite says is printed as it is.
func TestTables_fit(t *testing.T) {
	for _, width := range []int{60, 80, 160} {
		for _, reports := range byContract(saved(t)) {
			var b bytes.Buffer
			printTable(&b, reports, screen{width: func() int { return width }})
			for _, line := range strings.Split(b.String(), "\n") {
				if n := len([]rune(line)); n > width {
					t.Errorf("a line of %d columns on a screen of %d: %s", n, width, line)
				}
			}
		}
	}
}

// The suite puts into a failing verdict what a page is made of.
func TestVerdicts_holdWhatPagesShow(t *testing.T) {
	i := slices.IndexFunc(debouncer.Mutants(), func(m zoo.Mutant) bool { return m.Name == "not reset by later events" })
	m := debouncer.Mutants()[i]
	r := m.Spec.Examine(t, inside.Options{Until: m.Rule})
	v, _ := r.Verdict(m.Rule)
	if v.Status != conformance.Fail || v.Law == "" || v.Because == "" || v.Example == "" || v.Picture == nil {
		t.Fatalf("%s: %+v", m.Rule, v)
	}
	if filepath.Base(r.File) != "golden_test.go" || r.Line == 0 {
		t.Errorf("the report was made at %s:%d, want a line of this file", r.File, r.Line)
	}
	if r.Test != t.Name() || !strings.HasSuffix(r.Package, "/conformance/verdicts") {
		t.Errorf("the report is of %s of %s", r.Test, r.Package)
	}
	if !strings.HasPrefix(v.Replay, "ESCAPEMENT_SCHEDULE='"+v.Schedule+"' go test ") {
		t.Errorf("replay: %s", v.Replay)
	}
	if len(v.Picture.Lanes) < 3 || len(v.Picture.Spans) < 3 {
		t.Errorf("%d lanes and %d spans, want those of call, want and got", len(v.Picture.Lanes), len(v.Picture.Spans))
	}
}
