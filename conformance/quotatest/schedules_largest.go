package quotatest

import (
	"fmt"
	"math"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
)

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
