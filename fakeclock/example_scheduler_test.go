package fakeclock_test

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/jonboulle/clockwork"
)

// scheduler runs each of its jobs every so often, all of them by one timer, which is armed for the next. It counts in
// elapsed time, so that a step of the wall clock moves nothing, and looks at all jobs each time, which is quick enough
// for a thousand: for more, keep them in a heap.
type scheduler struct {
	clock clockwork.Clock
	began time.Time

	mu    sync.Mutex
	jobs  []*job
	timer clockwork.Timer // nil: there was no job yet
}

type job struct {
	next, interval time.Duration // next since the scheduler began
	run            func()
}

// every adds a job, which stop removes again.
func (s *scheduler) every(interval time.Duration, run func()) (stop func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j := &job{s.clock.Since(s.began) + interval, interval, run}
	s.jobs = append(s.jobs, j)
	s.arm()
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.jobs = slices.DeleteFunc(s.jobs, func(other *job) bool { return other == j })
		s.arm()
	}
}

// fire runs what is due, under no lock. A job that is late skips what it has missed, and keeps its cadence.
func (s *scheduler) fire() {
	s.mu.Lock()
	now := s.clock.Since(s.began)
	var due []func()
	for _, j := range s.jobs {
		if j.next <= now {
			due = append(due, j.run)
			j.next += j.interval * ((now-j.next)/j.interval + 1)
		}
	}
	s.arm()
	s.mu.Unlock()
	for _, run := range due {
		run()
	}
}

// arm arms the timer for the next job.
func (s *scheduler) arm() {
	next := time.Duration(math.MaxInt64)
	for _, j := range s.jobs {
		next = min(next, j.next)
	}
	switch wait := next - s.clock.Since(s.began); {
	case s.timer == nil:
		s.timer = s.clock.AfterFunc(wait, s.fire)
	case len(s.jobs) == 0:
		s.timer.Stop()
	default:
		s.timer.Reset(wait)
	}
}

// Many jobs on one timer: the clock has one armed, whatever there is to do, and shows each job at its instant.
func ExampleClock_AfterFunc_scheduler() {
	clock := fakeclock.New()
	s := &scheduler{clock: clock, began: clock.Now()}
	report := func(name string) func() {
		return func() { fmt.Println(name, "at", clock.Elapsed()) }
	}
	s.every(5*time.Minute, report("sweep"))
	stop := s.every(2*time.Minute, report("probe"))
	clock.Advance(5 * time.Minute)
	fmt.Println("timers:", len(clock.Timers()))

	stop()
	clock.SetWall(clock.Now().Add(-time.Hour)) // moves no job
	clock.Advance(10 * time.Minute)
	// Output:
	// probe at 2m0s
	// probe at 4m0s
	// sweep at 5m0s
	// timers: 1
	// sweep at 10m0s
	// sweep at 15m0s
}
