package guide

import (
	"context"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/synctestcompat"
)

// network is where a server listens and a client dials.
type network struct {
	net.Listener
	dial func(context.Context, string, string) (net.Conn, error)
}

// listen is the network of serverBefore.
var listen = loopback

// memory is a network of pipes, whose reads and writes let a bubble's time move.
func memory(testing.TB) network {
	conns, closed := make(chan net.Conn), make(chan struct{})
	return network{pipes{conns, closed}, func(ctx context.Context, _, _ string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		select {
		case conns <- theirs:
			return ours, nil
		case <-closed:
			return nil, net.ErrClosed
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}
}

type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p pipes) Close() error   { close(p.closed); return nil }
func (p pipes) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "pipe"} }

// loopback is a network of real connections.
func loopback(t testing.TB) network {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return network{l, new(net.Dialer).DialContext}
}

// start serves h, and returns a client of it and what ends both.
func start(n network, h http.Handler) (client *http.Client, stop func()) {
	server := &http.Server{Handler: h}
	go server.Serve(n)
	transport := &http.Transport{DialContext: n.dial}
	return &http.Client{Transport: transport}, func() {
		transport.CloseIdleConnections()
		server.Close()
	}
}

func get(client *http.Client, n network) error {
	resp, err := client.Get("http://" + n.Addr().String())
	if err == nil {
		resp.Body.Close()
	}
	return err
}

func serverBefore(t testing.TB, clock clockwork.Clock) {
	n := listen(t)
	client, stop := start(n, report(clock, 10*time.Millisecond))
	defer stop()
	client.Timeout = 30 * time.Millisecond
	if err := get(client, n); err != nil {
		t.Errorf("a quick answer: %v", err)
	}
}

func TestServer_bubble(t *testing.T) {
	synctestcompat.Run(t, func(t *testing.T) {
		const timeout = 10 * time.Second
		clock := clockwork.NewRealClock()
		n := memory(t)
		quick, stop := start(n, report(clock, timeout-1))
		defer stop()
		quick.Timeout = timeout
		if err := get(quick, n); err != nil {
			t.Errorf("an answer a nanosecond before the timeout: %v", err)
		}
		m := memory(t)
		slow, stop := start(m, report(clock, time.Hour))
		defer stop()
		slow.Timeout = timeout
		began := time.Now()
		if err := get(slow, m); err == nil {
			t.Error("no error, though the answer takes an hour")
		}
		if took := time.Since(began); took != timeout {
			t.Errorf("gave up after %v, want %v", took, timeout)
		}
	})
}

func TestServer_fakeClock(t *testing.T) {
	clock := fakeclock.NewTest(t)
	n := loopback(t)
	client, stop := start(n, report(clock, time.Hour))
	defer stop()
	answered := make(chan error)
	go func() { answered <- get(client, n) }()
	clock.BlockUntil(1) // the request has arrived, however long that took
	clock.Advance(time.Hour)
	if err := <-answered; err != nil {
		t.Error(err)
	}
}

// Shutdown waits for what is under way, but not longer than it is told to.
func TestServer_shutdownInBubble(t *testing.T) {
	synctestcompat.Run(t, func(t *testing.T) {
		n := memory(t)
		server := &http.Server{Handler: report(clockwork.NewRealClock(), time.Hour)}
		go server.Serve(n)
		transport := &http.Transport{DialContext: n.dial}
		answered := make(chan error, 1)
		go func() { answered <- get(&http.Client{Transport: transport}, n) }()
		synctestcompat.Wait() // the request is under way
		began := time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		err, took := server.Shutdown(ctx), time.Since(began)
		if want := context.DeadlineExceeded; err != want || took != 10*time.Second {
			t.Errorf("Shutdown = %v after %v, want %v after 10s", err, took, want)
		}
		server.Close()
		if err := <-answered; err == nil {
			t.Error("an answer, though the server was closed")
		}
	})
}
