package httplimit_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/limiters/httplimit"
)

// service serves with a limit for each client, which it tells in headers, until ctx is done.
// It then answers the requests that are under way, for ten seconds at most.
func service(ctx context.Context, l net.Listener, server *http.Server, opts ...httplimit.Option) error {
	server.Handler = httplimit.PerClient(100, time.Minute, opts...)(server.Handler)
	stopped := make(chan error, 1)
	context.AfterFunc(ctx, func() {
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		stopped <- server.Shutdown(grace)
	})
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-stopped
}

// A service with a limit for each client and a graceful shutdown, on a listener in memory, from
// the tests of this package, that makes connections by net.Pipe.
func Example() {
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hello") })
	listener := httplimit.NewPipes()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() {
		ended <- service(ctx, listener, &http.Server{Handler: mux}, httplimit.WithClock(fakeclock.New()))
	}()

	client := &http.Client{Transport: &http.Transport{DialContext: listener.Dial}}
	for i := range 102 {
		res, err := client.Get("http://service/")
		if err != nil {
			fmt.Println(err)
			break
		}
		if i == 0 || i > 99 {
			fmt.Printf("%s; %s; %q\n", res.Status, res.Header.Get("RateLimit"), res.Header.Get("Retry-After"))
		}
		io.Copy(io.Discard, res.Body)
		res.Body.Close()
	}
	stop()
	fmt.Println("stopped:", <-ended)

	// Output:
	// 200 OK; "default";r=99;t=120; ""
	// 429 Too Many Requests; "default";r=0;t=120; "61"
	// 429 Too Many Requests; "default";r=0;t=120; "61"
	// stopped: <nil>
}
