package debouncertest

// The functions below return the traits of well-known libraries, as a start. The tests of
// this module prove each on the library that it names; Lodash, on a debouncer in Go that
// decides as lodash does.

// Lodash are the traits of a debouncer that decides as lodash's does, by the times of the
// last call and of the last fire: every edge, a bound that counts from the fire before, a
// burst of one event that fires once and goes on after a flush, and a cancel that forgets all. Callbacks run on timers.
func Lodash() Traits {
	tr := BepDebounce()
	tr.Edges = []Edges{Trailing, Leading, LeadingAndTrailing}
	tr.Tie, tr.StaleFire = ResetFirst, StaleForbidden
	tr.CancelBarrier, tr.AfterCancel = NoBarrier, CancelReusable
	tr.BothSingle, tr.MaxWait, tr.AfterFlush = BothOnce, MaxWaitFromFire, FlushKeepsBurst
	return tr
}

// BepDebounce are the traits of github.com/bep/debounce, and of others in which each call
// stops the timer of the one before it and starts another with time.AfterFunc: a timer that
// has expired is not taken back, and callbacks run on the goroutines of timers.
func BepDebounce() Traits {
	return Traits{
		Edges: []Edges{Trailing}, Payload: LastPayload, Tie: EitherTie, StaleFire: StaleAllowed,
		ZeroWait: ZeroNextTick, Overlap: Parallel,
	}
}

// LoDebounce are the traits of NewDebounce of github.com/samber/lo: as BepDebounce, with
// functions that get no payload and a cancel that ends it for good.
func LoDebounce() Traits {
	tr := BepDebounce()
	tr.Payload = NoPayload
	tr.CancelBarrier, tr.AfterCancel = NoBarrier, CancelFinal
	return tr
}
