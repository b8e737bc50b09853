package concurrencytest

import (
	"context"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/internal/verb"
)

// given is what the implementation is given for the context of a request. One that ends as the request is decided does
// so when it is asked: at which call of Done and Err, counted together, takes turns.
func (r *run) given(ctx context.Context, q *request) context.Context {
	if q.cutAt == 0 {
		return ctx
	}
	var asked atomic.Int64
	return &slowContext{ctx, func() {
		if letRun(); asked.Add(1) == q.cutAt {
			q.cancel()
		}
	}}
}

// cutAt is the call at which the context of a request ends as that is decided: most ask once whether it has ended,
// and then wait for its end.
func (r *run) cutAt() int64 {
	switch r.Order {
	case inside.OrderStepFirst:
		return 2
	case inside.OrderHeld:
		return 3
	case inside.OrderFireFirst:
		return 1
	}
	r.c.cuts++
	return 1 + r.c.cuts%3
}

// isCut reports whether the context of a request ends at the instant at which it comes, without a pause between.
func (r *run) isCut(s conformance.Step) bool {
	return slices.ContainsFunc(r.atOnce, func(o conformance.Step) bool {
		return o.Op == verb.Cancel && o.N == s.N
	})
}

// cut ends the contexts that were to end as their requests were decided, and have not.
func (r *run) cut(steps []conformance.Step) {
	for _, s := range steps {
		if i, known := r.byID[s.N]; s.Op == verb.Cancel && known && r.out.requests[i].cutAt > 0 {
			r.out.requests[i].cancel()
			r.Settle()
		}
	}
}

// letRun lets other goroutines run.
func letRun() {
	for range 20 {
		runtime.Gosched()
	}
}

// slowContext is a context that does something before it answers.
type slowContext struct {
	context.Context
	before func()
}

// Done is that of the context, late.
func (c *slowContext) Done() <-chan struct{} {
	c.before()
	return c.Context.Done()
}

// Err is that of the context, late.
func (c *slowContext) Err() error {
	c.before()
	return c.Context.Err()
}
