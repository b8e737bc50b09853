package fakeclock_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/escapement-go/escapement/fakeclock"
)

// wantTimers checks Timers, each given as "Kind deadline-since-start [period]".
func wantTimers(t *testing.T, when string, clock *fakeclock.Clock, want ...string) {
	t.Helper()
	var got []string
	for _, timer := range clock.Timers() {
		line := fmt.Sprint(timer.Kind, " ", int64(timer.Deadline.Sub(clock.Now())+clock.Elapsed()))
		if timer.Period != 0 {
			line += fmt.Sprint(" ", int64(timer.Period))
		}
		got = append(got, line)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s: Timers() = %q, want %q", when, got, want)
	}
}

func TestClock_TimersOfEveryKind(t *testing.T) {
	clock := fakeclock.New()
	wantTimers(t, "new", clock)
	timer := clock.NewTimer(5)
	clock.After(5)
	ticker := clock.NewTicker(3)
	clock.AfterFunc(4, func() {})
	go clock.Sleep(6)
	clock.BlockUntil(5)
	clock.NewTimer(0)
	clock.NewTimer(maxRange)
	wantTimers(t, "armed", clock, "Ticker 3 3", "AfterFunc 4", "Timer 5", "After 5", "Sleep 6", "Timer 9223372036854775807")
	timer.Reset(5) // after After now
	wantTimers(t, "Reset", clock, "Ticker 3 3", "AfterFunc 4", "After 5", "Timer 5", "Sleep 6", "Timer 9223372036854775807")
	clock.Advance(4)
	wantTimers(t, "unread tick", clock, "After 5", "Timer 5", "Sleep 6", "Ticker 6 3", "Timer 9223372036854775807")
	clock.Advance(6)
	wantTimers(t, "tick to be dropped", clock, "Ticker 12 3", "Timer 9223372036854775807")
	ticker.Reset(4)
	wantTimers(t, "Ticker.Reset", clock, "Ticker 14 4", "Timer 9223372036854775807")
	ticker.Stop()
	wantTimers(t, "Ticker.Stop", clock, "Timer 9223372036854775807")
}

// Timers promises the firing order, in both parts of the queue too.
func TestClock_TimersInFiringOrder(t *testing.T) {
	clock := fakeclock.New()
	start := clock.Now()
	var fired []int64
	for i := range 100 {
		d := time.Duration(1 + i*31%7)
		clock.AfterFunc(d*1000+1, func() { fired = append(fired, int64(d*1000+1)) })
	}
	timers := clock.Timers()
	clock.Advance(maxRange)
	for i, timer := range timers {
		if got := int64(timer.Deadline.Sub(start)); got != fired[i] {
			t.Fatalf("timer %d of Timers() is due at %d, the one that fired at %d", i, got, fired[i])
		}
	}
}

func TestTimer_String(t *testing.T) {
	at := time.Date(2000, 1, 1, 0, 0, 5, 500e6, time.UTC)
	for _, tt := range []struct {
		timer fakeclock.Timer
		want  string
	}{
		{fakeclock.Timer{Kind: fakeclock.KindTimer, Deadline: at}, "Timer due 2000-01-01 00:00:05.5"},
		{fakeclock.Timer{Kind: fakeclock.KindTicker, Deadline: at, Period: time.Second}, "Ticker every 1s due 2000-01-01 00:00:05.5"},
		{fakeclock.Timer{Kind: fakeclock.KindContext, Deadline: at, Site: "p.F f.go:7"}, "Context due 2000-01-01 00:00:05.5 (made in p.F f.go:7)"},
		{fakeclock.Timer{Kind: 200, Deadline: at}, "Kind(200) due 2000-01-01 00:00:05.5"},
	} {
		if got := tt.timer.String(); got != tt.want {
			t.Errorf("String() = %q, want %q", got, tt.want)
		}
	}
}

// wrapper is a user's type around a clock.
type wrapper struct {
	*fakeclock.Clock
}

func TestWithSites_namesTheCaller(t *testing.T) {
	clock := fakeclock.New(fakeclock.WithSites())
	for _, tt := range []struct {
		name string
		arm  func()
	}{
		{"NewTimer", func() { clock.NewTimer(1) }},
		{"After", func() { clock.After(1) }},
		{"NewTicker", func() { clock.NewTicker(1) }},
		{"AfterFunc", func() { clock.AfterFunc(1, func() {}) }},
		{"interface", func() { clockwork.Clock(clock).NewTimer(1) }},
		{"wrapper", func() { clockwork.Clock(wrapper{clock}).NewTimer(1) }},
		{"clockwork", func() { clockwork.FromContext(clockwork.AddToContext(context.Background(), clock)).After(1) }},
	} {
		before := clock.Timers()
		tt.arm()
		timers := clock.Timers()
		if len(timers) != len(before)+1 {
			t.Fatalf("%s: %d timers armed, want %d", tt.name, len(timers), len(before)+1)
		}
		got := timers[len(timers)-1].Site
		if want := `^fakeclock_test\.TestWithSites_namesTheCaller\.func\d+ timers_test\.go:\d+$`; !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("%s: Site = %q, want a match of %s", tt.name, got, want)
		}
	}
}

func TestWithSites_sleepers(t *testing.T) {
	clock := fakeclock.New(fakeclock.WithSites())
	go func() { clock.Sleep(1) }()
	clock.BlockUntil(1)
	if got := clock.Timers()[0].Site; !strings.HasPrefix(got, "fakeclock_test.TestWithSites_sleepers.func1 timers_test.go:") {
		t.Errorf("Site = %q, want this test's function", got)
	}
	go clock.Sleep(2) // no caller but the go statement
	clock.BlockUntil(2)
	if got := clock.Timers()[1].Site; strings.Contains(got, "runtime") {
		t.Errorf("Site = %q, want none of package runtime", got)
	}
	clock.Advance(2)
}

func TestWithSites_off(t *testing.T) {
	clock := fakeclock.New()
	clock.NewTimer(1)
	if got := clock.Timers()[0].Site; got != "" {
		t.Errorf("Site = %q without WithSites, want none", got)
	}
}
