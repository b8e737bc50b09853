package suite

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/escapement-go/escapement/conformance"
)

// report turns the findings into verdicts, CANARY and TRAITS first. If only one schedule
// was run, only says why.
func (e *engine) report(only string) *conformance.Report {
	r := e.blank(only)
	if only == "" {
		r.Verdicts[0].Status = conformance.Pass
	}
	absent := map[string]bool{}
	for i, rule := range e.rules {
		v := &r.Verdicts[i+2]
		if until := e.options.Until; until != "" && v.Rule != until {
			continue
		}
		absent[v.Rule] = e.conclude(rule, v, only)
		if e.insist(v) {
			e.conclude(rule, v, only)
		}
		e.applyKnown(rule, v)
		if v.Status == conformance.Pass && v.Example != "" {
			v.Picture = pictured(e.shown(e.found(v.Rule).example))
		}
	}
	if v := &r.Verdicts[1]; only == "" {
		v.Status, v.Judged = conformance.Pass, 1
		if e.undeclared {
			reason, text, decisions := e.undecided()
			if r.Decisions = decisions; !e.optional || len(decisions) > 0 {
				v.Status, v.Reason, v.Text = conformance.Undecided, reason, text
			}
		}
	}
	if e.Odd != "" {
		v := &r.Verdicts[0]
		v.Status, v.Reason, v.Text = conformance.Fail, e.Odd, "CANARY: "+e.Odd
	} else if e.first != nil {
		r.Verdicts[0].Status, r.Verdicts[0].Reason = conformance.Inconclusive, e.inWords(e.first)
	}
	e.settleInconclusive(r)
	e.settleDark(r, absent)
	r.Schedules, r.Runs, r.Interleavings = len(e.schedules), e.lab.runs, e.explored
	if len(e.left) > 0 {
		r.LeftOut = e.left
	}
	e.markPartial(r, absent)
	return r
}

// conclude sets the verdict on one rule. It reports whether the implementation has nothing
// that the rule is about.
func (e *engine) conclude(r *law, v *conformance.Verdict, only string) (absent bool) {
	v.Status, v.Reason = conformance.Pass, ""
	if skip := skip(e.Suite, r, e.traits, e.choices); skip.why != "" {
		v.Status, v.Reason = conformance.Skip, skip.why
		if trait := e.awaits[r.ID]; trait != "" {
			v.Status, v.Reason = conformance.Undecided, "it depends on a decision about "+trait
		}
		return skip.absent
	}
	if r.Live {
		v.Status, v.Reason = conformance.Skip, cmp.Or(only, WithoutRaceDetector(), inSubtest)
		return false
	}
	f := e.found(r.ID)
	f.settleChances()
	if r.Probe != nil && f.judged == 0 && e.hopeless() && only == "" {
		f.unreached = true // what it does would hang too
	} else if r.Probe != nil && f.judged == 0 {
		if why := e.probe(r, f, only); why == NoProgress {
			e.stalls[r.ID] = why
		} else if why != "" {
			v.Status, v.Reason = conformance.Skip, why
			return false
		}
	}
	v.Judged, v.LeftOut = f.judged, 0 // and one of the runs by name
	for _, n := range f.left {
		v.LeftOut += n
	}
	if f.example != nil {
		v.Example = f.example.Schedule.String()
	}
	switch {
	case f.worst != nil:
		e.fail(r, f, v)
	case e.open(r.ID) != "":
		v.Status, v.Reason = conformance.Inconclusive, e.open(r.ID)
	case f.beyond != "":
		v.Status = conformance.Skip
		v.Reason = "each run that breaks it breaks " + f.beyond + ", too, which is more basic"
	case f.judged == 0:
		v.Status = conformance.Skip
		v.Reason = cmp.Or(mostOften(f.left), e.Inexact, "no schedule of this run concerns it")
		for _, name := range slices.Sorted(maps.Keys(e.givenUp)) {
			v.Reason = e.givenUp[name]
		}
	case r.ID == leakRule && e.notLeft != "":
		v.Reason = e.notLeft
	case r.Meets && woven() && e.unexplored[r.ID] != "":
		v.Reason = "which calls meet is chance, as their orders cannot be explored: " + e.unexplored[r.ID]
	case v.LeftOut > 0:
		v.Reason = fmt.Sprintf("%d judged, %d left out: %s", v.Judged, v.LeftOut, mostOften(f.left))
	}
	return false
}

// fail sets the verdict on a rule that is broken.
func (e *engine) fail(r *law, f *finding, v *conformance.Verdict) {
	if told := func(_ string, v *Violation) bool { return v.Run != nil }; f.worst.sequential && e.someBroken(told) {
		v.Status, v.Reason = conformance.Skip, "one goroutine gets the same, which a rule about single calls tells"
		return
	}
	e.explained = e.explained || r.Cause
	e.makeSmaller(r, f)
	v.Status, v.Reason, v.Family = conformance.Fail, f.worst.Headline, f.family
	if f.worst.Run != nil {
		v.Schedule = f.worst.Run.Schedule.String()
	}
	if d := e.ask(r, f.worst); d != nil {
		v.Status, v.Reason = conformance.Undecided, "it depends on a decision about "+d.Name+": "+f.worst.Headline
		return
	}
	f.worst.wavers = e.wavers(r, f)
	e.explain(r, v, f.worst)
	v.Text += f.otherKinds()
}

// mostOften is the most frequent of reasons, "" if there are none.
func mostOften(reasons map[string]int) (why string) {
	for _, r := range slices.Sorted(maps.Keys(reasons)) {
		if reasons[r] > reasons[why] {
			why = r
		}
	}
	return why
}

// inSubtest is the reason to skip a live rule until its subtest runs.
const inSubtest = "runs in its subtest"

// probe lets a rule judge by runs of its own, and returns why it did not.
func (e *engine) probe(r *law, f *finding, only string) (skip string) {
	switch {
	case only != "":
		return only
	case e.options.Unprobed:
		return "not asked for"
	}
	p, broken, why := e.ownRuns(r)
	switch {
	case why != "":
		return why
	case p.spent:
		return polls
	}
	for _, s := range p.explored {
		e.schedules[s.String()] = true
	}
	if p.stall != "" {
		e.stalls[r.ID] = p.stall
	}
	f.judged++
	if broken != nil {
		f.worst, f.family = broken, "probe"
	}
	return ""
}

// ownRuns makes the runs of a rule's own, and returns what it finds, or why it finds nothing.
func (e *engine) ownRuns(r *law) (p *Probe, broken *Violation, why string) {
	p = &Probe{Suite: e.Suite, rule: r.ID}
	p.Does(r.Text)
	defer e.lab.last.does("", "")
	broken, why = r.Probe(p)
	return p, broken, why
}

// settleInconclusive gives the rules that are left inconclusive their texts; those that are
// listed as such get none, and so do not fail.
func (e *engine) settleInconclusive(r *conformance.Report) {
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		why, listed, ok := e.excused(v.Rule)
		switch {
		case v.Status == conformance.Inconclusive && ok:
			v.Reason = "known: " + why + " (" + v.Reason + ")"
		case v.Status == conformance.Inconclusive:
			v.Text = e.couldNot(v.Rule, v.Law, v.Reason)
		case listed && v.Status == conformance.Pass:
			v.Status = conformance.Fail
			v.Reason = "it is listed in KnownFailing as inconclusive but passes: remove the entry"
			v.Text = v.Rule + ": " + v.Reason
		}
	}
}

// settleDark lets a run fail in which most core rules were not judged, or on fewer schedules than were left out, as
// runs made no progress, and which entries excuse: that is no verdict, whatever is known.
func (e *engine) settleDark(r *conformance.Report, absent map[string]bool) {
	core, dark := 0, 0
	for _, v := range r.Verdicts[2:] {
		if v.Level == conformance.Core && !absent[v.Rule] {
			core++
			if v.Status == conformance.Inconclusive && v.Text == "" && v.Judged <= v.LeftOut {
				dark++
			}
		}
	}
	if 2*dark > core && r.Partial == "" {
		v := &r.Verdicts[0]
		v.Status = conformance.Fail
		v.Reason = fmt.Sprintf("%d of %d core rules could not be judged, which no entry of KnownFailing excuses",
			dark, core)
		v.Text = "CANARY: " + v.Reason
	}
}

// excused reports whether a rule is listed as inconclusive, and whether all is that leaves it so.
func (e *engine) excused(rule string) (why string, listed, all bool) {
	known := map[string]string{}
	for _, k := range e.profile.Known {
		if k.Inconclusive && k.Rule == rule {
			known[k.Schedule], why, listed = k.Why, k.Why, true
		}
	}
	f := e.findings[rule]
	if f == nil || e.stalls[rule] != "" {
		_, all = known[""]
		return why, listed, all
	}
	other := func(u *unfinished) bool { _, ok := known[u.schedule()]; return !ok }
	return why, listed, !f.unreached && !slices.ContainsFunc(f.unfinished, other)
}

// blank is a report in which every rule is skipped for one reason.
func (e *engine) blank(why string) *conformance.Report {
	file, line := callSite()
	r := &conformance.Report{
		File: file, Line: line,
		Version:  conformance.Version,
		Name:     e.profile.Name,
		Contract: e.profile.Kind,
		Time:     e.Time.String(),
		Package:  e.pkg,
		Test:     e.T.Name(),
		Traits:   e.chosen,
		Bubbles:  e.Bubble,
		Partial:  why,
	}
	for _, id := range []string{"CANARY", "TRAITS"} {
		r.Verdicts = append(r.Verdicts, skippedVerdict(id, conformance.Core, why))
	}
	for _, rule := range e.rules {
		v := skippedVerdict(rule.ID, rule.Level, why)
		v.Law = rule.Text
		r.Verdicts = append(r.Verdicts, v)
	}
	return r
}

// skippedVerdict is that of a rule that was not judged.
func skippedVerdict(rule string, level conformance.Level, why string) conformance.Verdict {
	return conformance.Verdict{Rule: rule, Level: level, Status: conformance.Skip, Reason: why}
}

// markPartial notes in the report if too little was judged for a verdict on the whole.
func (e *engine) markPartial(r *conformance.Report, absent map[string]bool) {
	if r.Partial != "" {
		return
	}
	core, ran := 0, 0
	var without []string
	for _, v := range r.Verdicts[2:] {
		if v.Level == conformance.Core && !absent[v.Rule] {
			core++
			if v.Status != conformance.Skip && v.Status != conformance.Undecided {
				ran++
			} else {
				without = append(without, v.Rule)
			}
		}
	}
	switch why := e.missing(); {
	case why != "":
		r.Partial = why
	case e.unfinished != nil && !e.unfinished.blamed:
		r.Partial = "unfinished: " + e.unfinished.what
	case e.Inexact != "":
		r.Partial = e.Inexact
	case ran*10 < core*6:
		r.Partial = fmt.Sprintf("%d of %d core rules ran, without %s", ran, core, strings.Join(without, ", "))
	case e.shallow && testing.Short():
		r.Partial = "with -short the longest schedules are left out"
	}
}

// missing says what the contract is about and was never run.
func (e *engine) missing() string {
	if c, ok := e.c.of().(Lacking); ok {
		return c.Lacks(e.Suite)
	}
	return ""
}

// subtest reports one verdict under the rule's name.
func (e *engine) subtest(v *conformance.Verdict) {
	e.T.Helper()
	e.T.Run(v.Rule, func(t *testing.T) {
		t.Helper()
		if r := e.rule(v.Rule); r != nil && r.Live && v.Reason == inSubtest {
			e.runLive(t, r, v)
		}
		if a, ok := any(t).(interface{ Attr(key, value string) }); ok {
			a.Attr("conformance.rule", v.Rule)
			a.Attr("conformance.status", string(v.Status))
		}
		switch v.Status {
		case conformance.Fail:
			if v.Level == conformance.Provisional {
				t.Skip("provisional, fails:\n" + v.Text)
			}
			t.Error("\n" + v.Text + e.chanced(v.Rule))
		case conformance.KnownFail:
			t.Skip("known failing: " + v.Reason + "\n" + v.Text)
		case conformance.Inconclusive:
			if v.Level == conformance.Core && v.Text != "" && !e.red {
				t.Error("\n" + v.Text)
			}
			t.Skip(string(v.Status) + ": " + v.Reason + e.where(v.Rule))
		case conformance.Skip, conformance.Undecided:
			if v.Text != "" { // TRAITS says what is to be decided
				t.Error("\n" + v.Text)
			}
			t.Skip(string(v.Status) + ": " + v.Reason)
		}
	})
}

// runLive runs a rule whose findings fail the test that is running, within that rule's
// subtest.
func (e *engine) runLive(t *testing.T, r *law, v *conformance.Verdict) {
	for _, k := range e.profile.Known {
		if k.Rule == r.ID {
			v.Status = conformance.Skip
			v.Reason = "known failing, and it cannot be run without failing the test: " + k.Why
			return
		}
	}
	outer := e.lab.t
	e.lab.t = t
	defer func() {
		e.lab.t = outer
		if e.raced && v.Status == conformance.Pass {
			t.Error("the race detector reported a data race in the calls of another rule; see above")
		}
		if t.Failed() && v.Status == conformance.Pass {
			v.Status = conformance.Fail
			v.Reason = "the race detector reported a data race; its report is in the output of this test"
		}
	}()
	v.Status, v.Reason, v.Judged = conformance.Pass, "", 1
	switch _, broken, why := e.ownRuns(r); {
	case why == NoProgress:
		e.stalls[r.ID] = why
		v.Status, v.Reason, v.Judged = conformance.Inconclusive, why, 0
		v.Text = e.couldNot(r.ID, r.Text, why)
	case why != "":
		v.Status, v.Reason, v.Judged = conformance.Skip, why, 0
	case broken != nil:
		v.Status, v.Reason = conformance.Fail, broken.Headline
		e.explain(r, v, broken)
	}
}

// close prints the last line and writes the report of what took so long. It skips the test
// if nothing could be judged.
func (e *engine) close(r *conformance.Report, took time.Duration) {
	e.T.Helper()
	e.setCauses(r)
	if err := r.Write(took); err != nil {
		e.T.Errorf("conformance: ESCAPEMENT_REPORT: %v", err)
	}
	if v := r.Verdicts[0]; v.Status == conformance.Fail && !e.T.Failed() { // -run has not selected its subtest
		e.T.Error("\n" + v.Text)
	}
	judged := conformance.Report{Verdicts: r.Verdicts[2:]}
	if judged.Count(conformance.Skip, conformance.Undecided) == len(judged.Verdicts) && !e.T.Failed() {
		if os.Getenv("ESCAPEMENT_SCHEDULE") != "" { // who asks for one schedule wants to know
			e.T.Fatalf("conformance: ESCAPEMENT_SCHEDULE: nothing was judged: %s", r)
		}
		e.T.Skipf("conformance: nothing was judged: %s", r)
	}
	e.T.Logf("conformance: %s", r)
	if why := e.unexplored[""]; why != "" {
		e.T.Logf("conformance: how racing steps meet is chance, as their orders cannot be explored: %s", why)
	}
	if where := e.where(""); where != "" && e.red && !e.unfinished.blamed { // otherwise a rule's text says it
		e.T.Logf("conformance: what is inconclusive is so because %s%s", e.unfinished.what, where)
	}
	// Where traits are undeclared TRAITS has said it.
	if fails(r) && r.Verdicts[0].Status == conformance.Pass && r.Verdicts[1].Status == conformance.Pass {
		if why := e.other(); why != "" {
			e.T.Logf("conformance: %s", why)
		}
	}
	if cause, also := telling(r, e.rank); len(also) > 0 && !e.replayed {
		e.T.Logf("conformance: begin with %s; also broken: %s", cause, strings.Join(also, ", "))
	}
	if why := e.missing(); why != "" && !e.T.Failed() {
		e.T.Skipf("conformance: the verdict is partial: %s", why)
	}
}
