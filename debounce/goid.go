package debounce

import "runtime"

// goid returns the number of the calling goroutine. The header of its stack
// trace, "goroutine 123 [running]:", is the only place that tells it.
func goid() uint64 {
	var buf [40]byte
	var id uint64
	for _, c := range buf[len("goroutine "):runtime.Stack(buf[:], false)] {
		if c < '0' || c > '9' {
			break
		}
		id = id*10 + uint64(c-'0')
	}
	return id
}
