package limiters_test

import (
	"testing"
	"time"

	"github.com/escapement-go/escapement/limiters"
	"github.com/escapement-go/escapement/synctestcompat/interleave"
)

// The orders of two or three goroutines beside a timer, all of them where these tests run by
//
//	go run ./synctestcompat/interleave/weave -run ^TestOrders ./limiters ./debounce
//
// and none elsewhere.

// What is denied at 1s is denied because of the grant at 2s, which then denies 3s too.
func TestOrders_freshGCRA(t *testing.T) {
	interleave.Check(t, func(t *interleave.T) {
		g := limiters.NewGCRA(10*time.Second, 1)
		base := time.Now()
		at := func(s int) bool { return g.AllowAt(base.Add(time.Duration(s)*time.Second), 1).Allowed }
		second := make(chan bool)
		go func() { second <- at(2) }()
		first, third := at(1), at(3)
		n := 0
		for _, granted := range []bool{first, <-second, third} {
			if granted {
				n++
			}
		}
		if n != 1 || !first && third {
			t.Errorf("at 1s %v, then at 3s %v, and %d granted in all with 2s beside; want one, and not the last", first, third, n)
		}
	})
}

func TestOrders_resize(t *testing.T) {
	interleave.Check(t, func(t *interleave.T) {
		c := limiters.NewConcurrency(4)
		go c.Resize(2)
		if !c.TryAcquire(2) {
			t.Error("TryAcquire(2) = false with 4 or 2 slots free")
		}
	})
}

// Who has got the last slot for which somebody waited knows that nobody waits any more.
func TestOrders_tryAfterTheLastWait(t *testing.T) {
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
