// Package httplimit puts the limiters of package limiters in front of HTTP handlers.
//
// [New] and [Concurrency] limit how many requests run at once, and let others wait
// for a while: protection of what is behind the handler. [Rate] limits how many
// requests come per second, and turns the others away: protection against whoever
// sends them. They can be combined; put Rate outside.
//
//	mux := http.NewServeMux()
//	handler := httplimit.New(100)(mux)
//
// What is answered instead of the handler:
//
//	503 Service Unavailable, "service busy"     the backlog is full
//	503 Service Unavailable, "request timeout"  no slot came free in time
//	429 Too Many Requests, "too many requests"  the rate is exceeded
//
// each with Retry-After. A request whose client has gone while it waited gives up
// its place, and runs no more.
package httplimit
