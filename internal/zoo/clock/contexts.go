package clock

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	ct "github.com/escapement-go/escapement/conformance/clocktest"
)

// contextMistakes are mistakes of contexts with deadlines.
var contextMistakes = []mistake{
	{"a context has no values", "CK-CTXTREE", changeContexts(func(_ *ct.Funcs, c *made) {
		c.ctx = forgetful{c.ctx, false}
	})},
	{"Err wraps the error", "CK-CONTEXT", changeContexts(func(_ *ct.Funcs, c *made) {
		c.ctx = otherErr{c.ctx, func(err error) error { return fmt.Errorf("fake: %w", err) }}
	})},
	{"a context ends when it is asked", "CK-CONTEXT", changeContexts(func(_ *ct.Funcs, c *made) {
		c.ctx = &lazyContext{Context: c.ctx, done: make(chan struct{})}
	})},
	{"a context without time is ended later", "CK-CONTEXT", changeContexts(func(f *ct.Funcs, c *made) {
		if c.d > 0 {
			return
		}
		ctx, cancel := context.WithCancelCause(c.parent)
		f.AfterFunc(c.d, func() { cancel(context.DeadlineExceeded) })
		c.ctx, c.cancel = ownDeadline{otherErr{ctx, func(err error) error {
			if context.Cause(ctx) == context.DeadlineExceeded {
				return context.DeadlineExceeded
			}
			return err
		}}, c.deadline}, func() { cancel(nil) }
	})},
	{"cancel ends it on a goroutine", "CK-CONTEXT", changeContexts(func(_ *ct.Funcs, c *made) {
		ends := c.cancel
		c.cancel = func() { go ends() }
	})},
	{"a cancel after the deadline changes Err", "CK-CONTEXT", changeContexts(func(_ *ct.Funcs, c *made) {
		var cancelled atomic.Bool
		ends := c.cancel
		c.cancel = func() { cancelled.Store(true); ends() }
		c.ctx = otherErr{c.ctx, func(err error) error {
			if cancelled.Load() {
				return context.Canceled
			}
			return err
		}}
	})},
	{"a context within another is counted twice", "CK-ARMED", changeContexts(func(f *ct.Funcs, c *made) {
		if end, ends := c.parent.Deadline(); ends && c.deadline.Before(end) {
			c.armAnother(f)
		}
	})},
	{"the cause of a parent is not that of its children", "CK-CTXTREE", func(f *ct.Funcs) {
		withTimeout := f.WithTimeout
		f.WithTimeout = func(p context.Context, d time.Duration) (context.Context, context.CancelFunc) {
			if own, ok := p.(timed); ok {
				p = forgetful{own.Context, true}
			}
			ctx, cancel := withTimeout(p, d)
			return timed{ctx}, cancel
		}
	}},
	{"a child shows its own deadline", "CK-CTXTREE", changeContexts(func(_ *ct.Funcs, c *made) {
		c.ctx = ownDeadline{c.ctx, c.deadline}
	})},
	{"a child with the deadline of its parent is canceled", "CK-CTXTREE", changeContexts(func(_ *ct.Funcs, c *made) {
		if end, ends := c.parent.Deadline(); ends && end.Equal(c.deadline) {
			c.ctx = otherErr{c.ctx, func(error) error { return context.Canceled }}
		}
	})},
}

// armedContexts arms a timer for each context, also for one whose parent ends first.
var armedContexts = changeContexts(func(f *ct.Funcs, c *made) {
	if end, ends := c.parent.Deadline(); ends && end.Before(c.deadline) && c.ctx.Err() == nil {
		c.armAnother(f)
	}
})

// made is a context that WithTimeout makes.
type made struct {
	parent   context.Context
	d        time.Duration
	deadline time.Time
	ctx      context.Context
	cancel   context.CancelFunc
}

// changeContexts changes each context when it is made.
func changeContexts(change func(f *ct.Funcs, c *made)) func(f *ct.Funcs) {
	return func(f *ct.Funcs) {
		withTimeout := f.WithTimeout
		f.WithTimeout = func(p context.Context, d time.Duration) (context.Context, context.CancelFunc) {
			c := made{parent: p, d: d, deadline: f.Now().Add(d)}
			c.ctx, c.cancel = withTimeout(p, d)
			change(f, &c)
			return c.ctx, c.cancel
		}
	}
}

// armAnother arms a timer beside that of the context, as long as this has not ended.
func (c *made) armAnother(f *ct.Funcs) {
	t := f.AfterFunc(c.d, func() {})
	context.AfterFunc(c.ctx, func() { t.Stop() })
}

// timed is a context that WithTimeout made.
type timed struct{ context.Context }

// forgetful is a context without the values of its parents: those of package context, whose keys are pointers and
// which have the cause, or all others.
type forgetful struct {
	context.Context
	pointers bool
}

func (c forgetful) Value(key any) any {
	if (reflect.TypeOf(key).Kind() == reflect.Pointer) == c.pointers {
		return nil
	}
	return c.Context.Value(key)
}

// otherErr says something else of why it has ended.
type otherErr struct {
	context.Context
	of func(err error) error
}

func (c otherErr) Err() error {
	if err := c.Context.Err(); err != nil {
		return c.of(err)
	}
	return nil
}

// lazyContext is told that it has ended when its Done is called.
type lazyContext struct {
	context.Context
	ended sync.Once
	done  chan struct{}
}

func (l *lazyContext) Done() <-chan struct{} {
	if l.Err() != nil {
		l.ended.Do(func() { close(l.done) })
	}
	return l.done
}

// ownDeadline shows its own deadline even if a parent's comes first.
type ownDeadline struct {
	context.Context
	deadline time.Time
}

func (c ownDeadline) Deadline() (time.Time, bool) { return c.deadline, true }
