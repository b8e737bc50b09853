package compat

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/escapement-go/escapement/synctestcompat"
	"github.com/stretchr/testify/assert"
)

func TestBubble(t *testing.T) {
	synctestcompat.Run(t, func(t *testing.T) {
		var n atomic.Int32
		time.AfterFunc(time.Second, func() { n.Add(1) })
		began := time.Now()
		time.Sleep(time.Second) // want `what is due when the sleep ends may not have happened yet; call synctest.Wait`
		if n.Load() != 1 {
			t.Error("not yet")
		}
		time.Sleep(time.Second) // want `what is due when the sleep ends`
		assert.Equal(t, 1, n.Load())
		time.Sleep(time.Second)
		synctestcompat.Wait()
		if n.Load() != 1 {
			t.Error("not yet")
		}
		time.Sleep(time.Second)
		if time.Since(began) != time.Hour { // about the time itself
			t.Error("wrong time")
		}
		time.Sleep(time.Hour) // nothing else takes an hour
		if n.Load() != 1 {
			t.Error("not yet")
		}
		time.Sleep(time.Second)
		n.Add(1)
		synctestcompat.Sleep(time.Second)
		if n.Load() != 1 {
			t.Error("not yet")
		}
		t.Run("inside", func(t *testing.T) {}) // want `T.Run panics in a bubble`
		t.Parallel()                           // want `T.Parallel panics in a bubble`
		sleepFor(t)
	})
	t.Run("outside", func(t *testing.T) {
		synctestcompat.Run(t, inside)
	})
}

// Both are called in bubbles.
func sleepFor(t *testing.T) { time.Sleep(time.Second) }
func inside(t *testing.T)   { time.Sleep(time.Second) }

// This one can be nowhere else.
func settle(t *testing.T) {
	time.Sleep(time.Second)
	synctestcompat.Wait()
}

func inBubble(t *testing.T, f func(t *testing.T)) {
	synctestcompat.Run(t, func(t *testing.T) { f(t) })
}

func TestWrapped(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		time.Sleep(time.Second)
	})
}
