package reach

import (
	"net"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"example.com/go124/served"
)

func Example() { // that it is here says nothing of the tests
	l, _ := net.Listen("tcp", "localhost:0")
	l.Close()
}

func TestAlone(t *testing.T) {
	time.Sleep(time.Second) // want `the test sleeps 1s; a bubble does not wait for it`
}

func TestRecorder(t *testing.T) {
	httptest.NewRecorder()
	time.Sleep(time.Second) // want `the test sleeps 1s; a bubble does not wait for it`
}

func TestPipe(t *testing.T) {
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	time.Sleep(time.Second) // want `the test sleeps 1s; a bubble does not wait for it`
}

func TestServer(t *testing.T) {
	defer served.Start().Close()
	time.Sleep(time.Second) // want `it reaches net/http/httptest.NewServer, which no bubble holds: wait for the event, or serve it from memory in a bubble: `
	pause(t)
}

func pause(t *testing.T) {
	time.Sleep(time.Second) // want `it reaches net/http/httptest.NewServer`
}

type fixture struct{ server *httptest.Server }

func (f *fixture) start() { f.server = served.Start() }

func TestField(t *testing.T) {
	f := shared
	f.server.CloseClientConnections()
	time.Sleep(time.Second) // want `it reaches net/http/httptest.NewServer`
}

var shared fixture

func TestClosure(t *testing.T) {
	open := func() { net.Listen("tcp", "localhost:0") }
	open()
	<-time.After(time.Second) // want `it reaches net.Listen`
}

func TestDials(t *testing.T) {
	new(served.Client).Call()
	time.Sleep(time.Second) // want `it reaches net.Dial`
}

func TestDialsThroughInterface(t *testing.T) {
	served.Do(new(served.Client))
	time.Sleep(time.Second) // want `it reaches net.Dial`
}

func TestDialsInMemory(t *testing.T) {
	c := served.Client{Dial: func() (net.Conn, error) {
		a, _ := net.Pipe()
		return a, nil
	}}
	c.Call()
	time.Sleep(time.Second) // want `a bubble does not wait for it`
}

func TestClock(t *testing.T) {
	defer served.Start().Close()
	served.Expired(nil, time.Time{})
	time.Sleep(time.Second) // want `which no bubble holds: wait for the event, or move the clock that the code takes: `
}

func TestFile(t *testing.T) {
	os.WriteFile("x", nil, 0o600)
	time.Sleep(time.Second) // want `it reaches os.WriteFile, which no bubble holds: wait for the event: `
}
