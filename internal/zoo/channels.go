package zoo

// Offer sends v unless that would block, and reports whether it did.
func Offer[T any](to chan<- T, v T) bool {
	select {
	case to <- v:
		return true
	default:
		return false
	}
}

// Poll receives a value unless that would block, and reports whether it did.
func Poll[T any](from <-chan T) (v T, ok bool) {
	select {
	case v = <-from:
		return v, true
	default:
		return v, false
	}
}
