package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/escapement-go/escapement/conformance"
)

// report is a line of ESCAPEMENT_REPORT.
type report struct {
	conformance.Report
	Seconds float64 `json:"seconds"`

	line []byte // as it was written
	said string // what the test printed of it
}

// shownStatus is how a status is told.
type shownStatus struct {
	status conformance.Status
	word   string // behind a number
	cell   string // in a table
	class  string // of the style
	says   string // of a rule
}

// shown are the statuses in the order in which they are counted.
var shown = []shownStatus{
	{conformance.Pass, "passed", "pass", "pass", "passes"},
	{conformance.Fail, "failed", "FAIL", "fail", "fails"},
	{conformance.KnownFail, "known to fail", "known", "known", "known to fail"},
	{conformance.Undecided, "undecided", "undecided", "undecided", "undecided"},
	{conformance.Inconclusive, "inconclusive", "?", "open", "inconclusive"},
	{conformance.Skip, "skipped", "skip", "skip", "skipped"},
}

// counting are those of which there is any.
func counting(reports []*report) []shownStatus {
	return slices.DeleteFunc(slices.Clone(shown), func(st shownStatus) bool {
		return !slices.ContainsFunc(reports, func(r *report) bool { return r.Count(st.status) > 0 })
	})
}

// as is how a status is told.
func as(status conformance.Status) shownStatus {
	for _, s := range shown {
		if s.status == status {
			return s
		}
	}
	return shownStatus{cell: "-"}
}

// failing reports whether a verdict is one of those that are told whole: TRAITS is, while something is to be declared
// or decided. A provisional rule fails no test.
func failing(v *conformance.Verdict) bool {
	return v.Status == conformance.Fail && v.Level != conformance.Provisional ||
		v.Status == conformance.Undecided && v.Text != "" ||
		v.Status == conformance.Inconclusive && v.Level == conformance.Core && v.Text != ""
}

// red reports whether an implementation has such a verdict.
func (r *report) red() bool {
	return slices.ContainsFunc(r.Verdicts, func(v conformance.Verdict) bool { return failing(&v) })
}

// undecided reports whether no rule fails, and something is to be declared or decided.
func (r *report) undecided() bool {
	return r.red() && !slices.ContainsFunc(r.Verdicts, func(v conformance.Verdict) bool {
		return failing(&v) && v.Status != conformance.Undecided
	})
}

// causes are what the implementation fails by, each with its rules, then what is to be decided, and then what could not
// be judged.
func (r *report) causes() []conformance.Cause {
	if len(r.Causes) > 0 {
		return r.Causes
	}
	return r.ByCause(nil)
}

// only leaves what is said of the rules whose subtests a pattern of -run selects, if it is one of subtests.
func (r *report) only(run string) {
	parts, depth := strings.Split(run, "/"), strings.Count(r.Test, "/")+1
	if len(parts) <= depth {
		return
	}
	rule, err := regexp.Compile(parts[depth])
	if err != nil {
		return // which go test says
	}
	other := func(id string) bool { return !rule.MatchString(id) }
	r.Verdicts = slices.DeleteFunc(r.Verdicts, func(v conformance.Verdict) bool { return other(v.Rule) })
	for i := range r.Causes {
		r.Causes[i].Rules = slices.DeleteFunc(r.Causes[i].Rules, other)
	}
	r.Causes = slices.DeleteFunc(r.Causes, func(c conformance.Cause) bool { return len(c.Rules) == 0 })
	if other("TRAITS") {
		r.Decisions = nil
	}
}

// folder reads the files of a folder to which test processes write.
type folder struct {
	path string
	read map[string]int // bytes read so far, by file
}

// news returns the reports that came since the last call.
func (f *folder) news() []*report {
	if f.read == nil {
		f.read = map[string]int{}
	}
	paths, _ := filepath.Glob(filepath.Join(f.path, "*.jsonl"))
	var out []*report
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil || len(text) < f.read[path] {
			continue
		}
		for line := range bytes.Lines(text[f.read[path]:]) {
			line, whole := bytes.CutSuffix(line, []byte("\n"))
			if !whole {
				break // the rest of the line is being written
			}
			f.read[path] += len(line) + 1
			r := &report{line: line}
			if json.Unmarshal(line, r) == nil {
				r.said = r.String()
				printableIn(reflect.ValueOf(&r.Report).Elem())
				r.Name = printableName(r.Name)
				out = append(out, r)
			}
		}
	}
	return out
}

// underWay is what a test process is doing.
type underWay struct {
	Name     string `json:"name"`
	Contract string `json:"contract"`
	Runs     int64  `json:"runs"`
}

// now returns what is under way, in the order of the names.
func (f *folder) now() []underWay {
	paths, _ := filepath.Glob(filepath.Join(f.path, "*.progress"))
	var out []underWay
	for _, path := range paths {
		text, _ := os.ReadFile(path)
		line, _, _ := bytes.Cut(text, []byte("\n"))
		var u underWay
		if json.Unmarshal(line, &u) == nil {
			u.Name = printableName(u.Name)
			out = append(out, u)
		}
	}
	slices.SortFunc(out, func(a, b underWay) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// contracts are the kinds in the order in which they are shown; others come after them.
var contracts = []string{"debouncer", "throttle", "limiter", "quota", "leaky bucket", "concurrency", "batcher", "clock"}

func rank(contract string) int {
	if i := slices.Index(contracts, contract); i >= 0 {
		return i
	}
	return len(contracts)
}

// ordered sorts reports by contract, package and test, and keeps one of those that the same
// test wrote of the same implementation: the first that fails.
func ordered(reports []*report) []*report {
	out := slices.Clone(reports)
	same := func(a, b *report) int {
		return cmp.Or(
			cmp.Compare(rank(a.Contract), rank(b.Contract)), cmp.Compare(a.Contract, b.Contract),
			cmp.Compare(a.Package, b.Package), cmp.Compare(a.Test, b.Test),
			cmp.Compare(a.Name, b.Name), cmp.Compare(a.Time, b.Time),
		)
	}
	slices.SortStableFunc(out, func(a, b *report) int {
		if c := same(a, b); c != 0 || a.red() == b.red() {
			return c
		} else if a.red() {
			return -1
		}
		return 1
	})
	return slices.CompactFunc(out, func(a, b *report) bool { return same(a, b) == 0 })
}

// byContract splits what ordered returned.
func byContract(all []*report) [][]*report {
	var out [][]*report
	for i, r := range all {
		if i == 0 || all[i-1].Contract != r.Contract {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], r)
	}
	return out
}

// columns are the rules that one of the implementations does not keep, in the order of the
// contract.
func columns(reports []*report) []string {
	var rules []string
	told := map[string]bool{}
	for _, r := range reports {
		for _, v := range r.Verdicts {
			told[v.Rule] = told[v.Rule] || v.Status != conformance.Pass && v.Status != conformance.Skip
			if !slices.Contains(rules, v.Rule) {
				rules = append(rules, v.Rule)
			}
		}
	}
	return slices.DeleteFunc(rules, func(rule string) bool { return !told[rule] })
}

// printable is a text of which a terminal shows each character as such: control characters, those of escape sequences
// among them, and characters that turn the direction are written as in a Go literal. Lines stay lines.
func printable(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r == '\n' || r == '\t' || unicode.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
	}
	return b.String()
}

// printableName is a printable text of one line.
func printableName(text string) string {
	return strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(printable(text))
}

// printableIn makes the texts in a value printable.
func printableIn(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(printable(v.String()))
	case reflect.Pointer:
		if !v.IsNil() {
			printableIn(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			printableIn(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			printableIn(v.Field(i))
		}
	}
}
