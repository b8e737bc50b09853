//go:build go1.25

package sched

import "testing/synctest"

// Quiesce returns when every other goroutine of the bubble is durably blocked.
func Quiesce() { synctest.Wait() }
