package floor

import (
	"testing"
	"time"

	"github.com/escapement-go/escapement/synctestcompat"
)

// A cache that calls package time is tested in a bubble, unchanged.
func TestBubble(t *testing.T) {
	synctestcompat.Run(t, func(t *testing.T) {
		expired := false
		time.AfterFunc(time.Hour, func() { expired = true })
		synctestcompat.Sleep(time.Hour - 1)
		if expired {
			t.Error("expired 1ns early")
		}
		synctestcompat.Sleep(1)
		if !expired {
			t.Error("not expired after an hour")
		}
	})
}
