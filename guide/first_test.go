package guide

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/escapement-go/escapement/synctestcompat"
)

// remind calls f after d.
func remind(clock clockwork.Clock, d time.Duration, f func()) { clock.AfterFunc(d, f) }

func firstBefore(t testing.TB, clock clockwork.Clock) {
	var reminded atomic.Bool
	remind(clock, 20*time.Millisecond, func() { reminded.Store(true) })
	time.Sleep(30 * time.Millisecond) // long enough, one hopes
	if !reminded.Load() {
		t.Error("not reminded")
	}
}

func TestFirst_bubble(t *testing.T) {
	synctestcompat.Run(t, func(t *testing.T) {
		var reminded atomic.Bool
		remind(clockwork.NewRealClock(), time.Hour, func() { reminded.Store(true) })
		synctestcompat.Sleep(time.Hour) // takes no time
		if !reminded.Load() {
			t.Error("not reminded after an hour")
		}
	})
}
