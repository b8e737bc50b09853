package quotatest

import (
	"fmt"
	"math"
	"runtime"
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

// remembersEach reports whether a log remembers events one by one: with a mistake it would use up the memory to
// remember as many as the largest limit.
func (c *contract) remembersEach(s *suite.Suite) bool {
	if c.spec.Kind != SlidingLog || c.trip > 0 {
		return c.trip > 0 // over a network it does not show
	}
	const many = 100_000
	least := uint64(math.MaxUint64) // of a few times, since others may use memory meanwhile
	for range 3 {
		s.Play(func(st *suite.Stage) {
			_ = suite.Catch(func() {
				env, before := st.Plain(), allocated()
				impl := c.spec.New(env, Config{Limit: many, Window: time.Second, Burst: many})
				var d conformance.Done
				impl.do(asking(many), env.Start, st.Time, &d)
				if d.OK {
					least = min(least, allocated()-before)
				}
				impl.stop()
				if impl.Stop == nil && st.Time != conformance.Explicit {
					st.Rest(st.Now(), time.Second)
				}
			})
		})
	}
	return least >= many
}

// allocated is how many bytes have been allocated so far.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}
