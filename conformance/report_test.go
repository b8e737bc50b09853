package conformance

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestTable_labels(t *testing.T) {
	for i, want := range map[int]string{
		0: "[A]", 25: "[Z]", 26: "[AA]", 51: "[AZ]", 52: "[BA]", 701: "[ZZ]", 702: "[AAA]",
	} {
		if got := label(i); got != want {
			t.Errorf("label(%d) = %s, want %s", i, got, want)
		}
	}
}

// A name that a terminal would obey is quoted.
func TestReport_String_quotes(t *testing.T) {
	for name, want := range map[string]string{
		"Größe \"x\" 一": "Größe \"x\" 一 (", "\x1b[2Jmine": `"\x1b[2Jmine" (`, "two\nlines": `"two\nlines" (`,
	} {
		if got := (&Report{Name: name}).String(); !strings.HasPrefix(got, want) {
			t.Errorf("the report on %q begins %q, want %s", name, got, want)
		}
	}
}

// Each report is a line of the file that ESCAPEMENT_REPORT names, and none where it names no file.
func TestReport_Write(t *testing.T) {
	r := &Report{Version: Version, Name: "mine", Verdicts: []Verdict{{Rule: "RL-ENV", Status: Pass, Judged: 3}}}
	t.Setenv("ESCAPEMENT_REPORT", "")
	if err := r.Write(time.Second); err != nil {
		t.Errorf("Write without a file: %v", err)
	}
	path := filepath.Join(t.TempDir(), "reports.jsonl")
	t.Setenv("ESCAPEMENT_REPORT", path)
	for _, took := range []time.Duration{time.Second, 1500 * time.Millisecond} {
		if err := r.Write(took); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if len(lines) != 2 ||
		!strings.HasSuffix(lines[0], `"seconds":1}`) || !strings.HasSuffix(lines[1], `"seconds":1.5}`) ||
		!strings.Contains(lines[0], `"verdicts":[{"rule":"RL-ENV"`) {
		t.Errorf("%s holds %q, want a line for each report", path, lines)
	}
	t.Setenv("ESCAPEMENT_REPORT", filepath.Join(path, "below a file"))
	if r.Write(0) == nil {
		t.Error("Write to a path that cannot be says nothing")
	}
}

// Where ESCAPEMENT_REPORT names a folder, each process has a file of its own there.
func TestReport_Write_toFolder(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("ESCAPEMENT_REPORT", folder)
	r := &Report{Version: Version, Name: "mine"}
	for range 2 {
		if err := r.Write(time.Second); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(filepath.Join(folder, strconv.Itoa(os.Getpid())+".jsonl"))
	if lines := strings.Count(string(text), "\n"); err != nil || lines != 2 {
		t.Errorf("%d lines in the file of this process (%v), want 2", lines, err)
	}
}
