package sched

import (
	"runtime"
	"sync"
)

// A goroutine that takes part is known by its stack, whose oldest frames spell its number, four bits each:
// package stackmark does the same for other ends. Its number in the header of a trace would do too, but to get
// at that package runtime prints the whole trace, which takes ten times as long.

// called is the stack of the caller, the newest frame first, in room that is big enough mostly.
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

// number returns the number that the oldest frames spell.
func (c *called) number() (n int, ok bool) {
	a := alphabet()
	last := len(c.pcs) - 1
	for i := last; i >= 0 && i > last-6; i-- {
		if c.pcs[i] != a.oldest {
			continue
		}
		for j, shift := i-1, 0; j >= 0; j, shift = j-1, shift+4 {
			digit, ok := a.digit(c.pcs[j])
			if !ok {
				return n, c.pcs[j] == a.newest
			}
			n |= digit << shift
		}
	}
	return 0, false
}

// marked calls f from a stack that spells n.
//
//go:noinline
func marked(n int, f func()) {
	spell(n, f)
	runtime.KeepAlive(f) // no tail call
}

// spell spells n from its lowest digit on.
//
//go:noinline
func spell(n int, f func()) {
	if n == 0 {
		f()
		return
	}
	rest := n >> 4
	switch n & 15 {
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
	case 15:
		spell(rest, f)
	}
}

// signs are the frames that spell.
type signs struct {
	newest, oldest uintptr
	digits         [16]uintptr
}

func (s *signs) digit(pc uintptr) (int, bool) {
	for i, d := range s.digits {
		if d == pc {
			return i, true
		}
	}
	return 0, false
}

// alphabet learns the signs from stacks that spell numbers which have them.
var alphabet = sync.OnceValue(func() *signs {
	s := new(signs)
	for digit := range s.digits {
		var pcs [4]uintptr // that of f, the highest digit, the lowest, and marked
		marked(16+digit, func() { runtime.Callers(2, pcs[:]) })
		s.digits[digit], s.newest, s.oldest = pcs[2], pcs[0], pcs[3]
	}
	return s
})
