//go:build go1.25

package limiters

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
)

// waitCase is a WaitN that begins, and what becomes of it.
type waitCase struct {
	begin   time.Duration
	n       int
	timeout time.Duration // of its context; 0: none
	cancel  time.Duration // 0: never

	want error
	end  time.Duration
}

func TestTokenBucket_WaitN(t *testing.T) {
	const s = time.Second
	for _, tt := range []struct {
		name    string
		burst   int // empty at first, at 1 per second
		waiters []waitCase
	}{
		{"one after the other", 2, []waitCase{{0, 1, 0, 0, nil, s}, {0, 2, 0, 0, nil, 3 * s}, {0, 1, 0, 0, nil, 4 * s}, {3500 * ms, 1, 0, 0, nil, 5 * s}}},
		{"deadline before", 1, []waitCase{{0, 1, s - 1, 0, ErrDeadline, 0}, {0, 1, 0, 0, nil, s}}},
		{"deadline at the instant", 1, []waitCase{{0, 1, s, 0, nil, s}, {0, 1, 2 * s, 0, nil, 2 * s}}},
		{"canceled, nobody behind", 1, []waitCase{{0, 1, 0, 500 * ms, context.Canceled, 500 * ms}, {600 * ms, 1, 0, 0, nil, s}}},
		{"canceled, somebody behind", 1, []waitCase{{0, 1, 0, 500 * ms, context.Canceled, 500 * ms}, {0, 1, 0, 0, nil, 2 * s}, {600 * ms, 1, 0, 0, nil, 3 * s}}},
		{"canceled, less behind", 3, []waitCase{{0, 3, 0, 500 * ms, context.Canceled, 500 * ms}, {0, 1, 0, 0, nil, 4 * s}, {600 * ms, 1, 0, 0, nil, 3 * s}}},
		{"canceled at the instant", 1, []waitCase{{0, 1, 0, s, nil, s}, {0, 1, 0, 0, nil, 2 * s}}},
		{"too many", 2, []waitCase{{0, 3, 0, 0, ErrBurst, 0}, {0, 1, 0, 0, nil, s}}},
	} {
		for _, own := range []bool{true, false} {
			t.Run(tt.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					if own {
						waits(t, NewTokenBucket(1, tt.burst), tt.waiters, func(d time.Duration) { time.Sleep(d); synctest.Wait() })
						return
					}
					// Deadlines are compared with the limiter's clock, but expire on package time.
					c := fakeclock.New(fakeclock.WithSettle(synctest.Wait))
					waits(t, NewTokenBucket(1, tt.burst, WithClock(c)), tt.waiters, func(d time.Duration) {
						c.Advance(d)
						time.Sleep(d)
						synctest.Wait()
					})
				})
			})
		}
	}
}

// waits runs waiters on a limiter that begins empty.
func waits(t *testing.T, l *TokenBucket, waiters []waitCase, sleep func(time.Duration)) {
	t.Helper()
	start := l.now()
	l.AllowN(start, int(l.burst))
	var at time.Duration
	var instants []time.Duration
	cancels := make([]context.CancelFunc, len(waiters))
	ended := make([]bool, len(waiters))
	for _, w := range waiters {
		instants = append(instants, w.begin, w.cancel, w.end)
	}
	slices.Sort(instants)
	instants = append(instants, instants[len(instants)-1]+time.Hour)
	for _, next := range slices.Compact(instants) {
		sleep(next - at)
		at = next
		for i, w := range waiters {
			if w.begin != at {
				continue
			}
			ctx, cancel := context.WithCancel(context.Background())
			if w.timeout > 0 {
				ctx, cancel = context.WithTimeout(context.Background(), w.timeout)
			}
			cancels[i] = cancel
			go func() {
				err := l.WaitN(ctx, w.n)
				end := l.now().Sub(start)
				if ended[i] = true; end != w.end || !errors.Is(err, w.want) {
					t.Errorf("waitCase %d: WaitN(%d) = %v at %v, want %v at %v", i, w.n, err, end, w.want, w.end)
				}
			}()
			synctest.Wait()
		}
		for i, w := range waiters {
			if w.cancel == at && at > 0 {
				cancels[i]()
				synctest.Wait()
			}
		}
	}
	for i, w := range waiters {
		if cancels[i](); !ended[i] {
			t.Errorf("waitCase %d: WaitN has not returned, want %v at %v", i, w.want, w.end)
		}
	}
}

// A wait keeps its instant, whatever is set meanwhile; one that would last for
// ever ends with its context.
func TestTokenBucket_Wait_setMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewTokenBucket(1, 5)
		l.AllowN(time.Now(), 5)
		start := time.Now()
		ended := make(chan time.Duration, 1)
		go func() {
			if err := l.WaitN(context.Background(), 5); err != nil {
				t.Errorf("WaitN = %v", err)
			}
			ended <- time.Since(start)
		}()
		synctest.Wait()
		l.SetBurst(1)
		l.SetLimit(Inf)
		l.SetLimit(0)
		if got, want := <-ended, 5*time.Second; got != want {
			t.Errorf("WaitN took %v, want %v", got, want)
		}

		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(1000*time.Hour, cancel)
		before := l.Tokens()
		if err := l.Wait(ctx); !errors.Is(err, context.Canceled) || time.Since(start) != 1000*time.Hour+5*time.Second {
			t.Errorf("Wait at rate 0 = %v after %v", err, time.Since(start))
		}
		if got := l.Tokens(); got != before {
			t.Errorf("Tokens() = %v, want %v", got, before)
		}
	})
}
