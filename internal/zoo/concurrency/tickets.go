package concurrency

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jonboulle/clockwork"

	ct "github.com/escapement-go/escapement/conformance/concurrencytest"
	"github.com/escapement-go/escapement/internal/zoo"
)

var (
	errBusy    = errors.New("too many wait")
	errTooLate = errors.New("waited for too long")
	errTooMuch = errors.New("more than there are")
)

// unusual are designs that have neither a mutex with a list nor a channel of slots.
func unusual() []zoo.Design {
	type traits = ct.Traits
	return []zoo.Design{
		{Name: "numbered tickets and a condition", Spec: ct.Spec{
			Name: "tickets", Time: ct.PackageTime,
			New: func(_ ct.Env, cfg ct.Config) ct.Funcs {
				s := newTickets(cfg.Limit)
				return ct.Funcs{
					Lock: func(int) { s.lock() }, TryAcquire: func(int) bool { return s.try() },
					Release: func(int) { s.release() }, Resize: s.resize,
				}
			},
			Traits: traits{
				Backlog: ct.BacklogUnbounded, Timeout: ct.TimeoutNone,
				Fair: ct.FairFIFO, OneAtATime: true, OverRelease: ct.OverReleasePanics,
				Hook: ct.HookNone,
			},
		}},
		{Name: "a goroutine that owns the slots and knows who waits", Spec: ownerSpec("")},
		{Name: "a counter without a lock, and a channel that each release closes", Spec: counterSpec("")},
	}
}

// tickets serves the requests in the order of their numbers.
type tickets struct {
	mu             sync.Mutex
	changed        sync.Cond
	limit          int
	next, released int // tickets that were drawn, and those that came back
}

func newTickets(limit int) *tickets {
	s := &tickets{limit: limit}
	s.changed.L = &s.mu
	return s
}

func (s *tickets) lock() {
	s.mu.Lock()
	defer s.mu.Unlock()
	mine := s.next
	s.next++
	for mine >= s.released+s.limit {
		s.changed.Wait()
	}
}

func (s *tickets) try() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next >= s.released+s.limit {
		return false
	}
	s.next++
	return true
}

func (s *tickets) release() {
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

const saysRuns = "who is rejected as its context ends is told that it runs"

func ownerSpec(mutant string) ct.Spec {
	return ct.Spec{
		Name: "owner", Time: ct.Injected,
		New: func(env ct.Env, cfg ct.Config) ct.Funcs {
			o := newOwner(env.Clock, cfg)
			o.mutant = mutant
			return ct.Funcs{Acquire: o.acquire, Release: o.release, Stop: func() { close(o.done) }}
		},
		Traits: ct.Traits{
			Backlog: ct.BacklogBounded, Timeout: ct.TimeoutBounded,
			Context: ct.ContextHonoured, ContextError: ct.ErrorOfContext,
			SeatHeld: ct.SeatFreed, Fair: ct.FairFIFO,
			Oversize: ct.OversizeFails, OverRelease: ct.OverReleaseIgnored,
			Hook: ct.HookNone,
		},
	}
}

// owner has all of its state in one goroutine.
type owner struct {
	mutant  string
	clock   clockwork.Clock
	timeout time.Duration
	ask     chan *request
	leave   chan *request
	back    chan int
	done    chan struct{}
}

type request struct {
	weight int
	answer chan error // what becomes of it
	left   chan bool  // whether it had waited when it left
}

func newOwner(clock clockwork.Clock, cfg ct.Config) *owner {
	o := &owner{
		clock: clock, timeout: cfg.Timeout,
		ask: make(chan *request), leave: make(chan *request), back: make(chan int), done: make(chan struct{}),
	}
	go o.run(cfg.Limit, cfg.Backlog)
	return o
}

func (o *owner) run(limit, backlog int) {
	used := 0
	var waits []*request
	for {
		select {
		case r := <-o.ask:
			switch {
			case r.weight > limit:
				r.answer <- errTooMuch
			case len(waits) == 0 && used+r.weight <= limit:
				used += r.weight
				r.answer <- nil
			case len(waits) >= backlog || o.timeout <= 0:
				r.answer <- errBusy
			default:
				waits = append(waits, r)
			}
		case r := <-o.leave:
			at := -1
			for i := range waits {
				if waits[i] == r {
					at = i
				}
			}
			if at >= 0 {
				waits = append(waits[:at:at], waits[at+1:]...)
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
	timer := o.clock.NewTimer(max(0, o.timeout))
	defer timer.Stop()
	late := timer.Chan()
	if o.timeout <= 0 {
		late = nil // it is answered at once
	}
	var reason error
	select {
	case err := <-r.answer:
		if o.mutant == saysRuns && ctx.Err() != nil {
			return nil
		}
		return err
	case <-late:
		reason = errTooLate
	case <-ctx.Done():
		reason = ctx.Err()
	}
	o.leave <- r
	switch waited := <-r.left; {
	case waited:
		return reason
	case o.mutant == saysRuns:
		return nil
	}
	return <-r.answer
}

func (o *owner) release(weight int) { o.back <- weight }

const wholeTimeout = "who wakes in vain waits for the whole timeout again"

func counterSpec(mutant string) ct.Spec {
	return ct.Spec{
		Name: "counter", Time: ct.PackageTime,
		New: func(_ ct.Env, cfg ct.Config) ct.Funcs {
			c := newCounter(cfg.Limit, cfg.Timeout)
			c.mutant = mutant
			return ct.Funcs{
				Acquire:    func(ctx context.Context, _ int) error { return c.acquire(ctx) },
				TryAcquire: func(int) bool { return c.try() },
				Release:    func(int) { c.release() },
				Do:         c.do,
			}
		},
		Traits: ct.Traits{
			Backlog: ct.BacklogUnbounded, Timeout: ct.TimeoutBounded,
			Context: ct.ContextHonoured, ContextError: ct.ErrorOfContext,
			Fair: ct.FairNone, OneAtATime: true, Hook: ct.HookNone,
			OverRelease: ct.OverReleaseIgnored,
		},
	}
}

// counter lets those who wait run for each slot that comes free.
type counter struct {
	mutant  string
	limit   int64
	timeout time.Duration
	used    atomic.Int64
	freed   atomic.Pointer[chan struct{}]
}

func newCounter(limit int, timeout time.Duration) *counter {
	c := &counter{limit: int64(limit), timeout: timeout}
	first := make(chan struct{})
	c.freed.Store(&first)
	return c
}

func (c *counter) try() bool {
	for {
		used := c.used.Load()
		if used >= c.limit {
			return false
		}
		if c.used.CompareAndSwap(used, used+1) {
			return true
		}
	}
}

func (c *counter) release() {
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
	if err := c.acquire(ctx); err != nil {
		return err
	}
	defer c.release()
	run()
	return nil
}

func (c *counter) acquire(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var late <-chan time.Time
	for {
		freed := *c.freed.Load()
		if c.try() {
			return nil
		}
		if c.timeout <= 0 {
			return errTooLate
		}
		if late == nil || c.mutant == wholeTimeout {
			timer := time.NewTimer(c.timeout)
			defer timer.Stop()
			late = timer.C
		}
		select {
		case <-freed:
		case <-late:
			return errTooLate
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
