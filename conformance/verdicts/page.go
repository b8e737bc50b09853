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
	"github.com/escapement-go/escapement/internal/timeline"
)

//go:embed page.html
var pageText string

//go:embed page.css
var pageStyle string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

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
	Impls    []impl
}

// ruleView is a column, and the law of the rule below the table; ID is empty if it has none.
type ruleView struct{ Rule, ID, Law string }

// cellView is what the table says of a rule.
type cellView struct{ Text, Class, Href string }

// impl is an implementation, in the table and below it.
type impl struct {
	*report
	ID, Name, Summary, Effort, Next string

	Counts           []string
	Cells            []cellView
	Findings, Passed []finding
	Skipped          []skipped
}

// finding is a rule that was broken or held, or that could not be judged.
type finding struct {
	conformance.Verdict
	ID, Class, Word, Headline, Words string

	Drawing     template.HTML
	Open        bool
	Place       string
	Unexplained string    // of a decision
	Literal     string    // of what is undeclared
	Judged      string    // by how many runs, if it held
	Also        []finding // other rules that fail by its cause
	frees       []string  // the rules that await a decision
}

func writePage(path, title string, all []*report) error {
	text, err := renderPage(title, all)
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o666)
}

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
		view := ruleView{Rule: rule}
		for _, r := range reports { // any of which may have the law
			if v, _ := r.Verdict(rule); v.Law != "" && view.ID == "" {
				view.ID, view.Law = ids.of(r.Contract, "rule", rule), v.Law
			}
		}
		s.Rules = append(s.Rules, view)
	}
	for _, st := range counting(reports) {
		s.Counts = append(s.Counts, st.cell)
	}
	for _, r := range reports {
		in := newImpl(r, few, ids)
		in.Name = distinct(r, reports)
		for _, st := range counting(reports) {
			in.Counts = append(in.Counts, fmt.Sprintf("%.0d", r.Count(st.status))) // which is nothing for 0
		}
		for _, rule := range s.Rules {
			in.Cells = append(in.Cells, newCell(rule.Rule, in))
		}
		s.Impls = append(s.Impls, in)
	}
	return s
}

// distinct is the name of an implementation, with its time source and its test where others have that name, too.
func distinct(r *report, reports []*report) (name string) {
	for _, form := range []string{"%s", "%s (%s)", "%s (%s, %s)", "%s (%s, %s of %s)"} {
		called := func(r *report) string {
			return fmt.Sprintf(form, []any{r.Name, r.Time, r.Test, r.Package}[:strings.Count(form, "%s")]...)
		}
		name = called(r)
		if !slices.ContainsFunc(reports, func(o *report) bool { return o != r && called(o) == name }) {
			break
		}
	}
	return name
}

// newCell is what a row says of a rule, with a link to what was found.
func newCell(rule string, in impl) cellView {
	v, ok := in.Verdict(rule)
	if !ok {
		return cellView{Text: "–", Class: "skip"}
	}
	c := cellView{Text: as(v.Status).cell, Class: as(v.Status).class}
	for _, f := range in.Findings {
		for _, f := range slices.Concat([]finding{f}, f.Also) {
			if f.Rule == rule || v.Status == conformance.Undecided && slices.Contains(f.frees, rule) {
				c.Href = "#" + f.ID
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
		report: r, ID: ids.of(r.Contract, r.Name, r.Time), Summary: counted(&r.Report), Next: whatNext(r),
		Effort:  timeline.Count(r.Schedules, "schedule") + ", " + timeline.Count(r.Runs, "run"),
		Skipped: skips(r),
	}
	in.Findings = findings(in.ID, r, ids)
	for _, v := range r.Verdicts {
		if v.Status != conformance.Pass {
			continue
		}
		v.Law = cmp.Or(v.Law, proofs[v.Rule])
		p := finding{Verdict: v}
		if v.Judged > 0 {
			p.Judged = timeline.Count(v.Judged, "run")
		}
		if few && v.Picture != nil {
			p.Drawing = drawn(v, ids.of(in.ID, v.Rule, "held"))
		}
		in.Passed = append(in.Passed, p)
	}
	return in
}

// last are the places of findings behind those that fail.
var last = map[conformance.Status]int{conformance.Undecided: 1, conformance.Inconclusive: 2}

// untold are the statuses of findings that no cause may have.
var untold = []conformance.Status{conformance.Fail, conformance.KnownFail, conformance.Inconclusive}

// findings are what fails, each cause once, then rules that fail no test, then the decisions, and last what could not
// be judged.
func findings(owner string, r *report, ids *slugs) []finding {
	var out []finding
	for _, d := range r.Decisions {
		out = append(out, newDecision(owner, d, ids))
	}
	told := map[string]bool{}
	for _, c := range r.causes() {
		v, _ := r.Verdict(c.Rules[0])
		f := newFinding(owner, v, ids)
		f.Place = c.Place
		told[v.Rule] = true
		for _, rule := range c.Rules[1:] {
			told[rule] = true
			v, _ := r.Verdict(rule)
			a := finding{Verdict: v, ID: ids.of(owner, rule)}
			if v.Reason != c.Headline {
				a.Headline = v.Reason
			}
			f.Also = append(f.Also, a)
		}
		out = append(out, f)
	}
	for _, v := range r.Verdicts {
		if !told[v.Rule] && slices.Contains(untold, v.Status) {
			out = append(out, newFinding(owner, v, ids))
		}
	}
	slices.SortStableFunc(out, func(a, b finding) int { return last[a.Status] - last[b.Status] })
	return out
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
	if d.Means != "" {
		v.Law = "It means: " + d.Means + "."
	}
	if len(d.Frees) > 0 {
		v.Law += " It turns off: " + strings.Join(d.Frees, ", ") + "."
	}
	f := newFinding(owner, v, ids)
	f.Word, f.Open, f.Unexplained, f.frees = "a decision", true, d.Unexplained, d.Frees
	return f
}

// newFinding is the part of the page on a rule that was not kept.
func newFinding(owner string, v conformance.Verdict, ids *slugs) finding {
	f := finding{
		Verdict: v, ID: ids.of(owner, v.Rule), Class: as(v.Status).class, Word: as(v.Status).says,
		Headline: headline(v), Words: inWords(v.Schedule), Open: failing(&v), Literal: toPaste(v),
	}
	if v.Picture != nil {
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
