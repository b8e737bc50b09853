//go:build !go1.25 && !goexperiment.synctest

package sched

// Quiesce panics: this toolchain has no bubbles.
func Quiesce() { panic("sched: there are no bubbles") }
