//go:build go1.25

package fakeclock_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
)

// stuckAdvance returns the text with which clock.Advance(d) panics, and checks
// that it took limit, or up to twice that: a look may find progress.
func stuckAdvance(t *testing.T, clock *fakeclock.Clock, d, limit time.Duration) string {
	t.Helper()
	began := time.Now()
	text, ok := panicOf(func() { clock.Advance(d) }).(string)
	if !ok {
		t.Fatalf("Advance(%v) did not panic with a text", d)
	}
	if got := time.Since(began); got != limit && got != 2*limit {
		t.Errorf("Advance(%v) panicked after %v, want %v or twice that", d, got, limit)
	}
	return text
}

func wantParts(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("panic text lacks %q:\n%s", part, text)
		}
	}
}

func TestWatchdog_blockedFunction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, happened := fakeclock.New(fakeclock.WithSites()), &log{}
		gate := make(chan struct{})
		clock.AfterFunc(5, func() {
			<-gate
			happened.add(clock, "let go")
			clock.Sleep(1) // like anybody's
			happened.add(clock, "slept")
			clock.Advance(1)
			happened.add(clock, "advanced")
		})
		clock.AfterFunc(6, func() {
			close(gate)
			time.Sleep(time.Nanosecond) // the other goes on and sleeps, and is no longer waited for
			happened.add(clock, "next")
		})
		text := stuckAdvance(t, clock, 7, 10*time.Second)
		wantParts(t, text,
			"fakeclock: Advance has waited 10s for functions that it started, and all are blocked on something other than this clock's Sleep.\n",
			"Do not block in them; or run the test in a bubble, with WithSettle(synctest.Wait)", "WithWatchdog",
			"\n\nAfterFunc due 2000-01-01 00:00:00.000000005 (made in fakeclock_test.TestWatchdog_blockedFunction.func1 watchdog_bubble_test.go:",
			"\ngoroutine ", " [chan receive", "TestWatchdog_blockedFunction.func1.1(", "watchdog_bubble_test.go:")
		if strings.Contains(text, "WithSites") {
			t.Errorf("panic text recommends WithSites though it is on:\n%s", text)
		}
		happened.want(t, "stuck Advance")
		wantElapsed(t, clock, 5)
		clock.Advance(2)
		synctest.Wait()
		happened.want(t, "Advance(2)", "let go@6ns", "next@6ns", "slept@7ns", "advanced@8ns")
		wantElapsed(t, clock, 8)
	})
}

// The classic: a function waits for a timer that only this Advance could fire.
func TestWatchdog_laterTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, happened := fakeclock.New(fakeclock.WithWatchdog(time.Minute)), &log{}
		clock.AfterFunc(1, func() { time.Sleep(time.Nanosecond) })
		clock.Advance(1)            // waits too, but not for ever
		clock.AfterFunc(1, func() { // sleeps in this clock: not to blame
			clock.Sleep(7)
			happened.add(clock, "slept")
		})
		clock.AfterFunc(1, func() {
			<-clock.After(2)
			happened.add(clock, "ended")
		})
		text := stuckAdvance(t, clock, 9, time.Minute)
		wantParts(t, text, "waited 1m0s", "AfterFunc due 2000-01-01 00:00:00.000000002\n", "\nWithSites adds where each function was handed to the clock.")
		if n := strings.Count(text, "\ngoroutine "); n != 1 {
			t.Errorf("%d goroutines in the panic text, want 1:\n%s", n, text)
		}
		clock.Advance(2)
		synctest.Wait()
		happened.want(t, "Advance(2)", "ended@4ns")
		clock.Advance(5)
		happened.want(t, "Advance(5)", "slept@9ns")
	})
}

func TestWatchdog_severalFunctions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := fakeclock.New()
		gate := make(chan struct{})
		release := clock.Hold()
		clock.AfterFunc(1, func() {
			clock.AfterFunc(0, func() {
				select {
				case <-gate:
				case <-t.Context().Done():
				}
			})
			<-gate
			exit()
		})
		clock.Advance(1)
		text, _ := panicOf(release).(string)
		wantParts(t, text, "[chan receive", "[select")
		if n := strings.Count(text, "\ngoroutine "); n != 2 {
			t.Errorf("%d goroutines in the panic text, want 2:\n%s", n, text)
		}
		close(gate)
		clock.AfterFunc(1, func() {})
		clock.Advance(1)
	})
}

// Whatever ends of itself is waited for, however long it takes.
func TestWatchdog_patient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, tt := range []struct {
			name  string
			opts  []fakeclock.Option
			each  time.Duration // that a function is blocked
			sleep time.Duration // that it then sleeps in package time
		}{
			{"short, many times", nil, 9 * time.Second, 0},
			{"asleep for years", nil, 0, 10 * 365 * 24 * time.Hour},
			{"raised", []fakeclock.Option{fakeclock.WithWatchdog(time.Hour)}, 59 * time.Minute, 0},
			{"off", []fakeclock.Option{fakeclock.WithWatchdog(0)}, 59 * time.Hour, 0},
			{"off by a negative", []fakeclock.Option{fakeclock.WithWatchdog(-1)}, 59 * time.Hour, 0},
		} {
			clock, ran := fakeclock.New(tt.opts...), 0
			for i := range 5 {
				clock.AfterFunc(time.Duration(1+i/2), func() {
					gate := make(chan struct{})
					go func() {
						time.Sleep(tt.each)
						close(gate)
					}()
					<-gate
					time.Sleep(tt.sleep)
					clock.Sleep(1)
					ran++
				})
			}
			clock.Advance(9)
			if ran != 5 {
				t.Errorf("%s: %d functions ran, want 5", tt.name, ran)
			}
		}
	})
}
