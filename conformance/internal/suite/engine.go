package suite

import (
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/synctestcompat"
)

// engine is one run of the suite on one implementation.
type engine struct {
	*Suite
	c       contract
	rules   []*law
	traits  any
	choices []Choice
	options inside.Options
	shallow bool     // the longest schedules of a family were left out
	pkg     string   // the import path of its test
	chosen  []string // the traits of the spec, as the report has them

	// What was found.
	findings   map[string]*finding
	doubts     []doubt                  // findings that are to be confirmed
	stalls     map[string]string        // rules left inconclusive by runs of their own, and why
	unfinished *unfinished              // the first run that made no progress
	notLeft    string                   // why what was left behind breaks no rule
	told       bool                     // its stacks have been shown
	refused    string                   // what the constructor, or the end of a fresh instance, panicked with
	replayed   bool                     // one schedule is run, of which no decision is asked
	strange    bool                     // the one schedule that is run is none that the suite tries
	raced      bool                     // the race detector has reported what traces were made of
	red        bool                     // a rule fails: what is inconclusive besides is no news
	left       map[string]int           // schedules left out, by reason
	polled     map[string]time.Duration // spans of schedules whose time takes too long, by configuration
	woke       int                      // how often the implementation woke in all runs that were judged
	schedules  map[string]bool
	families   map[string]bool // those that were explored
	observed   map[string]int  // choices, as they were observed
	atHand     []job           // runs that a weaker value of an undeclared trait has to explain
	keptBy     map[string]int  // how many of them each family has, or would have
	settled    []settled       // what becomes of undeclared choices
	decisions  []*decision
	awaits     map[string]string // the trait to decide on before a rule is in force
	insists    map[string]int    // choices of which no value explains what was seen, and the value they are to have

	best      map[string]string         // the schedules that tell rules best
	otherwise map[otherwise]declaration // what would be declared, made as it is asked for
}

// alone makes parallel tests take turns: whoever runs schedules holds it, since a run sets
// GOMAXPROCS and GOGC and looks at the stacks of all goroutines.
var alone sync.Mutex

// turn waits for the caller's turn. There is garbage after each schedule, little of it lives, and so less is collected
// until the turn ends, unless GOGC was set.
func turn() (end func()) {
	alone.Lock()
	const usual, seldom = 100, 800
	gc := debug.SetGCPercent(seldom)
	if gc != usual {
		debug.SetGCPercent(gc)
	}
	return func() {
		if gc == usual {
			debug.SetGCPercent(gc)
		}
		alone.Unlock()
	}
}

// newEngine makes the engine. What is wrong with the spec fails the test.
func newEngine(t *testing.T, c contract, o inside.Options) *engine {
	t.Helper()
	profile := c.Profile()
	e := &engine{
		Suite: &Suite{T: t, Time: profile.Time, profile: profile, givenUp: map[string]string{},
			reached: o.Reached},
		c: c, options: o, insists: map[string]int{}, pkg: callerPackage(),
		observed: map[string]int{}, otherwise: map[otherwise]declaration{},
	}
	e.lab = &lab{
		t: t, time: profile.Time, suite: e.Suite, play: c.Play,
		first: o.FirstLook, rounds: new(atomic.Int64), stage: new(atomic.Pointer[Stage]),
	}
	e.lab.skip = e.tooLong
	if o.Name != "" {
		e.profile.Name = o.Name
	}
	e.options.Shallow = o.Shallow || testing.Short() && o.Keep == nil
	e.rules, e.best = linked(c), best(e.profile.Page)
	e.traits = e.c.complete()
	abandonBubbles(o.FirstLook > 0)
	return e
}

// linked returns the rules of a contract, each with its link into the RULES.md of its package and what it needs.
func linked(c contract) (rules []*law) {
	rules = c.laws()
	for _, r := range rules {
		r.Link = link(c.Profile().Package, r.ID)
		for _, op := range r.Ops {
			r.Needs = append(r.Needs, "the operation "+string(op))
		}
		for _, trait := range r.Declared {
			r.Needs = append(r.Needs, "the trait "+trait)
		}
	}
	return rules
}

// rule is the rule with an ID, nil if there is none.
func (e *engine) rule(id string) *law {
	if i := slices.IndexFunc(e.rules, func(r *law) bool { return r.ID == id }); i >= 0 {
		return e.rules[i]
	}
	return nil
}

// which are the rules of which something is so.
func (e *engine) which(is func(r *law) bool) []*law {
	return slices.DeleteFunc(slices.Clone(e.rules), func(r *law) bool { return !is(r) })
}

// Laws are the rules of a contract, as data.
func Laws[T, E any](c Contract[*T, E]) []conformance.Rule {
	var out []conformance.Rule
	for _, r := range linked(typed[T, E]{c}) {
		out = append(out, r.Rule)
	}
	return out
}

// Run holds an implementation to a contract, one subtest for each rule.
func Run[T, E any](t *testing.T, c Contract[*T, E]) *conformance.Report {
	t.Helper()
	defer turn()()
	began := time.Now()
	e := newEngine(t, typed[T, E]{c}, inside.Options{})
	if why := e.unfit(); why != "" {
		r := e.blank(why)
		t.Run("CANARY", func(t *testing.T) { t.Skip("conformance: " + why) })
		e.close(r, time.Since(began))
		return r
	}
	e.lab.last = newLast(t, e.pkg)
	defer e.lab.last.close()
	e.lab.last.progress = newProgress(e.profile.Name, e.profile.Kind)
	defer e.lab.last.progress.close()
	before := t.Failed()
	r := e.evaluate()
	e.raced = RaceDetector && !before && t.Failed() // which asks the race detector
	e.red = fails(r)
	for i := range r.Verdicts {
		e.subtest(&r.Verdicts[i])
	}
	e.close(r, time.Since(began))
	return r
}

// fails reports whether a report holds a failure that is one of the test.
func fails(r *conformance.Report) bool {
	return slices.ContainsFunc(r.Verdicts, Failed)
}

// Failed reports whether a rule fails the test.
func Failed(v conformance.Verdict) bool {
	return v.Status == conformance.Fail && v.Level != conformance.Provisional
}

// Examine is Run without subtests: it fails no test.
func Examine[T, E any](t *testing.T, c Contract[*T, E], o inside.Options) *conformance.Report {
	t.Helper()
	defer turn()()
	began := time.Now()
	e := newEngine(t, typed[T, E]{c}, o)
	if why := e.unfit(); why != "" {
		return e.blank(why)
	}
	if o.Listed != nil {
		e.list(o.Listed)
		return e.blank("listed only")
	}
	r := e.evaluate()
	for i, rule := range e.rules {
		if v := &r.Verdicts[i+2]; o.Live && rule.Live && v.Reason == inSubtest {
			e.runLive(t, rule, v)
		}
	}
	e.setCauses(r)
	if err := r.Write(time.Since(began)); err != nil {
		t.Errorf("conformance: ESCAPEMENT_REPORT: %v", err)
	}
	return r
}

// unfit says why nothing can be run here.
func (e *engine) unfit() string {
	e.T.Helper()
	if e.Time < conformance.Injected || e.Time > conformance.Explicit {
		e.T.Fatal("conformance: the spec does not say how the implementation takes its time; " +
			"set Time to Injected, PackageTime or Explicit")
	}
	var skip, misuse string
	switch p := &e.profile; {
	case p.Unmade != "":
		misuse = "the spec has no New; say how to make " + p.Unmade
	case p.OwnClock != "" && e.Time == conformance.Explicit:
		misuse = p.OwnClock + "; set Time to Injected or PackageTime"
	case p.InBubble != "" && !synctestcompat.Available:
		return p.InBubble + " in a bubble: " + synctestcompat.Reason
	case p.Unfit != nil:
		skip, misuse = p.Unfit(e.Suite)
	}
	if misuse != "" {
		e.T.Fatal("conformance: " + e.profile.Package + ".Run: " + misuse)
	}
	if skip == "" && e.Time == conformance.PackageTime && !synctestcompat.Available {
		return "package time can only be held in a bubble: " + synctestcompat.Reason
	}
	return skip
}

// declare goes on as if t had been declared.
func (e *engine) declare(t any) {
	e.c.declare(t)
	e.ops = e.c.Learn(e.Suite)
}

// prepare does what comes before any run.
func (e *engine) prepare() {
	e.reset()
	e.Bubble = e.Time != conformance.Explicit && synctestcompat.Available
	e.lab.bubble = e.Bubble
	e.refused = Catch(func() { e.ops = e.c.Learn(e.Suite) })
	if e.refused != "" {
		return
	}
	e.traits = e.c.complete()
	e.choices = e.c.table(e.Suite, e.traits)
	e.undeclared, e.optional = slices.ContainsFunc(e.choices, Choice.missing), false
	e.chosen = declared(e.choices)
}

// reset forgets what was found.
func (e *engine) reset() {
	e.schedules, e.families = map[string]bool{}, map[string]bool{}
	e.findings = map[string]*finding{}
	e.givenUp = map[string]string{}
	e.stalls = map[string]string{}
	e.polled, e.woke = map[string]time.Duration{}, 0
	e.left = map[string]int{}
	e.unfinished, e.over, e.first, e.notLeft = nil, "", nil, ""
	e.halts = halts{alike: map[alike]int{}, shunned: map[conformance.Op]bool{}}
	e.atHand, e.keptBy, e.settled, e.decisions, e.Odd = nil, map[string]int{}, nil, nil, ""
	e.explored, e.unexplored = 0, map[string]string{}
	e.CannotReenter, e.explained = false, false
	if c, ok := e.c.of().(Remembering); ok {
		c.Forget()
	}
}

// evaluate explores and judges. It fails no test by itself.
func (e *engine) evaluate() *conformance.Report {
	e.T.Helper()
	own := e.c.complete()
	if e.prepare(); e.refused != "" {
		return e.canaryFailed(e.panicked())
	}
	if text := os.Getenv("ESCAPEMENT_SCHEDULE"); text != "" {
		e.replayed = true
		e.adopt()
		s, err := conformance.ParseSchedule(text)
		if err != nil {
			e.T.Fatalf("conformance: ESCAPEMENT_SCHEDULE: %v", err)
		}
		if why := e.lacks(s); why != "" {
			e.T.Fatalf("conformance: ESCAPEMENT_SCHEDULE: %s", why)
		}
		e.strange = !e.tries(s) && !e.observes(s)
		f := Family{Name: e.familyOf(s), Schedules: []conformance.Schedule{s}, Look: true}
		for n := 0; n == 0 || n < e.replays(s) && !e.hangs(); n++ {
			e.explore(f)
		}
		e.exploreRaces(e.racing(f))
		return e.report("ESCAPEMENT_SCHEDULE is set: one schedule only")
	}
	e.lab.last.does("CANARY", "an instance is used for a long time")
	if why := e.c.Canary(e.Suite); why != "" {
		return e.canaryFailed(why)
	}
	e.lab.last.does(TRAITS, "what is undeclared is observed")
	e.adopt()
	e.lab.last.does("", "")
	e.checkKnown()
	if e.Inexact != "" && !e.Bubble && e.Time != conformance.Explicit && !e.profile.Unsettled {
		r := e.blank(e.Inexact)
		r.Verdicts[0].Status, r.Verdicts[0].Reason = conformance.Pass, ""
		return r
	}
	if e.first != nil {
		e.given(e.first, false)
	}
	var races []Job
	for _, f := range e.c.Families(e.Suite) {
		if e.probesOnly() {
			break
		}
		if e.options.Until != "" && e.found(e.options.Until).worst != nil {
			e.families[f.Name] = true // and does not wait for a choice
			continue
		}
		f = e.kept(f)
		races = append(races, e.racing(f)...)
		e.explore(f)
	}
	e.exploreRaces(races)
	if e.decisions = e.decide(); e.insistOn() {
		e.c.declare(own)
		return e.evaluate()
	}
	return e.report("")
}

// probesOnly reports whether only a rule is asked for that judges no trace, of what does not hang, and all traits are
// declared.
func (e *engine) probesOnly() bool {
	r := e.rule(e.options.Until)
	return e.options.Until != "" && e.options.FirstLook == 0 && !e.undeclared && (r == nil || r.Probe != nil)
}

// panicked is what CANARY says of a constructor that panics with what is usual.
func (e *engine) panicked() string {
	return "New or Stop panicked with an ordinary configuration: " + e.refused
}

// canaryFailed is the report of a run in which nothing can be judged, because of why.
func (e *engine) canaryFailed(why string) *conformance.Report {
	r := e.blank("CANARY failed")
	v := &r.Verdicts[0]
	v.Status, v.Reason = conformance.Fail, why
	v.Text = "CANARY: " + why + "\nThis is tried first: New builds what can be used, and its time comes from where " +
		"the spec says."
	return r
}

// kept returns the family without the schedules that the options leave out.
func (e *engine) kept(f Family) Family {
	f = f.made()
	if e.options.Keep != nil {
		f.Schedules = slices.DeleteFunc(slices.Clone(f.Schedules), func(s conformance.Schedule) bool {
			return !e.wanted(f.Name, s)
		})
	}
	if e.options.Shallow && len(f.Schedules) > 1000 {
		e.shallow = true
		f.Schedules = e.withoutLongest(f.Schedules)
	}
	if most := e.options.Most; most > 0 {
		for len(f.Schedules) > most {
			fewer := e.withoutLongest(f.Schedules)
			if len(fewer) == 0 || len(fewer) == len(f.Schedules) {
				break
			}
			f.Schedules = fewer
		}
	}
	return f
}

// wanted reports whether the options leave a schedule of a family in.
func (e *engine) wanted(family string, s conformance.Schedule) bool {
	keep := e.options.Keep
	return keep == nil || keep(family, len(s.Steps))
}

// withoutLongest returns the schedules but the longest of them. Known ones stay.
func (e *engine) withoutLongest(all []conformance.Schedule) []conformance.Schedule {
	longest := 0
	for _, s := range all {
		longest = max(longest, len(s.Steps))
	}
	return slices.DeleteFunc(slices.Clone(all), func(s conformance.Schedule) bool {
		return len(s.Steps) == longest && !e.known(s)
	})
}

// known reports whether a schedule is known to break a rule.
func (e *engine) known(s conformance.Schedule) bool {
	if len(e.profile.Known) == 0 {
		return false // without words for the schedule
	}
	text := s.String()
	return slices.ContainsFunc(e.profile.Known, func(k conformance.Known) bool { return k.Schedule == text })
}

// familyOf names the family of a schedule that is run alone.
func (e *engine) familyOf(s conformance.Schedule) string {
	if f, ok := e.c.of().(Finding); ok {
		return f.FamilyOf(e.Suite, s)
	}
	return "replay"
}
