package redislimit_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/escapement-go/escapement/limiters"
	"github.com/escapement-go/escapement/limiters/httplimit"
	"github.com/escapement-go/escapement/limiters/redislimit"
	"github.com/redis/go-redis/v9"
)

// Two machines share a limit of one per second, and two at once, for each user. The server
// is one in memory, whose clock stands still until it is moved.
func Example() {
	server := miniredis.NewMiniRedis()
	defer server.Close()
	now := time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC)
	server.SetTime(now)

	machine := func() *redislimit.Limiter {
		rdb := redis.NewClient(&redis.Options{
			Addr: "127.0.0.1:6379", DialerRetries: 1,
			Dialer: func(context.Context, string, string) (net.Conn, error) { return server.Dial() },
		})
		return redislimit.New(rdb, "users", time.Second, 2, redislimit.Timeout(time.Minute))
	}
	a, b := machine(), machine()
	ask := func(name string, l *redislimit.Limiter, user string) {
		d, err := l.Take(context.Background(), user, 1)
		fmt.Println(name, user, d.Allowed, d.Remaining, d.RetryAfter, err)
	}
	ask("a:", a, "ann")
	ask("b:", b, "ann")
	ask("a:", a, "ann")
	ask("a:", a, "bob")
	server.SetTime(now.Add(time.Second))
	ask("a:", a, "ann")

	// Output:
	// a: ann true 1 0s <nil>
	// b: ann true 0 0s <nil>
	// a: ann false 0 1s <nil>
	// a: bob true 1 0s <nil>
	// a: ann true 0 0s <nil>
}

// In front of a handler, with a limit in each machine while the server is away.
func ExampleFailTo() {
	server := miniredis.NewMiniRedis()
	defer server.Close()
	rdb := redis.NewClient(&redis.Options{
		Addr: "127.0.0.1:6379", DialerRetries: 1,
		Dialer: func(context.Context, string, string) (net.Conn, error) { return server.Dial() },
	})
	defer rdb.Close()

	local := limiters.NewKeyed(10_000, func(string) *limiters.GCRA {
		return limiters.NewGCRA(time.Hour, 1)
	}, (*limiters.GCRA).Fresh)
	users := redislimit.New(rdb, "users", time.Minute, 100,
		redislimit.FailTo(local),
		redislimit.OnFailure(func(err error) { fmt.Println(err) }),
		redislimit.Timeout(time.Minute),
	)
	hello := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") })
	user := func(r *http.Request) string { return r.Header.Get("User") }
	handler := httplimit.Rate(users, httplimit.Key(user))(hello)

	get := func() {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
		fmt.Println(w.Code, w.Header().Get("RateLimit-Policy"))
	}
	get()
	server.SetError("LOADING Redis is loading the dataset in memory")
	get()
	get()

	// Output:
	// 200 "default";q=100;w=6000
	// redislimit: Take of users: LOADING Redis is loading the dataset in memory
	// 200 "default";q=1;w=3600
	// redislimit: Take of users: LOADING Redis is loading the dataset in memory
	// 429 "default";q=1;w=3600
}

// Plans: each user has the limit of what was paid for.
func ExamplePerKey() {
	server := miniredis.NewMiniRedis()
	defer server.Close()
	server.SetTime(time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC))
	rdb := redis.NewClient(&redis.Options{
		Addr: "127.0.0.1:6379", DialerRetries: 1,
		Dialer: func(context.Context, string, string) (net.Conn, error) { return server.Dial() },
	})
	defer rdb.Close()

	paid := map[string]bool{"ann": true}
	users := redislimit.New(rdb, "users", time.Hour, 1, redislimit.Timeout(time.Minute),
		redislimit.PerKey(func(user string) redislimit.Plan {
			if paid[user] {
				return redislimit.Plan{Interval: time.Second, Burst: 100}
			}
			return redislimit.Plan{} // that of New
		}))
	for _, user := range []string{"ann", "ann", "bob", "bob"} {
		d, err := users.Take(context.Background(), user, 1)
		fmt.Println(user, d.Allowed, d.Remaining, "of", d.Limit, err)
	}
	fmt.Println(users.Reset(context.Background(), "bob"))
	d, err := users.Take(context.Background(), "bob", 1)
	fmt.Println("bob", d.Allowed, d.Remaining, "of", d.Limit, err)

	// Output:
	// ann true 99 of 100 <nil>
	// ann true 98 of 100 <nil>
	// bob true 0 of 1 <nil>
	// bob false 0 of 1 <nil>
	// <nil>
	// bob true 0 of 1 <nil>
}
