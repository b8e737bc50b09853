package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/inside"
)

// Where names are equal, the page says what differs; what nothing is counted of has no column, and 0 is not printed.
func TestNewSection(t *testing.T) {
	injected, packageTime, other, again := bad, bad, good, good
	packageTime.Time = "PackageTime"
	packageTime.Verdicts = []conformance.Verdict{
		{Rule: "DB-ONE", Law: "A burst MUST fire once.", Status: conformance.Pass},
	}
	again.Test = "TestConformance_again"
	s := newSection([]*report{
		{Report: injected}, {Report: packageTime}, {Report: other}, {Report: again},
	}, false, &slugs{})
	var names, counts []string
	for _, in := range s.Impls {
		names = append(names, in.Name)
		counts = append(counts, strings.Join(in.Counts, "|"))
	}
	want := []string{"bad (Injected)", "bad (PackageTime)", "good (Injected, TestConformance)",
		"good (Injected, TestConformance_again)"}
	if !slices.Equal(names, want) {
		t.Errorf("names %q, want %q", names, want)
	}
	if want := []string{"|1", "1|", "1|", "1|"}; !slices.Equal(counts, want) || len(s.Counts) != 2 {
		t.Errorf("counts %q of %q, want %q of pass and FAIL", counts, s.Counts, want)
	}
	if r := s.Rules[0]; r.ID != "debouncer-rule-db-one" || r.Law != "A burst MUST fire once." {
		t.Errorf("the column is %+v, want the law of the rule and a place to link to", r)
	}
}

// Of requests at one instant each has its answer below it.
func TestDraw_answersBelowRequests(t *testing.T) {
	s, err := conformance.ParseSchedule("rate=1/1s burst=1 | allow 1 @0 | allow 2 @0")
	if err != nil {
		t.Fatal(err)
	}
	p := &inside.Picture{
		Lanes: []inside.Lane{
			{Name: "allow", Marks: []inside.LaneMark{{Text: "1"}, {Text: "2"}}},
			{Name: "want", Marks: []inside.LaneMark{{Text: "y"}, {Text: "n"}}},
			{Name: "got", Marks: []inside.LaneMark{{Text: "yes, all"}, {Text: "y"}}},
		},
		Spans: []inside.Span{
			{Lane: "allow", Text: "1", First: 1, Last: 2}, {Lane: "allow", Text: "2", First: 3, Last: 4},
		},
	}
	places := map[string][]string{}
	mark := regexp.MustCompile(`<text class="mark (\w+)[^"]*" x="([^"]*)"`)
	for _, m := range mark.FindAllStringSubmatch(draw(p, s, "id", "title", "words"), -1) {
		places[m[1]] = append(places[m[1]], m[2])
	}
	if x := places["op"]; len(x) != 2 || !slices.Equal(places["want"], x) || !slices.Equal(places["got"], x) {
		t.Errorf("requests at %v, what was wanted at %v, what came at %v", x, places["want"], places["got"])
	}
}

// With a pattern of subtests nothing is said of the rules that it leaves out; one of tests leaves out none.
func TestReport_only(t *testing.T) {
	for run, want := range map[string]string{
		"^TestA$": "DB-ONE X-LEAK", "^TestA$/^b$": "DB-ONE X-LEAK", "^TestA$/^b$/^X-": "X-LEAK",
		"^TestA$/b/(": "DB-ONE X-LEAK",
	} {
		r := &report{}
		r.Test = "TestA/b"
		r.Verdicts = []conformance.Verdict{{Rule: "DB-ONE"}, {Rule: "X-LEAK"}}
		r.Causes = []conformance.Cause{{Rules: []string{"DB-ONE"}}, {Rules: []string{"X-LEAK"}}}
		r.only(run)
		var rules, causes []string
		for _, v := range r.Verdicts {
			rules = append(rules, v.Rule)
		}
		for _, c := range r.Causes {
			causes = append(causes, c.Rules...)
		}
		if got := strings.Join(rules, " "); got != want || strings.Join(causes, " ") != want {
			t.Errorf("-run %s leaves %s, and of causes %v; want %s", run, got, causes, want)
		}
	}
}
