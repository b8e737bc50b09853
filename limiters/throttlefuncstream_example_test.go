//go:build go1.25

package limiters_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/escapement-go/escapement/limiters"
	"github.com/escapement-go/escapement/synctestcompat"
)

// What RxJS calls throttleTime, with each edge and with both, and sampleTime, of the same
// items.
func ExampleThrottleFuncStream() {
	testStream := func(t *testing.T) {
		for _, edges := range []limiters.Edges{
			limiters.Leading, limiters.Trailing, limiters.Leading | limiters.Trailing, limiters.Sample,
		} {
			synctestcompat.Run(t, func(t *testing.T) {
				in := make(chan limiters.Item[string])
				go func() {
					defer close(in) // what is pending then comes out at once
					for _, v := range []string{"a", "b", "c", "d"} {
						in <- limiters.Item[string]{Value: v}
						time.Sleep(600 * time.Millisecond)
					}
				}()
				began := time.Now()
				for item := range limiters.ThrottleFuncStream(context.Background(), in, time.Second, edges) {
					fmt.Print(" ", item.Value, "@", time.Since(began))
				}
				fmt.Println()
			})
		}
	}
	testStream(new(testing.T)) // go test does this

	// Output:
	//  a@0s c@1.2s
	//  b@1s d@2s
	//  a@0s b@1s d@2s
	//  b@1s d@2s
}
