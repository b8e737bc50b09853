package conformance

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// report turns the findings into verdicts, CANARY and TRAITS first.
func (c *contract) report(only string) *Report {
	r := c.blank("")
	r.Partial = only
	r.Verdicts[0] = Verdict{Rule: "CANARY", Level: Core, Status: Pass}
	if only != "" {
		r.Verdicts[0] = Verdict{Rule: "CANARY", Level: Core, Status: Skip, Reason: only}
		r.Verdicts[1] = Verdict{Rule: "TRAITS", Level: Core, Status: Skip, Reason: only}
	} else {
		r.Verdicts[1] = c.checkTraits()
	}
	for i := range c.rules {
		v := &r.Verdicts[i+2]
		if c.until != "" && v.Rule != c.until {
			continue
		}
		c.conclude(&c.rules[i], v, only)
		if c.insist(v) {
			c.conclude(&c.rules[i], v, only)
		}
		c.applyKnown(v)
	}
	r.Schedules, r.Runs = len(c.schedules), c.lab.runs
	c.markPartial(r)
	return r
}

// conclude reaches the verdict on one rule.
func (c *contract) conclude(r *rule, v *Verdict, only string) {
	v.Status, v.Reason = Pass, ""
	if r.skip != nil {
		if why := r.skip(c); why != "" {
			v.Status, v.Reason = Skip, why
			return
		}
	}
	if r.live {
		v.Status, v.Reason = Skip, only
		if only == "" {
			v.Reason = "runs in its subtest"
		}
		return
	}
	f := c.findings[r.ID]
	if f == nil {
		f = &finding{}
	}
	f.settleChances()
	if r.probe != nil && f.judged == 0 {
		if only != "" {
			v.Status, v.Reason = Skip, only
			return
		}
		broken, why := r.probe(c)
		if why != "" {
			v.Status, v.Reason = Skip, why
			return
		}
		f.judged++
		if broken != nil {
			f.worst, f.family = broken, "probe"
		}
	}
	v.Judged = f.judged
	switch {
	case f.worst != nil:
		v.Status, v.Reason, v.Family = Fail, f.worst.Headline, f.family
		if f.worst.Trace != nil {
			v.Schedule = f.worst.Trace.Schedule.String()
		}
		v.Text = c.text(r, f.worst)
	case c.stalls[r.ID] != "":
		v.Status, v.Reason = Inconclusive, c.stalls[r.ID]
	case f.judged == 0:
		v.Status, v.Reason = Skip, cmp.Or(c.exact, "no schedule of this run concerns it")
		for _, name := range sortedKeys(c.stopped) {
			v.Reason = c.stopped[name]
		}
	}
}

// insist runs the schedule of a known failure again if it did not turn up, and
// reports whether it did then. One that is not explored, because random schedules found
// it, counts where the exploration finds nothing.
func (c *contract) insist(v *Verdict) bool {
	for _, k := range c.known {
		if k.Rule != v.Rule || v.Status != Pass && v.Status != Fail || v.Schedule == k.Schedule {
			continue
		}
		s, err := ParseSchedule(k.Schedule)
		if err != nil || k.Schedule == "" || v.Status == Fail && !c.schedules[k.Schedule] {
			continue // a probe's, or one that is no longer the smallest
		}
		if c.repeats(v.Rule, s) {
			return true
		}
	}
	return false
}

// repeats runs a schedule again and again until it breaks the rule, if it does. What else
// it breaks is not looked at.
func (c *contract) repeats(rule string, s Schedule) bool {
	f, all := c.found(rule), c.findings
	c.findings = map[string]*finding{rule: f}
	defer func() { c.findings = all }()
	for range tries {
		c.explore(family{name: c.replayed(s), schedules: []Schedule{s}})
		if f.settleChances(); f.worst != nil && f.worst.Trace.Schedule.String() == s.String() {
			return true
		}
	}
	return false
}

// applyKnown compares a verdict with KnownFailing.
func (c *contract) applyKnown(v *Verdict) {
	for _, k := range c.known {
		if k.Rule != v.Rule || v.Status == Skip {
			continue
		}
		switch {
		case v.Status == Fail && v.Schedule == k.Schedule:
			v.Status, v.Reason = KnownFail, k.Why
		case v.Status == Fail:
			v.Text = fmt.Sprintf("known to fail on %q, but now the smallest failing schedule is another one:\n%s", k.Schedule, v.Text)
			v.Reason += " (not the known failure)"
		case v.Status == Pass:
			v.Status, v.Reason = Fail, "it is listed in KnownFailing but passes: remove the entry"
			v.Text = v.Rule + ": " + v.Reason
		}
	}
}

// blank is a report in which every rule is skipped for one reason.
func (c *contract) blank(why string) *Report {
	r := &Report{Version: Version, Name: c.name, Contract: c.kind, Time: c.time.String(), Bubbles: c.lab.bubble, Partial: why}
	for _, id := range []string{"CANARY", "TRAITS"} {
		r.Verdicts = append(r.Verdicts, Verdict{Rule: id, Level: Core, Status: Skip, Reason: why})
	}
	for i := range c.rules {
		r.Verdicts = append(r.Verdicts, Verdict{Rule: c.rules[i].ID, Level: c.rules[i].Level, Status: Skip, Reason: why})
	}
	return r
}

// markPartial says so if too little ran for a verdict on the whole.
func (c *contract) markPartial(r *Report) {
	if r.Partial != "" {
		return
	}
	core, ran := 0, 0
	for _, v := range r.Verdicts[2:] {
		lacks := c.lim != nil && strings.HasPrefix(v.Reason, lacking)
		if v.Level == Core && v.Reason != noTrailing && v.Reason != noSuchEdge && v.Reason != noSuchThing && v.Reason != otherKind && !lacks {
			core++
			if v.Status != Skip {
				ran++
			}
		}
	}
	switch {
	case c.exact != "":
		r.Partial = c.exact
	case ran*10 < core*6:
		r.Partial = fmt.Sprintf("%d of %d core rules ran", ran, core)
	}
	for _, f := range sortedKeys(c.stopped) {
		if strings.Contains(c.stopped[f], "hung") {
			r.Partial = strings.TrimPrefix(r.Partial+"; "+f+": "+c.stopped[f], "; ")
		}
	}
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// subtest reports one verdict under the rule's name.
func (c *contract) subtest(v *Verdict) {
	c.t.Run(v.Rule, func(t *testing.T) {
		i := slices.IndexFunc(c.rules, func(r rule) bool { return r.ID == v.Rule })
		if i >= 0 && c.rules[i].live && v.Reason == "runs in its subtest" {
			c.runLive(t, &c.rules[i], v)
		}
		if a, ok := any(t).(interface{ Attr(key, value string) }); ok {
			a.Attr("conformance.rule", v.Rule)
			a.Attr("conformance.status", string(v.Status))
		}
		switch v.Status {
		case Fail:
			if v.Level == Provisional {
				t.Skip("provisional, fails:\n" + v.Text)
			}
			t.Error("\n" + v.Text)
		case KnownFail:
			t.Skip("known failing: " + v.Reason + "\n" + v.Text)
		case Skip, Inconclusive:
			t.Skip(string(v.Status) + ": " + v.Reason)
		}
	})
}

// runLive runs a rule that fails whatever test is running when it finds something.
func (c *contract) runLive(t *testing.T, r *rule, v *Verdict) {
	for _, k := range c.known {
		if k.Rule == r.ID {
			v.Status, v.Reason = Skip, "known failing, and it cannot be run without failing the test: "+k.Why
			return
		}
	}
	outer := c.lab.t
	c.lab.t = t
	defer func() {
		c.lab.t = outer
		if t.Failed() && v.Status == Pass {
			v.Status, v.Reason = Fail, "the race detector reported a data race; its report is in the output above"
		}
	}()
	v.Status, v.Reason, v.Judged = Pass, "", 1
	broken, why := r.probe(c)
	switch {
	case why != "":
		v.Status, v.Reason, v.Judged = Skip, why, 0
	case broken != nil:
		v.Status, v.Reason, v.Text = Fail, broken.Headline, c.text(r, broken)
	}
}

// close prints the last line and writes the report of what began then.
func (c *contract) close(r *Report, began time.Time) {
	c.t.Helper()
	if err := r.write(time.Since(began)); err != nil {
		c.t.Errorf("conformance: ESCAPEMENT_REPORT: %v", err)
	}
	switch {
	case r.Count(Pass, Fail, KnownFail, Inconclusive) == 0 && c.unfit() == "":
		c.t.Errorf("conformance: %s: nothing ran", r)
	default:
		c.t.Logf("conformance: %s", r)
	}
}
