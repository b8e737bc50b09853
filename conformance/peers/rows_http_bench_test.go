package peers

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/escapement-go/escapement/limiters"
	"github.com/escapement-go/escapement/limiters/httplimit"
)

// discard is a http.ResponseWriter that keeps its header, as one request has it.
type discard struct{ header http.Header }

func (w discard) Header() http.Header         { return w.header }
func (w discard) Write(p []byte) (int, error) { return len(p), nil }
func (w discard) WriteHeader(int)             {}

// empty is a handler that does nothing.
var empty = http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})

// answerOnly is a handler that answers as one does whose limiter denies a request.
var answerOnly = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "too many requests", http.StatusTooManyRequests)
})

// serve sends a handler one request from an address after the other.
func serve(h http.Handler, from string) func(n int) {
	r, err := http.NewRequest("GET", "/", nil)
	if err != nil {
		panic(err)
	}
	r.RemoteAddr = from
	w := discard{http.Header{}}
	return func(n int) {
		for range n {
			h.ServeHTTP(w, r)
		}
	}
}

// What requests come from.
const (
	ipv4 = "203.0.113.195:51234"
	ipv6 = "[2001:db8:1:2:3:4:5:6]:51234"
)

// headersRow is a request that is let in and told what remains. What it costs more than the
// handler alone is what the goal is for.
func headersRow() costRow {
	return costRow{name: "httplimit.Rate, with headers", most: 200, sides: func(*testing.B) []side {
		ann := func(*http.Request) string { return "ann" }
		bucket := limiters.NewTokenBucket(1e6, 1<<20)
		gcra := limiters.NewGCRA(time.Microsecond, 1<<20)
		users := limiters.NewKeyedGCRA[string](1000, time.Microsecond, 1<<20)
		alone := limiters.NewTokenBucket(1e6, 1<<20)
		return []side{
			{name: "TokenBucket", loop: serve(httplimit.Rate(bucket)(empty), ipv4)},
			{name: "GCRA", loop: serve(httplimit.Rate(gcra)(empty), ipv4)},
			{name: "KeyedGCRA, a key", loop: serve(httplimit.Rate(users, httplimit.Key(ann))(empty), ipv4)},
			{name: "TokenBucket.Take, no middleware", loop: func(n int) {
				for range n {
					_, _ = alone.Take(context.Background(), "", 1)
				}
			}},
			{name: "the handler alone", loop: serve(empty, ipv4)},
		}
	}}
}

// clientsRows are requests of a client that is known by its address: by PerClient, and by Rate
// of a KeyedGCRA. What these do without a request is beside them.
func clientsRows() []costRow {
	take := func(l limiters.Taker, key string) func(n int) {
		return func(n int) {
			for range n {
				_, _ = l.Take(context.Background(), key, 1)
			}
		}
	}
	users := func(interval time.Duration, burst int) *limiters.KeyedGCRA[string] {
		return limiters.NewKeyedGCRA[string](1000, interval, burst)
	}
	counters := func(limit int) limiters.Taker {
		return limiters.NewKeyed(1000, func(string) *limiters.SlidingCounter {
			return limiters.NewSlidingCounter(limit, time.Hour)
		}, (*limiters.SlidingCounter).Fresh)
	}
	byAddress := func(l limiters.Taker) http.Handler {
		return httplimit.Rate(l, httplimit.Key(httplimit.ByAddress()))(empty)
	}
	others := func(sides ...side) []side {
		gcra := httplimit.Rate(limiters.NewGCRA(time.Microsecond, 1<<20))(empty)
		return append(sides, side{name: "Rate of one GCRA", loop: serve(gcra, ipv4)},
			side{name: "the handler alone", loop: serve(empty, ipv4)})
	}
	return []costRow{
		{name: "httplimit.PerClient", most: 300, sides: func(*testing.B) []side {
			return others(
				side{name: "PerClient", loop: serve(httplimit.PerClient(1<<30, time.Hour)(empty), ipv4)},
				side{name: "IPv6", loop: serve(httplimit.PerClient(1<<30, time.Hour)(empty), ipv6)},
				side{name: "Keyed.Take, no middleware", loop: take(counters(1<<30), "203.0.113.195")},
			)
		}},
		{name: "httplimit.Rate, KeyedGCRA by address", most: 300, sides: func(*testing.B) []side {
			return others(
				side{name: "KeyedGCRA", loop: serve(byAddress(users(time.Microsecond, 1<<20)), ipv4)},
				side{name: "IPv6", loop: serve(byAddress(users(time.Microsecond, 1<<20)), ipv6)},
				side{name: "KeyedGCRA.Take, no middleware", loop: take(users(time.Microsecond, 1<<20), "203.0.113.195")},
			)
		}},
		{name: "httplimit, denied by KeyedGCRA", most: 350, sides: func(*testing.B) []side {
			return others(
				side{name: "KeyedGCRA by address", loop: serve(byAddress(users(time.Hour, 1)), ipv4)},
				side{name: "KeyedGCRA.Take, no middleware", loop: take(users(time.Hour, 1), "203.0.113.195")},
				side{name: "http.Error, no limiter", loop: serve(answerOnly, ipv4)},
			)
		}},
		{name: "httplimit, denied by PerClient", most: 350, sides: func(*testing.B) []side {
			return others(
				side{name: "PerClient", loop: serve(httplimit.PerClient(1, time.Hour)(empty), ipv4)},
				side{name: "Keyed.Take, no middleware", loop: take(counters(1), "203.0.113.195")},
				side{name: "http.Error, no limiter", loop: serve(answerOnly, ipv4)},
			)
		}},
	}
}
