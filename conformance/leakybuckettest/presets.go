package leakybuckettest

// The functions below are the traits of libraries that are known, to start from: each is
// proved on the library that it names. Their callers block for their turn, any number of
// them, and the first has not to wait.

// UberRatelimit are the traits of go.uber.org/ratelimit: so many more callers as it has
// slack pass at once after idle time.
func UberRatelimit(slack int) Traits {
	return Traits{FirstItem: FirstAtOnce, Slack: slack, Unbounded: true}
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
