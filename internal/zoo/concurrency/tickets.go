package concurrency

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	ct "github.com/escapement-go/escapement/conformance/concurrencytest"
)

// Kinds that have neither a mutex with a list nor a channel of slots.

// ticketsKind serves the requests in the order of their numbers.
var ticketsKind = kind{
	name: "tickets", only: ct.PackageTime,
	traits: ct.Traits{
		Backlog: ct.BacklogUnbounded, Timeout: ct.TimeoutNone, Fair: ct.FairFIFO,
		OneAtATime: true, OverRelease: ct.OverReleasePanics, Hook: ct.HookNone,
	},
	make: func(b base) ct.Funcs {
		s := &tickets{limit: b.cfg.Limit}
		s.changed.L = &s.mu
		return ct.Funcs{Lock: s.lock, TryAcquire: s.try, Release: s.release, Resize: s.resize}
	},
}

type tickets struct {
	mu             sync.Mutex
	changed        sync.Cond
	limit          int
	next, released int // tickets that were drawn, and those that came back
}

func (s *tickets) lock(int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	mine := s.next
	s.next++
	for mine >= s.released+s.limit {
		s.changed.Wait()
	}
}

func (s *tickets) try(int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next >= s.released+s.limit {
		return false
	}
	s.next++
	return true
}

func (s *tickets) release(int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.released == s.next {
		panic("tickets: released more than held")
	}
	s.released++
	s.changed.Broadcast()
}

func (s *tickets) resize(limit int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit = limit
	s.changed.Broadcast()
}

// ownerKind has all of its state in one goroutine.
var ownerKind = kind{
	name: "owner", only: ct.Injected,
	traits: ct.Traits{
		Backlog: ct.BacklogBounded, Timeout: ct.TimeoutBounded, Context: ct.ContextHonoured,
		ContextError: ct.ErrorOfContext, SeatHeld: ct.SeatFreed, Fair: ct.FairFIFO,
		Oversize: ct.OversizeFails, OverRelease: ct.OverReleaseIgnored, Hook: ct.HookNone,
	},
	make: func(b base) ct.Funcs {
		o := &owner{
			base: b, ask: make(chan *request), leave: make(chan *request),
			back: make(chan int), done: make(chan struct{}),
		}
		go o.run()
		return ct.Funcs{
			Acquire: o.acquire, Release: func(weight int) { o.back <- weight }, Stop: func() { close(o.done) },
		}
	},
}

type owner struct {
	base
	ask, leave chan *request
	back       chan int
	done       chan struct{}
}

type request struct {
	weight int
	answer chan error // what becomes of it
	left   chan bool  // whether it had waited when it left
}

func (o *owner) run() {
	used, limit := 0, o.cfg.Limit
	var waits []*request
	for {
		select {
		case r := <-o.ask:
			switch {
			case r.weight > limit:
				r.answer <- errTooBig
			case len(waits) == 0 && used+r.weight <= limit:
				used += r.weight
				r.answer <- nil
			case len(waits) >= o.cfg.Backlog || o.cfg.Timeout <= 0:
				r.answer <- errFull
			default:
				waits = append(waits, r)
			}
		case r := <-o.leave:
			at := slices.Index(waits, r)
			if at >= 0 {
				waits = slices.Delete(waits, at, at+1)
			}
			r.left <- at >= 0
		case weight := <-o.back:
			used = max(0, used-weight)
		case <-o.done:
			return
		}
		for len(waits) > 0 && used+waits[0].weight <= limit {
			used += waits[0].weight
			waits[0].answer <- nil
			waits = waits[1:]
		}
	}
}

func (o *owner) acquire(ctx context.Context, weight int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r := &request{weight: weight, answer: make(chan error, 1), left: make(chan bool, 1)}
	o.ask <- r
	timer := o.clock.NewTimer(max(0, o.cfg.Timeout))
	defer timer.Stop()
	late := timer.Chan()
	if o.cfg.Timeout <= 0 {
		late = nil // it is answered at once
	}
	saysRuns := o.is("who is rejected as its context ends is told that it runs")
	var reason error
	select {
	case err := <-r.answer:
		if saysRuns && ctx.Err() != nil {
			return nil
		}
		return err
	case <-late:
		reason = errTimeout
	case <-ctx.Done():
		reason = ctx.Err()
	}
	o.leave <- r
	switch waited := <-r.left; {
	case waited:
		return reason
	case saysRuns:
		return nil
	}
	return <-r.answer
}

// counterKind lets those who wait run for each slot that comes free.
var counterKind = kind{
	name: "counter", only: ct.PackageTime,
	traits: ct.Traits{
		Backlog: ct.BacklogUnbounded, Timeout: ct.TimeoutBounded, Context: ct.ContextHonoured,
		ContextError: ct.ErrorOfContext, Fair: ct.FairNone, OneAtATime: true, Hook: ct.HookNone,
		OverRelease: ct.OverReleaseIgnored,
	},
	make: func(b base) ct.Funcs {
		c := &counter{base: b}
		first := make(chan struct{})
		c.freed.Store(&first)
		return ct.Funcs{Acquire: c.acquire, TryAcquire: c.try, Release: c.release, Do: c.do}
	},
}

type counter struct {
	base
	used  atomic.Int64
	freed atomic.Pointer[chan struct{}]
}

func (c *counter) try(int) bool {
	for {
		used := c.used.Load()
		if used >= int64(c.cfg.Limit) {
			return false
		}
		if c.used.CompareAndSwap(used, used+1) {
			return true
		}
	}
}

func (c *counter) release(int) {
	for used := c.used.Load(); ; used = c.used.Load() {
		if used == 0 {
			return // nobody holds one
		}
		if c.used.CompareAndSwap(used, used-1) {
			break
		}
	}
	next := make(chan struct{})
	close(*c.freed.Swap(&next))
}

func (c *counter) do(ctx context.Context, run func()) error {
	if err := c.acquire(ctx, 1); err != nil {
		return err
	}
	defer c.release(1)
	run()
	return nil
}

func (c *counter) acquire(ctx context.Context, _ int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var late <-chan time.Time
	for {
		freed := *c.freed.Load()
		if c.try(1) {
			return nil
		}
		if c.cfg.Timeout <= 0 {
			return errTimeout
		}
		if late == nil || c.is("who wakes in vain waits for the whole timeout again") {
			timer := time.NewTimer(c.cfg.Timeout)
			defer timer.Stop()
			late = timer.C
		}
		select {
		case <-freed:
		case <-late:
			return errTimeout
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
