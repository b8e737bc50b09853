package suite

import (
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
)

// Schedules of few steps are enumerated, the smallest first, so that the first of them which
// breaks a rule is the smallest. Longer ones were thought of one by one, and are made smaller
// before they are shown.
const (
	enumerated  = 5
	mostSmaller = 1000 // runs, to make one schedule smaller
	tooLong     = 500  // steps of a schedule of which so many runs take too long
)

// makeSmaller replaces what a rule found by what it finds on a smaller schedule, if there is
// one. What only chance or a chosen order brings about stays as it is, and so does what is known to fail.
func (e *engine) makeSmaller(r *law, f *finding) {
	v := f.worst
	fixed := v != nil && (v.Chance || v.interleaving != "")
	if v == nil || v.Run == nil || fixed || r.Check == nil || e.hangs() || f.family == Leaks ||
		len(v.Run.Schedule.Steps) > tooLong || e.known(v.Run.Schedule) ||
		e.Time == conformance.PackageTime && v.Run.Schedule.RacingSteps() > 0 {
		return
	}
	defer e.aside()()
	if len(v.Run.Schedule.Steps) <= enumerated {
		e.cutTail(r, f)
		return
	}
	counted := v.Run.Schedule.String() == Renumbered(v.Run.Schedule).String()
	mend := func(s conformance.Schedule) conformance.Schedule {
		if counted {
			return Renumbered(s)
		}
		return s
	}
	runs, over := e.lab.runs, false
	e.smallest(v.Run.Schedule, mend, func(try conformance.Schedule) bool {
		early := func(s conformance.Step) bool { return s.At < 0 }
		over = over || e.lab.runs-runs > mostSmaller || e.lab.leaks
		if over || slices.ContainsFunc(try.Steps, early) {
			return false
		}
		smaller, hung := e.breaksAlone(r, f.family, try)
		if over = hung; hung || smaller == nil {
			return false
		}
		f.worst = smaller
		return true
	})
}

// cutTail leaves out the last steps of a schedule, as many as come after the first difference and are not
// needed to see it: families may end all of their schedules alike.
func (e *engine) cutTail(r *law, f *finding) {
	v := f.worst
	s := v.Run.Schedule
	for n := 1; n < len(s.Steps); n++ {
		if s.Steps[n].At <= v.At {
			continue
		}
		cut := conformance.Schedule{Config: s.Config, Steps: s.Steps[:n:n]}
		if !r.about(Job{Schedule: cut, Family: e.familyOf(cut), Look: true}) {
			continue // a replay would judge by other rules
		}
		smaller, hung := e.breaksAlone(r, f.family, cut)
		if hung {
			return
		}
		if smaller != nil && smaller.Kind == v.Kind {
			f.worst = smaller
			return
		}
	}
}

// smallest makes a schedule smaller as long as a simpler one, mended, breaks what it breaks.
func (e *engine) smallest(
	s conformance.Schedule, mend func(conformance.Schedule) conformance.Schedule,
	breaks func(conformance.Schedule) bool,
) conformance.Schedule {
	for again := true; again; {
		again = false
		for _, try := range reductions(s) {
			if tidy, ok := e.c.of().(Tidy); ok {
				try = tidy.Tidied(e.Suite, try)
			}
			if try = mend(try); len(try.Steps) > 0 && try.Compare(s) < 0 && breaks(try) {
				s, again = try, true
				break
			}
		}
	}
	return s
}

// breaksAlone runs a schedule and returns what one rule finds.
func (e *engine) breaksAlone(r *law, family string, s conformance.Schedule) (v *Violation, hung bool) {
	var jobs []Job
	var open *doubt // one order brings it about, which is run once
	for _, o := range e.orders(s) {
		jobs = append(jobs, Job{Schedule: s, Order: o, Family: family, Review: true})
	}
	h := e.lab.run(jobs, func(j Job, rec *Recording) {
		found := e.foundWith(r, job{Job: j, rec: rec, observed: true}, declaration{traits: e.traits})
		switch {
		case v != nil || found == nil || found.Chance:
		case doubtful(r.ID, j, rec):
			open = &doubt{r, found.Kind, j}
		default:
			v = found
		}
	})
	if v == nil && h == nil && open != nil {
		v, h = e.confirmed(*open)
	}
	return v, h != nil
}

// reductions lists simpler schedules, the boldest first.
func reductions(s conformance.Schedule) []conformance.Schedule {
	r := reducer{s: s}
	r.fewerSteps()
	spare := []string{"maxwait", "edges", "busyruns", "busy", "insiderun", "inside", "epoch"} // the others are needed
	for _, key := range spare {
		r.add(func(t *conformance.Schedule) { t.Config = t.Config.Without(key) })
	}
	for i, st := range s.Steps {
		if st.Racing {
			r.add(func(t *conformance.Schedule) { t.Steps[i].Racing = false })
		}
	}
	r.rounderGaps()
	r.plainerNumbers()
	r.plainerKeys()
	return r.out
}

type reducer struct {
	s   conformance.Schedule
	out []conformance.Schedule
}

func (r *reducer) add(change func(s *conformance.Schedule)) {
	t := conformance.Schedule{Config: r.s.Config, Steps: slices.Clone(r.s.Steps)}
	change(&t)
	if len(t.Steps) > 0 {
		r.out = append(r.out, t)
	}
}

// fewerSteps leaves out halves, quarters and so on, down to single steps.
func (r *reducer) fewerSteps() {
	for n := len(r.s.Steps) / 2; n > 0; n /= 2 {
		for i := 0; i+n <= len(r.s.Steps); i += n {
			r.add(func(t *conformance.Schedule) { t.Steps = slices.Delete(t.Steps, i, i+n) })
			r.add(func(t *conformance.Schedule) { // and what follows comes earlier by as much
				gap := t.Steps[i+n-1].At
				if i > 0 {
					gap -= t.Steps[i-1].At
				}
				t.Steps = slices.Delete(t.Steps, i, i+n)
				for k := i; k < len(t.Steps); k++ {
					t.Steps[k].At -= gap
				}
			})
		}
	}
}

// rounderGaps makes each gap 0, or like one before it.
func (r *reducer) rounderGaps() {
	seen := []time.Duration{0}
	for i := range r.s.Steps {
		before := time.Duration(0)
		if i > 0 {
			before = r.s.Steps[i-1].At
		}
		gap := r.s.Steps[i].At - before
		for _, g := range seen {
			r.add(func(t *conformance.Schedule) {
				for k := i; k < len(t.Steps); k++ {
					t.Steps[k].At += g - gap
				}
			})
		}
		if !slices.Contains(seen, gap) {
			seen = append(seen, gap)
		}
	}
}

// plainerNumbers lets payloads count from 1, and of what is asked for there be 1.
func (r *reducer) plainerNumbers() {
	r.add(func(t *conformance.Schedule) { *t = Renumbered(*t) })
	for i, st := range r.s.Steps {
		if st.N > 1 && st.Op.Amount() {
			r.add(func(t *conformance.Schedule) { t.Steps[i].N = 1 })
		}
	}
}

// plainerKeys lets the keys of requests, which are for an amount, count from 1, in the order in which they come.
func (r *reducer) plainerKeys() {
	r.add(func(t *conformance.Schedule) {
		number := map[int]int{}
		for i := range t.Steps {
			st := &t.Steps[i]
			if st.Op.Second() != "key" || !st.Op.Amount() || st.K == 0 {
				continue
			}
			if number[st.K] == 0 {
				number[st.K] = len(number) + 1
			}
			st.K = number[st.K]
		}
	})
}

// Recounted counts what a schedule makes from 1, in the order in which it first occurs, and leaves out what is done to
// something that is never made, or not yet: only some operations may be early.
func Recounted(s conformance.Schedule, makes, uses, early func(op conformance.Op) bool) conformance.Schedule {
	out, numbers := s.Steps[:0:0], map[int]int{}
	for i, st := range s.Steps {
		if !makes(st.Op) && !uses(st.Op) {
			out = append(out, st)
			continue
		}
		is := func(o conformance.Step) bool { return makes(o.Op) && o.N == st.N }
		comes := is(st) || early(st.Op) && slices.ContainsFunc(s.Steps[i:], is)
		if numbers[st.N] == 0 && !comes {
			continue
		}
		if numbers[st.N] == 0 {
			numbers[st.N] = len(numbers) + 1
		}
		st.N = numbers[st.N]
		out = append(out, st)
	}
	s.Steps = out
	return s
}
