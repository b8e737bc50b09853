package clocktest

import (
	"time"

	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/synctestcompat"
)

// comparison is what a run records: that of package time, and that of the clock.
type comparison struct{ want, got *world }

// Play runs a schedule on package time and on a fresh clock, in the same bubble: neither
// sees the other's time. If the outcome depends on what package time leaves open, the
// clock is not run, as there is nothing to compare it with, unless what it shows can be judged
// by itself.
func (c *contract) Play(st *suite.Stage) {
	tested := c.spec.New(Env{Settle: synctestcompat.Wait})
	reference := packageTime()
	reference.NoTimerAnswers = tested.NoTimerAnswers
	want, got := newWorld(st, reference), newWorld(st, tested)
	want.ledger = newLedger(func() time.Duration { return time.Since(want.start) })
	got.inline = c.traits.OnAdvance
	st.Rec.Locked(func(rec *suite.Recording) { rec.Detail = comparison{want, got} })
	want.run()
	if want.ledger.open != "" && !stopsAtOnce(st.Steps()) {
		return
	}
	got.run()
	st.Rec.Locked(func(rec *suite.Recording) { rec.End = got.at })
}
