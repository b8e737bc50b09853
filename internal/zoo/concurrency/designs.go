package concurrency

import (
	"context"
	"sync"
	"sync/atomic"

	ct "github.com/escapement-go/escapement/conformance/concurrencytest"
)

// slots is a buffered channel with a slot for each that runs.
type slots chan struct{}

func (s slots) wait(ctx context.Context) error {
	select {
	case s <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s slots) try(int) bool {
	select {
	case s <- struct{}{}:
		return true
	default:
		return false
	}
}

func (s slots) release(int) {
	select {
	case <-s:
	default:
	}
}

func channel(source ct.TimeSource) ct.Spec {
	return ct.Spec{
		Name: "zoo channel",
		Time: source,
		New: func(_ ct.Env, cfg ct.Config) ct.Funcs {
			slots := make(slots, cfg.Limit)
			acquire := func(ctx context.Context, _ int) error {
				if err := ctx.Err(); err != nil {
					return err
				}
				return slots.wait(ctx)
			}
			return ct.Funcs{Acquire: acquire, TryAcquire: slots.try, Release: slots.release}
		},
		Traits: ct.Traits{
			Backlog: ct.BacklogUnbounded, Timeout: ct.TimeoutNone, Context: ct.ContextHonoured,
			ContextError: ct.ErrorOfContext, Fair: ct.FairFIFO,
			OneAtATime: true, OverRelease: ct.OverReleaseIgnored, Hook: ct.HookNone,
		},
	}
}

// condition is a counter and a condition that everybody checks again: who gets a slot
// is chance.
type condition struct {
	mu          sync.Mutex
	cond        sync.Cond
	limit, used int
}

func conditionSpec(source ct.TimeSource) ct.Spec {
	return ct.Spec{
		Name: "zoo condition",
		Time: source,
		New: func(_ ct.Env, cfg ct.Config) ct.Funcs {
			s := &condition{limit: cfg.Limit}
			s.cond.L = &s.mu
			change := func(limit, used int) {
				s.mu.Lock()
				defer s.mu.Unlock()
				s.limit += limit
				s.used += used
				s.cond.Broadcast()
			}
			return ct.Funcs{
				Lock: func(weight int) {
					s.mu.Lock()
					defer s.mu.Unlock()
					for weight > s.limit-s.used {
						s.cond.Wait()
					}
					s.used += weight
				},
				Release: func(weight int) { change(0, -weight) },
				Resize:  func(limit int) { s.mu.Lock(); d := limit - s.limit; s.mu.Unlock(); change(d, 0) },
			}
		},
		Traits: ct.Traits{
			Backlog: ct.BacklogUnbounded, Timeout: ct.TimeoutNone, Fair: ct.FairNone,
			Oversize: ct.OversizeBlocks, OverRelease: ct.OverReleaseUndefined, Hook: ct.HookNone,
		},
	}
}

// seats is middleware that counts those in the backlog and lets them go only when
// they are done.
func seats(source ct.TimeSource) ct.Spec {
	return ct.Spec{
		Name: "zoo seats",
		Time: source,
		New: func(env ct.Env, cfg ct.Config) ct.Funcs {
			var mu sync.Mutex
			seats := 0
			slots := make(chan struct{}, cfg.Limit)
			serve := func(run func()) error {
				defer func() { <-slots }()
				run()
				return nil
			}
			return ct.Funcs{Do: func(ctx context.Context, run func()) error {
				if err := ctx.Err(); err != nil {
					return err
				}
				select {
				case slots <- struct{}{}:
					return serve(run)
				default:
				}
				mu.Lock()
				if seats >= cfg.Backlog {
					mu.Unlock()
					return errFull
				}
				seats++
				mu.Unlock()
				defer func() { mu.Lock(); seats--; mu.Unlock() }()
				expired := make(chan struct{})
				timer := env.Clock.AfterFunc(cfg.Timeout, func() { close(expired) })
				defer timer.Stop()
				select {
				case slots <- struct{}{}:
					return serve(run)
				case <-ctx.Done():
					return ctx.Err()
				case <-expired:
					return errTimeout
				}
			}}
		},
		Traits: ct.Traits{
			Backlog: ct.BacklogBounded, Timeout: ct.TimeoutBounded, Context: ct.ContextHonoured,
			ContextError: ct.ErrorOfContext, SeatHeld: ct.SeatKept, Fair: ct.FairFIFO,
			OneAtATime: true, Hook: ct.HookNone,
		},
	}
}

// looksLast is a choice: the context of a request is looked at only when nothing else rejects it.
const looksLast = "looks at the context last"

func lastly(source ct.TimeSource) ct.Spec {
	return queueNamed("zoo queue that looks at the context last", looksLast, source)
}

// gate is a counter that lets in whom it can, and nobody waits. As middleware it
// looks at no context.
func gate(source ct.TimeSource, middleware bool) ct.Spec {
	spec := ct.Spec{
		Name: "zoo gate",
		Time: source,
		New: func(_ ct.Env, cfg ct.Config) ct.Funcs {
			if cfg.Backlog != 0 || cfg.Timeout >= 0 {
				panic("nothing can wait here")
			}
			var used atomic.Int64
			leave := func(int) { used.Add(-1) }
			enter := func(int) bool {
				if used.Add(1) <= int64(cfg.Limit) {
					return true
				}
				leave(1)
				return false
			}
			if !middleware {
				return ct.Funcs{TryAcquire: enter, Release: leave}
			}
			return ct.Funcs{Do: func(_ context.Context, run func()) error {
				if !enter(1) {
					cfg.OnReject()
					return errFull
				}
				defer leave(1)
				run()
				return nil
			}}
		},
		Traits: ct.Traits{
			Backlog: ct.BacklogNone, OneAtATime: true, OverRelease: ct.OverReleaseUndefined, Hook: ct.HookNone,
		},
	}
	if middleware {
		spec.Name = "zoo gate before a handler"
		spec.Traits.Context, spec.Traits.Hook = ct.ContextIgnored, ct.HookOnce
	}
	return spec
}

// selecting is a buffered channel as most write it: select takes either the slot
// that is free or the context that is done.
func selecting(source ct.TimeSource) ct.Spec {
	spec := channel(source)
	spec.Name, spec.Traits.Context = "zoo select", ct.ContextEndsWait
	spec.New = func(_ ct.Env, cfg ct.Config) ct.Funcs {
		slots := make(slots, cfg.Limit)
		return ct.Funcs{
			Acquire: func(ctx context.Context, _ int) error { return slots.wait(ctx) }, Release: slots.release,
		}
	}
	return spec
}

// stack serves the newest of those who wait first, which keeps most of the
// times short when there are too many.
func stack(source ct.TimeSource) ct.Spec {
	spec := queueSpec("serves the newest first", source)
	spec.Name, spec.Traits.Fair = "zoo stack", ct.FairNone
	return spec
}

// What becomes of who waits for more than a lower limit: strict rejects it, and lets those behind it
// have what is free.
const (
	rejectsInTurn    = "who waits for more than a lower limit is rejected when its turn comes"
	setsAside        = "who waits for more than a lower limit lets others pass"
	runsHeavyAlone   = "who waits for more than a lower limit runs when nothing else does"
	stopsForHeavy    = "nobody runs while one waits for more than a lower limit"
	rejectsHeavy     = "a lower limit rejects who waits for more"
	rejectsFirst     = "a lower limit rejects only the first of those who wait for more"
	rejectsHeavyOnly = "who is rejected by a lower limit leaves nobody to be woken"
	rejectsSilently  = "the hook does not hear of who is rejected by a lower limit"
	rejectsUnheard   = "who is rejected by a lower limit does not hear of it"
	cancelsRejected  = "who is cancelled as a lower limit rejects it leaves its place twice"
	expiresRejected  = "who times out as a lower limit rejects it leaves its place twice"
)

func strict(source ct.TimeSource) ct.Spec {
	return queueNamed("zoo strict queue", rejectsHeavy, source)
}

// queueNamed is the queue in which what a mistake does is meant.
func queueNamed(name, meant string, source ct.TimeSource) ct.Spec {
	spec := queueSpec(meant, source)
	spec.Name = name
	return spec
}

// inTurn is the queue that looks at a lower limit only when somebody is the next.
func inTurn(source ct.TimeSource) ct.Spec {
	return queueNamed("zoo queue that rejects in turn", rejectsInTurn, source)
}

// aside is the queue in which those who wait for more than a lower limit keep their places, and nobody
// waiting.
func aside(source ct.TimeSource) ct.Spec {
	return queueNamed("zoo queue that sets aside", setsAside, source)
}

const hooksFitting = "does not call the hook for more than the limit"

// fitting is the queue whose hook hears only of those who could have run.
func fitting(source ct.TimeSource) ct.Spec {
	spec := queueNamed("zoo queue that reports what fits", hooksFitting, source)
	spec.Traits.Hook = ct.HookFits
	return spec
}

const tryOvertakes = "a try takes free slots though others wait"

// barging is the queue with the TryAcquire of java.util.concurrent, which overtakes.
func barging(source ct.TimeSource) ct.Spec {
	spec := queueNamed("zoo queue that a try overtakes", tryOvertakes, source)
	spec.Traits.TryOvertakes = true
	return spec
}

const lightestFirst = "serves the lightest first"

// light serves the one first of those who wait that asks for the fewest slots.
func light(source ct.TimeSource) ct.Spec {
	spec := queueSpec(lightestFirst, source)
	spec.Name, spec.Traits.Fair = "zoo lightest first", ct.FairNone
	return spec
}
