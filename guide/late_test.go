package guide

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/escapement-go/escapement/synctestcompat"
)

// late is package time on a busy machine: whatever waits for it gets its turn by so much
// too late. In a bubble that is one interleaving, the same in every run.
type late struct {
	clockwork.Clock
	by time.Duration
}

func (c late) Sleep(d time.Duration)                  { c.Clock.Sleep(d + c.by) }
func (c late) After(d time.Duration) <-chan time.Time { return c.Clock.After(d + c.by) }

func (c late) AfterFunc(d time.Duration, f func()) clockwork.Timer {
	return lateTimer{c.Clock.AfterFunc(d+c.by, f), c.by}
}

func (c late) NewTimer(d time.Duration) clockwork.Timer {
	return lateTimer{c.Clock.NewTimer(d + c.by), c.by}
}

func (c late) NewTicker(d time.Duration) clockwork.Ticker {
	t := &lateTicker{ticks: make(chan time.Time, 1)}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.timer = c.Clock.AfterFunc(d+c.by, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		select {
		case t.ticks <- c.Now():
		default: // nobody has read the one before
		}
		t.timer.Reset(d)
	})
	return t
}

type lateTimer struct {
	clockwork.Timer
	by time.Duration
}

func (t lateTimer) Reset(d time.Duration) bool { return t.Timer.Reset(d + t.by) }

// lateTicker ticks in its period, from a late first tick on.
type lateTicker struct {
	clockwork.Ticker // Reset is not used here
	ticks            chan time.Time

	mu    sync.Mutex
	timer clockwork.Timer
}

func (t *lateTicker) Chan() <-chan time.Time { return t.ticks }

func (t *lateTicker) Stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.timer.Stop()
}

// sleeping are the tests that sleep, and by how much late breaks each.
var sleeping = []struct {
	name   string
	test   func(t testing.TB, clock clockwork.Clock)
	by     time.Duration
	passes bool // what breaks is that it passes although there is a bug
	leaks  bool // it leaves a goroutine behind, which a bubble finds
}{
	{name: "first", test: firstBefore, by: 20 * time.Millisecond},
	{name: "debounce", test: debounceBefore, by: 40 * time.Millisecond},
	{name: "cache", test: cacheBefore, by: 30 * time.Millisecond},
	{name: "retry", test: retryBefore, by: 5 * time.Millisecond},
	{name: "heartbeat", test: heartbeatBefore, by: 30 * time.Millisecond},
	{name: "lease", test: leaseBefore, by: 25 * time.Millisecond},
	{name: "loop", test: loopBefore, by: 10 * time.Millisecond},
	{name: "refresh", test: refreshBefore, by: 10 * time.Millisecond},
	{name: "rate limit", test: rateLimitBefore, by: 20 * time.Millisecond},
	{name: "handler", test: handlerBefore, by: 15 * time.Millisecond},
	{name: "absence", test: absenceBefore, by: 10 * time.Millisecond, passes: true},
	{name: "server", test: serverBefore, by: 25 * time.Millisecond},
	{name: "janitor", test: janitorBefore, by: 30 * time.Millisecond, leaks: true},
}

// Each test that sleeps passes if all is quick, and is wrong if the code under test comes
// late once.
func TestBefore_breaksWhenLate(t *testing.T) {
	for _, s := range sleeping {
		t.Run(s.name, func(t *testing.T) {
			listen = memory // a bubble's time stands still while a socket is waited for
			defer func() { listen = loopback }()
			onTime := verdict(t, s.test, 0, s.leaks)
			tooLate := verdict(t, s.test, s.by, s.leaks)
			if s.passes {
				onTime, tooLate = tooLate, onTime // on time it finds the bug
			}
			if onTime != "" {
				t.Errorf("with everything on time it fails: %s", onTime)
			}
			if tooLate == "" {
				t.Errorf("with everything late by %v it does not fail", s.by)
			}
			t.Logf("late by %v: %s%s", s.by, tooLate, onTime)
		})
	}
}

// verdict runs a test in a bubble, on a clock that is late, and returns what it fails with.
func verdict(t *testing.T, test func(testing.TB, clockwork.Clock), by time.Duration, leaks bool) string {
	synctestcompat.Require(t)
	var r recorder
	inBubble(t, leaks, func(t *testing.T) {
		r.TB = t
		ended := make(chan bool)
		go func() { // Fatal ends its goroutine
			defer close(ended)
			defer r.cleanup()
			test(&r, late{clockwork.NewRealClock(), by})
		}()
		<-ended
	})
	return strings.Join(r.failures, "; ")
}

// inBubble calls f in a bubble. If f leaves a goroutine behind, Run panics, which it must if
// leaks is set.
func inBubble(t *testing.T, leaks bool, f func(t *testing.T)) {
	if leaks {
		defer func() {
			if recover() == nil {
				t.Error("the bubble did not find the goroutine that was left behind")
			}
		}()
	}
	synctestcompat.Run(t, f)
}

// recorder is the T of a test whose failure is what is looked for.
type recorder struct {
	testing.TB
	failures []string
	cleanups []func()
}

func (r *recorder) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }

func (r *recorder) cleanup() {
	for len(r.cleanups) > 0 {
		last := len(r.cleanups) - 1
		f := r.cleanups[last]
		r.cleanups = r.cleanups[:last]
		f()
	}
}

func (r *recorder) Error(args ...any)                 { r.failures = append(r.failures, fmt.Sprint(args...)) }
func (r *recorder) Errorf(format string, args ...any) { r.Error(fmt.Sprintf(format, args...)) }
func (r *recorder) Fatal(args ...any)                 { r.Error(args...); runtime.Goexit() }
func (r *recorder) Fatalf(format string, args ...any) { r.Fatal(fmt.Sprintf(format, args...)) }
