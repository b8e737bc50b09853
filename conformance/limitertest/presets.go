package limitertest

// The functions below return the traits of well-known libraries, as a start. The tests of
// this module prove each on the library that it names.

// XTimeRate are the traits of golang.org/x/time/rate: a bucket in debt, whose reservations
// keep their instants and are refunded less what was reserved later.
func XTimeRate() Traits {
	return Traits{
		Initial: InitialFull, Oversize: OversizeRejected, BackTime: BackClamp, ZeroRate: ZeroRateBurst, Inf: InfGrants,
		Fair: FairFIFO, DeadlineCheck: DeadlineFailFast, Refund: RefundConservative, LateCancel: LateIgnored,
		OnChange: OnChangeKeeps, OnBurstRaised: RaiseBringsNothing, WaitErrors: WaitErrorsContext,
	}
}

// JujuRatelimit are the traits of github.com/juju/ratelimit: a token comes at each multiple of
// the interval, and what is taken in advance is final.
func JujuRatelimit() Traits {
	return Traits{
		Initial: InitialFull, RefillSize: 1, Oversize: OversizeWaits, BackTime: BackClamp, ZeroRate: ZeroRateRefused,
		Inf: InfAbsent, Fair: FairFIFO, OnChange: OnChangeKeeps,
	}
}

// UberRatelimit are the traits of go.uber.org/ratelimit with slack: tokens are taken one at a
// time, and a new limiter has one.
func UberRatelimit() Traits {
	return Traits{Initial: InitialOne, OneAtATime: true, Fair: FairFIFO, OnChange: OnChangeKeeps}
}
