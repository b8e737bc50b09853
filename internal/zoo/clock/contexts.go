package clock

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	ct "github.com/escapement-go/escapement/conformance/clocktest"
	"github.com/jonboulle/clockwork"
)

// contextMistakes are mistakes of contexts with deadlines.
var contextMistakes = []mistake{
	{"a context has no values", "CK-CTXTREE", wrapContexts(func(ctx *context.Context, _ *context.CancelFunc) {
		*ctx = valueless{*ctx}
	})},
	{"Err wraps the error", "CK-CONTEXT", wrapContexts(func(ctx *context.Context, _ *context.CancelFunc) {
		*ctx = wrappingContext{*ctx}
	})},
	{"a context ends when it is asked", "CK-CONTEXT", wrapContexts(func(ctx *context.Context, _ *context.CancelFunc) {
		*ctx = &lazyContext{Context: *ctx, done: make(chan struct{})}
	})},
	{"a context without time is ended later", "CK-CONTEXT", func(f *ct.Funcs) {
		withTimeout := f.WithTimeout
		f.WithTimeout = func(p context.Context, d time.Duration) (context.Context, context.CancelFunc) {
			if d > 0 {
				return withTimeout(p, d)
			}
			ctx, cancel := context.WithCancelCause(p)
			f.AfterFunc(d, func() { cancel(context.DeadlineExceeded) })
			return expired{ownDeadline{ctx, f.Now().Add(d)}}, func() { cancel(nil) }
		}
	}},
	{"cancel ends it on a goroutine", "CK-CONTEXT", wrapContexts(func(_ *context.Context, cancel *context.CancelFunc) {
		ends := *cancel
		*cancel = func() { go ends() }
	})},
	{"a cancel after the deadline changes Err", "CK-CONTEXT", wrapContexts(func(
		ctx *context.Context, cancel *context.CancelFunc,
	) {
		fickle, ends := &fickleContext{Context: *ctx}, *cancel
		*ctx, *cancel = fickle, func() { fickle.cancelled.Store(true); ends() }
	})},
	{"a context within another is counted twice", "CK-ARMED", func(f *ct.Funcs) {
		withTimeout := f.WithTimeout
		f.WithTimeout = func(p context.Context, d time.Duration) (context.Context, context.CancelFunc) {
			ctx, cancel := withTimeout(p, d)
			if end, ends := p.Deadline(); ends && f.Now().Add(d).Before(end) {
				context.AfterFunc(ctx, stopper(f.AfterFunc(d, func() {})))
			}
			return ctx, cancel
		}
	}},
	{"the cause of a parent is not that of its children", "CK-CTXTREE", func(f *ct.Funcs) {
		withTimeout := f.WithTimeout
		f.WithTimeout = func(p context.Context, d time.Duration) (context.Context, context.CancelFunc) {
			if own, ok := p.(timed); ok {
				p = causeless(own)
			}
			ctx, cancel := withTimeout(p, d)
			return timed{ctx}, cancel
		}
	}},
	{"a child shows its own deadline", "CK-CTXTREE", func(f *ct.Funcs) {
		withTimeout := f.WithTimeout
		f.WithTimeout = func(p context.Context, d time.Duration) (context.Context, context.CancelFunc) {
			own := f.Now().Add(d)
			ctx, cancel := withTimeout(p, d)
			return ownDeadline{ctx, own}, cancel
		}
	}},
	{"a child with the deadline of its parent is canceled", "CK-CTXTREE", func(f *ct.Funcs) {
		withTimeout := f.WithTimeout
		f.WithTimeout = func(p context.Context, d time.Duration) (context.Context, context.CancelFunc) {
			ctx, cancel := withTimeout(p, d)
			if end, ends := p.Deadline(); ends && end.Equal(f.Now().Add(d)) {
				return canceledByParent{ctx}, cancel
			}
			return ctx, cancel
		}
	}},
}

// wrapContexts changes each context, and what cancels it.
func wrapContexts(mistake func(ctx *context.Context, cancel *context.CancelFunc)) func(f *ct.Funcs) {
	return func(f *ct.Funcs) {
		withTimeout := f.WithTimeout
		f.WithTimeout = func(p context.Context, d time.Duration) (context.Context, context.CancelFunc) {
			ctx, cancel := withTimeout(p, d)
			mistake(&ctx, &cancel)
			return ctx, cancel
		}
	}
}

// timed is a context that WithTimeout made.
type timed struct{ context.Context }

// causeless is a parent that has no other cause than its Err: package context asks for the former by a key
// that is a pointer.
type causeless struct{ context.Context }

func (c causeless) Value(key any) any {
	if reflect.TypeOf(key).Kind() == reflect.Pointer {
		return nil
	}
	return c.Context.Value(key)
}

// canceledByParent calls it a cancel that its parent's deadline has come.
type canceledByParent struct{ context.Context }

func (c canceledByParent) Err() error {
	if c.Context.Err() != nil {
		return context.Canceled
	}
	return nil
}

// valueless is a context that forgets the values of its parents, but for those of package
// context itself, whose keys are pointers.
type valueless struct{ context.Context }

func (v valueless) Value(key any) any {
	if reflect.TypeOf(key).Kind() != reflect.Pointer {
		return nil
	}
	return v.Context.Value(key)
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

// wrappingContext says what went wrong in its own words.
type wrappingContext struct{ context.Context }

func (c wrappingContext) Err() error {
	if err := c.Context.Err(); err != nil {
		return fmt.Errorf("fake: %w", err)
	}
	return nil
}

// fickleContext says that it was cancelled last, if it was.
type fickleContext struct {
	context.Context
	cancelled atomic.Bool
}

func (c *fickleContext) Err() error {
	if c.cancelled.Load() {
		return context.Canceled
	}
	return c.Context.Err()
}

// expired is a context whose deadline has come, once it is cancelled because of it.
type expired struct{ ownDeadline }

func (c expired) Err() error {
	if context.Cause(c.Context) == context.DeadlineExceeded {
		return context.DeadlineExceeded
	}
	return c.Context.Err()
}

// armedContexts arms a timer for each context, also for one whose parent ends first.
func armedContexts(f *ct.Funcs) {
	withTimeout := f.WithTimeout
	f.WithTimeout = func(p context.Context, d time.Duration) (context.Context, context.CancelFunc) {
		ctx, cancel := withTimeout(p, d)
		if end, ends := p.Deadline(); ends && end.Before(f.Now().Add(d)) && ctx.Err() == nil {
			context.AfterFunc(ctx, stopper(f.AfterFunc(d, func() {})))
		}
		return ctx, cancel
	}
}

func stopper(t clockwork.Timer) func() { return func() { t.Stop() } }

// ownDeadline shows its own deadline even if a parent's comes first.
type ownDeadline struct {
	context.Context
	deadline time.Time
}

func (c ownDeadline) Deadline() (time.Time, bool) { return c.deadline, true }
