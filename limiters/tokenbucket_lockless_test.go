package limiters

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/escapement-go/escapement/internal/prove"
	"github.com/escapement-go/escapement/synctestcompat"
)

// Allow, which takes tokens from a full bucket without the lock, decides as AllowN does,
// which never does, whatever else happens to the bucket meanwhile.
func TestTokenBucket_allowLikeAllowN(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for s := range prove.Long(300, 10_000) {
		synctestcompat.Run(t, func(t *testing.T) {
			rates := []Limit{0, 0.3, 1, 7, 1e6, 1e9, 3e9, Every(7 * time.Millisecond), Every(1), Inf}
			r, b := rates[rng.IntN(len(rates))], rng.IntN(4)
			l, locked := NewTokenBucket(r, b), NewTokenBucket(r, b)
			var booked, lockedBooked []*Reservation
			for i := range 60 {
				var got, want any
				switch now := time.Now(); rng.IntN(16) {
				case 0:
					got, want = l.Tokens(), locked.TokensAt(now)
				case 1:
					n := 1 + rng.IntN(3)
					got, want = l.AllowN(now, n), locked.AllowN(now, n)
				case 2:
					a, b := l.Reserve(), locked.ReserveN(now, 1)
					got, want = a.DelayFrom(now), b.DelayFrom(now)
					booked, lockedBooked = append(booked, a), append(lockedBooked, b)
				case 3:
					if n := len(booked); n > 0 {
						k := rng.IntN(n)
						booked[k].Cancel()
						lockedBooked[k].CancelAt(now)
					}
				case 4:
					r = rates[rng.IntN(len(rates))]
					l.SetLimit(r)
					locked.SetLimitAt(now, r)
				case 5:
					b := rng.IntN(4)
					l.SetBurst(b)
					locked.SetBurstAt(now, b)
				case 6:
					got, want = l.AllowAt(now, 1), locked.AllowAt(now, 1)
				case 7:
					got, want = l.Fresh(), locked.Fresh()
				case 8, 9:
					n := rng.IntN(5) - 1
					got, _ = l.Take(context.Background(), "", n)
					want = locked.AllowAt(now, n)
				default:
					got, want = l.Allow(), locked.AllowN(now, 1)
				}
				if got != want {
					t.Fatalf("schedule %d, step %d, %v and burst %d: got %v, want %v", s, i, r, l.Burst(), got, want)
				}
				switch rng.IntN(4) {
				case 0:
					time.Sleep(time.Duration(rng.IntN(4)))
				case 1:
					time.Sleep(time.Duration(float64(time.Second) / max(float64(r), 0.1) * float64(rng.IntN(3))))
				}
			}
		})
	}
}

// Goroutines that all find the bucket full take one token after another: with a burst of
// 1 no more than there are refills.
func TestTokenBucket_oneTokenOfMany(t *testing.T) {
	synctestcompat.Run(t, func(t *testing.T) {
		l := NewTokenBucket(1e9, 1)
		granted := make(chan int)
		for range 8 {
			go func() {
				n := 0
				for range 500 {
					if l.Allow() {
						n++
					}
					time.Sleep(2 * time.Nanosecond)
				}
				granted <- n
			}()
		}
		sum := 0
		for range 8 {
			sum += <-granted
		}
		if sum != 500 {
			t.Errorf("%d tokens, want one each 2ns, 500", sum)
		}
	})
}
