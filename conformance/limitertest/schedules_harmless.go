package limitertest

import (
	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

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
