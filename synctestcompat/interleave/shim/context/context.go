// Package context stands for std's context in code that was rewritten for package interleave. In an
// explored body a cancel is a point, and so is the end of a timeout, which may come before or after other
// timers of its instant.
package context

import (
	"context"

	"github.com/escapement-go/escapement/internal/sched"
)

// What std's package context has besides functions.
type (
	Context         = context.Context
	CancelFunc      = context.CancelFunc
	CancelCauseFunc = context.CancelCauseFunc
)

// Errors.
var (
	Canceled         = context.Canceled
	DeadlineExceeded = context.DeadlineExceeded
)

// The functions that make no context that ends.
var (
	Background    = context.Background
	TODO          = context.TODO
	WithValue     = context.WithValue
	WithoutCancel = context.WithoutCancel
)

// Cause is std's.
func Cause(c Context) error {
	if c, ok := c.(*timeout); ok {
		return c.why()
	}
	return context.Cause(c)
}

// WithCancel is std's.
func WithCancel(parent Context) (Context, CancelFunc) {
	ctx, cancel := context.WithCancel(parent)
	return ctx, func() {
		point(ctx)
		cancel()
	}
}

// WithCancelCause is std's.
func WithCancelCause(parent Context) (Context, CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	return ctx, func(cause error) {
		point(ctx)
		cancel(cause)
	}
}

// point is where a context is about to end, which others see by its Err, or by that of a child.
func point(ctx Context) {
	if g := sched.Self(); g != nil {
		g.Point("cancel", ctx)
		g.Shows()
	}
}

// AfterFunc is std's: f begins at a point.
func AfterFunc(ctx Context, f func()) (stop func() bool) {
	g := sched.Self()
	if g == nil {
		return context.AfterFunc(ctx, f)
	}
	begin := g.Reserve() // now: std starts several in any order
	std := context.AfterFunc(ctx, func() { begin(f) })
	return func() bool {
		point(ctx)
		return std()
	}
}
