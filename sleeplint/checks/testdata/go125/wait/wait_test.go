package wait

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n atomic.Int32
		time.AfterFunc(time.Second, func() { n.Add(1) })
		time.Sleep(time.Second) // want `what is due when the sleep ends`
		if n.Load() != 1 {
			t.Error("not yet")
		}
	})
}
