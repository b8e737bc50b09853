package limitertest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

// waivers are the laws that a difference may break. The difference breaks the first of
// them without which there is no difference. More particular laws come first.
var waivers = []string{
	"RL-NEG", "RL-N0", "RL-NBIG",
	"W-PRE", "W-DEADEQ", "W-DEAD", "W-CANCEL",
	"CN-IDEM", "CN-LATE", "CN-LIFO", "CN-ANY", "CN-UPPER", "CN-LOWER", "W-WAKE",
	"RL-INFOUT", "RL-LIM0", "SL-NORETRO", "SL-KEEP", "SB-NOGIFT", "SB-CAP", "SB-LIVE",
	"RS-OK", "RS-DEBT", eatsNothing, eatsTwice, eatsAnything,
}

// A wait may break W-EATS in several ways. Only the first two explain a wait that returns a little
// early or late: the last one explains almost anything.
const (
	eatsNothing  = "W-EATS: nothing"
	eatsTwice    = "W-EATS: twice"
	eatsAnything = "W-EATS: anything up to twice"
)

// memory is what earlier runs have shown of the laws that differences break. It belongs to
// the contract, and only Exam uses it, once for each run in the order of the runs.
type memory struct {
	// traced counts the differences whose law was looked for, by family.
	traced map[string]int
	// basic are the laws that were broken where no other law explained the difference:
	// from then on a difference that seems to break one of them does.
	basic map[string]bool
	// about selects the runs that the rule of each law judges.
	about map[string]func(suite.Job) bool
}

// enough is for how many differences of each family the law is looked for, which takes
// long. Schedules come smallest first, so that a broken law shows in the first few.
const enough = 200

// Forget begins a new exploration.
func (c *contract) Forget() {
	c.learnt = memory{map[string]int{}, map[string]bool{}, map[string]func(suite.Job) bool{}}
	for _, r := range c.Rules() {
		c.learnt.about[r.ID] = r.About
	}
}

// trace returns the first difference between a run and the account, with the law that it
// breaks; nil if there is none, or enough of the family were traced. Of requests alone it is the law
// that judges them. A run that is judged again uses what was learnt, and adds nothing to it.
func (m memory) trace(x *exam, job suite.Job) *difference {
	if job.Review {
		m.traced, m.basic = map[string]int{}, maps.Clone(m.basic)
	}
	if m.traced[job.Family] >= enough && x.beyondRequests() {
		return nil
	}
	d := x.account().replay()
	if d == nil || !x.beyondRequests() {
		return d
	}
	if x.leavesOtherwise() {
		return nil
	}
	m.traced[job.Family]++
	if m.basic[d.law] {
		return d
	}
	law := x.explanation(d, x.account, true)
	if law == "" {
		m.basic[d.law] = true
		return d
	}
	if d.law = law; law == "W-CANCEL" {
		d.because += x.gaveUp(d.at)
	}
	return d
}

// explanation is the first of the laws without which an account does not differ from a run where it did, or if later
// says so differs later; "" if there is none.
func (x *exam) explanation(d *difference, account func() *account, later bool) string {
	first := account()
	first.asked = map[string]bool{}
	first.replay()
	for _, w := range waivers {
		law, _, _ := strings.Cut(w, ":")
		about := x.of.learnt.about[law](suite.Job{Schedule: x.Schedule})
		if !about || !first.asked[w] || w == eatsAnything && (d.slight || !later) {
			continue
		}
		a := account()
		a.waived = w
		if other := a.replay(); other == nil || later && other.event > d.event {
			return law
		}
	}
	return ""
}

// leavesOtherwise reports whether the account agrees with a run if those who wait take another's giving up otherwise
// than a new limit. Of a limiter with both the trait says what a new limit does.
func (x *exam) leavesOtherwise() bool {
	if !x.of.changeable || x.traits.OnChange == 0 || !x.left(-1, forever) {
		return false
	}
	t := *x.traits
	t.leaving = OnChangeKeeps + OnChangeServes - t.OnChange
	return accounted(&x.Trace, &t) == nil
}

// gaveUp says which wait was the last to be given up until an instant, if another shows that something was wrong
// with it.
func (x *exam) gaveUp(at time.Duration) string {
	for _, d := range slices.Backward(x.Done) {
		if d.Op != verb.Cancel || d.At > at {
			continue
		}
		if w := claimOf(x.Schedule, d.N); w.Op == verb.Wait {
			return fmt.Sprintf("; %s was given up at %s", named(w, d.N), timeline.Duration(d.At))
		}
	}
	return ""
}
