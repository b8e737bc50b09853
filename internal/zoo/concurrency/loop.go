package concurrency

import (
	"context"
	"slices"

	ct "github.com/escapement-go/escapement/conformance/concurrencytest"
)

// loop is a goroutine that alone knows who runs and who waits, and is told of all that happens.
type loop struct {
	limit, used int
	queue       []*asked
	ask, leave  chan *asked
	release     chan int
	stop        chan struct{}
}

type asked struct {
	weight int
	got    chan struct{}
}

const looksLate = "a loop gives slots to whose context is done"

func loopSpec(mutant string, source ct.TimeSource) ct.Spec {
	return ct.Spec{
		Name: "zoo loop: " + mutant,
		Time: source,
		New: func(_ ct.Env, cfg ct.Config) ct.Funcs {
			l := &loop{
				limit: cfg.Limit,
				ask:   make(chan *asked), leave: make(chan *asked), release: make(chan int), stop: make(chan struct{}),
			}
			go l.run()
			return ct.Funcs{
				Acquire: func(ctx context.Context, weight int) error {
					if err := ctx.Err(); err != nil && mutant != looksLate {
						return err
					}
					return l.acquire(ctx, weight)
				},
				Release: func(weight int) { l.release <- weight },
				Stop:    func() { close(l.stop) },
			}
		},
		Traits: ct.Traits{
			Backlog: ct.BacklogUnbounded, Timeout: ct.TimeoutNone, Context: ct.ContextHonoured,
			ContextError: ct.ErrorOfContext, Fair: ct.FairFIFO,
			Oversize: ct.OversizeFails, OverRelease: ct.OverReleaseUndefined, Hook: ct.HookNone,
		},
	}
}

func (l *loop) run() {
	for {
		select {
		case a := <-l.ask:
			l.queue = append(l.queue, a)
		case weight := <-l.release:
			l.used -= weight
		case a := <-l.leave:
			if i := slices.Index(l.queue, a); i >= 0 {
				l.queue = slices.Delete(l.queue, i, i+1)
			} else { // it has got its slots meanwhile
				l.used -= a.weight
			}
		case <-l.stop:
			return
		}
		for len(l.queue) > 0 && l.used+l.queue[0].weight <= l.limit {
			l.used += l.queue[0].weight
			close(l.queue[0].got)
			l.queue = l.queue[1:]
		}
	}
}

func (l *loop) acquire(ctx context.Context, weight int) error {
	if weight > l.limit {
		return errTooBig
	}
	a := &asked{weight, make(chan struct{})}
	l.ask <- a
	select {
	case <-a.got:
		return nil
	case <-ctx.Done():
		l.leave <- a
		return ctx.Err()
	}
}
