package concurrencytest

// The functions below return the traits of well-known libraries, as a start. The tests of
// this module prove each on the library that it names.

// XSyncSemaphore are the traits of golang.org/x/sync/semaphore: Acquire blocks until there is
// room or its context is done, first come, first served. A request for more than the size
// waits for its context; an extra release panics.
func XSyncSemaphore() Traits {
	return Traits{
		Backlog: BacklogUnbounded, Timeout: TimeoutNone, Context: ContextHonoured, ContextError: ErrorOfContext,
		Fair: FairFIFO, Oversize: OversizeBlocks, OverRelease: OverReleasePanics, Hook: HookNone,
	}
}

// ChiThrottle are the traits of ThrottleBacklog of go-chi/chi: middleware with a backlog and
// a timeout.
func ChiThrottle() Traits {
	return Traits{
		Backlog: BacklogBounded, Timeout: TimeoutBounded, Context: ContextHonoured, SeatHeld: SeatFreed, Fair: FairFIFO,
		OneAtATime: true, Hook: HookNone, ContextError: ErrorOfOwn,
	}
}

// FailsafeBulkhead are the traits of the bulkhead of failsafe-go: permits, one each, with a
// bounded wait. An extra release must not happen.
func FailsafeBulkhead() Traits {
	return Traits{
		Backlog: BacklogUnbounded, Timeout: TimeoutBounded, Context: ContextHonoured, Fair: FairFIFO,
		OneAtATime: true, OverRelease: OverReleaseUndefined, Hook: HookNone,
	}
}

// GoResiliencySemaphore are the traits of the semaphore of eapache/go-resiliency: tickets, one
// each, with a timeout and without contexts.
func GoResiliencySemaphore() Traits {
	return Traits{
		Backlog: BacklogUnbounded, Timeout: TimeoutBounded, Context: ContextIgnored, Fair: FairFIFO,
		OneAtATime: true, OverRelease: OverReleaseUndefined, Hook: HookNone,
	}
}
