package conformance

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/internal/timeline"
)

// Version is the version of the rules. It changes whenever a rule is added, promoted or
// judges differently; so an update can fail code that passed.
const Version = "0.9.0"

// Status is the outcome of a rule.
type Status string

const (
	// Pass: the rule was judged and held.
	Pass Status = "pass"
	// Fail: the rule was broken.
	Fail Status = "fail"
	// KnownFail: the rule was broken as KnownFailing says.
	KnownFail Status = "known"
	// Skip: the rule was not judged; the reason says why.
	Skip Status = "skip"
	// Undecided: the rule is not judged until a decision is taken; see [Report.Decisions]. TRAITS is undecided,
	// and its subtest fails, while a choice is undeclared or a decision is open.
	Undecided Status = "undecided"
	// Inconclusive: a run made no progress and nothing proves why. A core rule then fails the
	// test, unless another one fails or KnownFailing lists it.
	Inconclusive Status = "inconclusive"
)

// Decision is a question that only the author of an implementation can answer: whether a weaker value of a trait
// is documented, or the observed behaviour is a mistake.
type Decision struct {
	// Trait is the trait's name, Value the value that would explain the runs, as a literal, and Strict the one that
	// a run refutes; Value is empty if none explains them. Means explains Value in a few words.
	Trait  string `json:"trait"`
	Value  string `json:"value,omitempty"`
	Strict string `json:"strict,omitempty"`
	Means  string `json:"means,omitempty"`
	// Rule is the rule that a run breaks with Strict, Schedule the smallest schedule that shows it, and Headline what
	// the implementation did there.
	Rule     string `json:"rule,omitempty"`
	Schedule string `json:"schedule,omitempty"`
	Headline string `json:"headline,omitempty"`
	// Unexplained is what the value that was observed does not explain, in a sentence; empty if it explains everything.
	Unexplained string `json:"unexplained,omitempty"`
	// Frees are the rules that Value turns off, and those that would hold with it.
	Frees []string `json:"frees,omitempty"`
	// Text is the whole text. Because, Interleaving, Replay and Picture are parts of it, as of a [Verdict].
	Text         string          `json:"text,omitempty"`
	Because      string          `json:"because,omitempty"`
	Interleaving string          `json:"interleaving,omitempty"`
	Replay       string          `json:"replay,omitempty"`
	Picture      *inside.Picture `json:"picture,omitempty"`
}

// Verdict is what a run found on one rule.
type Verdict struct {
	// Rule is the rule's ID, Level its level, and Status the outcome.
	Rule   string `json:"rule"`
	Level  Level  `json:"level"`
	Status Status `json:"status"`
	// Reason is why a rule was skipped or is known to fail, or the headline of
	// its failure.
	Reason string `json:"reason,omitempty"`
	// Schedule is the smallest schedule that breaks the rule.
	Schedule string `json:"schedule,omitempty"`
	// Family is the part of the exploration that schedule belongs to.
	Family string `json:"family,omitempty"`
	// Judged is the number of runs that the rule saw, LeftOut that of schedules which concern
	// it and were not judged.
	Judged  int `json:"judged"`
	LeftOut int `json:"left_out,omitempty"`
	// Text is the whole failure text.
	Text string `json:"text,omitempty"`
	// Law is the rule in one sentence. Example is a schedule that it judged: the one that tells
	// it best, if that was run.
	Law     string `json:"law,omitempty"`
	Example string `json:"example,omitempty"`
	// Because, Interleaving, Replay and Picture are parts of a failure's text: why the wanted
	// behaviour is expected, the order of goroutines in which it was found, if every order was
	// tried, the command that runs the schedule alone, and the timeline as data. Of a rule that
	// holds the picture is that of Example.
	Because      string          `json:"because,omitempty"`
	Interleaving string          `json:"interleaving,omitempty"`
	Replay       string          `json:"replay,omitempty"`
	Picture      *inside.Picture `json:"picture,omitempty"`
}

// Report is what a run of the suite found.
type Report struct {
	// Version is the constant [Version].
	Version string `json:"version"`
	// Name is the implementation's, Contract the kind whose laws it was held to, and Time
	// the name of its [TimeSource].
	Name     string `json:"name"`
	Contract string `json:"contract"`
	Time     string `json:"time"`
	// Package is the import path of the test that ran the suite, Test its name.
	Package string `json:"package,omitempty"`
	Test    string `json:"test,omitempty"`
	// File and Line are where the test called Run, the file as the compiler names it; Line is 0 where it is not known.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	// Traits are those that the spec declares, each as a field of its literal, such as "Tie: FireFirst".
	Traits []string `json:"traits,omitempty"`
	// Bubbles says whether the runs were settled exactly, in bubbles.
	Bubbles bool `json:"bubbles"`
	// Schedules counts the different schedules explored, Runs the runs: a racing
	// schedule runs in several orders.
	Schedules int `json:"schedules"`
	Runs      int `json:"runs"`
	// Interleavings is how many orders of goroutines at one instant were explored; 0 if the code under test was not
	// rewritten for that, so such orders are chance.
	Interleavings int `json:"interleavings,omitempty"`
	// LeftOut counts, by reason, the schedules that were not judged for a reason known before
	// they were run.
	LeftOut map[string]int `json:"left_out,omitempty"`
	// Partial says why the verdict is partial; empty if it is not.
	Partial string `json:"partial,omitempty"`
	// Decisions are those that are open: the run is not green until each is taken.
	Decisions []Decision `json:"decisions,omitempty"`
	// Causes are the failures, TRAITS if it is undecided, and the rules that could not be judged, grouped, each with
	// the most telling rule first; see [Report.ByCause].
	Causes []Cause `json:"causes,omitempty"`
	// Verdicts are those on each rule, in the order of the subtests.
	Verdicts []Verdict `json:"verdicts"`
}

// Count returns how many rules ended with one of the statuses.
func (r *Report) Count(statuses ...Status) int {
	n := 0
	for _, v := range r.Verdicts {
		if slices.Contains(statuses, v.Status) {
			n++
		}
	}
	return n
}

// Verdict returns the verdict on the rule with the given ID.
func (r *Report) Verdict(rule string) (Verdict, bool) {
	i := slices.IndexFunc(r.Verdicts, func(v Verdict) bool { return v.Rule == rule })
	if i < 0 {
		return Verdict{}, false
	}
	return r.Verdicts[i], true
}

// String returns the report in one line.
func (r *Report) String() string {
	s := fmt.Sprintf("%s (%s, %s): %d passed, %d failed, %d known to fail, %d skipped", inLine(r.Name), r.Contract,
		r.Time, r.Count(Pass), r.Count(Fail), r.Count(KnownFail), r.Count(Skip))
	for _, status := range []Status{Inconclusive, Undecided} {
		if n := r.Count(status); n > 0 {
			s += fmt.Sprintf(", %d %s", n, status)
		}
	}
	if n := len(r.Decisions); n > 0 {
		s += ", " + timeline.Count(n, "decision") + " open"
	}
	s += fmt.Sprintf("; %s, %s", timeline.Count(r.Schedules, "schedule"), timeline.Count(r.Runs, "run"))
	for _, why := range slices.Sorted(maps.Keys(r.LeftOut)) {
		s += fmt.Sprintf("; %d left out: %s", r.LeftOut[why], why)
	}
	if r.Partial != "" {
		s += "; partial: " + r.Partial
	}
	return s
}

// inLine is a name as it is, or quoted if it has characters that a terminal would obey.
func inLine(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(name)
	}
	return name
}

// Table prints reports side by side: one line for each rule, one column for each
// implementation, and below the reasons of what did not pass.
func Table(reports ...*Report) string {
	var rules []string
	for _, r := range reports {
		for _, v := range r.Verdicts {
			if !slices.Contains(rules, v.Rule) {
				rules = append(rules, v.Rule)
			}
		}
	}
	mark := map[Status]string{
		Pass: "pass", Fail: "FAIL", KnownFail: "known", Skip: "skip", Undecided: "undecided", Inconclusive: "?",
	}
	var b strings.Builder
	for i, r := range reports {
		fmt.Fprintf(&b, "%-5s %s\n", label(i), r)
	}
	fmt.Fprintf(&b, "\n%-15s", "rule")
	for i := range reports {
		fmt.Fprintf(&b, "%-11s", label(i))
	}
	for _, id := range rules {
		fmt.Fprintf(&b, "\n%-15s", id)
		for _, r := range reports {
			v, _ := r.Verdict(id)
			fmt.Fprintf(&b, "%-11s", cmp.Or(mark[v.Status], "-"))
		}
	}
	b.WriteString("\n")
	for i, r := range reports {
		for _, d := range r.Decisions {
			fmt.Fprintf(&b, "\n%s undecided %s: %s\n      %s", label(i), d.Trait, d.Headline, d.Schedule)
		}
		for _, v := range r.Verdicts {
			if v.Status != Pass {
				fmt.Fprintf(&b, "\n%s %s %s: %s", label(i), v.Rule, mark[v.Status], v.Reason)
				if v.Schedule != "" {
					fmt.Fprintf(&b, "\n      %s", v.Schedule)
				}
			}
		}
	}
	lines := strings.Split(b.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

// label names the i-th report of a table: [A] to [Z], then [AA], [AB] and so on.
func label(i int) string {
	name := string(rune('A' + i%26))
	for i = i/26 - 1; i >= 0; i = i/26 - 1 {
		name = string(rune('A'+i%26)) + name
	}
	return "[" + name + "]"
}

// Write appends the report as one line of JSON, with the seconds that it took, to the file
// that ESCAPEMENT_REPORT names, if any. If it names a folder, each process has a file there.
func (r *Report) Write(took time.Duration) error {
	path := os.Getenv("ESCAPEMENT_REPORT")
	if path == "" {
		return nil
	}
	if fi, err := os.Stat(path); err == nil && fi.IsDir() {
		path = filepath.Join(path, strconv.Itoa(os.Getpid())+".jsonl")
	}
	line, err := json.Marshal(struct {
		*Report
		Seconds float64 `json:"seconds"`
	}{r, took.Seconds()})
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return cmp.Or(err, f.Close())
}

// Cause is one behaviour of an implementation, with all the rules that fail by it: on one schedule, or with one
// headline. Rules that could not be judged for one reason are one cause, too.
type Cause struct {
	// Status is Fail, Undecided for what is to be declared or decided, or Inconclusive for what could not be judged.
	Status Status `json:"status"`
	// Rules are the IDs of the rules, the most telling first.
	Rules []string `json:"rules"`
	// Headline and Schedule are those of the first rule; Headline is the reason for what could not be judged.
	Headline string `json:"headline,omitempty"`
	Schedule string `json:"schedule,omitempty"`
	// Place is the line at which the run hangs, for a cause that could not be judged; "" if it is not known.
	Place string `json:"place,omitempty"`
}

// ByCause groups failing rules by their finding, then TRAITS if it is undecided, then rules that could not be judged.
// The order of the failing ones is that of first, and for rules that are not in it that of the verdicts.
func (r *Report) ByCause(first []string) []Cause {
	rank := func(v Verdict) int {
		if i := slices.Index(first, v.Rule); i >= 0 {
			return i
		}
		return len(first)
	}
	var broken, asked, open []Verdict
	for _, v := range r.Verdicts {
		switch {
		case v.Status == Fail && v.Level != Provisional:
			broken = append(broken, v)
		case v.Status == Undecided && v.Text != "":
			asked = append(asked, v)
		case v.Status == Inconclusive && v.Text != "":
			open = append(open, v)
		}
	}
	slices.SortStableFunc(broken, func(a, b Verdict) int { return rank(a) - rank(b) })
	return slices.Concat(grouped(broken), grouped(asked), grouped(open))
}

// grouped joins verdicts of one cause, in the order in which each cause is first found.
func grouped(verdicts []Verdict) []Cause {
	var groups [][]Verdict
	var out []Cause
	for _, v := range verdicts {
		i := slices.IndexFunc(groups, func(g []Verdict) bool {
			return slices.ContainsFunc(g, func(w Verdict) bool { return sameCause(v, w) })
		})
		if i < 0 {
			i = len(groups)
			groups = append(groups, nil)
			out = append(out, Cause{Status: v.Status, Headline: v.Reason, Schedule: v.Schedule})
		}
		groups[i], out[i].Rules = append(groups[i], v), append(out[i].Rules, v.Rule)
	}
	return out
}

// sameCause reports whether two rules find one thing.
func sameCause(v, w Verdict) bool {
	if v.Schedule != "" && v.Schedule == w.Schedule {
		return true
	}
	a, b := plainHeadline(v.Reason), plainHeadline(w.Reason)
	return a != "" && (a == b || strings.HasSuffix(a, ": "+b) || b != "" && strings.HasSuffix(b, ": "+a))
}

// circumstance is what a headline begins with that says on which key something happened, or which call panicked.
var circumstance = regexp.MustCompile(`^key -?\d+: |^.* panicked: `)

// instant is when something happened.
var instant = regexp.MustCompile(` at -?\d[0-9a-zµ.]*`)

// plainHeadline is a headline without the circumstance; and without instants, unless it compares with what was wanted.
func plainHeadline(headline string) string {
	plain := circumstance.ReplaceAllString(headline, "")
	if !strings.Contains(plain, "want") {
		plain = instant.ReplaceAllString(plain, "")
	}
	return plain
}
