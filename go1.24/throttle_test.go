package floor

import (
	"sync"
	"testing"
	"time"

	"github.com/escapement-go/escapement/conformance/throttletest"
	"github.com/escapement-go/escapement/properties"
	"github.com/jonboulle/clockwork"
	"pgregory.net/rapid"

	"github.com/escapement-go/escapement/synctestcompat"
	"github.com/escapement-go/escapement/synctestcompat/rapidbubble"
)

// throttle is a user's own: one call passes in each interval.
type throttle struct {
	clock    clockwork.Clock
	interval time.Duration

	mu     sync.Mutex
	passed bool
	last   time.Time
}

func (h *throttle) allow() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.clock.Now()
	if h.passed && now.Sub(h.last) < h.interval {
		return false
	}
	h.passed, h.last = true, now
	return true
}

// Random schedules, judged by the rules of the contract.
func TestProperties(t *testing.T) {
	properties.Check(t, throttletest.Spec{
		Name: "a user's own",
		Time: throttletest.Injected,
		New: func(env throttletest.Env, cfg throttletest.Config, _ func(int)) throttletest.Funcs {
			h := &throttle{clock: env.Clock, interval: cfg.Interval}
			return throttletest.Funcs{Allow: h.allow}
		},
		Traits: throttletest.Traits{
			Edges:    []throttletest.Edges{throttletest.Leading},
			Boundary: throttletest.BoundaryPasses,
		},
	})
}

// A property of one's own, each iteration in a bubble of its own: between two calls that
// pass there is an interval, whatever the times of the calls.
func TestRapidInABubble(t *testing.T) {
	synctestcompat.Require(t)
	rapidbubble.Check(t, func(t *rapidbubble.T) {
		const interval = time.Second
		h := &throttle{clock: clockwork.NewRealClock(), interval: interval}
		var last time.Time
		for _, gap := range rapid.SliceOf(rapid.Int64Range(0, 2e9)).Draw(t.T, "gaps") {
			synctestcompat.Sleep(time.Duration(gap))
			if !h.allow() {
				continue
			}
			if now := time.Now(); !last.IsZero() && now.Sub(last) < interval {
				t.Fatalf("calls passed at %v and %v", last, now)
			} else {
				last = now
			}
		}
	})
}
