package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/inside"
)

// Nothing that a spec or an implementation says reaches the terminal or the page raw: a name or the text of a panic may
// hold what clears a screen, sets its title or turns the direction of what is read.
func TestReports_arePrintable(t *testing.T) {
	const nasty = "\x1b[2J\x1b]0;title\a\r\u202eevil\u009b31m\x00\x7f"
	r := bad
	r.Name, r.Partial = "two\nlines "+nasty, nasty
	r.Verdicts = []conformance.Verdict{
		{Rule: "DB-ONE", Level: conformance.Core, Status: conformance.Fail, Reason: "panicked: " + nasty,
			Text: "DB-ONE: panicked: " + nasty + "\n", Because: nasty, Replay: nasty, Schedule: nasty, Law: nasty,
			Picture: &inside.Picture{Lanes: []inside.Lane{{
				Name: nasty, Marks: []inside.LaneMark{{At: 0, Text: nasty}},
			}}}},
		{Rule: "DB-KEY", Level: conformance.Core, Status: conformance.Skip, Reason: nasty},
	}
	r.Decisions = []conformance.Decision{{Trait: "Tie", Value: nasty, Headline: nasty, Means: nasty}}
	folder := t.TempDir()
	put(t, folder, "1.jsonl", r)
	progress := `{"name":"\u001b[2J\n","contract":"debouncer","runs":1}` + "\n"
	if err := os.WriteFile(filepath.Join(folder, "1.progress"), []byte(progress), 0o666); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := newWatcher(folder, &options{}, &out, &bytes.Buffer{})
	w.look(time.Time{})
	printAll(&out, w.reports, &options{verbose: true}, w.screen)
	annotate(&out, w.reports, "/")
	page, err := renderPage("Verdicts", w.reports)
	if err != nil {
		t.Fatal(err)
	}
	var events tests
	said := "    x_test.go:1: conformance: " + r.String() + "\n    x_test.go:2: " + nasty + "\n"
	events.add(event{Action: "output", Package: r.Package, Test: r.Test, Output: said})
	events.add(event{Action: "fail", Package: r.Package, Test: r.Test})
	events.printRest(&out, w.reports)
	for what, text := range map[string]string{
		"the terminal": out.String(), "the page": string(page), "the live line": w.files.now()[0].Name,
	} {
		for _, c := range "\x1b\a\r\u202e\u009b\x00\x7f" {
			if strings.ContainsRune(text, c) {
				t.Errorf("%s has %q raw", what, c)
			}
		}
	}
	if want := `two\nlines \x1b[2J\x1b]0;title\a\r\u202eevil\u009b31m\x00\x7f`; !strings.Contains(out.String(), want) {
		t.Errorf("the terminal does not show %s:\n%s", want, &out)
	}
	if strings.Count(out.String(), "conformance: ") > 0 {
		t.Errorf("what the report says is told again:\n%s", &out)
	}
}
