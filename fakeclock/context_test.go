package fakeclock_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
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

// D18, D22, D23 and D26 of clockwork: Err blocks, another error, an open channel,
// and real time if the clock is wrapped.
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

// D25: the end of a parent by its deadline is passed on.
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

// D19 and D20: cancel leaves an open channel and a timer.
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

// D24: Cause changes with the parent's.
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

// D21: a deadline later than the parent's is shown.
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

// A cancelled parent came first, whether or not the news has arrived.
func TestWithTimeout_parentWasFirst(t *testing.T) {
	why := errors.New("why")
	for name, end := range map[string]func(*fakeclock.Clock, context.CancelFunc, context.Context){
		"cancel":   func(_ *fakeclock.Clock, cancel context.CancelFunc, _ context.Context) { cancel() },
		"deadline": func(clock *fakeclock.Clock, _ context.CancelFunc, _ context.Context) { clock.Advance(time.Second) },
		"Done":     func(_ *fakeclock.Clock, _ context.CancelFunc, ctx context.Context) { ctx.Done() },
		"Err":      func(_ *fakeclock.Clock, _ context.CancelFunc, ctx context.Context) { _ = ctx.Err() },
		"nothing":  func(*fakeclock.Clock, context.CancelFunc, context.Context) {},
	} {
		for range 100 {
			clock := fakeclock.New()
			parent, cancelParent := context.WithCancelCause(context.Background())
			above, cancelAbove := fakeclock.WithTimeout(parent, clock, time.Minute)
			between, cancelBetween := context.WithCancel(above)
			ctx, cancel := fakeclock.WithTimeoutCause(between, clock, time.Second, errors.New("late"))
			cancelParent(why)
			end(clock, cancel, ctx)
			if got := context.Cause(ctx); got != why { // before Go 1.26 that does not call Err
				t.Fatalf("%s: Cause = %v, want %v", name, got, why)
			}
			wantEnd(t, name, ctx, context.Canceled, why)
			cancel()
			cancelBetween()
			cancelAbove()
		}
	}
}

func TestWithTimeout_parentIsOver(t *testing.T) {
	clock := fakeclock.New(fakeclock.WithEvents(func(e fakeclock.Event) { t.Errorf("%v", e) }))
	why := errors.New("why")
	parent, cancelParent := context.WithCancelCause(context.Background())
	cancelParent(why)
	for _, d := range []time.Duration{-1, 0, 1} {
		ctx, cancel := fakeclock.WithTimeoutCause(parent, clock, d, errors.New("late"))
		wantEnd(t, fmt.Sprint(d), ctx, context.Canceled, why)
		cancel()
	}
}

// Channels are closed all the way down, without a question.
func TestWithTimeout_chainEndsWhenCancelReturns(t *testing.T) {
	for name, end := range map[string]func(*fakeclock.Clock, context.CancelFunc){
		"cancel":   func(_ *fakeclock.Clock, cancel context.CancelFunc) { cancel() },
		"deadline": func(clock *fakeclock.Clock, _ context.CancelFunc) { clock.Advance(10) },
	} {
		clock := fakeclock.New()
		root, cancelRoot := fakeclock.WithTimeout(context.Background(), clock, 10)
		var channels []<-chan struct{}
		ctx := root
		for i := range 9 {
			if i%2 == 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithCancel(context.WithValue(ctx, wrapped{}, i))
				defer cancel()
				channels = append(channels, ctx.Done())
			}
			next, cancel := fakeclock.WithTimeout(ctx, clock, 10)
			defer cancel()
			ctx = next
			channels = append(channels, ctx.Done())
		}
		end(clock, cancelRoot)
		for i, channel := range channels {
			select {
			case <-channel:
			default:
				t.Errorf("%s: channel %d is open, want closed", name, i)
			}
		}
		wantArmed(t, clock, 0)
		cancelRoot()
	}
}

// A second call returns when everything below has ended too, as in package context.
func TestWithTimeout_everyCancelWaits(t *testing.T) {
	clock := fakeclock.New()
	for range 200 {
		root, cancelRoot := fakeclock.WithTimeout(context.Background(), clock, time.Minute)
		var channels []<-chan struct{}
		var cancels []context.CancelFunc
		for range 20 {
			ctx, cancel := fakeclock.WithTimeout(context.WithValue(root, wrapped{}, 1), clock, time.Second)
			channels, cancels = append(channels, ctx.Done()), append(cancels, cancel)
		}
		var wg sync.WaitGroup
		for range 2 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				cancelRoot()
				for _, channel := range channels {
					select {
					case <-channel:
					default:
						t.Error("a channel is open after cancel returned")
					}
				}
			}()
		}
		wg.Wait()
		for _, cancel := range cancels {
			cancel()
		}
	}
	wantArmed(t, clock, 0)
}

// meddling is a clock that does something after it has armed a timer.
type meddling struct {
	clockwork.Clock
	then func()
}

func (c *meddling) AfterFunc(d time.Duration, f func()) clockwork.Timer {
	timer := c.Clock.AfterFunc(d, f)
	c.then()
	return timer
}

func TestWithTimeout_endsWhileItIsMade(t *testing.T) {
	clock := fakeclock.New()
	above, cancelAbove := fakeclock.WithTimeout(context.Background(), clock, time.Minute)
	ctx, cancel := fakeclock.WithTimeout(above, &meddling{clock, cancelAbove}, time.Second)
	defer cancel()
	wantEnd(t, "context", ctx, context.Canceled, context.Canceled)
	wantArmed(t, clock, 0)
}

// A context that has ended is not kept by its ancestors.
func TestWithTimeout_ancestorsForget(t *testing.T) {
	clock := fakeclock.New()
	std, cancelStd := context.WithCancel(context.Background())
	defer cancelStd()
	root, cancelRoot := fakeclock.WithTimeout(std, clock, time.Minute)
	defer cancelRoot()
	var collected atomic.Int32
	func() {
		for _, parent := range []context.Context{std, root} {
			value := new([16]int)
			runtime.SetFinalizer(value, func(*[16]int) { collected.Add(1) })
			_, cancel := fakeclock.WithTimeout(context.WithValue(parent, wrapped{}, value), clock, time.Second)
			cancel()
		}
	}()
	for i := 0; collected.Load() < 2 && i < 100; i++ {
		runtime.GC()
		for range 100 {
			runtime.Gosched()
		}
	}
	if n := collected.Load(); n != 2 {
		t.Errorf("%d of 2 cancelled contexts were collected", n)
	}
	runtime.KeepAlive(root)
}

func TestWithTimeout_kind(t *testing.T) {
	clock := fakeclock.New()
	for _, row := range []struct {
		clock clockwork.Clock
		want  fakeclock.Kind
	}{
		{clock, fakeclock.KindContext},
		{embedded{clock, "x"}, fakeclock.KindContext},
		{wrapped{clock}, fakeclock.KindAfterFunc}, // all that can be known
	} {
		_, cancel := fakeclock.WithTimeout(context.Background(), row.clock, time.Second)
		if timers := clock.Timers(); len(timers) != 1 || timers[0].Kind != row.want {
			t.Errorf("%T: Timers() = %v, want one %v", row.clock, timers, row.want)
		}
		cancel()
	}
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

// Creating and cancelling, and asking, beside package context on real time.
func BenchmarkWithTimeout(b *testing.B) {
	clock := fakeclock.New()
	ours := func(parent context.Context) (context.Context, context.CancelFunc) {
		return fakeclock.WithTimeout(parent, clock, time.Hour)
	}
	theirs := func(parent context.Context) (context.Context, context.CancelFunc) {
		return context.WithTimeout(parent, time.Hour)
	}
	background := context.Background()
	cancellable, cancel := context.WithCancel(background)
	defer cancel()
	timed, cancel := fakeclock.WithTimeout(background, clock, 2*time.Hour)
	defer cancel()
	theirTimed, cancel := context.WithTimeout(background, 2*time.Hour)
	defer cancel()
	for _, row := range []struct {
		name   string
		make   func(context.Context) (context.Context, context.CancelFunc)
		parent context.Context
	}{
		{"background/fakeclock", ours, background},
		{"background/context", theirs, background},
		{"cancellable/fakeclock", ours, cancellable},
		{"cancellable/context", theirs, cancellable},
		{"timed/fakeclock", ours, timed},
		{"timed/context", theirs, theirTimed},
	} {
		b.Run(row.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, cancel := row.make(row.parent)
				cancel()
			}
		})
		b.Run("Err/"+row.name, func(b *testing.B) {
			ctx, cancel := row.make(row.parent)
			defer cancel()
			b.ReportAllocs()
			for b.Loop() {
				_ = ctx.Err()
			}
		})
	}
}
