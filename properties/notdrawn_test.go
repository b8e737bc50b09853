package properties

import (
	"slices"

	"github.com/escapement-go/escapement/internal/zoo"
)

// notDrawn are mutants that the suite catches and properties do not, by rule or by rule and
// name, and why.
var notDrawn = []struct {
	why  string
	what []string
}{
	{"waits below 0 are not drawn", []string{"DB-NEG"}},
	{"the end of an input is not drawn", []string{
		"DB-CLOSE", "TH-CLOSE drops what is pending at the end",
		"TH-CLOSE an error that comes last takes what is pending with it",
		"TH-CLOSE the end of the input leaves what waits for a key",
		"TH-CLOSE the output is closed before what waits has come",
	}},
	{"of a batcher neither its end nor what meets a delay's end is drawn", []string{
		"BT-STALE a late timer takes the next batch", "BT-MEET", "BT-CLOSE accepts after close",
		"BT-CLOSE hands over after close", "X-LEAK close leaves the timer armed",
	}},
	{"a function that takes time takes it each time", []string{
		"LB-SPACE what a slow function holds up leaves in a bunch",
	}},
	{"clocks stand while an operation runs", []string{"X-READ"}},
	{"everything comes to rest after each step", []string{"X-EFFECT"}},
	{"no step does that", []string{"CN-WITHIN", "CN-WINDOW", "GC-FRESH", "TH-CANCEL"}},
	{"errors in a stream are not drawn", []string{"TH-ERR", "TH-ERRNEUT"}},
	{"where requests for more than the limit are clamped each is for one slot", []string{
		"CT-LIMIT gives back more than it took",
	}},
	{"one key is drawn", []string{
		"DB-KEY", "TH-KEY", "TH-STOP stop leaves what waits for a key",
		"TH-CTX a context that ends leaves what waits for a key",
	}},
	{"one instance is drawn", []string{
		"X-ISO instances share an interval", "X-ISO instances share a burst", "X-ISO instances share a payload",
	}},
	{"three keys are drawn", []string{
		"X-ISO keys share sixteen", "X-ISO SlidingLog: keys share sixteen",
		"X-ISO a grain is declared: keys share sixteen", "X-ISO FixedWindow: a grain is declared: keys share sixteen",
		"X-ISO the newest fifty keys are kept", "X-ISO SlidingCounter: the newest fifty keys are kept",
		"X-ISO a hundred keys are forgotten at once", "X-ISO GCRA: a hundred keys are forgotten at once",
		"X-ISO rate in float32: the newest fifty keys are kept",
	}},
	{"limits and bursts are not set where there are keys", []string{
		"X-ISO a change is for the key that was asked last",
		"X-ISO a change is for the first sixteen keys",
		"X-ISO a change forgets all keys but the first", "X-ISO a change empties all keys but the first",
		"X-ISO a change does not concern new keys", "X-ISO a change is retroactive for all keys but the first",
		"X-ISO after a change keys are old that would be full by now",
		"X-ISO after a change keys are old that would be full without it",
	}},
	{"clocks are not set back", []string{
		"X-BACK", "TH-CLOCKBACK",
		"TH-SPACE everything passes until a clock that is set back is where it was",
		"TH-RATE several pass until a clock that is set back is where it was",
		"RL-PAST FixedWindow: a clock that was set back makes a new limiter of it",
		"GC-TAT GCRA: a clock that was set back makes a new limiter of it",
		"LB-SPACE a clock that was set back makes a new bucket of it",
	}},
	{"package time is not moved", []string{
		"X-CLOCK1 arms a timer of package time too",
		"X-CLOCK1 an interval ends on package time too", "X-CLOCK1 the delay ends on package time too",
		"X-CLOCK1 an item leaves on package time too",
		"X-CLOCK1 a deadline is compared with package time",
		"X-CLOCK1 SlidingLog: adds what package time has passed",
		"X-CLOCK1 keys are swept on package time", "X-CLOCK1 FixedWindow: keys are swept on package time",
	}},
	{"a day is a whole number of the windows that are drawn", []string{
		"FW-ALIGNED FixedWindow: windows are counted from 1970", "SC-FIRST SlidingCounter: windows are counted from 1970",
	}},
	{"limits and windows are those of common sense", []string{
		"X-CFG", "RL-INF", "RL-INFOUT", "RL-LIM0", "RL-TINY", "RL-HUGE",
		"CN-LOWER a cancel after an infinite rate takes the tokens again",
		"X-CALLS more than the burst is granted, and when it is paid for is divided by the rate",
		"SL-NORETRO a limit of 0 forgets what has accrued",
		"FW-ALIGNED FixedWindow: the sum with a limit near the largest int overflows",
		"SC-APPROX SlidingCounter: the sum with a limit near the largest int overflows",
		"SW-ANY SlidingLog: the sum with a limit near the largest int overflows",
	}},
	{"waits have no deadlines and are not cancelled", []string{
		"W-PRE", "W-DEAD", "W-DEADEQ", "W-CANCEL", "W-NOLOST", "X-LEAK a cancelled wait leaves a goroutine",
	}},
	{"waits are for one token", []string{
		"RL-NBIG a wait for more than the burst empties the bucket",
		"W-NOSTARVE a request overtakes those who wait",
		"RL-ENV a wait for more than the burst raises it for good",
		"W-EXACT who comes cuts what is kept for a wait for more than the burst",
	}},
	{"limits are not set while somebody waits", []string{"W-WAKE"}},
	{"it takes three reservations and the right cancels, then requests at the right instants", []string{
		"CN-LIFO the third cancel refunds nothing", "CN-ANY a cancel refunds everything",
		"CN-ANY burst of 1 only: a cancel refunds everything",
	}},
	{"looks at a full limiter, a nanosecond apart, are not drawn", []string{
		"RL-NBIG a look at a full bucket adds a unit",
	}},
	{"payloads are all different", []string{"X-RENAME"}},
	{"what items leave to takes no time", []string{
		"LB-EXACT the time that the function takes counts twice",
		"LB-DROP a stop while an item leaves lets what waits leave",
	}},
	{"payloads count from 1", []string{"DB-LIVE a zero payload is no event", "TH-PAY a zero payload is no event"}},
	{"callbacks do not panic", []string{
		"X-PANIC a panic leaves it running", "X-PANIC a panic forgets what waits its turn",
		"X-PANIC a panic on the leading edge wedges it",
		"X-PANIC a panic is swallowed",
		"X-PANIC what a callback that panics has held up is lost",
	}},
	{"callbacks of a throttle take equally long, an interval above 0, and nothing but calls comes meanwhile", []string{
		"TH-BUSY the interval of what waited for a callback counts from that one",
		"TH-BUSY an interval begins before the reader has taken what opens it",
		"TH-ZERO an interval of 0 keeps the newest event only",
		"X-CALLS a stop while a callback runs waits for ever",
		"TH-STOP a stop from the callback lets it run again",
	}},
	{"throttles are not flushed", []string{
		"TH-FLUSH", "TH-STOP flush emits what stop has dropped",
		"TH-NOSPON a timer that a flush overtakes emits all the same",
	}},
	{"callbacks of a throttle bring no events in an interval of 0", []string{
		"TH-ZERO an interval of 0 lasts until a timer ends it, and its callback must not bring events",
	}},
	{"events do not come a little before the end of an interval, but for a nanosecond", []string{
		"TH-SPACE the end of an interval is known to a thousandth of it",
	}},
	{"it takes more than 256 emissions", []string{"TH-RATE counts emissions in a byte"}},
	{"readers do not go", []string{
		"TH-CTX a send does not look at the context",
		"TH-CTX an event that waits for the stream does not look at the context",
	}},
	{"callbacks that must not call the debouncer take no time", []string{
		"DB-OVERLAP a loop starts callbacks that it is to run",
	}},
	{"it takes four calls or five at the right instants", []string{
		"DB-MAXNE a fire of the bound ends the burst",
		"DB-MAXNE a bound on call: a fire of the bound does not clear it",
		"DB-MAXTAIL a bound on call: drops what follows a fire of the bound",
	}},
	{"it takes many calls in an interval, and a reset among them", []string{
		"TH-RESET reset does nothing for several", "TH-RESET a reset of several leaves the interval",
	}},
	{"events are not put in a race with the end of an interval", []string{
		"TH-PAY an event at the very end overtakes what is pending",
		"TH-SPACE a timer that has expired emits all the same",
		"TH-SPACE a timer that has expired takes what is new",
		"TH-RESET a timer that has expired ends the interval after a reset",
		"X-LEAK an interval that ends after stop leaves a goroutine",
	}},
	{"what nobody holds is not released", []string{
		"CT-OVERREL a permit gives its slots back twice",
		"CT-OVERREL a permit that is given back twice gives back another's slots",
		"CT-OVERREL a release looks whether anything is held",
		"CT-OVERREL a release too many raises the limit",
	}},
	{"intervals are whole milliseconds", []string{
		"LB-SPACE no gap is shorter than a nanosecond",
		"CT-TIME a timeout of a nanosecond is none",
	}},
	{"waits and intervals of centuries are not drawn", []string{
		"LB-SPACE the end of an interval is a number of nanoseconds",
		"DB-QUIET the deadline is counted in nanoseconds since the first event",
	}},
	{"intervals of more than a second are not drawn", []string{"GC-EQUIV GCRA: half a billionth of an event is none"}},
	{"periods of a nanosecond, and deadlines a nanosecond apart, are not drawn", []string{
		"CK-TICKARG a ticker of a nanosecond panics",
		"CK-ORDER the heap takes a nanosecond for none",
	}},
	{"items are not put in a race with their turn", []string{
		"LB-SAMEINSTANT a timer that was armed again fires twice",
		"LB-SPACE a timer may be a nanosecond early",
		"LB-SAMEINSTANT a timer whose item was cancelled lets another leave",
		"LB-FIFO overtakes what is due at this instant",
		"LB-DROP a stop as an item leaves lets those behind it leave",
		"LB-CLOSE a close that drops keeps the queue and stops the timer",
	}},
	{"a backlog of 0 is not drawn", []string{
		"LB-BOUND what comes at the end of the interval needs a place to wait",
	}},
	{"no Close comes without a pause", []string{"LB-CLOSE close drops what is about to leave"}},
	{"limits of slots are small", []string{"CT-WORK keeps its limit in a byte"}},
	{"it takes a lighter request behind a heavy one, both waiting, and a limit between them", []string{
		"CT-HEAD who is rejected by a lower limit leaves nobody to be woken",
		"CT-CONV who is rejected by a lower limit does not hear of it",
	}},
	{"no context ends in the very race in which its request is decided", []string{
		"CT-TIE who is rejected as its context ends is told that it runs",
	}},
	{"goroutines are counted when all is over", []string{"X-LEAK a helper stays until the next release"}},
	{"a lower limit is not put in a race", []string{
		"CT-TIE who is cancelled as a lower limit rejects it leaves its place twice",
		"CT-TIE who times out as a lower limit rejects it leaves its place twice",
	}},
	{"Tick is not drawn", []string{"CK-TICK"}},
	{"steps of the wall clock are not drawn", []string{"CK-WALL"}},
	{"3000 schedules do not happen to show it", []string{
		"X-LEAK stop does not stop the timer", "X-LEAK who is stopped leaves his timer armed",
		"GC-RETRY GCRA: retry is cut to whole nanoseconds",
		"CN-ANY a cancel sees four later reservations",
		"W-ERR a cancelled wait returns an error of its own",
		"RL-PAST a reservation in the past rewinds",
		"CN-IDEM a burst each second: a second cancel refunds again",
		"CN-IDEM a cancel that brought less may come again",
		"RL-PAST a late cancel about an earlier instant refunds",
		"CN-ANY reserves only: who is due has nobody behind",
		"RL-N0 a reservation for 0 makes others final", "CN-LIFO a look makes reservations final",
		"DB-MAX a query begins the bound anew",
		"CT-OVERREL a permit of a try gives its slots back twice",
		"CT-FIFO who is gone before it comes turns the queue",
		"CT-HEAD a lower limit rejects only the first of those who wait for more",
		"CT-WORK nobody runs while one waits for more than a lower limit",
		"CT-RESIZE who is rejected by a lower limit does not hear of it",
	}},
	{"it takes a change of limit or burst among several claims, and cancels of them", []string{
		"RL-ENV what two have lost together comes back twice",
		"RL-ENV what comes back of one leaves the room of the next",
		"RL-ENV a cancel brings what would have been lost",
		"CN-UPPER a cancel brings what there was no room for",
		"CN-UPPER the room at an instant is noted once",
		"CN-LIFO a cancel refunds whole tokens only",
		"CN-LIFO a cancel refunds in units of the period of its time",
		"RL-ENV what comes back may be more than the bucket holds",
		"CN-ANY a cancel forgets those who came after a change",
	}},
	{"debts of decades are not drawn", []string{
		"RS-DELAY the next request pays: a debt of more than 73 years is forgiven",
		"RL-ENV the next request pays: what takes centuries to pay is free",
	}},
	{"limits are drawn in one period", []string{"SL-KEEP a limit in another period leaves the units"}},
	{"waits for several tokens, one after the other, are seldom drawn", []string{
		"RL-ENV waits only: a wait for several takes one less",
	}},
	{"bounds shorter than the wait are not drawn", []string{"DB-MAX a bound shorter than the wait is none"}},
	{"programs have no fifteen functions", []string{
		"CK-ORDER Stop among many drops the newest as well", "CK-ORDER what fills a gap in the heap cannot rise",
		"CK-ORDER what is armed rises past a wrong place in the heap",
		"CK-ORDER what fills a gap in the heap looks at a wrong place above it",
		"CK-ORDER what fills a gap in the heap looks at a place too far below it",
	}},
	{"what happens a nanosecond from a tick is not drawn", []string{
		"CK-CHAIN a tick that was dropped a nanosecond ago comes after all",
		"CK-TICKER a ticker is read while others are due, and loses a tick",
	}},
	{"a limiter is not left alone twelve times", []string{
		"RL-CAP each idle time brings an eighth of a token, in whole tokens",
		"RL-CAP Injected: each idle time brings an eighth of a token, in whole tokens",
		"RL-CAP PackageTime: each idle time brings an eighth of a token, in whole tokens",
	}},
	{"requests of a remote limiter do not fail", []string{
		"X-ERR remote: fails closed where it should fail open",
		"X-ERR a remote SlidingLog: fails closed where it should fail open",
		"RL-ENV remote: is new when it can be reached again",
	}},
	{"limits of windows are small", []string{"SC-APPROX SlidingCounter: the window before fades in tenths"}},
	{"it takes a heavy request that is cancelled in the very race in which it gets its slots", []string{
		"CT-TIE gives back one slot when it is cancelled as it gets them",
	}},
	{"waits of more than an hour are not drawn", []string{
		"CK-FUNC the longest wait of a function overflows",
		"CK-TICKER a ticker overflows", "CK-STOP the deadline of a Reset overflows", "CK-TIMER a timer overflows",
	}},
	{"bounds of more than a second are not drawn", []string{
		"DB-MAXNE the bound is 32 bits of microseconds", "DB-MAXNE the bound is a duration since the first event of all",
	}},
	{"silences of more than some waits are not drawn", []string{
		"X-EVICT keys that are idle for ten intervals are forgotten",
		"X-EVICT GCRA: keys that are idle for ten intervals are forgotten",
		"DB-REARM silence is 32 bits of milliseconds",
		"GC-TAT GCRA: what begins an epoch does not count",
		"TH-LEADNEXT silence is 32 bits of milliseconds",
		"TH-LEADNEXT after a hundred years nothing passes",
		"TH-FIRST no emission is one of 146 years ago",
	}},
	{"so many events are not drawn", []string{
		"DB-QUIET a burst holds 63 events",
		"DB-LIVE lost when two wait their turn",
	}},
	{"how many events a burst may hold is not drawn", []string{"DB-FULL"}},
	{"waits of less than a millisecond are not drawn, but none at all", []string{
		"DB-QUIET a wait of a nanosecond is none",
		"DB-QUIET no generation check with a wait of a nanosecond",
		"DB-LEAD1 leads each time with a wait of a nanosecond",
		"DB-EXACT waits a microsecond at least",
	}},
	{"a stop or a wait's end an hour before a timer of months is not drawn", []string{
		"X-LEAK whoever has waited leaves the timer of the timeout armed",
	}},
	{"everything comes to rest between two requests", []string{
		"X-ROW tokens are handed out by a goroutine",
		"X-ROW events are handed out by a goroutine",
	}},
	{"no wait and no edge are not drawn together", []string{"DB-NONE a wait of zero needs no edge"}},
	{"a flush with an edge, and a stop with a bound, are seldom put in a race", []string{
		"DB-FLUSH a flush of what is due leaves it pending",
	}},
	{"it takes events while a callback runs, and a flush, or a bound that passes, before it ends", []string{
		"DB-FLUSH flush while running fires nothing",
		"DB-MAX a bound that passes while a callback runs is none",
	}},
	{"a cancel and an event are not put in a race together", []string{
		"DB-QUIET a new burst is taken for the cancelled one",
		"DB-MAXNE a new burst within a bound is taken for the cancelled one",
	}},
}

// whyNot is why a mutant is not found, "" if it is.
func whyNot(m zoo.Mutant) string {
	for _, n := range notDrawn {
		if slices.Contains(n.what, m.Rule) || slices.Contains(n.what, m.Rule+" "+m.Name) {
			return n.why
		}
	}
	return ""
}
