package synctestcompat_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/escapement-go/escapement/synctestcompat"
)

// A poller that reports every second is tested to the instant, and in no time:
//
//	func TestPoller(t *testing.T) {
//		synctestcompat.Run(t, func(t *testing.T) { ... })
//	}
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
			if n != 3 {
				t.Errorf("%d ticks in 3s", n)
			}
			close(stop)
		})
	}
	test := []testing.InternalTest{{Name: "TestPoller", F: testPoller}}
	fmt.Println(testing.RunTests(func(_, _ string) (bool, error) { return true, nil }, test))
	// Output: true
}
