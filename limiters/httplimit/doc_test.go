package httplimit

import (
	"context"
	"errors"
	"expvar"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/limiters"
	"github.com/jonboulle/clockwork"
)

// The table of the package comment: what is answered, with which text and which Retry-After.
// RetryAfter says it where no limiter does.
func TestPackageComment_answers(t *testing.T) {
	full := limiters.NewConcurrency(1, limiters.Backlog(0))
	full.TryAcquire(1)
	slow := limiters.NewConcurrency(1, limiters.Timeout(0))
	slow.TryAcquire(1)
	for name, tt := range map[string]struct {
		limit  func(opts ...Option) func(http.Handler) http.Handler
		status int
		text   string
		after  string // that the limiter says; "": it does not
	}{
		"rate": {func(opts ...Option) func(http.Handler) http.Handler {
			return Rate(says(limiters.Decision{RetryAfter: 7 * time.Second}, nil), opts...)
		}, 429, "too many requests\n", "7"},
		"rate, no instant": {func(opts ...Option) func(http.Handler) http.Handler {
			return Rate(says(limiters.Decision{}, nil), opts...)
		}, 429, "too many requests\n", ""},
		"no decision": {func(opts ...Option) func(http.Handler) http.Handler {
			return Rate(says(limiters.Decision{}, errors.New("no answer")), opts...)
		}, 503, "service unavailable\n", ""},
		"backlog": {func(opts ...Option) func(http.Handler) http.Handler { return Concurrency(full, opts...) }, 503, "service busy\n", ""},
		"timeout": {func(opts ...Option) func(http.Handler) http.Handler { return Concurrency(slow, opts...) }, 503, "request timeout\n", ""},
	} {
		for _, opt := range []struct {
			opts []Option
			want string // where no limiter says it
		}{
			{nil, "1"}, {[]Option{RetryAfter(9 * time.Second), nil}, "9"}, {[]Option{RetryAfter(0)}, ""},
			{[]Option{RetryAfter(0), RetryAfter(3*time.Second + 1)}, "4"}, // in order, and rounded up
		} {
			w := httptest.NewRecorder()
			tt.limit(opt.opts...)(servedAtOnce).ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
			want := opt.want
			if tt.after != "" {
				want = tt.after
			}
			if got := w.Header().Get("Retry-After"); w.Code != tt.status || w.Body.String() != tt.text || got != want {
				t.Errorf("%s: %d %q, Retry-After %q, want %d %q and %q", name, w.Code, w.Body, got, tt.status, tt.text, want)
			}
		}
	}
}

// Cost: 0 is free, and what is more than the limit or less than 0 is always denied; without
// options the key is "" and the cost 1.
func TestPackageComment_cost(t *testing.T) {
	clock := fakeclock.New()
	cost := 0
	h := Rate(limiters.NewFixedWindow(2, time.Hour, limiters.WithClock(clock)), Cost(func(*http.Request) int { return cost }))(servedAtOnce)
	status := func(n int) int {
		cost = n
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
		return w.Code
	}
	for i, step := range []struct{ cost, want int }{{3, 429}, {-1, 429}, {2, 200}, {0, 200}, {1, 429}, {0, 200}, {-1, 429}} {
		if got := status(step.cost); got != step.want {
			t.Errorf("step %d: a request for %d is answered %d, want %d", i, step.cost, got, step.want)
		}
	}
	asked := ""
	answer(Rate(takerFunc(func(_ context.Context, key string, n int) (limiters.Decision, error) {
		asked = fmt.Sprintf("%q %d", key, n)
		return limiters.Decision{Allowed: true}, nil
	}))(servedAtOnce), "192.0.2.1:1")
	if asked != `"" 1` {
		t.Errorf("without options Rate asks for %s, want the key \"\" and 1", asked)
	}
}

// Who is gone is not counted, and nobody is told.
func TestPackageComment_gone(t *testing.T) {
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	counts := new(expvar.Map)
	told := func(*http.Request, limiters.Decision, error) { t.Error("the hook was told of a client that has gone") }
	for _, h := range []http.Handler{
		Rate(limiters.NewTokenBucket(1, 1), Count(counts), OnDecision(told))(servedAtOnce),
		Concurrency(limiters.NewConcurrency(1), Count(counts), OnDecision(told))(servedAtOnce),
	} {
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil).WithContext(gone))
	}
	if got := counts.String(); got != "{}" {
		t.Errorf("counted %s, want nothing", got)
	}
}

// onlyNow is a clock without timers.
type onlyNow struct{ clockwork.Clock }

func (onlyNow) Now() time.Time { return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) }

// PerClient has no timer, has room for DefaultMaxKeys, and its handlers share the limit; New
// lets DefaultBacklog wait. A key of one's own takes the place of the address.
func TestPackageComment_defaults(t *testing.T) {
	limit := PerClient(1, time.Minute, WithClock(onlyNow{}))
	got := fmt.Sprint(answer(limit(servedAtOnce), "192.0.2.1:1")[:2], answer(limit(servedAtOnce), "192.0.2.1:1")[:3])
	if got != "OKToo" {
		t.Errorf("two handlers for one client answer %s, want OK and Too Many Requests", got)
	}
	key := 0
	h := PerClient(1, time.Minute, WithClock(onlyNow{}), nil, Key(func(*http.Request) string { return fmt.Sprint(key) }))(
		http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	r := httptest.NewRequest("GET", "/", nil)
	for key = range DefaultMaxKeys + 1 {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if want := map[bool]int{true: 200, false: 503}[key < DefaultMaxKeys]; w.Code != want {
			t.Fatalf("client %d is answered %d, want %d", key, w.Code, want)
		}
	}
	if cfg := configure(nil); cfg.clients != DefaultMaxKeys || cfg.retry != time.Second {
		t.Errorf("without options there is room for %d, and Retry-After is %v", cfg.clients, cfg.retry)
	}
}
