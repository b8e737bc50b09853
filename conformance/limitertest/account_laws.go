package limitertest

import (
	"maps"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
)

// waivers are the laws that may be the one that a difference breaks: if a trace is
// explained once the law is waived, the law is. The more particular come first.
var waivers = []struct {
	law string
	op  conformance.Op
}{
	{"RL-NEG", conformance.OpWait},
	{"RL-NEG", conformance.OpReserve},
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
	{"SL-NORETRO", conformance.OpSetLimit},
	{"SL-KEEP", conformance.OpSetLimit},
	{"SB-NOGIFT", conformance.OpSetBurst},
	{"SB-CAP", conformance.OpSetBurst},
	{"SB-LIVE", conformance.OpSetBurst},
	{"RS-OK", conformance.OpReserve},
	{"RS-DEBT", conformance.OpReserve},
	{"W-EATS", conformance.OpWait},
}

// memory is what runs have shown of the laws that differences break. It belongs to the
// contract. Only Exam asks it, once for each run, in their order.
type memory struct {
	// traced is how many differences were traced back to their law, by family.
	traced map[string]int
	// basic are laws that were broken where nothing else explained it: what seems to break
	// one of them does.
	basic map[string]bool
}

// enough is how many differences of each family are traced back to their law, which takes
// long. Schedules come smallest first, so that a law that is broken shows in the first few.
const enough = 200

// Forget begins a new exploration.
func (c *contract) Forget() {
	c.learnt = memory{traced: map[string]int{}, basic: map[string]bool{}}
}

// trace returns the first difference of a run from the account, with the law that it
// breaks; nil if there is none, or enough of the family were traced. A review knows what
// is basic, but nothing is learnt from it.
func (m memory) trace(x *exam, job suite.Job) *difference {
	if job.Review {
		m = memory{traced: map[string]int{}, basic: maps.Clone(m.basic)}
	}
	if m.traced[job.Family] >= enough {
		return nil
	}
	d := accounted(&x.Trace, x.traits, "")
	if d == nil {
		return nil
	}
	m.traced[job.Family]++
	if m.basic[d.law] {
		return d
	}
	for _, w := range waivers {
		if !suite.Has(w.op)(job) {
			continue
		}
		if other := accounted(&x.Trace, x.traits, w.law); other == nil || other.event > d.event {
			d.law = w.law
			return d
		}
	}
	m.basic[d.law] = true
	return d
}
