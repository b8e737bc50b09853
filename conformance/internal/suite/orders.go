package suite

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/internal/sched"
	"github.com/escapement-go/escapement/synctestcompat"
	"github.com/escapement-go/escapement/synctestcompat/interleave"
)

// What runs at one instant meets by chance. Where the code under test was rewritten by the command weave, package
// interleave makes it meet in every order with few preemptions, and each outcome is judged as it is otherwise.
// Time then stands still while a goroutine is held up, as it does in all other runs.
const (
	mostOrders  = 1000 // interleavings of one probe
	mostOfEach  = 100  // of one schedule
	mostShapes  = 24   // racing schedules
	longestRace = 4    // steps of such a schedule
)

// woven reports whether orders are explored.
func woven() bool { return synctestcompat.Available && interleave.Rewritten("") }

// chanced says that a rule was found broken by chance.
func (e *engine) chanced(rule string) string {
	r, v := e.rule(rule), e.broken(rule)
	if r == nil || !r.Meets || v == nil || v.interleaving != "" || v.sequential {
		return ""
	}
	if why := e.unexplored[rule]; why != "" {
		return "found by chance, as the orders of the calls cannot be explored: " + why + "\n"
	}
	return If(!woven(), "found by chance, which another run may miss: `verdicts -interleave` tries every order, "+
		"up to a bound\n")
}

// together is one exploration for a test.
type together struct {
	testing.TB
	name string
}

// Name tells the explorations of a test apart: the interleaving to replay is one of this.
func (t together) Name() string { return t.name }

// everyOrder explores the interleavings of what play does on a stage of its own, and returns the first violation. A
// rule with runs of its own has its explorations numbered; racing schedules have no rule.
func (s *Suite) everyOrder(rule string, n int, j Job, most int, play func(st *Stage) *Violation) *Violation {
	only := os.Getenv(interleave.Variable)
	t := together{s.T, s.T.Name()}
	if rule != "" {
		t.name = fmt.Sprintf("%s/%s/%d", t.name, rule, n)
	}
	if !woven() || s.unexplored[rule] != "" || only != "" && !strings.HasPrefix(only, t.name+":") {
		return nil
	}
	var seen *Violation
	r := interleave.Explore(t, func(t *interleave.T) {
		d := s.lab.driver(j, true)
		sched.Self().Begin()
		st := newStage(s, j, d)
		if seen = nil; st.late() {
			return
		}
		if seen = play(st); seen != nil {
			t.Fail()
		}
	}, interleave.StillTime(), interleave.Runs(most))
	for _, n := range r.Runs {
		s.explored += n
	}
	if r.Failure != "" && seen == nil {
		if !r.Deadlock {
			s.cannotExplore(rule, r.Failure, only != "")
			return nil
		}
		seen = Broken(0, "no goroutine can continue, and no timer is armed", "operations at one instant never return")
	}
	if seen != nil {
		seen.order, seen.interleaving = r.Order, r.Replay
	}
	return seen
}

// cannotExplore notes why the interleavings of a rule were not explored. Who asks for one of them wants to know.
func (s *Suite) cannotExplore(rule, failure string, asked bool) {
	if asked {
		s.T.Error(failure)
	}
	lines := strings.SplitN(failure, "\n", 3)
	s.unexplored[rule] = strings.TrimSpace(lines[min(1, len(lines)-1)])
}

// Orders explores the interleavings of what play does on a stage of its own, where the code under test is rewritten,
// and returns the first violation. Play starts goroutines with [Start], and calls [Meets] where they meet beyond
// what is rewritten.
func (p *Probe) Orders(play func(st *Stage) *Violation) *Violation {
	p.explorations++
	return p.everyOrder(p.rule, p.explorations, Job{}, mostOrders, play)
}

// Meets says that what goroutines do next which call it with the same pointer depends on who comes first, so that those
// orders are told apart.
func Meets(object any) { sched.Meet(object) }

// Pause lets other goroutines run.
func Pause(otherwise func()) {
	if g := sched.Self(); g != nil {
		g.Point("pause", nil)
		return
	}
	otherwise()
}

// nap sleeps.
func nap(d time.Duration) {
	if g := sched.Self(); g != nil {
		g.Sleep(d)
		return
	}
	time.Sleep(d)
}

// meetInOrder explores the first rounds of a meeting, as others are like these, each on a new instance.
func meetInOrder[I any](p *Probe, m Meeting[I]) (worst *Violation) {
	for round := 0; round < 2+Number(m.Few > 0) && worst == nil; round++ {
		worst = p.Orders(func(st *Stage) *Violation { return m.one(st, round) })
	}
	return worst
}

// one is one round with one instance.
func (m *Meeting[I]) one(st *Stage, round int) *Violation {
	in := m.Make(st.Env(), round)
	v, _ := m.round(st, []I{in}, round, round, func() {
		for g := range Meeters {
			Start(func() {
				for n := range m.Calls(round) {
					Meets(m)
					_ = Catch(func() { m.Call(in, round, g, n) })
					Meets(m)
				}
			})
		}
	})
	_ = Catch(func() { m.Release(in) })
	st.Settle()
	return v
}

// racing are the schedules of a family of which the interleavings are explored, if any are.
func (e *engine) racing(f Family) (jobs []Job) {
	if _, other := e.c.of().(Orderly); other || !woven() || f.Skip != "" {
		return nil
	}
	for _, s := range f.Schedules {
		busy := s.Config.Busy > 0 || s.Config.Panics > 0 || s.Config.Inside != ""
		if s.RacingSteps() > 0 && len(s.Steps) <= longestRace && !busy && !e.known(s) {
			jobs = append(jobs, Job{Schedule: s, Order: inside.OrderSampled, Family: f.Name, Review: true})
		}
	}
	return jobs
}

// exploreRaces explores the interleavings of racing schedules, one of each shape, and judges each outcome by all rules.
func (e *engine) exploreRaces(all []Job) {
	slices.SortStableFunc(all, func(a, b Job) int { return a.Schedule.Compare(b.Schedule) })
	shapes := map[string]bool{}
	for _, j := range all {
		shape := j.Schedule.Config.String()
		for _, st := range j.Schedule.Steps {
			shape += fmt.Sprint(" ", st.Op, st.Racing)
		}
		if shapes[shape] || e.tooLong(j) != "" {
			continue
		}
		if shapes[shape] = true; len(shapes) > mostShapes {
			return
		}
		e.exploreRace(j)
	}
}

// racing is a step that notes whether a goroutine of the implementation went on before it had returned. If none did,
// the implementation can have decided nothing before.
func (b *budget) racing(driver *sched.G, step func()) func() {
	from := driver.Steps()
	return func() {
		before := b.overtaken
		b.overtaken = true
		step()
		b.overtaken = before || !sched.Self().Alone(from, driver)
	}
}

// exploreRace explores one schedule. What honest code does where it is overtaken before its callback starts counts only
// where no goroutine of it went on before the racing step had returned.
func (e *engine) exploreRace(j Job) {
	var rule *law
	active := e.active()
	v := e.everyOrder("", 0, j, mostOfEach, func(st *Stage) *Violation {
		e.c.Play(st)
		rec := st.Rec.finish()
		if rec.LeftOut != "" || rec.Refused != "" {
			return nil
		}
		overtaken := st.used().overtaken
		x, run := e.c.exam(e.traits, rec, j), job{Job: j, rec: rec, observed: true}
		var broken []breach
		for _, r := range active {
			if r.Check == nil || r.ID == leakRule {
				continue
			}
			if v := e.finds(r, x, run); v != nil && !(v.Chance && overtaken) {
				v.Chance = false
				broken = append(broken, breach{r, v})
			}
		}
		for _, b := range broken {
			if hidden(b.rule, broken) == "" {
				rule = b.rule
				return b.found
			}
		}
		return nil
	})
	if v != nil && v.Run != nil {
		e.keep(rule, e.found(rule.ID), v, j.Family)
	}
}
