package httplimit

import (
	"fmt"
	"net/http"
	"time"

	"github.com/escapement-go/escapement/limiters"
)

// DefaultMaxKeys is how many clients [PerClient] can have a count for at a time.
const DefaultMaxKeys = 1 << 16

// PerClient returns middleware that lets each client send about limit requests in any period
// as long as window, and answers the others as [Rate] does, with 429:
//
//	handler := httplimit.PerClient(100, time.Minute)(mux)
//
// A client is an address, or for IPv6 its /64: [ByAddress](). An address from a proxy counts
// only if the proxy is named: Key(ByAddress(proxy)). Each client has a
// limiters.SlidingCounter: at most limit requests in each window of the clock, and fewer than
// twice as many in any period as long.
//
// It keeps some 150 bytes and the key for each client of this window and the previous one,
// up to [DefaultMaxKeys] clients: then new ones get 503 until others can be forgotten
// without granting anything. Only an attack from that many addresses reaches this; see
// [MaxKeys].
//
// All handlers that the middleware wraps share the limit. It starts no goroutine and no
// timer. PerClient panics if limit is less than 1 or window is not positive.
func PerClient(limit int, window time.Duration, opts ...Option) func(http.Handler) http.Handler {
	if limit < 1 {
		panic(fmt.Sprintf("httplimit: PerClient: limit %d must be >= 1: to let nothing in, do not serve", limit))
	}
	if window <= 0 {
		panic(fmt.Sprintf("httplimit: PerClient: window %v must be > 0: use the time that limit is for, such as time.Minute", window))
	}
	opts = append([]Option{Key(ByAddress())}, opts...)
	cfg := configure(opts)
	clients := limiters.NewKeyed(cfg.clients, func(string) *limiters.SlidingCounter {
		return limiters.NewSlidingCounter(limit, window, limiters.WithClock(cfg.clock))
	}, (*limiters.SlidingCounter).Fresh)
	return Rate(clients, opts...)
}
