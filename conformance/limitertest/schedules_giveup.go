package limitertest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// ways lists the schedules that begin with a text and go on with one of the alternatives of each part, in the order of
// the text. Alternatives stand between semicolons, their steps between commas, and +20 lets 20 milliseconds pass. A ~
// is after a step that races.
func ways(head string, parts ...string) []conformance.Schedule {
	type begun struct {
		text string
		at   int // the millisecond of its last step
	}
	all := []begun{{text: head}}
	for _, part := range parts {
		var next []begun
		for _, b := range all {
			for _, alternative := range strings.Split(part, ";") {
				one := b
				for _, st := range strings.Split(alternative, ",") {
					st = strings.TrimSpace(st)
					if gap, passes := strings.CutPrefix(st, "+"); passes {
						ms, _ := strconv.Atoi(gap)
						one.at += ms
					} else if st != "" {
						st, races := strings.CutSuffix(st, "~")
						one.text += fmt.Sprintf(" | %s @%dms%s", st, one.at, suite.If(races, "~"))
					}
				}
				next = append(next, one)
			}
		}
		all = next
	}
	out := make([]conformance.Schedule, len(all))
	for i, b := range all {
		out[i] = suite.MustParse(b.text)
	}
	return out
}

// claiming are the ways in which a claim is a reservation, and those in which it is a wait.
func claiming(head string, parts ...string) (out []conformance.Schedule) {
	for _, claim := range []string{"reserve", "wait"} {
		own := slices.Clone(parts)
		for i := range own {
			own[i] = strings.ReplaceAll(own[i], "claim", claim)
		}
		out = append(out, ways(head, own...)...)
	}
	return out
}

// afterChanges are the families of claims that are given up after a limit or burst was set.
func afterChanges() []suite.Family {
	return []suite.Family{
		{Name: "given up after a change", Schedules: givenUp()},
		// A claim is given up that is not due yet, though a higher limit has brought tokens since. It changes again
		// meanwhile or not, others have reserved before and after it, and whatever is there is taken. What the claim
		// would have lost does not come back: who asks for everything then gets more than the burst at one instant,
		// or as much too early.
		{Name: "given up after tokens came", Schedules: ways("rate=10/1s burst=3 | allow 3 @0",
			"reserve 3; reserve 1, reserve 3",
			"setlimit 100/1s; +150, setlimit 100/1s",
			"+20; +20, reserve 1; +80, reserve 1; +80, allow 3, reserve 3",
			"; +25, setlimit 100/1s; +25, setlimit 500/1s; +25, setlimit 5/1s; +25, setburst 2; +25, setburst 5",
			"+4, allow 1, allow 1, allow 1; +15, allow 1, allow 1, allow 1",
			"cancel 1; cancel 2; cancel 3",
			"allow 1, allow 1, allow 1, allow 1; reserve 3")},
		// A claim is given up after a change since which another waits: that one keeps its instant, at which the
		// bucket would have been full for a while without the first. What would be lost until then does not come
		// back, or both are granted at one instant. Or both are given up. In others, of two claims from before a
		// lower burst both are given up, or one is before that.
		{Name: "given up before others act", Schedules: slices.Concat(
			ways("rate=10/1s burst=3", "allow 1; allow 3", "reserve 3",
				"setlimit 100/1s; setlimit 20/1s; setburst 2",
				"reserve 1; +20, reserve 2; +50, reserve 1; +50, reserve 3",
				"cancel 1; +25, cancel 1; +25, allow 1, cancel 1; +50, cancel 1; cancel 2, cancel 1",
				"reserve 2, reserve 1"),
			ways("rate=10/1s burst=5", "allow 5, reserve 5, reserve 2", "cancel 2; ",
				"setburst 2; setburst 3", "+20, reserve 1; +20, reserve 2, reserve 1, cancel 3",
				"cancel 1, cancel 2; +25, cancel 2, cancel 1", "reserve 2, reserve 2, reserve 1"))},
		{Name: "both given up", Schedules: bothGivenUp()},
		// Several wait behind one that is given up, since a new burst.
		{Name: "many wait behind", Schedules: ways("rate=10/1s burst=5 | allow 5 @0 | reserve 5 @0",
			"setburst 5; +200, setburst 5; +200, setburst 6",
			"reserve 1, reserve 1, reserve 1, cancel 1, reserve 1")},
		// A claim is given up at the instant of a change, when the tokens that came fill the bucket nearly: what it
		// does not hold is lost.
		{Name: "more than fits comes back",
			Schedules: ways("rate=10/1s burst=3 | allow 3 @0 | reserve 3 @0 | setlimit 100/1s @0",
				"+50, setlimit 50/1s, cancel 1; +50, setburst 3, cancel 1; +50, cancel 1",
				"allow 1, allow 1, allow 1, allow 1, allow 1")},
		// A claim is given up after two changes, for one of which there was room for a part of a token less than it
		// had taken: all but that comes back, and not whole tokens only. Or it need not wait, and one after it, for
		// which a part of its tokens were there, is given up out of turn after that.
		{Name: "a part of a token comes back", Schedules: slices.Concat(
			ways("rate=10/1s burst=3 | allow 3 @0", "+50, reserve 3, setburst 2", "+175, setburst 5; +195, setburst 5",
				"+25, cancel 1; +50, cancel 1", "allow 2; reserve 3"),
			ways("rate=10/1s burst=5 | allow 5 @0",
				"+340, reserve 3, reserve 3, cancel 1, reserve 1, cancel 2, reserve 1"))},
		// A claim is given up at the instant at which it is made, or due, after the burst was lowered and raised at
		// that instant: what the lower one had no room for does not come back.
		{Name: "given up as it changed", Schedules: ways("rate=10/1s burst=5",
			"reserve 3; allow 1, reserve 3; allow 5, reserve 3, +300",
			"setburst 3, setburst 5; setburst 1, setburst 5", "cancel 1", "allow 4; allow 2")},
		// A reservation is given up after a limit was set that is so many per another time: what comes back is
		// counted in tokens, and not in what a limiter may count in.
		{Name: "given up in another period", Schedules: claiming("rate=10/1s burst=3", "; allow 3",
			"claim 1; claim 2; claim 3",
			"setlimit 5/1m; setlimit 300/1m; setlimit 6000/1m; setlimit 10/100ms", "; +50", "cancel 1, claim 3")},
	}
}

// bothGivenUp lists schedules in which two claims are given up after a higher limit has brought tokens: what
// there was no room for, with either of them, does not come back twice. What was allowed meanwhile is more than
// either of them took, or less.
func bothGivenUp() []conformance.Schedule {
	given := func(claims, meanwhile string) []conformance.Schedule {
		return ways("rate=10/1s burst=5 | allow 5 @0", claims, "setlimit 100/1s", meanwhile,
			"cancel 1, cancel 2; cancel 2, cancel 1", "reserve 1, reserve 1, reserve 3, reserve 1")
	}
	return slices.Concat(
		given("reserve 2, reserve 2; reserve 3, reserve 1", "+80, allow 4; +80, allow 3; +70, allow 3"),
		given("reserve 3, reserve 3", "+100, allow 1"), given("reserve 5, reserve 3", "+120, allow 1"))
}

// givenUpAgain lists schedules in which reservations are given up that were given up before, after another was:
// what had not come back then, because of that other one, does not come back now.
func givenUpAgain() []conformance.Schedule {
	var out []conformance.Schedule
	for _, sizes := range [][]int{{1, 1}, {1, 2}, {2, 1}, {2, 2}, {3, 1}, {1, 1, 1}, {3, 2, 1}} {
		for _, order := range [][]int{{0, 1, 0}, {1, 0, 1}, {0, 0, 1}, {0, 1, 1, 0}} {
			out = append(out, row("10/1s", sizes, order))
		}
		if n := len(sizes) - 1; n > 1 {
			out = append(out, row("10/1s", sizes, []int{0, n, 0}), row("10/1s", sizes, []int{0, 1, n, 1, 0}))
		}
	}
	return out
}

// lateInThePast lists schedules in which a reservation is given up that has been due for a while, but at an instant
// before that; or at one that comes before others, all of which count as the newest.
func lateInThePast() []conformance.Schedule {
	var texts []string
	for _, first := range []string{"allow 1", "allow 0", "tokens", "setlimit 10/1s", "setburst 2", "reserve 1"} {
		for _, newest := range []string{"150ms", "250ms", "10s"} {
			for _, at := range []string{"0", "50ms", "100ms"} {
				late := fmt.Sprintf("rate=10/1s burst=2 | allow 2 @0 | reserve 1 @0 | %s @%s | cancel 1 @%s",
					first, newest, at)
				texts = append(texts, late+strings.Repeat(" | allow 1 @"+newest, 3))
			}
		}
	}
	return suite.ParseAll(texts...)
}

// asAnotherIs lists schedules in which a wait is given up, and without a pause the one before it, whose tokens it may
// get before it goes on. It has them then, or leaves them.
func asAnotherIs() []conformance.Schedule {
	return ways("rate=10/1s burst=3 | allow 3 @0", "wait 3, wait 1; reserve 3, wait 1",
		"+150, cancel 2, cancel 1~; +150, cancel 1, cancel 2~", "allow 1; wait 1; allow 1, allow 1")
}

// harmless lists histories of reservations and waits that are given up, and puts between any two of their steps what
// must not change anything: a question, a request for nothing or for more than can ever be granted, one that fails at
// once, a limit or burst that is set to what it is, or that is 0 for no time where that grants nothing new.
func harmless(zero ZeroRate) []conformance.Schedule {
	rows := suite.ParseAll(
		"tokens @0", "allow 0 @0", "allow -1 @0", "allow 4 @0", "allow 1 @0",
		"reserve 0 @0", "reserve -1 @0", "reserve 4 @0",
		"wait 0 @0", "wait 4 @0", "wait 1 -1ns @0", "wait 1 1ns @0", "setlimit 10/1s @0", "setburst 3 @0",
	)
	if zero == ZeroRateBurst {
		rows = append(rows, suite.ParseAll("setlimit 0/1s @0 | reserve 1 @0 | setlimit 10/1s @0",
			"setlimit 0/1s @0 | wait 1 1ns @0 | setlimit 10/1s @0")...)
	}
	var out []conformance.Schedule
	for _, history := range suite.ParseAll(
		"rate=10/1s burst=3 | allow 3 @0 | reserve 1 @0 | cancel 1 @0 | reserve 1 @0",
		"rate=10/1s burst=3 | allow 3 @0 | wait 1 @0 | cancel 1 @50ms | wait 1 @50ms",
		"rate=10/1s burst=3 | allow 3 @0 | reserve 2 @0 | reserve 1 @50ms | cancel 2 @100ms | cancel 1 @100ms | "+
			"reserve 1 @100ms",
		"rate=10/1s burst=3 | allow 3 @0 | reserve 1 @0 | reserve 1 @0 | cancel 1 @150ms | cancel 2 @150ms | "+
			"reserve 1 @150ms",
	) {
		for _, row := range rows {
			for i := 1; i < len(history.Steps); i++ {
				out = append(out, interjected(history, i, row.Steps))
			}
		}
	}
	return out
}

// interjected puts a row of steps before the step i of a schedule. What is given up later is counted on.
func interjected(s conformance.Schedule, i int, row []conformance.Step) conformance.Schedule {
	count := func(steps []conformance.Step) (n int) {
		for _, st := range steps {
			if claims(st) {
				n++
			}
		}
		return n
	}
	before, between := count(s.Steps[:i]), count(row)
	out := suite.Between(s, i, row...)
	for k := i + len(row); k < len(out.Steps); k++ {
		if st := &out.Steps[k]; st.Op == verb.Cancel && st.N > before {
			st.N += between
		}
	}
	return out
}
