package quotatest

// The functions below return the traits of well-known libraries, as a start. The tests of
// this module prove each on the library that it names.

// Throttled are the choices of github.com/throttled/throttled, a [GCRA].
func Throttled() Traits {
	return Traits{TooLarge: TooLargeNegative, Answers: AnswersRetry | AnswersReset | AnswersRemaining}
}

// RussellLuo are the choices of github.com/RussellLuo/slidingwindow, a [SlidingCounter].
func RussellLuo() Traits {
	return Traits{Align: AlignEpoch, Denied: DeniedFree, BackTime: BackClamp}
}

// Ulule are the choices of github.com/ulule/limiter, a [FixedWindow]. It reports the end
// of the window in whole seconds, which its Answers here leave out.
func Ulule() Traits {
	return Traits{Edge: EdgeClosed, Align: AlignFirstUse, Denied: DeniedCounted, Answers: AnswersRemaining}
}

// FailsafeBursty are the choices of the bursty rate limiter of
// github.com/failsafe-go/failsafe-go, a [FixedWindow].
func FailsafeBursty() Traits {
	return Traits{Edge: EdgeHalfOpen, Align: AlignCreation, Denied: DeniedFree}
}
