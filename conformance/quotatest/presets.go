package quotatest

// The functions below return the traits of well-known libraries, as a start. The tests of
// this module prove each on the library that it names.

// Throttled are the choices of github.com/throttled/throttled, a [GCRA].
func Throttled() Traits {
	return Traits{RetryNever: RetryNegative, Fields: FieldRetry | FieldReset | FieldRemaining}
}

// RussellLuo are the choices of github.com/RussellLuo/slidingwindow, a [SlidingCounter].
func RussellLuo() Traits {
	return Traits{Align: AlignEpoch, CountDenied: DeniedFree, BackTime: BackClamp}
}

// Ulule are the choices of github.com/ulule/limiter, a [FixedWindow]. It reports the end
// of the window in whole seconds, which its Fields here leave out.
func Ulule() Traits {
	return Traits{Edge: EdgeClosed, Align: AlignFirstUse, CountDenied: DeniedCounted, Fields: FieldRemaining}
}

// FailsafeBursty are the choices of the bursty rate limiter of
// github.com/failsafe-go/failsafe-go, a [FixedWindow].
func FailsafeBursty() Traits {
	return Traits{Edge: EdgeHalfOpen, Align: AlignCreation, CountDenied: DeniedFree}
}
