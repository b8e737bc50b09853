package sched

import (
	"runtime"

	"github.com/escapement-go/escapement/internal/stackmark"
)

// called is the stack of the caller, the newest frame first, in room that is big enough mostly. A goroutine
// that takes part is known by the mark in its oldest frames: the number in the header of a trace would do too,
// but to get at that package runtime prints the whole trace, which takes ten times as long.
type called struct {
	room [48]uintptr
	pcs  []uintptr
}

func (c *called) look(skip int) {
	c.pcs = c.room[:]
	for {
		n := runtime.Callers(skip+1, c.pcs)
		if n < len(c.pcs) {
			c.pcs = c.pcs[:n]
			return
		}
		c.pcs = make([]uintptr, 4*len(c.pcs))
	}
}

func (c *called) mark() (uint64, bool) { return stackmark.Oldest(c.pcs) }
