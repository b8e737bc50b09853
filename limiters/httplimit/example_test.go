package httplimit_test

import (
	"expvar"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/limiters"
	"github.com/escapement-go/escapement/limiters/httplimit"
)

// One request runs and nobody waits: a request that the handler itself makes
// finds the service busy.
func ExampleConcurrency() {
	c := limiters.NewConcurrency(1, limiters.Backlog(0))
	limit := httplimit.Concurrency(c, httplimit.OnThrottle(func(r *http.Request, err error) {
		fmt.Println(r.URL.Path, "rejected:", err)
	}))
	var handler http.Handler
	handler = limit(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		second := httptest.NewRecorder()
		handler.ServeHTTP(second, httptest.NewRequest("GET", "/second", nil))
		fmt.Print(second.Code, " ", second.Body)
		io.WriteString(w, "served")
	}))
	first := httptest.NewRecorder()
	handler.ServeHTTP(first, httptest.NewRequest("GET", "/first", nil))
	fmt.Println(first.Code, first.Body)

	// Output:
	// /second rejected: limiters: no slot is free and the backlog is full
	// 503 service busy
	// 200 served
}

// Two requests at once, then one every ten seconds.
func ExampleRate() {
	clock := fakeclock.New()
	bucket := limiters.NewTokenBucket(limiters.Every(10*time.Second), 2, limiters.WithClock(clock))
	handler := httplimit.Rate(bucket)(http.NotFoundHandler())
	for range 3 {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
		fmt.Printf("%d %s %q\n", w.Code, w.Header().Get("RateLimit"), w.Header().Get("Retry-After"))
	}

	// Output:
	// 404 "default";r=1;t=10 ""
	// 404 "default";r=0;t=20 ""
	// 429 "default";r=0;t=20 "10"
}

// A hundred requests per minute for each client; here two.
func ExamplePerClient() {
	clock := fakeclock.New()
	handler := httplimit.PerClient(2, time.Minute, httplimit.WithClock(clock))(http.NotFoundHandler())
	for _, from := range []string{"192.0.2.1:1001", "192.0.2.1:1002", "192.0.2.1:1003", "192.0.2.2:1001"} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = from
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		fmt.Printf("%s: %d %s %q\n", from, w.Code, w.Header().Get("RateLimit"), w.Header().Get("Retry-After"))
	}

	// Output:
	// 192.0.2.1:1001: 404 "default";r=1;t=120 ""
	// 192.0.2.1:1002: 404 "default";r=0;t=120 ""
	// 192.0.2.1:1003: 429 "default";r=0;t=120 "90"
	// 192.0.2.2:1001: 404 "default";r=1;t=120 ""
}

// Everything that can be said otherwise: who a client is, what a request costs, what is
// answered, and who is told.
func ExamplePerClient_options() {
	counts := new(expvar.Map) // or expvar.NewMap("limits"), to export it
	handler := httplimit.PerClient(10, time.Minute,
		httplimit.WithClock(fakeclock.New()),
		httplimit.Key(httplimit.ByAddress(netip.MustParsePrefix("10.0.0.0/8"))), // our load balancers
		httplimit.Cost(func(r *http.Request) int {
			if r.URL.Path == "/search" {
				return 6
			}
			return 1
		}),
		httplimit.Count(counts),
		httplimit.OnDecision(func(r *http.Request, d limiters.Decision, err error) {
			fmt.Println(r.URL.Path, d.Allowed, d.Remaining, err)
		}),
		httplimit.Reject(func(w http.ResponseWriter, r *http.Request, status int, err error) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			fmt.Fprintf(w, `{"error":%q}`, err)
		}),
	)(http.NotFoundHandler())
	for _, path := range []string{"/search", "/", "/search"} {
		r := httptest.NewRequest("GET", path, nil)
		r.RemoteAddr = "10.1.2.3:4711"
		r.Header.Set("X-Forwarded-For", "192.0.2.1")
		w := httptest.NewRecorder()
		if handler.ServeHTTP(w, r); w.Code == http.StatusTooManyRequests {
			fmt.Println(w.Body)
		}
	}
	fmt.Println(counts)

	// Output:
	// /search true 4 <nil>
	// / true 3 <nil>
	// /search false 3 httplimit: the rate is exceeded
	// {"error":"httplimit: the rate is exceeded"}
	// {"allowed": 2, "rejected: rate": 1}
}

// A limiter of your own for each client: a Keyed, and a key.
func ExampleRate_keyed() {
	clock := fakeclock.New()
	users := limiters.NewKeyed(100_000, func(string) *limiters.TokenBucket {
		return limiters.NewTokenBucket(limiters.Every(time.Second), 1, limiters.WithClock(clock))
	}, (*limiters.TokenBucket).Fresh)
	handler := httplimit.Rate(users, httplimit.Key(func(r *http.Request) string {
		user, _, _ := r.BasicAuth() // after it was checked
		return user
	}))(http.NotFoundHandler())
	for _, user := range []string{"ann", "ann", "bob"} {
		r := httptest.NewRequest("GET", "/", nil)
		r.SetBasicAuth(user, "")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		fmt.Println(user, w.Code)
	}

	// Output:
	// ann 404
	// ann 429
	// bob 404
}

// So many requests at once as the handler can bear; others wait, for a while.
func ExampleNew() {
	running := 0
	handler := httplimit.New(1)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		running++ // no lock: one at a time
		defer func() { running-- }()
		fmt.Fprint(w, running, " running")
	}))
	var wg sync.WaitGroup
	answers := make([]*httptest.ResponseRecorder, 3)
	for i := range answers {
		answers[i] = httptest.NewRecorder()
		wg.Add(1)
		go func() {
			defer wg.Done()
			handler.ServeHTTP(answers[i], httptest.NewRequest("GET", "/", nil))
		}()
	}
	wg.Wait()
	for _, w := range answers {
		fmt.Println(w.Code, w.Body)
	}

	// Output:
	// 200 1 running
	// 200 1 running
	// 200 1 running
}

// What proxies say of an address counts only if they are named.
func ExampleByAddress() {
	r := httptest.NewRequest("GET", "/", nil)
	r.RemoteAddr = "10.1.2.3:4711"
	r.Header.Set("X-Forwarded-For", "203.0.113.9, 2001:db8::1")
	fmt.Println(httplimit.ByAddress()(r))
	fmt.Println(httplimit.ByAddress(netip.MustParsePrefix("10.0.0.0/8"))(r))

	// Output:
	// 10.1.2.3
	// 2001:db8::/64
}

// A limit for each plan, and for each user in it.
func ExampleRateFunc() {
	free := limiters.NewKeyedGCRA[string](10_000, time.Hour, 1)
	paid := limiters.NewKeyedGCRA[string](10_000, time.Second, 100)
	plan := func(r *http.Request) limiters.Taker {
		if r.Header.Get("Plan") == "paid" {
			return paid
		}
		return free
	}
	user := httplimit.Key(func(r *http.Request) string { return r.Header.Get("User") })
	handler := httplimit.RateFunc(plan, user)(http.NotFoundHandler())

	for _, who := range []string{"ann free", "ann free", "bob paid", "bob paid"} {
		w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil)
		name, plan, _ := strings.Cut(who, " ")
		r.Header.Set("User", name)
		r.Header.Set("Plan", plan)
		handler.ServeHTTP(w, r)
		fmt.Println(who, w.Code, w.Header().Get("RateLimit-Policy"))
	}

	// Output:
	// ann free 404 "default";q=1;w=3600
	// ann free 429 "default";q=1;w=3600
	// bob paid 404 "default";q=100;w=100
	// bob paid 404 "default";q=100;w=100
}
