package httplimit

import (
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/escapement-go/escapement/limiters"
)

// mostInteger is the largest integer of a structured field (RFC 8941).
const mostInteger = 999_999_999_999_999

// mostSeconds is what Retry-After says for never: more than any client waits, and few
// enough for all to parse.
const mostSeconds = math.MaxInt32

// describe says in fields what there is to say of a decision.
func describe(h http.Header, d limiters.Decision) {
	if d.Limit <= 0 || d.Limit == math.MaxInt || int64(d.Limit) > mostInteger {
		return
	}
	policy := `"default";q=` + strconv.Itoa(d.Limit)
	if d.Window > 0 && d.Window < limiters.InfDuration {
		policy += ";w=" + strconv.FormatInt(seconds(d.Window), 10)
	}
	state := `"default";r=` + strconv.FormatInt(min(max(int64(d.Remaining), 0), mostInteger), 10)
	if d.ResetAfter > 0 && d.ResetAfter < limiters.InfDuration {
		state += ";t=" + strconv.FormatInt(seconds(d.ResetAfter), 10)
	}
	h.Set("RateLimit-Policy", policy)
	h.Set("RateLimit", state)
}

// retryAfter sets Retry-After, unless d is 0.
func retryAfter(h http.Header, d time.Duration) {
	if d > 0 {
		h.Set("Retry-After", strconv.FormatInt(min(seconds(d), mostSeconds), 10))
	}
}

// seconds is d in whole seconds, rounded up.
func seconds(d time.Duration) int64 {
	n := int64(d / time.Second)
	if d%time.Second > 0 {
		n++
	}
	return n
}
