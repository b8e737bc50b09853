package leaf

import (
	"sync/atomic"
	"testing"
	"time"
)

func TestLeaf(t *testing.T) {
	var n atomic.Int32
	time.AfterFunc(10*time.Millisecond, func() { n.Add(1) })
	time.Sleep(10 * time.Millisecond) // want `the test sleeps 10ms`
	if n.Load() != 1 {
		t.Error("not yet")
	}
}

func TestParallel(t *testing.T) {
	t.Parallel()
	time.Sleep(10 * time.Millisecond) // want `the test sleeps 10ms`
}

func TestSubtests(t *testing.T) { // each in a bubble
	t.Run("inner", func(t *testing.T) {
		time.Sleep(10 * time.Millisecond) // want `the test sleeps 10ms`
	})
}

var shared = make(chan int, 1)

func TestShared(t *testing.T) { // no fix: a channel from outside
	shared <- 1
	time.Sleep(10 * time.Millisecond) // want `the test sleeps 10ms`
	<-shared
}
