package concurrency

import (
	"context"
	"sync"

	ct "github.com/escapement-go/escapement/conformance/concurrencytest"
)

// condition is a counter and a condition that everybody checks again: who gets a slot
// is chance.
type condition struct {
	mu          sync.Mutex
	cond        sync.Cond
	limit, used int
}

func newCondition(b base) *condition {
	s := &condition{limit: b.cfg.Limit}
	s.cond.L = &s.mu
	return s
}

func (s *condition) lock(weight int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for weight > s.limit-s.used {
		s.cond.Wait()
	}
	s.used += weight
}

func (s *condition) release(weight int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used -= weight
	s.cond.Broadcast()
}

func (s *condition) resize(limit int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit = limit
	s.cond.Broadcast()
}

// ofCondition are the choices of a condition.
func ofCondition(oversize ct.Oversize) ct.Traits {
	return ct.Traits{
		Backlog: ct.BacklogUnbounded, Timeout: ct.TimeoutNone, Fair: ct.FairNone,
		Oversize: oversize, OverRelease: ct.OverReleaseUndefined, Hook: ct.HookNone,
	}
}

var conditionKind = kind{
	name: "zoo condition", traits: ofCondition(ct.OversizeBlocks), make: func(b base) ct.Funcs {
		s := newCondition(b)
		return ct.Funcs{Lock: s.lock, Release: s.release, Resize: s.resize}
	},
}

// clampingKind is a semaphore of bytes, of which nobody gets more than there are: a request for more than the limit
// counts as one for the limit.
var clampingKind = kind{
	name: "zoo clamping", traits: ofCondition(ct.OversizeClamped), make: func(b base) ct.Funcs {
		s, most := newCondition(b), b.cfg.Limit
		f := ct.Funcs{
			Lock:    func(n int) { s.lock(min(n, most)) },
			Release: func(n int) { s.release(min(n, most)) },
		}
		if b.is("gives back more than it took") {
			f.Release = s.release
		}
		return f
	},
}

// helpersKind is a condition for which a goroutine waits on behalf of each request, so that the request can look
// at its context.
var helpersKind = kind{
	name: "zoo helpers: ",
	traits: ct.Traits{
		Backlog: ct.BacklogUnbounded, Timeout: ct.TimeoutNone, Context: ct.ContextHonoured,
		ContextError: ct.ErrorOfContext, Fair: ct.FairNone,
		Oversize: ct.OversizeBlocks, OverRelease: ct.OverReleaseUndefined, Hook: ct.HookNone,
	},
	make: func(b base) ct.Funcs {
		s := newCondition(b)
		return ct.Funcs{Release: s.release, Acquire: func(ctx context.Context, weight int) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			s.mu.Lock()
			if weight <= s.limit-s.used {
				s.used += weight
				s.mu.Unlock()
				return nil
			}
			s.mu.Unlock()
			w := &helped{ready: make(chan struct{})}
			go w.wait(s, weight)
			select {
			case <-w.ready:
				return nil
			case <-ctx.Done():
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			if w.granted {
				s.used -= weight
			}
			w.gone = true
			if w.granted || !b.is("a helper stays until the next release") {
				s.cond.Broadcast()
			}
			return ctx.Err()
		}}
	},
}

// helped is a request for which a helper waits.
type helped struct {
	ready         chan struct{}
	granted, gone bool
}

func (w *helped) wait(s *condition, weight int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !w.gone && weight > s.limit-s.used {
		s.cond.Wait()
	}
	if !w.gone {
		w.granted = true
		s.used += weight
		close(w.ready)
	}
}
