package clocktest

import (
	"fmt"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// aroundSecond are gaps within, up to and just before a second.
var aroundSecond = []time.Duration{0, 1, 700 * milli, second - 1, second}

func timers() []conformance.Schedule {
	return slices.Concat(
		following("timer 1 1s @0", "read 1 @0 | now @0", aroundSecond, 3, read(1, 3*second)),
		following("timer 1 1s @0 | timer 2 1.7s @0", "read 1 @0 | read 2 @0", aroundSecond, 3,
			read(2, 3*second), read(1, 1)),
		following("after 1 1s @0", "read 1 @0", aroundSecond, 3, read(1, 3*second)),
		suite.ParseAll("timer 1 3s @0 | timer 2 1s @0 | timer 3 2s @0 | read 1 @10s | read 2 @10s | read 3 @10s",
			"timer 1 "+longest+" @0 | read 1 @1h", "after 1 "+longest+" @0 | read 1 @1h",
			"timer 1 "+longest+" @1s | read 1 @1h", "after 1 "+longest+" @1s | read 1 @1h",
			"timer 1 1ns @0 | read 1 @0 | read 1 @1ns | read 1 @2ns",
			"timer 1 10ns @0 | rearm 1 9ns @0 | read 1 @8ns | read 1 @9ns"))
}

// fewGaps are gaps before a deadline in a second, at it, and after it and the next one.
var fewGaps = []time.Duration{0, 400 * milli, second, 3 * second}

// timerLives stop, reset and read one timer.
func timerLives() []conformance.Schedule {
	return append(following("timer 1 1s @0", "halt 1 @0 | read 1 @0 | rearm 1 1s @0", fewGaps, 3, read(1, 5*second)),
		following("timer 1 1s @0", "halt 1 @0 | read 1 @0 | rearm 1 2.3s @0 | rearm 1 200ms @0", fewGaps, 2,
			read(1, 5*second))...)
}

func tickers() []conformance.Schedule {
	gaps := []time.Duration{0, 300 * milli, second, 2500 * milli, 5500 * milli}
	few := []time.Duration{300 * milli, 3 * second}
	return slices.Concat(
		following("ticker 1 1s @0", "read 1 @0", gaps, 4, read(1, second)),
		following("ticker 1 1s @0 | ticker 2 700ms @0", "read 1 @0 | read 2 @0", few, 3, read(1, second)),
		suite.ParseAll("ticker 1 "+longest+" @0 | read 1 @1h",
			"ticker 1 1ns @0 | read 1 @1ns | read 1 @2ns | halt 1 @2ns",
			"ticker 1 1ms @0 | read 1 @2s | read 1 @2.0005s | read 1 @2.001s",
			"ticker 1 1ns @0 | read 1 @0 | read 1 @1ns | read 1 @1ns | read 1 @3ns | read 1 @3ns | halt 1 @3ns",
			"ticker 1 2ns @0 | read 1 @3ns | read 1 @4ns | read 1 @5ns | halt 1 @5ns"),
		denseTicks(30))
}

// tickerLives stop, reset and read one ticker.
func tickerLives() []conformance.Schedule {
	return following("ticker 1 1s @0", "halt 1 @0 | read 1 @0 | rearm 1 700ms @0", fewGaps, 3,
		read(1, 5*second), read(1, 300*milli), read(1, second))
}

// stopping selects the schedules of one timer or ticker in which it is, or is not, stopped
// or reset while a value is unread.
func stopping(all []conformance.Schedule, unread bool) []conformance.Schedule {
	return slices.DeleteFunc(all, func(s conformance.Schedule) bool { return stopsUnread(s) != unread })
}

func stopsUnread(s conformance.Schedule) bool {
	at := time.Duration(0)
	l := newLedger(func() time.Duration { return at })
	for _, st := range s.Steps {
		at = st.At
		if l.before(st) == stateUnread && st.Op != verb.Read {
			return true
		}
	}
	return false
}

func zeroDurations() []conformance.Schedule {
	var out []conformance.Schedule
	for _, d := range []string{"0", "-1ns", "-1h"} {
		out = append(out, suite.ParseAll(
			"timer 1 "+d+" @0 | read 1 @0 | read 1 @1s",
			"timer 1 1s @0 | rearm 1 "+d+" @0 | read 1 @0 | read 1 @2s",
			"timer 1 1s @0 | halt 1 @0 | rearm 1 "+d+" @0 | read 1 @0 | read 1 @2s",
			"timer 1 1s @0 | read 1 @1s | rearm 1 "+d+" @2s | read 1 @2s | read 1 @3s",
			"after 1 "+d+" @0 | read 1 @0 | read 1 @1s",
			"sleep 1 "+d+" @0 | idle 1s",
			"afterfunc 1 "+d+" @0 | idle 1s",
			"afterfunc 1 1s @0 | rearm 1 "+d+" @0 | idle 2s",
			"afterfunc 1 1s @0 | rearm 1 "+d+" @2s | idle 2s",
			"afterfunc 1 "+d+" @0 | halt 1 @0 | idle 1s",
			"afterfunc 1 1s @0 | afterfunc 2 "+d+" @f1 | idle 1s | idle 1s",
			"afterfunc 1 1s @0 | timer 2 "+d+" @f1 | read 2 @1s",
		)...)
	}
	return out
}

// sameDeadlines have three timers of two kinds that are due at one instant, or functions that
// stop each other at theirs.
func sameDeadlines() []conformance.Schedule {
	var out []conformance.Schedule
	makers := []string{"timer", "afterfunc", "ticker", "sleep", "after"}
	for _, a := range makers {
		for _, b := range makers {
			text := a + " 1 1s @0 | " + a + " 3 1s @0 | " + b + " 2 600ms @400ms"
			for i, m := range []string{a, b, a} { // in the order of their numbers
				if m != "afterfunc" && m != "sleep" {
					text += fmt.Sprintf(" | read %d @1s", i+1)
				}
			}
			out = append(out, suite.MustParse(text+" | idle 400ms"))
		}
	}
	return append(out, suite.ParseAll(
		"afterfunc 1 1s @0 | afterfunc 2 1s @0 | halt 2 @f1 | idle 2s",
		"afterfunc 1 1s @0 | afterfunc 2 1s @0 | halt 1 @f2 | idle 2s",
		"afterfunc 1 1s @0 | afterfunc 2 1s @0 | halt 2 @f1 | halt 1 @f2 | idle 2s",
		"afterfunc 1 1s @0 | afterfunc 2 600ms @400ms | afterfunc 3 1s @0 | halt 3 @f1 | halt 1 @f2 | idle 2s")...)
}
