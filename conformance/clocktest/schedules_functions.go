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
		following("afterfunc 1 1s", "halt 1 | rearm 1 1s", gaps, 3, idle(5*second)),
		following("afterfunc 1 1s | afterfunc 2 1.7s", "halt 1 | rearm 2 400ms", few, 2,
			idle(700*milli), idle(5*second)),
		crowds(4, verb.AfterFunc, 40, 40))
}

// orders arm functions in every order of their deadlines and move the clock past all of them
// at once. A clock that leaves the order to chance gets it wrong in one of many runs of the
// smallest.
func orders() []conformance.Schedule {
	var out []conformance.Schedule
	for _, n := range []int{2, 3, 4} {
		for _, p := range permutations(n) {
			var parts []string
			for i, at := range p {
				parts = append(parts, fmt.Sprintf("afterfunc %d %ds @0", i+1, at+1))
			}
			s := suite.ParseAll(strings.Join(parts, " | ") + " | idle 10s")
			if n == 2 {
				s = slices.Repeat(s, 25)
			}
			out = append(out, s...)
		}
	}
	for _, k := range []int{3, 5, 7, 11} {
		var parts []string
		for i := range 16 {
			parts = append(parts, fmt.Sprintf("afterfunc %d %ds @0", i+1, (i+1)*k%17))
		}
		text := strings.Join(parts, " | ") + " | idle 20s"
		out = append(out, suite.ParseAll(text, strings.ReplaceAll(text, "s @", "ns @"))...)
	}
	var parts, halts, rearms []string
	for i := range 40 { // more than a small sort can keep in order by chance
		parts = append(parts, fmt.Sprintf("afterfunc %d %ds @0", i+1, 1+i*17%41))
		switch i % 5 { // a timer that is stopped in the middle must not disturb the others
		case 1, 3:
			halts = append(halts, fmt.Sprintf("halt %d @0", i+1))
		case 2:
			rearms = append(rearms, fmt.Sprintf("rearm %d %d.5s @0", i+1, 1+i*11%41))
		}
	}
	for _, more := range [][]string{nil, halts, append(halts, rearms...)} {
		out = append(out, suite.MustParse(strings.Join(append(slices.Clone(parts), more...), " | ")+" | idle 1m"))
	}
	out = append(out, suite.ParseAll("afterfunc 1 10ns @0 | afterfunc 2 10ns @0 | rearm 2 9ns @0 | idle 20ns",
		"afterfunc 1 10ns @0 | afterfunc 2 11ns @0 | rearm 2 9ns @0 | idle 20ns")...)
	return slices.Concat(out, heaps(), gaps(), crowds(30, verb.AfterFunc, 64, 40))
}

// heaps arm functions and stop each in turn, or arm it anew: the function that takes its place in
// a heap may have to move up or down. They are armed so that a heap of two or of four branches
// holds what is due last in its first branch, and what is due soon in its last; and in the order in
// which they are due.
func heaps() []conformance.Schedule {
	out := suite.ParseAll(lastButOne(2, 6), lastButOne(4, 10))
	for _, dues := range [][]int{heap(1, 16), heap(2, 15), heap(4, 16), heap(4, 21)} {
		armed := armedFor(dues, 1)
		for i := range dues {
			out = append(out, suite.ParseAll(
				fmt.Sprintf("%s | halt %d @0 | idle 1m", armed, i+1),
				fmt.Sprintf("%s | rearm %d %d.5s @0 | idle 1m", armed, i+1, len(dues)-dues[i]))...)
		}
	}
	return out
}

// lastButOne stops the last but one of a heap in which the last has another parent, and then arms others,
// so that the last is not the last any more. The clock stops between what is due next and what hides it.
func lastButOne(branches, size int) string {
	dues := append(heap(branches, size), 40, 41, 42, 43, 44)
	return fmt.Sprintf("%s | halt %d @0 | %s | idle 3.5s | idle 2s | idle 1m",
		armedFor(dues[:size], 1), size-1, armedFor(dues[size:], size+1))
}

// armedFor arms functions that are due so many seconds later, numbered from the first on.
func armedFor(dues []int, first int) string {
	var parts []string
	for i, due := range dues {
		parts = append(parts, fmt.Sprintf("afterfunc %d %ds @0", first+i, due))
	}
	return strings.Join(parts, " | ")
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

// permutations returns those of the numbers below n.
func permutations(n int) [][]int {
	var out [][]int
	var grow func(p []int)
	grow = func(p []int) {
		if len(p) == n {
			out = append(out, slices.Clone(p))
			return
		}
		for i := range n {
			if !slices.Contains(p, i) {
				grow(append(p, i))
			}
		}
	}
	grow(nil)
	return out
}

// instants ask a function for the time.
func instants() []conformance.Schedule {
	return append(following("afterfunc 1 1s | now @f1", "now", []time.Duration{second - 1, second, 5 * second}, 2),
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

// turns let a function do each of the acts while the clock is moved far, at once and in two
// parts.
func turns(s *suite.Suite) []conformance.Schedule {
	var out []conformance.Schedule
	for _, act := range acts {
		head := "afterfunc 1 1s @0 | " + act + " @f1 | "
		switch {
		case act == "now":
		case strings.Contains(act, " 2"):
			out = append(out, turnsOn(s, act, head)...)
		default:
			end := ""
			if !strings.HasPrefix(act, "afterfunc") && strings.Contains(act, " 3") {
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

// turnsOn are the turns of a function that uses timer 2, which may be of several kinds.
func turnsOn(s *suite.Suite, act, head string) []conformance.Schedule {
	var out []conformance.Schedule
	for _, two := range []string{"timer 2 2.1s", "afterfunc 2 2.1s", "ticker 2 2.1s"} {
		if strings.HasPrefix(two, "ticker") && strings.HasPrefix(act, "rearm") && !s.Accepts(opResetTicker) {
			continue
		}
		end := ""
		if !strings.HasPrefix(two, "afterfunc") {
			end = " | read 2 @10.1s"
		}
		head := two + " @0 | " + head
		out = append(out, suite.ParseAll(head+"idle 10s"+end, head+"idle 1.5s | idle 10s"+end)...)
	}
	return out
}

// flows are schedules in which goroutines receive and sleep.
func flows(s *suite.Suite) []conformance.Schedule {
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
	)
	if s.Accepts(opResetTicker) {
		out = append(out, suite.MustParse("ticker 1 1s @0 | consume 2 1 @0 | rearm 1 1.5s @f2 | idle 10s"))
	}
	out = append(out, ticksInTurn("sleep 2 %dns @0", "nap %dns @f2 | read 1 @f2")...)
	return append(out, ticksInTurn("timer 5 %dns @0 | consume 2 5 @0", "rearm 5 %dns @f2")...)
}
