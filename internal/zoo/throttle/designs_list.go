package throttle

import (
	"sync"
	"time"

	tt "github.com/escapement-go/escapement/conformance/throttletest"
	"github.com/escapement-go/escapement/internal/verb"
)

// designs are throttles of very different kinds.
func designs() []kind {
	on := func(edges ...tt.Edges) tt.Traits {
		return tt.Traits{
			Edges: edges, Boundary: tt.BoundaryPasses, BothSingle: tt.BothOnce, Payload: tt.LastPayload,
		}
	}
	leading := tt.Traits{Edges: []tt.Edges{tt.Leading}, Boundary: tt.BoundaryPasses}
	after, end, several, standing, rounded := leading, leading, leading, leading, leading
	after.Boundary = tt.BoundaryWaits
	end.Anchor = tt.AnchorEnd
	several.Windows = tt.WindowsSliding
	standing.ClockBack, standing.Payload = tt.BackStands, tt.LastPayload
	rounded.Boundary, rounded.ClockBack = tt.BoundaryRounded, tt.BackStands
	woken := on(tt.LeadingAndTrailing)
	woken.Payload, woken.StopBarrier = tt.NoPayload, tt.NoBarrier // nobody waits for the loop
	batch := tt.Traits{
		Edges: []tt.Edges{tt.Trailing}, Payload: tt.LastPayload,
		CloseFlush: tt.CloseFires, Reentrancy: tt.ReentrancyForbidden,
	}
	twice := on(tt.LeadingAndTrailing)
	twice.BothSingle = tt.BothTwice
	first := on(tt.Trailing, tt.LeadingAndTrailing)
	first.Payload = tt.FirstPayload
	all := on(tt.Leading, tt.Trailing, tt.LeadingAndTrailing)
	forbids := all // its callbacks run on the goroutine that receives
	forbids.Reentrancy, forbids.StopBarrier = tt.ReentrancyForbidden, tt.NoBarrier
	locked := on(tt.LeadingAndTrailing)
	locked.Reentrancy = tt.ReentrancyForbidden
	return []kind{
		{
			name: "design: stamps", traits: leading, make: func(b base) tt.Funcs {
				return stamps(b, func(gap time.Duration) bool { return gap >= b.cfg.Interval })
			},
			mistakes: []mistake{{"no emission is one of 146 years ago", "TH-FIRST"}},
		},
		{
			name: "design: stamps, open after the end", traits: after, make: func(b base) tt.Funcs {
				return stamps(b, func(gap time.Duration) bool { return gap > b.cfg.Interval })
			},
		},
		{
			name: "design: tokens in floats", traits: rounded, make: newFloats,
			mistakes: []mistake{{"the end of an interval is known to a thousandth of it", "TH-SPACE"}},
		},
		{name: "design: cooling after the callback", traits: end, make: cooling},
		{name: "design: a loop", traits: forbids, make: loop},
		{name: "design: a loop that is woken", traits: woken, make: wokenLoop},
		{
			name: "design: a batch that ends with its input", traits: batch, make: newestOfBatch,
			mistakes: []mistake{{"the timer of the constructor is not stopped", "TH-NOSPON"}},
		},
		choosyKind(all, ways{}).named("design: the time that remains"),
		choosyKind(all, ways{apart: true, opens: true}).named("design: an observable"),
		choosyKind(several, ways{}, callKeys).named("design: several for each key"),
		choosyKind(standing, ways{forgets: true}, verb.Reset).named("design: what a reset makes new"),
		{name: "design: a state machine, twice", traits: twice, make: func(b base) tt.Funcs {
			b.mutant = "emits a single event twice"
			return tt.Funcs{Call: (&timed{base: b}).call}
		}},
		{
			name: "design: a slot that emits under its lock", traits: locked, make: func(b base) tt.Funcs {
				return tt.Funcs{Call: (&slot{base: b, locked: true}).call}
			}, // a mistake unless it is documented that callbacks must not call it
			mistakes: []mistake{{"what it emits on the trailing edge it emits under its lock", "X-REENT"}},
		},
		{name: "design: a slot whose callbacks run one by one", traits: locked, make: func(b base) tt.Funcs {
			return tt.Funcs{Call: (&slot{base: b, serial: new(sync.Mutex)}).call}
		}},
		{name: "design: the first payload", traits: first, make: func(b base) tt.Funcs {
			b.mutant = "emits the first payload"
			return tt.Funcs{Call: (&timed{base: b}).call}
		}},
	}
}
