package quotatest

// The choices of published limiters, to start from for one that is like them. The test suite
// of this module runs each on the library that it names.

// Throttled are the choices of github.com/throttled/throttled, a [GCRA].
func Throttled() Traits {
	return Traits{TooLarge: TooLargeNegative, Answers: AnswersRetry | AnswersReset | AnswersRemaining}
}

// RussellLuo are the choices of github.com/RussellLuo/slidingwindow, a [SlidingCounter].
func RussellLuo() Traits {
	return Traits{Align: AlignEpoch, Denied: DeniedFree, BackTime: BackClamp}
}

// Ulule are the choices of github.com/ulule/limiter, a [FixedWindow]. When it says that the
// window ends is in whole seconds, and not among its answers here.
func Ulule() Traits {
	return Traits{Edge: EdgeClosed, Align: AlignFirstUse, Denied: DeniedCounted, Answers: AnswersRemaining}
}

// FailsafeBursty are the choices of the bursty rate limiter of
// github.com/failsafe-go/failsafe-go, a [FixedWindow].
func FailsafeBursty() Traits {
	return Traits{Edge: EdgeHalfOpen, Align: AlignCreation, Denied: DeniedFree}
}
