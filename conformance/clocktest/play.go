package clocktest

import (
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/synctestcompat"
)

// comparison is what a run records: what package time and what the clock has shown.
type comparison struct {
	want, got []event
	// doing is the step under way on the clock.
	doing conformance.Step
	// ledger is that of the run on package time.
	ledger *ledger
}

// Play runs a schedule on package time and on a fresh clock, in the same bubble: neither
// sees the other's time. If the outcome depends on what package time leaves open, the
// clock is not run, as there is nothing to compare it with, unless what it shows can be judged
// by itself.
func (c *contract) Play(st *suite.Stage) {
	tested := c.spec.New(Env{Settle: synctestcompat.Wait})
	reference := packageTime()
	reference.NoTimerAnswers = tested.NoTimerAnswers
	want := newWorld(st, reference)
	want.ledger = newLedger(func() time.Duration { return time.Since(want.start) })
	want.run(func(conformance.Step) {})
	seen := comparison{want: want.events, ledger: want.ledger}
	record := func() { st.Rec.Locked(func(rec *suite.Recording) { rec.Detail = seen }) }
	record()
	if seen.ledger.open != "" && !stopsAtOnce(st.Steps()) {
		return
	}
	got := newWorld(st, tested)
	got.inline = c.traits.OnAdvance
	got.run(func(s conformance.Step) { // the step may block for ever
		seen.got, seen.doing = got.seen(), s
		record()
	})
	seen.got = got.events
	record()
	st.Rec.Locked(func(rec *suite.Recording) { rec.End = got.at })
}
