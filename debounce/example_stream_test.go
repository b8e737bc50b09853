//go:build go1.25

package debounce_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/escapement-go/escapement/debounce"
	"github.com/escapement-go/escapement/synctestcompat"
)

// What RxJS calls auditTime: the first value begins a wait, later ones do not make it longer,
// and at its end the newest comes out.
func ExampleStream_audit() {
	testAudit := func(t *testing.T) {
		synctestcompat.Run(t, func(t *testing.T) {
			in := make(chan int)
			go func() {
				defer close(in)
				for v := range 6 {
					in <- v
					time.Sleep(400 * time.Millisecond)
				}
			}()
			began := time.Now()
			for v := range debounce.Stream(context.Background(), in, time.Second, nil, debounce.MaxWait(time.Second)) {
				fmt.Println(time.Since(began), v)
			}
		})
	}
	testAudit(new(testing.T)) // go test does this

	// Output:
	// 1s 2
	// 2.2s 5
}
