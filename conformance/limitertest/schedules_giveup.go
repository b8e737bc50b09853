package limitertest

import (
	"fmt"
	"strings"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
)

// atItsInstant lists schedules in which a reservation is given up at the very instant at which it is due, at
// first or later, when others wait for their tokens behind it. Whether that is in time or too late is open;
// but what the others have counted on does not come back, or more than the burst is due at one instant.
func atItsInstant() []conformance.Schedule {
	full := times([]part{{text: "rate=10/1s burst=2"}}, addition{0, []string{"reserve 2"}})
	due := times([]part{{text: "rate=10/1s burst=2"}}, addition{0, []string{"allow 2", "reserve 2"}},
		addition{0, []string{"allow 1", "reserve 2"}})
	parts := append(full, times(due[:1], addition{200, nil})...)
	parts = append(parts, times(due[1:], addition{100, nil})...)
	parts = times(parts, addition{0, []string{"reserve 2"}}, addition{0, []string{"reserve 1"}},
		addition{0, []string{"reserve 1", "reserve 1"}})
	parts = times(parts, addition{0, []string{"cancel 1"}})
	return parsed(times(parts, addition{0, []string{"reserve 2"}}, addition{0, []string{"reserve 1", "reserve 1"}}))
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

// inAnotherPeriod lists schedules in which a reservation is given up after a limit was set that is so many per
// another time: what comes back is counted in tokens, and not in what a limiter may count in.
func inAnotherPeriod() []conformance.Schedule {
	var texts []string
	for _, set := range []string{"5/1m", "300/1m", "6000/1m", "10/100ms"} {
		for _, claim := range []string{"reserve", "wait"} {
			for n := 1; n <= 3; n++ {
				for _, first := range []string{"", "allow 3 @0 | "} {
					for _, later := range []string{"0", "50ms"} {
						texts = append(texts, fmt.Sprintf("rate=10/1s burst=3 | %s%s %d @0 | setlimit %s @0 | "+
							"cancel 1 @%s | %s 3 @%s", first, claim, n, set, later, claim, later))
					}
				}
			}
		}
	}
	return suite.ParseAll(texts...)
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
	var texts []string
	for _, first := range []string{"wait 3", "reserve 3"} {
		for _, given := range []string{"cancel 2 @150ms | cancel 1 @150ms~", "cancel 1 @150ms | cancel 2 @150ms~"} {
			for _, then := range []string{"allow 1 @150ms", "wait 1 @150ms", "allow 1 @150ms | allow 1 @150ms"} {
				texts = append(texts,
					fmt.Sprintf("rate=10/1s burst=3 | allow 3 @0 | %s @0 | wait 1 @0 | %s | %s", first, given, then))
			}
		}
	}
	return suite.ParseAll(texts...)
}
