package leakybuckettest

// The functions below return the traits of well-known libraries, as a start. The tests
// of this module prove each on the library that it names. Any number of callers block
// for their turn, and the first does not wait.

// UberRatelimit are the traits of go.uber.org/ratelimit: after idle time as many
// callers as its slack pass at once, and one more.
func UberRatelimit(slack int) Traits {
	return Traits{FirstItem: FirstAtOnce, Slack: slack, Unbounded: true, ClockBack: BackStands}
}

// FailsafeSmooth are the traits of the smooth rate limiter of
// github.com/failsafe-go/failsafe-go, which spreads executions evenly.
func FailsafeSmooth() Traits {
	return Traits{FirstItem: FirstAtOnce, Unbounded: true}
}

// XTimeRate are the traits of golang.org/x/time/rate with a burst of 1, whose Wait spaces its
// callers.
func XTimeRate() Traits {
	return Traits{FirstItem: FirstAtOnce, Unbounded: true}
}
