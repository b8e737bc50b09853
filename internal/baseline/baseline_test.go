package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func sample() report {
	return report{
		Name: "zoo", Contract: "clock", Time: "Injected", Bubbles: true, Schedules: 30, Runs: 40, Seconds: 0.5,
		Verdicts: []verdict{
			{Rule: "CANARY", Level: "core", Status: "pass"},
			{Rule: "CK-NOW", Level: "core", Status: "pass", Judged: 7},
			{Rule: "CK-STOP", Level: "core", Status: "pass", Judged: 7},
			{Rule: "CK-CHAN", Level: "extended", Status: "skip", Reason: "lacks it:\nAfterFunc"},
			{Rule: "CK-ZERO", Level: "core", Status: "fail", Judged: 3, Family: "programs", Schedule: "timer 1 0 @0", Reason: "fired twice",
				Text: "CK-ZERO: fired twice\n\nreplay: ESCAPEMENT_SCHEDULE='timer 1 0 @0' go test -run '^TestClock$/^CK-ZERO$' example.com/a\n"},
		},
	}
}

func resultsOf(t *testing.T, full bool, reports ...report) results {
	t.Helper()
	rs := results{}
	for _, r := range reports {
		if err := rs.add("mutant", r, full); err != nil {
			t.Fatal(err)
		}
	}
	return rs
}

func TestResults_areReadAsWritten(t *testing.T) {
	rs := resultsOf(t, false, sample())
	text := rs.print()
	if line := "\tCANARY CK-NOW CK-STOP: pass\n"; !strings.Contains(string(text), line) {
		t.Errorf("print() does not fold into %q:\n%s", line, text)
	}
	got, err := parse(text)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if n := compare(&out, rs, got); n != 0 || out.Len() != 0 {
		t.Errorf("compare of what was written and read = %d, want 0:\n%s", n, &out)
	}
}

// What is on record is neither a count nor a text.
func TestResults_onRecord(t *testing.T) {
	changed := sample()
	changed.Runs, changed.Verdicts[1].Judged, changed.Verdicts[3].Reason = 50, 8, "declared"
	changed.Verdicts[4].Text += "more"
	var out strings.Builder
	if n := compare(&out, resultsOf(t, false, sample()), resultsOf(t, false, changed)); n != 0 {
		t.Errorf("compare of other counts and texts = %d, want 0:\n%s", n, &out)
	}
	changed.Verdicts[4].Schedule = "timer 1 1s @0"
	out.Reset()
	compare(&out, resultsOf(t, false, sample()), resultsOf(t, false, changed))
	if want := "is: fail [timer 1 1s @0]\n"; !strings.Contains(out.String(), want) {
		t.Errorf("compare says\n%s\nwant %q", &out, want)
	}
}

func TestCompare_saysWhatDiffers(t *testing.T) {
	for _, k := range []struct {
		change func(r *report)
		want   []string
	}{
		{func(r *report) { r.Runs++ }, []string{"explored", "was: 30 schedules, 40 runs, 0 left out", "is: 30 schedules, 41 runs, 0 left out"}},
		{func(r *report) { r.Partial = "2 of 9 core rules ran" }, []string{"partial", "was: nothing", "is: 2 of 9"}},
		{func(r *report) { r.Verdicts[1].Judged = 8 }, []string{"mutant|clock|zoo|Injected\n", "CK-NOW", "was: pass 7", "is: pass 8"}},
		{func(r *report) { r.Verdicts[2].Status = "inconclusive" }, []string{"CK-STOP", "is: inconclusive 7"}},
		{func(r *report) { r.Verdicts[1].Level = "extended" }, []string{"CK-NOW", "is: extended pass 7"}},
		{func(r *report) { r.Verdicts[3].Reason = "declared" }, []string{"CK-CHAN", `was: extended skip lacks it:\nAfterFunc`}},
		{func(r *report) { r.Verdicts[4].Schedule = "timer 1 1s @0" }, []string{"CK-ZERO", "[timer 1 1s @0]"}},
		{func(r *report) { r.Verdicts[4].Text += "more" }, []string{"CK-ZERO", "was: fail 3 in programs #"}},
		{func(r *report) { r.Verdicts = r.Verdicts[:4] }, []string{"CK-ZERO", "is: nothing"}},
		{func(r *report) { r.Name = "other" }, []string{"zoo|Injected  is on record, but has not run", "other|Injected  is not on record"}},
	} {
		r := sample()
		k.change(&r)
		var out strings.Builder
		if n := compare(&out, resultsOf(t, true, sample()), resultsOf(t, true, r)); n == 0 {
			t.Errorf("compare finds nothing, want %q", k.want)
		}
		for _, want := range k.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("compare says\n%s\nwant %q", &out, want)
			}
		}
	}
}

// Which test of which package runs an implementation, how long it takes and the order of
// the rules is no result.
func TestCompare_looksThroughMoves(t *testing.T) {
	moved := sample()
	moved.Seconds = 9
	slices.Reverse(moved.Verdicts)
	moved.Verdicts[0].Text = strings.ReplaceAll(moved.Verdicts[0].Text, "^TestClock$/^CK-ZERO$' example.com/a", "^TestOther$/^it's$' example.com/b/c")
	var out strings.Builder
	if n := compare(&out, resultsOf(t, true, sample()), resultsOf(t, true, moved)); n != 0 {
		t.Errorf("compare after a move = %d, want 0:\n%s", n, &out)
	}
}

func TestResults_wantNamesOfTheirOwn(t *testing.T) {
	rs := resultsOf(t, true, sample(), sample()) // the same twice is no matter
	other := sample()
	other.Runs++
	if err := rs.add("mutant", other, true); err == nil {
		t.Error("two results of one name are taken")
	}
}

// Each contract is on record in each set, in a file of reports of its own.
func TestPlan_isWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range plan {
		if seen[r.file()] {
			t.Errorf("%s is written twice", r.file())
		}
		seen[r.file()] = true
	}
	for _, contract := range contractsOf(plan) {
		for _, set := range allSets {
			if !slices.ContainsFunc(plan, func(r run) bool { return r.set == set && r.contract == contract }) {
				t.Errorf("%s of %s is not in the plan", set, contract)
			}
		}
	}
}

func TestChances_haveReasons(t *testing.T) {
	for _, c := range chances {
		if c.why == "" || c.keys == nil || c.rules == nil || (c.numbers == nil) != c.caught || c.numbers != nil && c.numbers.NumSubexp() == 0 {
			t.Errorf("%+v: want implementations, rules, numbers in groups or caught, and a reason", c)
		}
	}
}

// How often a sampled finding was seen is no result; that it was seen is one.
func TestChances_leaveTheRest(t *testing.T) {
	reported := func(source, text string) report {
		r := sample()
		r.Contract, r.Time, r.Verdicts[4].Rule = "debouncer", source, "DB-STOP"
		r.Verdicts[4].Reason = text
		return r
	}
	for _, k := range []struct {
		source, was, is string
		differ          int
	}{
		{"PackageTime", "fired (in 30 of 80 runs)", "fired (in 41 of 80 runs)", 0},
		{"PackageTime", "fired (in 30 of 80 runs)", "fired at 30ms (in 30 of 80 runs)", 1},
		{"Injected", "fired (in 30 of 80 runs)", "fired (in 41 of 80 runs)", 1},
	} {
		var out strings.Builder
		if n := compare(&out, resultsOf(t, true, reported(k.source, k.was)), resultsOf(t, true, reported(k.source, k.is))); n != k.differ {
			t.Errorf("compare of %q and %q on %s = %d, want %d:\n%s", k.was, k.is, k.source, n, k.differ, &out)
		}
	}
}

func TestChances_ofGoroutinesThatRace(t *testing.T) {
	c := chances[slices.IndexFunc(chances, func(c chance) bool { return c.rules == racing })]
	for text, want := range map[string]string{
		"of 12 requests at one instant 6 run, 4 wait and 2 are rejected, want 3, 4 and 5":                       "of 12 requests at one instant N run, N wait and N are rejected, want 3, 4 and 5",
		"2 goroutines with 3 events each at one instant brought 2 emissions at once and 3 in all, want 1 and 2": "2 goroutines with 3 events each at one instant brought N emissions at once and N in all, want 1 and 2",
		"2 of 4 goroutines wait for ever, though nobody runs":                                                   "N of 4 goroutines wait for ever, though nobody runs",
		"number 2 in time was served after 0, want 100ms":                                                       "number N in time was served after N, want N",
		"an item that was put beside others left 2 times, want 1: once if it was accepted":                      "an item that was put beside others left N times, want 1: once if it was accepted",
		"a request panicked: index out of range [3]":                                                            "a request panicked: index out of range [3]",
	} {
		if got := c.without(text); got != want {
			t.Errorf("without(%q) = %q, want %q", text, got, want)
		}
	}
}

// Where it is chance whether a mistake is caught, it is none whether the rule was judged.
func TestChances_ofBeingCaught(t *testing.T) {
	judged := func(status string) report {
		r := sample()
		r.Contract, r.Name = "throttle", "a panic leaves it busy"
		r.Verdicts[4] = verdict{Rule: "TH-ONEOF", Level: "core", Status: status, Judged: 1, Text: status}
		return r
	}
	for status, differ := range map[string]int{"fail": 0, "skip": 1, "inconclusive": 1} {
		var out strings.Builder
		if n := compare(&out, resultsOf(t, true, judged("pass")), resultsOf(t, true, judged(status))); n != differ {
			t.Errorf("compare of pass and %s = %d, want %d:\n%s", status, n, differ, &out)
		}
	}
}

// leavesOut are the implementations on record of which more than one schedule in twenty is
// left out, and why that is right.
var leavesOut = map[string]string{
	"peer|clock|benbjohnson|Injected": leaks,
	"peer|clock|juju|Injected":        leaks,
	"peer|clock|k8s|Injected":         leaks,

	"peer|batcher|eapache/go-resiliency v1.7.0 batcher|PackageTime": "it has no size, and refuses each",
	"peer|batcher|samber/lo v1.53.0 BufferWithTimeout|PackageTime":  "it has both bounds, and refuses to be without one",

	"bundled|debouncer|debounce.Stream|Injected":  "its callbacks may not call it, as declared",
	"peer|limiter|juju/ratelimit v1.0.2|Injected": "it is made with an interval in whole nanoseconds, and refuses other rates",
}

const leaks = "each run leaves goroutines behind, and the runtime looks at all of them again and again"

// Of everything bundled and of every peer at least 95 of 100 schedules are judged.
func TestRecord_nearlyAllIsJudged(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("testdata", "*.txt"))
	if err != nil || len(paths) < 7 {
		t.Fatalf("Glob: %v, %v", paths, err)
	}
	seen := 0
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, section := range strings.Split(string(text), "\n## ")[1:] {
			name, rest, _ := strings.Cut(section, "\n")
			if !strings.HasPrefix(name, "bundled|") && !strings.HasPrefix(name, "peer|") {
				continue
			}
			seen++
			out, why := strings.Contains(rest, "\tleft-out: "), leavesOut[name]
			if out && why == "" {
				t.Errorf("%s: more than 1 schedule in 20 is left out", name)
			} else if !out && why != "" {
				t.Errorf("%s: nothing much is left out: take it off the list", name)
			}
		}
	}
	if seen < 50 {
		t.Errorf("%d implementations are on record, want more", seen)
	}
}
