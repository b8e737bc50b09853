package concurrencytest

import (
	"context"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/internal/verb"
)

// operations reports what a limiter can do.
func (f *Funcs) operations(tr Traits) map[conformance.Op]bool {
	asks, tries := f.enter(verb.Acquire) != nil, f.enter(verb.Try) != nil
	holds := asks && !f.handles(verb.Acquire)
	return map[conformance.Op]bool{
		verb.Acquire: asks,
		verb.Release: holds || tries,
		verb.Try:     tries,
		verb.Do:      f.Do != nil,
		opTwoWays:    holds && f.Do != nil,
		verb.Cancel:  f.hasContext() && tr.Context != ContextIgnored,
		opContext:    f.hasContext(),
		opAgain:      f.Take != nil || f.TryTake != nil,
		verb.Resize:  f.Resize != nil,
		verb.Stop:    f.Stop != nil,
	}
}

// enter returns what a step with this operation calls, nil if there is no such operation: it takes slots and then calls
// run with what gives them back. Middleware gives them back when run has returned, and run gets nil.
func (f *Funcs) enter(op conformance.Op) func(ctx context.Context, weight int, run func(release func())) error {
	take := f.taking(op)
	switch {
	case f.handles(op):
		return func(ctx context.Context, _ int, run func(func())) error {
			return f.Do(ctx, func() { run(nil) })
		}
	case take == nil:
		return nil
	}
	return func(ctx context.Context, weight int, run func(func())) error {
		release, err := take(ctx, weight)
		if err == nil {
			run(release)
		}
		return err
	}
}

// taking is how a step with this operation takes slots, in the form of Take, nil if it does not.
func (f *Funcs) taking(op conformance.Op) func(ctx context.Context, weight int) (release func(), err error) {
	release := func(weight int) func() { return func() { f.Release(weight) } }
	try := f.TryTake
	switch waits := op != verb.Try; {
	case waits && f.Take != nil:
		return f.Take
	case waits && f.Acquire != nil && f.Release != nil:
		return func(ctx context.Context, weight int) (func(), error) { return release(weight), f.Acquire(ctx, weight) }
	case waits && f.Lock != nil && f.Release != nil:
		return func(_ context.Context, weight int) (func(), error) {
			f.Lock(weight)
			return release(weight), nil
		}
	case try != nil:
	case f.TryAcquire != nil && f.Release != nil:
		try = func(weight int) (func(), bool) { return release(weight), f.TryAcquire(weight) }
	default:
		return nil
	}
	return func(_ context.Context, weight int) (func(), error) {
		if release, ok := try(weight); ok {
			return release, nil
		}
		return nil, errTried
	}
}

// request asks for one slot, calls run and gives the slot back.
func (f *Funcs) request(ctx context.Context, op conformance.Op, run func()) error {
	return f.enter(op)(ctx, 1, func(release func()) {
		if run(); release != nil {
			release()
		}
	})
}

// hasContext reports whether requests are given contexts.
func (f *Funcs) hasContext() bool {
	return f.Take != nil || f.Acquire != nil && f.Release != nil || f.handles(verb.Acquire)
}

// handles reports whether the request of a step with this operation is a handler that gives
// its slot back by returning, rather than by Release. Handlers take one slot each.
func (f *Funcs) handles(op conformance.Op) bool {
	released := f.Take != nil || f.Release != nil && (f.Acquire != nil || f.Lock != nil)
	return op == verb.Do || op == verb.Acquire && !released && f.Do != nil
}

// triesOnly reports whether a request can do no more than try.
func (f *Funcs) triesOnly() bool {
	waits := f.Take != nil || f.Acquire != nil || f.Lock != nil || f.Do != nil
	return !waits && f.enter(verb.Try) != nil
}
