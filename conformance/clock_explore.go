package conformance

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jonboulle/clockwork"
)

// steps parses steps, written without instants, for a clock schedule.
func steps(texts ...string) []Step {
	out := make([]Step, len(texts))
	for i, text := range texts {
		if !strings.Contains(text, "@") {
			text += " @0"
		}
		s, err := parseStep(text, 0)
		if err != nil {
			panic("conformance: " + text + ": " + err.Error())
		}
		out[i] = s
	}
	return out
}

// clocked parses schedules of a clock.
func clocked(texts ...string) []Schedule {
	out := make([]Schedule, len(texts))
	for i, text := range texts {
		s, err := ParseSchedule(text)
		if err != nil {
			panic("conformance: " + text + ": " + err.Error())
		}
		out[i] = s
	}
	return out
}

// follow appends to head every sequence of up to depth steps of the alphabet, each
// a gap after the one before it, and ends each with tail, read at the gaps given.
func followed(head []Step, alphabet []Step, gaps []time.Duration, depth int, tail ...Step) []Schedule {
	var out []Schedule
	var grow func(done []Step, left int)
	grow = func(done []Step, left int) {
		all := slices.Clone(done)
		at := all[len(all)-1].At
		for _, s := range tail {
			at += s.At
			s.At = at
			all = append(all, s)
		}
		out = append(out, Schedule{Steps: all})
		if left == 0 {
			return
		}
		for _, s := range alphabet {
			for _, gap := range gaps {
				next := s
				next.At = done[len(done)-1].At + gap
				grow(append(done, next), left-1)
			}
		}
	}
	grow(head, depth)
	return out
}

// longest is the longest duration.
const longest = "2562047h47m16.854775807s"

const (
	milli  = time.Millisecond
	second = time.Second
)

// clockFamilies lists what RunClock explores, in constants. The families that need
// least of a clock come first.
func clockFamilies(c *contract) []family {
	if !c.lab.bubble {
		return nil
	}
	read := func(n int, at time.Duration) Step { return Step{Op: OpRead, N: n, At: at} }
	idle := func(d time.Duration) Step { return Step{Op: OpIdle, D: d, At: d} }
	spread := []time.Duration{0, 400 * milli, second, 3 * second}
	edge := []time.Duration{0, 1, 700 * milli, second - 1, second}

	lifecycle := followed(steps("timer 1 1s"), steps("halt 1", "read 1", "rearm 1 1s"), spread, 3, read(1, 5*second))
	lifecycle = append(lifecycle, followed(steps("timer 1 1s"), steps("halt 1", "read 1", "rearm 1 2.3s", "rearm 1 200ms"), spread, 2, read(1, 5*second))...)
	ticking := []string{"halt 1", "read 1"}
	if c.accepts(opRepace) {
		ticking = append(ticking, "rearm 1 700ms")
	}
	ticks := followed(steps("ticker 1 1s"), steps(ticking...), spread, 3, read(1, 5*second), read(1, 300*milli), read(1, second))

	fams := []family{
		{name: leaks, look: true, schedules: clocked(
			"timer 1 1s @0 | idle 2s", "timer 1 1s @0 | halt 1 @0", "ticker 1 1s @0 | idle 2s", "afterfunc 1 1s @0 | idle 2s",
			"afterfunc 1 1s @0 | halt 1 @0", "sleep 1 1s @0 | idle 2s", "timeout 1 1s @0 | idle 2s", "timeout 1 1s @0 | cancel 1 @0",
			"timeout 1 5s @0 | timeout 2 1s 1 @0 | cancel 2 @500ms | idle 2s", "within 1 @0 | timeout 2 5s 1 @0 | cancel 1 @500ms | idle 2s")},
		{name: "CK-REENT", schedules: c.inFunction(true)},
		{name: "CK-NOW", schedules: followed(steps("now"), steps("now"), []time.Duration{0, 1, second, 3*time.Hour + 1}, 3)},
		{name: "CK-TIMER", schedules: slices.Concat(
			followed(steps("timer 1 1s"), steps("read 1", "now"), edge, 3, read(1, 3*second)),
			followed(steps("timer 1 1s", "timer 2 1.7s"), steps("read 1", "read 2"), edge, 3, read(2, 3*second), read(1, 1)),
			followed(steps("after 1 1s"), steps("read 1"), edge, 3, read(1, 3*second)),
			clocked("timer 1 3s @0 | timer 2 1s @0 | timer 3 2s @0 | read 1 @10s | read 2 @10s | read 3 @10s",
				"timer 1 "+longest+" @0 | read 1 @1h", "after 1 "+longest+" @0 | read 1 @1h"))},
		{name: "CK-STOP", schedules: append(where(lifecycle, false), clocked(
			"timer 1 1s @0 | rearm 1 "+longest+" @0 | read 1 @1h | rearm 1 1s @1h | read 1 @2h",
			"timer 1 "+longest+" @0 | halt 1 @1h | read 1 @2h")...)},
		{name: "CK-UNREAD", schedules: where(lifecycle, true)},
		{name: "CK-TICKER", schedules: slices.Concat(
			followed(steps("ticker 1 1s"), steps("read 1"), []time.Duration{0, 300 * milli, second, 2500 * milli, 5500 * milli}, 4, read(1, second)),
			followed(steps("ticker 1 1s", "ticker 2 700ms"), steps("read 1", "read 2"), []time.Duration{300 * milli, 3 * second}, 3, read(1, second)),
			clocked("ticker 1 "+longest+" @0 | read 1 @1h", "ticker 1 1ms @0 | read 1 @2s | read 1 @2.0005s | read 1 @2.001s"))},
		{name: "CK-TICKSTOP", schedules: append(where(ticks, false), clocked("ticker 1 1s @0 | rearm 1 "+longest+" @0 | read 1 @1h")...)},
		{name: "CK-TICKUNREAD", schedules: where(ticks, true)},
		{name: "CK-TICKARG", schedules: tickArguments(c)},
		{name: "CK-ZERO", schedules: c.zeroDurations()},
		{name: "CK-FUNC", schedules: slices.Concat(clocked("afterfunc 1 "+longest+" @0 | idle 1h | halt 1 @1h", "afterfunc 1 1s @0 | rearm 1 "+longest+" @0 | idle 1h"),
			followed(steps("afterfunc 1 1s"), steps("halt 1", "rearm 1 1s"), []time.Duration{0, 1, second - 1, second, 3 * second}, 3, idle(5*second)),
			followed(steps("afterfunc 1 1s", "afterfunc 2 1.7s"), steps("halt 1", "rearm 2 400ms"), []time.Duration{0, second}, 2, idle(700*milli), idle(5*second)))},
		{name: "CK-CHAN", schedules: clocked("afterfunc 1 1s @0 | chan 1 @0", "timer 1 1s @0 | chan 1 @0")},
		{name: "CK-SLEEP", schedules: append(followed(steps("sleep 1 1s"), steps("now"), edge, 2, idle(3*second)),
			clocked("sleep 1 2s @0 | sleep 2 1s @0 | idle 1s | idle 1s | idle 1s", "sleep 1 1s @0 | sleep 2 1s @500ms | idle 500ms | idle 500ms")...)},
		{name: "CK-SAME", schedules: same()},
		{name: "CK-ORDER", schedules: orders()},
		{name: "CK-AT", schedules: append(followed(steps("afterfunc 1 1s", "now @f1"), steps("now"), []time.Duration{second - 1, second, 5 * second}, 2),
			clocked("afterfunc 1 3s @0 | now @f1 | afterfunc 2 1s @0 | now @f2 | afterfunc 3 2s @0 | now @f3 | idle 10s",
				"afterfunc 1 1s @0 | now @f1 | rearm 1 1s @f1 | idle 5.5s | halt 1 @6s")...)},
		{name: "CK-CHAIN", schedules: c.inFunction(false)},
		{name: "CK-FLOW", schedules: c.flows()},
		{name: "CK-CONTEXT", schedules: append(followed(steps("timeout 1 1s"), steps("cancel 1", "err 1"), []time.Duration{0, 1, second - 1, second, 3 * second}, 2, idle(2*second)),
			clocked("timeout 1 "+longest+" @0 | idle 1h | cancel 1 @1h", "timeout 1 0 @0 | idle 1s", "timeout 1 -1s @0 | cancel 1 @0 | err 1 @0", "deadline 1 1s @0 | idle 1s", "deadline 1 1s @400ms | idle 1s",
				"deadline 1 1s @2s | idle 1s", "timeout 1 1s @0 | timeout 2 3s @0 | idle 2s | cancel 2 @2.5s",
				"afterfunc 1 1s @0 | timeout 2 1s @f1 | idle 1s | idle 1s", "timeout 1 3s @0 | afterfunc 2 1s @0 | cancel 1 @f2 | idle 1s | idle 4s")...)},
		{name: "CK-CTXTREE", schedules: contextTrees()},
		{name: "CK-ARMED", schedules: c.counts()},
	}
	for i := range fams {
		fams[i].schedules = slices.DeleteFunc(fams[i].schedules, func(s Schedule) bool { return !c.can(s) })
		if why := clkSkip(fams[i].name, nil)(c); why != "" {
			fams[i].skip = why
		}
	}
	return fams
}

// can reports whether the clock has all that a schedule asks of it.
func (c *contract) can(s Schedule) bool {
	tickers := map[int]bool{}
	for _, s := range s.Steps {
		if s.Op == OpTicker {
			tickers[s.N] = true
		}
		if !c.accepts(s.Op) || s.Op == OpRearm && !c.resets(tickers[s.N]) {
			return false
		}
		if c.clk.Traits.Waits > WaitsForAll && (s.Op == OpConsume || s.Op == OpSleep) && s.In != 0 {
			return false
		}
	}
	return true
}

// resets reports whether timers, or tickers, can be reset.
func (c *contract) resets(ticker bool) bool {
	if ticker {
		return c.accepts(opRepace)
	}
	return c.accepts(opReset)
}

// where picks the schedules of one timer or ticker that do, or do not, stop or
// reset it while a value is unread.
func where(all []Schedule, unread bool) []Schedule {
	return slices.DeleteFunc(slices.Clone(all), func(s Schedule) bool { return meetsUnread(s) != unread })
}

func meetsUnread(s Schedule) bool {
	first := s.Steps[0]
	due, armed, taken := first.D, true, false
	period := first.D
	for _, s := range s.Steps[1:] {
		fired := armed && !taken && s.At >= due
		switch s.Op {
		case OpHalt, OpRearm:
			if fired {
				return true
			}
			armed, taken = s.Op == OpRearm, false
			if armed {
				due, period = s.At+s.D, s.D
			}
		case OpRead:
			switch {
			case fired && first.Op == OpTicker:
				due += ((s.At-due)/period + 1) * period
			case fired:
				taken = true
			}
		}
	}
	return false
}

// tickArguments never moves the clock after what must panic: a clock that accepts a
// period of zero may spin for ever.
func tickArguments(c *contract) []Schedule {
	out := clocked("ticker 1 0 @0", "ticker 1 -1ns @0", "ticker 1 -1h @0")
	if c.accepts(opRepace) {
		out = append(out, clocked("ticker 1 1s @0 | rearm 1 0 @0", "ticker 1 1s @0 | rearm 1 -1ns @0", "ticker 1 1s @0 | halt 1 @0 | rearm 1 0 @0")...)
	}
	return out
}

func (c *contract) zeroDurations() []Schedule {
	var out []Schedule
	for _, d := range []string{"0", "-1ns", "-1h"} {
		out = append(out, clocked(
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

func same() []Schedule {
	var out []Schedule
	makers := []string{"timer", "afterfunc", "ticker", "sleep", "after"}
	for _, a := range makers {
		for _, b := range makers {
			text := a + " 1 1s @0 | " + a + " 3 1s @0 | " + b + " 2 600ms @400ms"
			for i, m := range []string{a, b, a} { // in the order of their numbers
				if m != "afterfunc" && m != "sleep" {
					text += fmt.Sprintf(" | read %d @1s", i+1)
				}
			}
			out = append(out, clocked(text+" | idle 400ms")...)
		}
	}
	return out
}

// orders arms functions in every order of their deadlines and moves the clock past
// all of them at once. A clock that leaves the order to chance gets it wrong in one
// of many runs of the smallest.
func orders() []Schedule {
	var out []Schedule
	for _, n := range []int{2, 3, 4} {
		permute(n, func(p []int) {
			var parts []string
			for i, at := range p {
				parts = append(parts, fmt.Sprintf("afterfunc %d %ds @0", i+1, at+1))
			}
			s := clocked(strings.Join(parts, " | ") + " | idle 10s")
			if n == 2 {
				s = slices.Repeat(s, 25)
			}
			out = append(out, s...)
		})
	}
	var parts, halts, rearms []string
	for i := range 40 { // more than a small sort can keep in order by chance
		parts = append(parts, fmt.Sprintf("afterfunc %d %ds @0", i+1, 1+i*17%41))
		switch i % 5 { // what is taken out of the middle must not disturb the rest
		case 1, 3:
			halts = append(halts, fmt.Sprintf("halt %d @0", i+1))
		case 2:
			rearms = append(rearms, fmt.Sprintf("rearm %d %d.5s @0", i+1, 1+i*11%41))
		}
	}
	for _, more := range [][]string{nil, halts, append(halts, rearms...)} {
		out = append(out, clocked(strings.Join(append(slices.Clone(parts), more...), " | ")+" | idle 1m")...)
	}
	return out
}

// permute calls f with each permutation of the numbers below n.
func permute(n int, f func(p []int)) {
	p := make([]int, 0, n)
	var grow func()
	grow = func() {
		if len(p) == n {
			f(p)
			return
		}
		for i := range n {
			if !slices.Contains(p, i) {
				p = append(p, i)
				grow()
				p = p[:len(p)-1]
			}
		}
	}
	grow()
}

// inFunction lets a function do each operation. If bare, the clock is moved from
// deadline to deadline, so that only returning counts.
func (c *contract) inFunction(bare bool) []Schedule {
	var out []Schedule
	acts := []string{"now", "timer 3 1.3s", "after 3 1.3s", "ticker 3 1.3s", "afterfunc 3 1.3s", "rearm 1 1.3s", "halt 1", "halt 2", "rearm 2 2.7s",
		"rearm 2 300ms", "read 2", "nap 1.3s"}
	if bare {
		for _, act := range acts {
			out = append(out, clocked("afterfunc 1 1s @0 | timer 2 5s @0 | "+act+" @f1 | idle 1s | idle 1.3s")...)
		}
		return append(out, clocked("afterfunc 1 1s @0 | timeout 2 1s @f1 | idle 1s")...)
	}
	for _, act := range acts {
		if act == "now" {
			continue
		}
		head := "afterfunc 1 1s @0 | " + act + " @f1 | "
		if strings.Contains(act, " 2") {
			for _, two := range []string{"timer 2 2.1s", "afterfunc 2 2.1s", "ticker 2 2.1s"} {
				if strings.HasPrefix(two, "ticker") && strings.HasPrefix(act, "rearm") && !c.accepts(opRepace) {
					continue
				}
				read := ""
				if !strings.HasPrefix(two, "afterfunc") {
					read = " | read 2 @10.1s"
				}
				out = append(out, clocked(two+" @0 | "+head+"idle 10s"+read, two+" @0 | "+head+"idle 1.5s | idle 10s"+read)...)
			}
			continue
		}
		read := ""
		if !strings.HasPrefix(act, "afterfunc") && strings.Contains(act, " 3") {
			read = " | read 3 @10.1s"
		}
		out = append(out, clocked(head+"idle 10s"+read, head+"idle 1.5s | idle 1s | idle 10s"+read)...)
	}
	return append(out, clocked(
		"afterfunc 1 1s @0 | afterfunc 2 1s @f1 | afterfunc 3 1s @f2 | afterfunc 4 1s @f3 | idle 10s",
		"timer 1 1.5s @0 | afterfunc 2 1s @0 | rearm 1 1.5s @f2 | read 1 @2s | read 1 @3s",
		"afterfunc 1 1s @0 | halt 2 @f1 | afterfunc 2 1.1s @0 | idle 1.2s",
	)...)
}

// flows are schedules in which goroutines receive and sleep.
func (c *contract) flows() []Schedule {
	out := clocked(
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
	if c.accepts(opRepace) {
		out = append(out, clocked("ticker 1 1s @0 | consume 2 1 @0 | rearm 1 1.5s @f2 | idle 10s")...)
	}
	return out
}

func contextTrees() []Schedule {
	return clocked(
		"timeout 1 1s @0 | timeout 2 10s 1 @0 | idle 500ms | idle 1s",
		"timeout 1 10s @0 | timeout 2 1s 1 @0 | idle 1s | cancel 1 @2s",
		"timeout 1 10s @0 | timeout 2 1s 1 @0 | cancel 1 @500ms | idle 1s",
		"timeout 1 10s @0 | timeout 2 1s 1 @0 | cancel 2 @500ms | cancel 1 @600ms",
		"within 1 @0 | timeout 2 1s 1 @0 | cancel 1 @500ms | idle 1s",
		"within 1 @0 | timeout 2 1s 1 @0 | idle 1s | cancel 1 @2s",
		"within 1 @0 | cancel 1 @0 | timeout 2 1s 1 @0 | idle 1s",
		"timeout 1 1s @0 | within 2 1 @0 | idle 1s | cancel 2 @2s",
		"timeout 1 1s @0 | within 2 1 @0 | cancel 2 @500ms | idle 1s",
		"timeout 1 2s @0 | within 2 1 @0 | timeout 3 1s 2 @0 | timeout 4 5s 3 @0 | idle 1s | idle 1s",
		"timeout 1 2s @0 | within 2 1 @0 | timeout 3 3s 2 @0 | cancel 2 @1s | idle 5s",
		"deadline 1 2s @0 | deadline 2 1s 1 @0 | deadline 3 3s 1 @0 | idle 1s | idle 1s | idle 1s",
		"timeout 1 1s @0 | idle 1s | timeout 2 1s 1 @1s | idle 1s",
	)
}

// counts asks for the number of armed timers after everything that changes it.
func (c *contract) counts() []Schedule {
	armed := Step{Op: OpArmed}
	later := Step{Op: OpArmed, At: 5 * second}
	out := clocked("armed @0")
	for _, x := range []struct{ head, acts string }{
		{"timer 1 1s", "halt 1,rearm 1 1s,read 1"}, {"afterfunc 1 1s", "halt 1,rearm 1 1s"}, {"ticker 1 1s", "halt 1,rearm 1 700ms,read 1"},
	} {
		out = append(out, followed(steps(x.head, "armed"), steps(strings.Split(x.acts, ",")...), []time.Duration{0, 400 * milli, 3 * second}, 2, armed, later)...)
	}
	return append(out, clocked(
		"sleep 1 1s @0 | armed @0 | armed @1s", "after 1 1s @0 | armed @500ms | armed @1s",
		"timer 1 1s @0 | timer 2 2s @0 | afterfunc 3 3s @0 | ticker 4 1h @0 | sleep 5 1h @0 | armed @0 | armed @1s | armed @2s | armed @3s",
		"timeout 1 1s @0 | armed @0 | armed @1s", "timeout 1 1s @0 | cancel 1 @0 | armed @0", "timeout 1 1s @0 | timeout 2 5s 1 @0 | armed @0 | cancel 1 @0 | armed @0",
		"within 1 @0 | timeout 2 5s 1 @0 | armed @0 | cancel 1 @0 | armed @0", "timeout 1 5s @0 | timeout 2 1s 1 @0 | cancel 1 @500ms | armed @500ms",
		"afterfunc 1 1s @0 | nap 1s @f1 | armed @1s | armed @2s", "afterfunc 1 1s @0 | rearm 1 1s @f1 | armed @1s | armed @2s",
	)...)
}

// programs are the random schedules of CK-DIFF: how many, and how many steps each.
// Their seeds are their numbers.
const (
	programs     = 300
	programSteps = 30
)

// program draws a schedule of n steps that uses everything the clock has. The
// deadlines are random nanoseconds, so that few coincide: package time promises no
// order for those that do.
func (c *contract) program(seed uint64, n int) Schedule {
	rng := rand.New(rand.NewPCG(seed, 0))
	flow := c.clk.Traits.Waits <= WaitsForAll
	inside := !c.reentryHangs && c.clk.Traits.Waits != WaitsForNothing
	late := strings.HasPrefix(runtime.Version(), "go1.24") // its bubbles serve a zero timer's zero timers too late
	ops := []Op{OpTimer, OpTimer, OpAfterFunc, OpAfterFunc, OpTicker, OpAfter, OpHalt, OpHalt, OpRearm, OpRearm, OpRead, OpRead, OpRead, OpNow, OpIdle, OpIdle, OpIdle}
	ops = append(ops, OpTimeout, OpDeadline, OpWithin, OpCancel, OpErr, OpArmed, OpChan)
	if flow {
		ops = append(ops, OpConsume, OpSleep)
	}
	ops = slices.DeleteFunc(ops, func(op Op) bool { return op != OpIdle && !c.accepts(op) })
	nested := []Op{OpNow, OpTimer, OpAfterFunc, OpTicker, OpHalt, OpRearm, OpRead, OpNap, OpCancel, OpTimeout}
	nested = slices.DeleteFunc(nested, func(op Op) bool { return !c.accepts(op) })
	// Each program does without some of the operations: what one of them breaks
	// cannot hide what another does.
	var without []Op
	for _, op := range slices.Compact(slices.Clone(ops)) {
		if op != OpIdle && rng.IntN(4) == 0 {
			without = append(without, op)
		}
	}
	dropped := func(op Op) bool { return slices.Contains(without, op) }
	ops, nested = slices.DeleteFunc(ops, dropped), slices.DeleteFunc(nested, dropped)
	inside = inside && len(nested) > 0

	length := func(op Op, in int) time.Duration {
		switch rng.IntN(12) {
		case 0:
			if in == 0 && (op != OpAfterFunc || flow) || in != 0 && !late { // else nobody waits for the function

				return -time.Duration(rng.IntN(2))
			}
		case 1:
			return time.Duration(1 + rng.Int64N(1000))
		}
		return time.Duration(1 + rng.Int64N(int64(time.Hour)))
	}
	var s Schedule
	var kinds []Op // of each id, from 1 on
	var dues []time.Duration
	consumed := map[int]bool{}
	at := time.Duration(0)
	pick := func(which ...Op) int { // the id of one of these kinds, 0 if there is none
		for range 8 {
			if len(kinds) == 0 {
				return 0
			}
			id := 1 + rng.IntN(len(kinds))
			if slices.Contains(which, kinds[id-1]) {
				return id
			}
		}
		return 0
	}
	create := func(op Op, d time.Duration) int {
		kinds, dues = append(kinds, op), append(dues, at+d)
		return len(kinds)
	}
	draw := func(op Op, in int) (Step, bool) {
		st := Step{Op: op, At: at, In: in}
		switch op {
		case OpTimer, OpAfter, OpAfterFunc, OpTimeout:
			st.D = length(op, in)
			st.N = create(op, st.D)
			if op == OpTimeout {
				st.K = pick(OpTimeout, OpDeadline, OpWithin)
			}
		case OpDeadline:
			st.D = at + length(op, in)
			st.N, st.K = create(op, st.D-at), pick(OpTimeout, OpDeadline, OpWithin)
		case OpWithin:
			st.N, st.K = create(op, 0), pick(OpTimeout, OpDeadline, OpWithin)
		case OpTicker, OpSleep:
			st.D = time.Duration(1 + rng.Int64N(int64(time.Hour)))
			if op == OpTicker {
				st.D += time.Minute // few enough ticks
			}
			st.N = create(op, st.D)
		case OpConsume:
			st.K = pick(OpTimer, OpTicker, OpAfter)
			if st.K == 0 || consumed[st.K] {
				return st, false
			}
			consumed[st.K] = true
			st.N = create(op, 0)
		case OpHalt:
			st.N = pick(OpTimer, OpTicker, OpAfterFunc)
		case OpChan:
			st.N = pick(OpTimer, OpAfterFunc)
		case OpRearm:
			st.N = pick(OpTimer, OpTicker, OpAfterFunc)
			if st.N == 0 {
				return st, false
			}
			st.D = length(kinds[st.N-1], in)
			ticker := kinds[st.N-1] == OpTicker
			if !c.resets(ticker) {
				return st, false
			}
			if ticker {
				st.D = time.Minute + time.Duration(rng.Int64N(int64(time.Hour)))
			}
			dues[st.N-1] = at + st.D
		case OpRead:
			st.N = pick(OpTimer, OpTicker, OpAfter)
		case OpCancel, OpErr:
			st.N = pick(OpTimeout, OpDeadline, OpWithin)
		case OpNap:
			st.D = time.Duration(1 + rng.Int64N(int64(10*time.Minute)))
		}
		needs := op == OpHalt || op == OpRearm || op == OpRead || op == OpCancel || op == OpErr || op == OpChan
		return st, !needs || st.N != 0
	}
	for len(s.Steps) < n {
		op := ops[rng.IntN(len(ops))]
		if op == OpIdle {
			d := time.Duration(rng.Int64N(int64(40 * time.Minute)))
			if len(dues) > 0 && rng.IntN(2) == 0 { // to a deadline, or just before or after it
				d = dues[rng.IntN(len(dues))] + time.Duration(rng.IntN(3)-1) - at
			}
			if d <= 0 {
				continue
			}
			at += d
			s.Steps = append(s.Steps, Step{Op: OpIdle, D: d, At: at})
			continue
		}
		st, ok := draw(op, 0)
		if !ok {
			continue
		}
		s.Steps = append(s.Steps, st)
		acts := op == OpAfterFunc || op == OpSleep || op == OpConsume
		if acts && inside && rng.IntN(3) > 0 {
			for range 1 + rng.IntN(2) {
				if f, ok := draw(nested[rng.IntN(len(nested))], st.N); ok {
					s.Steps = append(s.Steps, f)
				}
			}
		}
	}
	for i := range s.Steps { // go.dev/issue/76052: Go 1.25.12 hangs for good
		if st := &s.Steps[i]; st.Op == OpRearm && consumed[st.N] {
			st.D = max(st.D, 1)
		}
	}
	if id := pick(OpTicker); rng.IntN(4) == 0 && id != 0 {
		// Last, because a clock that takes it may spin when it is moved.
		bad := Step{Op: OpTicker, N: create(OpTicker, 0), At: at, D: -time.Duration(rng.IntN(2))}
		if rng.IntN(2) == 0 && c.accepts(opRepace) {
			bad.Op, bad.N = OpRearm, id
		}
		s.Steps = append(s.Steps, bad)
	}
	return s
}

// clockDiffers is the probe of CK-DIFF: it runs the programs, and takes from the
// first that differs whatever is not needed for a difference.
func (c *contract) clockDiffers() (*violation, string) {
	v, _ := c.differ(programs, programSteps)
	return v, ""
}

// differ runs n programs whose outcome is not open, and returns the first
// difference and how many others it passed over.
func (c *contract) differ(n, steps int) (*violation, int) {
	var first *violation
	judged, seed, open := 0, uint64(0), 0
	defer oneProcessor(true)()
	for judged < n && first == nil && c.stalls["CK-DIFF"] == "" {
		jobs := make([]job, min(n-judged, chunk))
		for i := range jobs {
			jobs[i] = job{schedule: c.program(seed, steps), family: "CK-DIFF"}
			c.schedules[jobs[i].schedule.String()] = true
			seed++
		}
		c.runClock(jobs, func(j job, tr *Trace) {
			if tr.unordered != "" {
				open++
				return
			}
			judged++
			if v := c.judgeClock(j, tr); v != nil && first == nil {
				first = v
			}
		})
	}
	if first != nil {
		first = c.shrinkClock(first)
	}
	return first, open
}

// runClock runs jobs; a hang ends them.
func (c *contract) runClock(jobs []job, see func(job, *Trace)) {
	if h := c.lab.run(jobs, see); h != nil {
		c.stalls["CK-DIFF"] = fmt.Sprintf("no progress: %.200s...", h.job.schedule)
	}
}

func (c *contract) judgeClock(j job, tr *Trace) *violation {
	v := (&exam{Trace: tr, c: c, job: j}).clockRule("CK-DIFF")
	if v != nil {
		v.Trace = tr
	}
	return v
}

// shrinkClock leaves out steps, and rounds durations, as long as a difference
// remains.
func (c *contract) shrinkClock(v *violation) *violation {
	try := func(s Schedule) bool {
		var found *violation
		c.runClock([]job{{schedule: s, family: "CK-DIFF"}}, func(j job, tr *Trace) { found = c.judgeClock(j, tr) })
		if found == nil || found.Kind != v.Kind {
			return false
		}
		v = found
		return true
	}
	for again := true; again; {
		again = false
		for size := max(1, len(v.Trace.Schedule.Steps)/2); size > 0; size /= 2 {
			for i := 0; i+size <= len(v.Trace.Schedule.Steps); {
				s := v.Trace.Schedule
				s.Steps = slices.Delete(slices.Clone(s.Steps), i, i+size)
				if len(s.Steps) > 0 && try(tidy(s)) {
					again = true
				} else {
					i++
				}
			}
		}
	}
	if s := v.Trace.Schedule; s.Steps[len(s.Steps)-1].Op != OpIdle { // it may only be there to let time pass
		s.Steps = slices.Clone(s.Steps)
		last := &s.Steps[len(s.Steps)-1]
		*last = Step{Op: OpIdle, At: last.At}
		try(tidy(s))
	}
	for _, unit := range []time.Duration{time.Minute, time.Second} {
		for i := range v.Trace.Schedule.Steps {
			s := v.Trace.Schedule
			s.Steps = slices.Clone(s.Steps)
			s.Steps[i].D = (s.Steps[i].D + unit - 1) / unit * unit
			if s.Steps[i].Op != OpIdle {
				try(s)
			}
			s = v.Trace.Schedule
			s.Steps = slices.Clone(s.Steps)
			for k := i; k < len(s.Steps) && s.Steps[k].At == v.Trace.Schedule.Steps[i].At; k++ {
				s.Steps[k].At = (s.Steps[k].At + unit - 1) / unit * unit
			}
			if slices.IsSortedFunc(s.Steps, func(a, b Step) int { return cmp.Compare(a.At, b.At) }) {
				try(tidy(s))
			}
		}
	}
	return v
}

// tidy makes the idle steps of a schedule fit the instants of the others again.
func tidy(s Schedule) Schedule {
	at := time.Duration(0)
	out := s.Steps[:0:0]
	for _, st := range s.Steps {
		if st.Op == OpIdle {
			if st.D = st.At - at; st.D <= 0 {
				continue
			}
		}
		if st.In != 0 {
			st.At = at
		}
		at = st.At
		out = append(out, st)
	}
	s.Steps = out
	return s
}

// clockRace uses all operations of one clock at once, while it advances.
func (c *contract) clockRace() (*violation, string) {
	l := c.lab.apart(func(_ driver, _ job, rec *recorder) {
		rec.now = func() time.Duration { return 0 }
		f := c.clk.New(ClockEnv{Settle: runtime.Gosched})
		for range 20 {
			var running atomic.Int64
			for _, op := range c.raceOperations(f) {
				running.Add(2)
				for range 2 {
					go func() {
						defer running.Add(-1)
						for i := range 5 {
							_ = catch(func() { op(i) })
						}
					}()
				}
			}
			for running.Load() > 0 {
				f.Advance(milli) // until the sleepers have slept
				runtime.Gosched()
			}
		}
	})
	l.bubble = false // settling would order what must stay unordered
	if l.once() != nil {
		return nil, "concurrent use made no progress"
	}
	return nil, ""
}

func isDone(ctx context.Context) bool { return isClosed(ctx.Done()) }

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// raceOperations share one timer of each kind, so that its methods meet.
func (c *contract) raceOperations(f ClockFuncs) []func(i int) {
	ops := []func(int){func(int) { f.Now() }}
	d := func(i int) time.Duration { return time.Duration(i) * milli }
	share := func(t clockwork.Timer) {
		if c.accepts(opReset) {
			ops = append(ops, func(i int) { t.Reset(d(i)) })
		}
		ops = append(ops, func(int) { t.Stop() })
		if t.Chan() != nil {
			ops = append(ops, func(int) {
				select {
				case <-t.Chan():
				default:
				}
			})
		}
	}
	if f.NewTimer != nil {
		share(f.NewTimer(milli))
		ops = append(ops, func(i int) { f.NewTimer(d(i)).Stop() })
	}
	if f.AfterFunc != nil {
		share(f.AfterFunc(milli, func() {}))
	}
	if f.NewTicker != nil {
		t := f.NewTicker(milli)
		ops = append(ops, func(int) { t.Stop() }, func(int) {
			select {
			case <-t.Chan():
			default:
			}
		})
		if c.accepts(opRepace) {
			ops = append(ops, func(i int) { t.Reset(d(i + 1)) })
		}
	}
	if f.Sleep != nil {
		ops = append(ops, func(i int) { f.Sleep(d(i)) })
	}
	if f.Armed != nil {
		ops = append(ops, func(int) { f.Armed() })
	}
	if f.WithTimeout != nil {
		ops = append(ops, func(i int) {
			ctx, cancel := f.WithTimeout(context.Background(), d(i))
			child, cancelChild := f.WithTimeout(ctx, milli)
			defer cancelChild()
			for !isDone(child) && i > 2 { // until the clock ends it
				_ = child.Err()
				runtime.Gosched()
			}
			cancel()
			_, _ = ctx.Err(), child.Err()
		})
	}
	return ops
}
