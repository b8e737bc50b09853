//go:build go1.25

package synctestcompat_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/escapement-go/escapement/synctestcompat"
)

// A poller that asks every second is tested to the instant, and in no time.
func Example() {
	testPoller := func(t *testing.T) {
		synctestcompat.Run(t, func(t *testing.T) {
			stop := make(chan bool)
			n := 0
			go func() {
				tick := time.NewTicker(time.Second)
				defer tick.Stop()
				for {
					select {
					case <-tick.C:
						n++
					case <-stop:
						return
					}
				}
			}()
			synctestcompat.Sleep(3 * time.Second)
			fmt.Println(n, "ticks in 3s")
			close(stop)
		})
	}
	testPoller(new(testing.T)) // go test does this
	// Output: 3 ticks in 3s
}

// A helper that is written for a clock in the hand works in a bubble too: the code under
// test may call package time, or take the clock.
func ExampleNewClock() {
	testTimeout := func(t *testing.T) {
		synctestcompat.Run(t, func(t *testing.T) {
			clock := synctestcompat.NewClock()
			began := clock.Now()
			var fired atomic.Bool                                     // moving time orders nothing
			time.AfterFunc(time.Second, func() { fired.Store(true) }) // code that knows of no clock
			clock.Advance(time.Second - 1)
			fmt.Println(clock.Since(began), fired.Load())
			clock.Advance(1)
			fmt.Println(clock.Since(began), fired.Load())
		})
	}
	testTimeout(new(testing.T)) // go test does this
	// Output:
	// 999.999999ms false
	// 1s true
}
