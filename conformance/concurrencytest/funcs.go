package concurrencytest

import (
	"context"
	"sync"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/internal/verb"
)

// operations reports what a limiter can do.
func (f *Funcs) operations(tr Traits) map[conformance.Op]bool {
	return map[conformance.Op]bool{
		verb.Acquire: f.enter(verb.Acquire) != nil,
		verb.Release: f.Release != nil && (f.Acquire != nil || f.Lock != nil || f.TryAcquire != nil),
		verb.Try:     f.TryAcquire != nil && f.Release != nil,
		verb.Do:      f.Do != nil,
		opTwoWays:    f.Do != nil && f.enter(verb.Acquire) != nil && !f.handles(verb.Acquire),
		verb.Cancel:  f.hasContext() && tr.Context != ContextIgnored,
		opContext:    f.hasContext(),
		opAgain:      f.again != nil,
		verb.Resize:  f.Resize != nil,
		verb.Stop:    f.Stop != nil,
	}
}

// enter returns what a step with this operation calls: it takes slots and then calls run. Middleware
// gives the slots back when run has returned.
func (f *Funcs) enter(op conformance.Op) func(ctx context.Context, weight int, run func()) error {
	if f.handles(op) {
		return func(ctx context.Context, _ int, run func()) error { return f.Do(ctx, run) }
	}
	take := f.Acquire
	switch {
	case f.Release == nil:
		return nil
	case op != verb.Try && take != nil:
	case op != verb.Try && f.Lock != nil:
		take = func(_ context.Context, weight int) error {
			f.Lock(weight)
			return nil
		}
	case f.TryAcquire != nil:
		take = func(_ context.Context, weight int) error {
			if !f.TryAcquire(weight) {
				return errTried
			}
			return nil
		}
	default:
		return nil
	}
	return func(ctx context.Context, weight int, run func()) error {
		err := take(ctx, weight)
		if err == nil {
			run()
		}
		return err
	}
}

// hasContext reports whether requests are given contexts.
func (f *Funcs) hasContext() bool {
	return f.Acquire != nil && f.Release != nil || f.handles(verb.Acquire)
}

// handles reports whether the request of a step with this operation is a handler that gives
// its slot back by returning, rather than by Release. Handlers take one slot each.
func (f *Funcs) handles(op conformance.Op) bool {
	released := f.Release != nil && (f.Acquire != nil || f.Lock != nil)
	return op == verb.Do || op == verb.Acquire && !released && f.Do != nil
}

// triesOnly reports whether a request can do no more than try.
func (f *Funcs) triesOnly() bool {
	return f.TryAcquire != nil && f.Release != nil && f.Acquire == nil && f.Lock == nil && f.Do == nil
}

// keep makes an Acquire, a TryAcquire and a Release out of Take and TryTake, by keeping
// the functions that these hand out.
func (f *Funcs) keep(over OverRelease) {
	if f.Take == nil && f.TryTake == nil {
		return
	}
	held := &permits{byWeight: map[int][]func(){}}
	if take := f.Take; take != nil {
		f.Acquire = func(ctx context.Context, weight int) error {
			release, err := take(ctx, weight)
			if err == nil {
				held.add(weight, release)
			}
			return err
		}
	}
	if try := f.TryTake; try != nil {
		f.TryAcquire = func(weight int) bool {
			release, ok := try(weight)
			if ok {
				held.add(weight, release)
			}
			return ok
		}
	}
	f.Release = func(weight int) {
		if release := held.take(weight); release != nil {
			release()
		}
	}
	f.again = func() {
		switch release := held.last(); {
		case release != nil:
			release()
		case over == OverReleasePanics:
			panic("it had returned no function to release it")
		}
	}
}

// permits are functions that give slots back.
type permits struct {
	mu       sync.Mutex
	byWeight map[int][]func()
	called   func() // the one that was called last
}

func (p *permits) add(weight int, release func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.byWeight[weight] = append(p.byWeight[weight], release)
}

// take returns a function that gives back that many slots, nil if there is none.
func (p *permits) take(weight int) func() {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := p.byWeight[weight]
	if len(all) == 0 {
		return nil
	}
	p.byWeight[weight], p.called = all[:len(all)-1], all[len(all)-1]
	return p.called
}

// last returns the function that was called last, nil if none was.
func (p *permits) last() func() {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.called
}
