package recent

import (
	"github.com/escapement-go/escapement/conformance/clocktest"
	"github.com/escapement-go/escapement/conformance/limitertest"
	"github.com/escapement-go/escapement/conformance/quotatest"
)

// What is known to fail, each shown by the library alone in reproductions_test.go.
var (
	ethereumKnown = []clocktest.Known{
		{
			Rule: "CK-ZERO", Schedule: "afterfunc 1 -1h @0 | idle 1s",
			Why: "what is due at once waits for the next Run",
		},
		{
			Rule: "CK-AT", Schedule: "afterfunc 1 1s @0 | now @f1 | now @5s",
			Why: "the clock stands at the end of Run while functions run",
		},
		{
			Rule: "CK-CHAIN", Schedule: "afterfunc 1 1s @0 | afterfunc 3 1.3s @f1 | idle 10s",
			Why: "what a function arms counts from the end of Run",
		},
		{
			Rule: "CK-DIFF", Schedule: "afterfunc 3 1m @2h25m | afterfunc 4 20m @f3 | idle 56m",
			Why: "the same",
		},
	}
	foundryKnown = []clocktest.Known{
		{
			Rule: "CK-TIMER", Schedule: "after 1 1s @0 | read 1 @3s",
			Why: "a timer sends the time at the end of Increment",
		},
		{
			Rule: "CK-STOP", Schedule: "timer 1 1s @0 | read 1 @5s",
			Why: "a timer sends the time at the end of Increment",
		},
		{
			Rule: "CK-UNREAD", Schedule: "timer 1 1s @0 | halt 1 @1s | read 1 @6s",
			Why: "Stop leaves the value in the channel, as before Go 1.23",
		},
		{
			Rule: "CK-TICKER", Schedule: "ticker 1 1s @0 | read 1 @2.5s | read 1 @3.5s",
			Why: "one tick for each Increment, and the next a period after it",
		},
		{
			Rule: "CK-TICKSTOP", Schedule: "ticker 1 1s @0 | read 1 @5s | read 1 @5.3s | read 1 @6.3s",
			Why: "one tick for each Increment, and the next a period after it",
		},
		{
			Rule: "CK-TICKUNREAD", Schedule: "ticker 1 1s @0 | halt 1 @1s | read 1 @6s | read 1 @6.3s | read 1 @7.3s",
			Why: "Stop leaves the tick in the channel, as before Go 1.23",
		},
		{
			Rule: "CK-ZERO", Schedule: "timer 1 1s @0 | halt 1 @0 | rearm 1 -1h @0 | read 1 @0 | read 1 @2s",
			Why: "Reset of a stopped timer says that it was armed",
		},
	}
	clientGoKnown = []limitertest.Known{
		{
			Rule: "RL-TINY", Schedule: "rate=1/2562047h47m16.854775807s burst=1 | allow 1 @0 | allow 1 @0",
			Why: "x/time/rate: a delay of 2^63ns overflows and becomes none (the rest of golang/go#71154)",
		},
		{
			Rule: "X-BACK", Schedule: "",
			Why: "x/time/rate goes back with the clock, and the way on brings tokens again; the docs do not mention it",
		},
	}
	jmhodgesKnown = []clocktest.Known{
		{
			Rule: "CK-UNREAD", Schedule: "timer 1 1s @0 | halt 1 @1s | read 1 @6s",
			Why: "Stop leaves the value in the channel, as before Go 1.23",
		},
		{
			Rule: "CK-ZERO", Schedule: "after 1 -1h @0 | read 1 @0 | read 1 @1s",
			Why: "what is due at once waits for the next Add",
		},
	}
	cockroachKnown = []limitertest.Known{{
		Rule: "RL-NEG", Schedule: "rate=10/1s burst=3 | allow -1 @0 | allow 1 @0 | allow 3 @0",
		Why: "a negative amount adds tokens, beyond the burst; the docs do not mention it",
	}}
	httprateKnown = []quotatest.Known{
		{
			Rule: "GC-NEG", Schedule: "rate=4/1s | allow 1 @0 | allow -1 @0 | allow 4 @0",
			Why: "a negative increment gives back",
		},
		{
			Rule: "RL-NBIG", Schedule: "rate=4/1s | allow 1 @0 | allow 9223372036854775807 @0",
			Why: "the sum of the increments overflows, and is granted",
		},
	}
)
