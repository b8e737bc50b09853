package limitertest

// The traits of well-known libraries, as a start. The tests of this module prove each on
// the library that it names.
var (
	// LikeXTime are the traits of golang.org/x/time/rate: a bucket in debt, whose
	// reservations keep their instants and are refunded less what was reserved later.
	LikeXTime = Traits{
		Initial: InitialFull, Oversize: OversizeRejected, BackTime: BackClamp, ZeroRate: ZeroRateBurst, Inf: InfGrants,
		Fair: FairFIFO, DeadlineCheck: DeadlineFailFast, Refund: RefundConservative, LateCancel: LateIgnored,
		OnChange: OnChangeKeeps, OnBurstRaised: RaiseBringsNothing, WaitErrors: WaitErrorsContext,
	}

	// LikeJuju are the traits of github.com/juju/ratelimit: a token comes at each multiple
	// of the interval, and what is taken in advance is final.
	LikeJuju = Traits{
		Initial: InitialFull, RefillSize: 1, Oversize: OversizeWaits, BackTime: BackClamp, ZeroRate: ZeroRateRefused,
		Inf: InfAbsent, Fair: FairFIFO, OnChange: OnChangeKeeps,
	}

	// LikeUber are the traits of go.uber.org/ratelimit with slack: single turns, of which
	// only the first is there in the beginning.
	LikeUber = Traits{Initial: InitialOne, OneAtATime: true, Fair: FairFIFO, OnChange: OnChangeKeeps}

	// LikeFailsafeSmooth are the traits of a smooth rate limiter of
	// github.com/failsafe-go/failsafe-go: single permits on a grid, never given back.
	LikeFailsafeSmooth = Traits{
		Initial: InitialFull, OneAtATime: true, RefillSize: 1, ZeroRate: ZeroRateRefused, Inf: InfAbsent,
		Fair: FairFIFO, DeadlineCheck: DeadlineSleeps, Refund: RefundNone, OnChange: OnChangeKeeps,
	}

	// LikeThrottled are the traits of the GCRA of github.com/throttled/throttled, as the
	// token bucket that it is.
	LikeThrottled = Traits{Initial: InitialFull, Oversize: OversizeRejected, ZeroRate: ZeroRateRefused, Inf: InfAbsent}
)
