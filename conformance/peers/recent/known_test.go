package recent

import "github.com/escapement-go/escapement/conformance"

// What is known to fail, each shown by the library alone in reproductions_test.go and ethereum_test.go.
var (
	ethereumKnown = []conformance.Known{
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
			Rule: "CK-FUNC", Schedule: "afterfunc 1 2562047h47m16.854775807s @1s | idle 1h",
			Why: "what is due later than 292 years after the start overflows, and runs at once",
		},
		{
			Rule: "CK-DIFF", Schedule: "afterfunc 3 1m @2h25m | afterfunc 4 20m @f3 | idle 56m",
			Why: "the same",
		},
	}
	foundryKnown = []conformance.Known{
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
		{
			Rule: "CK-DIFF", Schedule: "timer 1 30m @0 | read 1 @47m",
			Why: "a timer sends the time at the end of Increment",
		},
	}
	clientGoKnown = []conformance.Known{
		{
			Rule: "RL-TINY", Schedule: "rate=1/2562047h47m16.854775807s burst=1 | allow 1 @0 | allow 1 @0",
			Why: "x/time/rate: a delay of 2^63ns overflows and becomes none (the rest of golang/go#71154)",
		},
		{
			Rule: "X-BACK", Schedule: "",
			Why: "x/time/rate goes back with the clock, and the way on brings tokens again; the docs do not mention it",
		},
	}
	jmhodgesKnown = []conformance.Known{
		{
			Rule: "CK-UNREAD", Schedule: "timer 1 1s @0 | halt 1 @1s | read 1 @6s",
			Why: "Stop leaves the value in the channel, as before Go 1.23",
		},
		{
			Rule: "CK-ZERO", Schedule: "after 1 -1h @0 | read 1 @0 | read 1 @1s",
			Why: "what is due at once waits for the next Add",
		},
		{
			Rule: "CK-DIFF", Schedule: "timer 5 1m @1h39m | halt 5 @1h59m",
			Why: "Stop leaves the value in the channel, as before Go 1.23",
		},
	}
	cockroachKnown = []conformance.Known{{
		Rule: "RL-NEG", Schedule: "rate=10/1s burst=3 | allow -1 @0 | allow 1 @0 | allow 3 @0",
		Why: "a negative amount adds tokens, beyond the burst; the docs do not mention it",
	}}
	httprateKnown = []conformance.Known{
		{
			Rule: "GC-NEG", Schedule: "rate=4/1s | allow 1 @0 | allow -1 @0 | allow 4 @0",
			Why: "a negative increment gives back",
		},
		{
			Rule: "RL-NBIG", Schedule: "rate=4/1s | allow 1 @0 | allow 9223372036854775807 @0",
			Why: "the sum of the increments overflows, and is granted",
		},
		{
			Rule: "SC-APPROX", Schedule: "rate=9223372036854775807/1s | allow 4096 @0 | allow 9223372036854775807 @0",
			Why: "the sum of the increments overflows, and is granted, also of those that the limit allows",
		},
		{
			Rule: "GC-REMAIN", Schedule: "rate=9223372036854775807/1s | allow 4096 @0 | allow 9223372036854775807 @0",
			Why: "the sum of the increments overflows, and less than none remain",
		},
	}
	lndKnown = []conformance.Known{
		{
			Rule: "CK-TIMER", Schedule: "after 1 1s @0 | read 1 @3s",
			Why: "a timer sends the time that SetTime gets",
		},
		{
			Rule: "CK-DIFF", Schedule: "after 2 3m @3h24m | read 2 @4h14m",
			Why: "a timer sends the time that SetTime gets",
		},
	}
	temporalKnown = []conformance.Known{
		{
			Rule: "CK-TIMER", Schedule: "timer 1 10ns @0 | rearm 1 9ns @0 | read 1 @8ns | read 1 @9ns",
			Why: "an armed timer that is reset sends the deadline that it had before",
		},
		{
			Rule: "CK-STOP", Schedule: "timer 1 1s @0 | rearm 1 1s @400ms | read 1 @5.4s",
			Why: "an armed timer that is reset sends the deadline that it had before",
		},
		{
			Rule: "CK-UNREAD", Schedule: "timer 1 1s @0 | halt 1 @1s | read 1 @6s",
			Why: "Stop leaves the value in the channel, as before Go 1.23",
		},
		{
			Rule: "CK-ZERO", Schedule: "timer 1 -1h @0 | read 1 @0 | read 1 @1s",
			Why: "what NewTimer sends for a negative duration is past; the docs promise the current time",
		},
		{
			Rule: "CK-ORDER", Schedule: "afterfunc 1 2s @0 | afterfunc 2 1s @0 | idle 10s",
			Why: "functions run in the order in which they were armed",
		},
		{
			Rule: "CK-CTXTREE", Schedule: "timeout 1 1s @0 | idle 1s | timeout 2 1s 1 @1s | idle 1s",
			Why: "a context does not end with its parent, nor has its deadline",
		},
		{
			Rule: "CK-ARMED", Schedule: "timer 1 1s @0 | armed @0 | rearm 1 1s @3s | armed @3s | armed @8s",
			Why: "Advance hangs at a timer that was reset while its last value was not read yet",
		},
		{
			Rule: "CK-DIFF", Schedule: "timer 1 30m @0 | rearm 1 18m @29m30s | read 1 @56m",
			Why: "an armed timer that is reset sends the deadline that it had before",
		},
	}
	quotasKnown = []conformance.Known{
		{
			Rule: "W-PRE", Schedule: "rate=10/1s burst=1 | wait 1 -1ns @0 | allow 1 @0",
			Why: "WaitN takes tokens that are there though its context is done, and returns nil",
		},
		{
			Rule: "RL-TINY", Schedule: "rate=1/2562047h47m16.854775807s burst=1 | allow 1 @0 | allow 1 @0",
			Why: "x/time/rate: a delay of 2^63ns overflows and becomes none (the rest of golang/go#71154)",
		},
		{
			Rule: "X-BACK", Schedule: "",
			Why: "x/time/rate goes back with the clock, and the way on brings tokens again; the docs do not mention it",
		},
	}
	tollboothKnown = []conformance.Known{
		{
			Rule: "RL-TOKENS", Schedule: "rate=10/1s burst=2 | tokens @0",
			Why: "Tokens is 0 before the first request of a key, which gets the burst",
		},
		{
			Rule: "RL-LIM0", Schedule: "rate=0/1s burst=1 | allow 1 @0 | allow 1 @0",
			Why: "a maximum of 0 allows everything: it has an old x/time/rate inside, whose delay overflows",
		},
		{
			Rule: "RL-TINY", Schedule: "rate=1/2562047h47m16.854775807s burst=1 | allow 1 @0 | allow 1 @0",
			Why: "a maximum near 0 allows everything: it has an old x/time/rate inside, whose delay overflows",
		},
		{
			Rule: "X-CFG", Schedule: "rate=1/2562047h47m16.854775807s burst=2147483647 | allow 1 @0 | allow 1 @1h",
			Why: "a new bucket holds what 292 years bring, which may be less than its burst",
		},
	}
	lessKnown = []conformance.Known{{
		Rule: "TH-ONEOF", Schedule: "",
		Why: "of two calls that meet both run; the docs promise \"once within given time interval\"",
	}}
	bundlerKnown = []conformance.Known{{
		Rule: "X-REENT", Schedule: "interval=100ms edges=trailing inside=flush | call 1 @0",
		Why: "Flush waits for the handler to return, and so for itself where that calls it; the docs do not forbid that",
	}}
	bundlesKnown = []conformance.Known{{
		Rule: "X-REENT", Schedule: "size=1 delay=100ms inside=flush | put 1 @0", Why: bundlerKnown[0].Why,
	}, {
		Rule: "BT-STALE", Schedule: "size=2 delay=100ms | put 1 @0 | put 2 @100ms~ | put 3 @100ms~",
		Why: "a timer that has expired when its bundle becomes full handles the next one at once; the docs promise the " +
			"delay \"from the time that the first message is added to a bundle\"",
	}}
	cooldownKnown = []conformance.Known{{
		Rule: "X-REENT", Schedule: "interval=100ms edges=leading inside=stop | call 1 @0",
		Why: "Stop waits for the function to return, and so for itself where that calls it; the docs do not say so",
	}}
	timeoutLimitKnown = []conformance.Known{{
		Rule: "CT-NOLOST", Schedule: "",
		Why: "a Return between the two looks of a Borrow wakes nobody, and the Borrow waits on beside a free slot",
	}}
)
