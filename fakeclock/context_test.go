package fakeclock_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/escapement-go/escapement/fakeclock"
)

// wrapped hides everything but clockwork's methods.
type wrapped struct{ clockwork.Clock }

// embedded is a Clock with something added.
type embedded struct {
	*fakeclock.Clock
	name string
}

func closed(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return true
	default:
		return false
	}
}

// wantEnd checks all that a context that has ended answers.
func wantEnd(t *testing.T, name string, ctx context.Context, err, cause error) {
	t.Helper()
	if !closed(ctx) {
		t.Errorf("%s: Done is open, want closed", name)
	}
	if got := ctx.Err(); got != err {
		t.Errorf("%s: Err() = %v, want %v", name, got, err)
	}
	if got := context.Cause(ctx); got != cause {
		t.Errorf("%s: Cause = %v, want %v", name, got, cause)
	}
}

func wantLive(t *testing.T, name string, ctx context.Context) {
	t.Helper()
	if closed(ctx) || ctx.Err() != nil || context.Cause(ctx) != nil {
		t.Errorf("%s: done=%v Err=%v Cause=%v, want it live", name, closed(ctx), ctx.Err(), context.Cause(ctx))
	}
}

func wantArmed(t *testing.T, clock *fakeclock.Clock, n int) {
	t.Helper()
	if clock.BlockUntilContext(done, n) != nil || clock.BlockUntilContext(done, n+1) == nil {
		t.Errorf("the number of armed timers is not %d", n)
	}
}

func TestWithTimeout_endsWhenAdvanceReturns(t *testing.T) {
	for name, wrap := range map[string]func(*fakeclock.Clock) clockwork.Clock{
		"plain":    func(c *fakeclock.Clock) clockwork.Clock { return c },
		"wrapped":  func(c *fakeclock.Clock) clockwork.Clock { return wrapped{c} },
		"embedded": func(c *fakeclock.Clock) clockwork.Clock { return embedded{c, "x"} },
	} {
		clock := fakeclock.New()
		ctx, cancel := fakeclock.WithTimeout(context.Background(), wrap(clock), time.Second)
		defer cancel()
		if d, ok := ctx.Deadline(); !ok || !d.Equal(clock.Now().Add(time.Second)) {
			t.Errorf("%s: Deadline() = %v, %v", name, d, ok)
		}
		clock.Advance(time.Second - 1)
		wantLive(t, name, ctx)
		clock.Advance(1)
		wantEnd(t, name, ctx, context.DeadlineExceeded, context.DeadlineExceeded)
		if e, ok := ctx.Err().(interface{ Timeout() bool }); !ok || !e.Timeout() {
			t.Errorf("%s: %v is no timeout", name, ctx.Err())
		}
		cancel()
		wantEnd(t, name+", cancelled late", ctx, context.DeadlineExceeded, context.DeadlineExceeded)
	}
}

func TestWithTimeout_endsEverythingBelowAtOnce(t *testing.T) {
	clock := fakeclock.New()
	ctx, cancel := fakeclock.WithTimeout(context.Background(), clock, time.Second)
	defer cancel()
	std, cancelStd := context.WithCancel(context.WithValue(ctx, wrapped{}, 1))
	defer cancelStd()
	own, cancelOwn := fakeclock.WithTimeout(std, clock, time.Minute) // the parent's deadline comes first
	defer cancelOwn()
	below, cancelBelow := context.WithCancelCause(own)
	defer cancelBelow(nil)
	detached, cancelDetached := fakeclock.WithTimeout(context.WithoutCancel(below), clock, time.Minute)
	defer cancelDetached()
	clock.Advance(time.Second)
	for name, c := range map[string]context.Context{"std": std, "own": own, "below": below} {
		wantEnd(t, name, c, context.DeadlineExceeded, context.DeadlineExceeded)
	}
	wantLive(t, "detached", detached)
}

func TestWithTimeout_ownBelowOwnEndsAtOnce(t *testing.T) {
	clock := fakeclock.New()
	long, cancelLong := fakeclock.WithTimeout(context.Background(), clock, time.Hour)
	between, cancelBetween := context.WithCancel(context.WithValue(long, wrapped{}, 1))
	defer cancelBetween()
	short, cancelShort := fakeclock.WithTimeout(between, clock, time.Minute)
	defer cancelShort()
	direct, cancelDirect := fakeclock.WithTimeout(long, clock, time.Minute)
	defer cancelDirect()
	below, cancelBelow := context.WithCancel(short)
	defer cancelBelow()
	channel := direct.Done()
	wantArmed(t, clock, 3)
	cancelLong()
	select {
	case <-channel:
	default:
		t.Error("a channel that Done returned before is open, want closed")
	}
	for name, c := range map[string]context.Context{"short": short, "direct": direct, "below": below} {
		wantEnd(t, name, c, context.Canceled, context.Canceled)
	}
	wantArmed(t, clock, 0)
}

func TestWithTimeout_cancelReleasesTheTimer(t *testing.T) {
	clock := fakeclock.New()
	ctx, cancel := fakeclock.WithTimeout(context.Background(), clock, time.Second)
	wantArmed(t, clock, 1)
	cancel()
	wantEnd(t, "cancelled", ctx, context.Canceled, context.Canceled)
	wantArmed(t, clock, 0)
	clock.Advance(time.Hour)
	wantEnd(t, "cancelled, past its deadline", ctx, context.Canceled, context.Canceled)
}

func TestWithTimeout_parentCancelledFirst(t *testing.T) {
	clock, why := fakeclock.New(), errors.New("why")
	parent, cancelParent := context.WithCancelCause(context.Background())
	ctx, cancel := fakeclock.WithTimeout(parent, clock, time.Second)
	defer cancel()
	cancelParent(why)
	wantEnd(t, "child", ctx, context.Canceled, why) // asking is enough
	wantArmed(t, clock, 0)

	ctx, cancel = fakeclock.WithTimeout(parent, clock, time.Second)
	defer cancel()
	wantEnd(t, "child of a cancelled parent", ctx, context.Canceled, why)
	wantArmed(t, clock, 0)
}

func TestWithTimeout_keepsItsFirstCause(t *testing.T) {
	clock := fakeclock.New()
	parent, cancelParent := context.WithCancelCause(context.Background())
	ctx, cancel := fakeclock.WithTimeout(parent, clock, time.Second)
	defer cancel()
	clock.Advance(time.Second)
	cancelParent(errors.New("too late"))
	wantEnd(t, "child", ctx, context.DeadlineExceeded, context.DeadlineExceeded)
}

func TestWithTimeoutCause(t *testing.T) {
	clock, slow := fakeclock.New(), errors.New("slow")
	ctx, cancel := fakeclock.WithTimeoutCause(context.Background(), clock, time.Second, slow)
	child, cancelChild := context.WithCancel(ctx)
	defer cancelChild()
	clock.Advance(time.Second)
	wantEnd(t, "context", ctx, context.DeadlineExceeded, slow)
	wantEnd(t, "child", child, context.DeadlineExceeded, slow)
	cancel()

	ctx, cancel = fakeclock.WithDeadlineCause(context.Background(), clock, clock.Now().Add(time.Second), slow)
	cancel()
	wantEnd(t, "cancelled", ctx, context.Canceled, context.Canceled)

	ctx, cancel = fakeclock.WithDeadlineCause(context.Background(), clock, clock.Now(), slow)
	defer cancel()
	wantEnd(t, "with its deadline passed", ctx, context.DeadlineExceeded, slow)
}

func TestWithDeadline_earlierParentWins(t *testing.T) {
	clock := fakeclock.New()
	parent, cancelParent := fakeclock.WithTimeout(context.Background(), clock, time.Second)
	defer cancelParent()
	ctx, cancel := fakeclock.WithTimeout(parent, clock, time.Minute)
	defer cancel()
	if d, _ := ctx.Deadline(); !d.Equal(clock.Now().Add(time.Second)) {
		t.Errorf("Deadline() = %v, want the parent's", d)
	}
	wantArmed(t, clock, 1)
}

// custom is a context of somebody's own making.
type custom struct {
	context.Context
	done chan struct{}
	err  error
}

func (c *custom) Done() <-chan struct{} { return c.done }
func (c *custom) Err() error {
	select {
	case <-c.done:
		return c.err
	default:
		return nil
	}
}

func TestWithTimeout_customParent(t *testing.T) {
	clock, before := fakeclock.New(), runtime.NumGoroutine()
	parent := &custom{context.WithValue(context.Background(), wrapped{}, 7), make(chan struct{}), errors.New("custom")}
	ctx, cancel := fakeclock.WithTimeout(parent, clock, time.Second)
	if ctx.Value(wrapped{}) != 7 {
		t.Error("a value of the parent is lost")
	}
	close(parent.done)
	wantEnd(t, "child", ctx, parent.err, parent.err)
	cancel()
	wantGoroutines(t, before)
}

func TestWithTimeout_cancelLeavesNoGoroutine(t *testing.T) {
	clock, before := fakeclock.New(), runtime.NumGoroutine()
	parent := &custom{context.Background(), make(chan struct{}), errors.New("custom")}
	for range 10 {
		_, cancel := fakeclock.WithTimeout(parent, clock, time.Second)
		cancel()
	}
	wantGoroutines(t, before)
}

// wantGoroutines lets goroutines that are about to end do so.
func wantGoroutines(t *testing.T, n int) {
	t.Helper()
	for i := 0; runtime.NumGoroutine() > n && i < 1_000_000; i++ {
		runtime.Gosched()
	}
	if got := runtime.NumGoroutine(); got > n {
		t.Errorf("%d goroutines, want %d", got, n)
	}
}

func TestWithTimeout_nilParentPanics(t *testing.T) {
	defer func() {
		if r := recover(); r != "cannot create context from nil parent" {
			t.Errorf("panic %v", r)
		}
	}()
	fakeclock.WithTimeout(nil, fakeclock.New(), time.Second) //nolint:staticcheck // that is the test
}

func TestWithTimeout_string(t *testing.T) {
	clock := fakeclock.New()
	ctx, cancel := fakeclock.WithTimeout(context.Background(), clock, time.Second)
	defer cancel()
	child, cancelChild := context.WithCancel(ctx)
	defer cancelChild()
	if got, want := fmt.Sprint(child), "context.Background.WithDeadline(2000-01-01 00:00:01 +0000 UTC [1s]).WithCancel"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestWithTimeout_realClock(t *testing.T) {
	clock := clockwork.NewRealClock()
	ctx, cancel := fakeclock.WithTimeout(context.Background(), clock, time.Nanosecond)
	defer cancel()
	<-ctx.Done()
	wantEnd(t, "context", ctx, context.DeadlineExceeded, context.DeadlineExceeded)
}

func TestWithTimeout_concurrently(t *testing.T) {
	clock := fakeclock.New()
	root, cancelRoot := context.WithCancel(context.Background())
	defer cancelRoot()
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range 200 {
				ctx, cancel := fakeclock.WithTimeout(root, clock, time.Duration(i%7)*time.Millisecond)
				child, cancelChild := fakeclock.WithTimeout(context.WithValue(ctx, wrapped{}, 1), clock, time.Millisecond)
				std, cancelStd := context.WithCancel(child)
				_, _, _ = ctx.Err(), context.Cause(child), std.Err()
				if (g+i)%3 == 0 {
					clock.Advance(time.Millisecond)
				}
				if g == 0 && i == 150 {
					cancelRoot()
				}
				cancel()
				if !closed(child) || child.Err() == nil || context.Cause(child) == nil {
					t.Error("a child is live after its parent was cancelled")
				}
				cancelStd()
				cancelChild()
			}
		}()
	}
	wg.Wait()
	wantArmed(t, clock, 0)
}

func ExampleWithTimeout() {
	clock := fakeclock.New()
	ctx, cancel := fakeclock.WithTimeout(context.Background(), clock, time.Minute)
	defer cancel()

	fmt.Println(ctx.Err())
	clock.Advance(time.Minute)
	fmt.Println(ctx.Err())
	// Output:
	// <nil>
	// context deadline exceeded
}

// Creating and cancelling, beside package context on real time.
func BenchmarkWithTimeout(b *testing.B) {
	b.Run("fakeclock", func(b *testing.B) {
		clock := fakeclock.New()
		b.ReportAllocs()
		for b.Loop() {
			_, cancel := fakeclock.WithTimeout(context.Background(), clock, time.Hour)
			cancel()
		}
	})
	b.Run("context", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, cancel := context.WithTimeout(context.Background(), time.Hour)
			cancel()
		}
	})
}
