package stackmark

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
)

// On reports whether the caller was called by the function of a Call with mark, directly
// or not. Reading a stack takes microseconds, and the longer the deeper it is.
func On(mark uint64) bool { return Any(func(m uint64) bool { return m == mark }) }

// Any reports whether is reports true for the mark of a Call that the caller was called
// by. It asks for the newest Call first, and may ask again.
func Any(is func(mark uint64) bool) bool {
	for size := 64; ; size *= 4 { // mostly the mark is near, however deep the stack
		pcs := make([]uintptr, size)
		n := runtime.Callers(2, pcs)
		if anyOf(pcs[:n], is) {
			return true
		}
		if n < size {
			return false
		}
	}
}

// anyOf is Any for the newest part of a stack.
func anyOf(pcs []uintptr, is func(mark uint64) bool) bool {
	var r reader
	for _, pc := range pcs {
		if s, ok := alphabet().byPC[pc]; ok && r.read(s) && is(r.mark) {
			return true
		}
	}
	return false
}

// Oldest returns the mark of the Call that was made first of those on a stack, given as
// runtime.Callers does. It looks among the oldest frames only.
func Oldest(pcs []uintptr) (mark uint64, ok bool) {
	byPC := alphabet().byPC
	for i := len(pcs) - 1; i >= max(0, len(pcs)-6); i-- {
		if s, ok := byPC[pcs[i]]; !ok || s != oldest {
			continue
		}
		for shift := 0; i > 0; shift += 4 {
			i--
			switch s, ok := byPC[pcs[i]]; {
			case !ok || s == oldest:
				return 0, false
			case s == newest:
				return mark, true
			default:
				mark |= uint64(s) << shift
			}
		}
	}
	return 0, false
}

// InTrace returns the marks of all Calls in the stack trace of a goroutine as package
// runtime prints it, the newest first. It leaves out those of which the trace, being long,
// does not show every frame.
func InTrace(trace string) (marks []uint64) {
	var r reader
	for line := range strings.Lines(trace) {
		if strings.HasPrefix(line, "...") { // "...23 frames elided..."
			r = reader{}
		}
		place, ok := strings.CutPrefix(line, "\t")
		if !ok {
			continue
		}
		place, _, _ = strings.Cut(place, " +0x")
		if s, ok := alphabet().byPlace[place]; ok && r.read(s) {
			marks = append(marks, r.mark)
		}
	}
	return marks
}

// sign is what a frame of a mark stands for: a digit or one of its ends.
type sign uint8

const (
	digits = 16
	newest = sign(digits)     // the frame that calls the function, before the highest digit
	oldest = sign(digits + 1) // the frame of Call, after the lowest digit
)

// reader puts the signs of a stack together, from the newest frame to the oldest.
type reader struct {
	mark  uint64
	whole bool // from its newest frame on
}

// read reports whether s completes the mark.
func (r *reader) read(s sign) bool {
	switch s {
	case newest:
		r.mark, r.whole = 0, true
	case oldest:
		return r.whole
	default:
		r.mark = r.mark<<4 | uint64(s)
	}
	return false
}

// signs are the frames of marks.
type signs struct {
	byPC    map[uintptr]sign
	byPlace map[string]sign // file and line, as in a trace
}

// alphabet learns the signs from a stack that spells a mark which has them all.
var alphabet = sync.OnceValue(func() signs {
	order := [...]sign{newest, 1, 0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, oldest}
	var pcs [len(order)]uintptr
	Call(0x1023456789abcdef, func() { runtime.Callers(2, pcs[:]) })
	all := signs{make(map[uintptr]sign), make(map[string]sign)}
	for i, s := range order {
		frame, _ := runtime.CallersFrames(pcs[i : i+1]).Next()
		all.byPC[pcs[i]] = s
		all.byPlace[fmt.Sprintf("%s:%d", frame.File, frame.Line)] = s
	}
	return all
})
