// Package sched runs the goroutines of one bubble one at a time, in an order that is chosen.
//
// A goroutine that takes part comes to a [G.Point] before it does what others can notice, and
// parks there. The bubble's first goroutine, in [Run.Drive], waits until everything is parked
// or durably blocked, chooses one of those that can go on, and lets it go: so channels need no
// model. Locks do, since waiting for one of package sync is not durable; timers do, since those of one
// instant run in an order that nobody can choose.
//
// The package knows neither how orders are enumerated, which is the business of package
// interleave, nor the primitives, which its shim packages build on Point and [G.Await]. It
// imports nothing but std and package stackmark, so that everything may import it.
package sched
