package httplimit

import (
	"context"
	"errors"
	"expvar"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/limiters"
)

var servedAtOnce = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "served") })

// takerFunc is a function as a Taker.
type takerFunc func(ctx context.Context, key string, n int) (limiters.Decision, error)

func (f takerFunc) Take(ctx context.Context, key string, n int) (limiters.Decision, error) {
	return f(ctx, key, n)
}

// says is a Taker that says always the same.
func says(d limiters.Decision, err error) limiters.Taker {
	return takerFunc(func(context.Context, string, int) (limiters.Decision, error) { return d, err })
}

// answer is what h says to a request from an address: the status and the headers of
// the limit.
func answer(h http.Handler, from string) string {
	r := httptest.NewRequest("GET", "/", nil)
	r.RemoteAddr = from
	return answerTo(h, r)
}

func answerTo(h http.Handler, r *http.Request) string {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	parts := []string{http.StatusText(w.Code)}
	for _, name := range []string{"RateLimit-Policy", "RateLimit", "Retry-After"} {
		if v := w.Header().Get(name); v != "" {
			parts = append(parts, v)
		}
	}
	return strings.Join(parts, " | ")
}

// The numbers of a token bucket, as headers.
func TestRate_tokenBucket(t *testing.T) {
	clock := fakeclock.New()
	var told int
	h := Rate(limiters.NewTokenBucket(limiters.Every(10*time.Second), 2, limiters.WithClock(clock)),
		OnThrottle(func(_ *http.Request, err error) {
			if errors.Is(err, ErrRate) {
				told++
			}
		}))(servedAtOnce)
	const policy = ` | "default";q=2;w=20`
	for _, step := range []struct {
		wait time.Duration
		want string
	}{
		{0, `OK` + policy + ` | "default";r=1;t=10`},
		{0, `OK` + policy + ` | "default";r=0;t=20`},
		{0, `Too Many Requests` + policy + ` | "default";r=0;t=20 | 10`},
		{9500 * time.Millisecond, `Too Many Requests` + policy + ` | "default";r=0;t=11 | 1`},
		{500 * time.Millisecond, `OK` + policy + ` | "default";r=0;t=20`},
		{time.Hour, `OK` + policy + ` | "default";r=1;t=10`},
	} {
		clock.Advance(step.wait)
		if got := answer(h, "192.0.2.1:1234"); got != step.want {
			t.Errorf("at %v: %s, want %s", clock.Elapsed(), got, step.want)
		}
	}
	if told != 2 {
		t.Errorf("the hook was told of %d, want 2", told)
	}
}

// Each key has what its limiter says, for what the request costs.
func TestRate_keyAndCost(t *testing.T) {
	var asked []string
	h := Rate(takerFunc(func(_ context.Context, key string, n int) (limiters.Decision, error) {
		asked = append(asked, fmt.Sprint(key, n))
		return limiters.Decision{Allowed: n < 3}, nil
	}), Key(func(r *http.Request) string { return r.Header.Get("User") }),
		Cost(func(r *http.Request) int { return len(r.URL.Path) }))(servedAtOnce)
	for _, path := range []string{"/", "/a", "/ab"} {
		r := httptest.NewRequest("GET", path, nil)
		r.Header.Set("User", "ann")
		want := "OK"
		if path == "/ab" {
			want = "Too Many Requests | 1" // a limiter that does not say when has one second
		}
		if got := answerTo(h, r); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	if got, want := fmt.Sprint(asked), "[ann1 ann2 ann3]"; got != want {
		t.Errorf("asked for %s, want %s", got, want)
	}
}

// Whatever a limiter says, a 429 and a 503 have Retry-After, and the fields are such as the
// standards allow.
func TestRate_headers(t *testing.T) {
	type decision = limiters.Decision
	const inf = limiters.InfDuration
	for _, tt := range []struct {
		decision
		err  error
		want string
	}{
		{decision{}, nil, `Too Many Requests | 1`},
		{decision{Allowed: true}, nil, `OK`},
		{decision{RetryAfter: -5}, nil, `Too Many Requests | 1`},
		{decision{RetryAfter: time.Minute + 1}, nil, `Too Many Requests | 61`},
		{decision{RetryAfter: inf}, nil, `Too Many Requests | 2147483647`},
		{decision{Limit: 3, RetryAfter: 1}, nil, `Too Many Requests | "default";q=3 | "default";r=0 | 1`},
		{decision{Allowed: true, Limit: 3, Remaining: -1}, nil, `OK | "default";q=3 | "default";r=0`},
		{decision{Allowed: true, Limit: 3, Remaining: 2, Window: inf, ResetAfter: inf}, nil, `OK | "default";q=3 | "default";r=2`},
		{decision{Allowed: true}, errors.New("no answer from the store"), `Service Unavailable | 1`},
		{decision{}, limiters.ErrTooManyKeys, `Service Unavailable | 1`},
		{decision{}, context.DeadlineExceeded, `Service Unavailable | 1`},
	} {
		if got := answer(Rate(says(tt.decision, tt.err))(servedAtOnce), ""); got != tt.want {
			t.Errorf("%+v, %v: %s, want %s", tt.decision, tt.err, got, tt.want)
		}
	}
	if got, want := answer(Rate(says(limiters.Decision{}, nil), RetryAfter(time.Minute))(servedAtOnce), ""), "Too Many Requests | 60"; got != want {
		t.Errorf("with RetryAfter: %s, want %s", got, want)
	}
	if got, want := answer(Rate(says(limiters.Decision{}, nil), RetryAfter(0))(servedAtOnce), ""), "Too Many Requests"; got != want {
		t.Errorf("with RetryAfter(0): %s, want %s", got, want)
	}
}

// Integers of RFC 8941 have 15 digits at most.
func TestRate_longIntegers(t *testing.T) {
	if strconv.IntSize == 32 {
		t.Skip("every int is short enough")
	}
	for _, tt := range []struct {
		limit, remaining int64
		want             string
	}{
		{999_999_999_999_999, math.MaxInt64, `OK | "default";q=999999999999999 | "default";r=999999999999999`},
		{1_000_000_000_000_000, 1, `OK`},
		{math.MaxInt64, math.MaxInt64, `OK`},
	} {
		d := limiters.Decision{Allowed: true, Limit: int(tt.limit), Remaining: int(tt.remaining)}
		if got := answer(Rate(says(d, nil))(servedAtOnce), ""); got != tt.want {
			t.Errorf("%+v: %s, want %s", d, got, tt.want)
		}
	}
}

// Rates and bursts without an end have no numbers to say, but what remains is right.
func TestRate_extremes(t *testing.T) {
	for _, tt := range []struct {
		limit limiters.Limit
		burst int
		want  string
	}{
		{limiters.Inf, 1, `OK`},
		{0, 3, `OK | "default";q=3 | "default";r=2`},
		{limiters.Limit(math.Inf(-1)), 3, `OK | "default";q=3 | "default";r=2`},
		{1, 0, `Too Many Requests | 2147483647`},
		{limiters.Every(math.MaxInt64), 1, `OK | "default";q=1 | "default";r=0`},
	} {
		if got := answer(Rate(limiters.NewTokenBucket(tt.limit, tt.burst))(servedAtOnce), ""); got != tt.want {
			t.Errorf("limit %v, burst %d: %s, want %s", tt.limit, tt.burst, got, tt.want)
		}
	}
}

// The hooks see what is let in and what is not, and the answer can be any.
func TestRate_hooks(t *testing.T) {
	clock := fakeclock.New()
	counts := new(expvar.Map)
	var seen []string
	h := Rate(limiters.NewFixedWindow(2, time.Minute, limiters.WithClock(clock)),
		Count(counts),
		OnThrottle(func(r *http.Request, err error) { seen = append(seen, "throttled: "+err.Error()) }),
		OnDecision(func(r *http.Request, d limiters.Decision, err error) {
			seen = append(seen, fmt.Sprintf("%s %v %d %v", r.URL.Path, d.Allowed, d.Remaining, err))
		}),
		Reject(func(w http.ResponseWriter, r *http.Request, status int, err error) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			fmt.Fprintf(w, `{"error": %q}`, err)
		}))(servedAtOnce)
	var last *httptest.ResponseRecorder
	for range 3 {
		last = httptest.NewRecorder()
		h.ServeHTTP(last, httptest.NewRequest("GET", "/x", nil))
	}
	want := "/x true 1 <nil>; /x true 0 <nil>; throttled: " + ErrRate.Error() + "; /x false 0 " + ErrRate.Error()
	if got := strings.Join(seen, "; "); got != want {
		t.Errorf("seen %s, want %s", got, want)
	}
	if got, want := counts.String(), `{"allowed": 2, "rejected: rate": 1}`; got != want {
		t.Errorf("counted %s, want %s", got, want)
	}
	got := fmt.Sprint(last.Code, last.Header().Get("Retry-After"), last.Header().Get("Content-Type"), last.Body)
	if want := `42960application/json{"error": "` + ErrRate.Error() + `"}`; got != want {
		t.Errorf("answered %s, want %s", got, want)
	}
}

// Through a real server.
func TestRate_server(t *testing.T) {
	h := Rate(limiters.NewTokenBucket(1, 1))(servedAtOnce)
	visit(t, h, func(s *site) {
		s.get("/a")
		s.get("/b")
		s.expect("/a "+served, "/b Too Many Requests: too many requests (1)")
	})
}

// A client that has gone gets no decision, and the hooks are not told.
func TestRate_gone(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	h := Rate(limiters.NewTokenBucket(1, 1), OnThrottle(func(*http.Request, error) { t.Error("the hook was told") }))(servedAtOnce)
	if got, want := answerTo(h, httptest.NewRequest("GET", "/", nil).WithContext(ctx)), "Service Unavailable | 1"; got != want {
		t.Errorf("answered %s, want %s", got, want)
	}
}
