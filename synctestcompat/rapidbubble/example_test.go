//go:build go1.25

package rapidbubble_test

import (
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

// The property of a fuzz test runs in bubbles as well.
func ExampleFuzz() {
	fuzzStop := func(f *testing.F) {
		rapidbubble.Fuzz(f, func(t *rapidbubble.T) {
			ctx := t.Context()
			done := make(chan bool)
			go func() { <-ctx.Done(); close(done) }()
			t.Cleanup(func() { <-done })
			time.Sleep(time.Duration(rapid.IntRange(0, 1e9).Draw(t.T, "sleep")))
		})
	}
	_ = fuzzStop // go test runs it
}
