// Package served serves and calls over a network, or whatever takes its place.
package served

import (
	"net"
	"net/http"
	"net/http/httptest"
	"time"
)

// Start serves, through a value.
func Start() *httptest.Server { return start(http.NotFoundHandler()) }

var start = httptest.NewServer

// Client connects by Dial, or to the network.
type Client struct {
	Dial func() (net.Conn, error)
}

// Call connects.
func (c *Client) Call() error {
	dial := c.Dial
	if dial == nil {
		dial = func() (net.Conn, error) { return net.Dial("tcp", "localhost:1") }
	}
	_, err := dial()
	return err
}

// Clock is a clock that a test can replace.
type Clock interface {
	Now() time.Time
	After(d time.Duration) <-chan time.Time
}

// Expired tells by a clock.
func Expired(c Clock, at time.Time) bool { return c.Now().After(at) }

// Caller is anything that calls.
type Caller interface{ Call() error }

// Do calls whatever it is.
func Do(c Caller) error { return c.Call() }

// Handler is an interface of another package.
type Handler = http.Handler

// Fault has the method of a predeclared interface.
type Fault error

type fault struct{}

func (fault) Error() string                                { return "" }
func (fault) ServeHTTP(http.ResponseWriter, *http.Request) { Start() }
