package debouncertest

import (
	"slices"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
)

// Traits returns what is declared.
func (c *contract) Traits() *Traits {
	tr := c.spec.Traits
	return &tr
}

// Table lists the choices.
func (c *contract) Table(s *suite.Suite, tr *Traits) []suite.Choice {
	o := observer{s, tr}
	return append([]suite.Choice{
		{
			Name: "Edges", Declared: int(firstOf(tr.Edges)),
			Values: []string{
				"[]debouncertest.Edges{debouncertest.Trailing}",
				"[]debouncertest.Edges{debouncertest.Leading}",
				"[]debouncertest.Edges{debouncertest.LeadingAndTrailing}",
			},
			Needless: suite.Always, Observe: o.edges,
			Set: func(v int) { tr.Edges = []Edges{Edges(v)} },
			Alter: func(v int, rec *suite.Recording) (*suite.Recording, bool) {
				return edge.Alter(rec, tr.Edges, c.built(), Edges(v))
			},
		},
		{
			Name: "Payload", Declared: int(tr.Payload),
			Values:   []string{"LastPayload", "FirstPayload", "NoPayload", "AllPayloads"},
			Needless: suite.Always, Observe: o.payload,
			Set: func(v int) { tr.Payload = Payload(v) },
		},
		{
			Name: "Tie", Declared: int(tr.Tie),
			Values:   []string{"FireFirst", "ResetFirst", "EitherTie"},
			Needless: o.noTrailing, Observe: o.tie,
			Set: func(v int) { tr.Tie = Tie(v) },
		},
		{
			Name: "StaleFire", Declared: int(tr.StaleFire),
			Values:   []string{"StaleForbidden", "StaleAllowed"},
			Needless: o.noTrailing, Observe: o.staleFire,
			Set: func(v int) { tr.StaleFire = StaleFire(v) },
		},
		{
			Name: "CancelBarrier", Declared: int(tr.CancelBarrier),
			Values:   []string{"NoBarrier", "CommitBarrier", "FinishBarrier"},
			Needless: o.without(conformance.OpCancel), Observe: o.cancelBarrier,
			Set: func(v int) { tr.CancelBarrier = CancelBarrier(v) },
		},
		{
			Name: "AfterCancel", Declared: int(tr.AfterCancel),
			Values:   []string{"CancelReusable", "CancelFinal", "CancelKeepsBurst"},
			Needless: o.without(conformance.OpCancel), Observe: o.afterCancel,
			Set: func(v int) { tr.AfterCancel = AfterCancel(v) },
		},
		{
			Name: "StopPending", Declared: int(tr.StopPending),
			Values:   []string{"StopDrops", "StopFlushes"},
			Needless: o.without(conformance.OpStop), Observe: o.stopPending,
			Set: func(v int) { tr.StopPending = StopPending(v) },
		},
		{
			Name: "ZeroWait", Declared: int(tr.ZeroWait),
			Values:   []string{"ZeroSync", "ZeroNextTick", "ZeroRefused"},
			Needless: o.noTrailing, Observe: o.zeroWait,
			Set: func(v int) { tr.ZeroWait = ZeroWait(v) },
		},
		{
			Name: "Overlap", Declared: int(tr.Overlap),
			Values:   []string{"Serial", "Parallel", "SerialReceiver"},
			Needless: o.noTrailing, Observe: o.overlap,
			Set: func(v int) { tr.Overlap = Overlap(v) },
		},
		{
			Name: "BothSingle", Declared: int(tr.BothSingle),
			Values:   []string{"BothOnce", "BothTwice"},
			Needless: func() bool { return !slices.Contains(tr.Edges, LeadingAndTrailing) },
			Observe:  o.bothSingle,
			Set:      func(v int) { tr.BothSingle = BothSingle(v) },
		},
	}, tr.optional()...)
}

// optional are the choices that nobody need declare.
func (t *Traits) optional() []suite.Choice {
	return []suite.Choice{
		{
			Name: "MaxWait", Declared: int(t.MaxWait),
			Values: []string{"MaxWaitFromFirst", "MaxWaitFromFire", "MaxWaitOnCall"},
			Set:    func(v int) { t.MaxWait = MaxWait(v) },
		},
		{
			Name: "Reentrancy", Declared: int(t.Reentrancy),
			Values: []string{"ReentrancyAllowed", "ReentrancyForbidden"},
			Set:    func(v int) { t.Reentrancy = Reentrancy(v) },
		},
		{
			Name: "StopBarrier", Declared: int(t.StopBarrier),
			Values: []string{"NoBarrier"},
			Set:    func(v int) { t.StopBarrier = CancelBarrier(v) },
		},
		{
			Name: "CloseFlush", Declared: int(t.CloseFlush),
			Values: []string{"CloseFires", "CloseAtDeadline", "CloseDrops"},
			Set:    func(v int) { t.CloseFlush = CloseFlush(v) },
		},
	}
}

// firstOf returns the first of the edges, 0 if there are none.
func firstOf(edges []Edges) Edges {
	if len(edges) == 0 {
		return 0
	}
	return edges[0]
}

// observer tries an implementation. A result of 0 means that nothing fits.
type observer struct {
	*suite.Suite
	traits *Traits
}

// noTrailing reports that a choice of the trailing edge is needless, as there is none.
func (o observer) noTrailing() bool {
	return len(o.traits.Edges) > 0 && !slices.Contains(o.traits.Edges, Trailing)
}

// without reports that the choices of an operation are needless, as there is none.
func (o observer) without(op conformance.Op) func() bool {
	return func() bool { return !o.Accepts(op) }
}

// settled runs a schedule whose steps do not race.
func (o observer) settled(text string) []*suite.Recording {
	return o.TryText(text, conformance.OrderSettled)
}

func (o observer) edges() int {
	for _, rec := range o.settled("wait=100ms | call 1 @0 | call 2 @1ms") {
		seen := 0
		for _, f := range rec.Fires {
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

func (o observer) bothSingle() int {
	for _, rec := range o.settled("wait=100ms edges=both | call 1 @0") {
		return min(len(rec.Fires), int(BothTwice))
	}
	return 0
}

func (o observer) payload() int {
	for _, rec := range o.settled("wait=100ms | call 7 @0 | call 9 @50ms") {
		for _, f := range rec.Fires {
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

// firedWith reports whether a callback started at the instant of step i of the schedule.
func firedWith(rec *suite.Recording, i int) bool {
	at := rec.Schedule.Steps[i].At
	return slices.ContainsFunc(rec.Fires, func(f conformance.Fire) bool { return f.Began.At == at })
}

// firedBehind is firedWith for callbacks that started after the step had returned.
func firedBehind(rec *suite.Recording, i int) bool {
	at, ended := rec.Schedule.Steps[i].At, rec.Done[i].Ended.Seq
	return slices.ContainsFunc(rec.Fires, func(f conformance.Fire) bool {
		return f.Began.At == at && ended != 0 && f.Began.Seq > ended
	})
}

const tieSchedule = "wait=100ms | call 1 @0 | call 2 @100ms~"

func (o observer) tie() int {
	old := func(rec *suite.Recording) bool { return firedWith(rec, 1) }
	seen := append(o.TryText(tieSchedule, conformance.OrderStepFirst), o.TryText(tieSchedule, conformance.OrderHeld)...)
	switch suite.Share(seen, old) {
	case 1:
		return int(FireFirst)
	case 0:
		return int(ResetFirst)
	}
	return int(EitherTie)
}

func (o observer) staleFire() int {
	seen := o.TryText(tieSchedule, conformance.OrderHeld)
	if suite.Share(seen, func(rec *suite.Recording) bool { return firedBehind(rec, 1) }) >= suite.Chance {
		return int(StaleAllowed)
	}
	return int(StaleForbidden)
}

func (o observer) cancelBarrier() int {
	if !o.Accepts(opReports) {
		return int(NoBarrier)
	}
	seen := o.TryText("wait=100ms | call 1 @0 | cancel @100ms~", conformance.OrderHeld)
	if suite.Share(seen, func(rec *suite.Recording) bool { return rec.Done[1].OK && firedBehind(rec, 1) }) > 0 {
		return int(NoBarrier)
	}
	return int(CommitBarrier)
}

func (o observer) afterCancel() int {
	for _, rec := range o.settled("wait=100ms | call 1 @0 | cancel @10ms | call 2 @20ms") {
		if len(rec.Fires) == 0 {
			return int(CancelFinal)
		}
	}
	leading := edge.Preferred(o.traits.Edges, Leading)
	if leading&Leading == 0 || !slices.Contains(o.traits.Edges, leading) {
		return int(CancelReusable)
	}
	const steps = " | call 1 @0 | cancel @10ms | call 2 @20ms"
	for _, rec := range o.settled("wait=100ms edges=" + leading.String() + steps) {
		if !firedWith(rec, 2) {
			return int(CancelKeepsBurst)
		}
	}
	return int(CancelReusable)
}

func (o observer) stopPending() int {
	for _, rec := range o.settled("wait=100ms | call 1 @0 | stop @10ms") {
		if len(rec.Fires) > 0 && rec.Fires[0].Began.At == 10e6 {
			return int(StopFlushes)
		}
	}
	return int(StopDrops)
}

func (o observer) zeroWait() int {
	for _, rec := range o.settled("wait=0 | call 1 @0") {
		switch {
		case rec.Refused != "":
			return int(ZeroRefused)
		case len(rec.Fires) != 1 || rec.Fires[0].Began.At != 0:
			return 0
		case rec.Fires[0].Began.Seq < rec.Done[0].Ended.Seq:
			return int(ZeroSync)
		}
		return int(ZeroNextTick)
	}
	return 0
}

func (o observer) overlap() int {
	if !o.Bubble {
		return int(Serial)
	}
	for _, rec := range o.settled("wait=100ms busy=250ms | call 1 @0 | call 2 @120ms") {
		switch {
		case len(rec.Fires) < 2:
		case rec.Fires[1].Began.Seq < rec.Fires[0].Ended.Seq:
			return int(Parallel)
		case rec.Fires[1].Began.At > rec.Fires[0].Ended.At:
			return int(SerialReceiver)
		}
	}
	return int(Serial)
}
