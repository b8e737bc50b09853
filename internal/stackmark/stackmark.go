// Package stackmark calls a function from a stack that spells a number.
//
// Package rapid makes a failing test smaller only as long as the failure stays the
// same one, and tells failures apart by the functions and lines between a panic and
// rapid itself. A failure that is raised in one place for many reasons would be the
// same one always; marked with a number for its reason it is not.
package stackmark

import "hash/fnv"

// Of returns the number that stands for text.
func Of(text string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(text))
	return h.Sum32()
}

// Call calls f from a stack on which the lines of eight frames spell mark, four
// bits each.
func Call(mark uint32, f func()) { spell(mark, 8, f) }

//go:noinline
func spell(mark uint32, digits int, f func()) {
	if digits == 0 {
		f()
		return
	}
	rest, left := mark>>4, digits-1
	switch mark & 15 {
	case 0:
		spell(rest, left, f)
	case 1:
		spell(rest, left, f)
	case 2:
		spell(rest, left, f)
	case 3:
		spell(rest, left, f)
	case 4:
		spell(rest, left, f)
	case 5:
		spell(rest, left, f)
	case 6:
		spell(rest, left, f)
	case 7:
		spell(rest, left, f)
	case 8:
		spell(rest, left, f)
	case 9:
		spell(rest, left, f)
	case 10:
		spell(rest, left, f)
	case 11:
		spell(rest, left, f)
	case 12:
		spell(rest, left, f)
	case 13:
		spell(rest, left, f)
	case 14:
		spell(rest, left, f)
	default:
		spell(rest, left, f)
	}
}
