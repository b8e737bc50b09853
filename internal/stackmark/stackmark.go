// Package stackmark calls a function from a stack that spells a number.
//
// Such a mark can be read by what the function calls, so a method finds out whether
// it was called by the very function that it would have to wait for, at no cost
// to a function that calls no such method. Goroutine numbers tell that as well, but must
// be written down at each call of the function, and to learn one takes microseconds.
//
// It can also be read in the text of a stack trace, and it tells traces apart.
// Package rapid makes a failing test smaller only as long as the failure stays the
// same one, and tells failures apart by the functions and lines between a panic and
// rapid itself. A failure that is raised in one place for many reasons would be the
// same one always; marked with a number for its reason it is not.
package stackmark

import (
	"hash/fnv"
	"sync/atomic"
)

// given is the last number that New returned.
var given atomic.Uint64

// New returns a number that New has not returned before, from 1 on: low numbers are
// spelled fast. They do not reach those of Of in the life of a process.
//
// Whoever gives a mark to one call after another should take a new one when a call ended
// by a panic or runtime.Goexit: what is deferred further out still finds the old one.
func New() uint64 { return given.Add(1) }

// Of returns the number that stands for text.
func Of(text string) uint64 {
	h := fnv.New32a()
	h.Write([]byte(text))
	return 1<<32 | uint64(h.Sum32())
}

// Call calls f from a stack on which the lines of frames spell mark, four bits
// each. It does not make f escape to the heap.
//
//go:noinline
func Call(mark uint64, f func()) { spell(mark, f) }

// spell spells a mark from its lowest digit to its highest, so that it ends where
// nothing is left.
//
//go:noinline
func spell(mark uint64, f func()) {
	if mark == 0 {
		f()
		return
	}
	rest := mark >> 4
	switch mark & 15 {
	case 0:
		spell(rest, f)
	case 1:
		spell(rest, f)
	case 2:
		spell(rest, f)
	case 3:
		spell(rest, f)
	case 4:
		spell(rest, f)
	case 5:
		spell(rest, f)
	case 6:
		spell(rest, f)
	case 7:
		spell(rest, f)
	case 8:
		spell(rest, f)
	case 9:
		spell(rest, f)
	case 10:
		spell(rest, f)
	case 11:
		spell(rest, f)
	case 12:
		spell(rest, f)
	case 13:
		spell(rest, f)
	case 14:
		spell(rest, f)
	default:
		spell(rest, f)
	}
}
