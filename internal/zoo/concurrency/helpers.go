package concurrency

import (
	"context"

	ct "github.com/escapement-go/escapement/conformance/concurrencytest"
)

// staysBehind is what is wrong with helpers that nobody wakes when their request gives up: each
// stays until somebody releases.
const staysBehind = "a helper stays until the next release"

// helpers is a counter and a condition, for which a goroutine waits on behalf of each request, so
// that the request can look at its context. Who gets a slot is chance.
func helpers(mutant string, source ct.TimeSource) ct.Spec {
	return ct.Spec{
		Name: "zoo helpers: " + mutant,
		Time: source,
		New: func(_ ct.Env, cfg ct.Config) ct.Funcs {
			s := &condition{limit: cfg.Limit}
			s.cond.L = &s.mu
			return ct.Funcs{
				Acquire: func(ctx context.Context, weight int) error {
					if err := ctx.Err(); err != nil {
						return err
					}
					w := &helped{ready: make(chan struct{})}
					s.mu.Lock()
					if weight <= s.limit-s.used {
						s.used += weight
						s.mu.Unlock()
						return nil
					}
					s.mu.Unlock()
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
					if mutant == "" || w.granted {
						s.cond.Broadcast()
					}
					return ctx.Err()
				},
				Release: func(weight int) {
					s.mu.Lock()
					defer s.mu.Unlock()
					s.used -= weight
					s.cond.Broadcast()
				},
			}
		},
		Traits: ct.Traits{
			Backlog: ct.BacklogUnbounded, Timeout: ct.TimeoutNone, Context: ct.ContextHonoured,
			ContextError: ct.ErrorOfContext, Fair: ct.FairNone,
			Oversize: ct.OversizeBlocks, OverRelease: ct.OverReleaseUndefined, Hook: ct.HookNone,
		},
	}
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
