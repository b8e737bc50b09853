//go:build go1.25

package fakeclock_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
)

// With synctest.Wait, Advance waits for goroutines of the code under test too, at each
// instant: the one below has slept three times when Advance returns, and no test has to
// wait for it to begin.
func ExampleWithSettle() {
	testPoller := func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			clock := fakeclock.New(fakeclock.WithSettle(synctest.Wait))
			go func() {
				for range 3 {
					clock.Sleep(time.Second)
					fmt.Println("polled at", clock.Elapsed())
				}
			}()
			clock.Advance(time.Minute)
			fmt.Println("advanced to", clock.Elapsed())
		})
	}
	testPoller(new(testing.T)) // go test does this
	// Output:
	// polled at 1s
	// polled at 2s
	// polled at 3s
	// advanced to 1m0s
}
