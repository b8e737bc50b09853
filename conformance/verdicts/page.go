package main

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/escapement-go/escapement/conformance"
)

//go:embed page.html
var pageText string

//go:embed page.css
var pageStyle string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// page is what the template shows.
type page struct {
	Title, Summary, Version string
	Style                   template.CSS
	Sections                []section
}

// section is a contract.
type section struct {
	Name, ID string
	Counts   []string // the heads of the counts
	Rules    []ruleView
	Rows     []tableRow
	Impls    []impl
}

// tableRow is an implementation in the table.
type tableRow struct {
	Name, Time, Href string
	Counts           []string
	Cells            []cellView
}

// ruleView is a column, and the law of the rule below the table; ID is empty if it has none.
type ruleView struct{ Rule, ID, Law string }

// cellView is what the table says of a rule.
type cellView struct{ Text, Class, Href string }

// impl is an implementation below the table.
type impl struct {
	ID, Name, Time, Package, Test, Partial, Summary, Effort, Next string

	Traits   []string
	Findings []finding
	Passed   []passed
	Skipped  []skippedView
}

// finding is a rule that was broken, or that could not be judged.
type finding struct {
	ID, Rule, Class, Word, Headline, Law, Because, Why, Order string
	Schedule, Words, Interleaving, Replay                     string
	Drawing                                                   template.HTML
	Open                                                      bool
	Place                                                     string
	Unexplained, Literal                                      string // of a decision, and of what is undeclared
	Also                                                      []alsoBroken
	frees                                                     []string // the rules that await a decision
}

// alsoBroken is another rule that fails by the cause of a finding.
type alsoBroken struct{ ID, Rule, Headline, Law, Replay string }

// passed is a rule that held.
type passed struct {
	Rule, Law, Note, Example, Judged string
	Drawing                          template.HTML
}

// skippedView is a reason to skip rules.
type skippedView struct{ Reason, Rules string }

// classes of statuses, and the words for them in full.
var classes = map[conformance.Status][2]string{
	conformance.Pass:         {"pass", "passes"},
	conformance.Fail:         {"fail", "fails"},
	conformance.KnownFail:    {"known", "known to fail"},
	conformance.Inconclusive: {"open", "inconclusive"},
	conformance.Undecided:    {"undecided", "undecided"},
	conformance.Skip:         {"skip", "skipped"},
}

// writePage writes the page to a file.
func writePage(path, title string, all []*report) error {
	text, err := renderPage(title, all)
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o666)
}

// renderPage makes the page.
func renderPage(title string, all []*report) ([]byte, error) {
	p := page{Title: title, Summary: "Nothing was judged.", Style: template.CSS(pageStyle)}
	if len(all) > 0 {
		p.Summary, p.Version = summary(all), all[0].Version
	}
	ids := &slugs{}
	for _, reports := range byContract(all) {
		p.Sections = append(p.Sections, newSection(reports, len(all) <= mostDrawn, ids))
	}
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, p); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// slugs makes ids, each once.
type slugs struct{ used []string }

var unfit = regexp.MustCompile(`[^a-z0-9]+`)

// of makes an id of texts.
func (s *slugs) of(texts ...string) string {
	id := strings.Trim(unfit.ReplaceAllString(strings.ToLower(strings.Join(texts, " ")), "-"), "-")
	unique := id
	for n := 2; slices.Contains(s.used, unique); n++ {
		unique = fmt.Sprintf("%s-%d", id, n)
	}
	s.used = append(s.used, unique)
	return unique
}

// mostDrawn is how many implementations a page has at most that also draws the rules that hold: some 60 each.
const mostDrawn = 5

// newSection is the part of the page on a contract.
func newSection(reports []*report, few bool, ids *slugs) section {
	s := section{Name: reports[0].Contract, ID: ids.of(reports[0].Contract)}
	for _, rule := range columns(reports) {
		s.Rules = append(s.Rules, newRule(reports, rule, ids))
	}
	counted := slices.Clone(shown)
	counted = slices.DeleteFunc(counted, func(st shownStatus) bool {
		return !slices.ContainsFunc(reports, func(r *report) bool { return r.Count(st.status) > 0 })
	})
	for _, st := range counted {
		s.Counts = append(s.Counts, st.cell)
	}
	for _, r := range reports {
		in := newImpl(r, few, ids)
		in.Name = distinct(r, reports)
		s.Impls = append(s.Impls, in)
		line := tableRow{Name: in.Name, Time: r.Time, Href: "#" + in.ID}
		for _, st := range counted {
			line.Counts = append(line.Counts, unlessZero(r.Count(st.status)))
		}
		for _, rule := range s.Rules {
			line.Cells = append(line.Cells, newCell(r, rule.Rule, in))
		}
		s.Rows = append(s.Rows, line)
	}
	return s
}

// newRule is a column, with the law that any of the reports has.
func newRule(reports []*report, rule string, ids *slugs) ruleView {
	view := ruleView{Rule: rule}
	for _, r := range reports {
		if v, _ := r.Verdict(rule); v.Law != "" && view.ID == "" {
			view.ID, view.Law = ids.of(r.Contract, "rule", rule), v.Law
		}
	}
	return view
}

// distinct is the name of an implementation, with its time source and its test where others have that name, too.
func distinct(r *report, reports []*report) string {
	name, times, tests := 0, 0, 0
	for _, o := range reports {
		if o.Name != r.Name {
			continue
		}
		name++
		if o.Time == r.Time {
			times++
		}
		if o.Time == r.Time && o.Test == r.Test {
			tests++
		}
	}
	switch {
	case name == 1:
		return r.Name
	case times == 1:
		return fmt.Sprintf("%s (%s)", r.Name, r.Time)
	case tests == 1:
		return fmt.Sprintf("%s (%s, %s)", r.Name, r.Time, r.Test)
	}
	return fmt.Sprintf("%s (%s, %s of %s)", r.Name, r.Time, r.Test, r.Package)
}

// unlessZero is a number, and nothing for 0.
func unlessZero(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// newCell is what a row says of a rule, with a link to what was found.
func newCell(r *report, rule string, in impl) cellView {
	v, ok := r.Verdict(rule)
	if !ok {
		return cellView{Text: "–", Class: "skip"}
	}
	c := cellView{Text: r.cell(rule), Class: classes[v.Status][0]}
	for _, f := range in.Findings {
		if f.Rule == rule || v.Status == conformance.Undecided && slices.Contains(f.frees, rule) {
			c.Href = "#" + f.ID
		}
		for _, a := range f.Also {
			if a.Rule == rule {
				c.Href = "#" + a.ID
			}
		}
	}
	return c
}

// proofs are what subtests prove that are no rules.
var proofs = map[string]string{"CANARY": "Time comes from where the test says.", "TRAITS": "Each choice is declared."}

// newImpl is the part of the page on an implementation; where there are few, each rule that holds is drawn, too.
func newImpl(r *report, few bool, ids *slugs) impl {
	in := impl{
		ID: ids.of(r.Contract, r.Name, r.Time), Name: r.Name, Time: r.Time, Package: r.Package, Test: r.Test,
		Partial: r.Partial, Summary: counted(&r.Report), Traits: r.Traits, Next: whatNext(r),
		Effort: number(r.Schedules, "schedule") + ", " + number(r.Runs, "run"),
	}
	in.Findings = findings(in.ID, r, ids)
	for _, v := range r.Verdicts {
		if v.Status != conformance.Pass {
			continue
		}
		p := passed{Rule: v.Rule, Law: cmp.Or(v.Law, proofs[v.Rule]), Note: v.Reason, Example: v.Example}
		if v.Judged > 0 {
			p.Judged = number(v.Judged, "run")
		}
		if few && v.Picture != nil {
			p.Drawing = drawn(v, ids.of(in.ID, v.Rule, "held"))
		}
		in.Passed = append(in.Passed, p)
	}
	for _, g := range skips(r) {
		in.Skipped = append(in.Skipped, skippedView{g.reason, strings.Join(g.rules, ", ")})
	}
	return in
}

// findings are what fails, each cause once, then rules that fail no test, then the decisions, and last what could not
// be judged.
func findings(owner string, r *report, ids *slugs) []finding {
	var broken, asked, open []finding
	for _, d := range r.Decisions {
		asked = append(asked, newDecision(owner, d, ids))
	}
	told := map[string]bool{}
	for _, c := range r.causes() {
		v, _ := r.Verdict(c.Rules[0])
		f := newFinding(owner, v, ids)
		f.Place = c.Place
		for _, rule := range c.Rules {
			told[rule] = true
		}
		for _, rule := range c.Rules[1:] {
			v, _ := r.Verdict(rule)
			a := alsoBroken{ID: ids.of(owner, rule), Rule: rule, Law: v.Law, Replay: v.Replay}
			if v.Reason != c.Headline {
				a.Headline = v.Reason
			}
			f.Also = append(f.Also, a)
		}
		switch c.Status {
		case conformance.Inconclusive:
			open = append(open, f)
		case conformance.Undecided:
			asked = append(asked, f)
		default:
			broken = append(broken, f)
		}
	}
	for _, v := range r.Verdicts {
		switch {
		case told[v.Rule]:
		case v.Status == conformance.Fail, v.Status == conformance.KnownFail:
			broken = append(broken, newFinding(owner, v, ids))
		case v.Status == conformance.Inconclusive:
			open = append(open, newFinding(owner, v, ids))
		}
	}
	return slices.Concat(broken, asked, open)
}

// newDecision is the part of the page on a decision that is asked for.
func newDecision(owner string, d conformance.Decision, ids *slugs) finding {
	v := conformance.Verdict{
		Rule: d.Trait, Status: conformance.Undecided, Schedule: d.Schedule,
		Because: d.Because, Interleaving: d.Interleaving, Replay: d.Replay, Picture: d.Picture,
	}
	if d.Value == "" {
		v.Reason = "no value explains what was seen"
	} else {
		v.Reason = d.Value + ", only if your documentation says so. Otherwise this is a mistake"
	}
	if d.Headline != "" {
		v.Reason += ": " + d.Rule + ": " + d.Headline
	}
	f := newFinding(owner, v, ids)
	f.Word, f.Open, f.frees, f.Why = "a decision", true, d.Frees, ""
	if d.Means != "" {
		f.Law = "It means: " + d.Means + "."
	}
	f.Unexplained = d.Unexplained
	if len(d.Frees) > 0 {
		f.Law += " It turns off: " + strings.Join(d.Frees, ", ") + "."
	}
	return f
}

// newFinding is the part of the page on a rule that was not kept.
func newFinding(owner string, v conformance.Verdict, ids *slugs) finding {
	f := finding{
		ID: ids.of(owner, v.Rule), Rule: v.Rule, Class: classes[v.Status][0], Word: classes[v.Status][1],
		Headline: headline(v), Law: v.Law, Because: v.Because, Schedule: v.Schedule, Replay: v.Replay,
		Interleaving: v.Interleaving, Words: inWords(v.Schedule), Open: failing(&v), Literal: toPaste(v),
	}
	if v.Status == conformance.KnownFail {
		f.Why = v.Reason
	}
	if v.Picture != nil {
		f.Order = v.Picture.Order
		f.Drawing = drawn(v, f.ID)
	}
	return f
}

// drawn is the picture of a verdict.
func drawn(v conformance.Verdict, id string) template.HTML {
	text, title := v.Schedule, v.Rule+": "+headline(v)
	if v.Status == conformance.Pass {
		text, title = v.Example, v.Rule+" holds"
	}
	s, _ := conformance.ParseSchedule(text)
	return template.HTML(draw(v.Picture, s, id, title, inWords(text)))
}

// headline is what happened and what should have.
func headline(v conformance.Verdict) string {
	if v.Status != conformance.KnownFail {
		return v.Reason
	}
	line, _, _ := strings.Cut(v.Text, "\n")
	return strings.TrimPrefix(line, v.Rule+": ")
}
