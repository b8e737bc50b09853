package limiters_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/escapement-go/escapement/limiters"
	"github.com/escapement-go/escapement/synctestcompat"
	"github.com/escapement-go/escapement/synctestcompat/interleave"
)

// Nobody is lost and nothing is left in use, whatever two do while a third waits: of two slots one is taken,
// and the third wants two, or one that it may give up.
func TestOrders_Concurrency(t *testing.T) {
	ordersOfThree(t, (*interleave.T).Context)
}

// The same where who waits cannot be cancelled, and so waits for its slots and for nothing else.
func TestOrders_ConcurrencyAlone(t *testing.T) {
	ordersOfThree(t, func(*interleave.T) context.Context { return context.Background() })
}

func ordersOfThree(t *testing.T, ctx func(*interleave.T) context.Context) {
	synctestcompat.Require(t)
	acquire := func(n int) func(*interleave.T, *limiters.Concurrency, context.CancelFunc) {
		return func(t *interleave.T, c *limiters.Concurrency, _ context.CancelFunc) {
			if c.Acquire(ctx(t), n) == nil {
				c.Release(n)
			}
		}
	}
	ops := []struct {
		name string
		do   func(t *interleave.T, c *limiters.Concurrency, cancel context.CancelFunc)
	}{
		{"Acquire1", acquire(1)},
		{"Acquire2", acquire(2)},
		{"TryAcquire", func(_ *interleave.T, c *limiters.Concurrency, _ context.CancelFunc) {
			if c.TryAcquire(1) {
				c.Release(1)
			}
		}},
		{"Release", func(_ *interleave.T, c *limiters.Concurrency, _ context.CancelFunc) { c.Release(1) }},
		{"cancel", func(_ *interleave.T, _ *limiters.Concurrency, cancel context.CancelFunc) { cancel() }},
		{"up", func(_ *interleave.T, c *limiters.Concurrency, _ context.CancelFunc) { c.Resize(3) }},
		{"down", func(_ *interleave.T, c *limiters.Concurrency, _ context.CancelFunc) { c.Resize(1) }},
	}
	for i, a := range ops {
		for _, b := range ops[i:] {
			if a.name == "Release" && b.name == "Release" {
				continue // one slot is taken
			}
			t.Run(a.name+"_"+b.name, func(t *testing.T) {
				interleave.Check(t, func(t *interleave.T) {
					c := limiters.NewConcurrency(2)
					c.TryAcquire(1)
					cancelled, cancel := context.WithCancel(t.Context())
					var beside sync.WaitGroup
					beside.Add(2)
					go func() { a.do(t, c, cancel); beside.Done() }()
					if strings.HasPrefix(b.name, "Acquire") { // then so is the other: two wait
						go func() { b.do(t, c, cancel); beside.Done() }()
					} else {
						n, waiter := 2, ctx(t)
						if a.name == "cancel" || b.name == "cancel" {
							n, waiter = 1, cancelled
						}
						go func() {
							if c.Acquire(waiter, n) == nil {
								c.Release(n)
							}
							beside.Done()
						}()
						b.do(t, c, cancel)
					}
					if a.name != "Release" && b.name != "Release" {
						c.Release(1)
					}
					beside.Wait()
					cancel()
					if c.InUse() != 0 || c.Waiting() != 0 {
						t.Errorf("at the end %d in use, %d waiting", c.InUse(), c.Waiting())
					}
					if limit := c.Limit(); !c.TryAcquire(limit) {
						t.Errorf("TryAcquire(%d) = false at the end", limit)
					}
				})
			})
		}
	}
}

// TryAcquire beside a Resize finds free what is free before and after it.
func TestOrders_ConcurrencyResize(t *testing.T) {
	interleave.Check(t, func(t *interleave.T) {
		c := limiters.NewConcurrency(4)
		go c.Resize(2)
		if !c.TryAcquire(2) {
			t.Error("TryAcquire(2) = false with 4 or 2 slots free")
		}
	})
}

// Who has got the slot for which somebody waited last knows that nobody waits any more.
func TestOrders_ConcurrencyLastWait(t *testing.T) {
	interleave.Check(t, func(t *interleave.T) {
		c := limiters.NewConcurrency(2)
		c.TryAcquire(2)
		go c.Release(2)
		if err := c.Acquire(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		if !c.TryAcquire(1) {
			t.Error("TryAcquire(1) = false with one slot free and nobody waiting")
		}
	})
}

// A slot that comes free as the timeout ends is got, or is free.
func TestOrders_ConcurrencyTimeout(t *testing.T) {
	interleave.Check(t, func(t *interleave.T) {
		c := limiters.NewConcurrency(1, limiters.Timeout(time.Second))
		c.TryAcquire(1)
		go func() { time.Sleep(time.Second); c.Release(1) }()
		if c.Acquire(t.Context(), 1) == nil {
			c.Release(1)
		}
		synctestcompat.Sleep(time.Second)
		if c.InUse() != 0 || c.Waiting() != 0 {
			t.Errorf("at the end %d in use, %d waiting", c.InUse(), c.Waiting())
		}
	})
}
