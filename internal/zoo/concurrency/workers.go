package concurrency

import (
	"context"
	"slices"
	"sync"

	ct "github.com/escapement-go/escapement/conformance/concurrencytest"
)

// workersKind runs handlers on goroutines of their own, as many at once as there are slots, and hands
// what a handler panics with to the request, unless it is its choice that this ends the process.
var workersKind = kind{
	name: "zoo workers: ",
	traits: ct.Traits{
		Backlog: ct.BacklogBounded, Timeout: ct.TimeoutNone, Context: ct.ContextHonoured,
		ContextError: ct.ErrorOfContext, SeatHeld: ct.SeatFreed, Fair: ct.FairFIFO,
		OneAtATime: true, Hook: ct.HookNone,
	},
	make: func(b base) ct.Funcs { return ct.Funcs{Do: (&workers{base: b, idle: b.cfg.Limit}).do} },
}

type workers struct {
	base
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

func (w *workers) do(ctx context.Context, run func()) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	j := &job{run: run, done: make(chan struct{})}
	w.mu.Lock()
	switch {
	case w.idle > 0:
		w.idle--
		go w.work(j)
	case len(w.queue) >= w.cfg.Backlog:
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
		if !w.is("a request whose context ends comes back while its handler runs") {
			<-j.done
		}
	}
	if j.panicked != nil {
		panic(j.panicked)
	}
	return nil
}

// work runs a job, and then lets another goroutine run the next one: a handler may leave by
// Goexit.
func (w *workers) work(j *job) {
	defer func() {
		if !j.completed && j.panicked == nil && w.is("a handler that leaves by Goexit takes its worker along") {
			return
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		if len(w.queue) == 0 {
			w.idle++
			return
		}
		go w.work(w.queue[0])
		w.queue = w.queue[1:]
	}()
	defer close(j.done)
	defer func() {
		if !j.completed && !w.is("panics end the process") {
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
