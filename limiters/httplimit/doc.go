// Package httplimit puts the limiters of package limiters in front of HTTP handlers.
//
// [PerClient] limits the rate of each client: protection against clients. [Rate] does that
// with any limiter and any key. [New] and [Concurrency] limit how many requests run at
// once, and let others wait for a while: protection of the handler. Combine them with the
// first two outside.
//
//	handler := httplimit.PerClient(100, time.Minute)(httplimit.New(1000)(mux))
//
// Answers to rejected requests:
//
//	429 Too Many Requests, "too many requests"      the rate is exceeded
//	503 Service Unavailable, "service unavailable"  there is no decision on the rate
//	503 Service Unavailable, "service busy"         the backlog is full
//	503 Service Unavailable, "request timeout"      no slot came free in time
//
// each with Retry-After; where no limiter gives it, [RetryAfter] sets it, and 0 omits it. [Reject] changes the
// answer, [OnDecision] observes each decision and [Count] counts them by reason. [RateFunc] has a limit for each
// plan, [Cost] weighs requests, and [FailOpen] admits requests that cannot be decided. A request whose client
// disconnects while it waits gives up its place, and does not run.
package httplimit
