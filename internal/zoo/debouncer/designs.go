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
func plain(change func(d *db.Traits)) db.Traits {
	tr := trailingTraits
	change(&tr)
	return tr
}

// design is a correct debouncer under a name.
type design struct {
	name string
	spec db.Spec
}

// designs are debouncers of very different makes, each with the choices that its make
// implies.
func designs(source db.TimeSource) []design {
	spec := func(traits db.Traits, build func(clock clockwork.Clock, cfg db.Config, fire func(int)) db.Funcs) db.Spec {
		return db.Spec{Time: source, Traits: traits,
			New: func(env db.Env, cfg db.Config, fire func(int)) db.Funcs { return build(env.Clock, cfg, fire) }}
	}
	serialLoop := plain(func(d *db.Traits) { d.Overlap, d.Reentrancy = db.Serial, db.ReentrancyForbidden })
	lodash := db.Lodash()
	lodash.ClockBack = db.BackStands
	all := []db.Edges{db.Trailing, db.Leading, db.LeadingAndTrailing}
	looped := func(traits db.Traits, buffer int, apart bool) db.Spec {
		return spec(traits, func(clock clockwork.Clock, cfg db.Config, fire func(int)) db.Funcs {
			d := newLoop(clock, cfg.Wait, fire, buffer, apart)
			return db.Funcs{Call: d.call, CancelReports: func() bool { return d.ask(d.cancels) },
				Pending: func() bool { return d.ask(d.asks) }, Stop: d.stop}
		})
	}
	stale := plain(func(d *db.Traits) { d.StaleFire = db.StaleAllowed })
	choosing := func(traits db.Traits, ways ways, ops ...conformance.Op) db.Spec {
		has := map[conformance.Op]bool{}
		for _, op := range ops {
			has[op] = true
		}
		return choosySpec(source, traits, ways, has)
	}
	return []design{
		{"a timer for each call", spec(plain(func(d *db.Traits) {
			d.Tie, d.CancelBarrier = db.ResetFirst, db.CommitBarrier
		}),
			func(clock clockwork.Clock, cfg db.Config, fire func(int)) db.Funcs {
				d := &perCallTimer{clock: clock, wait: cfg.Wait, fire: fire}
				return db.Funcs{Call: d.call, CancelReports: d.cancel, Flush: d.flush,
					Pending: d.isPending, Stop: d.stop}
			})},
		{"a timer for each call, one callback at a time", spec(plain(func(d *db.Traits) {
			d.Tie, d.CancelBarrier, d.Overlap = db.ResetFirst, db.CommitBarrier, db.Serial
			d.Reentrancy = db.ReentrancyForbidden
		}),
			func(clock clockwork.Clock, cfg db.Config, fire func(int)) db.Funcs {
				d := &perCallTimer{clock: clock, wait: cfg.Wait, fire: oneByOne(fire)}
				return db.Funcs{Call: d.call, CancelReports: d.cancel, Pending: d.isPending}
			})},
		{"a loop that runs callbacks", looped(serialLoop, 0, false)},
		{"a loop that starts callbacks", looped(stale, 0, true)},
		{"a loop behind a queue", looped(stale, 64, true)},
		{"a loop that is told to end", spec(plain(func(d *db.Traits) {
			d.StaleFire, d.StopBarrier = db.StaleAllowed, db.NoBarrier
		}),
			func(clock clockwork.Clock, cfg db.Config, fire func(int)) db.Funcs {
				d := newLoop(clock, cfg.Wait, fire, 0, true)
				return db.Funcs{Call: d.call, CancelReports: func() bool { return d.ask(d.cancels) },
					Stop: sync.OnceFunc(func() { close(d.done) })}
			})},
		{"a loop behind a queue that runs callbacks", spec(plain(func(d *db.Traits) {
			d.StaleFire, d.Overlap = db.StaleAllowed, db.SerialReceiver
		}),
			func(clock clockwork.Clock, cfg db.Config, fire func(int)) db.Funcs {
				d := newLoop(clock, cfg.Wait, fire, 64, false)
				return db.Funcs{Call: d.call, Stop: sync.OnceFunc(func() { close(d.done) })}
			})},
		{"a receiver that is handed what fires", choosing(plain(func(d *db.Traits) {
			d.StaleFire, d.Overlap, d.StopBarrier = db.StaleAllowed, db.Serial, db.NoBarrier
		}), ways{timersApart: true, callsApart: true, queues: true}, verb.Stop)},
		{"a goroutine and a context for each call", spec(trailingTraits,
			func(clock clockwork.Clock, cfg db.Config, fire func(int)) db.Funcs {
				d := &contexts{clock: clock, wait: cfg.Wait, fire: fire}
				return db.Funcs{Call: d.call, Cancel: d.drop}
			})},
		{"a worker on a condition", spec(plain(func(d *db.Traits) {
			d.Tie, d.Overlap, d.CancelBarrier, d.ClockBack = db.ResetFirst, db.Serial, db.CommitBarrier, db.BackStands
		}),
			func(clock clockwork.Clock, cfg db.Config, fire func(int)) db.Funcs {
				d := newCondition(clock, cfg.Wait, fire)
				return db.Funcs{Call: d.call, CancelReports: d.cancel, Flush: d.flush,
					Pending: d.isPending, Stop: d.stop}
			})},
		{"two timers that refuse what is short", refusing(choosing(plain(func(d *db.Traits) {
			d.MaxWait, d.ZeroWait = db.MaxWaitFromFirst, db.ZeroRefused
		}), ways{flushEnds: true}, verb.Cancel, verb.Flush))},
		{"times of the last call and fire", spec(lodash,
			func(clock clockwork.Clock, cfg db.Config, fire func(int)) db.Funcs {
				d := &lastCallTime{clock: clock, cfg: cfg, fire: fire}
				return db.Funcs{Call: d.call, Cancel: d.cancel, Flush: d.flush, Pending: d.isPending}
			})},
		{"a stamp, quiet from the wait on", spec(db.Traits{Edges: []db.Edges{db.Leading}, Payload: db.LastPayload},
			func(clock clockwork.Clock, cfg db.Config, fire func(int)) db.Funcs {
				quiet := func(gap time.Duration) bool { return gap >= cfg.Wait }
				return db.Funcs{Call: stampOnly(clock, cfg.Wait, fire, quiet)}
			})},
		{"a stamp, quiet after the wait", spec(db.Traits{Edges: []db.Edges{db.Leading}, Payload: db.LastPayload},
			func(clock clockwork.Clock, cfg db.Config, fire func(int)) db.Funcs {
				quiet := func(gap time.Duration) bool { return gap > cfg.Wait }
				return db.Funcs{Call: stampOnly(clock, cfg.Wait, fire, quiet)}
			})},
		{"a timer that nobody takes back", choosing(plain(func(d *db.Traits) {
			d.StaleFire, d.AfterCancel, d.Payload = db.StaleAllowed, db.CancelFinal, db.NoPayload
		}), ways{tooLate: true}, verb.Cancel)},
		{"callers fire what is overdue", inTurn(choosing(plain(func(d *db.Traits) {
			d.Tie, d.Payload, d.StopPending = db.FireFirst, db.FirstPayload, db.StopFlushes
		}), ways{}, verb.Stop))},
		{"cancel waits for the callback", choosing(plain(func(d *db.Traits) {
			d.Tie, d.CancelBarrier = db.ResetFirst, db.FinishBarrier
			d.ZeroWait, d.Reentrancy = db.ZeroRefused, db.ReentrancyForbidden
		}), ways{}, verb.Cancel)},
		{"a state machine, twice", choosing(plain(func(d *db.Traits) { d.Edges, d.BothSingle = all, db.BothTwice }),
			ways{}, verb.Cancel)},
	}
}

// inTurn is a debouncer whose callbacks run under a lock of their own.
func inTurn(spec db.Spec) db.Spec {
	made := spec.New
	spec.Traits.Overlap, spec.Traits.Reentrancy = db.Serial, db.ReentrancyForbidden
	spec.New = func(env db.Env, cfg db.Config, fire func(int)) db.Funcs { return made(env, cfg, oneByOne(fire)) }
	return spec
}

// refusing is a debouncer whose constructor takes no short wait, and no bound that is shorter than the wait.
func refusing(spec db.Spec) db.Spec {
	made := spec.New
	spec.New = func(env db.Env, cfg db.Config, fire func(int)) db.Funcs {
		if cfg.Wait < time.Millisecond || cfg.MaxWait > 0 && cfg.MaxWait < cfg.Wait {
			panic("wait must be >= 1ms, and the bound not shorter")
		}
		return made(env, cfg, fire)
	}
	return spec
}
