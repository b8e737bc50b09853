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

// longest is the longest duration. A deadline that is so far off when the clock has moved is beyond what
// can be counted, and is never reached.
const longest = "2562047h47m16.854775807s"

const (
	milli  = time.Millisecond
	second = time.Second
)

// Families lists what is explored, in constants: one family for each rule, by its name, with those that
// need least of a clock first, and last what may keep a clock busy for ever.
func (c *contract) Families(s *suite.Suite) []suite.Family {
	if !s.Bubble {
		return nil
	}
	out := []suite.Family{
		{Name: suite.Leaks, Look: true, Schedules: leaks()},
		{Name: "CK-REENT", Schedules: bareTurns()},
		{Name: "CK-NOW", Schedules: following("now @0", "now @0", []time.Duration{0, 1, second, 3*time.Hour + 1}, 3)},
		{Name: "CK-TIMER", Schedules: timers()},
		{Name: "CK-STOP", Schedules: slices.Concat(stopping(timerLives(), false), suite.ParseAll(
			"timer 1 1s @0 | rearm 1 "+longest+" @0 | read 1 @1h | rearm 1 1s @1h | read 1 @2h",
			"timer 1 "+longest+" @0 | halt 1 @1h | read 1 @2h",
			"timer 1 1s @0 | rearm 1 "+longest+" @1ms | read 1 @1h",
			"timer 1 "+longest+" @1s | halt 1 @1h | read 1 @2h"), crowds(4, verb.Timer, 40, 30))},
		{Name: "CK-UNREAD", Schedules: stopping(timerLives(), true)},
		{Name: "CK-TICKER", Schedules: tickers()},
		{Name: "CK-TICKSTOP", Schedules: slices.Concat(stopping(tickerLives(), false),
			suite.ParseAll("ticker 1 1s @0 | rearm 1 "+longest+" @0 | read 1 @1h"),
			denseTicks(6, verb.Halt), denseTicks(6, verb.Halt, verb.Rearm))},
		{Name: "CK-TICKUNREAD", Schedules: stopping(tickerLives(), true)},
		// The clock is never moved after what must panic: one that accepts a period of zero may spin for ever.
		{Name: "CK-TICKARG", Schedules: suite.ParseAll("ticker 1 0 @0", "ticker 1 -1ns @0", "ticker 1 -1h @0",
			"ticker 1 1ns @0 | halt 1 @0", "ticker 1 1s @0 | rearm 1 0 @0", "ticker 1 1s @0 | rearm 1 -1ns @0",
			"ticker 1 1s @0 | halt 1 @0 | rearm 1 0 @0", "ticker 1 1s @0 | rearm 1 1ns @0 | halt 1 @0")},
		{Name: "CK-ZERO", Schedules: zeroDurations()},
		{Name: "CK-FUNC", Schedules: functions()},
		{Name: "CK-CHAN", Schedules: suite.ParseAll("afterfunc 1 1s @0 | chan 1 @0", "timer 1 1s @0 | chan 1 @0")},
		{Name: "CK-SLEEP", Schedules: append(following("sleep 1 1s @0", "now @0", aroundSecond, 2, idle(3*second)),
			suite.ParseAll("sleep 1 2s @0 | sleep 2 1s @0 | idle 1s | idle 1s | idle 1s",
				"sleep 1 1s @0 | sleep 2 1s @500ms | idle 500ms | idle 500ms",
				"sleep 1 1ns @0 | idle 1ns | idle 1ns")...)},
		{Name: "CK-SAME", Schedules: sameDeadlines()},
		{Name: "CK-ORDER", Schedules: orders()},
		{Name: "CK-AT", Schedules: instants()},
		{Name: "CK-CHAIN", Schedules: turns()},
		{Name: "CK-FLOW", Schedules: flows()},
		{Name: "CK-CONTEXT", Schedules: contexts()},
		{Name: "CK-CTXTREE", Schedules: contextTrees()},
		{Name: "CK-ARMED", Schedules: counts()},
		// A clock whose tickers overflow may tick for ever, so that nothing can come after these.
		{Name: "CK-TICKER", Schedules: suite.ParseAll("ticker 1 " + longest + " @1s | read 1 @1h")},
		{Name: "CK-TICKSTOP", Schedules: suite.ParseAll("ticker 1 1s @0 | rearm 1 " + longest + " @1ms | read 1 @1h")},
	}
	rules := c.Rules()
	for i := range out {
		f := &out[i]
		f.Schedules = slices.DeleteFunc(f.Schedules, func(t conformance.Schedule) bool { return !c.playable(s, t) })
		for _, r := range rules {
			if r.ID == f.Name && r.Unless != nil {
				f.Skip = r.Unless(s, &c.traits)
			}
		}
	}
	return out
}

// playable reports whether the clock can do what a schedule asks of it. A goroutine that a
// function starts gets its turn in time only if Advance waits for it; a function that runs on the
// goroutine that advances cannot sleep, nor use its timer if it runs before it has one.
func (c *contract) playable(s *suite.Suite, schedule conformance.Schedule) bool {
	for _, st := range schedule.Steps {
		in := maker(st.In, schedule)
		if in.Op == verb.AfterFunc && (c.traits.forbids() != "" ||
			c.traits.OnAdvance && (st.Op == verb.Nap || in.D <= 0 && st.N == st.In)) {
			return false
		}
		if !s.Accepts(st.Op) || st.Op == verb.Rearm && !resets(s, maker(st.N, schedule).Op == verb.Ticker) {
			return false
		}
		starts := st.Op == verb.Consume || st.Op == verb.Sleep
		if st.In != 0 && starts && c.traits.Waits > WaitsForAll {
			return false
		}
	}
	return true
}

// resets reports whether timers, or tickers, can be reset.
func resets(s *suite.Suite, ticker bool) bool {
	return ticker && s.Accepts(opResetTicker) || !ticker && s.Accepts(opResetTimer)
}

// following ends head, all of it at 0, with tail, whose instants count from the step before; and so it does with every
// sequence of up to depth steps of the alphabet behind head, each a gap after the one before it.
func following(
	head, alphabet string, gaps []time.Duration, depth int, tail ...conformance.Step,
) (out []conformance.Schedule) {
	begin := suite.MustParse(head).Steps
	end := func(more ...conformance.Step) {
		all := slices.Concat(begin, more)
		for _, s := range tail {
			s.At += all[len(all)-1].At
			all = append(all, s)
		}
		out = append(out, conformance.Schedule{Steps: all})
	}
	end()
	next := suite.MustParse(alphabet).Steps
	for _, gap := range gaps {
		for _, s := range suite.Later(suite.Sequences(conformance.Config{}, next, gaps, depth), gap) {
			end(s.Steps...)
		}
	}
	return out
}

// read makes a step that receives from timer n some time after the step before. idle makes
// a step that lets time pass.
func read(n int, after time.Duration) conformance.Step {
	return conformance.Step{Op: verb.Read, N: n, At: after}
}

func idle(d time.Duration) conformance.Step {
	return conformance.Step{Op: verb.Idle, D: d, At: d}
}

// leaks are schedules after which nothing may be left.
func leaks() []conformance.Schedule {
	return suite.ParseAll(
		"timer 1 1s @0 | idle 2s",
		"timer 1 1s @0 | halt 1 @0",
		"ticker 1 1s @0 | idle 2s",
		"afterfunc 1 1s @0 | idle 2s",
		"afterfunc 1 1s @0 | halt 1 @0",
		"sleep 1 1s @0 | idle 2s",
		"timeout 1 1s @0 | idle 2s",
		"timeout 1 1s @0 | cancel 1 @0",
		"timeout 1 5s @0 | timeout 2 1s 1 @0 | cancel 2 @500ms | idle 2s",
		"within 1 @0 | timeout 2 5s 1 @0 | cancel 1 @500ms | idle 2s",
	)
}

// counts ask for the number of armed timers after each step that changes it.
func counts() []conformance.Schedule {
	gaps := []time.Duration{0, 400 * milli, 3 * second}
	armed := conformance.Step{Op: verb.Armed}
	later := conformance.Step{Op: verb.Armed, At: 5 * second}
	out := suite.ParseAll("armed @0")
	for _, kind := range []struct{ head, uses string }{
		{"timer 1 1s @0 | armed @0", "halt 1 @0 | rearm 1 1s @0 | read 1 @0"},
		{"afterfunc 1 1s @0 | armed @0", "halt 1 @0 | rearm 1 1s @0"},
		{"ticker 1 1s @0 | armed @0", "halt 1 @0 | rearm 1 700ms @0 | read 1 @0"},
	} {
		out = append(out, following(kind.head, kind.uses, gaps, 2, armed, later)...)
	}
	var all, halts []string
	for i := range 40 { // more than a small array holds
		all = append(all, fmt.Sprintf("timer %d %ds @0", i+1, 1+i*17%41))
		if i%3 == 0 {
			halts = append(halts, fmt.Sprintf("halt %d @0", i+1))
		}
	}
	many := strings.Join(append(all, halts...), " | ")
	out = append(out, suite.MustParse(many+" | armed @0 | armed @20s | armed @1m"))
	return append(out, suite.ParseAll(
		"sleep 1 1s @0 | armed @0 | armed @1s",
		"timer 1 "+longest+" @1s | armed @1s | armed @1h",
		"after 1 1s @0 | armed @500ms | armed @1s",
		"timer 1 1s @0 | timer 2 2s @0 | afterfunc 3 3s @0 | ticker 4 1h @0 | sleep 5 1h @0 | "+
			"armed @0 | armed @1s | armed @2s | armed @3s",
		"timeout 1 1s @0 | armed @0 | armed @1s",
		"timeout 1 1s @0 | cancel 1 @0 | armed @0",
		"timeout 1 1s @0 | timeout 2 5s 1 @0 | armed @0 | cancel 1 @0 | armed @0",
		"within 1 @0 | timeout 2 5s 1 @0 | armed @0 | cancel 1 @0 | armed @0",
		"timeout 1 5s @0 | timeout 2 1s 1 @0 | armed @0 | armed @1s",
		"timeout 1 5s @0 | timeout 2 1s 1 @0 | cancel 1 @500ms | armed @500ms",
		"timeout 1 1s @0 | timeout 2 1s 1 @0 | timeout 3 5s 2 @0 | timeout 4 500ms 3 @0 | armed @0 | armed @500ms | "+
			"armed @1s",
		"afterfunc 1 1s @0 | armed @f1 | idle 1s",
		"afterfunc 1 1s @0 | rearm 1 1s @f1 | armed @f1 | idle 1s | idle 1s",
		"timer 1 2s @0 | ticker 2 3s @0 | afterfunc 3 1s @0 | armed @f3 | halt 1 @f3 | armed @f3 | idle 1s",
		"afterfunc 1 1s @0 | nap 1s @f1 | armed @1s | armed @2s",
		"afterfunc 1 1s @0 | rearm 1 1s @f1 | armed @1s | armed @2s",
	)...)
}
