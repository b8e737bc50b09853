package throttle

import (
	"sync"
	"time"

	"github.com/escapement-go/escapement/conformance"
	tt "github.com/escapement-go/escapement/conformance/throttletest"
	"github.com/escapement-go/escapement/internal/verb"
	"github.com/jonboulle/clockwork"
)

// design is a correct throttle, made when it is needed.
type design struct {
	name string
	make func() tt.Spec
}

// build makes a throttle.
type build func(clock clockwork.Clock, cfg tt.Config, emit func(int)) tt.Funcs

// designs are correct.
func designs(source tt.TimeSource) []design {
	spec := func(traits tt.Traits, build build) func() tt.Spec {
		return func() tt.Spec {
			return tt.Spec{Time: source, Traits: traits,
				New: func(env tt.Env, cfg tt.Config, emit func(int)) tt.Funcs {
					return build(env.Clock, cfg, emit)
				}}
		}
	}
	on := func(edges ...tt.Edges) tt.Traits {
		return tt.Traits{
			Edges:      edges,
			Boundary:   tt.BoundaryPasses,
			BothSingle: tt.BothOnce,
			Payload:    tt.LastPayload,
		}
	}
	leading := tt.Traits{
		Edges:    []tt.Edges{tt.Leading},
		Boundary: tt.BoundaryPasses,
	}
	after := leading
	after.Boundary = tt.BoundaryWaits
	end := leading
	end.Anchor = tt.AnchorEnd
	several := leading
	several.Windows = tt.WindowsSliding
	standing := leading
	standing.ClockBack, standing.Payload = tt.BackStands, tt.LastPayload
	rounded := leading
	rounded.Boundary, rounded.ClockBack = tt.BoundaryRounded, tt.BackStands
	woken := on(tt.LeadingAndTrailing)
	woken.Payload, woken.StopBarrier = tt.NoPayload, tt.NoBarrier // nobody waits for the loop
	batch := tt.Traits{
		Edges:      []tt.Edges{tt.Trailing},
		Payload:    tt.LastPayload,
		CloseFlush: tt.CloseFires,
		Reentrancy: tt.ReentrancyForbidden,
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
	return []design{
		{"stamps", spec(leading, func(clock clockwork.Clock, cfg tt.Config, _ func(int)) tt.Funcs {
			allow, reset := stamps(clock, func(gap time.Duration) bool { return gap >= cfg.Interval }, "")
			return tt.Funcs{Allow: allow, Reset: reset}
		})},
		{"stamps, open after the end",
			spec(after, func(clock clockwork.Clock, cfg tt.Config, _ func(int)) tt.Funcs {
				allow, reset := stamps(clock, func(gap time.Duration) bool { return gap > cfg.Interval }, "")
				return tt.Funcs{Allow: allow, Reset: reset}
			})},
		{"tokens in floats",
			spec(rounded, func(clock clockwork.Clock, cfg tt.Config, _ func(int)) tt.Funcs {
				d := &floats{clock: clock, perSecond: 1 / cfg.Interval.Seconds(), tokens: 1}
				return tt.Funcs{Allow: d.allow}
			})},
		{"cooling after the callback",
			spec(end, func(clock clockwork.Clock, cfg tt.Config, emit func(int)) tt.Funcs {
				d := &cooling{clock: clock, interval: cfg.Interval, emit: emit}
				if cfg.Interval == 0 {
					return tt.Funcs{Call: emit}
				}
				return tt.Funcs{Call: d.after}
			})},
		{"a loop",
			spec(forbids, func(clock clockwork.Clock, cfg tt.Config, emit func(int)) tt.Funcs {
				d := newLoop(clock, cfg, emit)
				return tt.Funcs{Call: d.call, Stop: sync.OnceFunc(func() { close(d.done) })}
			})},
		{"a loop that is woken",
			spec(woken, func(clock clockwork.Clock, cfg tt.Config, emit func(int)) tt.Funcs {
				d := newWoken(clock, cfg, emit)
				return tt.Funcs{Call: d.call, Stop: sync.OnceFunc(func() { close(d.done) })}
			})},
		{"a batch that ends with its input",
			spec(batch, func(clock clockwork.Clock, cfg tt.Config, emit func(int)) tt.Funcs {
				d := newBatch(clock, cfg, emit, "")
				return tt.Funcs{
					Call:   func(v int) { d.in <- v },
					Close:  func() { close(d.in) },
					Closed: d.closed.Load,
				}
			})},
		{"the time that remains",
			func() tt.Spec { return choosySpec(source, all, ways{}, nil) }},
		{"an observable",
			func() tt.Spec { return choosySpec(source, all, ways{apart: true, opens: true}, nil) }},
		{"several for each key", func() tt.Spec {
			return choosySpec(source, several, ways{}, map[conformance.Op]bool{callKeys: true})
		}},
		{"what a reset makes new", func() tt.Spec {
			return choosySpec(source, standing, ways{forgets: true}, map[conformance.Op]bool{verb.Reset: true})
		}},
		{"a state machine, twice",
			spec(twice, func(clock clockwork.Clock, cfg tt.Config, emit func(int)) tt.Funcs {
				d := &timed{clock: clock, cfg: cfg, emit: emit, mutant: "emits a single event twice"}
				return tt.Funcs{Call: d.call}
			})},
		{"a slot that emits under its lock",
			spec(locked, func(clock clockwork.Clock, cfg tt.Config, emit func(int)) tt.Funcs {
				d := &slot{clock: clock, cfg: cfg, emit: emit, locked: true}
				return tt.Funcs{Call: d.call}
			})},
		{"a slot whose callbacks run one by one",
			spec(locked, func(
				clock clockwork.Clock, cfg tt.Config, emit func(int),
			) tt.Funcs {
				d := &slot{clock: clock, cfg: cfg, emit: emit, serial: new(sync.Mutex)}
				return tt.Funcs{Call: d.call}
			})},
		{"the first payload",
			spec(first, func(clock clockwork.Clock, cfg tt.Config, emit func(int)) tt.Funcs {
				d := &timed{clock: clock, cfg: cfg, emit: emit, mutant: "emits the first payload"}
				return tt.Funcs{Call: d.call}
			})},
	}
}
