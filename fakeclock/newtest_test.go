package fakeclock_test

import (
	"fmt"
	"regexp"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/escapement-go/escapement/fakeclock"
)

var (
	_ fakeclock.TestingT = testing.TB(nil)
	_ fakeclock.TestingT = (*rapid.T)(nil)
)

// recorder is a test that ends when told to.
type recorder struct {
	cleanups []func()
	errors   []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

func (r *recorder) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }

// end returns what the test fails with.
func (r *recorder) end() []string {
	for _, f := range slices.Backward(r.cleanups) {
		f()
	}
	return r.errors
}

func TestNewTest_reportsLeftovers(t *testing.T) {
	tb := &recorder{}
	clock := fakeclock.NewTest(tb)
	clock.NewTimer(time.Minute)
	clock.NewTicker(time.Second)
	clock.After(time.Hour)
	clock.NewTimer(time.Hour).Stop()
	clock.Advance(time.Second)
	go func() { clock.Sleep(time.Hour) }()
	clock.BlockUntil(4)
	errors := tb.end()
	want := `^fakeclock: 3 still armed at the end of the test, at 2000-01-01 00:00:01:
	Ticker every 1s due 2000-01-01 00:00:02 \(made in fakeclock_test\.TestNewTest_reportsLeftovers newtest_test\.go:\d+\)
	Timer due 2000-01-01 00:01:00 \(made in fakeclock_test\.TestNewTest_reportsLeftovers newtest_test\.go:\d+\)
	Sleep due 2000-01-01 01:00:01 \(made in fakeclock_test\.TestNewTest_reportsLeftovers\.func1 newtest_test\.go:\d+\)
Stop timers and tickers, cancel contexts, advance until sleepers wake, or use WithLeftovers\.$`
	if len(errors) != 1 || !regexp.MustCompile(want).MatchString(errors[0]) {
		t.Errorf("test failed with %q, want a match of %q", errors, want)
	}
	clock.Advance(time.Hour)
}

func TestNewTest_silent(t *testing.T) {
	for name, use := range map[string]func(*recorder){
		"nothing armed": func(tb *recorder) { fakeclock.NewTest(tb) },
		"After":         func(tb *recorder) { fakeclock.NewTest(tb).After(1) },
		"fired":         func(tb *recorder) { clock := fakeclock.NewTest(tb); clock.NewTimer(1); clock.Advance(1) },
		"later cleanup": func(tb *recorder) { tb.Cleanup(fakeclock.NewTest(tb).NewTicker(1).Stop) },
		"WithLeftovers": func(tb *recorder) { fakeclock.NewTest(tb, fakeclock.WithLeftovers()).NewTimer(1) },
	} {
		tb := &recorder{}
		use(tb)
		if errors := tb.end(); errors != nil {
			t.Errorf("%s: test failed with %q", name, errors)
		}
	}
}

func TestNewTest_options(t *testing.T) {
	start := time.Unix(0, 0)
	clock := fakeclock.NewTest(t, fakeclock.WithStart(start))
	if got := clock.Now(); got != start {
		t.Errorf("Now() = %v, want %v", got, start)
	}
}
