package limitertest

import (
	"fmt"
	"slices"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
)

// addition is what a schedule goes on with, so many milliseconds later.
type addition struct {
	gap   int
	steps []string
}

// part is the beginning of a schedule, and the millisecond of its last step.
type part struct {
	text string
	end  int
}

// times continues each part in each of the ways.
func times(parts []part, ways ...addition) []part {
	var out []part
	for _, p := range parts {
		for _, w := range ways {
			next := part{p.text, p.end + w.gap}
			for _, s := range w.steps {
				next.text += fmt.Sprintf(" | %s @%dms", s, next.end)
			}
			out = append(out, next)
		}
	}
	return out
}

// afterTokensCame lists schedules in which a claim is given up that is not due yet, though a higher
// limit has brought tokens since. It changes again meanwhile or not, others have reserved before and
// after it, and whatever is there is taken. What the claim would have lost does not come back: who
// asks for everything then gets more than the burst at one instant, or as much too early.
func afterTokensCame() []conformance.Schedule {
	parts := []part{{text: "rate=10/1s burst=3 | allow 3 @0"}}
	parts = times(parts, addition{0, []string{"reserve 3"}}, addition{0, []string{"reserve 1", "reserve 3"}})
	parts = times(parts, addition{0, []string{"setlimit 100/1s"}}, addition{150, []string{"setlimit 100/1s"}})
	parts = times(parts, addition{20, nil}, addition{20, []string{"reserve 1"}}, addition{80, []string{"reserve 1"}},
		addition{80, []string{"allow 3", "reserve 3"}})
	changes := []addition{{}}
	for _, set := range []string{"setlimit 100/1s", "setlimit 500/1s", "setlimit 5/1s", "setburst 2", "setburst 5"} {
		changes = append(changes, addition{25, []string{set}})
	}
	all := []string{"allow 1", "allow 1", "allow 1"}
	parts = times(times(parts, changes...), addition{4, all}, addition{15, all})
	parts = times(parts, addition{0, []string{"cancel 1"}}, addition{0, []string{"cancel 2"}},
		addition{0, []string{"cancel 3"}})
	parts = times(parts, addition{0, append(all, "allow 1")}, addition{0, []string{"reserve 3"}})
	return parsed(parts)
}

// beforeOthersAct lists schedules in which a claim is given up after a change since which another waits:
// that one keeps its instant, at which the bucket would have been full for a while without the first. What
// would be lost until then does not come back, or both are granted at one instant. Or both are given up.
func beforeOthersAct() []conformance.Schedule {
	parts := times([]part{{text: "rate=10/1s burst=3"}},
		addition{0, []string{"allow 1"}}, addition{0, []string{"allow 3"}})
	parts = times(parts, addition{0, []string{"reserve 3"}})
	parts = times(parts, addition{0, []string{"setlimit 100/1s"}}, addition{0, []string{"setlimit 20/1s"}},
		addition{0, []string{"setburst 2"}})
	parts = times(parts, addition{0, []string{"reserve 1"}}, addition{20, []string{"reserve 2"}},
		addition{50, []string{"reserve 1"}}, addition{50, []string{"reserve 3"}})
	parts = times(parts, addition{0, []string{"cancel 1"}}, addition{25, []string{"cancel 1"}},
		addition{25, []string{"allow 1", "cancel 1"}}, addition{50, []string{"cancel 1"}},
		addition{0, []string{"cancel 2", "cancel 1"}})
	parts = times(parts, addition{0, []string{"reserve 2", "reserve 1"}})
	two := times(twoBeforeOthersAct(), addition{0, []string{"reserve 2", "reserve 2", "reserve 1"}})
	return parsed(append(parts, two...))
}

// twoBeforeOthersAct gives up two claims from before a lower burst since which others wait, or gives up one of
// them before that.
func twoBeforeOthersAct() []part {
	parts := times([]part{{text: "rate=10/1s burst=5"}}, addition{0, []string{"allow 5", "reserve 5", "reserve 2"}})
	parts = append(times(parts, addition{0, []string{"cancel 2"}}), parts...)
	parts = times(parts, addition{0, []string{"setburst 2"}}, addition{0, []string{"setburst 3"}})
	parts = times(parts, addition{20, []string{"reserve 1"}},
		addition{20, []string{"reserve 2", "reserve 1", "cancel 3"}})
	return times(parts, addition{0, []string{"cancel 1", "cancel 2"}}, addition{25, []string{"cancel 2", "cancel 1"}})
}

// bothGivenUp lists schedules in which two claims are given up after a higher limit has brought tokens: what
// there was no room for, with either of them, does not come back twice. What was allowed meanwhile is more than
// either of them took, or less.
func bothGivenUp() []conformance.Schedule {
	claims := func(one, two string) []part {
		return times([]part{{text: "rate=10/1s burst=5"}},
			addition{0, []string{"allow 5", one, two, "setlimit 100/1s"}})
	}
	parts := times(append(claims("reserve 2", "reserve 2"), claims("reserve 3", "reserve 1")...),
		addition{80, []string{"allow 4"}}, addition{80, []string{"allow 3"}}, addition{70, []string{"allow 3"}})
	parts = slices.Concat(parts,
		times(claims("reserve 3", "reserve 3"), addition{100, []string{"allow 1"}}),
		times(claims("reserve 5", "reserve 3"), addition{120, []string{"allow 1"}}))
	parts = times(parts, addition{0, []string{"cancel 1", "cancel 2"}}, addition{0, []string{"cancel 2", "cancel 1"}})
	return parsed(times(parts, addition{0, []string{"reserve 1", "reserve 1", "reserve 3", "reserve 1"}}))
}

// manyWaitBehind lists schedules in which several wait behind one that is given up, since a new burst.
func manyWaitBehind() []conformance.Schedule {
	parts := times([]part{{text: "rate=10/1s burst=5"}}, addition{0, []string{"allow 5", "reserve 5"}})
	parts = times(parts, addition{0, []string{"setburst 5"}}, addition{200, []string{"setburst 5"}},
		addition{200, []string{"setburst 6"}})
	one := "reserve 1"
	return parsed(times(parts, addition{0, []string{one, one, one, "cancel 1", one}}))
}

// outOfTurn lists schedules in which claims are given up in any order, with new ones in between, which
// may be served before others that wait: those keep their instants.
func outOfTurn(claim string) []conformance.Schedule {
	parts := times([]part{{text: "rate=10/1s burst=3"}},
		addition{0, []string{"allow 1"}}, addition{0, []string{"allow 3"}})
	one, two := claim+" 1", claim+" 2"
	parts = times(parts, addition{0, []string{one}}, addition{0, []string{claim + " 3"}})
	parts = times(parts, addition{0, []string{one}}, addition{0, []string{two}})
	parts = times(parts, addition{0, []string{"cancel 1", one}}, addition{50, []string{"cancel 1", two}})
	return parsed(times(parts, addition{0, []string{"cancel 2", one}}, addition{0, []string{"cancel 3", one}}))
}

// moreThanFits lists schedules in which a claim is given up at the instant of a change, when the tokens that
// came fill the bucket nearly: what it does not hold is lost.
func moreThanFits() []conformance.Schedule {
	parts := []part{{text: "rate=10/1s burst=3 | allow 3 @0 | reserve 3 @0 | setlimit 100/1s @0"}}
	parts = times(parts, addition{50, []string{"setlimit 50/1s", "cancel 1"}},
		addition{50, []string{"setburst 3", "cancel 1"}}, addition{50, []string{"cancel 1"}})
	one := "allow 1"
	return parsed(times(parts, addition{0, []string{one, one, one, one, one}}))
}

// partComesBack lists schedules in which a claim is given up after two changes, for one of which there was room
// for a part of a token less than it had taken: all but that comes back, and not whole tokens only. Or it need not
// wait, and one after it, for which a part of its tokens were there, is given up out of turn after that.
func partComesBack() []conformance.Schedule {
	parts := times([]part{{text: "rate=10/1s burst=3"}},
		addition{0, []string{"allow 3"}})
	parts = times(parts, addition{50, []string{"reserve 3", "setburst 2"}})
	parts = times(parts, addition{175, []string{"setburst 5"}}, addition{195, []string{"setburst 5"}})
	parts = times(parts, addition{25, []string{"cancel 1"}}, addition{50, []string{"cancel 1"}})
	parts = times(parts, addition{0, []string{"allow 2"}}, addition{0, []string{"reserve 3"}})
	behind := times([]part{{text: "rate=10/1s burst=5"}}, addition{0, []string{"allow 5"}})
	behind = times(behind, addition{340, []string{"reserve 3", "reserve 3", "cancel 1", "reserve 1", "cancel 2"}})
	return parsed(append(parts, times(behind, addition{0, []string{"reserve 1"}})...))
}

// changedAtOnce lists schedules in which a claim is given up at the instant at which it is made, or due, after the
// burst was lowered and raised at that instant: what the lower one had no room for does not come back.
func changedAtOnce() []conformance.Schedule {
	parts := times([]part{{text: "rate=10/1s burst=5"}}, addition{0, []string{"reserve 3"}},
		addition{0, []string{"allow 1", "reserve 3"}})
	due := times([]part{{text: "rate=10/1s burst=5"}}, addition{0, []string{"allow 5", "reserve 3"}})
	parts = append(parts, times(due, addition{300, nil})...)
	parts = times(parts, addition{0, []string{"setburst 3", "setburst 5"}},
		addition{0, []string{"setburst 1", "setburst 5"}})
	parts = times(parts, addition{0, []string{"cancel 1"}})
	return parsed(times(parts, addition{0, []string{"allow 4"}}, addition{0, []string{"allow 2"}}))
}

// parsed parses the texts.
func parsed(parts []part) []conformance.Schedule {
	var out []conformance.Schedule
	for _, p := range parts {
		out = append(out, suite.MustParse(p.text))
	}
	return out
}
