package peers

import (
	"context"
	"errors"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"
	"golang.org/x/sync/singleflight"

	"github.com/escapement-go/escapement/synctestcompat/interleave"
)

// Three of weights 2, 1 and 2 share two, and one of them gives up.
func TestClean_semaphore(t *testing.T) {
	interleave.Check(t, func(t *interleave.T) {
		s := semaphore.NewWeighted(2)
		inUse, ended := int64(0), make(chan bool)
		use := func(ctx context.Context, n int64) {
			defer func() { ended <- true }()
			if s.Acquire(ctx, n) != nil {
				return
			}
			if inUse += n; inUse > 2 {
				t.Errorf("%d in use", inUse)
			}
			inUse -= n
			s.Release(n)
		}
		ctx, cancel := context.WithCancel(t.Context())
		go use(t.Context(), 2)
		go use(ctx, 1)
		cancel()
		<-ended
		<-ended
		if !s.TryAcquire(2) {
			t.Error("something is left in use")
		}
	})
}

func TestClean_errgroup(t *testing.T) {
	interleave.Check(t, func(t *interleave.T) {
		failed := errors.New("failed")
		g, ctx := errgroup.WithContext(t.Context())
		g.SetLimit(1)
		g.Go(func() error { return failed })
		g.Go(func() error { <-ctx.Done(); return ctx.Err() })
		if err := g.Wait(); err != failed {
			t.Errorf("Wait() = %v", err)
		}
	})
}

func TestClean_singleflight(t *testing.T) {
	interleave.Check(t, func(t *interleave.T) {
		var g singleflight.Group
		n, ended := 0, make(chan bool)
		do := func() {
			v, _, _ := g.Do("key", func() (any, error) { n++; time.Sleep(time.Second); return n, nil })
			ended <- v.(int) == n
		}
		go do()
		go do()
		if a, b := <-ended, <-ended; !b || n == 1 && !a {
			t.Errorf("%v, %v with %d calls", a, b, n)
		}
	})
}
