// Findings judges the peers, those in recent and the one beside redislimit, and writes FINDINGS.md
// and a page for each module from the reports: run it in the folder of the peers, with the Go that
// recent needs.
//
//	go run ./findings
//
// What reports cannot know stands in findings/notes.txt: whether a finding is a defect or a
// choice that is not documented, the library's own issue, and the test that shows it with the
// library alone.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/escapement-go/escapement/conformance"
)

// A folder is a module whose tests hold peers to the suite.
type folder struct {
	dir, tests  string // tests is for -run
	page, title string // of the page with the verdicts, page as it is named here
}

const most = "^Test(Peers|ConcurrencyPeers|Quotas|Batchers|Clocks)$"

var folders = []folder{
	{".", most, "verdicts.html", "Verdicts on published libraries"},
	{"recent", most, "recent/verdicts.html", "Verdicts on published libraries that need a recent Go"},
	{"../../limiters/redislimit", "^TestPeer$", "redis.html", "Verdicts on published limiters that share a Redis server"},
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "findings:", err)
		os.Exit(1)
	}
}

func run() error {
	notes, err := readNotes("findings/notes.txt")
	if err != nil {
		return err
	}
	var all []judgement
	for _, f := range folders {
		tests, err := readTests(f.dir)
		if err != nil {
			return err
		}
		reports, err := f.judge()
		if err != nil {
			return err
		}
		for _, r := range reports {
			all = append(all, judgement{r, f.dir, tests})
		}
	}
	text, err := document(all, notes)
	if err != nil {
		return err
	}
	return os.WriteFile("FINDINGS.md", text, 0o666)
}

// judgement is a report, the folder it is from, and the tests there.
type judgement struct {
	*conformance.Report
	dir   string
	tests *tests
}

// judge runs the command verdicts in a folder, which writes the page, and returns the reports.
func (f folder) judge() ([]*conformance.Report, error) {
	page, err := filepath.Abs(f.page)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("go", "run", "github.com/escapement-go/escapement/conformance/verdicts",
		"-json", "-html", page, "-title", f.title, "-run", f.tests, ".")
	cmd.Dir, cmd.Stderr = f.dir, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("verdicts: %w", err)
	}
	var reports []*conformance.Report
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		r := &conformance.Report{}
		if err := dec.Decode(r); err != nil {
			return nil, err
		}
		for i := range r.Verdicts { // whether chance has shown it again is no news
			r.Verdicts[i].Reason = strings.TrimSuffix(r.Verdicts[i].Reason, notSeen)
		}
		reports = append(reports, r)
	}
	if len(reports) == 0 {
		return nil, errors.New("no reports")
	}
	return reports, nil
}

// notSeen is what the suite adds to a known failure that a run, by chance, did not show.
const notSeen = " (by chance: not seen in this run)"

// note is what somebody has said of a finding.
type note struct {
	library, rule string
	class         string // "defect" or "choice"
	issue         string // the library's own, "" if none is known
	test          string // that shows it with the library alone, "" if the finding is its own test
	five          bool   // it is one of those to look at first
}

// readNotes reads the notes: a line for each, with the fields separated by bars.
func readNotes(path string) ([]note, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []note
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		if line := strings.TrimSpace(lines.Text()); line == "" || line[0] == '#' {
			continue
		}
		fields := strings.Split(lines.Text(), "|")
		for i := range fields {
			fields[i] = strings.TrimSpace(fields[i])
		}
		if len(fields) != 5 {
			return nil, fmt.Errorf("%s:%d: %d fields, want library | rule | class | issue | test", path, n, len(fields))
		}
		class, five := strings.CutSuffix(fields[2], " *")
		if class != "defect" && class != "choice" {
			return nil, fmt.Errorf("%s:%d: class %q, want defect or choice", path, n, class)
		}
		out = append(out, note{fields[0], fields[1], class, fields[3], fields[4], five})
	}
	return out, lines.Err()
}

// find returns the note on a finding: of the library whose name begins as the note says.
func find(notes []note, library, rule string) (note, bool) {
	for _, n := range notes {
		if n.rule == rule && strings.HasPrefix(library, n.library) {
			return n, true
		}
	}
	return note{}, false
}
