package throttle

import (
	"sync"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/throttletest"
	"github.com/escapement-go/escapement/internal/verb"
	"github.com/jonboulle/clockwork"
)

// design is a correct throttle, made when it is needed.
type design struct {
	name string
	make func() throttletest.Spec
}

// build makes a throttle.
type build func(clock clockwork.Clock, cfg throttletest.Config, emit func(int)) throttletest.Funcs

// designs are correct.
func designs(source throttletest.TimeSource) []design {
	spec := func(traits throttletest.Traits, build build) func() throttletest.Spec {
		return func() throttletest.Spec {
			return throttletest.Spec{Time: source, Traits: traits,
				New: func(env throttletest.Env, cfg throttletest.Config, emit func(int)) throttletest.Funcs {
					return build(env.Clock, cfg, emit)
				}}
		}
	}
	on := func(edges ...throttletest.Edges) throttletest.Traits {
		return throttletest.Traits{
			Edges:      edges,
			Boundary:   throttletest.BoundaryPasses,
			BothSingle: throttletest.BothOnce,
			Payload:    throttletest.LastPayload,
		}
	}
	leading := throttletest.Traits{
		Edges:    []throttletest.Edges{throttletest.Leading},
		Boundary: throttletest.BoundaryPasses,
	}
	after := leading
	after.Boundary = throttletest.BoundaryWaits
	start, end := leading, leading
	start.Anchor, end.Anchor = throttletest.AnchorStart, throttletest.AnchorEnd
	several := leading
	several.Windows = throttletest.WindowsSliding
	standing := leading
	standing.ClockBack, standing.Payload = throttletest.BackStands, throttletest.LastPayload
	rounded := leading
	rounded.Boundary, rounded.ClockBack = throttletest.BoundaryRounded, throttletest.BackStands
	woken := on(throttletest.LeadingAndTrailing)
	woken.Payload, woken.StopBarrier = throttletest.NoPayload, throttletest.NoBarrier // nobody waits for the loop
	batch := throttletest.Traits{
		Edges:      []throttletest.Edges{throttletest.Trailing},
		Payload:    throttletest.LastPayload,
		CloseFlush: throttletest.CloseFires,
		Reentrancy: throttletest.ReentrancyForbidden,
	}
	twice := on(throttletest.LeadingAndTrailing)
	twice.BothSingle = throttletest.BothTwice
	first := on(throttletest.Trailing, throttletest.LeadingAndTrailing)
	first.Payload = throttletest.FirstPayload
	all := on(throttletest.Leading, throttletest.Trailing, throttletest.LeadingAndTrailing)
	forbids := all // its callbacks run on the goroutine that receives
	forbids.Reentrancy, forbids.StopBarrier = throttletest.ReentrancyForbidden, throttletest.NoBarrier
	locked := on(throttletest.LeadingAndTrailing)
	locked.Reentrancy = throttletest.ReentrancyForbidden
	return []design{
		{"stamps", spec(leading, func(clock clockwork.Clock, cfg throttletest.Config, _ func(int)) throttletest.Funcs {
			allow, reset := stamps(clock, func(gap time.Duration) bool { return gap >= cfg.Interval }, "")
			return throttletest.Funcs{Allow: allow, Reset: reset}
		})},
		{"stamps, open after the end",
			spec(after, func(clock clockwork.Clock, cfg throttletest.Config, _ func(int)) throttletest.Funcs {
				allow, reset := stamps(clock, func(gap time.Duration) bool { return gap > cfg.Interval }, "")
				return throttletest.Funcs{Allow: allow, Reset: reset}
			})},
		{"tokens in floats",
			spec(rounded, func(clock clockwork.Clock, cfg throttletest.Config, _ func(int)) throttletest.Funcs {
				d := &floats{clock: clock, perSecond: 1 / cfg.Interval.Seconds(), tokens: 1}
				return throttletest.Funcs{Allow: d.allow}
			})},
		{"cooling",
			spec(start, func(clock clockwork.Clock, cfg throttletest.Config, emit func(int)) throttletest.Funcs {
				d := &cooling{clock: clock, interval: cfg.Interval, emit: emit}
				return throttletest.Funcs{Call: d.call}
			})},
		{"cooling after the callback",
			spec(end, func(clock clockwork.Clock, cfg throttletest.Config, emit func(int)) throttletest.Funcs {
				d := &cooling{clock: clock, interval: cfg.Interval, emit: emit}
				if cfg.Interval == 0 {
					return throttletest.Funcs{Call: emit}
				}
				return throttletest.Funcs{Call: d.after}
			})},
		{"a loop",
			spec(forbids, func(clock clockwork.Clock, cfg throttletest.Config, emit func(int)) throttletest.Funcs {
				d := newLoop(clock, cfg, emit)
				return throttletest.Funcs{Call: d.call, Stop: sync.OnceFunc(func() { close(d.done) })}
			})},
		{"a loop that is woken",
			spec(woken, func(clock clockwork.Clock, cfg throttletest.Config, emit func(int)) throttletest.Funcs {
				d := newWoken(clock, cfg, emit)
				return throttletest.Funcs{Call: d.call, Stop: sync.OnceFunc(func() { close(d.done) })}
			})},
		{"a batch that ends with its input",
			spec(batch, func(clock clockwork.Clock, cfg throttletest.Config, emit func(int)) throttletest.Funcs {
				d := newBatch(clock, cfg, emit, "")
				return throttletest.Funcs{
					Call:   func(v int) { d.in <- v },
					Close:  func() { close(d.in) },
					Closed: d.closed.Load,
				}
			})},
		{"the time that remains",
			func() throttletest.Spec { return choosySpec(source, all, ways{}, nil) }},
		{"an observable",
			func() throttletest.Spec { return choosySpec(source, all, ways{apart: true, opens: true}, nil) }},
		{"several for each key", func() throttletest.Spec {
			return choosySpec(source, several, ways{}, map[conformance.Op]bool{callKeys: true})
		}},
		{"what a reset makes new", func() throttletest.Spec {
			return choosySpec(source, standing, ways{forgets: true}, map[conformance.Op]bool{verb.Reset: true})
		}},
		{"a state machine, twice",
			spec(twice, func(clock clockwork.Clock, cfg throttletest.Config, emit func(int)) throttletest.Funcs {
				d := &timed{clock: clock, cfg: cfg, emit: emit, mutant: "emits a single event twice"}
				return throttletest.Funcs{Call: d.call}
			})},
		{"a slot that emits under its lock",
			spec(locked, func(clock clockwork.Clock, cfg throttletest.Config, emit func(int)) throttletest.Funcs {
				d := &slot{clock: clock, cfg: cfg, emit: emit, locked: true}
				return throttletest.Funcs{Call: d.call}
			})},
		{"a slot whose callbacks run one by one",
			spec(locked, func(
				clock clockwork.Clock, cfg throttletest.Config, emit func(int),
			) throttletest.Funcs {
				d := &slot{clock: clock, cfg: cfg, emit: emit, serial: new(sync.Mutex)}
				return throttletest.Funcs{Call: d.call}
			})},
		{"the first payload",
			spec(first, func(clock clockwork.Clock, cfg throttletest.Config, emit func(int)) throttletest.Funcs {
				d := &timed{clock: clock, cfg: cfg, emit: emit, mutant: "emits the first payload"}
				return throttletest.Funcs{Call: d.call}
			})},
	}
}
