//go:build !go1.25 && goexperiment.synctest

package sched

import (
	"testing/synctest"
	"time"
)

// Quiesce returns when every other goroutine of the bubble is durably blocked. It also lets zero-duration
// timers run, as Wait of later releases does. Here they run only when the whole bubble is idle, which the
// receive brings about. One level of them is reached: a zero timer armed by a zero timer is not.
func Quiesce() {
	synctest.Wait()
	<-time.After(0)
	synctest.Wait()
}
