//go:build go1.25

package rapidbubble_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/escapement-go/escapement/synctestcompat"
	"github.com/escapement-go/escapement/synctestcompat/rapidbubble"
)

// A timer that is stopped before it is due never fires, whatever the durations.
func ExampleCheck() {
	testStop := func(t *testing.T) {
		rapidbubble.Check(t, func(t *rapidbubble.T) {
			due := rapid.IntRange(1, 1e9).Draw(t.T, "due")
			stop := rapid.IntRange(0, due-1).Draw(t.T, "stop")

			timer := time.AfterFunc(time.Duration(due), t.Guard(func() { t.Fatal("it fired") }))
			synctestcompat.Sleep(time.Duration(stop))
			timer.Stop()
			synctestcompat.Sleep(time.Hour)
		})
	}
	_ = testStop // go test runs it
}

// A fuzz target draws what the property needs from its input.
func ExampleMakeFuzz() {
	target := rapidbubble.MakeFuzz(func(t *rapidbubble.T) {
		begin := time.Now()
		late := rapid.Bool().Draw(t.T, "late")
		if late {
			time.Sleep(time.Hour)
		}
		fmt.Println(late, time.Since(begin))
	})
	t := new(testing.T) // go test -fuzz does this
	target(t, []byte{0, 0, 0, 0, 0, 0, 0, 0})
	target(t, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	// Output:
	// false 0s
	// true 1h0m0s
}
