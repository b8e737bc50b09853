package concurrency

import (
	"context"
	"sync"
	"sync/atomic"

	ct "github.com/escapement-go/escapement/conformance/concurrencytest"
)

// permitsKind is a queue that hands out what gives the slots back, which it does once.
var permitsKind = kind{
	name: "zoo permits: ", traits: ofQueue(ct.OverReleaseIgnored), unraced: true, make: func(b base) ct.Funcs {
		q := newQueue(b)
		once := func(weight int) func() { return sync.OnceFunc(func() { q.release(weight) }) }
		always := func(weight int) func() { return func() { q.release(weight) } }
		permit, tried := once, once
		switch b.mutant {
		case "a permit of a try gives its slots back twice":
			tried = always
		case "a permit gives its slots back twice", "a permit that is given back twice gives back another's slots":
			permit, tried = always, always
		}
		return ct.Funcs{
			Take: func(ctx context.Context, weight int) (func(), error) {
				if err := q.acquire(ctx, weight); err != nil {
					return nil, err
				}
				return permit(weight), nil
			},
			TryTake: func(weight int) (func(), bool) { return tried(weight), q.try(weight) },
			Resize:  q.resize,
		}
	},
}

// slots is a buffered channel with a slot for each that runs.
type slots chan struct{}

func (s slots) acquire(ctx context.Context, _ int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.wait(ctx, 1)
}

func (s slots) wait(ctx context.Context, _ int) error {
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

// ofSlots are the choices of a channel.
func ofSlots(context ct.Context) ct.Traits {
	return ct.Traits{
		Backlog: ct.BacklogUnbounded, Timeout: ct.TimeoutNone, Context: context, ContextError: ct.ErrorOfContext,
		Fair: ct.FairFIFO, OneAtATime: true, OverRelease: ct.OverReleaseIgnored, Hook: ct.HookNone,
	}
}

var channelKind = kind{
	name: "zoo channel", traits: ofSlots(ct.ContextHonoured), make: func(b base) ct.Funcs {
		s := make(slots, b.cfg.Limit)
		return ct.Funcs{Acquire: s.acquire, TryAcquire: s.try, Release: s.release}
	},
}

// selectKind is a channel as most write it: select takes either the slot that is free or the context that is done.
var selectKind = kind{
	name: "zoo select", traits: ofSlots(ct.ContextEndsWait), make: func(b base) ct.Funcs {
		s := make(slots, b.cfg.Limit)
		return ct.Funcs{Acquire: s.wait, Release: s.release}
	},
}

// asleepKind is a channel behind a mutex that keeps those who wait in order: the first waits for a slot and
// holds it.
func asleepKind() kind {
	k := kind{name: "zoo channel behind a mutex", traits: ofSlots(ct.ContextHonoured)}
	k.traits.HoldsLockWhileWaiting = true
	k.make = func(b base) ct.Funcs {
		s := make(slots, b.cfg.Limit)
		var mu sync.Mutex
		return ct.Funcs{Release: s.release, Acquire: func(ctx context.Context, n int) error {
			mu.Lock()
			defer mu.Unlock()
			return s.acquire(ctx, n)
		}}
	}
	return k
}

// UndeclaredAsleep is that design without the declaration. Inlined into a test of the suite
// its functions would count as the suite's.
//
//go:noinline
func UndeclaredAsleep(source ct.TimeSource) ct.Spec {
	spec := asleepKind().spec(source, "")
	spec.Traits.HoldsLockWhileWaiting = false
	return spec
}

// seatsKind is middleware that counts those in the backlog and lets them go only when
// they are done.
var seatsKind = kind{
	name: "zoo seats",
	traits: ct.Traits{
		Backlog: ct.BacklogBounded, Timeout: ct.TimeoutBounded, Context: ct.ContextHonoured,
		ContextError: ct.ErrorOfContext, SeatHeld: ct.SeatKept, Fair: ct.FairFIFO,
		OneAtATime: true, Hook: ct.HookNone,
	},
	make: func(b base) ct.Funcs {
		var mu sync.Mutex
		seats := 0
		slots := make(slots, b.cfg.Limit)
		serve := func(run func()) error {
			defer slots.release(1)
			run()
			return nil
		}
		return ct.Funcs{Do: func(ctx context.Context, run func()) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if slots.try(1) {
				return serve(run)
			}
			mu.Lock()
			if seats >= b.cfg.Backlog {
				mu.Unlock()
				return errFull
			}
			seats++
			mu.Unlock()
			defer func() { mu.Lock(); seats--; mu.Unlock() }()
			expired := make(chan struct{})
			timer := b.clock.AfterFunc(b.cfg.Timeout, func() { close(expired) })
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
}

// gateKind is a counter that lets in whom it can, and nobody waits. As middleware it looks at no context.
func gateKind(middleware bool) kind {
	k := kind{name: "zoo gate", traits: ct.Traits{
		Backlog: ct.BacklogNone, OneAtATime: true, OverRelease: ct.OverReleaseUndefined, Hook: ct.HookNone,
	}}
	if middleware {
		k.name = "zoo gate before a handler"
		k.traits.Context, k.traits.Hook = ct.ContextIgnored, ct.HookOnce
	}
	k.make = func(b base) ct.Funcs {
		if b.cfg.Backlog != 0 || b.cfg.Timeout >= 0 {
			panic("nothing can wait here")
		}
		var used atomic.Int64
		leave := func(int) { used.Add(-1) }
		enter := func(int) bool {
			if used.Add(1) <= int64(b.cfg.Limit) {
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
				b.cfg.OnReject()
				return errFull
			}
			defer leave(1)
			run()
			return nil
		}}
	}
	return k
}
