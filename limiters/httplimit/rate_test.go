package httplimit

import (
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/limiters"
)

var servedAtOnce = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "served") })

// answer is what h says to a request from an address: the status and the headers of
// the limit.
func answer(h http.Handler, from string) string {
	r := httptest.NewRequest("GET", "/", nil)
	r.RemoteAddr = from
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
	h := Rate(TokenBucket(limiters.NewTokenBucket(limiters.Every(10*time.Second), 2, limiters.WithClock(clock))), nil,
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

// Each key has what its limiter says, and what a limiter does not say is left out.
func TestRate_keys(t *testing.T) {
	seen := map[string]int{}
	h := Rate(LimiterFunc(func(key string) Decision {
		seen[key]++
		return Decision{Allowed: seen[key] == 1, RetryAfter: 1}
	}), RemoteIP)(servedAtOnce)
	for _, tt := range []struct{ from, want string }{
		{"192.0.2.1:1", "OK"},
		{"192.0.2.1:2", "Too Many Requests | 1"},
		{"192.0.2.2:1", "OK"},
		{"[2001:db8::1]:1", "OK"},
		{"[2001:db8::1]:2", "Too Many Requests | 1"},
		{"nowhere", "OK"},
	} {
		if got := answer(h, tt.from); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.from, got, tt.want)
		}
	}
}

// Through a real server.
func TestRate_server(t *testing.T) {
	h := Rate(TokenBucket(limiters.NewTokenBucket(1, 1)), nil)(servedAtOnce)
	visit(t, h, func(s *site) {
		s.get("/a")
		s.get("/b")
		s.expect("/a "+served, "/b Too Many Requests: too many requests (1)")
	})
}

// Rates without an end have no numbers to say.
func TestTokenBucket_extremes(t *testing.T) {
	for _, tt := range []struct {
		limit limiters.Limit
		want  string
	}{
		{limiters.Inf, `OK | "default";q=1 | "default";r=0`},
		{0, `OK | "default";q=1 | "default";r=0`},
		{limiters.Every(math.MaxInt64), `OK | "default";q=1;w=9223372037 | "default";r=0;t=9223372037`},
	} {
		if got := answer(Rate(TokenBucket(limiters.NewTokenBucket(tt.limit, 1)), nil)(servedAtOnce), ""); got != tt.want {
			t.Errorf("limit %v: %s, want %s", tt.limit, got, tt.want)
		}
	}
}

func TestArguments(t *testing.T) {
	for want, f := range map[string]func(){
		"Concurrency: c is nil":  func() { Concurrency(nil) },
		"Rate: l is nil":         func() { Rate(nil, nil) },
		"RetryAfter: d -1ns":     func() { RetryAfter(-1) },
		"limit 0 must be >= 1":   func() { New(0) },
		"limit -1 must be >= 1":  func() { New(-1, nil) },
		"no panic for no option": func() { New(1, nil); panic("no panic for no option") },
	} {
		func() {
			defer func() {
				if r, _ := recover().(string); !strings.Contains(r, want) {
					t.Errorf("panicked with %q, want %q in it", r, want)
				}
			}()
			f()
		}()
	}
}
