package debouncer

import (
	db "github.com/escapement-go/escapement/conformance/debouncertest"
)

// trailingSpec describes it.
func trailingSpec(mutant string, source db.TimeSource) db.Spec {
	var shared *trailing
	return db.Spec{
		Name: "zoo: " + mutant,
		Time: source,
		New: func(env db.Env, cfg db.Config, fire func(int)) db.Funcs {
			d := newTrailing(env.Clock, cfg.Wait, fire, mutant)
			if shared != nil && shared.clock == env.Clock && mutant == "instances share a burst" {
				d.shared = shared
			}
			shared = d
			return db.Funcs{Call: d.call, CallKey: func(key, v int) { d.of(key).call(v) }, CancelReports: d.cancel,
				Flush: d.flushAll, Pending: d.isPending, Stop: d.stopAll, Close: d.endAll}
		},
		Traits: plain(func(tr *db.Traits) {
			tr.Tie, tr.CancelBarrier, tr.ZeroWait, tr.Overlap = db.ResetFirst, db.CommitBarrier, db.ZeroSync, db.Serial
			tr.CloseFlush, tr.ClockBack, tr.PanicPolicy = db.CloseFires, db.BackBounded, db.PanicPropagates
		}),
	}
}

// waitsItOut is a mistake that on an injected clock would wait for ever.
const waitsItOut = "stop waits until the pending event has fired"

// trailingMutants are the other mistakes, with the rule that must catch each.
var trailingMutants = []mistake{
	{"not reset by later events", "DB-QUIET"},
	{"fires 1ns early", "DB-QUIET"},
	{"fires 1ns late", "DB-EXACT"},
	{"waits a microsecond at least", "DB-EXACT"},
	{"a wait of a nanosecond is none", "DB-QUIET"},
	{"rounds the wait to milliseconds", "DB-QUIET"},
	{"wait is 32 bits", "DB-QUIET"},
	{"the deadline is counted in nanoseconds since 1970", "DB-QUIET"},
	{"the deadline is counted in nanoseconds since the first event", "DB-QUIET"},
	{"old timers go on", "DB-ONE"},
	{"fires twice", "DB-IDLE"},
	{"keeps the first payload", "DB-LAST"},
	{"a burst holds 63 events", "DB-QUIET"},
	{"no fire at all for one event", "DB-LIVE"},
	{"fires only once ever", "DB-LIVE"},
	{"lost while running", "DB-LIVE"},
	{"lost when two wait their turn", "DB-LIVE"},
	{"clears after the callback", "DB-LIVE"},
	{"drops what came due while running", "DB-LIVE"},
	{"what came due while running takes the newer event", "DB-QUIET"},
	{"fires again when idle", "DB-IDLE"},
	{"hands out another payload", "DB-SUBSEQ"},
	{"waits half as long after a fire", "DB-GAPRATE"},
	{"a late event lets the old one fire first", "DB-TIE"},
	{"panics on the third event", "X-CALLS"},
	{"keeps a lock when nothing is cancelled", "X-CALLS"},
	{"keeps a lock when a timer fires for nothing", "X-CALLS"},
	{"looks again for no time", "X-CALLS"},
	{"stop waits for a goroutine that is gone", "X-CALLS"},
	{"no generation check", "DB-NOSTALE"},
	{"no generation check with a wait of a nanosecond", "DB-QUIET"},
	{"cancel does nothing", "DB-CANCEL"},
	{"cancel is final", "DB-REUSE"},
	{"cancel only drops the payload", "DB-CANCELBAR"},
	{"cancel only stops the timer", "DB-CANCELBAR"},
	{"cancel always reports true", "DB-CANCELBAR"},
	{"cancel reports what is running", "DB-CANCELBAR"},
	{"cancel reports what waits its turn", "DB-CANCELBAR"},
	{"a new burst is taken for the cancelled one", "DB-QUIET"},
	{"a timer that meets a cancel takes the next event with it", "DB-LIVE"},
	{"flush does nothing", "DB-FLUSH"},
	{leavesDue, "DB-FLUSH"},
	{"flush while running fires nothing", "DB-FLUSH"},
	{"flush fires without an event", "DB-FLUSH0"},
	{"flush keeps the timer", "DB-IDLE"},
	{"flush looks and fires under two locks", "X-CONC"},
	{"pending while running", "DB-PEND"},
	{"nothing is pending while running", "DB-PEND"},
	{"what has run is pending until its callback ends", "DB-PEND"},
	{"what waits its turn is not pending, and can be cancelled", "DB-PEND"},
	{"what stop has dropped is pending for good", "DB-PEND"},
	{"stop lets the pending event fire", "DB-STOP"},
	{"stop keeps what waits its turn", "DB-STOP"},
	{"call after stop works", "DB-STOP"},
	{"second stop panics", "DB-STOP"},
	{"flush fires what stop has dropped", "DB-STOP"},
	{"cancel after stop revives it", "DB-STOP"},
	{"deaf until the cancelled deadline", "DB-LIVE"},
	{"zero wait never fires", "DB-ZERO"},
	{"a negative wait never fires", "DB-NEG"},
	{"callbacks overlap", "DB-OVERLAP"},
	{"callback under the lock", "X-REENT"},
	{"the end waits for the callback", "X-REENT"},
	{"goroutine left behind", "X-LEAK"},
	{"stop leaves the timer armed", "X-LEAK"},
	{"arms its timer again behind the callback", "X-LEAK"},
	{"a timer that comes too late leaves a goroutine", "X-LEAK"},
	{"a zero payload is no event", "DB-LIVE"},
	{"drops what is pending at the end", "DB-CLOSE"},
	{"the end leaves what waits for a key", "DB-CLOSE"},
	{"drops what waits its turn at the end", "DB-CLOSE"},
	{"fires at the end what was cancelled", "DB-CLOSE"},
	{"keys share a wait", "DB-KEY"},
	{"keys share sixteen waits", "DB-KEY"},
	{"forgets all keys for a ninth", "DB-KEY"},
	{"keys that came a wait ago are swept", "DB-KEY"},
	{"keys that came a minute ago are swept", "DB-KEY"},
	{"a flush fires for each key what is pending of the first", "DB-KEY"},
	{"a panic in a flush forgets what waits for other keys", "DB-KEY"},
	{"instances share a burst", "X-ISO"},
	{"waits for the clock to come back", "X-BACK"},
	{"waits on what was set back", "X-BACK"},
	{"arms a timer of package time too", "X-CLOCK1"},
	{"a panic leaves it running", "X-PANIC"},
	{"a panic is swallowed", "X-PANIC"},
	{"a panic forgets what waits its turn", "X-PANIC"},
}
