package clocktest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

// timedContext is a context of a world.
type timedContext struct {
	context.Context
	cancel context.CancelFunc
	// done is what Done returned at first.
	done <-chan struct{}
	seen string // its last state
}

// rootKey is the key of a value that every context inherits.
type rootKey struct{}

// contextOf returns context n, nil if there is none.
func (w *world) contextOf(n int) *timedContext {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.contexts[n]
}

// makeContext makes a context, under another one if the step names it. One whose deadline has come
// has ended when it is returned, so that who looks at once does not begin what is too late.
func (w *world) makeContext(who int, s conformance.Step) {
	parent := w.root
	if p := w.contextOf(s.K); p != nil {
		parent = p.Context
	}
	c := &timedContext{}
	switch s.Op {
	case verb.Timeout:
		c.Context, c.cancel = w.f.WithTimeout(parent, s.D)
	case verb.Deadline:
		c.Context, c.cancel = w.f.WithDeadline(parent, w.start.Add(s.D))
	case verb.Within:
		ctx, cancel := context.WithCancelCause(parent)
		err := fmt.Errorf("cause %d", s.N)
		c.Context, c.cancel = ctx, func() { cancel(err) }
	}
	c.done = c.Done()
	if s.Op == verb.Timeout && s.D <= 0 || s.Op == verb.Deadline && who == 0 && s.D <= w.at {
		c.seen = w.state(c)
		w.note(who, fmt.Sprintf("C%d", s.N), "context %d %s", s.N, c.seen)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.contexts[s.N] = c
	w.release = append(w.release, releasing{conformance.Step{Op: verb.Cancel, N: s.N}, c.cancel})
	if w.ledger != nil && s.Op != verb.Within {
		w.ledger.context(s.N, c.Context, parent)
	}
}

// observeContexts notes each context whose state has changed.
func (w *world) observeContexts() {
	for _, id := range slices.Sorted(maps.Keys(w.contexts)) {
		c := w.contexts[id]
		told := received(c.done)
		state := w.state(c)
		if told != received(c.Done()) {
			state += ", unlike what its Done returned at first"
		}
		if state == c.seen {
			continue
		}
		text := state
		if strings.HasPrefix(c.seen, hasEnded) {
			text += ", after it said: " + strings.TrimPrefix(c.seen, hasEnded)
		}
		c.seen = state
		w.note(0, fmt.Sprintf("C%d", id), "context %d %s", id, text)
	}
}

// hasEnded begins the state of a context that is not live.
const hasEnded = "has ended: "

// state describes a context as far as its Done and Deadline say, and once it has ended its
// Err and Cause.
func (w *world) state(ctx context.Context) string {
	text := "is live"
	if received(ctx.Done()) {
		text = hasEnded + describeError(ctx.Err())
		if cause := context.Cause(ctx); !errors.Is(ctx.Err(), cause) {
			text += ", Cause " + describeError(cause)
		}
	}
	if ctx.Value(rootKey{}) == nil {
		text += ", without the value of its parent"
	}
	if d, ok := ctx.Deadline(); ok {
		text += ", deadline " + timeline.Duration(d.Sub(w.start))
	}
	return text
}

// describeError names what an error is, according to errors.Is.
func describeError(err error) string {
	for _, known := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, known) {
			return strings.TrimPrefix(known.Error(), "context ")
		}
	}
	return fmt.Sprint(err)
}

// askErr notes what Err returns, and whether that is one of the errors of package context
// itself. Err must not block; if it does, that is noted.
func (w *world) askErr(who int, s conformance.Step) {
	c := w.contextOf(s.N)
	if c == nil {
		return
	}
	answer := make(chan error, 1)
	suite.Start(func() { answer <- c.Err() })
	if who == 0 {
		w.stage.Settle()
	}
	select {
	case err := <-answer:
		text, mark := "nil", "live"
		switch {
		case err == context.Canceled:
			text = "context.Canceled"
		case err == context.DeadlineExceeded:
			text = "context.DeadlineExceeded"
		case err != nil:
			text = fmt.Sprintf("a %T (%v)", err, err)
		}
		if err != nil {
			mark = "err"
		}
		w.answer(who, s, mark, text)
	default:
		w.answer(who, s, "blocks", "blocks")
	}
}
