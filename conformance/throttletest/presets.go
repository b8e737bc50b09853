package throttletest

// The functions below return the traits of well-known libraries, as a start. The tests
// of this module prove each on the library that it names.

// LoThrottle are the traits of NewThrottle of samber/lo: the functions are called on the
// leading edge, without an argument, and a timer ends the interval.
func LoThrottle() Traits {
	return Traits{Edges: []Edges{Leading}, Boundary: BoundaryPasses, Payload: NoPayload}
}

// LoThrottleBy are the traits of NewThrottleByWithCount of samber/lo: the first calls of an
// interval pass, for each key, and the functions must not call the throttle.
func LoThrottleBy() Traits {
	return Traits{
		Edges: []Edges{Leading}, Boundary: BoundaryPasses, Windows: WindowsFromFirst, Reentrancy: ReentrancyForbidden,
	}
}

// EapacheBatcher are the traits of the batcher of eapache/go-resiliency, whose batches are
// emitted on the trailing edge; the last item stands for the batch. Shutdown emits what is
// pending.
func EapacheBatcher() Traits {
	return Traits{Edges: []Edges{Trailing}, Payload: LastPayload, CloseFlush: CloseFires}
}

// XTimeSometimes are the traits of Sometimes of golang.org/x/time/rate with an Interval: it
// emits on the leading edge, under its lock.
func XTimeSometimes() Traits {
	return Traits{Edges: []Edges{Leading}, Boundary: BoundaryPasses, Reentrancy: ReentrancyForbidden}
}
