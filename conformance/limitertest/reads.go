package limitertest

import (
	"fmt"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
)

// movingClock goes on at each reading, as a clock does while an operation runs. Its timers are those of the clock that
// it wraps, which follows when the operation has returned.
type movingClock struct {
	clockwork.Clock
	mu          sync.Mutex
	step        time.Duration
	ahead       time.Duration // of the clock that it wraps
	first, last time.Time     // readings of the operation under way
}

// Now returns the time, which is later at the next reading.
func (m *movingClock) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ahead += m.step
	m.last = m.Clock.Now().Add(m.ahead)
	if m.first.IsZero() {
		m.first = m.last
	}
	return m.last
}

// Since and Until are readings, too.
func (m *movingClock) Since(t time.Time) time.Duration { return m.Now().Sub(t) }
func (m *movingClock) Until(t time.Time) time.Duration { return t.Sub(m.Now()) }

// reads polls a limiter whose clock goes on by a tenth of the interval at each reading. Whichever of its readings each
// decision is made at, the tokens of the time between two decisions come, and come once.
func (c *contract) reads(p *suite.Probe) (v *suite.Violation, skip string) {
	p.PlayToEnd(func(st *suite.Stage) {
		clock := &movingClock{Clock: st.Clock()}
		impl, cfg, refused := c.first(Env{Clock: clock, Start: st.Clock().Now()}, 10, 3)
		if skip = refused; skip == "" && cfg.Burst < 2 {
			skip = "of a bucket of 1 what comes between two requests may be lost"
		}
		if skip != "" {
			return
		}
		defer func() { _ = suite.Catch(impl.end); st.Settle() }()
		clock.step = cfg.Rate.Interval() / 10
		turn := 0
		ask := func() (ok bool) {
			clock.first = time.Time{}
			_ = suite.Catch(func() { ok = impl.allows(clock.Clock.Now(), turn) }) // X-CALLS judges panics
			turn++
			ahead := clock.ahead
			clock.ahead = 0
			st.To(st.Now() + ahead)
			st.Settle()
			return ok
		}
		for i := 0; ask(); i++ {
			if i > 10*cfg.Burst {
				skip = "it was never empty"
				return
			}
		}
		before, after := clock.first, clock.last
		const polls = 120
		granted := 0
		for range polls {
			if ask() {
				granted++
			}
		}
		interval := cfg.Rate.Interval()
		least, most := clock.first.Sub(after)/interval-2, clock.last.Sub(before)/interval+2
		switch n := time.Duration(granted); {
		case clock.last.Sub(after) > polls*interval/2:
			skip = "it reads its clock too often for this"
		case n < least || n > most:
			because := fmt.Sprintf("the clock went on by %s at each reading and by %s in all, and the rate is %s",
				timeline.Duration(clock.step), timeline.Duration(clock.last.Sub(after)), cfg.Rate)
			v = suite.Broken(0, because, "%d tokens were granted by an empty limiter in %d requests, want %d to %d",
				granted, polls, max(0, least), most)
		}
	})
	return v, skip
}
