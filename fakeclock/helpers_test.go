package fakeclock_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/escapement-go/escapement/fakeclock"
)

// log records what happened, by whatever goroutine.
type log struct {
	mu    sync.Mutex
	lines []string
}

// add notes what happened and the time since the clock's start.
func (l *log) add(clock *fakeclock.Clock, what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, fmt.Sprintf("%s@%v", what, clock.Elapsed()))
}

// take returns what was noted since the last take.
func (l *log) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := l.lines
	l.lines = nil
	return lines
}

func (l *log) want(t *testing.T, when string, want ...string) {
	t.Helper()
	if got := l.take(); !slices.Equal(got, want) {
		t.Errorf("%s: got %q, want %q", when, got, want)
	}
}

// received takes the unread value off ch and returns its offset from start, or
// -1 if there is none.
func received(ch <-chan time.Time, start time.Time) time.Duration {
	select {
	case at := <-ch:
		return at.Sub(start)
	default:
		return -1
	}
}

// wantReceived checks received(ch, start); want -1 stands for nothing.
func wantReceived(t *testing.T, when string, ch <-chan time.Time, start time.Time, want time.Duration) {
	t.Helper()
	if got := received(ch, start); got != want {
		t.Errorf("%s: channel gave %v, want %v", when, got, want)
	}
}

func wantBool(t *testing.T, call string, got, want bool) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %v, want %v", call, got, want)
	}
}

func wantElapsed(t *testing.T, clock *fakeclock.Clock, want time.Duration) {
	t.Helper()
	if got := clock.Elapsed(); got != want {
		t.Errorf("Elapsed() = %v, want %v", got, want)
	}
}

// wantNext checks Next; want -1 stands for none.
func wantNext(t *testing.T, clock *fakeclock.Clock, start time.Time, want time.Duration) {
	t.Helper()
	at, ok := clock.Next()
	switch {
	case want < 0 && (ok || !at.IsZero()):
		t.Errorf("Next() = %v, %v, want zero, false", at, ok)
	case want >= 0 && (!ok || !at.Equal(start.Add(want))):
		t.Errorf("Next() = %v, %v, want %v, true", at, ok, start.Add(want))
	}
}

// panicOf returns what f panics with, nil if it returns.
func panicOf(f func()) (p any) {
	defer func() { p = recover() }()
	f()
	return nil
}

// armedIs reports whether exactly n timers are armed, in as far as BlockUntil
// tells: it returns for n and would block for n+1.
func armedIs(clock *fakeclock.Clock, n int) bool {
	return clock.BlockUntilContext(done, n) == nil && clock.BlockUntilContext(done, n+1) != nil
}

var _ clockwork.Clock = (*fakeclock.Clock)(nil)

// start is where a clock starts.
var start = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
