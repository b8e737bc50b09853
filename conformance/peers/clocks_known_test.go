package peers

import "github.com/escapement-go/escapement/conformance/clocktest"

// What each clock shows instead of what package time shows. All of it is read off
// the smallest schedule, and none of it is judged: that a fake clock differs may be
// what its authors chose.
var (
	clockworkKnown = []clocktest.Known{
		{Rule: "CK-UNREAD", Schedule: "timer 1 1s @0 | halt 1 @1s | read 1 @6s", Why: "halt 1: false, want true (at 1s)"},
		{Rule: "CK-TICKSTOP", Schedule: "ticker 1 1s @0 | rearm 1 700ms @0 | halt 1 @0 | read 1 @5s | read 1 @5.3s | read 1 @6.3s", Why: "read 1: 700ms, want nothing (at 5s)"},
		{Rule: "CK-TICKUNREAD", Schedule: "ticker 1 1s @0 | halt 1 @1s | read 1 @6s | read 1 @6.3s | read 1 @7.3s", Why: "read 1: 1s, want nothing (at 6s)"},
		{Rule: "CK-TICKARG", Schedule: "ticker 1 1s @0 | rearm 1 -1ns @0", Why: "Reset(-1ns) of ticker 1 did not panic, want a panic at 0"},
		{Rule: "CK-CHAN", Schedule: "afterfunc 1 1s @0 | chan 1 @0", Why: "chan 1: nil is false, want nil is true (at 0)"},
		{Rule: "CK-ORDER", Schedule: "afterfunc 1 1s @0 | afterfunc 2 2s @0 | idle 10s", Why: "function 2 runs, want function 1 runs (at 1s)"},
		{Rule: "CK-AT", Schedule: "afterfunc 1 1s @0 | now @f1 | now @5s", Why: "now: 5s, want 1s (at 1s)"},
		{Rule: "CK-CHAIN", Schedule: "afterfunc 1 1s @0 | afterfunc 3 1.3s @f1 | idle 10s", Why: "nothing, want function 3 runs (at 2.3s)"},
		{Rule: "CK-FLOW", Schedule: "sleep 1 1s @0 | afterfunc 2 1s @f1 | idle 5s", Why: "nothing, want function 2 runs (at 2s)"},
		{Rule: "CK-CONTEXT", Schedule: "timeout 1 0 @0 | idle 1s", Why: "a context whose deadline has passed shows none"},
		{Rule: "CK-CTXTREE", Schedule: "timeout 1 1s @0 | idle 1s | timeout 2 1s 1 @1s | idle 1s", Why: "context 2 has ended: deadline exceeded, deadline 2s, want deadline exceeded, deadline 1s (at 1s)"},
		{Rule: "CK-ARMED", Schedule: "timeout 1 1s @0 | cancel 1 @0 | armed @0", Why: "armed: 1, want 0 (at 0)"},
		{Rule: "CK-AWAIT", Schedule: "", Why: "Advance returned before the function that it started had"},
		{Rule: "CK-DIFF", Schedule: "timeout 7 3m 4 @59m | err 7 @1h38m", Why: "err 7: a *fmt.wrapError (clockwork.FakeClock: context deadline exceeded), want context.DeadlineExceeded (at 1h38m)"},
		{Rule: "CK-DIFF", Schedule: "within 4 2 @0 | timeout 7 3m 4 @59m | idle 39m", Why: "context 7 has ended: deadline exceeded, Cause <nil>, deadline 1h2m, want deadline exceeded, deadline 1h2m (at 1h38m)"}, // on Go 1.24
	}
	wrappedKnown = []clocktest.Known{
		{Rule: "CK-UNREAD", Schedule: "timer 1 1s @0 | halt 1 @1s | read 1 @6s", Why: "halt 1: false, want true (at 1s)"},
		{Rule: "CK-TICKSTOP", Schedule: "ticker 1 1s @0 | rearm 1 700ms @0 | halt 1 @0 | read 1 @5s | read 1 @5.3s | read 1 @6.3s", Why: "read 1: 700ms, want nothing (at 5s)"},
		{Rule: "CK-TICKUNREAD", Schedule: "ticker 1 1s @0 | halt 1 @1s | read 1 @6s | read 1 @6.3s | read 1 @7.3s", Why: "read 1: 1s, want nothing (at 6s)"},
		{Rule: "CK-TICKARG", Schedule: "ticker 1 1s @0 | rearm 1 -1ns @0", Why: "Reset(-1ns) of ticker 1 did not panic, want a panic at 0"},
		{Rule: "CK-CHAN", Schedule: "afterfunc 1 1s @0 | chan 1 @0", Why: "chan 1: nil is false, want nil is true (at 0)"},
		{Rule: "CK-REENT", Schedule: "afterfunc 1 1s @0 | timeout 2 1s @f1 | idle 1s", Why: "the context runs on real time"},
		{Rule: "CK-ORDER", Schedule: "afterfunc 1 1s @0 | afterfunc 2 2s @0 | idle 10s", Why: "function 2 runs, want function 1 runs (at 1s)"},
		{Rule: "CK-AT", Schedule: "afterfunc 1 1s @0 | now @f1 | now @5s", Why: "now: 5s, want 1s (at 1s)"},
		{Rule: "CK-CHAIN", Schedule: "afterfunc 1 1s @0 | afterfunc 3 1.3s @f1 | idle 10s", Why: "nothing, want function 3 runs (at 2.3s)"},
		{Rule: "CK-FLOW", Schedule: "sleep 1 1s @0 | afterfunc 2 1s @f1 | idle 5s", Why: "nothing, want function 2 runs (at 2s)"},
		{Rule: "CK-CONTEXT", Schedule: "deadline 1 1s @0 | idle 1s", Why: "the context runs on real time"},
		{Rule: "CK-CTXTREE", Schedule: "timeout 1 1s @0 | timeout 2 1s 1 @0 | idle 1s", Why: "the context runs on real time"},
		{Rule: "CK-ARMED", Schedule: "timeout 1 1s @0 | armed @0 | armed @1s", Why: "the context runs on real time"},
		{Rule: "CK-AWAIT", Schedule: "", Why: "Advance returned before the function that it started had"},
		{Rule: "CK-DIFF", Schedule: "timeout 7 3m 4 @59m | idle 39m", Why: "context 7 is live, deadline 1h41m, want context 7 is live, deadline 1h2m (at 59m)"},
	}
	quartzKnown = []clocktest.Known{
		// Functions of one instant start together; which of them comes first is chance.
		{Rule: "CK-SAME", Schedule: "afterfunc 1 1s @0 | afterfunc 2 1s @0 | halt 1 @f2 | idle 2s", Why: "halt 1: true, but function 1 runs"},
		{Rule: "CK-SAME", Schedule: "afterfunc 1 1s @0 | afterfunc 2 1s @0 | halt 2 @f1 | idle 2s", Why: "halt 2: true, but function 2 runs"},
		{Rule: "CK-UNREAD", Schedule: "timer 1 1s @0 | halt 1 @1s | read 1 @6s", Why: "halt 1: false, want true (at 1s)"},
		{Rule: "CK-TICKUNREAD", Schedule: "ticker 1 1s @0 | rearm 1 700ms @1s | read 1 @6s | read 1 @6.3s | read 1 @7.3s", Why: "read 1: 1s, want 1.7s (at 6s)"},
		{Rule: "CK-TICKARG", Schedule: "ticker 1 1s @0 | rearm 1 -1ns @0", Why: "Reset(-1ns) of ticker 1 did not panic, want a panic at 0"},
		{Rule: "CK-DIFF", Schedule: "timer 8 55m @1h23m | halt 8 @2h24m", Why: "halt 8: false, want true (at 2h24m)"},
	}
	benbjohnsonKnown = []clocktest.Known{
		{Rule: "CK-UNREAD", Schedule: "timer 1 1s @0 | halt 1 @1s | read 1 @6s", Why: "halt 1: false, want true (at 1s)"},
		{Rule: "CK-TICKUNREAD", Schedule: "ticker 1 1s @0 | halt 1 @1s | read 1 @6s | read 1 @6.3s | read 1 @7.3s", Why: "read 1: 1s, want nothing (at 6s)"},
		{Rule: "CK-TICKARG", Schedule: "ticker 1 -1h @0", Why: "NewTicker(-1h) did not panic, want a panic at 0"},
		{Rule: "CK-TICK", Schedule: "", Why: "Tick(0) does not return nil"},
		{Rule: "CK-ZERO", Schedule: "afterfunc 1 -1h @0 | idle 1s", Why: "nothing, want function 1 runs (at 0)"},
		{Rule: "CK-CTXTREE", Schedule: "within 1 @0 | timeout 2 1s 1 @0 | idle 1s | cancel 1 @2s", Why: "context 2 has ended: deadline exceeded, Cause cause 1, deadline 1s, want nothing of the kind"},
		{Rule: "CK-DIFF", Schedule: "timer 5 0 @0 | rearm 5 20m @0 | idle 21m", Why: "idle 21m never returned, or what it waits for never came"},
		{Rule: "X-RACE", Why: "Err of a context reads what the timer writes, without the lock"},
	}
	k8sKnown = []clocktest.Known{
		{Rule: "CK-TIMER", Schedule: "after 1 1s @0 | read 1 @3s", Why: "read 1: 3s, want 1s (at 3s)"},
		{Rule: "CK-STOP", Schedule: "timer 1 1s @0 | read 1 @5s", Why: "read 1: 5s, want 1s (at 5s)"},
		{Rule: "CK-UNREAD", Schedule: "timer 1 1s @0 | halt 1 @1s | read 1 @6s", Why: "halt 1: false, want true (at 1s)"},
		{Rule: "CK-TICKER", Schedule: "ticker 1 1s @0 | read 1 @0 | read 1 @2.5s | read 1 @3.5s", Why: "read 1: 2.5s, want 1s (at 2.5s)"},
		{Rule: "CK-TICKSTOP", Schedule: "ticker 1 1s @0 | read 1 @5s | read 1 @5.3s | read 1 @6.3s", Why: "read 1: 5s, want 1s (at 5s)"},
		{Rule: "CK-TICKUNREAD", Schedule: "ticker 1 1s @0 | halt 1 @1s | read 1 @6s | read 1 @6.3s | read 1 @7.3s", Why: "read 1: 1s, want nothing (at 6s)"},
		{Rule: "CK-TICKARG", Schedule: "ticker 1 -1h @0", Why: "NewTicker(-1h) did not panic, want a panic at 0"},
		{Rule: "CK-ZERO", Schedule: "afterfunc 1 -1h @0 | idle 1s", Why: "nothing, want function 1 runs (at 0)"},
		{Rule: "CK-FUNC", Schedule: "afterfunc 1 1s @0 | halt 1 @0 | rearm 1 1s @0 | rearm 1 1s @1s | idle 5s", Why: "idle 5s never returned, or what it waits for never came"},
		{Rule: "CK-CHAN", Schedule: "afterfunc 1 1s @0 | chan 1 @0", Why: "chan 1: nil is false, want nil is true (at 0)"},
		{Rule: "CK-SLEEP", Schedule: "sleep 1 1s @0 | idle 3s", Why: "sleeper 1 wakes too early, want it at 1s"},
		{Rule: "CK-SAME", Schedule: "afterfunc 1 1s @0 | afterfunc 3 1s @0 | sleep 2 600ms @400ms | idle 400ms", Why: "function 1 runs, want nothing of the kind"},
		{Rule: "CK-REENT", Schedule: "afterfunc 1 1s @0 | timer 2 5s @0 | now @f1 | idle 1s | idle 1.3s", Why: "a method of the clock that a function called never returned"},
		{Rule: "CK-ORDER", Schedule: "afterfunc 1 2s @0 | afterfunc 2 1s @0 | idle 10s", Why: "function 1 runs, want function 2 runs (at 1s)"},
		{Rule: "CK-FLOW", Schedule: "ticker 1 1s @0 | consume 2 1 @0 | idle 10.5s", Why: "consumer 2 receives 10.5s, want consumer 2 receives 1s (at 1s)"},
		{Rule: "CK-DIFF", Schedule: "ticker 1 17m @0 | consume 4 1 @12m | idle 52m", Why: "consumer 4 receives 1h4m, want consumer 4 receives 17m (at 17m)"},
	}
	tilinnaKnown = []clocktest.Known{
		{Rule: "CK-UNREAD", Schedule: "timer 1 1s @0 | halt 1 @1s | read 1 @6s", Why: "halt 1: false, want true (at 1s)"},
		{Rule: "CK-TICKUNREAD", Schedule: "ticker 1 1s @0 | halt 1 @1s | read 1 @6s | read 1 @6.3s | read 1 @7.3s", Why: "read 1: 1s, want nothing (at 6s)"},
		{Rule: "CK-ORDER", Schedule: "afterfunc 1 1s @0 | afterfunc 2 2s @0 | idle 10s", Why: "function 2 runs, want function 1 runs (at 1s)"},
		{Rule: "CK-AT", Schedule: "afterfunc 1 1s @0 | now @f1 | now @5s", Why: "now: 5s, want 1s (at 1s)"},
		{Rule: "CK-CHAIN", Schedule: "afterfunc 1 1s @0 | afterfunc 3 1.3s @f1 | idle 10s", Why: "nothing, want function 3 runs (at 2.3s)"},
		{Rule: "CK-FLOW", Schedule: "sleep 1 1s @0 | afterfunc 2 1s @f1 | idle 5s", Why: "nothing, want function 2 runs (at 2s)"},
		{Rule: "CK-CONTEXT", Schedule: "deadline 1 0 @0 | idle 1s", Why: "context 1 is live, deadline 0, want context 1 has ended: deadline exceeded, deadline 0 (at 0)"},
		{Rule: "CK-CTXTREE", Schedule: "timeout 1 10s @0 | timeout 2 1s 1 @0 | idle 1s | cancel 1 @2s", Why: "context 2 has ended: deadline exceeded, Cause canceled, deadline 1s, want nothing of the kind"},
		{Rule: "CK-AWAIT", Schedule: "", Why: "Advance returned before the function that it started had"},
		{Rule: "CK-DIFF", Schedule: "sleep 5 17m @0 | now @f5 | idle 38m", Why: "now: 38m, want 17m (at 17m)"},
	}
	clockzKnown = []clocktest.Known{
		{Rule: "CK-TIMER", Schedule: "after 1 1s @0 | read 1 @3s", Why: "read 1: 3s, want 1s (at 3s)"},
		{Rule: "CK-STOP", Schedule: "timer 1 1s @0 | read 1 @5s", Why: "read 1: 5s, want 1s (at 5s)"},
		{Rule: "CK-UNREAD", Schedule: "timer 1 1s @0 | halt 1 @1s | read 1 @6s", Why: "halt 1: false, want true (at 1s)"},
		{Rule: "CK-TICKER", Schedule: "ticker 1 1s @0 | read 1 @2.5s | read 1 @3.5s", Why: "read 1: 2.5s, want 1s (at 2.5s)"},
		{Rule: "CK-TICKSTOP", Schedule: "ticker 1 1s @0 | read 1 @5s | read 1 @5.3s | read 1 @6.3s", Why: "read 1: 5s, want 1s (at 5s)"},
		{Rule: "CK-TICKUNREAD", Schedule: "ticker 1 1s @0 | halt 1 @1s | read 1 @6s | read 1 @6.3s | read 1 @7.3s", Why: "read 1: 1s, want nothing (at 6s)"},
		{Rule: "CK-ZERO", Schedule: "afterfunc 1 -1h @0 | idle 1s", Why: "nothing, want function 1 runs (at 0)"},
		{Rule: "CK-FUNC", Schedule: "afterfunc 1 1s @0 | rearm 1 1s @1s | idle 5s", Why: "nothing, want function 1 runs (at 2s)"},
		{Rule: "CK-REENT", Schedule: "afterfunc 1 1s @0 | timer 2 5s @0 | now @f1 | idle 1s | idle 1.3s", Why: "a method of the clock that a function called never returned"},
		{Rule: "CK-FLOW", Schedule: "ticker 1 1s @0 | consume 2 1 @0 | idle 10.5s", Why: "consumer 2 receives 10.5s, want consumer 2 receives 1s (at 1s)"},
		{Rule: "CK-CTXTREE", Schedule: "timeout 1 1s @0 | idle 1s | timeout 2 1s 1 @1s | idle 1s", Why: "context 2 has ended: deadline exceeded, deadline 2s, want deadline exceeded, deadline 1s (at 1s)"},
		{Rule: "CK-AWAIT", Schedule: "", Why: "Advance returned before the sleeper that it woke had run"},
		{Rule: "CK-DIFF", Schedule: "timer 8 0 @0 | read 8 @8m", Why: "read 8: 8m, want 0 (at 8m)"},
	}
	jujuKnown = []clocktest.Known{
		{Rule: "CK-TIMER", Schedule: "after 1 1s @0 | read 1 @3s", Why: "read 1: 3s, want 1s (at 3s)"},
		{Rule: "CK-STOP", Schedule: "timer 1 1s @0 | read 1 @5s", Why: "read 1: 5s, want 1s (at 5s)"},
		{Rule: "CK-UNREAD", Schedule: "timer 1 1s @0 | halt 1 @1s | read 1 @6s", Why: "halt 1: false, want true (at 1s)"},
		{Rule: "CK-ORDER", Schedule: "afterfunc 1 1s @0 | afterfunc 2 2s @0 | idle 10s", Why: "function 2 runs, want function 1 runs (at 1s)"},
		{Rule: "CK-AT", Schedule: "afterfunc 1 1s @0 | now @f1 | now @5s", Why: "now: 5s, want 1s (at 1s)"},
		{Rule: "CK-CHAIN", Schedule: "afterfunc 1 1s @0 | afterfunc 3 1.3s @f1 | idle 10s", Why: "nothing, want function 3 runs (at 2.3s)"},
		{Rule: "CK-FLOW", Schedule: "after 1 1s @0 | consume 2 1 @0 | after 1 1s @f2 | idle 5s", Why: "consumer 2 receives 5s, want consumer 2 receives 1s (at 1s)"},
		{Rule: "CK-AWAIT", Schedule: "", Why: "Advance returned before the function that it started had"},
		{Rule: "CK-DIFF", Schedule: "timer 7 16m @2m | consume 10 7 @19m", Why: "consumer 10 receives 19m, want consumer 10 receives 18m (at 19m)"},
	}
)

// presetKnown is what the same clocks show besides when they declare what they are.
var presetKnown = map[string][]clocktest.Known{
	"clockwork": {
		{Rule: "CK-DIFF", Schedule: "deadline 7 27m 7 @0 | err 7 @8m", Why: "err 7: blocks, want nil (at 8m)"},
	},
	"k8s": {
		{Rule: "CK-FLOW", Schedule: "sleep 1 1s @0 | afterfunc 2 1s @f1 | idle 5s", Why: "sleeper 1 wakes too early, want it at 1s"},
		{Rule: "CK-DIFF", Schedule: "ticker 1 17m @0 | consume 4 1 @12m | idle 24m", Why: "consumer 4 receives 36m, want consumer 4 receives 17m (at 17m)"},
	},
	"juju": {
		{Rule: "CK-DIFF", Schedule: "after 1 2m @16m | read 1 @1h45m", Why: "read 1: 1h45m, want 18m (at 1h45m)"},
	},
}
