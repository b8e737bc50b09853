package concurrency

import (
	"context"
	"slices"
	"sync"

	ct "github.com/escapement-go/escapement/conformance/concurrencytest"
)

// workers run handlers on goroutines of their own, as many at once as there are slots, and hand
// what a handler panics with to the request.
type workers struct {
	mu    sync.Mutex
	idle  int
	queue []*job
}

type job struct {
	run       func()
	done      chan struct{}
	panicked  any
	completed bool
}

// Mistakes of workers.
const (
	losesWorker  = "a handler that leaves by Goexit takes its worker along"
	returnsEarly = "a request whose context ends comes back while its handler runs"
)

// leavesPanics is a choice: what a handler panics with ends the process.
const leavesPanics = "panics end the process"

func workersSpec(mutant string, source ct.TimeSource) ct.Spec {
	return ct.Spec{
		Name: "zoo workers: " + mutant,
		Time: source,
		New: func(_ ct.Env, cfg ct.Config) ct.Funcs {
			w := &workers{idle: cfg.Limit}
			return ct.Funcs{Do: func(ctx context.Context, run func()) error {
				if err := ctx.Err(); err != nil {
					return err
				}
				j := &job{run: run, done: make(chan struct{})}
				w.mu.Lock()
				switch {
				case w.idle > 0:
					w.idle--
					go w.work(j, mutant)
				case len(w.queue) >= cfg.Backlog:
					w.mu.Unlock()
					return errFull
				default:
					w.queue = append(w.queue, j)
				}
				w.mu.Unlock()
				select {
				case <-j.done:
				case <-ctx.Done():
					if w.leave(j) {
						return ctx.Err()
					}
					if mutant != returnsEarly {
						<-j.done
					}
				}
				if j.panicked != nil {
					panic(j.panicked)
				}
				return nil
			}}
		},
		Traits: ct.Traits{
			Backlog: ct.BacklogBounded, Timeout: ct.TimeoutNone, Context: ct.ContextHonoured,
			ContextError: ct.ErrorOfContext, SeatHeld: ct.SeatFreed, Fair: ct.FairFIFO,
			OneAtATime: true, Hook: ct.HookNone,
		},
	}
}

// work runs a job, and then lets another goroutine run the next one: a handler may leave by
// Goexit.
func (w *workers) work(j *job, mutant string) {
	defer func() {
		if mutant == losesWorker && !j.completed && j.panicked == nil {
			return
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		if len(w.queue) == 0 {
			w.idle++
			return
		}
		go w.work(w.queue[0], mutant)
		w.queue = w.queue[1:]
	}()
	defer close(j.done)
	defer func() {
		if !j.completed && mutant != leavesPanics {
			j.panicked = recover()
		}
	}()
	j.run()
	j.completed = true
}

// leave takes a job out of the queue, and reports whether it still was there.
func (w *workers) leave(j *job) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.Index(w.queue, j)
	if i >= 0 {
		w.queue = slices.Delete(w.queue, i, i+1)
	}
	return i >= 0
}
