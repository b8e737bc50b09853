package zoo

import "math"

// Deduped is a call that ignores an event with the payload of the one before.
func Deduped(call func(v int)) func(v int) {
	before := math.MinInt
	return func(v int) {
		if v != before {
			call(v)
		}
		before = v
	}
}

// Overtaking is a call that leaves to the scheduler which of two events comes first.
func Overtaking(call func(v int)) func(v int) {
	return func(v int) { go call(v) }
}
