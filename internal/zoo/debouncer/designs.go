package debouncer

import (
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/escapement-go/escapement/conformance"
	db "github.com/escapement-go/escapement/conformance/debouncertest"
	"github.com/escapement-go/escapement/internal/verb"
)

// trailingTraits are those of a plain trailing debouncer whose callbacks run on
// timers' goroutines.
var trailingTraits = db.Traits{
	Edges: []db.Edges{db.Trailing}, Payload: db.LastPayload, Tie: db.EitherTie, StaleFire: db.StaleForbidden,
	CancelBarrier: db.NoBarrier, AfterCancel: db.CancelReusable, StopPending: db.StopDrops, ZeroWait: db.ZeroNextTick,
	Overlap: db.Parallel,
}

// plain returns the traits of a plain trailing debouncer with some changed.
func plain(change func(tr *db.Traits)) db.Traits {
	tr := trailingTraits
	change(&tr)
	return tr
}

// build makes a debouncer.
type build func(clock clockwork.Clock, cfg db.Config, fire func(int)) db.Funcs

// made describes what is built.
func made(source db.TimeSource, traits db.Traits, build build) db.Spec {
	return db.Spec{Time: source, Traits: traits,
		New: func(env db.Env, cfg db.Config, fire func(int)) db.Funcs { return build(env.Clock, cfg, fire) }}
}

// design is a correct debouncer under a name.
type design struct {
	name string
	spec db.Spec
}

// designs are debouncers of very different makes, each with the choices that its make
// implies.
func designs(source db.TimeSource) []design {
	of := func(change func(tr *db.Traits), build build) db.Spec { return made(source, plain(change), build) }
	choosing := func(change func(tr *db.Traits), ways ways, ops ...conformance.Op) db.Spec {
		return choosySpec(source, plain(change), ways, ops...)
	}
	looped := func(change func(tr *db.Traits), buffer int, apart bool) db.Spec {
		return of(change, func(clock clockwork.Clock, cfg db.Config, fire func(int)) db.Funcs {
			d := newLoop(clock, cfg.Wait, fire, buffer, apart)
			return db.Funcs{Call: d.call, CancelReports: func() bool { return d.ask(d.cancels) },
				Pending: func() bool { return d.ask(d.asks) }, Stop: d.stop}
		})
	}
	stamp := func(quiet func(gap, wait time.Duration) bool) db.Spec {
		return made(source, db.Traits{Edges: []db.Edges{db.Leading}, Payload: db.LastPayload},
			func(clock clockwork.Clock, cfg db.Config, fire func(int)) db.Funcs {
				ends := func(gap time.Duration) bool { return quiet(gap, cfg.Wait) }
				return db.Funcs{Call: stampOnly(clock, fire, ends)}
			})
	}
	lodash := db.Lodash()
	lodash.ClockBack = db.BackStands
	stale := func(tr *db.Traits) { tr.StaleFire = db.StaleAllowed }
	return []design{
		{"a timer for each call", of(func(tr *db.Traits) { tr.Tie, tr.CancelBarrier = db.ResetFirst, db.CommitBarrier },
			func(clock clockwork.Clock, cfg db.Config, fire func(int)) db.Funcs {
				d := onlyTrailing(clock, cfg.Wait, fire)
				return db.Funcs{Call: d.call, CancelReports: d.cancel, Flush: d.flush,
					Pending: d.isPending, Stop: d.stop}
			})},
		{"a timer for each call, one callback at a time", of(func(tr *db.Traits) {
			tr.Tie, tr.CancelBarrier, tr.Overlap = db.ResetFirst, db.CommitBarrier, db.Serial
			tr.Reentrancy = db.ReentrancyForbidden
		}, func(clock clockwork.Clock, cfg db.Config, fire func(int)) db.Funcs {
			d := onlyTrailing(clock, cfg.Wait, oneByOne(fire))
			return db.Funcs{Call: d.call, CancelReports: d.cancel, Pending: d.isPending}
		})},
		{"a loop that runs callbacks", looped(func(tr *db.Traits) {
			tr.Overlap, tr.Reentrancy = db.Serial, db.ReentrancyForbidden
		}, 0, false)},
		{"a loop that starts callbacks", looped(stale, 0, true)},
		{"a loop behind a queue", looped(stale, 64, true)},
		{"a loop that is told to end", of(func(tr *db.Traits) {
			tr.StaleFire, tr.StopBarrier = db.StaleAllowed, db.NoBarrier
		}, func(clock clockwork.Clock, cfg db.Config, fire func(int)) db.Funcs {
			d := newLoop(clock, cfg.Wait, fire, 0, true)
			return db.Funcs{Call: d.call, CancelReports: func() bool { return d.ask(d.cancels) }, Stop: d.end}
		})},
		{"a loop behind a queue that runs callbacks", of(func(tr *db.Traits) {
			tr.StaleFire, tr.Overlap = db.StaleAllowed, db.SerialReceiver
		}, func(clock clockwork.Clock, cfg db.Config, fire func(int)) db.Funcs {
			d := newLoop(clock, cfg.Wait, fire, 64, false)
			return db.Funcs{Call: d.call, Stop: d.end}
		})},
		{"a receiver that is handed what fires", choosing(func(tr *db.Traits) {
			tr.StaleFire, tr.Overlap, tr.StopBarrier = db.StaleAllowed, db.Serial, db.NoBarrier
		}, ways{timersApart: true, callsApart: true, queues: true}, verb.Stop)},
		{"a goroutine and a context for each call", contextsSpec(source, false)},
		{"a worker on a condition", of(func(tr *db.Traits) {
			tr.Tie, tr.Overlap = db.ResetFirst, db.Serial
			tr.CancelBarrier, tr.ClockBack = db.CommitBarrier, db.BackStands
		}, func(clock clockwork.Clock, cfg db.Config, fire func(int)) db.Funcs {
			d := newCondition(clock, cfg.Wait, fire)
			return db.Funcs{Call: d.call, CancelReports: d.cancel, Flush: d.flush, Pending: d.isPending, Stop: d.stop}
		})},
		{"two timers that refuse what is short", refusing(choosing(func(tr *db.Traits) {
			tr.MaxWait, tr.ZeroWait = db.MaxWaitFromFirst, db.ZeroRefused
		}, ways{flushEnds: true}, verb.Cancel, verb.Flush))},
		{"times of the last call and fire", made(source, lodash,
			func(clock clockwork.Clock, cfg db.Config, fire func(int)) db.Funcs {
				d := &lastCallTime{clock: clock, cfg: cfg, fire: fire}
				return db.Funcs{Call: d.call, Cancel: d.cancel, Flush: d.flush, Pending: d.isPending}
			})},
		{"a stamp, quiet from the wait on", stamp(func(gap, wait time.Duration) bool { return gap >= wait })},
		{"a stamp, quiet after the wait", stamp(func(gap, wait time.Duration) bool { return gap > wait })},
		{"a timer that nobody takes back", choosing(func(tr *db.Traits) {
			tr.StaleFire, tr.AfterCancel, tr.Payload = db.StaleAllowed, db.CancelFinal, db.NoPayload
		}, ways{tooLate: true}, verb.Cancel)},
		{"callers fire what is overdue", inTurn(choosing(func(tr *db.Traits) {
			tr.Tie, tr.Payload, tr.StopPending = db.FireFirst, db.FirstPayload, db.StopFlushes
		}, ways{}, verb.Stop))},
		{"cancel waits for the callback", choosing(func(tr *db.Traits) {
			tr.Tie, tr.CancelBarrier = db.ResetFirst, db.FinishBarrier
			tr.ZeroWait, tr.Reentrancy = db.ZeroRefused, db.ReentrancyForbidden
		}, ways{}, verb.Cancel)},
		{"a state machine, twice", choosing(func(tr *db.Traits) {
			tr.Edges, tr.BothSingle = []db.Edges{db.Trailing, db.Leading, db.LeadingAndTrailing}, db.BothTwice
		}, ways{}, verb.Cancel)},
	}
}

// oneByOne runs a callback under a lock. The function of the next timer waits for it meanwhile.
func oneByOne(fire func(int)) func(int) {
	var mu sync.Mutex
	return func(v int) {
		mu.Lock()
		defer mu.Unlock()
		fire(v)
	}
}

// inTurn is a debouncer whose callbacks run under a lock of their own.
func inTurn(spec db.Spec) db.Spec {
	inner := spec.New
	spec.Traits.Overlap, spec.Traits.Reentrancy = db.Serial, db.ReentrancyForbidden
	spec.New = func(env db.Env, cfg db.Config, fire func(int)) db.Funcs { return inner(env, cfg, oneByOne(fire)) }
	return spec
}

// refusing is a debouncer whose constructor takes no short wait, and no bound that is shorter than the wait.
func refusing(spec db.Spec) db.Spec {
	inner := spec.New
	spec.New = func(env db.Env, cfg db.Config, fire func(int)) db.Funcs {
		if cfg.Wait < time.Millisecond || cfg.MaxWait > 0 && cfg.MaxWait < cfg.Wait {
			panic("wait must be >= 1ms, and the bound not shorter")
		}
		return inner(env, cfg, fire)
	}
	return spec
}
