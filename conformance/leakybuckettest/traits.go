package leakybuckettest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// Traits are the choices on which correct leaky buckets differ. The zero value of FirstItem and
// CloseFlush is "undeclared".
type Traits struct {
	// FirstItem says when an item that finds an empty queue leaves.
	FirstItem FirstItem
	// CloseFlush says what happens to waiting items when the input ends: CloseAtDeadline
	// or CloseDrops. Only with Close.
	CloseFlush CloseFlush
	// Slack is how many more items than one may leave at once after idle time. Only with
	// FirstAtOnce.
	Slack int
	// HoldsLockWhileWaiting says that a waiter holds a lock while it sleeps, which other callers need. No
	// bubble can settle two of them, so schedules in which two items wait are left out.
	HoldsLockWhileWaiting bool
	// ClockBack says what a clock that is set back does. Injected only; undeclared, it is not
	// judged.
	ClockBack ClockBack
	// Unbounded says that the queue has no bound: every item is accepted.
	Unbounded bool
	// Reentrancy is only declared to opt out: Forbidden means that the documentation forbids
	// the item's function to call the bucket.
	Reentrancy Reentrancy
}

// FirstItem says when an item that finds an empty queue leaves.
type FirstItem int

// The choices.
const (
	FirstAtOnce FirstItem = iota + 1 // at once, unless the last one left less than the interval ago
	FirstWaits                       // an interval after it came, or after the last one left if that is still to come
	FirstOnGrid                      // at the next instant of a grid that began when the bucket was made
)

var heads = []string{"FirstAtOnce", "FirstWaits", "FirstOnGrid"}

// Traits are those of the spec.
func (c *contract) Traits() (declared, complete *Traits) { return &c.spec.Traits, &c.spec.Traits }

// Table lists the choices. None of them is offered as an explanation of a failure, as the
// rules are about just that: when items leave.
func (c *contract) Table(s *suite.Suite, tr *Traits) []suite.Choice {
	return []suite.Choice{
		edge.Flag(&tr.HoldsLockWhileWaiting, suite.Choice{Name: "HoldsLockWhileWaiting", Apart: true},
			func() bool { return sleepsLocked(s) }, "a waiter holds a lock that all other callers need"),
		edge.Choice(&tr.FirstItem, suite.Choice{
			Name: "FirstItem", Values: heads, Order: suite.Ranked(len(heads)), Needless: suite.Always,
			Apart: true, Sure: true,
			Means: []string{"an item that finds an empty queue leaves at once, unless the last left less " +
				"than an interval ago",
				"an item that finds an empty queue leaves an interval after it came, or after the last one " +
					"left if that is still to come",
				"items leave with the ticks of a grid"},
			Observe: func() int {
				return int(map[time.Duration]FirstItem{
					suite.Wait * 3 / 10:  FirstAtOnce,
					suite.Wait * 13 / 10: FirstWaits,
					suite.Wait:           FirstOnGrid,
				}[left(s, "interval=100ms backlog=3 | put 1 @30ms", 1)])
			},
		}),
		edge.Choice(&tr.Slack, suite.Choice{
			Name: "Slack", Literal: strconv.Itoa, Apart: true,
			Means: []string{"how many more items leave at once after idle time"},
			Observe: func() int {
				if tr.FirstItem == FirstAtOnce && !tr.HoldsLockWhileWaiting {
					c.slackSeen = max(0, together(s)-1)
				}
				return c.slackSeen
			},
		}),
		edge.Flag(&tr.Unbounded, suite.Choice{Name: "Unbounded", Nominal: true, Apart: true},
			func() bool { return bottomless(s, tr.HoldsLockWhileWaiting) },
			"every item is accepted, however many wait"),
		edge.Choice(&tr.CloseFlush, suite.Choice{
			Name: "CloseFlush", Order: []int{int(CloseAtDeadline), int(CloseDrops)}, Apart: true, Sure: true,
			Needless: func() bool { return !s.Accepts(verb.Close) },
			Observe:  func() int { return int(drained(s, tr.Slack+2)) },
		},
			"", "", // CloseFires is refused
			"CloseAtDeadline", "items that wait at Close leave in their turn",
			"CloseDrops", "items that wait at Close never leave"),
		edge.Choice(&tr.ClockBack, suite.Choice{
			Name: "ClockBack", Order: suite.Ranked(2), Apart: true, Sure: true,
			Observe: func() int { return int(setBack(s, tr)) },
		},
			"BackBounded", "setting the clock back delays an item by an interval at most",
			"BackStands", "setting the clock back delays items by as much"),
		edge.Choice(&tr.Reentrancy, suite.Choice{
			Name: "Reentrancy", Order: suite.Ranked(2), Sure: true,
			Observe: func() int { return int(reentrancy(s, tr.HoldsLockWhileWaiting)) },
		},
			"ReentrancyAllowed", "the function that gets an item may use the bucket",
			"ReentrancyForbidden", "the function that gets an item must not use the bucket"),
	}
}

// sleepsLocked reports whether a run of two items that wait hangs because who waits holds a lock.
func sleepsLocked(s *suite.Suite) bool {
	if why := s.Ended(); why != "" || s.Inexact != "" {
		return strings.Contains(why, "holds a lock while it waits")
	}
	job := suite.Job{Schedule: suite.MustParse("interval=100ms backlog=3" + manyPuts("0", 1, 3))}
	hang := s.Run([]suite.Job{job}, func(suite.Job, *suite.Recording) {})
	return hang != nil && hang.WaitsForLock() != "" && s.WaitsForEver(hang) == ""
}

// tried runs a schedule and returns the run, nil if it did not come to its end.
func tried(s *suite.Suite, text string) *suite.Recording {
	if s.Inexact != "" {
		return nil
	}
	return s.Settled(text)
}

// left runs a schedule and returns when item v left, negative if it did not.
func left(s *suite.Suite, text string, v int) time.Duration {
	if rec := tried(s, text); rec != nil {
		for _, f := range rec.Fires {
			if f.Value == v {
				return f.Began.At
			}
		}
	}
	return -1
}

// drained observes what becomes of the last of n items when the input ends while it waits.
func drained(s *suite.Suite, n int) CloseFlush {
	rec := tried(s, fmt.Sprintf("interval=100ms backlog=%d%s | close @1ms", n, manyPuts("0", 1, n)))
	switch {
	case rec == nil || !rec.Done[n-1].OK:
		return 0
	case slices.ContainsFunc(rec.Fires, func(f conformance.Fire) bool { return f.Value == n }):
		return CloseAtDeadline
	}
	return CloseDrops
}

// setBack observes how long a clock that is set back by 10s holds an item up.
func setBack(s *suite.Suite, tr *Traits) ClockBack {
	if s.Time != conformance.Injected || tr.HoldsLockWhileWaiting {
		return 0
	}
	at := left(s, "interval=100ms backlog=3 | put 1 @0 | wall -10s @50ms | put 2 @50ms", 2)
	switch {
	case at >= 0 && at <= 3*suite.Wait:
		return BackBounded
	case at >= 10*time.Second && at <= 10*time.Second+3*suite.Wait:
		return BackStands
	}
	return 0
}

// reentrancy looks for an operation that never returns to the function that an item leaves to.
func reentrancy(s *suite.Suite, holdsLockWhileWaiting bool) Reentrancy {
	if !s.CannotReenter && (s.Inexact != "" || holdsLockWhileWaiting) {
		return 0
	}
	var texts []string
	for _, op := range s.Supported(verb.Put, verb.Cancel, verb.Close) {
		texts = append(texts, "interval=100ms backlog=2 inside="+string(op)+" | put 1 @0 | put 2 @0")
	}
	return edge.Reentrancy(s, texts...)
}

// manyPuts puts n items at an instant.
func manyPuts(at string, from, n int) string {
	var b strings.Builder
	for v := from; v < from+n; v++ {
		fmt.Fprintf(&b, " | put %d @%s", v, at)
	}
	return b.String()
}

// together returns how many items leave at once after a long time in which none came.
func together(s *suite.Suite) (n int) {
	rec := tried(s, "interval=100ms backlog=64 | put 1 @0"+manyPuts("1h", 2, 64))
	if rec == nil {
		return 0
	}
	for _, f := range rec.Fires {
		if f.Began.At == time.Hour {
			n++
		}
	}
	return n
}

// bottomless reports whether a queue accepts more items than may wait in it.
func bottomless(s *suite.Suite, holdsLockWhileWaiting bool) bool {
	text := "interval=100ms backlog=1" + manyPuts("0", 1, 64)
	if holdsLockWhileWaiting { // no more than one may wait
		text = "interval=100ms backlog=0 | put 1 @0 | put 2 @0"
	}
	rec := tried(s, text)
	return rec != nil && !slices.ContainsFunc(rec.Done, func(d conformance.Done) bool { return !d.OK })
}
