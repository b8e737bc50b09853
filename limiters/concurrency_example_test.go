package limiters_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/limiters"
)

// At most three of ten jobs run at once; the others wait for their turn.
func ExampleConcurrency() {
	c := limiters.NewConcurrency(3)
	var (
		mu            sync.Mutex
		running, most int
		done          sync.WaitGroup
	)
	count := func(n int) {
		mu.Lock()
		defer mu.Unlock()
		running += n
		most = max(most, running)
	}
	for range 10 {
		done.Add(1)
		go func() {
			defer done.Done()
			_ = c.Do(context.Background(), func() error {
				count(1)
				defer count(-1)
				return nil
			})
		}()
	}
	done.Wait()
	fmt.Println(most <= 3, c.InUse())

	// Output:
	// true 0
}

// One runs, one may wait for a second, and everybody else is told at once.
func ExampleConcurrency_Acquire() {
	clock := fakeclock.New()
	c := limiters.NewConcurrency(1, limiters.Backlog(1), limiters.Timeout(time.Second), limiters.WithClock(clock))
	ctx := context.Background()
	fmt.Println("first:", c.Acquire(ctx, 1))

	second := make(chan error)
	go func() { second <- c.Acquire(ctx, 1) }()
	clock.BlockUntil(1) // it waits
	fmt.Println("third:", c.Acquire(ctx, 1))

	clock.Advance(time.Second)
	err := <-second
	fmt.Println("second:", err, errors.Is(err, limiters.ErrTimeout))

	// Output:
	// first: <nil>
	// third: limiters: no slot is free and the backlog is full
	// second: limiters: no slot came free within the timeout true
}

// A budget of memory: requests take as much as they need.
func ExampleConcurrency_TryAcquire() {
	c := limiters.NewConcurrency(64 << 20)
	fmt.Println(c.TryAcquire(48<<20), c.TryAcquire(32<<20), c.InUse()>>20)
	c.Resize(96 << 20)
	fmt.Println(c.TryAcquire(32<<20), c.InUse()>>20)
	c.Release(48 << 20)
	c.Release(32 << 20)

	// Output:
	// true false 48
	// true 80
}
