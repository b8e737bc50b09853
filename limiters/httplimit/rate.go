package httplimit

import (
	"errors"
	"math"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/escapement-go/escapement/limiters"
)

// ErrRate is what OnThrottle is told of a request that came too fast.
var ErrRate = errors.New("httplimit: the rate is exceeded")

// A Limiter decides whether a request of somebody, known by a key, may happen now,
// and counts it if so. It must be safe for concurrent use.
type Limiter interface {
	Take(key string) Decision
}

// LimiterFunc is a function as a [Limiter].
type LimiterFunc func(key string) Decision

// Take calls f.
func (f LimiterFunc) Take(key string) Decision { return f(key) }

// A Decision is what a [Limiter] says of one request. Only Allowed has to be set;
// the rest is for the headers, and what is 0 is left out of them, except that
// Remaining is said wherever Quota is.
type Decision struct {
	Allowed    bool
	Quota      int           // how many requests there may be in Window
	Window     time.Duration // the time that Quota is for
	Remaining  int           // how many of them are left
	Reset      time.Duration // until the whole Quota is there again
	RetryAfter time.Duration // until a request that was denied may come again
}

// Rate returns middleware that asks l for each request, with the key that key finds
// in it. A nil key means one key, "", for all. Requests that are denied get 429 Too
// Many Requests, with Retry-After. All answers, also those of the handler, have the
// fields RateLimit-Policy and RateLimit of draft-ietf-httpapi-ratelimit-headers, as
// far as the Decision has the numbers: the policy's name is "default", times are in
// seconds, rounded up. It panics if l is nil.
func Rate(l Limiter, key func(*http.Request) string, opts ...Option) func(http.Handler) http.Handler {
	if l == nil {
		panic("httplimit: Rate: l is nil: use TokenBucket, or a LimiterFunc")
	}
	cfg := configure(opts)
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			who := ""
			if key != nil {
				who = key(r)
			}
			d := l.Take(who)
			d.header(w.Header())
			if d.Allowed {
				next.ServeHTTP(w, r)
				return
			}
			cfg.reject(w, r, ErrRate, http.StatusTooManyRequests, "too many requests", d.RetryAfter)
		})
	}
}

// header says what there is to say.
func (d Decision) header(h http.Header) {
	if d.Quota <= 0 {
		return
	}
	policy := `"default";q=` + strconv.Itoa(d.Quota)
	if d.Window > 0 {
		policy += ";w=" + seconds(d.Window)
	}
	state := `"default";r=` + strconv.Itoa(max(0, d.Remaining))
	if d.Reset > 0 {
		state += ";t=" + seconds(d.Reset)
	}
	h.Set("RateLimit-Policy", policy)
	h.Set("RateLimit", state)
}

// TokenBucket is b as a [Limiter], the same for all keys. Its quota is the burst,
// and the window the time in which an empty bucket fills.
func TokenBucket(b *limiters.TokenBucket) Limiter {
	return LimiterFunc(func(string) Decision {
		d := Decision{Allowed: b.Allow(), Quota: b.Burst()}
		rate := float64(b.Limit())
		if b.Limit() == limiters.Inf || rate <= 0 {
			return d
		}
		tokens := b.Tokens()
		d.Remaining = int(math.Floor(tokens))
		d.Window = after(float64(d.Quota) / rate)
		d.Reset = after((float64(d.Quota) - tokens) / rate)
		if !d.Allowed {
			d.RetryAfter = max(1, after((1-tokens)/rate))
		}
		return d
	})
}

// after is a number of seconds as a duration.
func after(s float64) time.Duration {
	if s >= math.MaxInt64/1e9 {
		return math.MaxInt64
	}
	return time.Duration(math.Ceil(s * 1e9))
}

// RemoteIP is the address of the client's end of the connection, for a key. Behind a
// proxy that is the proxy: there, take the key from a header that the proxy sets.
func RemoteIP(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
