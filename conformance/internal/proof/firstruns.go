package proof

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/conformance/internal/trait"
	"github.com/escapement-go/escapement/internal/prove"
	"github.com/escapement-go/escapement/internal/zoo"
	"github.com/escapement-go/escapement/synctestcompat"
)

// FirstRuns checks what a stranger is told, whose spec has no traits. Of each correct design no rule fails, and each
// decision that is asked for offers what its author declares; testdata/decisions.txt lists them. Of each mutant a rule
// fails, or a decision names what no author has declared, or it is said that New shows less than it was built with, or
// what was observed without a decision is not what its author declares, but as good or stricter: these are listed
// there, too. What a mutant shares with its design its author decides. All of them are run with ESCAPEMENT_PROVE=1, or
// to make the list again.
func FirstRuns(t *testing.T, designs []zoo.Design, mutants []zoo.Mutant) {
	t.Helper()
	synctestcompat.Require(t)
	f := &first{steps: recordedSteps(t), tally: map[string]int{}}
	every := prove.Number(160, 1, 1, 1)
	if *update {
		every = 1
	} else {
		prove.Require(t, prove.Suite)
	}
	var last []func() // what leaves goroutines, of which each makes every later look at the stacks slower
	for i := 0; i < len(designs); i += every {
		run := func() { f.design(t, designs[i]) }
		holds := reflect.ValueOf(designs[i].Spec).FieldByName("Traits").FieldByName("HoldsLockWhileWaiting")
		if holds.IsValid() && holds.Bool() {
			last = append(last, run)
		} else {
			run()
		}
	}
	for i := 0; i < len(mutants); i += every {
		switch m := mutants[i]; {
		case m.Hangs || m.Rule == "X-RACE" || m.Rule == suite.TRAITS || suite.RaceDetector && m.Chance || given(m.Spec):
		case m.Rule == "X-LEAK" || m.Rule == "X-CALLS": // the runs of some of these never end
			last = append(last, func() { f.told(t, m) })
		default:
			f.told(t, m)
		}
	}
	for _, run := range last {
		run()
	}
	t.Logf("%d designs are asked for %d decisions; of the mutants %v", f.designs, f.decisions, f.tally)
	goldenLines(t, "decisions.txt", f.lines, every == 1)
}

// How a first run tells of a mutant.
const (
	byItself   = "its rule fails"
	byOther    = "another rule fails"
	byDecision = "a decision is asked"
	byUnseen   = "what New was built with and does not show is said"
	byStrict   = "a trait says it, and has the strict value"
	byNominal  = "a nominal trait says it"
	byNothing  = "nothing"
)

// first are first runs.
type first struct {
	steps              map[string]int // of the schedules of the golden texts
	designs, decisions int
	tally              map[string]int // of the ways in which mutants are told
	lines              []string
	shown, as          string // what the last mutant shows of a trait though its author does not declare it, and how
	unseen             bool   // it does not show what its author declares, and that is said
}

// given reports whether a spec has no traits to leave out.
func given(spec conformance.Spec) bool { return !reflect.ValueOf(spec).FieldByName("Traits").IsValid() }

// byChance is the choice about which a correct design is asked only if two of its goroutines happen to meet.
const byChance = "OneGoroutine"

// design is a first run of a correct design.
func (f *first) design(t *testing.T, d zoo.Design) {
	t.Helper()
	f.designs++
	declared := reflect.ValueOf(d.Spec).FieldByName("Traits")
	var asked []string
	o := inside.Options{FirstLook: soon, Most: prove.Number(50, 50, 200, 1<<30)}
	o.Decided = func(c inside.Choice) {
		if c.Name != byChance {
			asked = append(asked, fmt.Sprintf("%s: %v", c.Name, valued(declared, c.Name, c.Value)))
		}
		if !weakens(declared, c) {
			t.Errorf("%s is asked about %s: %d, and declares %v", d.Name, c.Name, c.Value, declared.FieldByName(c.Name))
		}
	}
	r := bare(d.Spec).Examine(t, o)
	for _, v := range r.Verdicts {
		if suite.Failed(v) {
			t.Errorf("%s, without traits: %s\n%s", d.Name, v.Rule, v.Text)
		}
	}
	if len(r.Decisions) == 1 { // of several the strict values, which are assumed together, may explain it
		shows(t, d, r.Decisions[0])
	}
	f.decisions += len(asked)
	f.lines = append(f.lines, fmt.Sprintf("%s: %d: %s", d.Name, len(asked), strings.Join(asked, ", ")))
}

// shows checks that the replay line of a decision shows what it says.
func shows(t *testing.T, d zoo.Design, decision conformance.Decision) {
	t.Helper()
	if decision.Rule != "" && decision.Schedule == "" && !strings.Contains(decision.Replay, "/^TRAITS$'") {
		t.Errorf("%s: the rule of the decision about %s does not fail: %s", d.Name, decision.Trait, decision.Replay)
	}
	if decision.Schedule == "" || decision.Rule == "" || !strings.Contains(decision.Replay, decision.Schedule) {
		return
	}
	t.Setenv("ESCAPEMENT_SCHEDULE", decision.Schedule)
	defer os.Unsetenv("ESCAPEMENT_SCHEDULE")
	r := bare(d.Spec).Examine(t, inside.Options{FirstLook: soon, Until: decision.Rule})
	if v, _ := r.Verdict(decision.Rule); v.Status != conformance.Fail {
		t.Errorf("%s: the replay of the decision about %s, %s, says of %s: %s %s",
			d.Name, decision.Trait, decision.Schedule, decision.Rule, v.Status, v.Reason)
	}
}

// told checks that a first run tells of a mutant.
func (f *first) told(t *testing.T, m zoo.Mutant) {
	t.Helper()
	how := f.mutant(t, m)
	f.tally[how]++
	switch how {
	case byNothing:
		t.Errorf("a first run says nothing of %q, which breaks %s", m.Name, m.Rule)
	case byStrict, byNominal:
		f.lines = append(f.lines, fmt.Sprintf("%s: %s (%s): %s", how, m.Name, m.Rule, f.shown))
	}
	if testing.Verbose() {
		t.Logf("%s: %s (%s) %s", how, m.Name, m.Rule, f.shown)
	}
}

// mutant says how a first run tells of a mutant. If it does not before its author has taken the decisions that are
// meant, these are taken; and if it does not on the schedules that show the mistake, all are explored.
func (f *first) mutant(t *testing.T, m zoo.Mutant) (how string) {
	t.Helper()
	short := m
	if n := f.steps[m.Name]; n > 0 && m.Steps == 0 {
		short.Steps = n
	}
	o, all := optionsOf(short), inside.Options{}
	meant, how := f.run(t, m, nil, o)
	if how == byNothing && len(meant) > 0 {
		_, how = f.run(t, m, meant, o)
	}
	if how == byNothing {
		_, how = f.run(t, m, meant, all)
	}
	switch {
	case how != byNothing:
		return how
	case f.unseen:
		return byUnseen
	}
	return f.as
}

// run is a first run of a mutant whose author has taken some decisions. It returns those that are meant, too.
func (f *first) run(t *testing.T, m zoo.Mutant, taken []string, o inside.Options) (meant []string, how string) {
	declared := reflect.ValueOf(m.Spec).FieldByName("Traits")
	wrong := false
	f.shown, f.as, f.unseen = "", byNothing, false
	o.FirstLook = soon
	o.Unseen = func(choice string) { f.unseen = f.unseen || !declared.FieldByName(choice).IsZero() }
	o.Settled = func(c inside.Choice) {
		want := declared.FieldByName(c.Name)
		switch {
		case c.Decision && weakens(declared, c):
			meant = append(meant, c.Name)
		case !c.Seen || c.Decision:
		case c.Value != 0 && !want.IsZero() && !means(declared, c.Name, c.Value):
			if f.as = byNominal; c.Value == c.Strict {
				f.as = byStrict
			}
			f.shown = fmt.Sprintf("%s is %v, its author declares %v", c.Name, valued(declared, c.Name, c.Value), want)
		}
	}
	o.Decided = func(c inside.Choice) { wrong = wrong || !weakens(declared, c) }
	spec := changed(bare(m.Spec), "Traits", func(tr reflect.Value) {
		for _, choice := range taken {
			tr.FieldByName(choice).Set(declared.FieldByName(choice))
		}
	})
	how = tells(spec.Examine(t, o), m.Rule)
	if wrong && how != byItself {
		how = byDecision
	}
	return meant, how
}

// tells says how the rules in a report tell of a mutant.
func tells(r *conformance.Report, rule string) (how string) {
	how = byNothing
	for _, v := range r.Verdicts {
		switch {
		case suite.Failed(v) && v.Rule == rule:
			return byItself
		case suite.Failed(v):
			how = byOther
		}
	}
	return how
}

// valued is a value of a choice as its trait has it.
func valued(declared reflect.Value, choice string, value int) reflect.Value {
	field := reflect.New(declared.FieldByName(choice).Type()).Elem()
	paste(field, value)
	return field
}

// weakens reports whether the author of an implementation declares another value than the strict one, or none.
func weakens(declared reflect.Value, c inside.Choice) bool { return !means(declared, c.Name, c.Strict) }

// means reports whether the author of an implementation declares a value.
func means(declared reflect.Value, choice string, value int) bool {
	want := declared.FieldByName(choice)
	if edges, ok := want.Interface().([]conformance.Edges); ok { // in any order
		return edge.Chosen(edges) == value
	}
	if want.IsZero() && want.Type() == reflect.TypeFor[trait.Reentrancy]() { // the default
		return value == int(trait.ReentrancyAllowed)
	}
	return reflect.DeepEqual(valued(declared, choice, value).Interface(), want.Interface())
}

// bare is a spec without its traits.
func bare(spec conformance.Spec) conformance.Spec {
	return changed(spec, "Traits", func(tr reflect.Value) { tr.SetZero() })
}

// changed returns the spec with change done to one of its fields.
func changed(spec conformance.Spec, field string, change func(f reflect.Value)) conformance.Spec {
	other := reflect.New(reflect.TypeOf(spec)).Elem()
	other.Set(reflect.ValueOf(spec))
	change(other.FieldByName(field))
	return other.Interface().(conformance.Spec)
}

// paste sets a field of traits to a value of its choice.
func paste(field reflect.Value, value int) {
	switch field.Kind() {
	case reflect.Bool:
		field.SetBool(value != 0)
	case reflect.Float32, reflect.Float64:
		field.SetFloat(float64(value))
	case reflect.Slice: // the only list is that of edges
		field.Set(reflect.ValueOf(edge.Listed(value)).Convert(field.Type()))
	default:
		field.SetInt(int64(value))
	}
}

// goldenLines compares lines with a file in testdata, of which all says that none was left out.
func goldenLines(t *testing.T, name string, lines []string, all bool) {
	t.Helper()
	path, text := recorded(t, name, strings.Join(lines, "\n")+"\n")
	known := strings.Split(strings.TrimSpace(text), "\n")[1:]
	for _, line := range lines {
		if !slices.Contains(known, line) {
			t.Errorf("%s lacks this; if it is right, run with -update:\n%s", path, line)
		}
	}
	for _, line := range known {
		if all && !slices.Contains(lines, line) {
			t.Errorf("%s has a line that is no longer so; run with -update:\n%s", path, line)
		}
	}
}

// LeftOut checks that a choice which need not be declared excuses nothing by being left out: of each such trait, a
// correct design that declares a weaker value is run without it. It is asked for it, or breaks a rule, unless it keeps
// what the strict value demands, too.
func LeftOut(t *testing.T, designs []zoo.Design) {
	t.Helper()
	synctestcompat.Require(t)
	prove.Require(t, prove.Suite)
	tried := map[string]bool{}
	for _, d := range designs {
		if given(d.Spec) {
			continue
		}
		for name, strict := range weaklyDeclared(t, d.Spec) {
			if tried[name] {
				continue
			}
			tried[name] = true
			t.Run(name, func(t *testing.T) {
				if !red(t, d.Spec, name, 0) && red(t, d.Spec, name, strict) {
					t.Errorf("%s is not asked for %s, which excuses it", d.Name, name)
				}
			})
		}
	}
}

// red reports whether a rule fails, or a decision is asked, where a spec has another value of a trait.
func red(t *testing.T, spec conformance.Spec, trait string, value int) bool {
	other := changed(spec, "Traits", func(tr reflect.Value) { tr.FieldByName(trait).SetInt(int64(value)) })
	r := other.Examine(t, inside.Options{Most: 200})
	return len(r.Decisions) > 0 || slices.ContainsFunc(r.Verdicts, suite.Failed)
}

// weaklyDeclared are the traits that nobody need declare, and of which a spec declares a weaker value, with the strict
// one.
func weaklyDeclared(t *testing.T, spec conformance.Spec) map[string]int {
	strict, declared := map[string]int{}, reflect.ValueOf(spec).FieldByName("Traits")
	spec.Examine(t, inside.Options{Listed: func(tr inside.Trait) {
		field := declared.FieldByName(tr.Name)
		if tr.Optional && len(tr.Order) > 0 && tr.Order[0] != 0 && field.CanInt() &&
			slices.Index(tr.Order, int(field.Int())) > 0 {
			strict[tr.Name] = tr.Order[0]
		}
	}})
	return strict
}
