package peers

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"
	"golang.org/x/sync/singleflight"

	"github.com/escapement-go/escapement/synctestcompat/interleave"
)

// Three right uses of golang.org/x/sync, written from its documentation: each holds
// in every order.

func TestClean_semaphoreTie(t *testing.T) {
	interleave.Check(t, func(t *interleave.T) {
		s := semaphore.NewWeighted(2)
		var used atomic.Int64
		hold := func(n int64) {
			if got := used.Add(n); got > 2 {
				t.Errorf("%d of 2 are in use", got)
			}
			used.Add(-n)
			s.Release(n)
		}
		if !s.TryAcquire(2) {
			t.Fatal("a fresh semaphore has no room")
		}
		used.Add(2)
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Add(2)
		go func() {
			defer wg.Done()
			if s.Acquire(ctx, 2) == nil { // may give up as it is granted
				hold(2)
			}
		}()
		go func() {
			defer wg.Done()
			if s.Acquire(context.Background(), 1) == nil {
				hold(1)
			}
		}()
		cancel()
		used.Add(-2)
		s.Release(2)
		wg.Wait()
		if !s.TryAcquire(2) {
			t.Error("room was lost")
		}
		if s.TryAcquire(1) {
			t.Error("room was made")
		}
	})
}

func TestClean_errgroupCause(t *testing.T) {
	errFirst := errors.New("first")
	interleave.Check(t, func(t *interleave.T) {
		g, ctx := errgroup.WithContext(t.Context())
		g.SetLimit(1)
		var running atomic.Int64
		g.Go(func() error {
			running.Add(1)
			defer running.Add(-1)
			return errFirst
		})
		g.Go(func() error {
			if got := running.Add(1); got != 1 {
				t.Errorf("%d run, limit is 1", got)
			}
			defer running.Add(-1)
			<-ctx.Done()
			return ctx.Err()
		})
		if err := g.Wait(); !errors.Is(err, errFirst) {
			t.Errorf("Wait() = %v, want the first error", err)
		}
		if cause := context.Cause(ctx); !errors.Is(cause, errFirst) {
			t.Errorf("cause %v, want the first error", cause)
		}
	})
}

func TestClean_singleflightChan(t *testing.T) {
	interleave.Check(t, func(t *interleave.T) {
		var g singleflight.Group
		var loads, running atomic.Int64
		load := func() (any, error) {
			if got := running.Add(1); got != 1 {
				t.Errorf("%d load one key", got)
			}
			time.Sleep(time.Second)
			running.Add(-1)
			return int(loads.Add(1)), nil
		}
		results := g.DoChan("key", load)
		v, err, _ := g.Do("key", load)
		if err != nil {
			t.Error(err)
		}
		r := <-results
		// Who came too late for the first flight made the second.
		if first, second := r.Val.(int), v.(int); first != 1 || second < 1 || second > int(loads.Load()) {
			t.Errorf("DoChan gave %d and Do %d of %d loads", first, second, loads.Load())
		}
	})
}
