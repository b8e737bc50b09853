package quotatest

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// idleTimes is how often a limiter is left alone in a schedule.
const idleTimes = 6

// idling lists schedules in which everything that counts expires again and again: what a limiter
// keeps of one idle time is too little to show, and more than the limit once it has added up.
func (e *explored) idling() []conformance.Schedule {
	w, limits := e.unit, []int{accepted(e.Suite, e.kind, 1), accepted(e.Suite, e.kind, 2)}
	var out []conformance.Schedule
	for _, limit := range slices.Compact(limits) {
		long := time.Duration(limit+2) * w
		for _, gap := range []time.Duration{long, long + w/2, 20 * long} {
			out = append(out, e.leftAlone(limit, gap, limit+1), e.leftAlone(limit, gap, 1))
		}
	}
	return out
}

// ages lists schedules in which a limiter that was used up is asked again after so long that a
// number of nanoseconds is too large for who counts with 32 bits, or has a bound of its own beyond
// which it counts from a newer instant: a little less, and a little more.
func (e *explored) ages() []conformance.Schedule {
	limit := accepted(e.Suite, e.kind, 2)
	var out []conformance.Schedule
	for _, bits := range []int{31, 32, 60} {
		for _, off := range []time.Duration{-1, 1} {
			out = append(out, suite.Plan(configured(e.kind, limit),
				append(inARow(0, 0, limit+1), inARow(1<<bits+off, 0, limit+1)...)...))
		}
	}
	return out
}

// inARow asks n times, so far apart.
func inARow(from, gap time.Duration, n int) (out []conformance.Step) {
	for i := range n {
		out = append(out, conformance.Step{Op: verb.Allow, N: 1, At: from + time.Duration(i)*gap})
	}
	return out
}

// leftAlone asks each times after each idle time, and once more than the limit after the last.
func (e *explored) leftAlone(limit int, gap time.Duration, each int) conformance.Schedule {
	s := suite.Plan(configured(e.kind, limit))
	for i := range idleTimes {
		if i == idleTimes-1 {
			each = limit + 1
		}
		s.Steps = append(s.Steps, inARow(time.Duration(i)*gap, 0, each)...)
	}
	return s
}

// growing lists schedules in which some events expire before there are more at a time than ever
// before: what remembers events in a ring has to make room when the ring does not begin at its
// first place. It is left alone long enough between for all of them to expire.
func (e *explored) growing() []conformance.Schedule {
	var limits []int
	for _, most := range []int{5, 9, 17} {
		limits = append(limits, accepted(e.Suite, e.kind, most))
	}
	var out []conformance.Schedule
	for _, limit := range slices.Compact(limits) {
		long := time.Duration(limit+2) * e.unit
		for first := 1; first <= min(limit, 4); first++ {
			out = append(out, suite.Plan(configured(e.kind, limit),
				slices.Concat(inARow(0, 1, first), inARow(long, 1, limit+1), inARow(4*long, 1, limit+1))...))
		}
	}
	return out
}

// largestLimit is a request for the largest limit that there is, when some of it is gone: who adds what it asks for
// to what is gone gets a sum that no int holds. As many are gone as a float of that size still tells from none. Who
// counts what it denies is not asked, since what it counts has no bound.
func largestLimit() []conformance.Schedule {
	const gone = 1 << 12
	cfg := suite.Configured("rate", fmt.Sprintf("%d/1s", math.MaxInt))
	return []conformance.Schedule{suite.Plan(cfg, asking(gone), asking(math.MaxInt))}
}

// incountable reports whether a limit is so large that a constructor may fail over it as the runtime does: there is
// no room to remember so many.
func incountable(limit int) bool { return limit == math.MaxInt }

// countsEach reports whether a limiter takes room or time for each event: with the largest limit its constructor
// would not end, and one with a mistake would use up the memory to remember them all.
func (c *contract) countsEach(s *suite.Suite) bool {
	full := func(st *suite.Stage, n int) (end func()) {
		env := st.Plain()
		impl := c.spec.made(env, Config{Limit: n, Window: time.Second, Burst: n})
		var d conformance.Done
		impl.do(asking(n), env.Start, st.Time, &d)
		return func() {
			impl.stop()
			if impl.Stop == nil && st.Time != conformance.Explicit {
				st.Rest(st.Now(), time.Second)
			}
		}
	}
	return c.trip > 0 || s.KeepsEach(full) || s.TakesEach(full) // over a network it does not show
}
