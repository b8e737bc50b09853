package httplimit_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
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
