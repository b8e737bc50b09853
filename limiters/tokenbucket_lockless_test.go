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
				case 2:
					time.Sleep(time.Duration(rng.IntN(64)/63) * 30 * time.Hour)
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

// A word is the state: as long as it is open, one that was there before means the same as then.
func TestTokenBucket_wordsAreNew(t *testing.T) {
	type state struct {
		interval     interval
		anchor, left int64
		burst        int64
		phase        uint64
	}
	rng := rand.New(rand.NewPCG(11, 12))
	rounds, opened := prove.Long(200, 5000), 0
	for range rounds {
		synctestcompat.Run(t, func(t *testing.T) {
			l, means := NewTokenBucket(1e9, 3), map[int64]state{}
			for range 200 {
				switch now := time.Now(); rng.IntN(12) {
				case 0:
					l.SetLimit([]Limit{1e7, 1e8, 1e9, 3e9}[rng.IntN(4)])
				case 1:
					l.SetBurst(1 + rng.IntN(4))
				case 2:
					l.AllowN(now.Add(time.Duration(rng.IntN(9)-4)), 1+rng.IntN(2))
				case 3:
					l.Reserve().Cancel()
				case 4:
					l.Reserve()
				case 5:
					l.Tokens()
				default:
					l.Allow()
				}
				s := &l.lockless
				if word := s.word.Load(); word != closed {
					now := state{interval{s.cost.Load(), uint8(s.shift.Load())}, 0, 0, s.full.Load(), 0}
					if word < 0 {
						now.anchor, now.left, now.phase = s.anchor.Load(), s.left.Load(), s.phase.Load()
					}
					if before, ok := means[word]; ok && before != now {
						t.Fatalf("word %x meant %+v, now %+v", uint64(word), before, now)
					}
					means[word] = now
					opened++
				}
				time.Sleep(time.Duration(rng.IntN(3)))
			}
		})
	}
	if opened < 25*rounds {
		t.Errorf("open after %d of %d steps", opened, 200*rounds)
	}
}

// What a word has no room for, more tokens or more time, takes the lock once, and goes on.
func TestTokenBucket_wordIsFull(t *testing.T) {
	synctestcompat.Run(t, func(t *testing.T) {
		for _, tt := range []struct {
			calls int
			wait  time.Duration
		}{{3 * mostTaken, 1}, {30, 10 * time.Hour}} {
			r := Limit(0.7 / tt.wait.Seconds())
			l, locked := NewTokenBucket(r, 1<<20), NewTokenBucket(r, 1<<20)
			_, _ = l.Take(context.Background(), "", 1<<19)
			locked.AllowN(time.Now(), 1<<19)
			opened := 0
			for i := range tt.calls {
				time.Sleep(tt.wait)
				if got, want := l.Allow(), locked.AllowN(time.Now(), 1); got != want {
					t.Fatalf("call %d, %v apart: got %v, want %v", i, tt.wait, got, want)
				}
				if l.lockless.word.Load() != closed {
					opened++
				}
			}
			if got, want := l.Tokens(), locked.TokensAt(time.Now()); got != want {
				t.Errorf("%d calls, %v apart: %v tokens, want %v", tt.calls, tt.wait, got, want)
			}
			if opened < tt.calls {
				t.Errorf("%d calls, %v apart: open after %d", tt.calls, tt.wait, opened)
			}
		}
	})
}
