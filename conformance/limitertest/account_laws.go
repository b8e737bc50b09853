package limitertest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

// waivers are the laws that a difference may break. The difference breaks the first of
// them without which there is no difference. More particular laws come first.
var waivers = []struct {
	law string
	ops []conformance.Op
}{
	{"RL-NEG", ops(verb.Allow, verb.Wait, verb.Reserve)},
	{"RL-N0", ops(verb.Allow, verb.Wait, verb.Reserve)},
	{"RL-NBIG", ops(verb.Wait)},
	{"W-PRE", ops(verb.Wait)},
	{"W-DEADEQ", ops(verb.Wait)},
	{"W-DEAD", ops(verb.Wait)},
	{"W-CANCEL", ops(verb.Cancel)},
	{"CN-IDEM", ops(verb.Cancel)},
	{"CN-LATE", ops(verb.Cancel)},
	{"CN-LIFO", ops(verb.Cancel)},
	{"CN-ANY", ops(verb.Cancel)},
	{"CN-UPPER", ops(verb.Cancel)},
	{"CN-LOWER", ops(verb.Cancel)},
	{"W-WAKE", ops(verb.Wait)},
	{"RL-INFOUT", ops(verb.SetLimit)},
	{"RL-LIM0", ops(verb.SetLimit)},
	{"SL-NORETRO", ops(verb.SetLimit)},
	{"SL-KEEP", ops(verb.SetLimit)},
	{"SB-NOGIFT", ops(verb.SetBurst)},
	{"SB-CAP", ops(verb.SetBurst)},
	{"SB-LIVE", ops(verb.SetBurst)},
	{"RS-OK", ops(verb.Reserve)},
	{"RS-DEBT", ops(verb.Reserve)},
	{eatsNothing, ops(verb.Wait)},
	{eatsTwice, ops(verb.Wait)},
	{eatsAnything, ops(verb.Wait)},
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
}

// enough is for how many differences of each family the law is looked for, which takes
// long. Schedules come smallest first, so that a broken law shows in the first few.
const enough = 200

// Forget begins a new exploration.
func (c *contract) Forget() {
	c.learnt = memory{traced: map[string]int{}, basic: map[string]bool{}}
}

// trace returns the first difference between a run and the account, with the law that it
// breaks; nil if there is none, or enough of the family were traced. Of requests alone it is the law
// that judges them. A run that is judged again uses what was learnt, and adds nothing to it.
func (m memory) trace(x *exam, job suite.Job) *difference {
	if job.Review {
		m = memory{traced: map[string]int{}, basic: maps.Clone(m.basic)}
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
	for _, w := range waivers {
		if !suite.Has(w.ops...)(job) || w.law == eatsAnything && d.slight {
			continue
		}
		other, about := x.account().without(w.law)
		if about && (other == nil || other.event > d.event) {
			if d.law, _, _ = strings.Cut(w.law, ":"); d.law == "W-CANCEL" {
				d.because += x.gaveUp(d.at)
			}
			return d
		}
	}
	m.basic[d.law] = true
	return d
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
