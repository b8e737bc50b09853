package redislimit_test

import (
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/escapement-go/escapement/limiters/redislimit"
	"github.com/go-redis/redis_rate/v10"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
)

const clients = 8

// requests is how many requests each load is, from REDISLIMIT_LOAD, without which it is skipped.
func requests(t *testing.T) int {
	t.Helper()
	text := os.Getenv("REDISLIMIT_LOAD")
	if text == "" {
		t.Skip("REDISLIMIT_LOAD=100000 runs it with so many requests")
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < clients {
		t.Fatalf("REDISLIMIT_LOAD=%q: want a number of requests, %d and more", text, clients)
	}
	return n
}

// A load is n requests of 8 clients, each with its own connections.
type load struct {
	n    int
	rdbs []*redis.Client
	done atomic.Int64
	at   map[int64]func() // what happens when so many requests are done
}

func newLoad(t *testing.T, addr string, n int) *load {
	l := &load{n: n, at: map[int64]func(){}}
	for range clients {
		rdb := redis.NewClient(&redis.Options{Addr: addr, PoolSize: 2, ReadTimeout: 5 * time.Second})
		t.Cleanup(func() { _ = rdb.Close() })
		l.rdbs = append(l.rdbs, rdb)
	}
	return l
}

// run lets each client do its part, and returns how long that took.
func (l *load) run(do func(client, i int)) time.Duration {
	for _, rdb := range l.rdbs {
		rdb.Ping(ctx) // connects
	}
	var wg sync.WaitGroup
	began := time.Now()
	for c := range l.rdbs {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := c; i < l.n; i += clients {
				do(c, i)
				if f := l.at[l.done.Add(1)]; f != nil {
					f()
				}
			}
		}()
	}
	wg.Wait()
	return time.Since(began)
}

// limiters returns a Limiter for each client.
func (l *load) limiters(interval time.Duration, burst int, opts ...redislimit.Option) []*redislimit.Limiter {
	name := realName()
	var all []*redislimit.Limiter
	for _, rdb := range l.rdbs {
		all = append(all, redislimit.New(rdb, name, interval, burst, opts...))
	}
	return all
}

// Requests per second, and what they are made of: medians and ranges of rounds, in each of which
// each of them has a turn.
func TestLoad_requests(t *testing.T) {
	const rounds = 5
	n, addr := requests(t), realAddr(t)
	for _, keys := range []int{1, 10_000} {
		l := newLoad(t, addr, n)
		names := make([]string, keys)
		for i := range names {
			names[i] = "key" + strconv.Itoa(i)
		}
		prefix := realName()
		var peers []*redis_rate.Limiter
		for _, rdb := range l.rdbs {
			peers = append(peers, redis_rate.NewLimiter(rdb))
		}
		granted := l.limiters(time.Microsecond, 1_000_000, redislimit.Timeout(time.Minute))
		denied := l.limiters(time.Hour, 1, redislimit.Timeout(time.Minute))
		what := []string{"PING", "redis_rate", "redislimit, granted", "redislimit, denied"}
		rates := make([][]float64, len(what))
		for range rounds {
			for w := range what {
				var failed atomic.Int64
				took := l.run(func(c, i int) {
					var err error
					switch key := names[i%keys]; w {
					case 0:
						err = l.rdbs[c].Ping(ctx).Err()
					case 1:
						_, err = peers[c].Allow(ctx, prefix+key, redis_rate.PerSecond(1_000_000))
					case 2:
						_, err = granted[c].Take(ctx, key, 1)
					case 3:
						_, err = denied[c].Take(ctx, key, 1)
					}
					if err != nil {
						failed.Add(1)
					}
				})
				rates[w] = append(rates[w], float64(n)/took.Seconds())
				if failed.Load() > 0 {
					t.Errorf("%s: %d of %d failed", what[w], failed.Load(), n)
				}
			}
		}
		for w, all := range rates {
			slices.Sort(all)
			t.Logf("%5d keys, %-20s %6.0f requests/s (%.0f to %.0f)",
				keys, what[w], all[rounds/2], all[0], all[rounds-1])
		}
	}
}

// What is granted for each key is within the envelope, while a server that keeps nothing, or
// everything, is killed and started again in the middle, and a client closed before that.
func TestLoad_envelope(t *testing.T) {
	kept := []string{"--appendonly", "yes", "--appendfsync", "always"}
	for _, c := range []struct {
		name     string
		keys     int
		interval time.Duration
		burst    int
		args     []string
		bursts   int // that can be granted: one, and one for each loss of the state
	}{
		{"one key, nothing kept", 1, time.Millisecond, 500, nil, 2},
		{"one key, append-only file", 1, time.Millisecond, 500, kept, 1},
		{"10,000 keys, nothing kept", 10_000, time.Hour, 1, nil, 2},
		{"10,000 keys, append-only file", 10_000, time.Hour, 1, kept, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := requests(t)
			p := startProcess(t, c.args...)
			redis.SetLogger(&logging.VoidLogger{})
			l := newLoad(t, p.addr, n)
			l.at[int64(n/4)] = func() { _ = l.rdbs[0].Close() }
			l.at[int64(n/2)] = func() { p.kill(); p.start() }
			var ofClosed, failed atomic.Int64
			granted := make([]atomic.Int64, c.keys)
			all := l.limiters(c.interval, c.burst)
			took := l.run(func(client, i int) {
				key := i / 4 % c.keys // four clients ask for it at once
				d, err := all[client].Take(ctx, strconv.Itoa(key), 1)
				switch {
				case err != nil && client == 0:
					ofClosed.Add(1)
				case err != nil:
					failed.Add(1)
				case d.Allowed:
					granted[key].Add(1)
				}
			})
			sum, largest, most := 0, 0, c.bursts*c.burst+int(took/c.interval)
			for key := range granted {
				got := int(granted[key].Load())
				if sum, largest = sum+got, max(largest, got); got > most {
					t.Errorf("%d were granted for key %d in %v, want %d at the most", got, key, took, most)
				}
			}
			t.Logf("%d requests in %.1fs: %d granted, at most %d for a key, of %d that could be; "+
				"%d failed of the client that was closed, %d of the others", n, took.Seconds(), sum, largest, most, ofClosed.Load(), failed.Load())
		})
	}
}
