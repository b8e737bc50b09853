package clock

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"time"

	ct "github.com/escapement-go/escapement/conformance/clocktest"
)

// contextMistakes are mistakes of contexts with deadlines.
var contextMistakes = []mistake{
	{"a context has no values", "CK-CTXTREE", func(f *ct.Funcs) {
		withTimeout := f.WithTimeout
		f.WithTimeout = func(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
			ctx, cancel := withTimeout(parent, d)
			return valueless{ctx}, cancel
		}
	}},
	{"Err wraps the error", "CK-CONTEXT", func(f *ct.Funcs) {
		withTimeout := f.WithTimeout
		f.WithTimeout = func(p context.Context, d time.Duration) (context.Context, context.CancelFunc) {
			ctx, cancel := withTimeout(p, d)
			return wrappingContext{ctx}, cancel
		}
	}},
	{"a context ends when it is asked", "CK-CONTEXT", func(f *ct.Funcs) {
		withTimeout := f.WithTimeout
		f.WithTimeout = func(p context.Context, d time.Duration) (context.Context, context.CancelFunc) {
			ctx, cancel := withTimeout(p, d)
			return &lazyContext{Context: ctx, done: make(chan struct{})}, cancel
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

// ownDeadline shows its own deadline even if a parent's comes first.
type ownDeadline struct {
	context.Context
	deadline time.Time
}

func (c ownDeadline) Deadline() (time.Time, bool) { return c.deadline, true }
