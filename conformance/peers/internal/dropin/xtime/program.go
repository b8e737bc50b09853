// Package program uses all of golang.org/x/time/rate. It exists twice: after a
// change of the import and of the constructor it compiles against package limiters.
package program

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"golang.org/x/time/rate"
)

// A server names the types of the package, as users do.
type server struct {
	*rate.Limiter
	perUser map[string]*rate.Limiter
	pending []*rate.Reservation
	rare    rate.Sometimes
	limit   rate.Limit
}

// allower is an interface that a Limiter satisfies.
type allower interface {
	Allow() bool
	AllowN(t time.Time, n int) bool
	Wait(ctx context.Context) error
	WaitN(ctx context.Context, n int) error
	Reserve() *rate.Reservation
	ReserveN(t time.Time, n int) *rate.Reservation
}

var _ allower = (*rate.Limiter)(nil)

func configure(lim *rate.Limiter, t time.Time) {
	lim.SetLimitAt(t, rate.Every(50*time.Millisecond))
	lim.SetBurstAt(t, 4)
}

// Run uses the package at given instants, and returns what it saw.
func Run() string {
	var out strings.Builder
	at := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	see := func(what string, args ...any) { fmt.Fprintln(&out, append([]any{what}, args...)...) }

	s := &server{
		Limiter: rate.NewLimiter(rate.Every(100*time.Millisecond), 2),
		perUser: map[string]*rate.Limiter{"root": rate.NewLimiter(rate.Inf, 0)},
		rare:    rate.Sometimes{First: 1, Every: 3},
		limit:   rate.Limit(10),
	}
	see("limit", float64(s.Limit()), s.Limit() == s.limit, s.Burst())
	see("allow", s.AllowN(at, 1), s.AllowN(at, 2), s.AllowN(at, 1), s.TokensAt(at))
	for i := 1; i <= 3; i++ {
		var r *rate.Reservation = s.ReserveN(at, 1)
		see("reserve", r.OK(), r.DelayFrom(at))
		s.pending = append(s.pending, r)
	}
	if r := s.ReserveN(at, 3); !r.OK() {
		see("too many", r.DelayFrom(at) == rate.InfDuration)
	}
	s.pending[2].CancelAt(at)
	see("cancel", s.TokensAt(at))
	configure(s.Limiter, at.Add(time.Second))
	see("configured", float64(s.Limit()), s.Burst(), s.TokensAt(at.Add(time.Second)), s.TokensAt(at.Add(time.Hour)))

	var a allower = s.perUser["root"]
	see("inf", a.Allow(), a.Reserve().OK(), a.WaitN(context.Background(), math.MaxInt32))
	var zero rate.Limiter
	see("zero", zero.Allow(), zero.Tokens(), zero.Reserve().OK())

	full := rate.NewLimiter(1, 3)
	done, cancel := context.WithCancel(context.Background())
	see("wait", full.Wait(done), full.WaitN(done, 4) != nil)
	cancel()
	see("canceled", errors.Is(full.Wait(done), context.Canceled))
	full.SetLimit(0)
	full.SetBurst(1)
	r := full.Reserve()
	r.Delay()
	r.Cancel()

	for i := 0; i < 4; i++ {
		s.rare.Do(func() { see("sometimes", i) })
	}
	return out.String()
}
