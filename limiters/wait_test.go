package limiters

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
)

// doneContext is done when told, and has the deadline told.
type doneContext struct {
	context.Context
	deadline time.Time
	err      error
}

func (c *doneContext) Deadline() (time.Time, bool) { return c.deadline, !c.deadline.IsZero() }
func (c *doneContext) Err() error                  { return c.err }

// Without waiting: what WaitN returns, and what it leaves of 2 of 3 tokens.
func TestTokenBucket_WaitN_atOnce(t *testing.T) {
	bg := context.Background()
	canceled, cancel := context.WithCancel(bg)
	cancel()
	at := func(d time.Duration) context.Context { return &doneContext{bg, t0.Add(d), nil} }
	expired := &doneContext{bg, t0.Add(-1), context.DeadlineExceeded}
	for _, tt := range []struct {
		name  string
		ctx   context.Context
		n     int
		limit Limit
		want  error
		text  string
		left  float64
	}{
		{"there", bg, 2, 1, nil, "", 0},
		{"there, deadline now", at(0), 2, 1, nil, "", 0},
		{"there, deadline over", at(-1), 2, 1, ErrDeadline, "limiters: WaitN(n=2): tokens would come too late: context deadline exceeded", 2},
		{"there, canceled", canceled, 1, 1, context.Canceled, "context canceled", 2},
		{"there, expired", expired, 1, 1, context.DeadlineExceeded, "context deadline exceeded", 2},
		{"too late", at(time.Second - 1), 3, 1, ErrDeadline, "limiters: WaitN(n=3)", 2},
		{"too late is a deadline too", at(time.Second - 1), 3, 1, context.DeadlineExceeded, "", 2},
		{"never, deadline", at(time.Hour), 3, 0, ErrDeadline, "", 2},
		{"n > burst", bg, 4, 1, ErrBurst, "limiters: WaitN(n=4): n exceeds the burst 3", 2},
		{"n > burst, canceled", canceled, maxInt, 1, ErrBurst, "", 2},
		{"n > burst, Inf", bg, maxInt, Inf, nil, "", 2},
		{"Inf, canceled", canceled, 1, Inf, context.Canceled, "", 2},
		{"n < 0", bg, -1, 1, ErrNegative, "limiters: WaitN(n=-1): n must be >= 0", 2},
		{"n < 0, Inf, canceled", canceled, -1, Inf, ErrNegative, "", 2},
		{"n == 0", bg, 0, 1, nil, "", 2},
		{"n == 0, canceled", canceled, 0, 1, context.Canceled, "", 2},
	} {
		l := NewTokenBucket(1, 3, WithClock(clockwork.NewFakeClockAt(t0)))
		l.AllowN(t0, 1)
		l.SetLimit(tt.limit)
		for i := range 2 {
			err := l.WaitN(tt.ctx, tt.n)
			if !errors.Is(err, tt.want) || err != nil && !strings.Contains(err.Error(), tt.text) {
				t.Errorf("%s: WaitN(%d) = %v, want %v", tt.name, tt.n, err, tt.want)
			}
			if got := l.TokensAt(t0); got != tt.left {
				t.Errorf("%s: %v tokens left, want %v", tt.name, got, tt.left)
			}
			if i == 0 && err == nil {
				break // It has taken some.
			}
		}
	}
}

// What happens to the token of one who waits, on a clock that is moved by hand.
func TestTokenBucket_Wait_clock(t *testing.T) {
	type step struct {
		advance time.Duration
		cancel  bool
	}
	for _, tt := range []struct {
		name  string
		steps []step
		want  error
		left  float64 // at the end
	}{
		{"in time", []step{{time.Second, false}}, nil, 0},
		{"canceled at once", []step{{0, true}}, context.Canceled, 0},
		{"canceled just before", []step{{time.Second - 1, true}}, context.Canceled, 1 - 1e-9},
	} {
		c := clockwork.NewFakeClockAt(t0)
		l := NewTokenBucket(1, 1, WithClock(c))
		l.Allow()
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error)
		go func() { done <- l.Wait(ctx) }()
		_ = c.BlockUntilContext(context.Background(), 1)
		for _, s := range tt.steps {
			c.Advance(s.advance)
			if s.cancel {
				cancel()
			}
		}
		if err := <-done; !errors.Is(err, tt.want) {
			t.Errorf("%s: Wait = %v, want %v", tt.name, err, tt.want)
		}
		cancel()
		if got := l.Tokens(); got < tt.left-1e-12 || got > tt.left+1e-12 {
			t.Errorf("%s: %v tokens, want %v", tt.name, got, tt.left)
		}
	}
}

func TestTokenBucket_Wait_doesNotAllocate(t *testing.T) {
	l := NewTokenBucket(1e9, 1000)
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	if got := testing.AllocsPerRun(100, func() { _ = l.Wait(ctx); _ = l.WaitN(ctx, 2) }); got != 0 {
		t.Errorf("%v allocations, want 0", got)
	}
}
