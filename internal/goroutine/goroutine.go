// Package goroutine tells goroutines apart, and what those of a bubble wait for. It is for
// tests: whether a method is called by the very function that it would have to wait for is
// a question for package stackmark.
package goroutine

import (
	"runtime"
	"sync"
)

// headers are buffers for the header: runtime.Stack would put one on the heap each time.
var headers = sync.Pool{New: func() any { return new([40]byte) }}

// ID returns the number of the calling goroutine, at least 1, which no other has
// while it lives. The header of its stack trace, "goroutine 123 [running]:", is the
// only place that tells it; reading that takes microseconds, and more on a
// deep stack.
func ID() uint64 {
	buf := headers.Get().(*[40]byte)
	defer headers.Put(buf)
	var id uint64
	for _, c := range buf[len("goroutine "):runtime.Stack(buf[:], false)] {
		if c < '0' || c > '9' {
			break
		}
		id = id*10 + uint64(c-'0')
	}
	return id
}
