package limitertest

import (
	"slices"
	"strings"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
)

// changes adds what is explored of limits and bursts that are set.
func (e *explorer) changes(zero ZeroRate) {
	half, far := []time.Duration{0, interval / 2, interval}, []time.Duration{0, interval, 10 * interval}
	e.add("limits", e.drained("setlimit 100/1s,setlimit 5/1s,allow 1,allow 3",
		[]time.Duration{0, interval, 5 * interval / 2}, 3)...)
	e.add("limits", suite.Sequences(limited("10/1s", 3), // before anything else, too
		supported(e.Suite, steps("setlimit 6/1s", "allow 3", "allow 1")), far, 3)...)
	e.add("limits and reservations",
		e.drained("setlimit 100/1s,setlimit 5/1s,reserve 1,cancel 1,allow 1",
			[]time.Duration{0, interval / 2, 4 * interval}, 2, lastReserve)...)
	e.add("limits and reservations", e.drained("setlimit 6000/1m,setlimit 1/7s,reserve 1,wait 1,allow 1",
		[]time.Duration{0, interval / 2}, 2, lastReserve)...)
	e.add("limits and waits", e.drained("setlimit 100/1s,setlimit 5/1s,wait 1", half, 3)...)
	e.add("bursts", suite.Sequences(limited("10/1s", 3),
		supported(e.Suite, steps("setburst 1", "setburst 5", "allow 1", "allow 3")), far, 3)...)
	e.add("bursts", suite.ParseAll("rate=10/1s burst=1 | allow 1 @0 | setburst 5 @300ms | allow 5 @600ms",
		"rate=10/1s burst=3 | allow 1 @0 | setburst 5 @1s | allow 4 @1s",
		"rate=10/1s burst=3 | setburst 0 @0 | setburst 3 @0 | allow 1 @10s")...)
	one := strings.Repeat(" | allow 1 @0", 8)
	e.add("bursts", suite.ParseAll("rate=10/1s burst=4 | allow 1 @0 | allow 1 @0 | setburst 8 @0"+one,
		"rate=10/1s burst=4 | allow 1 @0 | allow 1 @0 | setburst 2 @0"+one,
		"rate=10/1s burst=4 | allow 1 @0 | setburst 2 @0 | setburst 4 @0"+one)...)
	e.add("bursts and reservations", e.drained("setburst 1,setburst 5,reserve 1,allow 1", far, 3)...)
	e.add("bursts and waits", e.drained("setburst 1,setburst 5,wait 1", half, 3)...)
	if !e.c.spec.Traits.servesMore() {
		e.add("bursts and waits", e.drained("setburst 1,wait 3,wait 1", []time.Duration{0, interval}, 3)...)
		e.add("bursts and waits", e.drained("setburst 2,wait 3", []time.Duration{0, interval}, 2, lastWait)...)
	}
	for _, f := range afterChanges() {
		e.add(f.Name, f.Schedules...)
	}
	if zero == ZeroRateBurst {
		e.add("no rate for a while", suite.ParseAll(
			"rate=10/1s burst=1 | allow 1 @0 | setlimit 0/1s @0 | wait 1 100ms @0",
			"rate=10/1s burst=3 | allow 3 @0 | setlimit 0/1s @150ms | allow 1 @1h | allow 1 @1h",
			"rate=10/1s burst=3 | allow 3 @0 | setlimit 0/1s @0 | setlimit 10/1s @1h | "+
				"allow 1 @1h | allow 1 @1h0m0.11s",
			"rate=10/1s burst=3 | allow 3 @0 | setlimit 0/1s @50ms | setlimit 10/1s @1h | "+
				"allow 1 @1h | allow 1 @1h0m0.06s",
			"rate=10/1s burst=3 | allow 3 @0 | setlimit 0/1s @50ms | allow 1 @1h | setlimit 10/1s @2h | "+
				"allow 1 @2h | allow 1 @2h0m0.06s | allow 3 @3h",
			// Not even what is nearly there comes, however long it takes.
			"rate=10/1s burst=3 | allow 3 @0 | setlimit 0/1s @99.9ms | allow 1 @10000h",
			"rate=10/1s burst=3 | allow 3 @0 | setlimit 0/1s @99.99ms | allow 1 @1000h",
			"rate=10/1s burst=3 | allow 3 @0 | setlimit 0/1s @99.999ms | allow 1 @100h",
			"rate=10/1s burst=3 | allow 3 @0 | setlimit 0/1s @99.9999ms | allow 1 @10h",
			"rate=10/1s burst=1 | allow 1 @0 | setlimit 0/1s @99.999ms | allow 1 @100h",
			// Who never gets what he reserves takes nothing.
			"rate=10/1s burst=3 | allow 2 @0 | setlimit 0/1s @0 | reserve 2 @0 | allow 1 @0",
			"rate=10/1s burst=3 | allow 1 @0 | setlimit 0/1s @0 | reserve 3 @0 | allow 1 @0 | allow 1 @0")...)
	}
}

// givenUp sets a limit or burst between a reservation or wait and its cancel, with and
// without another claim after it.
func givenUp() []conformance.Schedule {
	out := ways("rate=10/1s burst=3 | allow 3 @0", "reserve 1; reserve 2",
		"setlimit 100/1s; setlimit 5/1s; setburst 5", "reserve 1",
		"cancel 1; cancel 2; cancel 1, cancel 2; cancel 2, cancel 1", "reserve 1")
	for _, set := range []string{"setlimit 100/1s", "setlimit 5/1s", "setburst 2", "setburst 5"} {
		out = append(out, claiming("rate=10/1s burst=3 | allow 3 @0", "claim 1; claim 2",
			strings.ReplaceAll("SET, +5; SET, +50; +5, SET; +5, SET, +45", "SET", set), "cancel 1, claim 1")...)
	}
	return out
}

// infinite adds what is explored of an infinite rate.
func (e *explorer) infinite() {
	gaps := []time.Duration{0, interval}
	e.add("infinite", suite.ParseAll("rate=inf burst=0 | reserve 1 @0", "rate=inf burst=0 | reserve 7 @0",
		"rate=inf burst=0 | wait 1 @0", "rate=inf burst=0 | wait 7 @0",
		"rate=inf burst=0 | setlimit inf @0 | allow 1 @0 | allow 1 @0 | allow 1 @0",
		"rate=inf burst=0 | setlimit inf @0 | allow 7 @0")...)
	e.add("infinite", slices.Concat(
		suite.ParseAll("rate=inf burst=3 | wait 7 @0", "rate=inf burst=3 | reserve 7 @0"),
		suite.Sequences(limited("inf", 3), supported(e.Suite,
			steps("allow 1", "allow 7", "reserve 2", "wait 2", "setlimit 10/1s", "cancel 1")), gaps, 3),
		e.drained("setlimit inf,setlimit 10/1s,reserve 3,allow 3,cancel 1", gaps, 3))...)
	// What is taken at an infinite rate that lasts for no time is all still there.
	taken := []string{"allow 1, allow 1; allow 7, allow 7; reserve 1, reserve 1; reserve 2, reserve 2; " +
		"wait 1, wait 1; wait 2, wait 2", "setlimit 10/1s, allow 1, allow 1, allow 1"}
	e.add("after an infinite rate", append(ways("rate=inf burst=3", taken...),
		ways("rate=10/1s burst=3 | setlimit inf @0", taken...)...)...)
	// What was reserved or waited for before an infinite rate is given up after it. Whether that rate has paid for it
	// shows in the first answer; the cancel takes nothing of what is there.
	e.add("given up after an infinite rate", ways("rate=10/1s burst=3 | allow 3 @0",
		"reserve 1; reserve 2; reserve 3", "setlimit inf", "setlimit 10/1s, +1; +1, setlimit 10/1s",
		"; allow 1; allow 3; tokens", "cancel 1", "allow 1; tokens; +149, allow 1; +349, allow 3")...)
	// What was reserved under an infinite rate is given up after it, when the bucket is empty: it was for nothing, and
	// brings nothing.
	free := []string{"reserve 1; reserve 2", "; +1", "setlimit 10/1s, allow 2, allow 1, allow 1, cancel 1, allow 1"}
	e.add("after an infinite rate", append(ways("rate=inf burst=2", free...),
		ways("rate=10/1s burst=2 | allow 2 @0 | setlimit inf @0", free...)...)...)
	e.add("after an infinite rate", ways("rate=10/1s burst=3 | allow 3 @0 | setlimit inf @0", "; +1",
		"reserve 3, setlimit 10/1s, allow 3, cancel 1, allow 3")...)
}
