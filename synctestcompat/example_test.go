//go:build go1.25

package synctestcompat_test

import (
	"fmt"
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
