package conformance

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// heldFamilies lists what RunLimiter explores of waits, reservations, cancels and
// changes of limit and burst.
func heldFamilies(c *contract) []family {
	const t = 100 * time.Millisecond // the interval of 10/1s
	var out []family
	add := func(name string, schedules ...Schedule) {
		schedules = slices.DeleteFunc(schedules, func(s Schedule) bool { return !c.offers(s) })
		slices.SortStableFunc(schedules, func(a, b Schedule) int { return len(a.Steps) - len(b.Steps) })
		if len(schedules) > 0 {
			out = append(out, family{name: name, schedules: schedules})
		}
	}
	// drained is a bucket of 3 with nothing in it.
	drained := func(alphabet string, gaps []time.Duration, depth int, tail ...Step) []Schedule {
		cfg := Config{}.With("rate", "10/1s").With("burst", "3")
		head := []Step{{Op: OpAllow, N: 3}}
		switch {
		case c.accepts(opMany):
		case c.accepts(OpAllow):
			head = slices.Repeat([]Step{{Op: OpAllow, N: 1}}, 3)
		case c.accepts(OpWait):
			cfg = Config{}.With("rate", "10/1s").With("burst", "1")
			head = []Step{{Op: OpWait, N: 1}}
		}
		alone := followed(head, c.able(steps(strings.Split(alphabet, ",")...)), gaps, depth, c.able(tail)...)
		for i := range alone {
			alone[i].Config = cfg
		}
		return alone[1:] // the head alone is nothing new
	}
	half := []time.Duration{0, t / 2, t}
	// What is asked for last shows the level to the nanosecond.
	last, lastWait := Step{Op: OpReserve, N: 1}, Step{Op: OpWait, N: 1}
	add("reservations", append(drained("reserve 1,reserve 3,allow 1,cancel 1,cancel 2,reserve 4", []time.Duration{0, t, 5 * t / 2}, 3, last),
		drained("reserve 2,cancel 1,allow 1", []time.Duration{0, t / 2, 4 * t}, 3, last)...)...)
	add("reservations in a row", rows(c)...)
	add("waits", drained("wait 1,wait 2,wait 1 100ms,cancel 1,cancel 2,allow 1", half, 3, lastWait)...)
	add("deadlines", drained("wait 1 50ms,wait 2 199ms,wait 1 150ms,wait 1 -1ns,wait 3,allow 1", half, 2, lastWait)...)
	// Who selects among a context that is done and a token that is there takes either
	// by chance, so that each is run many times.
	add("cancelled before", slices.Repeat(listed("rate=10/1s burst=1 | wait 1 -1ns @0 | allow 1 @0", "rate=10/1s burst=3 | wait 1 -1ns @0 | allow 3 @0",
		"rate=10/1s burst=1 | cancel 1 @0 | wait 1 @0 | allow 1 @0", "rate=10/1s burst=3 | cancel 1 @0 | wait 3 @0 | allow 3 @50ms"), 40)...)
	add("limits", drained("setlimit 100/1s,setlimit 5/1s,allow 1,allow 3", []time.Duration{0, t, 5 * t / 2}, 3)...)
	add("limits and reservations", drained("setlimit 100/1s,setlimit 5/1s,reserve 1,cancel 1,allow 1", []time.Duration{0, t / 2, 4 * t}, 2, last)...)
	add("limits and waits", drained("setlimit 100/1s,setlimit 5/1s,wait 1", half, 3)...)
	full := sequences(Config{}.With("rate", "10/1s").With("burst", "3"), c.able(steps("setburst 1", "setburst 5", "allow 1", "allow 3")), []time.Duration{0, t, 10 * t}, 3)
	add("bursts", full...)
	add("bursts and reservations", drained("setburst 1,setburst 5,reserve 1,allow 1", []time.Duration{0, t, 10 * t}, 3)...)
	add("bursts and waits", drained("setburst 1,setburst 5,wait 1", half, 3)...)
	add("given up after a change", changes()...)
	add("no rate for a while", pauses(c)...)
	odd := "reserve 0,reserve -1,allow 1"
	if c.accepts(opContext) {
		odd += ",wait 0,wait 4" // a wait for less may try again for ever, without letting time pass
	}
	tail := last
	if !c.accepts(OpReserve) {
		tail = lastWait
	}
	add("odd waits and reservations", drained(odd, []time.Duration{0, t / 2}, 2, tail)...)
	add("odd instants", uneven(c, tail)...)
	shown := drained("tokens,reserve 1,wait 1,cancel 1,allow 1,setlimit 100/1s,setburst 1", []time.Duration{0, t / 2}, 3, Step{Op: OpTokens})
	add("what is shown", slices.DeleteFunc(shown, func(s Schedule) bool { return !c.accepts(OpTokens) })...)
	if c.lim.Traits.Inf == InfGrants {
		free := Config{}.With("rate", "inf").With("burst", "3")
		add("infinite", slices.Concat(listed("rate=inf burst=3 | wait 7 @0", "rate=inf burst=3 | reserve 7 @0"), sequences(free, c.able(steps("allow 1", "allow 7", "reserve 2", "wait 2", "setlimit 10/1s", "cancel 1")), []time.Duration{0, t}, 3),
			drained("setlimit inf,setlimit 10/1s,reserve 3,allow 3,cancel 1", []time.Duration{0, t}, 3))...)
		add("after an infinite rate", listed("rate=10/1s burst=3 | allow 3 @0 | setlimit inf @0 | reserve 3 @0 | setlimit 10/1s @0 | allow 3 @0 | cancel 1 @0 | allow 3 @0",
			"rate=10/1s burst=3 | allow 3 @0 | setlimit inf @0 | reserve 3 @1ms | setlimit 10/1s @1ms | allow 3 @1ms | cancel 1 @1ms | allow 3 @1ms")...)
	}
	starving := listed("rate=10/1s burst=3 | allow 3 @0 | wait 3 @0", "rate=10/1s burst=1 | allow 1 @0 | wait 1 @0", "rate=10/1s burst=2 | allow 1 @0 | allow 1 @0 | wait 1 @1ms | wait 1 @1ms")
	for i := range starving {
		for n := range 30 {
			starving[i].Steps = append(starving[i].Steps, Step{Op: OpAllow, N: 1, At: t/2 + time.Duration(n)*t/4})
		}
	}
	add("starving", starving...)
	add("racing", listed(
		"rate=10/1s burst=1 | allow 1 @0 | wait 1 @0 | cancel 1 @100ms~",
		"rate=10/1s burst=1 | allow 1 @0 | wait 1 @0 | allow 1 @100ms~",
		"rate=10/1s burst=1 | allow 1 @0 | wait 1 @0 | cancel 1 @100ms~ | allow 1 @100ms",
		"rate=10/1s burst=1 | allow 1 @0 | wait 1 @0 | wait 1 @0 | cancel 1 @100ms~",
		"rate=10/1s burst=1 | allow 1 @0 | wait 1 @0 | wait 1 @100ms~ | wait 1 @200ms~",
		"rate=10/1s burst=1 | allow 1 @0 | wait 1 100ms @0 | wait 1 @50ms | allow 1 @100ms~",
		"rate=10/1s burst=1 | wait 1 @0 | wait 1 @0 | wait 1 @0 | cancel 2 @100ms~",
	)...)
	if c.time == Explicit && c.accepts(OpAllow) {
		past := listed(
			"rate=1/1s burst=2 | allow 2 @10s | setlimit 1/1s @0 | allow 2 @10s",
			"rate=1/1s burst=2 | allow 2 @10s | setburst 2 @0 | allow 2 @10s",
			"rate=1/1s burst=2 | allow 2 @10s | reserve 1 @10s | cancel 1 @0 | allow 2 @10s",
			"rate=1/1s burst=2 | allow 2 @10s | tokens @0 | allow 2 @10s",
			"rate=1/1s burst=3 | allow 1 @10s | tokens @0 | tokens @9s | tokens @10s")
		add("back in time", past...)
	}
	return out
}

// leavings are schedules in which a wait is given up in each way.
func (c *contract) leavings() []Schedule {
	var out []Schedule
	for _, text := range []string{"wait 1 @0 | wait 1 @0", "wait 1 @0 | wait 1 @0 | cancel 2 @50ms", "wait 1 @0 | wait 1 50ms @0", "wait 1 @0 | wait 1 -1ns @0",
		"wait 1 @0 | wait 1 @0 | wait 1 @0 | cancel 2 @50ms | cancel 3 @50ms"} {
		s, err := ParseSchedule("rate=10/1s burst=1 | " + text)
		if err != nil {
			panic(err)
		}
		if c.offers(s) {
			out = append(out, s)
		}
	}
	return out
}

// able leaves the steps that the implementation can do.
func (c *contract) able(all []Step) []Step {
	return slices.DeleteFunc(all, func(s Step) bool {
		one := s.N == 1 || s.N == 0 && s.Op != OpAllow && s.Op != OpReserve && s.Op != OpWait
		return !c.accepts(s.Op) || !one && !c.accepts(opMany) && s.Op != OpSetBurst && s.Op != OpCancel || s.Op == OpWait && s.D != 0 && !c.accepts(opContext)
	})
}

// offers reports whether the implementation can do the whole schedule, and what it
// cancels is there.
func (c *contract) offers(s Schedule) bool {
	if len(c.able(slices.Clone(s.Steps))) != len(s.Steps) {
		return false
	}
	held := 0
	for _, st := range s.Steps {
		switch st.Op {
		case OpReserve, OpWait:
			held++
		case OpCancel:
			switch what := s.holder(st.N).Op; {
			case what == "",
				what == OpReserve && (st.N > held || !c.accepts(opGiveUp)),
				what == OpWait && !c.accepts(opContext),
				what == OpWait && st.N > held && st.At > 0:
				return false
			}
		}
	}
	return true
}

// rows makes a row of reservations of one instant and gives them up, in order, in
// reverse, and from the middle, at rates whose interval is no whole number of
// nanoseconds.
func rows(c *contract) []Schedule {
	var out []Schedule
	for _, rate := range []string{"10/1s", "60/1s", "3/1s"} {
		for _, sizes := range [][]int{{1, 1, 1}, {3, 1, 2}, {1, 2, 3}, {2, 3, 1}} {
			permute(3, func(p []int) {
				for _, given := range []int{1, 2, 3} {
					s := Schedule{Config: Config{}.With("rate", rate).With("burst", "3")}
					s.Steps = append(s.Steps, Step{Op: OpAllow, N: 3})
					for _, n := range sizes {
						s.Steps = append(s.Steps, Step{Op: OpReserve, N: n})
					}
					for _, i := range p[:given] {
						s.Steps = append(s.Steps, Step{Op: OpCancel, N: i + 1})
					}
					s.Steps = append(s.Steps, Step{Op: OpReserve, N: 1})
					out = append(out, s)
				}
			})
		}
	}
	return out
}

// changes sets a limit or burst between a reservation or wait and its cancel, with another
// one behind it or not.
func changes() []Schedule {
	var out []Schedule
	for _, set := range []string{"setlimit 100/1s", "setlimit 5/1s", "setburst 5"} {
		for _, given := range []string{"cancel 1 @0", "cancel 2 @0", "cancel 1 @0 | cancel 2 @0", "cancel 2 @0 | cancel 1 @0"} {
			out = append(out, listed(fmt.Sprintf("rate=10/1s burst=3 | allow 3 @0 | reserve 1 @0 | %s @0 | reserve 1 @0 | %s | reserve 1 @0", set, given),
				fmt.Sprintf("rate=10/1s burst=3 | allow 3 @0 | reserve 2 @0 | %s @0 | reserve 1 @0 | %s | reserve 1 @0", set, given))...)
		}
	}
	for _, set := range []string{"setlimit 100/1s", "setlimit 5/1s", "setburst 2", "setburst 5"} {
		for _, hold := range []string{"reserve 1", "wait 1", "reserve 2", "wait 2"} {
			for _, at := range []string{"0", "5ms"} {
				for _, later := range []string{"5ms", "50ms"} {
					op, _, _ := strings.Cut(hold, " ")
					out = append(out, listed(fmt.Sprintf("rate=10/1s burst=3 | allow 3 @0 | %s @0 | %s @%s | cancel 1 @%s | %s 1 @%s", hold, set, at, later, op, later))...)
				}
			}
		}
	}
	return out
}

// pauses sets a limit of 0 and, later, another one.
func pauses(c *contract) []Schedule {
	if c.lim.Traits.ZeroRate != ZeroRateBurst {
		return nil
	}
	return listed(
		"rate=10/1s burst=3 | allow 3 @0 | setlimit 0/1s @150ms | allow 1 @1h | allow 1 @1h",
		"rate=10/1s burst=3 | allow 3 @0 | setlimit 0/1s @0 | setlimit 10/1s @1h | allow 1 @1h | allow 1 @1h0m0.11s",
		"rate=10/1s burst=3 | allow 3 @0 | setlimit 0/1s @50ms | setlimit 10/1s @1h | allow 1 @1h | allow 1 @1h0m0.06s",
		"rate=10/1s burst=3 | allow 3 @0 | setlimit 0/1s @50ms | allow 1 @1h | setlimit 10/1s @2h | allow 1 @2h | allow 1 @2h0m0.06s | allow 3 @3h",
	)
}

// uneven reserves, waits and gives up at instants that fall between two tokens, at a
// rate whose interval is no whole number of anything; and again and again.
func uneven(c *contract, tail Step) []Schedule {
	cfg := Config{}.With("rate", "7/1s").With("burst", "2")
	var out []Schedule
	for _, alphabet := range [][]Step{steps("reserve 1", "reserve 2", "cancel 1"), steps("wait 1", "wait 2", "cancel 1")} {
		all := followed(steps("allow 2"), c.able(alphabet), []time.Duration{0, 33_333_333, 200_000_001}, 3, tail)
		for i := range all {
			all[i].Config = cfg
		}
		out = append(out, all[1:]...)
	}
	for _, op := range []string{"reserve 1", "wait 1"} {
		for _, set := range []bool{false, true} {
			text := "rate=10/1s burst=3 | allow 3 @0"
			for i := 1; i <= 6; i++ {
				at := i * 10
				if set {
					text += fmt.Sprintf(" | setlimit %d/1s @%dms", 10+10*(i%2), at)
				}
				text += fmt.Sprintf(" | %s @%dms | cancel %d @%dms", op, at, i, at+5)
			}
			out = append(out, listed(text+" | allow 1 @95ms | allow 1 @101ms")...)
		}
	}
	return out
}

// listed parses schedules.
func listed(texts ...string) []Schedule {
	var out []Schedule
	for _, text := range texts {
		s, err := ParseSchedule(text)
		if err != nil {
			panic(err)
		}
		out = append(out, s)
	}
	return out
}
