package suite

import (
	"fmt"

	"github.com/escapement-go/escapement/conformance"
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

type sampled struct{ schedule, family string }

type frequency struct {
	hits  int
	first *Violation
}

// chance counts a finding that counts only if it is frequent.
func (f *finding) chance(v *Violation, j Job) {
	key := sampled{j.Schedule.String(), j.Family}
	if f.maybe == nil {
		f.maybe = map[sampled]*frequency{}
	}
	if f.maybe[key] == nil {
		f.maybe[key] = &frequency{first: v}
	}
	f.maybe[key].hits++
}

// keep remembers v if its schedule is the smallest so far, or the smallest of its kind.
func (f *finding) keep(v *Violation, family string) {
	if f.leastOf(v.Kind, v.Run.Schedule) {
		if f.kinds == nil {
			f.kinds = map[string]*Violation{}
		}
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
	f.maybe = nil
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
