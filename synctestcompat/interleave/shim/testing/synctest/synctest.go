//go:build go1.25

// Package synctest stands for std's testing/synctest in code that was rewritten for package interleave.
package synctest

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/escapement-go/escapement/internal/sched"
)

// Test is std's.
func Test(t *testing.T, f func(*testing.T)) { synctest.Test(t, f) }

// Wait is std's. In an explored body it returns when no other goroutine can go on at this instant.
func Wait() {
	if g := sched.Self(); g != nil {
		g.Idle("synctest.Wait")
		return
	}
	synctest.Wait()
}

// Sleep is std's of Go 1.27.
func Sleep(d time.Duration) {
	if g := sched.Self(); g != nil {
		g.Sleep(d)
	} else {
		time.Sleep(d)
	}
	Wait()
}
