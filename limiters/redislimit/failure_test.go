package redislimit_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/escapement-go/escapement/limiters"
	"github.com/escapement-go/escapement/limiters/redislimit"
	"github.com/escapement-go/escapement/synctestcompat"
	"github.com/redis/go-redis/v9"
)

// A client of a test.
type client interface {
	redislimit.Client
	Close() error
}

// What a request that got no answer has taken, of 3 tokens.
func TestLimiter_lostOnTheWay(t *testing.T) {
	one := func(s *server) client { return s.connect() }
	cluster := func(s *server) client {
		return redis.NewClusterClient(clusterOf(map[string]*server{"10.0.0.1:1": s, "10.0.0.2:1": s}))
	}
	for _, c := range []struct {
		name    string
		connect func(s *server) client
		fault   int32
		left    int
	}{
		{"request", one, losesRequests, 3},
		{"answer", one, losesAnswers, 2}, // not 0, though the client would send it 4 times
		{"request in a cluster", cluster, losesRequests, 3},
		{"answer in a cluster", cluster, losesAnswers, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStillServer()
			defer s.Close()
			rdb := c.connect(s)
			defer rdb.Close()
			failures := 0
			l := redislimit.New(rdb, "q", time.Second, 3, redislimit.Timeout(patience),
				redislimit.OnFailure(func(error) { failures++ }))
			mustLook(t, l, 3) // so that the server knows the script
			s.fault.Store(c.fault)
			if d, err := l.Take(ctx, "a", 1); err == nil || d != (limiters.Decision{}) || failures != 1 {
				t.Errorf("Take = %+v, %v with %d failures, want an error, which is one", d, err, failures)
			}
			s.fault.Store(sound)
			mustLook(t, l, c.left)
		})
	}
}

func mustLook(t *testing.T, l *redislimit.Limiter, want int) {
	t.Helper()
	if d, err := l.Take(ctx, "a", 0); err != nil || d.Remaining != want {
		t.Fatalf("%d remain, %v, want %d", d.Remaining, err, want)
	}
}

// A server that does not know the script is told it, and the request is counted once.
func TestLimiter_scriptForgotten(t *testing.T) {
	_, rdb := connected(t)
	l := redislimit.New(rdb, "q", time.Second, 5, redislimit.Timeout(patience))
	for left := 4; left >= 0; left-- {
		if err := rdb.ScriptFlush(ctx).Err(); err != nil {
			t.Fatal(err)
		}
		if d, err := l.Take(ctx, "a", 1); err != nil || !d.Allowed || d.Remaining != left {
			t.Fatalf("Take = %+v, %v, want %d remaining", d, err, left)
		}
	}
	if d, err := l.Take(ctx, "a", 1); err != nil || d.Allowed {
		t.Errorf("Take = %+v, %v, want denied", d, err)
	}
}

// An answer that comes after the time is over, or after the caller has gone, takes its tokens
// and is nobody's. So many of these are enough to see that the server hangs.
func TestLimiter_noAnswer(t *testing.T) {
	synctestcompat.Require(t)
	synctestcompat.Run(t, func(t *testing.T) {
		s := newServer()
		defer s.Close()
		rdb := s.connect()
		defer rdb.Close()
		failures := 0
		l := redislimit.New(rdb, "q", time.Hour, 20, redislimit.OnFailure(func(err error) {
			if failures++; !errors.Is(err, redislimit.ErrNoAnswer) {
				t.Errorf("OnFailure was told %v, want ErrNoAnswer", err)
			}
		}))
		take := func(ctx context.Context, want error, after time.Duration) {
			t.Helper()
			began := time.Now()
			d, err := l.Take(ctx, "a", 1)
			if !errors.Is(err, want) || d != (limiters.Decision{}) || time.Since(began) != after {
				t.Errorf("Take = %+v, %v after %v, want %v after %v", d, err, time.Since(began), want, after)
			}
		}
		mustLook(t, l, 20)
		s.fault.Store(keepsAnswers)
		canceled, cancel := context.WithCancel(ctx)
		time.AfterFunc(100*time.Millisecond, cancel)
		take(canceled, context.Canceled, 100*time.Millisecond)
		take(canceled, context.Canceled, 0) // not sent
		short, cancel := context.WithTimeout(ctx, 30*time.Millisecond)
		defer cancel()
		take(short, context.DeadlineExceeded, 30*time.Millisecond)
		for range 14 {
			take(ctx, redislimit.ErrNoAnswer, redislimit.DefaultTimeout)
		}
		take(ctx, redislimit.ErrNoAnswer, 0) // not sent
		if failures != 15 {
			t.Errorf("%d failures, want 15: a caller that has gone is none", failures)
		}
		s.mend()
		synctestcompat.Wait()
		mustLook(t, l, 4)
		if d, err := l.Take(ctx, "a", 4); err != nil || !d.Allowed {
			t.Errorf("Take = %+v, %v, want the 4 that remain", d, err)
		}
	})
}

// The policies, on a server that is loading its data.
func TestLimiter_policies(t *testing.T) {
	s, rdb := connected(t)
	var told []error
	take := func(n int, opts ...redislimit.Option) (limiters.Decision, error) {
		opts = append(opts, redislimit.Timeout(patience),
			redislimit.OnFailure(func(err error) { told = append(told, err) }))
		return redislimit.New(rdb, "q", time.Second, 2, opts...).Take(ctx, "a", n)
	}
	if d, err := take(1, redislimit.FailOpen()); err != nil || !d.Allowed || d.Limit != 2 || told != nil {
		t.Errorf("FailOpen, and no failure: %+v, %v, told %v", d, err, told)
	}
	s.refuse("LOADING Redis is loading the dataset in memory")
	for _, opts := range [][]redislimit.Option{nil, {redislimit.FailOpen(), redislimit.FailClosed()}} {
		if d, err := take(1, opts...); !redis.HasErrorPrefix(err, "LOADING") || d != (limiters.Decision{}) {
			t.Errorf("closed: %+v, %v, want what the server says", d, err)
		}
	}
	for n, want := range map[int]bool{-1: false, 0: true, 2: true, 3: false} {
		d, err := take(n, redislimit.FailOpen())
		never := d.RetryAfter == limiters.InfDuration
		if err != nil || d.Allowed != want || never == want {
			t.Errorf("open: Take %d = %+v, %v, want %v", n, d, err, want)
		}
	}
	local := limiters.NewFixedWindow(1, time.Minute)
	for _, want := range []bool{true, false} {
		if d, err := take(1, redislimit.FailTo(local)); err != nil || d.Allowed != want || d.Limit != 1 {
			t.Errorf("to another: %+v, %v, want %v", d, err, want)
		}
	}
	full := limiters.NewKeyed(1, func(string) *limiters.GCRA { return nil }, func(*limiters.GCRA) bool { return false })
	_ = full.Do("other", func(*limiters.GCRA) {})
	if d, err := take(1, redislimit.FailTo(full)); !errors.Is(err, limiters.ErrTooManyKeys) || d.Allowed {
		t.Errorf("to one that has no decision: %+v, %v, want its error", d, err)
	}
	s.refuse("")
	if len(told) != 9 || slices.Contains(told, nil) {
		t.Errorf("told %d failures: %v, want 9", len(told), told)
	}
}

// Three machines ask more than there is, for 12 seconds, and the server is away from 4s to
// 8s. What each policy means for the envelope of 5 + 10 per second, and for what is granted
// meanwhile.
func TestLimiter_envelope(t *testing.T) {
	const machines, away = 3, 4 * time.Second
	local := func() redislimit.Option {
		return redislimit.FailTo(limiters.NewGCRA(300*time.Millisecond, 2))
	}
	for _, c := range []struct {
		name      string
		option    func() redislimit.Option
		meanwhile int
	}{
		{"closed", redislimit.FailClosed, 0},
		{"local", local, machines * (2 + 13)},
		{"open", redislimit.FailOpen, machines * 80},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctestcompat.Require(t)
			synctestcompat.Run(t, func(t *testing.T) {
				s := newServer()
				defer s.Close()
				var all []*redislimit.Limiter
				for range machines {
					rdb := s.connect()
					defer rdb.Close()
					all = append(all, redislimit.New(rdb, "q", 100*time.Millisecond, 5, c.option()))
				}
				var granted []time.Duration
				began := time.Now()
				for now := time.Duration(0); now < 3*away; now = time.Since(began) {
					switch now {
					case away:
						s.refuse("READONLY You can't write against a read only replica.")
					case 2 * away:
						s.refuse("")
					}
					for _, l := range all {
						if d, _ := l.Take(ctx, "a", 1); d.Allowed {
							granted = append(granted, now)
						}
					}
					time.Sleep(50 * time.Millisecond)
				}
				first, _ := slices.BinarySearch(granted, away)
				last, _ := slices.BinarySearch(granted, 2*away)
				if got := last - first; got != c.meanwhile {
					t.Errorf("%d were granted while the server was away, want %d", got, c.meanwhile)
				}
				if got, want := first, 5+39; got != want {
					t.Errorf("%d were granted before, want %d", got, want)
				}
				// After it, the burst has come back, as what was granted meanwhile is not counted.
				if got, want := len(granted)-last, 5+39; got != want {
					t.Errorf("%d were granted after, want %d", got, want)
				}
			})
		})
	}
}
