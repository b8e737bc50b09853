package redislimit_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	proto "github.com/alicebob/miniredis/v2/server"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// start is where the servers' clocks begin that do not run.
var start = time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC)

// patience is for tests in which time does not matter.
const patience = time.Hour

// A server is Redis in memory, and the way to it, which can break. In a bubble its clock is the
// bubble's; elsewhere a test sets it.
type server struct {
	*miniredis.Miniredis
	fault  atomic.Int32
	mended chan struct{} // closed by mend

	mu   sync.Mutex
	most time.Time // the latest instant of a clock that a test sets
}

// The faults, which meet requests that run a script.
const (
	sound         int32 = iota
	losesRequests       // with their connection, before the script runs
	losesAnswers        // with their connection, after the script has run
	losesAnAnswer       // the next one only
	keepsAnswers        // until mend
)

// newServer returns a server with the clock of the bubble.
func newServer() *server {
	s := &server{Miniredis: miniredis.NewMiniRedis(), mended: make(chan struct{})}
	s.ClockTTL(true)
	return s
}

// newStillServer returns a server whose clock is at start until a test moves it.
func newStillServer() *server {
	s := &server{Miniredis: miniredis.NewMiniRedis(), mended: make(chan struct{})}
	s.reset()
	return s
}

// connected returns such a server and a client of it, which are closed when the test ends.
func connected(t testing.TB) (*server, *redis.Client) {
	t.Helper()
	s := newStillServer()
	t.Cleanup(s.Close)
	rdb := s.connect()
	t.Cleanup(func() { rdb.Close() })
	return s, rdb
}

// reset sets the clock to start.
func (s *server) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.SetTime(start)
	s.most = start
}

// move moves the clock, which may go back. Keys expire at an instant, as they do on Redis;
// with ClockTTL they would after so much time, each time counted again that comes again.
func (s *server) move(t time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.SetTime(t); t.After(s.most) {
		s.FastForward(t.Sub(s.most))
		s.most = t
	}
}

// mend hands out what was kept, and keeps no more.
func (s *server) mend() {
	s.fault.Store(sound)
	close(s.mended)
}

// refuse answers scripts with an error, or with "" runs them again. Other commands are answered,
// as a server does that loads its data or has become a replica.
func (s *server) refuse(with string) {
	s.Server().SetPreHook(func(c *proto.Peer, cmd string, _ ...string) bool {
		if with == "" || !strings.HasPrefix(cmd, "EVAL") {
			return false
		}
		c.WriteError(with)
		return true
	})
}

// connect returns a client, which has the usual retries but no time-outs of its own.
func (s *server) connect() *redis.Client {
	return redis.NewClient(&redis.Options{
		Addr:   "127.0.0.1:1", // not a name, which would be looked up
		Dialer: s.dial, PoolSize: 32, ReadTimeout: -1, WriteTimeout: -1,
		DisableIdentity:          true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
}

func (s *server) dial(context.Context, string, string) (net.Conn, error) {
	c, err := s.Dial()
	return &wire{Conn: c, s: s}, err
}

// clusterOf describes a cluster of two nodes by their addresses, each with half of the slots.
func clusterOf(nodes map[string]*server) *redis.ClusterOptions {
	return &redis.ClusterOptions{
		Addrs: []string{"10.0.0.1:1", "10.0.0.2:1"},
		ClusterSlots: func(context.Context) ([]redis.ClusterSlot, error) {
			return []redis.ClusterSlot{
				{Start: 0, End: 8191, Nodes: []redis.ClusterNode{{Addr: "10.0.0.1:1"}}},
				{Start: 8192, End: 16383, Nodes: []redis.ClusterNode{{Addr: "10.0.0.2:1"}}},
			}, nil
		},
		NewClient: func(opt *redis.Options) *redis.Client { return nodes[opt.Addr].connect() },
	}
}

// A wire is a connection with the faults of its server.
type wire struct {
	net.Conn
	s     *server
	fault atomic.Int32 // of the request under way
}

func (w *wire) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("eval")) {
		fault := w.s.fault.Load()
		if w.fault.Store(fault); fault == losesAnAnswer {
			w.s.fault.Store(sound)
		}
		if fault == losesRequests {
			w.Close()
			return 0, io.ErrClosedPipe
		}
	}
	return w.Conn.Write(p)
}

func (w *wire) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	switch w.fault.Load() {
	case losesAnswers, losesAnAnswer: // and all reads from now on
		w.Close()
		return 0, io.EOF
	case keepsAnswers:
		<-w.s.mended
		w.fault.Store(sound)
	}
	return n, err
}
