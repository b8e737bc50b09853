package httplimit

import (
	"expvar"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/escapement-go/escapement/limiters"
)

// What each exported function does with arguments that make no sense: a panic on the goroutine of the caller, before
// a request comes, that begins with the package and has the value and the way out, or "" for a result.
func TestArguments(t *testing.T) {
	bucket := limiters.NewTokenBucket(1, 1)
	for _, tt := range []struct {
		want string
		call func()
	}{
		{"New: limit 0 must be >= 1: to", func() { New(0) }},
		{"New: limit -1 must be >= 1: to", func() { New(-1, nil) }},
		{"", func() { New(math.MaxInt, nil)(servedAtOnce) }},
		{"the handler to limit is nil: for", func() { New(1)(nil) }},
		{"the handler to limit is nil: for", func() { New(1)(http.HandlerFunc(nil)) }},
		{"the handler to limit is nil: for", func() { Rate(bucket)((*http.ServeMux)(nil)) }},
		{"the handler to limit is nil: for", func() { PerClient(1, time.Second)(nil) }},
		{"Concurrency: c is nil: make", func() { Concurrency(nil) }},
		{"Rate: l is nil (<nil>): use", func() { Rate(nil) }},
		{"Rate: l is nil (*limiters.GCRA): use", func() { Rate((*limiters.GCRA)(nil)) }},
		{"RateFunc: choose is nil: for", func() { RateFunc(nil) }},
		{"PerClient: limit 0 must be >= 1: to", func() { PerClient(0, time.Second) }},
		{"PerClient: window 0s must be > 0: use", func() { PerClient(1, 0) }},
		{"", func() { PerClient(math.MaxInt, math.MaxInt64, WithClock(nil)) }},
		{"RetryAfter: d -1ns must be >= 0: for", func() { RetryAfter(-1) }},
		{"", func() { RetryAfter(math.MaxInt64) }},
		{"MaxKeys: n 0 must be >= 1: for", func() { MaxKeys(0) }},
		{"Count: c is a nil *expvar.Map: make", func() { Count((*expvar.Map)(nil)) }},
		{"ByPrefix: bits 0 must be from 1 to 128: for", func() { ByPrefix(0) }},
		{"ByPrefix: bits 129 must be from 1 to 128: for", func() { ByPrefix(129) }},
		{"ByAddress: proxy invalid Prefix is not valid: make", func() { ByAddress(netip.Prefix{}) }},
		{"ByPrefix: proxy invalid Prefix is not valid: make", func() { ByPrefix(64, netip.Prefix{}) }},
	} {
		got := panicText(tt.call)
		if tt.want == "" && got != "" || tt.want != "" && !strings.HasPrefix(got, "httplimit: "+tt.want) {
			t.Errorf("panicked with %q, want %q", got, tt.want)
		}
	}
}

// A nil function or counter in an option is as no option: with Key(nil), clients are still told apart.
func TestArguments_nilOptions(t *testing.T) {
	none := []Option{Key(nil), Cost(nil), OnThrottle(nil), OnDecision(nil), Count(nil), Reject(nil), WithClock(nil), nil}
	h := PerClient(1, time.Hour, none...)(servedAtOnce)
	for i, want := range []int{200, 429, 200} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = fmt.Sprintf("192.0.2.%d:1", i/2)
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != want {
			t.Errorf("request %d is answered %d, want %d", i, w.Code, want)
		}
	}
}

func panicText(call func()) (text string) {
	defer func() {
		if r := recover(); r != nil {
			text = fmt.Sprint(r)
		}
	}()
	call()
	return ""
}
