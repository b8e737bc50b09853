package debounce_test

import (
	"slices"
	"testing"
	"time"

	"github.com/escapement-go/escapement/debounce"
	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/synctestcompat"
	"github.com/escapement-go/escapement/synctestcompat/interleave"
)

func TestOrders_fake(t *testing.T) {
	interleave.Check(t, func(t *interleave.T) {
		clock := fakeclock.New(fakeclock.WithSettle(synctestcompat.Wait))
		var got []int
		d := debounce.New(time.Second, func(v int) { got = append(got, v) }, debounce.WithClock(clock))
		d.Call(1)
		ended := make(chan bool, 1)
		go func() { ended <- d.Cancel() }()
		clock.Advance(time.Second)
		cancelled := <-ended
		if cancelled == slices.Contains(got, 1) {
			t.Errorf("Cancel() = %v, and ran %v", cancelled, got)
		}
	})
}

func TestOrders_package(t *testing.T) {
	interleave.Check(t, func(t *interleave.T) {
		var got []int
		d := debounce.New(time.Second, func(v int) { got = append(got, v) })
		d.Call(1)
		ended := make(chan bool, 1)
		go func() { time.Sleep(time.Second); ended <- d.Cancel() }()
		cancelled := <-ended
		synctestcompat.Wait()
		if cancelled == slices.Contains(got, 1) {
			t.Errorf("Cancel() = %v, and ran %v", cancelled, got)
		}
	})
}
