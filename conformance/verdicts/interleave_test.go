package main

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/internal/prove"
	"github.com/escapement-go/escapement/synctestcompat"
)

// firsts are the rules that types of testdata/races break in few orders, and the interleavings that show it first, on
// any machine and release. By chance each of them passes in almost every run.
var firsts = map[string][2]string{
	"loose bucket":    {"X-CONC", "TestConformance_bucket/loose/X-CONC/1:2.1,4.1-b5b5"},
	"loose semaphore": {"CT-NOLOST", "TestConformance_semaphore/loose/CT-NOLOST/1:2.1,7.2,10.1-b909"},
	"loose debouncer": {"DB-QUIET", "TestConformance_debouncer/loose:0.1,1.1,3.1-a675"},
}

// beforeStart finds a time before the schedule's.
var beforeStart = regexp.MustCompile(`\s-\d+[hmsnµ]`)

// interleaved judges types of testdata/races in every order.
func interleaved(t *testing.T, args ...string) (reports []conformance.Report) {
	t.Helper()
	var out, errs bytes.Buffer
	run(append(append([]string{"-interleave", "-json", "-count=1"}, args...), "./testdata/races"), &out, &errs)
	for dec := json.NewDecoder(&out); dec.More(); {
		var r conformance.Report
		if err := dec.Decode(&r); err != nil {
			t.Fatal(err)
		}
		reports = append(reports, r)
	}
	if len(reports) == 0 {
		t.Fatalf("there is no report:\n%s", &errs)
	}
	return reports
}

// What fails in few orders fails in each run, in the same order, and a replay runs that alone.
func TestInterleave(t *testing.T) {
	prove.Require(t, prove.Suite)
	synctestcompat.Require(t)
	reports := interleaved(t)
	if len(reports) != 2*len(firsts) {
		t.Errorf("%d reports, want %d", len(reports), 2*len(firsts))
	}
	for _, r := range reports {
		want, wrong := firsts[r.Name]
		if r.Interleavings == 0 {
			t.Errorf("%s: no orders are explored", r.Name)
		}
		for _, v := range r.Verdicts {
			if v.Status != conformance.Fail && v.Rule != want[0] {
				continue
			}
			if !wrong || v.Rule != want[0] || !strings.Contains(v.Replay, "'"+want[1]+"'") {
				t.Errorf("%s: %s: %s, want %v:\n%s", r.Name, v.Rule, v.Status, want, v.Text)
				continue
			}
			shown := strings.Contains(v.Text, v.Interleaving) && !beforeStart.MatchString(v.Interleaving)
			if v.Interleaving == "" || !shown {
				t.Errorf("%s: its interleaving is %q", r.Name, v.Interleaving)
			}
			replayed(t, r.Test, v)
		}
	}
}

// replayed does what the last line of a failure says.
func replayed(t *testing.T, test string, v conformance.Verdict) {
	t.Helper()
	for _, name := range []string{"ESCAPEMENT_SCHEDULE", "ESCAPEMENT_INTERLEAVE"} {
		_, value, _ := strings.Cut(v.Replay, name+"='")
		value, _, _ = strings.Cut(value, "'")
		t.Setenv(name, value)
	}
	for _, r := range interleaved(t, "-run", "^"+strings.ReplaceAll(test, "/", "$/^")+"$") {
		if again, _ := r.Verdict(v.Rule); again.Text != v.Text || r.Interleavings != 1 {
			t.Errorf("a replay in %d interleavings says\n%s\nwant\n%s", r.Interleavings, again.Text, v.Text)
		}
	}
}

// -with is a flag of the rewriting.
func TestParse_with(t *testing.T) {
	o, err := parse(strings.Fields("-interleave -with a/b -with=c -race ./x"), &bytes.Buffer{})
	if err != nil || strings.Join(o.with, " ") != "-with=a/b -with=c" || !o.interleave {
		t.Errorf("%+v, %v", o, err)
	}
	if code := run([]string{"-with", "a/b", "./x"}, &bytes.Buffer{}, &bytes.Buffer{}); code != usageFailed {
		t.Errorf("-with alone ends with %d, want %d", code, usageFailed)
	}
}
