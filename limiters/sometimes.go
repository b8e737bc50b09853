package limiters

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/jonboulle/clockwork"
)

// A Sometimes runs a function on some of the calls of Do, like the type of that name in
// golang.org/x/time/rate. A call runs it if any of these holds:
//
//   - it is among the first First calls;
//   - Every is positive and the number of earlier calls is a multiple of Every;
//   - Interval is positive and has passed since the end of the last run, or there was
//     no run yet.
//
// Without any of the three, only the first call runs: the zero Sometimes is a
// [sync.Once]. A negative field counts as 0. A call exactly Interval after the end
// of the last run runs. A run that panics counts as one, and is over.
//
// Unlike there, the function does not run under a lock: it may call Do, and a call does
// not wait for another's run. So runs may overlap. During a run, no other call runs
// because of Interval.
//
// Do not change the fields after the first Do, and do not copy a Sometimes. Do is safe
// for concurrent use.
type Sometimes struct {
	First    int             // if positive, the first First calls run
	Every    int             // if positive, every Every-th call runs, from the first on
	Interval time.Duration   // if positive, a call runs if there was no run for Interval
	Clock    clockwork.Clock // nil: package time

	count atomic.Uint64         // calls; unless Every is positive, only as long as they run
	epoch atomic.Pointer[epoch] // of Interval; full is then the end of the newest run. nil: none ended yet

	mu      sync.Mutex
	running int           // runs that go on
	end     time.Duration // of the newest run, counted from the base of epoch
}

// Do runs f, before it returns, or does nothing. It panics if f is nil.
func (s *Sometimes) Do(f func()) {
	if f == nil {
		panic("limiters: Sometimes.Do: f must not be nil: pass the function to run")
	}
	if s.Interval <= 0 {
		if s.counted() {
			f()
		}
		return
	}
	if s.begin() {
		defer s.ended()
		f()
	}
}

// counted counts a call, and reports whether it runs for its number.
func (s *Sometimes) counted() bool {
	if s.Every <= 0 {
		first := uint64(max(s.First, 1))
		return s.count.Load() < first && s.count.Add(1) <= first
	}
	return s.runs(s.count.Add(1) - 1)
}

// runs reports whether a call runs for its number, which is n.
func (s *Sometimes) runs(n uint64) bool {
	return n < uint64(max(s.First, 1)) || s.Every > 0 && n%uint64(s.Every) == 0
}

// passed counts a call with number n that does not run for its number, and reports
// whether that was still the number of the call.
func (s *Sometimes) passed(n uint64) bool { return s.Every <= 0 || s.count.CompareAndSwap(n, n+1) }

// begin reports whether a call runs, where Interval matters.
func (s *Sometimes) begin() bool {
	var ep *epoch // if not nil the clock was read, and it was e after its base
	var e time.Duration
	if n := s.count.Load(); !s.runs(n) {
		if ep = s.epoch.Load(); ep != nil {
			e = ep.now(s.Clock)
			if ep.within(e, s.Interval) && s.passed(n) {
				return false
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		n := s.count.Load()
		run := s.runs(n)
		if run && !s.count.CompareAndSwap(n, n+1) {
			continue
		}
		if !run {
			run = s.running == 0 && s.rested(ep, e)
			if !s.passed(n) {
				continue
			}
		}
		if run {
			s.running++
			if ep := s.epoch.Load(); ep != nil {
				ep.full.Store(notFull) // nobody is turned away by the end of an older run
			}
		}
		return run
	}
}

// rested reports whether Interval has gone by since the end of the newest run, which may
// have been asked for at e after the base of ep. mu is held.
func (s *Sometimes) rested(asked *epoch, e time.Duration) bool {
	ep := s.epoch.Load()
	switch {
	case ep == nil:
		return true
	case ep == asked && e >= s.end && e < remote:
		return e-s.end >= s.Interval
	case s.Clock != nil:
		return s.Clock.Since(ep.base.Add(s.end)) >= s.Interval
	}
	return time.Since(ep.base.Add(s.end)) >= s.Interval
}

// ended is called when a run has ended.
func (s *Sometimes) ended() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running--
	ep := s.epoch.Load()
	if ep != nil {
		s.end = ep.now(s.Clock)
	}
	if ep == nil || s.end >= remote || s.end <= -remote {
		ep, s.end = &epoch{base: now(s.Clock)}, 0
		ep.full.Store(notFull)
		s.epoch.Store(ep)
	}
	if s.running == 0 {
		ep.full.Store(int64(s.end))
	}
}
