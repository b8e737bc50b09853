package fakeclock_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
)

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
	<-ctx.Done() // package context, too, learns it from a goroutine
	wantEnd(t, "child", ctx, parent.err, parent.err)
	cancel()

	ctx, cancel = fakeclock.WithTimeout(parent, clock, time.Second)
	wantEnd(t, "child of a parent that has ended", ctx, parent.err, parent.err)
	cancel()

	parent = &custom{context.Background(), make(chan struct{}), errors.New("custom")}
	ctx, cancel = fakeclock.WithTimeout(parent, clock, time.Second)
	clock.Advance(time.Second)
	wantEnd(t, "child that expired first", ctx, context.DeadlineExceeded, context.DeadlineExceeded)
	cancel()
	wantGoroutines(t, before)
}

// told is a custom context that tells its end itself, as package context asks.
type told struct {
	*custom
	tell map[int]func()
	next int
}

func (c *told) AfterFunc(f func()) (stop func() bool) {
	n := c.next
	c.next++
	c.tell[n] = f
	return func() bool {
		_, ok := c.tell[n]
		delete(c.tell, n)
		return ok
	}
}

func TestWithTimeout_customParentWithAfterFunc(t *testing.T) {
	clock, before := fakeclock.New(), runtime.NumGoroutine()
	parent := &told{custom: &custom{context.Background(), make(chan struct{}), errors.New("custom")}, tell: map[int]func(){}}
	ctx, cancel := fakeclock.WithTimeout(parent, clock, time.Second)
	cancelled, cancelFirst := fakeclock.WithTimeout(parent, clock, time.Second)
	if len(parent.tell) != 2 || runtime.NumGoroutine() > before {
		t.Errorf("%d functions registered, want 2, and %d goroutines, want %d", len(parent.tell), runtime.NumGoroutine(), before)
	}
	cancelFirst()
	if len(parent.tell) != 1 {
		t.Error("cancel left its function with the parent")
	}
	close(parent.done)
	for _, f := range parent.tell {
		f()
	}
	wantEnd(t, "child", ctx, parent.err, parent.err)
	wantEnd(t, "cancelled", cancelled, context.Canceled, context.Canceled)
	cancel()
	wantArmed(t, clock, 0)
	wantGoroutines(t, before)
}

// renamed gives another error for its parent's end. Package context goes by the
// parent's, as long as the channel is the parent's too.
type renamed struct {
	context.Context
	err error
}

func (c *renamed) Err() error {
	if c.Context.Err() != nil {
		return c.err
	}
	return nil
}

func TestWithTimeout_parentThatRenamesErr(t *testing.T) {
	parent, cancelParent := context.WithCancel(context.Background())
	ctx, cancel := fakeclock.WithTimeout(&renamed{parent, errors.New("renamed")}, fakeclock.New(), time.Second)
	defer cancel()
	cancelParent()
	wantEnd(t, "child", ctx, context.Canceled, context.Canceled)
}

// A parent that has ended, though nobody has asked it since, tells a new child its own error: as if it had been told.
func TestWithTimeout_parentThatRenamesErr_ended(t *testing.T) {
	above, cancelAbove := context.WithCancel(context.Background())
	clock := fakeclock.New()
	ours, cancelOurs := fakeclock.WithTimeout(above, clock, time.Second)
	defer cancelOurs()
	below, cancelBelow := context.WithCancel(ours)
	defer cancelBelow()
	cancelAbove()
	want := errors.New("renamed")
	for _, timeout := range []time.Duration{-1, 0, time.Second, time.Minute} { // a minute: the parent's deadline comes first
		ctx, cancel := fakeclock.WithTimeout(&renamed{below, want}, clock, timeout)
		wantEnd(t, timeout.String(), ctx, want, context.Canceled)
		cancel()
	}
	wantArmed(t, clock, 0)
}

// locking holds its lock while it asks its parent. Package context does not call a
// context from calls of the contexts above, so this must not lock up.
type locking struct {
	context.Context
	mu sync.Mutex
}

func (c *locking) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.Context.Done()
}

func (c *locking) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.Context.Err()
}

func (c *locking) Value(key any) any {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.Context.Value(key)
}

func TestWithTimeout_contextBetweenHoldsALock(t *testing.T) {
	for name, ask := range map[string]func(context.Context){
		"Done":  func(c context.Context) { c.Done() },
		"Err":   func(c context.Context) { _ = c.Err() },
		"Cause": func(c context.Context) { _ = context.Cause(c) },
	} {
		for range 100 {
			clock := fakeclock.New()
			parent, cancelParent := context.WithCancel(context.Background())
			above, cancelAbove := fakeclock.WithTimeout(parent, clock, time.Minute)
			between := &locking{Context: above}
			below, cancelBelow := fakeclock.WithTimeout(between, clock, time.Second)
			channel := below.Done()
			cancelParent()
			ask(between)
			<-channel
			wantEnd(t, name, below, context.Canceled, context.Canceled)
			cancelBelow()
			cancelAbove()
		}
	}
}

// The clock's hook runs while a timer is made or released, and may ask too.
func TestWithTimeout_hookAsks(t *testing.T) {
	var all []context.Context
	clock := fakeclock.New(fakeclock.WithEvents(func(fakeclock.Event) {
		for _, ctx := range all {
			_, _, _ = ctx.Err(), ctx.Done(), context.Cause(ctx)
		}
	}))
	parent, cancelParent := context.WithCancel(context.Background())
	defer cancelParent()
	above, cancelAbove := fakeclock.WithTimeout(parent, clock, time.Minute)
	defer cancelAbove()
	all = append(all, parent, above)
	for range 3 {
		below, cancelBelow := fakeclock.WithTimeout(context.WithValue(above, wrapped{}, 1), clock, time.Second)
		defer cancelBelow()
		all = append(all, below)
	}
	clock.Advance(time.Second)
	cancelAbove()
	wantEnd(t, "above", above, context.Canceled, context.Canceled)
	wantArmed(t, clock, 0)
}

func TestWithTimeout_nilParentPanics(t *testing.T) {
	defer func() {
		if r := recover(); r != "cannot create context from nil parent" {
			t.Errorf("panic %v", r)
		}
	}()
	//lint:ignore SA1012 that is the test
	fakeclock.WithTimeout(nil, fakeclock.New(), time.Second)
}
