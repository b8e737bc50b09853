// Package httplimit puts the limiters of package limiters in front of HTTP handlers.
//
// [PerClient] limits how many requests each client sends in a time: protection against
// whoever sends them. [Rate] does that by any limiter and any key. [New] and [Concurrency]
// limit how many requests run at once, and let others wait for a while: protection of what
// is behind the handler. They can be combined; put the first two outside.
//
//	handler := httplimit.PerClient(100, time.Minute)(httplimit.New(1000)(mux))
//
// What is answered instead of the handler:
//
//	429 Too Many Requests, "too many requests"      the rate is exceeded
//	503 Service Unavailable, "service unavailable"  there is no decision on the rate
//	503 Service Unavailable, "service busy"         the backlog is full
//	503 Service Unavailable, "request timeout"      no slot came free in time
//
// each with Retry-After; [RetryAfter] says what it is where no limiter does, and with 0 leaves
// it out there. [Reject] answers otherwise, [OnDecision] sees and [Count] counts by reason what
// was let in and what was not. [RateFunc] has a limit for each plan, [Cost] weighs requests, and
// [FailOpen] lets in what cannot be decided. A request whose client has gone while it waited gives up its place, and
// runs no more.
package httplimit
