package httplimit

import (
	"context"
	"errors"
	"expvar"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/limiters"
)

// The table of Count: each end of a request, by its name.
func TestCount_reasons(t *testing.T) {
	busy := func(opt limiters.ConcurrencyOption) *limiters.Concurrency {
		c := limiters.NewConcurrency(1, opt)
		c.TryAcquire(1)
		return c
	}
	lost := errors.New("no answer")
	for want, limit := range map[string]func(opts ...Option) func(http.Handler) http.Handler{
		"allowed": func(opts ...Option) func(http.Handler) http.Handler { return New(1, opts...) },
		"failed open": func(opts ...Option) func(http.Handler) http.Handler {
			return Rate(says(limiters.Decision{}, lost), append(opts, FailOpen())...)
		},
		"rejected: rate": func(opts ...Option) func(http.Handler) http.Handler {
			return Rate(says(limiters.Decision{}, nil), opts...)
		},
		"rejected: full": func(opts ...Option) func(http.Handler) http.Handler {
			return Concurrency(busy(limiters.Backlog(0)), opts...)
		},
		"rejected: late": func(opts ...Option) func(http.Handler) http.Handler {
			return Concurrency(busy(limiters.Timeout(0)), opts...)
		},
		"rejected: undecided": func(opts ...Option) func(http.Handler) http.Handler {
			return Rate(says(limiters.Decision{}, lost), opts...)
		},
	} {
		counts := new(expvar.Map)
		answer(limit(Count(counts))(servedAtOnce), "192.0.2.1:1")
		if got := counts.String(); got != `{"`+want+`": 1}` {
			t.Errorf("counted %s, want %s", got, want)
		}
	}
}

// FailOpen lets in what cannot be decided, but not too many keys, nor a request that is over.
func TestFailOpen(t *testing.T) {
	over, cancel := context.WithTimeout(context.Background(), -1)
	defer cancel()
	lost := errors.New("no answer")
	for _, tt := range []struct {
		err  error
		ctx  context.Context
		want int
	}{
		{lost, context.Background(), 200},
		{limiters.ErrTooManyKeys, context.Background(), 503},
		{context.DeadlineExceeded, over, 503},
	} {
		var told error
		h := Rate(says(limiters.Decision{}, tt.err), FailOpen(), OnDecision(func(_ *http.Request, d limiters.Decision, err error) {
			if told = err; d.Allowed != (tt.want == 200) {
				t.Errorf("%v: OnDecision is told %+v", tt.err, d)
			}
		}))(servedAtOnce)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", "/", nil).WithContext(tt.ctx))
		if w.Code != tt.want || told != tt.err {
			t.Errorf("%v: answered %d, told %v, want %d", tt.err, w.Code, told, tt.want)
		}
	}
}

// Each plan has its limit, and who needs none has none.
func TestRateFunc(t *testing.T) {
	clock := fakeclock.New()
	plans := map[string]limiters.Taker{
		"free": limiters.NewKeyedGCRA[string](10, time.Hour, 1, limiters.WithClock(clock)),
		"paid": limiters.NewKeyedGCRA[string](10, time.Hour, 2, limiters.WithClock(clock)),
	}
	h := RateFunc(func(r *http.Request) limiters.Taker { return plans[r.Header.Get("Plan")] },
		Key(func(r *http.Request) string { return r.Header.Get("User") }))(servedAtOnce)
	for i, tt := range []struct{ plan, user, want string }{
		{"free", "ann", `OK | "default";q=1;w=3600 | "default";r=0;t=3600`},
		{"free", "ann", `Too Many Requests | "default";q=1;w=3600 | "default";r=0;t=3600 | 3600`},
		{"free", "bob", `OK | "default";q=1;w=3600 | "default";r=0;t=3600`},
		{"paid", "cid", `OK | "default";q=2;w=7200 | "default";r=1;t=3600`},
		{"", "root", `OK`},
		{"", "root", `OK`},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Plan", tt.plan)
		r.Header.Set("User", tt.user)
		if got := answerTo(h, r); got != tt.want {
			t.Errorf("step %d: %s, want %s", i, got, tt.want)
		}
	}
}

// The older fields say the same, and the reset as a time.
func TestXRateLimit(t *testing.T) {
	const inf = limiters.InfDuration
	clock := fakeclock.New(fakeclock.WithStart(time.Unix(1000, 1)))
	for _, tt := range []struct {
		d                       limiters.Decision
		limit, remaining, reset string
	}{
		{limiters.Decision{Allowed: true, Limit: 9, Remaining: 8, ResetAfter: 5 * time.Second}, "9", "8", "1006"},
		{limiters.Decision{Limit: 9, Remaining: -1, ResetAfter: -1}, "9", "0", "1001"},
		{limiters.Decision{Limit: 9, ResetAfter: inf}, "9", "0", ""},
		{limiters.Decision{Limit: 9, ResetAfter: inf - 1}, "9", "0", "9223373037"},
		{limiters.Decision{Allowed: true}, "", "", ""},
	} {
		w := httptest.NewRecorder()
		Rate(says(tt.d, nil), XRateLimit(), WithClock(clock))(servedAtOnce).ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
		for name, want := range map[string]string{"Limit": tt.limit, "Remaining": tt.remaining, "Reset": tt.reset} {
			if got := w.Header().Get("X-RateLimit-" + name); got != want {
				t.Errorf("%+v: X-RateLimit-%s: %q, want %q", tt.d, name, got, want)
			}
		}
	}
	w := httptest.NewRecorder()
	Rate(says(limiters.Decision{Limit: 1}, nil))(servedAtOnce).ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	if got := w.Header().Get("X-RateLimit-Limit"); got != "" {
		t.Errorf("without the option X-RateLimit-Limit is %q", got)
	}
}
