package debouncer

import (
	db "github.com/escapement-go/escapement/conformance/debouncertest"
)

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
