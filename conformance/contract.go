package conformance

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/escapement-go/escapement/synctestcompat"
)

// Known is a rule that is known to fail. The rule still runs: if it passes, or if
// its smallest failing schedule is another one, the test fails, so that the list
// shrinks and hides no regression.
type Known struct {
	// Rule is the rule's ID.
	Rule string
	// Schedule is the smallest schedule that breaks it, as the failure prints it.
	Schedule string
	// Why is the reason, for the report.
	Why string
}

// samples is how often a racing schedule runs where the order is chance, and
// chance the share of those runs in which a finding must turn up if honest code
// can produce it by being overtaken between its decision and the first instruction
// of its callback. Sampled runs use one processor, on which that takes a preemption
// at the wrong moment: less than one run in a thousand. A missing check shows in
// about half of them.
const (
	samples = 80
	chance  = 0.15
)

// contract is one run of the suite on one implementation.
type contract struct {
	t     *testing.T
	name  string
	kind  string
	time  TimeSource
	known []Known
	rules []rule

	deb    *DebouncerSpec // the debouncer contract
	debOps map[Op]bool
	lim    *LimiterSpec // the limiter contract
	limOps map[Op]bool

	lab      *lab
	traits   []trait
	families func(c *contract) []family
	canary   func(c *contract) string
	accepts  func(op Op) bool
	learn    func()

	// What was found.
	findings  map[string]*finding
	schedules map[string]bool
	stopped   map[string]string // families given up, and why
	stalls    map[string]string // rules left inconclusive, and why
	// reentryHangs says that a method called from the callback blocked for good.
	reentryHangs bool
	exact        string // why runs cannot be settled exactly; "" if they can
}

// family is a part of the exploration: schedules of one kind.
type family struct {
	name      string
	schedules []Schedule
	// look makes each run look for what it leaves behind, in a bubble of its own.
	look bool
	// skip says why the family cannot be run.
	skip string
}

// afterReentry reports whether the family hangs on an implementation that holds a
// lock while its callback runs.
func (f family) afterReentry() bool {
	return len(f.schedules) > 0 && (f.schedules[0].Config.Inside != "" || f.schedules[0].Config.Busy > 0)
}

// leaks is the family that looks for what runs leave behind. It comes first; an
// implementation that leaks is explored no further than fewer runs of each family.
const (
	leaks = "leaks"
	fewer = 100
)

// finding is what was seen of one rule.
type finding struct {
	judged int
	worst  *violation // with the smallest schedule
	family string
	// maybe are findings that count only if they are frequent, by schedule.
	maybe map[string]*frequency
}

type frequency struct {
	hits   int
	first  *violation
	family string
}

// run does everything and reports it as subtests.
func (c *contract) run() *Report {
	c.t.Helper()
	if why := c.unfit(); why != "" {
		r := c.blank(why)
		c.t.Run("CANARY", func(t *testing.T) { t.Skip("conformance: " + why) })
		c.close(r)
		return r
	}
	r := c.evaluate()
	for i := range r.Verdicts {
		c.subtest(&r.Verdicts[i])
	}
	c.close(r)
	return r
}

// unfit says why nothing can be run here.
func (c *contract) unfit() string {
	c.t.Helper()
	switch {
	case c.time < Injected || c.time > Explicit:
		c.t.Fatal("conformance: the spec does not say how the implementation takes its time; set Time to Injected, PackageTime or Explicit")
	case c.time == Explicit && c.deb != nil:
		c.t.Fatal("conformance: a debouncer needs a clock of its own; set Time to Injected or PackageTime")
	case c.time == PackageTime && !synctestcompat.Available:
		return "package time can only be held in a bubble: " + synctestcompat.Reason
	}
	return ""
}

// evaluate explores and judges. It fails no test by itself.
func (c *contract) evaluate() *Report {
	c.t.Helper()
	c.findings = map[string]*finding{}
	c.schedules = map[string]bool{}
	c.stopped = map[string]string{}
	c.stalls = map[string]string{}
	c.lab.bubble = c.time != Explicit && synctestcompat.Available
	c.learn()

	if text := os.Getenv("ESCAPEMENT_SCHEDULE"); text != "" {
		s, err := ParseSchedule(text)
		if err != nil {
			c.t.Fatalf("conformance: ESCAPEMENT_SCHEDULE: %v", err)
		}
		c.explore(family{name: "replay", schedules: []Schedule{s}, look: true})
		return c.report("ESCAPEMENT_SCHEDULE is set: one schedule only")
	}
	if why := c.canary(c); why != "" {
		r := c.blank("CANARY failed")
		r.Verdicts[0] = Verdict{Rule: "CANARY", Level: Core, Status: Fail, Reason: why, Text: "CANARY: " + why}
		return r
	}
	for _, f := range c.families(c) {
		c.explore(f)
	}
	return c.report("")
}

// try runs one job n times outside the exploration.
func (c *contract) try(j job, n int, see func(*Trace)) {
	jobs := make([]job, n)
	for i := range jobs {
		jobs[i] = j
	}
	runs := c.lab.runs
	defer oneProcessor(j.order == OrderSampled)()
	if h := c.lab.run(jobs, func(_ job, tr *Trace) { see(tr) }); h != nil {
		c.stopped["traits"] = "a run hung: " + h.job.schedule.String()
	}
	c.lab.runs = runs
}

// explore runs a family and judges it by all rules.
func (c *contract) explore(f family) {
	if f.skip == "" && f.afterReentry() && c.reentryHangs {
		f.skip = "a method deadlocks when the callback calls it (X-REENT), so this would hang too"
	}
	if f.skip != "" {
		c.stopped[f.name] = f.skip
		return
	}
	var jobs []job
	for _, s := range f.schedules {
		c.schedules[s.String()] = true
		for _, o := range c.orders(s) {
			jobs = append(jobs, job{schedule: s, order: o, family: f.name, look: f.look})
		}
	}
	if c.lab.leaks && len(jobs) > fewer {
		// Bubbles cannot get rid of what blocks in them for ever, and each look at
		// the stacks would grow with it.
		jobs = jobs[:fewer]
		c.exact = fmt.Sprintf("each run leaves goroutines behind, so that only the first %d runs of each family were made", fewer)
	}
	active := c.active()
	sampled := slices.ContainsFunc(jobs, func(j job) bool { return j.order == OrderSampled })
	defer oneProcessor(sampled)()
	if h := c.lab.run(jobs, func(j job, tr *Trace) { c.judge(active, j, tr) }); h != nil {
		c.hung(f, h)
	}
}

// oneProcessor makes the process run on one processor until the result is called.
func oneProcessor(yes bool) (restore func()) {
	if !yes {
		return func() {}
	}
	n := runtime.GOMAXPROCS(1)
	return func() { runtime.GOMAXPROCS(n) }
}

// orders lists the orders in which a schedule is run.
func (c *contract) orders(s Schedule) []Order {
	if s.racing() == 0 {
		return []Order{OrderSettled}
	}
	if c.time == PackageTime {
		out := make([]Order, samples)
		for i := range out {
			out[i] = OrderSampled
		}
		return out
	}
	if !c.lab.bubble && slices.ContainsFunc(s.Steps, func(st Step) bool { return st.Racing && st.Op != OpCall }) {
		// Without a bubble nobody can tell a step that waits for what is held from
		// one that is still running.
		return []Order{OrderStepFirst, OrderFireFirst}
	}
	return []Order{OrderStepFirst, OrderHeld, OrderFireFirst}
}

// active are the rules that judge traces of this implementation.
func (c *contract) active() []*rule {
	var out []*rule
	for i := range c.rules {
		if r := &c.rules[i]; r.trace != nil && (r.skip == nil || r.skip(c) == "") {
			out = append(out, r)
		}
	}
	return out
}

// judge shows a trace to every rule.
func (c *contract) judge(active []*rule, j job, tr *Trace) {
	x := &exam{Trace: tr, c: c, job: j}
	for _, r := range active {
		if about := concerns[r.ID]; about != nil && !about(c, j) {
			continue
		}
		f := c.findings[r.ID]
		if f == nil {
			f = &finding{maybe: map[string]*frequency{}}
			c.findings[r.ID] = f
		}
		f.judged++
		v := r.trace(x)
		if v == nil {
			continue
		}
		v.Trace = tr
		if v.Chance {
			key := j.schedule.String()
			if f.maybe[key] == nil {
				f.maybe[key] = &frequency{first: v, family: j.family}
			}
			f.maybe[key].hits++
			continue
		}
		f.keep(v, j.family)
	}
}

// keep remembers v if its schedule is the smallest so far.
func (f *finding) keep(v *violation, family string) {
	order := -1
	if f.worst != nil {
		order = smaller(v.Trace.Schedule, f.worst.Trace.Schedule)
	}
	if order < 0 || order == 0 && f.family == leaks {
		f.worst, f.family = v, family // the same schedule counts as found by the enumeration
	}
}

// settleChances turns frequent findings into violations.
func (f *finding) settleChances() {
	for _, m := range f.maybe {
		if float64(m.hits) >= chance*samples {
			m.first.Headline += fmt.Sprintf(" (in %d of %d runs)", m.hits, samples)
			f.keep(m.first, m.family)
		}
	}
	f.maybe = nil
}

// hung judges a run that made no progress.
func (c *contract) hung(f family, h *hang) {
	s := h.job.schedule
	c.stopped[f.name] = "a run hung and the rest was given up: " + s.String()
	id := "X-CALLS"
	if s.Config.Inside != "" {
		id = "X-REENT"
	}
	if where := blockedInCallback(h.stacks); where != "" && s.Config.Inside != "" {
		c.reentryHangs = true
		find := c.findings[id]
		if find == nil {
			find = &finding{}
			c.findings[id] = find
		}
		find.judged++
		find.keep(&violation{
			Headline: fmt.Sprintf("%s called from the callback never returned", s.Config.Inside),
			Because:  "its goroutine is blocked, under its own callback: " + where,
			Trace:    &Trace{Schedule: s, Order: h.job.order},
		}, f.name)
		return
	}
	if s.Config.Busy > 0 {
		// Whether a method may wait for a running callback is a choice.
		c.stopped[f.name] = "a method waits on a lock while the callback runs, which no driver can settle: " + s.String()
		return
	}
	c.stalls[id] = "no progress for " + watchdog.String() + ", and the stacks do not prove why: " + s.String()
}

// blockedInCallback returns what a goroutine waits for that called the
// implementation from its own callback.
func blockedInCallback(dump string) string {
	for _, g := range strings.Split(dump, "\n\n") {
		header, stack, _ := strings.Cut(g, "\n")
		method := strings.Index(stack, ".(*DebouncerFuncs).do(")
		callback := strings.Index(stack, ".(*DebouncerSpec).play.func1(")
		if method < 0 || callback < method {
			continue
		}
		for _, state := range []string{"sync.", "semacquire", "chan ", "select"} {
			if strings.Contains(header, "["+state) {
				return describe(header, stack)
			}
		}
	}
	return ""
}

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
		c.conclude(&c.rules[i], v, only)
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
	if r.probe != nil && f.worst == nil {
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
		if v.Level == Core {
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

// close prints the last line and writes the report.
func (c *contract) close(r *Report) {
	c.t.Helper()
	if err := r.write(); err != nil {
		c.t.Errorf("conformance: ESCAPEMENT_REPORT: %v", err)
	}
	switch {
	case r.Count(Pass, Fail, KnownFail, Inconclusive) == 0 && c.unfit() == "":
		c.t.Errorf("conformance: %s: nothing ran", r)
	default:
		c.t.Logf("conformance: %s", r)
	}
}

// checkTraits is the subtest TRAITS.
func (c *contract) checkTraits() Verdict {
	v := Verdict{Rule: "TRAITS", Level: Core, Status: Pass, Judged: 1}
	var missing []string
	for _, tr := range c.traits {
		if tr.declared == 0 && !tr.needless() {
			missing = append(missing, tr.name)
		}
	}
	if len(missing) == 0 {
		return v
	}
	kind := map[string]string{"debouncer": "DebounceTraits", "limiter": "LimiterTraits"}[c.kind]
	var b strings.Builder
	fmt.Fprintf(&b, "TRAITS: undeclared: %s\n", strings.Join(missing, ", "))
	b.WriteString("Correct implementations differ in these choices, so the rules that depend on them are skipped until\n" +
		"you declare yours. This is what was observed; check that each is what you mean, and paste it:\n\n")
	fmt.Fprintf(&b, "\tTraits: conformance.%s{\n", kind)
	for _, tr := range c.traits {
		if tr.needless() {
			continue
		}
		value, note := tr.declared, ""
		if value == 0 {
			value, note = tr.observe(), " // observed"
		}
		if value < 1 || value > len(tr.values) {
			fmt.Fprintf(&b, "\t\t// %s: nothing that was observed fits one of %s\n", tr.name, strings.Join(tr.values, ", "))
			continue
		}
		name := tr.values[value-1]
		if !strings.Contains(name, ".") {
			name = "conformance." + name
		}
		fmt.Fprintf(&b, "\t\t%s: %s,%s\n", tr.name, name, note)
	}
	b.WriteString("\t},\n")
	v.Status, v.Reason, v.Text = Fail, "undeclared: "+strings.Join(missing, ", "), b.String()
	return v
}

// declared reports whether a trait was declared.
func (c *contract) declared(name string) bool {
	for _, tr := range c.traits {
		if tr.name == name {
			return tr.declared != 0
		}
	}
	return false
}

// needs makes a rule's skip function: the operations it is about must be there and
// the traits it depends on declared.
func needs(ops []Op, traits ...string) func(c *contract) string {
	return func(c *contract) string {
		for _, op := range ops {
			if !c.accepts(op) {
				return "the implementation has no " + string(op)
			}
		}
		for _, name := range traits {
			if !c.declared(name) {
				return "trait " + name + " is undeclared"
			}
		}
		return ""
	}
}

// Rules returns the rules of a contract, "debouncer" or "limiter", in the order of
// their subtests.
func Rules(contract string) []Rule {
	var out []Rule
	for _, r := range map[string][]rule{"debouncer": debouncerRules, "limiter": limiterRules}[contract] {
		out = append(out, r.Rule)
	}
	return out
}
