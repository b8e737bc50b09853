package redislimit_test

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/escapement-go/escapement/limiters"
	"github.com/escapement-go/escapement/limiters/redislimit"
	"github.com/escapement-go/escapement/synctestcompat"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// refusing is a client of a server that refuses connections, which counts them.
func refusing(dials *atomic.Int32, retries int) *redis.Client {
	return redis.NewClient(&redis.Options{
		Addr: "127.0.0.1:1", DialerRetries: retries, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		Dialer: func(context.Context, string, string) (net.Conn, error) {
			dials.Add(1)
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
		},
	})
}

// A server that is down costs one request a connection, and then none for a pause; all are told of the connection. A
// client that tries again for longer than the time-out says so later.
func TestLimiter_down(t *testing.T) {
	synctestcompat.Require(t)
	for _, tt := range []struct {
		retries int
		first   time.Duration // until the first is told
		err     error
		dials   int32
	}{
		{1, 0, syscall.ECONNREFUSED, 1},
		{0, redislimit.DefaultTimeout, redislimit.ErrNoAnswer, 5}, // go-redis' default
	} {
		synctestcompat.Run(t, func(t *testing.T) {
			var dials atomic.Int32
			rdb := refusing(&dials, tt.retries)
			defer rdb.Close()
			var told error
			l := redislimit.New(rdb, "q", time.Second, 1, redislimit.OnFailure(func(err error) { told = err }))
			take := func(want error, after time.Duration) {
				t.Helper()
				began := time.Now()
				told = nil
				_, err := l.Take(ctx, "a", 1)
				if !errors.Is(err, want) || !errors.Is(told, want) || time.Since(began) != after {
					t.Errorf("Take: %v, told %v, after %v, want %v after %v", err, told, time.Since(began), want, after)
				}
			}
			take(tt.err, tt.first)
			time.Sleep(400*time.Millisecond - tt.first) // until go-redis gives up
			synctestcompat.Wait()
			if tt.retries == 1 {
				take(syscall.ECONNREFUSED, 0) // the pause is over
			}
			before := dials.Load()
			for range 10 {
				take(syscall.ECONNREFUSED, 0)
			}
			time.Sleep(redislimit.DefaultPause - 1)
			take(syscall.ECONNREFUSED, 0)
			if dials.Load() != before {
				t.Errorf("%d connections within the pause", dials.Load()-before)
			}
			time.Sleep(1)
			take(tt.err, tt.first)
			time.Sleep(time.Second)
			if got := dials.Load(); got != before+tt.dials {
				t.Errorf("%d connections after the pause, want %d", got-before, tt.dials)
			}
		})
	}
}

// Without a pause each request connects.
func TestPause_none(t *testing.T) {
	var dials atomic.Int32
	rdb := refusing(&dials, 1)
	defer rdb.Close()
	l := redislimit.New(rdb, "q", time.Second, 1, redislimit.Pause(0), redislimit.Timeout(patience))
	for i := range int32(5) {
		if _, err := l.Take(ctx, "a", 1); !errors.Is(err, syscall.ECONNREFUSED) || dials.Load() != i+1 {
			t.Errorf("Take %d: %v after %d connections", i+1, err, dials.Load())
		}
	}
}

// A real server is killed: requests are refused, not given up, and after the pause it is back.
func TestRealServer_down(t *testing.T) {
	p := startProcess(t)
	var dials atomic.Int32
	rdb := redis.NewClient(&redis.Options{
		Addr: p.addr, DialerRetries: 1,
		Dialer: func(ctx context.Context, network, addr string) (net.Conn, error) {
			dials.Add(1)
			return new(net.Dialer).DialContext(ctx, network, addr)
		},
	})
	defer rdb.Close()
	const pause = 500 * time.Millisecond
	name := realName()
	l := redislimit.New(rdb, name, time.Hour, 3, redislimit.Pause(pause), redislimit.Timeout(patience))
	mustLook(t, l, 3)
	p.kill()
	var err error
	for range 100 { // the first may find a connection that is not known to be lost
		if _, err = l.Take(ctx, "a", 1); errors.Is(err, syscall.ECONNREFUSED) {
			break
		}
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		t.Fatalf("Take of a server that is down: %v, want connection refused", err)
	}
	began, before := time.Now(), dials.Load()
	for range 1000 {
		if _, err := l.Take(ctx, "a", 1); !errors.Is(err, syscall.ECONNREFUSED) && time.Since(began) < pause {
			t.Fatalf("Take within the pause: %v", err)
		}
	}
	if took := time.Since(began); took < pause && dials.Load() != before {
		t.Errorf("%d connections within the pause", dials.Load()-before)
	} else {
		t.Logf("1000 requests of a server that is down took %v", took)
	}
	p.start()
	mustLook(t, redislimit.New(rdb, name, time.Hour, 3, redislimit.Pause(0), redislimit.Timeout(patience)), 3)
}

// Claim: while the server is down a request costs, by each policy, less than a microsecond in a pause, and a
// refused connection, some tens of microseconds on loopback, without one.
func BenchmarkLimiter_down(b *testing.B) {
	local := limiters.NewGCRA(time.Hour, 1)
	for _, policy := range []struct {
		name   string
		option redislimit.Option
	}{
		{"closed", redislimit.FailClosed()}, {"local", redislimit.FailTo(local)}, {"open", redislimit.FailOpen()},
	} {
		for _, pause := range []time.Duration{time.Hour, 0} {
			name := map[bool]string{true: "paused", false: "connecting"}[pause > 0]
			rdb := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", DialerRetries: 1, PoolSize: 1 << 20})
			l := redislimit.New(rdb, "q", time.Hour, 1, policy.option, redislimit.Pause(pause))
			b.Run(policy.name+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					_, _ = l.Take(ctx, "a", 1)
				}
			})
			rdb.Close()
		}
	}
}
