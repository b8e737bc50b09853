package poll

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestPolls(t *testing.T) {
	var ready atomic.Bool
	for !ready.Load() {
		time.Sleep(time.Millisecond) // want `the test polls in real time; in a bubble, or with a channel`
	}
	for i := 0; i < 100; i++ {
		if ready.Load() {
			break
		}
		time.Sleep(time.Millisecond) // want `the test polls in real time`
	}
	for i := 0; i < len("abc"); i++ {
		time.Sleep(time.Millisecond) // want `the test sleeps 1ms`
	}
	assert.Eventually(t, ready.Load, time.Second, time.Millisecond) // want `the test polls in real time`
}
