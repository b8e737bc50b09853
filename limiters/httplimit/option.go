package httplimit

import (
	"fmt"
	"net/http"
	"reflect"
	"time"

	"github.com/escapement-go/escapement/limiters"
	"github.com/jonboulle/clockwork"
)

// An Option changes what the middleware does. Options are applied in order; the zero
// Option (nil) changes nothing. The functions that options take may be called by many
// goroutines at once, each on that of a request, and under no lock.
type Option func(*config)

type config struct {
	key        func(r *http.Request) string
	cost       func(r *http.Request) int
	clients    int
	clock      clockwork.Clock
	onThrottle func(r *http.Request, err error)
	onDecision func(r *http.Request, d limiters.Decision, err error)
	counts     Counter
	failOpen   bool
	xRateLimit bool
	answer     func(w http.ResponseWriter, r *http.Request, status int, err error)
	retry      time.Duration // in Retry-After, if nothing else is known
	retries    *kept         // its text: in a flood of denied requests the next one is the same
}

func configure(opts []Option) config {
	cfg := config{retry: time.Second, retries: new(kept), clients: DefaultMaxKeys}
	for _, opt := range opts {
		if opt != nil {
			opt(&cfg)
		}
	}
	return cfg
}

// Key identifies the sender of a request: requests with the same key share a limit. The
// default is [ByAddress]() for [PerClient], and the key "" for [Rate]; [Concurrency] has
// none. Take it from something a client cannot choose: a session, a verified token. With a
// nil f it changes nothing.
func Key(f func(r *http.Request) string) Option {
	return func(cfg *config) {
		if f != nil {
			cfg.key = f
		}
	}
}

// Cost sets how many events a request counts as, instead of 1: with 0 it is free, and with
// more than the limit, or less than 0, always denied. [Concurrency] has no cost. A nil f, here
// and in the options below, changes nothing.
func Cost(f func(r *http.Request) int) Option {
	return func(cfg *config) { cfg.cost = f }
}

// OnThrottle calls f once for each rejected request, before the answer is written. err
// is the reason: limiters.ErrBacklogFull, limiters.ErrTimeout,
// context.DeadlineExceeded, limiters.ErrTooManyKeys or [ErrRate], among others.
func OnThrottle(f func(r *http.Request, err error)) Option {
	return func(cfg *config) { cfg.onThrottle = f }
}

// OnDecision calls f once for each request, before the handler runs or the answer is
// written. err is nil for an admitted request, unless [FailOpen] admitted it, and
// otherwise the error of [OnThrottle]; from [Concurrency], only d.Allowed is set.
func OnDecision(f func(r *http.Request, d limiters.Decision, err error)) Option {
	return func(cfg *config) { cfg.onDecision = f }
}

// A Counter adds to the count of a name. An *expvar.Map is one; so is an adapter to any
// other metrics. It must be safe for concurrent use.
type Counter interface {
	Add(name string, delta int64)
}

// What [Count] calls the ends of a request.
const (
	letIn      = "allowed"
	opened     = "failed open"
	overRate   = "rejected: rate"
	noPlace    = "rejected: full"
	tooLate    = "rejected: late"
	noDecision = "rejected: undecided"
)

// Count counts each request in c, under one of these names:
//
//	allowed              it is let in
//	failed open          it is let in without a decision; see FailOpen
//	rejected: rate       429, the rate is exceeded
//	rejected: full       503, the backlog is full
//	rejected: late       503, no slot came free in time
//	rejected: undecided  503, there is no decision on the rate
//
// A client that disconnects while its request waits is not counted. Nothing is exported. Count
// panics if c is a nil pointer.
func Count(c Counter) Option {
	if c != nil && isNil(c) {
		panic(fmt.Sprintf("httplimit: Count: c is a nil %T: make one", c))
	}
	return func(cfg *config) { cfg.counts = c }
}

// isNil reports whether v is nil, or an interface with a nil pointer or function in it.
func isNil(v any) bool {
	switch in := reflect.ValueOf(v); in.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Pointer, reflect.Func:
		return in.IsNil()
	default:
		return false
	}
}

// FailOpen makes [Rate], [RateFunc] and [PerClient] admit a request if the limiter returns an
// error, for example because its server is down: without it the answer is 503. Too many keys,
// limiters.ErrTooManyKeys, are still refused, or an attacker with many keys would have no
// limit, and so is a request whose context is done. [OnDecision] gets the error.
func FailOpen() Option {
	return func(cfg *config) { cfg.failOpen = true }
}

// XRateLimit makes [Rate], [RateFunc] and [PerClient] also set the older fields that many
// clients know: X-RateLimit-Limit, X-RateLimit-Remaining, and X-RateLimit-Reset, the time at
// which the full limit is available again, in seconds since 1970, rounded up, by [WithClock]
// or package time. No standard defines them; these are the usual meanings.
func XRateLimit() Option {
	return func(cfg *config) { cfg.xRateLimit = true }
}

// Reject calls f to answer a rejected request, instead of a line of text. status is 429 or
// 503, and its header fields are set. err is the reason, as for [OnThrottle].
func Reject(f func(w http.ResponseWriter, r *http.Request, status int, err error)) Option {
	return func(cfg *config) { cfg.answer = f }
}

// RetryAfter sets the Retry-After header of answers without a limiter's own value: of each
// 503, and of a 429 whose Decision has none. The default is one second. It is rounded up to
// seconds; 0 omits the header. RetryAfter panics if d is negative.
func RetryAfter(d time.Duration) Option {
	if d < 0 {
		panic(fmt.Sprintf("httplimit: RetryAfter: d %v must be >= 0: for no header, use 0", d))
	}
	return func(cfg *config) { cfg.retry = d }
}

// MaxKeys sets how many clients [PerClient] can count at a time, instead of
// [DefaultMaxKeys]; it changes nothing else. It panics if n is less than 1.
func MaxKeys(n int) Option {
	if n < 1 {
		panic(fmt.Sprintf("httplimit: MaxKeys: n %d must be >= 1: for one limit for all, use Rate", n))
	}
	return func(cfg *config) { cfg.clients = n }
}

// WithClock makes [PerClient], and the reset of [XRateLimit], take their time from c; it changes
// nothing else, as other limiters have a clock already. A nil c, like no WithClock, means package time.
func WithClock(c clockwork.Clock) Option {
	return func(cfg *config) { cfg.clock = c }
}

// What is answered instead of the handler.
var (
	tooManyRequests    = []byte("too many requests\n")
	serviceUnavailable = []byte("service unavailable\n")
	serviceBusy        = []byte("service busy\n")
	requestTimeout     = []byte("request timeout\n")
)

// rejection is an answer instead of the handler's.
type rejection struct {
	limiters.Decision
	err    error
	status int
	line   []byte
	count  string
}

// reject tells the hooks and the client.
func (cfg *config) reject(w http.ResponseWriter, r *http.Request, why rejection) {
	if cfg.onThrottle != nil {
		cfg.onThrottle(r, why.err)
	}
	cfg.tell(r, why.Decision, why.err, why.count)
	if why.RetryAfter <= 0 {
		why.RetryAfter = cfg.retry
	}
	values := make([]string, 3) // of all fields
	cfg.retryAfter(w.Header(), why.RetryAfter, values[:1:1])
	if cfg.answer != nil {
		cfg.answer(w, r, why.status, why.err)
		return
	}
	writeLine(w, why.line, why.status, values[1:])
}

// tell tells the hooks of a request that ends under a name of Count.
func (cfg *config) tell(r *http.Request, d limiters.Decision, err error, name string) {
	if cfg.counts != nil {
		cfg.counts.Add(name, 1)
	}
	if cfg.onDecision != nil {
		cfg.onDecision(r, d, err)
	}
}

// gone answers a client that is not there any more, for who logs it.
func (cfg *config) gone(w http.ResponseWriter) {
	cfg.retryAfter(w.Header(), cfg.retry, make([]string, 1))
	w.WriteHeader(http.StatusServiceUnavailable)
}
