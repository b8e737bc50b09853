package debouncer

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/escapement-go/escapement/conformance"
	db "github.com/escapement-go/escapement/conformance/debouncertest"
	"github.com/escapement-go/escapement/internal/verb"
)

// choosySpec has the operations ops, and Call.
func choosySpec(source db.TimeSource, tr db.Traits, ways ways, ops ...conformance.Op) db.Spec {
	has := func(op conformance.Op) bool { return slices.Contains(ops, op) }
	spec := db.Spec{Name: "a choosy debouncer", Time: source, Traits: tr}
	build := func(env db.Env, cfg db.Config, fire func([]int)) db.Funcs {
		if tr.MaxWait == 0 {
			cfg.MaxWait = 0 // it has no bound, and not one that nobody has looked at
		}
		d := newChoosy(tr, ways, env.Clock, cfg, fire)
		f := db.Funcs{Call: d.call}
		switch {
		case !has(verb.Cancel):
		case has(reports) || tr.CancelBarrier == db.CommitBarrier:
			f.CancelReports = d.cancel
		default:
			f.Cancel = func() { d.cancel() }
		}
		if has(verb.Flush) {
			f.Flush = d.flush
		}
		if has(verb.Pending) {
			f.Pending = d.isPending
		}
		if has(verb.Stop) {
			f.Stop = d.stop
		}
		if has(verb.Close) {
			f.Close = d.close
		}
		if has(keys) {
			f.CallKey = func(key, v int) { d.of(key).call(v) }
		}
		if has(keys) && has(verb.Cancel) {
			f.CancelKey = func(key int) { d.of(key).cancel() }
		}
		if has(keys) && has(verb.Flush) {
			f.FlushKey = func(key int) { d.of(key).flush() }
		}
		return f
	}
	if tr.Payload == db.AllPayloads {
		spec.NewBatch = build
		return spec
	}
	spec.New = func(env db.Env, cfg db.Config, fire func(int)) db.Funcs {
		return build(env, cfg, func(all []int) {
			switch tr.Payload {
			case db.FirstPayload:
				fire(all[0])
			case db.NoPayload:
				fire(0)
			default:
				fire(all[len(all)-1])
			}
		})
	}
	return spec
}

// every are the operations of a debouncer without keys, beside Call.
func every() []conformance.Op {
	return []conformance.Op{verb.Cancel, verb.Flush, verb.Pending, verb.Stop, verb.Close}
}

// chosen are debouncers with choices drawn from a seed, which is always the same.
// Each choice is made by some.
func chosen(n int) []db.Spec {
	rnd := rand.New(rand.NewPCG(2, 1))
	var out []db.Spec
	for i := range n {
		pick := func(of int) int { return 1 + (i+rnd.IntN(of))%of }
		coin := func() bool { return rnd.IntN(2) == 0 }
		tr := db.Traits{
			Payload: db.Payload(pick(4)), Tie: db.Tie(pick(3)), StaleFire: db.StaleFire(pick(2)),
			CancelBarrier: db.CancelBarrier(pick(3)), AfterCancel: db.AfterCancel(pick(3)),
			StopPending: db.StopPending(pick(2)), ZeroWait: db.ZeroWait(pick(3)), Overlap: db.Overlap(pick(3)),
			BothSingle: db.BothSingle(pick(2)),
			MaxWait:    db.MaxWait(pick(4) - 1), Reentrancy: db.Reentrancy(pick(3) - 1),
			StopBarrier: db.CancelBarrier(pick(2) - 1), CloseFlush: db.CloseFlush(pick(3)),
			ClockBack: db.ClockBack(pick(2) - 1), PanicPolicy: db.PanicPolicy(pick(3) - 1),
		}
		for _, e := range []db.Edges{db.Trailing, db.Leading, db.LeadingAndTrailing, db.NoEdges} {
			if coin() {
				tr.Edges = append(tr.Edges, e)
			}
		}
		if len(tr.Edges) == 0 || len(tr.Edges) == 1 && tr.Edges[0] == db.NoEdges {
			tr.Edges = append(tr.Edges, []db.Edges{db.Trailing, db.Leading, db.LeadingAndTrailing}[i%3])
		}
		if slices.Contains(tr.Edges, db.Trailing) {
			tr.Full = db.Full(i % 3)
		}
		ops := slices.DeleteFunc(append(every(), keys, reports), func(conformance.Op) bool { return !coin() })
		stale := tr.StaleFire == db.StaleAllowed
		ways := ways{
			timersApart: coin() && stale, callsApart: coin(), queues: coin() && stale && tr.Overlap == db.Serial,
			// Nobody tells such a timer that the bound counts from its fire.
			tooLate: coin() && stale && tr.Overlap == db.Parallel && tr.Tie != db.ResetFirst &&
				tr.MaxWait != db.MaxWaitFromFire,
			keepsQueue: coin(), leadsLate: coin(), flushEnds: coin(), fromLead: coin(), inboxFirst: coin(),
			refusesNegative: coin(), leadsAlone: i%5 == 0 && tr.Overlap == db.Serial,
		}
		if i%2 == 0 {
			tr.AfterFlush = map[bool]db.AfterFlush{true: db.FlushEndsBurst, false: db.FlushKeepsBurst}[ways.flushEnds]
		}
		if tr.Overlap == db.SerialReceiver {
			ways.timersApart, ways.callsApart = true, true // it is the receiver that runs them
			tr.StaleFire = db.StaleAllowed
			if tr.ZeroWait == db.ZeroSync {
				tr.ZeroWait = db.ZeroNextTick
			}
		}
		if tr.CancelBarrier == db.FinishBarrier && slices.Contains(ops, verb.Cancel) ||
			tr.ZeroWait == db.ZeroSync && tr.Overlap == db.Serial {
			tr.Reentrancy = db.ReentrancyForbidden
		}
		spec := choosySpec([]db.TimeSource{db.Injected, db.PackageTime}[i%2], tr, ways, ops...)
		spec.Name = fmt.Sprintf("%s %d", spec.Name, i)
		out = append(out, spec)
	}
	return out
}

// Queued are variants of a debouncer that hands what is due to a goroutine of its own, which runs one callback after
// the other and ends when there is none. No method waits for it, save Cancel where it is to wait for the callback that
// runs.
func Queued() []db.Spec {
	variant := func(name string, change func(ways *ways, tr *db.Traits)) db.Spec {
		ways := ways{
			timersApart: true, callsApart: true, queues: true, keepsQueue: true, leadsLate: true, refusesNegative: true,
		}
		tr := Plain()
		tr.AfterFlush = db.FlushKeepsBurst
		change(&ways, &tr)
		spec := choosySpec(db.Injected, tr, ways, every()...)
		spec.Name = "a queue: " + name
		return spec
	}
	return []db.Spec{
		variant("newest", func(*ways, *db.Traits) {}),
		variant("first", func(_ *ways, tr *db.Traits) { tr.Payload = db.FirstPayload }),
		variant("none", func(_ *ways, tr *db.Traits) { tr.Payload = db.NoPayload }),
		variant("all", func(_ *ways, tr *db.Traits) { tr.Payload = db.AllPayloads }),
		variant("twice", func(_ *ways, tr *db.Traits) { tr.BothSingle = db.BothTwice }),
		variant("stop flushes", func(_ *ways, tr *db.Traits) { tr.StopPending = db.StopFlushes }),
		variant("cancel keeps the burst", func(_ *ways, tr *db.Traits) { tr.AfterCancel = db.CancelKeepsBurst }),
		variant("cancel waits for the callback", func(_ *ways, tr *db.Traits) { tr.CancelBarrier = db.FinishBarrier }),
		variant("cancel waits for the callback and drops all until then", func(ways *ways, tr *db.Traits) {
			ways.dropsAll, tr.CancelBarrier = true, db.FinishBarrier
		}),
	}
}
