package clocktest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

func functions() []conformance.Schedule {
	gaps, few := []time.Duration{0, 1, second - 1, second, 3 * second}, []time.Duration{0, second}
	return slices.Concat(
		suite.ParseAll("afterfunc 1 "+longest+" @0 | idle 1h | halt 1 @1h",
			"afterfunc 1 1s @0 | rearm 1 "+longest+" @0 | idle 1h",
			"afterfunc 1 "+longest+" @1s | idle 1h", "afterfunc 1 "+longest+" @1s | idle 1h | halt 1 @2h",
			"afterfunc 1 1s @0 | rearm 1 "+longest+" @1ms | idle 1h"),
		following("afterfunc 1 1s @0", "halt 1 @0 | rearm 1 1s @0", gaps, 3, idle(5*second)),
		following("afterfunc 1 1s @0 | afterfunc 2 1.7s @0", "halt 1 @0 | rearm 2 400ms @0", few, 2,
			idle(700*milli), idle(5*second)),
		crowds(4, verb.AfterFunc, 40, 40))
}

// orders arm functions and move the clock past all of them at once. A clock that leaves the order to chance gets it
// wrong in one of many runs of the smallest.
func orders() []conformance.Schedule {
	out := slices.Repeat(suite.ParseAll("afterfunc 1 1s @0 | afterfunc 2 2s @0 | idle 10s",
		"afterfunc 1 2s @0 | afterfunc 2 1s @0 | idle 10s"), 25)
	for _, k := range []int{3, 5, 7, 11} {
		var parts []string
		for i := range 16 {
			parts = append(parts, fmt.Sprintf("afterfunc %d %dns @0", i+1, (i+1)*k%17))
		}
		out = append(out, suite.MustParse(strings.Join(parts, " | ")+" | idle 20ns"))
	}
	out = append(out, suite.ParseAll(
		"afterfunc 1 1s @0 | afterfunc 2 3s @0 | afterfunc 3 2s @0 | idle 10s",
		"afterfunc 1 1s @0 | afterfunc 2 2s @0 | afterfunc 3 3s @0 | afterfunc 4 4s @0 | idle 10s",
		"afterfunc 1 4s @0 | afterfunc 2 3s @0 | afterfunc 3 2s @0 | afterfunc 4 1s @0 | idle 10s",
		"afterfunc 1 10ns @0 | afterfunc 2 10ns @0 | rearm 2 9ns @0 | idle 20ns",
		"afterfunc 1 10ns @0 | afterfunc 2 11ns @0 | rearm 2 9ns @0 | idle 20ns")...)
	return slices.Concat(out, gaps(), crowds(30, verb.AfterFunc, 64, 40))
}

// heap numbers the places of a heap so that what is in a branch comes after all that is in those
// to its right.
func heap(branches, size int) []int {
	dues, next := make([]int, size), 1
	var number func(i int)
	number = func(i int) {
		dues[i] = next
		next++
		for k := branches*i + branches; k > branches*i; k-- {
			if k < size {
				number(k)
			}
		}
	}
	number(0)
	return dues
}

// instants ask a function for the time.
func instants() []conformance.Schedule {
	gaps := []time.Duration{second - 1, second, 5 * second}
	return append(following("afterfunc 1 1s @0 | now @f1", "now @0", gaps, 2),
		suite.ParseAll(
			"afterfunc 1 3s @0 | now @f1 | afterfunc 2 1s @0 | now @f2 | afterfunc 3 2s @0 | now @f3 | idle 10s",
			"afterfunc 1 1s @0 | now @f1 | rearm 1 1s @f1 | idle 5.5s | halt 1 @6s")...)
}

// acts are what a function does in its turn, with itself, with a timer 2 of any kind, or
// with something new.
var acts = []string{
	"now", "timer 3 1.3s", "after 3 1.3s", "ticker 3 1.3s", "afterfunc 3 1.3s", "rearm 1 1.3s",
	"halt 1", "halt 2", "rearm 2 2.7s", "rearm 2 300ms", "read 2", "nap 1.3s",
}

// bareTurns let a function do each of the acts while the clock is moved from deadline to
// deadline, so that only returning counts.
func bareTurns() []conformance.Schedule {
	var out []conformance.Schedule
	for _, act := range acts {
		out = append(out, suite.MustParse("afterfunc 1 1s @0 | timer 2 5s @0 | "+act+" @f1 | idle 1s | idle 1.3s"))
	}
	return append(out, suite.MustParse("afterfunc 1 1s @0 | timeout 2 1s @f1 | idle 1s"))
}

// turns let a function do each of the acts, with a timer 2 of each kind, while the clock is moved far, at once and in
// parts.
func turns() []conformance.Schedule {
	var out []conformance.Schedule
	for _, act := range acts[1:] { // CK-AT judges now
		twos := []string{""}
		if strings.Contains(act, " 2") {
			twos = []string{"timer 2 2.1s @0 | ", "afterfunc 2 2.1s @0 | ", "ticker 2 2.1s @0 | "}
		}
		for _, two := range twos {
			head, end := two+"afterfunc 1 1s @0 | "+act+" @f1 | ", ""
			switch {
			case two != "" && !strings.HasPrefix(two, "afterfunc"):
				end = " | read 2 @10.1s"
			case strings.Contains(act, " 3") && !strings.HasPrefix(act, "afterfunc"):
				end = " | read 3 @10.1s"
			}
			out = append(out, suite.ParseAll(head+"idle 10s"+end, head+"idle 1.5s | idle 1s | idle 10s"+end)...)
		}
	}
	return slices.Concat(out, suite.ParseAll(
		"afterfunc 1 1s @0 | afterfunc 2 1s @f1 | afterfunc 3 1s @f2 | afterfunc 4 1s @f3 | idle 10s",
		"timer 1 1.5s @0 | afterfunc 2 1s @0 | rearm 1 1.5s @f2 | read 1 @2s | read 1 @3s",
		"afterfunc 1 1s @0 | halt 2 @f1 | afterfunc 2 1.1s @0 | idle 1.2s",
		"afterfunc 1 1s @0 | afterfunc 2 "+longest+" @f1 | idle 1h",
	), ticksInTurn("afterfunc 2 %dns @0", "rearm 2 %dns @f2"))
}

// flows are schedules in which goroutines receive and sleep.
func flows() []conformance.Schedule {
	out := suite.ParseAll(
		"ticker 1 1s @0 | consume 2 1 @0 | idle 2s",
		"ticker 1 1s @0 | consume 2 1 @0 | idle 3s",
		"ticker 1 1s @0 | consume 2 1 @0 | idle 10.5s",
		"ticker 1 1s @0 | consume 2 1 @0 | now @f2 | idle 5s",
		"timer 1 1s @0 | consume 2 1 @0 | now @f2 | idle 5s",
		"timer 1 1s @0 | consume 2 1 @0 | rearm 1 1s @f2 | idle 5s",
		"after 1 1s @0 | consume 2 1 @0 | after 1 1s @f2 | idle 5s",
		"sleep 1 1s @0 | now @f1 | idle 5s",
		"sleep 1 1s @0 | nap 1s @f1 | nap 1s @f1 | nap 1s @f1 | idle 10s",
		"sleep 1 1s @0 | afterfunc 2 1s @f1 | idle 5s",
		"sleep 1 1s @0 | halt 2 @f1 | afterfunc 2 2s @0 | idle 5s",
		"timer 1 1s @0 | consume 2 1 @0 | afterfunc 3 2s @0 | halt 3 @f2 | idle 5s",
		"timer 1 1s @0 | consume 2 1 @0 | timer 3 2s @0 | rearm 3 5s @f2 | read 3 @5s | read 3 @6s",
		"ticker 1 1s @0 | consume 2 1 @0 | halt 1 @f2 | idle 5s",
		"ticker 1 1s @0 | consume 2 1 @0 | rearm 1 1.5s @f2 | idle 10s",
	)
	out = append(out, ticksInTurn("sleep 2 %dns @0", "nap %dns @f2 | read 1 @f2")...)
	return append(out, ticksInTurn("timer 5 %dns @0 | consume 2 5 @0", "rearm 5 %dns @f2")...)
}
