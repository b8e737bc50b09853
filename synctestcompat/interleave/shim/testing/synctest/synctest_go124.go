//go:build !go1.25 && goexperiment.synctest

// Package synctest stands for std's testing/synctest in code that was rewritten for package interleave.
package synctest

import (
	"testing/synctest"

	"github.com/escapement-go/escapement/internal/sched"
)

// Run is std's of Go 1.24.
func Run(f func()) { synctest.Run(f) }

// Wait is std's. In an explored body it returns when no other goroutine can go on at this instant.
func Wait() {
	if g := sched.Self(); g != nil {
		g.Idle("synctest.Wait")
		return
	}
	synctest.Wait()
}
