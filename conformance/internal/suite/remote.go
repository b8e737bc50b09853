package suite

import (
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
)

// Await does an operation. If it takes time on an injected clock, the clock is moved from timer to
// timer until it has returned.
func (s *Stage) Await(takes bool, do func()) {
	if !takes || s.Time != conformance.Injected {
		do()
		return
	}
	returned := make(chan struct{})
	Start(func() { do(); close(returned) })
	const most = 1000 // more timers than any operation arms
	for range most {
		s.Settle()
		select {
		case <-returned:
			return
		default:
		}
		fake := s.Fake()
		next, armed := time.Time{}, false
		if fake != nil {
			next, armed = fake.Next()
		}
		if !armed {
			break
		}
		s.To(next.Sub(s.Config().Start()))
	}
	<-returned
}

// AsBegun is a run with each step at the instant at which it began. That is another one than
// planned only if a step before it took time.
func AsBegun(rec *Recording) *Recording {
	late := func(d conformance.Done) bool { return d.Began.At > d.At }
	if !slices.ContainsFunc(rec.Done, late) || GoesBack(rec.Schedule) {
		return rec
	}
	begun := *rec
	begun.Done = slices.Clone(rec.Done)
	for i := range begun.Done {
		begun.Done[i].At = max(begun.Done[i].At, begun.Done[i].Began.At)
	}
	return &begun
}

// Decided says what a request got.
func Decided(granted bool) string {
	if granted {
		return "granted"
	}
	return "denied"
}
