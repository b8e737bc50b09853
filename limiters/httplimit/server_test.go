package httplimit

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/escapement-go/escapement/synctestcompat"
)

// Pipes is a listener whose connections are in memory. In a bubble, what waits for
// one of them waits durably.
// External tests use it too.
type Pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func NewPipes() *Pipes {
	return &Pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
}

func (p *Pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *Pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *Pipes) Addr() net.Addr { return pipeAddr{} }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "pipe" }

func (p *Pipes) Dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.conns <- server:
		return client, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// site is a server and a client in a bubble, and what was answered, in order.
type site struct {
	t      *testing.T
	client *http.Client

	mu       sync.Mutex
	answered []string
}

// visit runs f in a bubble with a real server for handler.
func visit(t *testing.T, handler http.Handler, f func(s *site)) {
	t.Helper()
	synctestcompat.Run(t, func(t *testing.T) {
		p := NewPipes()
		server := &http.Server{Handler: handler, ErrorLog: log.New(io.Discard, "", 0)}
		go server.Serve(p)
		transport := &http.Transport{DialContext: p.Dial}
		f(&site{t: t, client: &http.Client{Transport: transport}})
		synctestcompat.Wait()
		transport.CloseIdleConnections()
		server.Close()
	})
}

// get sends a request on a goroutine of its own, and returns how to give it up.
func (s *site) get(path string) (leave func()) {
	ctx, leave := context.WithCancel(context.Background())
	go func() {
		text := s.fetch(ctx, path)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.answered = append(s.answered, path+" "+text)
	}()
	synctestcompat.Wait()
	return leave
}

// fetch sends a request and returns the status, the body and Retry-After.
func (s *site) fetch(ctx context.Context, path string) string {
	r, err := http.NewRequestWithContext(ctx, "GET", "http://pipe"+path, nil)
	if err != nil {
		return err.Error()
	}
	res, err := s.client.Do(r)
	switch {
	case errors.Is(err, context.Canceled):
		return "left"
	case err != nil:
		return "broken"
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return "broken"
	}
	text := http.StatusText(res.StatusCode) + ": " + strings.TrimSpace(string(body))
	if after := res.Header.Get("Retry-After"); after != "" {
		text += " (" + after + ")"
	}
	return text
}

// expect compares what was answered since the last time with want.
func (s *site) expect(want ...string) {
	s.t.Helper()
	synctestcompat.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if got, want := strings.Join(s.answered, "; "), strings.Join(want, "; "); got != want {
		s.t.Errorf("answered %q, want %q", got, want)
	}
	s.answered = nil
}
