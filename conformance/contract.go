package conformance

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/escapement-go/escapement/synctestcompat"
)

// Known is a rule that is known to fail. The rule still runs: if it passes, or if
// its smallest failing schedule is another one, the test fails, so that the list
// shrinks and hides no regression.
type Known struct {
	// Rule is the rule's ID.
	Rule string
	// Schedule is the smallest schedule that breaks it, as the failure prints it. Where the
	// suite's own schedules do not break the rule it may be any that does, such as one that
	// package properties came to.
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

// tries is how often the schedule of a known failure is run again before it is said
// to pass. What decides may be chance, such as the order in which goroutines run.
const tries = 100

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
	tied   bool          // the limiter's burst is what comes in the Per of its rate
	thr    *ThrottleSpec // the throttle contract
	thrOps map[Op]bool
	lky    *LeakyBucketSpec // the leaky bucket contract
	lkyOps map[Op]bool
	quo    *QuotaSpec // the quota contract
	quoOps map[Op]bool
	clk    *ClockSpec // the clock contract
	clkOps map[Op]bool
	con    *ConcurrencySpec // the concurrency contract
	conOps map[Op]bool

	single   bool   // a Judge's: there are no subtests
	pkg      string // the import path of its test
	lab      *lab
	traits   []trait
	families func(c *contract) []family
	canary   func(c *contract) string
	accepts  func(op Op) bool
	learn    func()

	// What was found.
	findings  map[string]*finding
	seen      map[string]int  // traits that were observed
	searches  map[string]int  // differences of a limiter that were traced back, by family
	basics    map[string]bool // laws of a limiter that are broken without anything that could explain it
	schedules map[string]bool
	stopped   map[string]string // families given up, and why
	stalls    map[string]string // rules left inconclusive, and why
	until     string            // if not "", the only rule that is asked for: its first finding ends the exploration
	// reentryHangs says that a method called from the callback blocked for good.
	reentryHangs bool
	exact        string // why runs cannot be settled exactly; "" if they can
	unsettled    string // why nothing more is explored, as where no bubble can be settled; "" if it is
	parked       bool   // of a concurrency limiter: who waits for a slot waits for no lock
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

// withoutReentry leaves out what hangs on an implementation that holds a lock while
// its callback runs.
func (f family) withoutReentry() family {
	hangs := func(s Schedule) bool {
		return s.Config.Inside != "" || s.Config.Busy > 0 ||
			slices.ContainsFunc(s.Steps, func(s Step) bool { return s.In != 0 })
	}
	kept := slices.DeleteFunc(slices.Clone(f.schedules), hangs)
	if len(kept) == 0 && len(f.schedules) > 0 && f.skip == "" {
		f.skip = "a method deadlocks when the callback calls it, so this would hang too"
	}
	f.schedules = kept
	return f
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

// alone is held by what runs schedules: a run sets GOMAXPROCS and looks at the stacks of
// all goroutines, so that parallel tests take turns.
var alone sync.Mutex

// run does everything and reports it as subtests.
func (c *contract) run() *Report {
	c.t.Helper()
	alone.Lock()
	defer alone.Unlock()
	began := time.Now()
	if why := c.unfit(); why != "" {
		r := c.blank(why)
		c.t.Run("CANARY", func(t *testing.T) { t.Skip("conformance: " + why) })
		c.close(r, began)
		return r
	}
	r := c.evaluate()
	for i := range r.Verdicts {
		c.subtest(&r.Verdicts[i])
	}
	c.close(r, began)
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
	case c.time == Explicit && c.con != nil:
		c.t.Fatal("conformance: those who wait for a slot need a clock of their own; set Time to Injected or PackageTime")
	case c.con != nil && !synctestcompat.Available:
		return "those who wait for a slot can only be settled in a bubble: " + synctestcompat.Reason
	case c.time == Explicit && c.lky != nil:
		c.t.Fatal("conformance: a leaky bucket needs a clock of its own; set Time to Injected or PackageTime")
	case (c.time == PackageTime || c.clk != nil) && !synctestcompat.Available:
		return "package time can only be held in a bubble: " + synctestcompat.Reason
	}
	return ""
}

// evaluate explores and judges. It fails no test by itself.
func (c *contract) evaluate() *Report {
	c.t.Helper()
	c.prepare()

	if text := os.Getenv("ESCAPEMENT_SCHEDULE"); text != "" {
		s, err := ParseSchedule(text)
		if err != nil {
			c.t.Fatalf("conformance: ESCAPEMENT_SCHEDULE: %v", err)
		}
		c.explore(family{name: c.replayed(s), schedules: []Schedule{s}, look: true})
		return c.report("ESCAPEMENT_SCHEDULE is set: one schedule only")
	}
	if why := c.canary(c); why != "" {
		r := c.blank("CANARY failed")
		r.Verdicts[0] = Verdict{Rule: "CANARY", Level: Core, Status: Fail, Reason: why, Text: "CANARY: " + why}
		return r
	}
	if c.exact != "" && !c.lab.bubble && c.lim == nil {
		r := c.blank(c.exact)
		r.Verdicts[0] = Verdict{Rule: "CANARY", Level: Core, Status: Pass}
		return r
	}
	for _, f := range c.families(c) {
		c.explore(f)
		if c.unsettled != "" || c.until != "" && c.found(c.until).worst != nil {
			break
		}
	}
	if c.unsettled != "" && !c.foundAny() {
		r := c.blank(c.unsettled)
		r.Verdicts[0] = Verdict{Rule: "CANARY", Level: Core, Status: Pass}
		return r
	}
	return c.report("")
}

// replayed names the family of a schedule that is run alone. Of a clock it is the
// one that has the schedule, as only its rule judges it, or that of the programs.
func (c *contract) replayed(s Schedule) string {
	switch keyed := slices.ContainsFunc(s.Steps, func(s Step) bool { return s.K != 0 }); {
	case keyed && (c.thr != nil || c.deb != nil) && c.accepts(opKeys):
		return keys
	case keyed && (c.thr != nil || c.deb != nil):
		return instances
	case c.clk == nil:
		return "replay"
	}
	for _, f := range c.families(c) {
		if f.name != leaks && slices.ContainsFunc(f.schedules, func(t Schedule) bool { return t.String() == s.String() }) {
			return f.name
		}
	}
	return "CK-DIFF"
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
	if c.reentryHangs {
		f = f.withoutReentry()
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
	defer oneProcessor(sampled || c.clk != nil)()
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
	if c.con != nil {
		return c.concurrencyOrders(s)
	}
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
	c.parked = c.parked || tr.conc != nil && tr.conc.parked()
	for _, r := range active {
		if !c.concerned(r.ID, j) || c.lim != nil && tr.Refused != "" && r.ID != "X-CALLS" && r.ID != "X-CFG" {
			continue
		}
		f := c.found(r.ID)
		f.judged++
		v := r.trace(x)
		if v == nil {
			continue
		}
		if tr.turned {
			c.unsettled = "timers for no time come without end, and each such run takes long"
		}
		v.Trace = tr
		if v.Chance {
			key := j.schedule.String()
			if f.maybe == nil {
				f.maybe = map[string]*frequency{}
			}
			if f.maybe[key] == nil {
				f.maybe[key] = &frequency{first: v, family: j.family}
			}
			f.maybe[key].hits++
			continue
		}
		f.keep(v, j.family)
	}
}

// foundAny reports whether a rule was seen broken.
func (c *contract) foundAny() bool {
	for _, f := range c.findings {
		if f.worst != nil {
			return true
		}
	}
	return false
}

// found is what was seen of a rule so far.
func (c *contract) found(rule string) *finding {
	if c.findings[rule] == nil {
		c.findings[rule] = &finding{}
	}
	return c.findings[rule]
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
	if c.clk != nil {
		c.clockHung(f, h)
		return
	}
	c.stopped[f.name] = "a run hung and the rest was given up: " + s.String()
	id := "X-CALLS"
	if s.Config.Inside != "" {
		id = "X-REENT"
	}
	if where := blockedInCallback(h.stacks); where != "" && s.Config.Inside != "" {
		c.reentryHangs = true
		c.blame(id, f, &violation{
			Headline: fmt.Sprintf("%s called from the callback never returned", s.Config.Inside),
			Because:  "its goroutine is blocked, under its own callback: " + where,
			Trace:    &Trace{Schedule: s, Order: h.job.order},
		})
		return
	}
	if s.Config.Busy > 0 {
		// Whether a method may wait for a running callback is a choice.
		c.stopped[f.name] = "a method waits on a lock while the callback runs, which no driver can settle: " + s.String()
		return
	}
	proof, where := h, c.waitsForEver(h)
	if c.con != nil && where == "" { // it may be that nobody has asked yet for what must not wait
		beside := parseAll([]string{"limit=1 backlog=2 timeout=1h | acquire 1 @0 | acquire 2 @0 | release 1 @0"})
		if proof = c.lab.run([]job{{schedule: beside[0]}}, func(job, *Trace) {}); proof != nil {
			where = c.waitsForEver(proof)
		}
	}
	if where != "" {
		c.lost(id, f, proof, where)
		return
	}
	if where := waitsForLock(h.stacks); where != "" && c.con != nil {
		c.unsettled = "one who waits for a slot keeps a lock for which others wait, so that no bubble can be settled (" + s.String() + "): " + where
	}
	c.stalls[id] = "no progress, and the stacks do not prove why: " + s.String()
}

// blame enters that a run without progress breaks a rule.
func (c *contract) blame(id string, f family, v *violation) {
	find := c.found(id)
	find.judged++
	find.keep(v, f.name)
}

// blockedInCallback returns what a goroutine waits for that called the
// implementation from its own callback.
func blockedInCallback(dump string) string {
	for _, g := range strings.Split(dump, "\n\n") {
		header, stack, _ := strings.Cut(g, "\n")
		method := max(strings.Index(stack, ".(*DebouncerFuncs).do("), strings.Index(stack, ".(*ThrottleFuncs).do("), strings.Index(stack, ".(*LeakyBucketFuncs).do("))
		callback := strings.Index(stack, "Spec).play.func1(")
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
