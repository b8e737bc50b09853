package limiters

import (
	"sync"
	"time"

	"github.com/jonboulle/clockwork"
)

// A Sometimes runs a function on some of the calls of Do, as the type of that name
// in golang.org/x/time/rate does. A call runs it if any of these is so:
//
//   - it is among the first First calls;
//   - Every is positive and the calls before it are a multiple of Every;
//   - Interval is positive and has gone by since the end of the last run, or there
//     was no run yet.
//
// Without any of the three, only the first call runs: the zero Sometimes is a
// [sync.Once]. A negative field counts as 0. A call exactly Interval after the end
// of the last run runs. A run that panics counts as one, and is over.
//
// Unlike there, the function does not run under a lock: it may call Do, and a call
// does not wait for the run of another. Runs may so overlap. While one that was
// run for any reason goes on, no other call runs for the sake of Interval.
//
// The fields must not change after the first Do, nor a Sometimes be copied. All
// else is safe for concurrent use.
type Sometimes struct {
	First    int             // if positive, the first First calls run
	Every    int             // if positive, every Every-th call runs, from the first on
	Interval time.Duration   // if positive, a call runs if there was no run for Interval
	Clock    clockwork.Clock // nil: package time

	mu      sync.Mutex
	count   uint64    // calls
	ran     bool      // last is one
	running int       // runs that go on
	last    time.Time // the end of the newest run
}

// Do runs f, before it returns, or does nothing.
func (s *Sometimes) Do(f func()) {
	if !s.begin() {
		return
	}
	defer s.end()
	f()
}

func (s *Sometimes) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	run := s.count == 0 || s.count < uint64(max(s.First, 0)) || s.Every > 0 && s.count%uint64(s.Every) == 0
	if !run && s.Interval > 0 && s.running == 0 {
		run = !s.ran || s.since() >= s.Interval
	}
	s.count++
	if run {
		s.running++
	}
	return run
}

func (s *Sometimes) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running--
	s.ran = true
	if s.Interval > 0 {
		s.last = s.now()
	}
}

// since returns the time since the end of the newest run.
func (s *Sometimes) since() time.Duration {
	if s.Clock != nil {
		return s.Clock.Since(s.last)
	}
	return time.Since(s.last) // half the price of time.Now
}

func (s *Sometimes) now() time.Time {
	if s.Clock != nil {
		return s.Clock.Now()
	}
	return time.Now()
}
