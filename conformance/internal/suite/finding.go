package suite

import (
	"fmt"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/inside"
)

// finding is what was found about one rule.
type finding struct {
	judged  int
	example *Recording // of the schedule that tells the rule best, or else the first that was judged
	worst   *Violation // with the smallest schedule
	family  string
	kinds   map[string]*Violation // those with the smallest schedule of each kind
	left    map[string]int        // schedules that concern it and were left out, by reason
	// unfinished are runs that concern it and made no progress, and unreached says that schedules which
	// concern it were not run because of such.
	unfinished []*unfinished
	unreached  bool
	// beyond is a more basic rule that is broken, so that runs were not judged.
	beyond string
	// maybe are the findings that count only if they are frequent, by schedule and family: one
	// that several families have runs so many times in each.
	maybe map[sampled]*frequency
}

func newFinding() *finding {
	return &finding{kinds: map[string]*Violation{}, left: map[string]int{}, maybe: map[sampled]*frequency{}}
}

type sampled struct{ schedule, family string }

type frequency struct {
	hits  int
	first *Violation
}

// chance counts a finding that counts only if it is frequent.
func (f *finding) chance(v *Violation, j Job) {
	key := sampled{j.Schedule.String(), j.Family}
	if f.maybe[key] == nil {
		f.maybe[key] = &frequency{first: v}
	}
	f.maybe[key].hits++
}

// keep remembers v if its schedule is the smallest so far, or the smallest of its kind.
func (f *finding) keep(v *Violation, family string) {
	if f.leastOf(v.Kind, v.Run.Schedule) {
		f.kinds[v.Kind] = v
	}
	order := -1
	switch {
	case f.worst == nil:
	case v.never != f.worst.never:
		if f.worst.never {
			order = 1
		}
	default:
		order = v.Run.Schedule.Compare(f.worst.Run.Schedule)
	}
	if order < 0 || order == 0 && f.family == Leaks && family != Leaks {
		f.worst, f.family = v, family // a schedule that another family has too counts as that family's
	}
}

// settleChances turns frequent findings into violations.
func (f *finding) settleChances() {
	for key, m := range f.maybe {
		if float64(m.hits) >= convincing*Samples {
			m.first.Headline += fmt.Sprintf(" (in %d of %d runs)", m.hits, Samples)
			f.keep(m.first, key.family)
		}
	}
	clear(f.maybe)
}

// smaller reports whether a violation with this schedule would be kept.
func (f *finding) smaller(kind string, s conformance.Schedule) bool {
	return f.leastOf(kind, s) || f.worst == nil || s.Compare(f.worst.Run.Schedule) < 0
}

// leastOf reports whether a schedule is the smallest so far of a kind of findings.
func (f *finding) leastOf(kind string, s conformance.Schedule) bool {
	least := f.kinds[kind]
	return kind != "" && (least == nil || s.Compare(least.Run.Schedule) < 0)
}

// Violation is what a rule found.
type Violation struct {
	// Headline says what happened and what should have: "fired at 100ms, want 101ms".
	Headline string
	// Because says why, in terms of the schedule.
	Because string
	// At is the instant of the first difference. Lanes are what the timeline shows besides
	// the operations; nil stands for the callbacks.
	At    time.Duration
	Lanes []Lane
	// Chance marks a finding that counts only if it turns up often: honest code can produce
	// it by being overtaken.
	Chance bool
	// Kind tells findings of one rule apart: a schedule is made smaller only as long as
	// the kind remains, and a failure shows the smallest schedule of more than one kind.
	Kind string
	// Run is the run; the suite sets it for what a Check returns.
	Run *Recording

	// interleaving is the one in which it was found, for a replay, and order that of its goroutines; "" if it was found
	// otherwise.
	interleaving, order string
	// sequential says that calls in a row show it, too.
	sequential bool

	wavers bool // not every run of the schedule shows it
	never  bool // an operation never returned, which is named before anything else
}

// Broken makes a violation at an instant.
func Broken(at time.Duration, because, headline string, args ...any) *Violation {
	return &Violation{Headline: fmt.Sprintf(headline, args...), Because: because, At: at}
}

// The timeline of a violation is one of the picture that a report has.
type (
	Lane = inside.Lane
	Mark = inside.LaneMark
)

// FireMark is how the timeline shows a callback.
func FireMark(value int) string { return fmt.Sprintf("F%d", value) }

// Got is the lane of the callbacks of a run.
func (r *Recording) Got() Lane {
	got := Lane{Name: "got"}
	for _, f := range r.Fires {
		of := fmt.Sprint("callback ", f.Value)
		got.Marks = append(got.Marks, Mark{At: f.Began.At, Text: FireMark(f.Value), Of: of, Says: "ran"})
	}
	return got
}
