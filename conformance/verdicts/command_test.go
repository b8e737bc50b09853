package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/escapement-go/escapement/conformance"
)

// put writes reports into a folder as a test process does.
func put(t *testing.T, folder, file string, reports ...conformance.Report) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(folder, file), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, r := range reports {
		line, err := json.Marshal(report{Report: r, Seconds: 1.25})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(append(line, '\n')); err != nil {
			t.Fatal(err)
		}
	}
}

var (
	good = conformance.Report{
		Name: "good", Contract: "debouncer", Time: "Injected", Schedules: 7,
		Package: "example.com/a", Test: "TestConformance",
		Verdicts: []conformance.Verdict{{Rule: "DB-ONE", Level: conformance.Core, Status: conformance.Pass}},
	}
	bad = conformance.Report{
		Name: "bad", Contract: "debouncer", Time: "Injected", Schedules: 7,
		Package: "example.com/b", Test: "TestConformance",
		Verdicts: []conformance.Verdict{{
			Rule: "DB-ONE", Level: conformance.Core, Status: conformance.Fail,
			Reason: "fired twice", Text: "DB-ONE: fired twice\n",
		}},
	}
)

// Each implementation has its line as soon as its report is there, and a line that is being
// written is left for the next look.
func TestWatcher_tellsAsTheyEnd(t *testing.T) {
	folder := t.TempDir()
	var out, machine bytes.Buffer
	w := newWatcher(folder, &options{}, &out, &bytes.Buffer{})
	w.json = &machine
	w.look(time.Time{})
	put(t, folder, "1.jsonl", good)
	if err := os.WriteFile(filepath.Join(folder, "2.jsonl"), []byte(`{"name":"ha`), 0o666); err != nil {
		t.Fatal(err)
	}
	w.look(time.Time{})
	put(t, folder, "1.jsonl", bad)
	open := bad
	open.Verdicts = []conformance.Verdict{{Rule: "TRAITS", Status: conformance.Undecided, Text: "TRAITS: undeclared\n"}}
	put(t, folder, "3.jsonl", open)
	w.finish()
	want := "ok      1.2s  good (debouncer, Injected): 1 passed; 7 schedules\n" +
		"FAIL    1.2s  bad (debouncer, Injected): 1 failed; 7 schedules\n" +
		"open    1.2s  bad (debouncer, Injected): 1 undecided; 7 schedules\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", &out, want)
	}
	first, _, _ := bytes.Cut(machine.Bytes(), []byte("\n"))
	if n := strings.Count(machine.String(), "\n"); n != 3 || !json.Valid(first) {
		t.Errorf("%d lines for machines:\n%s", n, &machine)
	}
}

// What is under way stands in one line, which is gone when something else is printed.
func TestWatcher_drawsOneLine(t *testing.T) {
	folder := t.TempDir()
	var out, live bytes.Buffer
	w := newWatcher(folder, &options{}, &out, &bytes.Buffer{})
	w.live = &live
	progress := func(runs string) {
		t.Helper()
		text := `{"name":"good","contract":"debouncer","runs":` + runs + "}\nleft of a longer line"
		if err := os.WriteFile(filepath.Join(folder, "1.progress"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	start := time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC)
	progress("100")
	w.look(start)
	progress("600")
	w.look(start.Add(2 * time.Second))
	w.finish()
	want := "\r0 done; good (debouncer): 100 runs\x1b[K" +
		"\r0 done, 250 runs/s; good (debouncer): 600 runs\x1b[K"
	if !strings.HasPrefix(live.String(), want) || !strings.HasSuffix(live.String(), "\r\x1b[K") {
		t.Errorf("got %q, want %q, and a line that is cleared", &live, want)
	}
}

// Of reports that one test writes of one implementation, the first that fails is kept.
func TestOrdered(t *testing.T) {
	again := good
	again.Verdicts = bad.Verdicts
	limiter := good
	limiter.Contract = "limiter"
	var names []string
	all := ordered([]*report{{Report: limiter}, {Report: bad}, {Report: good}, {Report: again}})
	for _, r := range all {
		names = append(names, r.Contract+" "+r.Name)
	}
	if got, want := strings.Join(names, ", "), "debouncer good, debouncer bad, limiter good"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if !all[0].red() {
		t.Error("the report that fails is not kept")
	}
	if got := columns([]*report{{Report: good}, {Report: bad}}); len(got) != 1 || got[0] != "DB-ONE" {
		t.Errorf("columns: %v", got)
	}
}

// What go test says besides: builds that failed, panics, and tests that are none of the
// suite's. What a report tells is not told again, and what an earlier run left is no failure.
func TestTests_printRest(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "events.json"))
	if err != nil {
		t.Fatal(err)
	}
	var events tests
	lines := make(chan event)
	go readEvents(strings.NewReader(fmt.Sprintf(string(text), bad.String())), lines)
	for e := range lines {
		events.add(e)
	}
	var out bytes.Buffer
	events.printRest(&out, []*report{{Report: bad}})
	want := `
--- FAIL: example.com/c build
c.go:3: undefined: x

note: the process of an earlier run of TestConformance_other ended in this schedule:
replay: go test

--- FAIL: example.com/b TestConformance_other
panic: boom
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &out, want)
	}
}

func TestParse(t *testing.T) {
	o, err := parse(strings.Fields("-race -count 2 -html x.html -tags=a,b ./..."), &bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(o.passed, " "); got != "-race=true -count=2 -tags=a,b" {
		t.Errorf("passed on: %s", got)
	}
	if o.html != "x.html" || len(o.packages) != 1 || o.packages[0] != "./..." {
		t.Errorf("%+v", o)
	}
	if code := run([]string{"-nonsense"}, &bytes.Buffer{}, &bytes.Buffer{}); code != usageFailed {
		t.Errorf("a flag that is none ends with %d, want %d", code, usageFailed)
	}
}

// A folder without Go files is none to judge.
func TestRun_noPackage(t *testing.T) {
	t.Chdir("testdata")
	var errs strings.Builder
	if code := run(nil, io.Discard, &errs); code != 1 || !strings.Contains(errs.String(), "; ./... is all packages") {
		t.Errorf("the exit code is %d, and it says:\n%s", code, &errs)
	}
}

// Where no test ran the suite the command fails, and writes no page.
func TestRun_nothingJudged(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.html")
	var out, errs strings.Builder
	code := run([]string{"-html", page, "-run", "^TestNothing$", "../internal/inside"}, &out, &errs)
	if code != 1 || !strings.Contains(errs.String(), "nothing was judged: no test that matches ^TestNothing$") {
		t.Errorf("the exit code is %d, and it says:\n%s%s", code, &out, &errs)
	}
	if _, err := os.Stat(page); err == nil {
		t.Error("there is a page, of nothing")
	}
}
