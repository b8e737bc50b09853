package suite

import (
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
)

// Months is a wait or an interval that has not ended an hour after a stop.
const Months = 2500 * time.Hour

// StopsSoon stops each schedule soon after its last step. If they are schedules of months, a timer
// that is armed an hour later is none that soon ends by itself. Only an injected clock tells.
func (s *Suite) StopsSoon(all []conformance.Schedule) []conformance.Schedule {
	if s.Time != conformance.Injected || !s.Accepts(conformance.OpStop) {
		return nil
	}
	return Ending(all, conformance.OpStop, []time.Duration{Wait / 2})
}

// stopsSoon reports whether a schedule ends with a stop, long before its wait or interval does.
func stopsSoon(s conformance.Schedule) bool {
	n := len(s.Steps)
	return n > 0 && s.Steps[n-1].Op == conformance.OpStop &&
		max(s.Config.Wait, s.Config.MaxWait, s.Config.Interval) >= Months
}

// lookAfterStop ends the recording an hour after the stop, and looks at the timers then. Where
// somebody waits still, the timer may be his, and the recording goes on.
func (s *Stage) lookAfterStop(stop time.Duration) {
	s.To(stop + time.Hour)
	s.Settle()
	if s.Waits != nil && s.Waits() {
		return
	}
	s.Rec.mu.Lock()
	defer s.Rec.mu.Unlock()
	rec := &s.Rec.rec
	if slices.ContainsFunc(rec.Done, func(d conformance.Done) bool { return d.Ended.Seq == 0 }) ||
		slices.ContainsFunc(rec.Fires, func(f conformance.Fire) bool { return f.Ended.Seq == 0 }) {
		return
	}
	rec.Kept, rec.End, s.Rec.closed = s.Armed(), s.Now(), true
}
