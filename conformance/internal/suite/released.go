package suite

import (
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
)

// lookReleased ends the recording an hour after the last step, which releases everything, and looks at
// the goroutines and timers then. Where somebody waits still, the timer may be his, and the recording goes on.
// So it does where a callback was to release it that has not come.
func (s *Stage) lookReleased(last time.Duration) {
	s.To(last + time.Hour)
	s.Settle()
	if s.Waits != nil && s.Waits() {
		return
	}
	left := s.before.left()
	s.Rec.mu.Lock()
	defer s.Rec.mu.Unlock()
	rec := &s.Rec.rec
	inside := func(d conformance.Done) bool { return d.Inside }
	if rec.Schedule.Config.Inside != "" && !slices.ContainsFunc(rec.Done, inside) ||
		slices.ContainsFunc(rec.Done, func(d conformance.Done) bool { return d.Ended.Seq == 0 }) ||
		slices.ContainsFunc(rec.Fires, func(f conformance.Fire) bool { return f.Ended.Seq == 0 }) {
		return
	}
	rec.Left, rec.Kept, rec.End, s.Rec.closed = left, s.Armed(), s.Now(), true
}
