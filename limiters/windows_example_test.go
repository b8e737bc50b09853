package limiters_test

import (
	"fmt"
	"time"

	"github.com/escapement-go/escapement/limiters"
)

// The same requests, one at the end of the first second and one every 200ms of the
// next, four per second allowed: what the windows promise differs.
func ExampleFixedWindow() {
	for _, w := range []interface {
		AllowN(t time.Time, n int) bool
	}{
		limiters.NewFixedWindow(4, time.Second),
		limiters.NewSlidingLog(4, time.Second),
		limiters.NewSlidingCounter(4, time.Second),
	} {
		start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
		fmt.Printf("%T: 4 at 0.9s %v,", w, w.AllowN(start.Add(900*time.Millisecond), 4))
		for at := 1000; at < 2000; at += 200 {
			fmt.Printf(" %.1fs %v", float64(at)/1000, w.AllowN(start.Add(time.Duration(at)*time.Millisecond), 1))
		}
		fmt.Println()
	}

	// Output:
	// *limiters.FixedWindow: 4 at 0.9s true, 1.0s true 1.2s true 1.4s true 1.6s true 1.8s false
	// *limiters.SlidingLog: 4 at 0.9s true, 1.0s false 1.2s false 1.4s false 1.6s false 1.8s false
	// *limiters.SlidingCounter: 4 at 0.9s true, 1.0s false 1.2s false 1.4s true 1.6s true 1.8s true
}
