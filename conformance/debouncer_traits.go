package conformance

import "slices"

// DebounceTraits are the choices on which correct debouncers differ. The zero
// value of each is "undeclared".
type DebounceTraits struct {
	// Edges lists the edges that New can build.
	Edges []Edges
	// Payload says which event of a burst the callback gets.
	Payload Payload
	// Tie says what an event does that comes at the very instant of the deadline.
	Tie Tie
	// StaleFire says whether a callback may still start for an event after a newer
	// call has returned.
	StaleFire StaleFire
	// CancelBarrier says what the return of Cancel promises. Only with Cancel.
	CancelBarrier CancelBarrier
	// AfterCancel says whether the debouncer works on after Cancel. Only with Cancel.
	AfterCancel AfterCancel
	// StopPending says what Stop does with a pending event. Only with Stop.
	StopPending StopPending
	// ZeroWait says what a wait of 0 means.
	ZeroWait ZeroWait
	// Overlap says whether two callbacks may run at the same time.
	Overlap Overlap
	// BothSingle says how often a burst of one event fires with both edges. Only with
	// LeadingAndTrailing.
	BothSingle BothSingle
	// MaxWait says how a bound on the wait works. Only declared by debouncers that
	// take one; their rules are skipped without it.
	MaxWait MaxWait
	// Reentrancy is only declared to opt out: Forbidden means that the callback
	// must not call the debouncer.
	Reentrancy Reentrancy
	// StopBarrier is only declared to opt out: NoBarrier means that a callback that is
	// due may still start when Stop has returned: at the very instant of Stop, or when the
	// callback ends for which it waits, as where a receiver is handed what fires.
	StopBarrier CancelBarrier

	// These are only declared by those whom they concern; the rules that they put in
	// force are skipped without them.

	// CloseFlush says what the end of the input does with the pending event.
	CloseFlush CloseFlush
	// ClockBack says what becomes of the wait when the clock is set back: BackBounded.
	ClockBack ClockBack
	// PanicPolicy says where the panic of a callback goes.
	PanicPolicy PanicPolicy
}

// Payload says which event of a burst the callback gets.
type Payload int

// The payloads.
const (
	LastPayload  Payload = iota + 1 // of the newest event
	FirstPayload                    // of the burst's first event
	NoPayload                       // the callback has none
	AllPayloads                     // of all events of the burst, in order: the spec has NewBatch
)

// ofNewest reports whether the newest event is what a callback is known by.
func (p Payload) ofNewest() bool { return p == LastPayload || p == AllPayloads }

// Tie says what an event does at the very instant of the deadline, before the
// timer has been served.
type Tie int

// The outcomes of a tie.
const (
	FireFirst  Tie = iota + 1 // what is due fires, the event starts a new burst
	ResetFirst                // the event joins the burst and the deadline moves
	EitherTie                 // either, depending on who comes first
)

// StaleFire says whether a callback may start for an event after a newer call has
// returned.
type StaleFire int

// The choices.
const (
	StaleForbidden StaleFire = iota + 1 // a newer call supersedes what has not been decided
	StaleAllowed                        // a timer that has fired runs its callback, or a goroutine is started for it
)

// CancelBarrier says what the return of Cancel promises.
type CancelBarrier int

// The promises.
const (
	NoBarrier     CancelBarrier = iota + 1 // a callback that is due may still start
	CommitBarrier                          // Cancel reports true: nothing will run for what it cancelled
	FinishBarrier                          // no callback starts after Cancel has returned
)

// AfterCancel says whether a debouncer works on after Cancel.
type AfterCancel int

// The choices.
const (
	CancelReusable   AfterCancel = iota + 1 // a new event starts a new burst
	CancelFinal                             // nothing fires any more
	CancelKeepsBurst                        // what is pending is dropped; the burst goes on, which a leading edge shows
)

// usable reports whether a new event fires after Cancel.
func (a AfterCancel) usable() bool { return a == CancelReusable || a == CancelKeepsBurst }

// StopPending says what Stop does with a pending event.
type StopPending int

// The choices.
const (
	StopDrops   StopPending = iota + 1 // it is discarded
	StopFlushes                        // it is fired by Stop
)

// ZeroWait says what a wait of 0 means.
type ZeroWait int

// The choices.
const (
	ZeroSync     ZeroWait = iota + 1 // each event fires before its call returns
	ZeroNextTick                     // each event fires at its instant, after its call
	ZeroRefused                      // the constructor panics
)

// Overlap says whether two callbacks may run at the same time.
type Overlap int

// The choices.
const (
	Serial   Overlap = iota + 1 // at most one runs
	Parallel                    // a fire does not wait for the one before it
	// SerialReceiver: at most one runs, on the goroutine that receives the events.
	// The wait of those that come meanwhile counts from its end.
	SerialReceiver
)

// BothSingle says how often a burst of one event fires with both edges.
type BothSingle int

// The choices.
const (
	BothOnce  BothSingle = iota + 1 // on the leading edge only
	BothTwice                       // on both edges
)

// MaxWait says how a bound on the wait works. The first fire that it brings comes
// when the bound has passed since the first event.
type MaxWait int

// The choices.
const (
	MaxWaitFromFirst MaxWait = iota + 1 // later ones too: since the first event that has not fired
	MaxWaitFromFire                     // later ones count from the fire before
	MaxWaitOnCall                       // only an event after the bound fires; no timer does
)

// Reentrancy says whether the callback may call the debouncer.
type Reentrancy int

// The choices.
const (
	ReentrancyAllowed   Reentrancy = iota + 1 // the default
	ReentrancyForbidden                       // documented as a deadlock
)

// table lists the traits with what was declared and how to observe them.
func (d DebounceTraits) table(c *contract) []trait {
	never := func() bool { return false }
	trailing := func() bool { return len(d.Edges) > 0 && !slices.Contains(d.Edges, Trailing) } // needless without it
	without := func(op Op) func() bool { return func() bool { return !c.accepts(op) } }
	edges := 0
	if len(d.Edges) > 0 {
		edges = int(d.Edges[0])
	}
	return []trait{
		{"Edges", edges, []string{"[]conformance.Edges{conformance.Trailing}", "[]conformance.Edges{conformance.Leading}",
			"[]conformance.Edges{conformance.LeadingAndTrailing}"}, never, c.observeEdges},
		{"Payload", int(d.Payload), []string{"LastPayload", "FirstPayload", "NoPayload", "AllPayloads"}, never, c.observePayload},
		{"Tie", int(d.Tie), []string{"FireFirst", "ResetFirst", "EitherTie"}, trailing, c.observeTie},
		{"StaleFire", int(d.StaleFire), []string{"StaleForbidden", "StaleAllowed"}, trailing, c.observeStaleFire},
		{"CancelBarrier", int(d.CancelBarrier), []string{"NoBarrier", "CommitBarrier", "FinishBarrier"}, without(OpCancel), c.observeCancelBarrier},
		{"AfterCancel", int(d.AfterCancel), []string{"CancelReusable", "CancelFinal", "CancelKeepsBurst"}, without(OpCancel), c.observeAfterCancel},
		{"StopPending", int(d.StopPending), []string{"StopDrops", "StopFlushes"}, without(OpStop), c.observeStopPending},
		{"ZeroWait", int(d.ZeroWait), []string{"ZeroSync", "ZeroNextTick", "ZeroRefused"}, trailing, c.observeZeroWait},
		{"Overlap", int(d.Overlap), []string{"Serial", "Parallel", "SerialReceiver"}, trailing, c.observeOverlap},
		{"BothSingle", int(d.BothSingle), []string{"BothOnce", "BothTwice"},
			func() bool { return !slices.Contains(d.Edges, LeadingAndTrailing) }, c.observeBothSingle},
		optional("MaxWait", int(d.MaxWait), "MaxWaitFromFirst", "MaxWaitFromFire", "MaxWaitOnCall"),
		optional("Reentrancy", int(d.Reentrancy), "ReentrancyAllowed", "ReentrancyForbidden"),
		optional("StopBarrier", int(d.StopBarrier), "NoBarrier"),
		optional("CloseFlush", int(d.CloseFlush), "CloseFires", "CloseAtDeadline", "CloseDrops"),
	}
}

// tryDebouncer runs one schedule in the order given, n times where that is chance.
func (c *contract) tryDebouncer(text string, order Order) []*Trace {
	s, err := ParseSchedule(text)
	if err != nil {
		panic(err)
	}
	n := 1
	if s.racing() > 0 && c.time == PackageTime {
		order, n = OrderSampled, samples
	}
	var out []*Trace
	c.try(job{schedule: s, order: order}, n, func(tr *Trace) { out = append(out, tr) })
	return out
}

func (c *contract) observeEdges() int {
	for _, tr := range c.tryDebouncer("wait=100ms | call 1 @0 | call 2 @1ms", OrderSettled) {
		seen := 0
		for _, f := range tr.Fires {
			if f.Began.At < 1e6 {
				seen |= int(Leading)
			} else {
				seen |= int(Trailing)
			}
		}
		return seen
	}
	return 0
}

func (c *contract) observeBothSingle() int {
	for _, tr := range c.tryDebouncer("wait=100ms edges=both | call 1 @0", OrderSettled) {
		return min(len(tr.Fires), int(BothTwice))
	}
	return 0
}

func (c *contract) observePayload() int {
	for _, tr := range c.tryDebouncer("wait=100ms | call 7 @0 | call 9 @50ms", OrderSettled) {
		for _, f := range tr.Fires {
			if len(f.Values) > 0 {
				return int(AllPayloads)
			}
			switch f.Value {
			case 9:
				return int(LastPayload)
			case 7:
				return int(FirstPayload)
			}
			return int(NoPayload)
		}
	}
	return 0
}

// fraction returns how often pred holds, from 0 to 1; 0 for no traces.
func fraction(traces []*Trace, pred func(*Trace) bool) float64 {
	n := 0
	for _, tr := range traces {
		if pred(tr) {
			n++
		}
	}
	return float64(n) / float64(max(1, len(traces)))
}

// firedAt reports whether a callback started at the instant of step i of the
// schedule; after tells to count only those that started when it had returned.
func firedAt(tr *Trace, i int, after bool) bool {
	for _, f := range tr.Fires {
		if f.Began.At == tr.Schedule.Steps[i].At && (!after || tr.Done[i].Ended.Seq != 0 && f.Began.Seq > tr.Done[i].Ended.Seq) {
			return true
		}
	}
	return false
}

const tieSchedule = "wait=100ms | call 1 @0 | call 2 @100ms~"

func (c *contract) observeTie() int {
	old := func(tr *Trace) bool { return firedAt(tr, 1, false) }
	seen := append(c.tryDebouncer(tieSchedule, OrderStepFirst), c.tryDebouncer(tieSchedule, OrderHeld)...)
	switch fraction(seen, old) {
	case 1:
		return int(FireFirst)
	case 0:
		return int(ResetFirst)
	}
	return int(EitherTie)
}

func (c *contract) observeStaleFire() int {
	if fraction(c.tryDebouncer(tieSchedule, OrderHeld), func(tr *Trace) bool { return firedAt(tr, 1, true) }) >= chance {
		return int(StaleAllowed)
	}
	return int(StaleForbidden)
}

func (c *contract) observeCancelBarrier() int {
	if !c.accepts(opReports) {
		return int(NoBarrier)
	}
	seen := c.tryDebouncer("wait=100ms | call 1 @0 | cancel @100ms~", OrderHeld)
	if fraction(seen, func(tr *Trace) bool { return tr.Done[1].OK && firedAt(tr, 1, true) }) > 0 {
		return int(NoBarrier)
	}
	return int(CommitBarrier)
}

func (c *contract) observeAfterCancel() int {
	for _, tr := range c.tryDebouncer("wait=100ms | call 1 @0 | cancel @10ms | call 2 @20ms", OrderSettled) {
		if len(tr.Fires) == 0 {
			return int(CancelFinal)
		}
	}
	if e := preferred(c.deb.Traits.Edges, Leading); e&Leading != 0 && e != NoEdges && slices.Contains(c.deb.Traits.Edges, e) {
		for _, tr := range c.tryDebouncer("wait=100ms edges="+e.String()+" | call 1 @0 | cancel @10ms | call 2 @20ms", OrderSettled) {
			if !slices.ContainsFunc(tr.Fires, func(f Fire) bool { return f.Began.At == 20e6 }) {
				return int(CancelKeepsBurst)
			}
		}
	}
	return int(CancelReusable)
}

func (c *contract) observeStopPending() int {
	for _, tr := range c.tryDebouncer("wait=100ms | call 1 @0 | stop @10ms", OrderSettled) {
		if len(tr.Fires) > 0 && tr.Fires[0].Began.At == 10e6 {
			return int(StopFlushes)
		}
	}
	return int(StopDrops)
}

func (c *contract) observeZeroWait() int {
	for _, tr := range c.tryDebouncer("wait=0 | call 1 @0", OrderSettled) {
		switch {
		case tr.Refused != "":
			return int(ZeroRefused)
		case len(tr.Fires) != 1 || tr.Fires[0].Began.At != 0:
			return 0
		case tr.Fires[0].Began.Seq < tr.Done[0].Ended.Seq:
			return int(ZeroSync)
		}
		return int(ZeroNextTick)
	}
	return 0
}

func (c *contract) observeOverlap() int {
	if !c.slowCallbacks() {
		return int(Serial)
	}
	for _, tr := range c.tryDebouncer("wait=100ms busy=250ms | call 1 @0 | call 2 @120ms", OrderSettled) {
		switch {
		case len(tr.Fires) < 2:
		case tr.Fires[1].Began.Seq < tr.Fires[0].Ended.Seq:
			return int(Parallel)
		case tr.Fires[1].Began.At > tr.Fires[0].Ended.At:
			return int(SerialReceiver)
		}
	}
	return int(Serial)
}
