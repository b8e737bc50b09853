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
)

// waivers are the laws that a difference may break. The difference breaks the first of
// them without which there is no difference. More particular laws come first.
var waivers = []struct {
	law string
	op  conformance.Op
}{
	{"RL-NEG", conformance.OpAllow},
	{"RL-NEG", conformance.OpWait},
	{"RL-NEG", conformance.OpReserve},
	{"RL-N0", conformance.OpAllow},
	{"RL-N0", conformance.OpWait},
	{"RL-N0", conformance.OpReserve},
	{"RL-NBIG", conformance.OpWait},
	{"W-PRE", conformance.OpWait},
	{"W-DEADEQ", conformance.OpWait},
	{"W-DEAD", conformance.OpWait},
	{"W-CANCEL", conformance.OpCancel},
	{"CN-IDEM", conformance.OpCancel},
	{"CN-LATE", conformance.OpCancel},
	{"CN-LIFO", conformance.OpCancel},
	{"CN-ANY", conformance.OpCancel},
	{"CN-UPPER", conformance.OpCancel},
	{"CN-LOWER", conformance.OpCancel},
	{"W-WAKE", conformance.OpWait},
	{"RL-INFOUT", conformance.OpSetLimit},
	{"RL-LIM0", conformance.OpSetLimit},
	{"SL-NORETRO", conformance.OpSetLimit},
	{"SL-KEEP", conformance.OpSetLimit},
	{"SB-NOGIFT", conformance.OpSetBurst},
	{"SB-CAP", conformance.OpSetBurst},
	{"SB-LIVE", conformance.OpSetBurst},
	{"RS-OK", conformance.OpReserve},
	{"RS-DEBT", conformance.OpReserve},
	{eatsNothing, conformance.OpWait},
	{eatsTwice, conformance.OpWait},
	{eatsAnything, conformance.OpWait},
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
// breaks; nil if there is none, or enough of the family were traced. A run that is judged
// again uses what was learnt, and adds nothing to it.
func (m memory) trace(x *exam, job suite.Job) *difference {
	if job.Review {
		m = memory{traced: map[string]int{}, basic: maps.Clone(m.basic)}
	}
	if m.traced[job.Family] >= enough {
		return nil
	}
	d := accounted(&x.Trace, x.traits)
	if d == nil {
		return nil
	}
	m.traced[job.Family]++
	if m.basic[d.law] {
		return d
	}
	for _, w := range waivers {
		if !suite.Has(w.op)(job) || w.law == eatsAnything && d.slight {
			continue
		}
		other, about := newAccount(&x.Trace, x.traits).without(w.law)
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

// gaveUp says which wait was the last to be given up until an instant, if another shows that something was wrong
// with it.
func (x *exam) gaveUp(at time.Duration) string {
	for _, d := range slices.Backward(x.Done) {
		if d.Op != conformance.OpCancel || d.At > at {
			continue
		}
		if w := claimOf(x.Schedule, d.N); w.Op == conformance.OpWait {
			return fmt.Sprintf("; wait %d at %s was given up at %s",
				w.N, timeline.Duration(w.At), timeline.Duration(d.At))
		}
	}
	return ""
}
