package limitertest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// explorer collects the families of waits, reservations, cancels, and changes of limit and
// burst, as far as the implementation has them.
type explorer struct {
	*suite.Suite
	c        *contract
	families []suite.Family
}

// interval is the interval of most of their schedules, whose rate is 10/1s.
const interval = suite.Wait

// The last step of a schedule shows the level to the nanosecond.
var (
	lastReserve = conformance.Step{Op: verb.Reserve, N: 1}
	lastWait    = conformance.Step{Op: verb.Wait, N: 1}
	lastTokens  = conformance.Step{Op: verb.Tokens}
)

// add adds a family of those of the schedules that the implementation can do, smallest
// first.
func (e *explorer) add(name string, schedules ...conformance.Schedule) {
	schedules = slices.DeleteFunc(schedules, func(s conformance.Schedule) bool {
		return !supports(e.Suite, s) || e.c.trip > 0 && races(suite.Job{Schedule: s})
	})
	schedules = e.c.allFitted(schedules)
	slices.SortStableFunc(schedules, func(a, b conformance.Schedule) int { return len(a.Steps) - len(b.Steps) })
	if len(schedules) > 0 {
		e.families = append(e.families, suite.Family{Name: name, Schedules: schedules})
	}
}

// drained lists schedules that empty a bucket of 3 at first, and go on with up to depth
// steps of the alphabet and then the tail.
func (e *explorer) drained(alphabet string, gaps []time.Duration, depth int,
	tail ...conformance.Step) []conformance.Schedule {
	cfg, head := limited("10/1s", 3), steps("allow 3")
	switch {
	case e.Accepts(opSeveral):
	case e.Accepts(verb.Allow):
		head = steps("allow 1", "allow 1", "allow 1")
	case e.Accepts(verb.Wait):
		cfg, head = limited("10/1s", 1), steps("wait 1")
	}
	all := followed(cfg, head, supported(e.Suite, steps(strings.Split(alphabet, ",")...)), gaps, depth,
		supported(e.Suite, tail)...)
	return all[1:] // the first is the head alone, which shows nothing
}

// followed appends to head every sequence of up to depth steps of the alphabet, each a gap
// after the one before it, and ends each with the tail.
func followed(cfg conformance.Config, head, alphabet []conformance.Step, gaps []time.Duration, depth int,
	tail ...conformance.Step) []conformance.Schedule {
	var out []conformance.Schedule
	var grow func(done []conformance.Step, left int)
	grow = func(done []conformance.Step, left int) {
		all := slices.Clone(done)
		at := all[len(all)-1].At
		for _, s := range tail {
			at += s.At
			s.At = at
			all = append(all, s)
		}
		out = append(out, conformance.Schedule{Config: cfg, Steps: all})
		if left == 0 {
			return
		}
		for _, s := range alphabet {
			for _, gap := range gaps {
				s.At = done[len(done)-1].At + gap
				grow(append(done, s), left-1)
			}
		}
	}
	grow(head, depth)
	return out
}

// claimFamilies lists what is explored of waits, reservations, cancels and changes of limit
// and burst.
func (c *contract) claimFamilies(s *suite.Suite) []suite.Family {
	e := &explorer{Suite: s, c: c}
	half := []time.Duration{0, interval / 2, interval}
	e.add("reservations", append(
		e.drained("reserve 1,reserve 3,allow 1,cancel 1,cancel 2,reserve 4",
			[]time.Duration{0, interval, 5 * interval / 2}, 3, lastReserve),
		e.drained("reserve 2,cancel 1,allow 1", []time.Duration{0, interval / 2, 4 * interval}, 3, lastReserve)...)...)
	e.add("reservations in a row", rows()...)
	e.add("waits", e.drained("wait 1,wait 2,wait 1 100ms,cancel 1,cancel 2,allow 1", half, 3, lastWait)...)
	e.waitsAlone()
	e.add("deadlines", e.drained("wait 1 50ms,wait 2 199ms,wait 1 150ms,wait 1 -1ns,wait 3,allow 1", half, 2,
		lastWait)...)
	// A select between a context that is done and a token that is there takes either by
	// chance, so that each schedule is run many times.
	e.add("deadlines", suite.ParseAll( // what waits fails as its tokens come, and those behind it move up
		"rate=10/1s burst=1 | allow 1 @0 | wait 1 100ms @0 | reserve 1 @0 | reserve 1 @100ms")...)
	e.add("cancelled before", slices.Repeat(suite.ParseAll(
		"rate=10/1s burst=1 | wait 1 -1ns @0 | allow 1 @0",
		"rate=10/1s burst=3 | wait 1 -1ns @0 | allow 3 @0",
		"rate=10/1s burst=1 | cancel 1 @0 | wait 1 @0 | allow 1 @0",
		"rate=10/1s burst=3 | cancel 1 @0 | wait 3 @0 | allow 3 @50ms"), 40)...)
	// Claims are given up in any order, with new ones in between, which may be served before others that wait: those
	// keep their instants.
	e.add("given up out of turn", claiming("rate=10/1s burst=3", "allow 1; allow 3", "claim 1; claim 3",
		"claim 1; claim 2", "cancel 1, claim 1; +50, cancel 1, claim 2", "cancel 2, claim 1; cancel 3, claim 1")...)
	// A reservation is given up at the very instant at which it is due, at first or later, when others wait for their
	// tokens behind it. Whether that is in time or too late is open; but what the others have counted on does not
	// come back, or more than the burst is due at one instant.
	e.add("given up at its instant", ways("rate=10/1s burst=2",
		"reserve 2; allow 2, reserve 2, +200; allow 1, reserve 2, +100",
		"reserve 2; reserve 1; reserve 1, reserve 1", "cancel 1", "reserve 2; reserve 1, reserve 1")...)
	e.add("given up again", givenUpAgain()...)
	e.add("harmless in between", harmless(c.spec.Traits.ZeroRate)...)
	e.add("several are next", severalNext(c.spec.Traits.servesMore())...)
	e.changes(c.spec.Traits.ZeroRate)
	e.unusual()
	if c.spec.Traits.Inf == InfGrants {
		e.infinite()
	}
	e.add("a nanosecond too early", e.nearlyThere()...)
	e.add("waits at all rates", e.paced()...)
	e.add("starving", starvingWaits()...)
	e.add("idle again and again", e.idling()...)
	e.add("owed for days", e.owing()...)
	if c.spec.Traits.Refund == RefundFull { // elsewhere who gives up first decides what comes back
		e.add("given up as another is", asAnotherIs()...)
	}
	e.add("racing", suite.ParseAll(
		"rate=10/1s burst=1 | allow 1 @0 | wait 1 @0 | cancel 1 @100ms~",
		"rate=10/1s burst=1 | allow 1 @0 | wait 1 @0 | allow 1 @100ms~",
		"rate=10/1s burst=1 | allow 1 @0 | wait 1 @0 | cancel 1 @100ms~ | allow 1 @100ms",
		"rate=10/1s burst=1 | allow 1 @0 | wait 1 @0 | wait 1 @0 | cancel 1 @100ms~",
		"rate=10/1s burst=1 | allow 1 @0 | wait 1 @0 | wait 1 @100ms~ | wait 1 @200ms~",
		"rate=10/1s burst=1 | allow 1 @0 | wait 1 100ms @0 | wait 1 @50ms | allow 1 @100ms~",
		"rate=10/1s burst=1 | wait 1 @0 | wait 1 @0 | wait 1 @0 | cancel 2 @100ms~")...)
	if s.Time == Explicit && s.Accepts(verb.Allow) {
		e.add("back in time", suite.ParseAll(
			"rate=1/1s burst=2 | allow 2 @10s | setlimit 1/1s @0 | allow 2 @10s",
			"rate=1/1s burst=2 | allow 2 @10s | setburst 2 @0 | allow 2 @10s",
			"rate=1/1s burst=2 | allow 2 @10s | reserve 1 @10s | cancel 1 @0 | allow 2 @10s",
			"rate=1/1s burst=2 | allow 2 @10s | tokens @0 | allow 2 @10s",
			"rate=1/1s burst=3 | setburst 1 @1s | allow 3 @0",
			"rate=1/1s burst=3 | setburst 1 @1s | allow 1 @0 | allow 1 @0",
			"rate=1/1s burst=3 | allow 1 @10s | tokens @0 | tokens @9s | tokens @10s")...)
		e.add("back in time", backAgain()...)
		e.add("back in time", lateInThePast()...)
	}
	return e.families
}

// waitsAlone adds waits for several tokens at a limiter that has nothing but waits, and says nothing of
// single tokens: whoever hands out those alone declares it.
func (e *explorer) waitsAlone() {
	tr := e.c.spec.Traits
	if !e.Accepts(verb.Wait) || e.Accepts(opRequest) || tr.OneAtATime || tr.Initial == 0 {
		return
	}
	three := limited("10/1s", 3)
	all := suite.Sequences(three, steps("wait 1", "wait 2", "wait 3"),
		[]time.Duration{0, interval / 2, 3 * interval}, 3)
	all = append(all, suite.Sequences(limited("3/1s", 2), steps("wait 1", "wait 2"),
		[]time.Duration{0, interval, 6 * interval}, 3)...)
	if e.Accepts(opContext) {
		all = append(all, followed(three, steps("wait 3"), steps("wait 1", "wait 2", "cancel 2"),
			[]time.Duration{0, interval / 2}, 3, lastWait)[1:]...)
	}
	if e.Accepts(verb.Tokens) {
		all = append(all, followed(three, steps("wait 3"), steps("wait 1", "tokens"),
			[]time.Duration{0, 3 * interval}, 3, lastWait)[1:]...)
	}
	if tr.Oversize != 0 {
		all = append(all, suite.Sequences(three, steps("wait 4", "wait 1"), []time.Duration{0, 3 * interval}, 2)...)
	}
	if tr.Inf == InfGrants {
		e.families = append(e.families, suite.Family{Name: "infinite",
			Schedules: suite.ParseAll("rate=inf burst=3 | wait 1 @0 | wait 7 @0 | wait 1 @100ms")})
	}
	e.families = append(e.families, suite.Family{Name: "waits", Schedules: e.c.allFitted(all)})
}

// severalNext lets one or several wait behind one who waits for most of the burst. When that one gives up, or no longer
// fits, there is enough for them. Who serves more than fits may serve it at any time then.
func severalNext(servesMore bool) (out []conformance.Schedule) {
	goes := []string{"cancel 1", "setburst 2"}
	if servesMore {
		goes = goes[:1]
	}
	for _, gone := range goes {
		out = slices.Concat(out,
			ways("rate=10/1s burst=3 | allow 3 @0 | wait 3 @0 | wait 1 @0", "; wait 1", "+150; +200; +250", gone),
			ways("rate=10/1s burst=5 | allow 5 @0 | wait 5 @0 | wait 1 @0 | wait 2 @0 | wait 1 @0", "+450", gone))
	}
	return out
}

// backAgain asks, and does something else a second or more earlier, in turn: a time that is paid
// again each time soon exceeds what the two instants and the burst allow. It asks now, or at the
// earlier instant first.
func backAgain() []conformance.Schedule {
	var out []conformance.Schedule
	for _, n := range []int{3, 6, 12} {
		for _, back := range []string{"setlimit 1/1s @0", "setburst 2 @0", "reserve 1 @1s | cancel %d @0"} {
			out = append(out, inTurn(back, "allow 1 @1s", n))
		}
		for _, set := range []string{"setlimit 1/1s @1s", "setburst 2 @1s"} { // and who asks goes back
			out = append(out, inTurn(set+" | allow 1 @0", "allow 1 @1s", n))
		}
		for _, back := range []string{"reserve 1 @0", "reserve 2 @0"} {
			out = append(out, inTurn(back, "allow 1 @2s", n), inTurn(back, "allow 1 @0 | allow 1 @0 | allow 1 @2s", n))
		}
	}
	// Here the later instant only shows how late it is.
	for _, n := range []int{4, 8, 16} {
		out = append(out, suite.MustParse("rate=1/1s burst=2 | allow 0 @1s"+
			strings.Repeat(" | allow 1 @0 | allow 0 @1s", n)))
	}
	// The same where a nanosecond is worth a token.
	for _, s := range slices.Clone(out) {
		out = append(out, suite.MustParse(strings.NewReplacer("1/1s", "1000000000/1s", "@1s", "@1ns", "@2s", "@2ns").
			Replace(s.String())))
	}
	return out
}

// inTurn asks for the burst, then does something n times, and asks after each; a %d is its number.
func inTurn(back, ask string, n int) conformance.Schedule {
	now := ask[strings.LastIndex(ask, "@")+1:]
	text := "rate=1/1s burst=2 | allow 1 @" + now + " | allow 1 @" + now
	for i := 1; i <= n; i++ {
		text += " | " + strings.ReplaceAll(back, "%d", strconv.Itoa(i)) + " | " + ask
	}
	return suite.MustParse(text)
}

// unusual adds unusual numbers of tokens, instants between two tokens, and queries of what
// is there.
func (e *explorer) unusual() {
	numbers := "reserve 0,reserve -1,allow 1"
	switch {
	case e.Accepts(opContext):
		numbers += ",wait 0,wait 4" // a wait for less may try again for ever, without letting time pass
	case e.c.spec.Traits.servesMore():
		numbers += ",wait 4"
	}
	last := lastReserve
	if !e.Accepts(verb.Reserve) {
		last = lastWait
	}
	e.add("odd waits and reservations", e.drained(numbers, []time.Duration{0, interval / 2}, 2, last)...)
	if e.c.spec.Traits.servesMore() {
		e.add("more than the burst", keptForOne()...)
	}
	e.add("odd instants", e.uneven(last)...)
	if e.Accepts(verb.Tokens) {
		e.add("what is shown", e.drained("tokens,reserve 1,wait 1,cancel 1,allow 1,setlimit 100/1s,setburst 1",
			[]time.Duration{0, interval / 2}, 3, lastTokens)...)
	}
}

// keptForOne lets something happen while the bucket holds more than the burst, for one who waits for that. When it
// is served, or has given up, there is room for the burst again and for no more.
func keptForOne() (out []conformance.Schedule) {
	for i, first := range []string{"allow 3", "wait 3"} {
		out = append(out, ways(fmt.Sprintf("rate=10/1s burst=3 | %s @0 | wait 4 @0", first), "+350",
			"; wait 1; wait 4; allow 1; reserve 1; reserve 0; tokens; setlimit 10/1s; "+fmt.Sprintf("cancel %d", 1+i),
			"+2650, allow 3, allow 1; +2650, wait 3, wait 1")...)
	}
	return out
}

// starvingWaits are waits while others ask again and again.
func starvingWaits() []conformance.Schedule {
	out := suite.ParseAll(
		"rate=10/1s burst=3 | allow 3 @0 | wait 3 @0",
		"rate=10/1s burst=1 | allow 1 @0 | wait 1 @0",
		"rate=10/1s burst=2 | allow 1 @0 | allow 1 @0 | wait 1 @1ms | wait 1 @1ms")
	for i := range out {
		for n := range 30 {
			at := interval/2 + time.Duration(n)*interval/4
			out[i].Steps = append(out[i].Steps, conformance.Step{Op: verb.Allow, N: 1, At: at})
		}
	}
	return out
}

// nearlyThere lists schedules in which tokens are waited for that come after one nanosecond or two.
func (e *explorer) nearlyThere() []conformance.Schedule {
	var out []conformance.Schedule
	claim := supported(e.Suite, steps("wait 1", "wait 1 1ns", "reserve 1"))
	head := []conformance.Step{{Op: asking(e.Suite), N: 1}}
	for _, rate := range []string{"1000000000/1s", "600000000/1s"} {
		out = append(out, followed(limited(rate, 1), head, claim, []time.Duration{0, 1}, 3)[1:]...)
	}
	early := []time.Duration{interval - 1, interval - 2}
	return append(out, followed(limited("10/1s", 1), head, claim, early, 2)[1:]...)
}

// paced lists schedules of single waits and requests in turn: after idle times, at instants that are no
// whole number of milliseconds, and at rates whose interval is none.
func (e *explorer) paced() []conformance.Schedule {
	if !e.Accepts(verb.Allow) {
		return nil // those who have nothing but waits are asked by them everywhere
	}
	var out []conformance.Schedule
	for _, cfg := range []conformance.Config{limited("10/1s", 1), limited("3/1s", 1), limited("7/1s", 2)} {
		t := cfg.Rate.Interval()
		out = append(out, suite.Sequences(cfg, steps("wait 1", "allow 1"),
			[]time.Duration{0, t/2 + 123_457, t, e.c.far(cfg)}, 3)...)
	}
	return out
}

// rows are reservations of one instant that are given up in order, in reverse, or from the
// middle on, at rates whose interval is not a whole number of nanoseconds.
func rows() []conformance.Schedule {
	orders := [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}
	var out []conformance.Schedule
	for _, rate := range []string{"10/1s", "60/1s", "3/1s"} {
		for _, sizes := range [][]int{{1, 1, 1}, {3, 1, 2}, {1, 2, 3}, {2, 3, 1}} {
			for _, order := range orders {
				for given := 1; given <= len(order); given++ {
					out = append(out, row(rate, sizes, order[:given]))
				}
			}
		}
	}
	for _, after := range []int{3, 5, 7} { // a limiter may remember only so many
		out = append(out, ways("rate=10/1s burst=8", "allow 8, reserve 8",
			"reserve 1"+strings.Repeat(", reserve 1", after-1), "cancel 1, reserve 1")...)
	}
	return out
}

// row makes reservations of the given sizes at one instant, and gives up some of them.
func row(rate string, sizes, given []int) conformance.Schedule {
	s := conformance.Schedule{Config: limited(rate, 3)}
	s.Steps = append(s.Steps, conformance.Step{Op: verb.Allow, N: 3})
	for _, n := range sizes {
		s.Steps = append(s.Steps, conformance.Step{Op: verb.Reserve, N: n})
	}
	for _, i := range given {
		s.Steps = append(s.Steps, conformance.Step{Op: verb.Cancel, N: i + 1})
	}
	s.Steps = append(s.Steps, lastReserve)
	return s
}

// uneven lists schedules that reserve, wait and give up, once or many times, at instants
// between two tokens, at a rate whose interval is not a whole number of nanoseconds.
func (e *explorer) uneven(last conformance.Step) []conformance.Schedule {
	var out []conformance.Schedule
	for _, alphabet := range [][]conformance.Step{
		steps("reserve 1", "reserve 2", "cancel 1"),
		steps("wait 1", "wait 2", "cancel 1"),
	} {
		all := followed(limited("7/1s", 2), steps("allow 2"), supported(e.Suite, alphabet),
			[]time.Duration{0, 33_333_333, 200_000_001}, 3, last)
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
			out = append(out, suite.MustParse(text+" | allow 1 @95ms | allow 1 @101ms"))
		}
	}
	return out
}
