package conformance_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/escapement-go/escapement/conformance"
)

// failure is the text of a failure.
type failure struct {
	headline, because string
	lanes             map[string]string // by name
	caret             int               // the column, -1 without a timeline
	schedule          conformance.Schedule
}

// section reads the text of one mutant in a golden file.
func section(text string) failure {
	f := failure{lanes: map[string]string{}, caret: -1}
	lines := strings.Split(text, "\n")
	drawn := false
	for i, line := range lines {
		because, isBecause := strings.CutPrefix(line, "because ")
		_, replay, replays := strings.Cut(line, "ESCAPEMENT_SCHEDULE='")
		name, cells, _ := strings.Cut(line, " ")
		switch {
		case i == 0:
			f.headline = line
		case isBecause:
			f.because += because + " "
		case strings.HasPrefix(line, "replay: ") && replays:
			quoted, _, _ := strings.Cut(replay, "'")
			f.schedule, _ = conformance.ParseSchedule(quoted)
		case strings.HasSuffix(line, "^ first difference"):
			f.caret, drawn = strings.Index(line, "^"), false
		case strings.HasPrefix(line, "t  "):
			drawn = true
		case drawn && name != "" && strings.Contains(cells, "-"):
			f.lanes[name] = line
		}
	}
	return f
}

// at is what stands in a lane at the caret: the cell that begins there, "" if there is none.
func (f failure) at(lane string) string {
	cells := f.lanes[lane]
	if f.caret >= len(cells) {
		return ""
	}
	cell, _, _ := strings.Cut(cells[f.caret:], "-")
	return cell
}

// operations are what failures say of steps by their number, quoted other schedules that they compare with.
var (
	operations = regexp.MustCompile(`\b(allow|wait|reserve|call|put|acquire|try|do|release|resize) (-?\d+)\b`)
	quoted     = regexp.MustCompile(`([a-z]+=\S+ )*(\| [a-z0-9 ]+ @[a-z0-9.]+ ?)+`)
)

// problems are what is wrong with the text of a failure.
func (f failure) problems() (out []string) {
	if got, want, ok := strings.Cut(f.headline, ", want "); ok {
		if want, _, _ = strings.Cut(want, ":"); strings.HasSuffix(got, " "+want) {
			out = append(out, "it wants what it got")
		}
	}
	_, wants := f.lanes["want"]
	_, got := f.lanes["got"]
	switch {
	case f.caret < 0 || !wants || !got:
	case f.at("want") == f.at("got"):
		out = append(out, "at the caret it shows no difference")
	case f.at("want") == "?" && strings.Contains(f.headline, ", want "):
		out = append(out, "at the caret either is right")
	}
	told := f.headline + "\n" + quoted.ReplaceAllString(f.because, "")
	for _, said := range operations.FindAllStringSubmatch(told, -1) {
		n, _ := strconv.Atoi(said[2])
		if len(f.schedule.Steps) > 0 && !slices.ContainsFunc(f.schedule.Steps, func(s conformance.Step) bool {
			return string(s.Op) == said[1] && s.N == n
		}) && string(f.schedule.Config.Inside) != said[1] {
			out = append(out, "its schedule has no "+said[0])
		}
	}
	return out
}

// A failure wants something else than it got, draws the difference that it tells of, and has no step that its
// schedule lacks.
func TestFailures_tellOfADifference(t *testing.T) {
	golden, err := filepath.Glob("*test/testdata/*.golden")
	if err != nil || len(golden) == 0 {
		t.Fatalf("%d golden files: %v", len(golden), err)
	}
	for _, name := range golden {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, told := range strings.Split(string(text), "\n## ")[1:] {
			mutant, told, _ := strings.Cut(told, "\n\n")
			for _, problem := range section(told).problems() {
				t.Errorf("%s: %s: %s:\n%s", name, mutant, problem, told)
			}
		}
	}
}
