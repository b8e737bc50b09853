package leakybuckettest

import (
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
)

// Traits are the choices on which correct leaky buckets differ. The zero value of Head and
// CloseFlush is "undeclared".
type Traits struct {
	// Head says when an item leaves that finds nothing waiting.
	Head Head
	// CloseFlush says what becomes of what waits when the input ends: CloseAtDeadline or
	// CloseDrops. Only with Close.
	CloseFlush CloseFlush
	// Slack is how many more items than one may leave at once after idle time. Only with
	// HeadAtOnce.
	Slack int
	// LocksAsleep says that who waits for an item's turn holds a lock while it sleeps, for which
	// others have to wait. No bubble can settle two of them, so that schedules in which two
	// items wait are left out.
	LocksAsleep bool
	// Unbounded says that the queue has no bound: every item is accepted.
	Unbounded bool
}

// Head says when an item leaves that finds nothing waiting.
type Head int

// The choices.
const (
	HeadAtOnce Head = iota + 1 // at once, unless the last one left less than the interval ago
	HeadWaits                  // an interval after it came, or after the last one left if that is sooner
	HeadOnGrid                 // at the next instant of a grid that began when the bucket was made
)

var heads = []string{"HeadAtOnce", "HeadWaits", "HeadOnGrid"}

// Traits returns what is declared.
func (c *contract) Traits() *Traits {
	tr := c.spec.Traits
	return &tr
}

// Table lists the choices. None of them is offered as an explanation of a failure, as the
// rules are about just that: when items leave.
func (c *contract) Table(s *suite.Suite, tr *Traits) []suite.Choice {
	return []suite.Choice{
		{
			Name: "Head", Declared: int(tr.Head), Values: heads, Needless: suite.Always,
			Observe: func() int {
				at, _ := left(s, "interval=100ms backlog=3 | put 1 @30ms", 1)
				return int(map[time.Duration]Head{
					suite.Wait * 3 / 10:  HeadAtOnce,
					suite.Wait * 13 / 10: HeadWaits,
					suite.Wait:           HeadOnGrid,
				}[at])
			},
		},
		{
			Name: "CloseFlush", Declared: int(tr.CloseFlush),
			Values:   []string{"CloseFires", "CloseAtDeadline", "CloseDrops"},
			Needless: func() bool { return !s.Accepts(conformance.OpClose) },
			Observe: func() int {
				if _, ok := left(s, "interval=100ms backlog=3 | put 1 @0 | put 2 @0 | close @1ms", 2); ok {
					return int(CloseAtDeadline)
				}
				return int(CloseDrops)
			},
		},
	}
}

// left runs a schedule and returns when item v left, if it did.
func left(s *suite.Suite, text string, v int) (at time.Duration, ok bool) {
	for _, rec := range s.TryText(text, conformance.OrderSettled) {
		if i := slices.IndexFunc(rec.Fires, func(f conformance.Fire) bool { return f.Value == v }); i >= 0 {
			return rec.Fires[i].Began.At, true
		}
	}
	return 0, false
}
