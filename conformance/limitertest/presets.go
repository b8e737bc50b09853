package limitertest

// LikeXTime are the traits of golang.org/x/time/rate.
var LikeXTime = Traits{
	Initial: InitialFull, Oversize: OversizeRejected, BackTime: BackClamp, ZeroRate: ZeroRateBurst, Inf: InfGrants,
	Fair: FairFIFO, DeadlineCheck: DeadlineFailFast, Refund: RefundConservative, LateCancel: LateIgnored,
	Rewake: RewakeKeeps, Raise: RaiseBringsNothing,
}
