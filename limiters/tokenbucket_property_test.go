package limiters

import (
	"fmt"
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/escapement-go/escapement/internal/prove"
	"pgregory.net/rapid"
)

// exact is a token bucket in rational numbers. It does not decide; it is told.
type exact struct {
	rate, burst, tokens *big.Rat // rate in tokens per nanosecond
	newest              time.Duration
	begun               bool
	flow                *big.Rat // all that could have flowed in so far
}

func newExact(r Limit, b int) *exact {
	if r < 0x1p-34 { // one in 544 years
		r = 0
	}
	rate := new(big.Rat).SetFloat64(float64(r))
	return &exact{
		rate:   rate.Quo(rate, big.NewRat(1e9, 1)),
		burst:  new(big.Rat).SetInt64(int64(b)),
		tokens: new(big.Rat).SetInt64(int64(b)),
		flow:   new(big.Rat),
	}
}

// at returns the tokens there are at t, and what has flowed in for them.
func (e *exact) at(t time.Duration) (tokens, flow *big.Rat) {
	flow = new(big.Rat)
	if e.begun && t > e.newest {
		flow.Mul(e.rate, new(big.Rat).SetInt64(int64(t-e.newest)))
	}
	tokens = new(big.Rat).Add(e.tokens, flow)
	if tokens.Cmp(e.burst) > 0 {
		tokens.Set(e.burst)
	}
	return tokens, flow
}

// take takes n tokens at t.
func (e *exact) take(t time.Duration, n int) {
	tokens, flow := e.at(t)
	e.tokens = tokens.Sub(tokens, new(big.Rat).SetInt64(int64(n)))
	e.flow.Add(e.flow, flow)
	if !e.begun || t > e.newest {
		e.newest, e.begun = t, true
	}
}

// slack returns what a rate that is rounded to a float64 may be off.
func (e *exact) slack(flow *big.Rat) *big.Rat {
	s := new(big.Rat).Add(e.flow, flow)
	return s.Mul(s.Add(s, e.burst), big.NewRat(1, 1<<50))
}

// request is AllowN(n), gap after the request before it.
type request struct {
	gap time.Duration
	n   int
}

func (r request) GoString() string { return fmt.Sprintf("+%v n=%d", r.gap, r.n) }

func TestTokenBucket_keepsToTheExactBucket(t *testing.T) {
	prove.SameSeed(t)
	starts := []time.Time{{}, time.Unix(0, 0), t0, time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC)}
	rapid.Check(t, func(t *rapid.T) {
		r := rapid.OneOf(
			rapid.SampledFrom([]Limit{1, 3, 10, 10. / 13, 0.3, 1.1, 1e-3, 1e-9, 6e8, 1e9, 2e9, 3e9, 1e12, 1e-18}),
			rapid.Map(rapid.Int64Range(1, math.MaxInt64), func(ns int64) Limit { return Every(time.Duration(ns)) }),
			rapid.Map(rapid.Float64Range(-18, 14), func(x float64) Limit { return Limit(math.Pow(10, x)) }),
		).Draw(t, "rate")
		b := rapid.OneOf(rapid.IntRange(0, 10), rapid.IntRange(0, 1e9)).Draw(t, "burst")
		start := rapid.SampledFrom(starts).Draw(t, "start")
		interval := min(1e9/float64(r), float64(2*years))

		gaps := rapid.OneOf(
			rapid.Map(rapid.Float64Range(0, 2), func(x float64) time.Duration { return time.Duration(x * interval) }),
			rapid.Map(rapid.IntRange(-2, 4), func(k int) time.Duration { return time.Duration(math.Ceil(float64(k) * interval)) }),
			rapid.Map(rapid.IntRange(-2, 2), func(k int) time.Duration { return time.Duration(k) }),
			rapid.Map(rapid.Float64Range(0, 1), func(x float64) time.Duration {
				return time.Duration(min(x*interval*float64(b), float64(2*years)))
			}),
		)
		requests := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) request {
			return request{
				gap: gaps.Draw(t, "gap"),
				n: rapid.OneOf(rapid.IntRange(0, 3), rapid.IntRange(b/2, b+1),
					rapid.SampledFrom([]int{-1, math.MinInt, math.MaxInt})).Draw(t, "n"),
			}
		}), 1, 40).Draw(t, "requests")

		l, model := NewTokenBucket(r, b), newExact(r, b)
		type grant struct {
			at time.Duration
			n  int
		}
		var grants []grant
		at := time.Duration(0)
		for i, q := range requests {
			at += q.gap
			if !model.begun || at > model.newest { // asking changes nothing
				l.TokensAt(start.Add(at + time.Hour))
			}
			before, flow := model.at(at)
			slack := model.slack(flow)
			state := [...]any{l.at, l.left, l.phase, l.last, l.ledger}
			tokens := l.TokensAt(start.Add(at))
			got := l.AllowN(start.Add(at), q.n)

			fail := func(why string) {
				t.Fatalf("%d: AllowN(%v, %d) = %v with %s tokens: %s", i, at, q.n, got, before.FloatString(12), why)
			}
			if (!got || q.n == 0) && state != [...]any{l.at, l.left, l.phase, l.last, l.ledger} {
				fail("the state has changed")
			}
			if f, _ := before.Float64(); math.Abs(tokens-f) > 1e-9*(float64(b)+1) || tokens > float64(b) {
				fail(fmt.Sprintf("TokensAt says %v", tokens))
			}
			switch {
			case q.n == 0 && !got, q.n < 0 && got, q.n > b && got:
				fail("not for this n")
			case q.n <= 0 || q.n > b:
				continue
			}
			// margin is what will be there by the next nanosecond, less n.
			margin := new(big.Rat).Add(before, model.rate)
			margin.Sub(margin, new(big.Rat).SetInt64(int64(q.n)))
			if got && new(big.Rat).Add(margin, slack).Sign() < 0 {
				fail("too few")
			}
			if !got && new(big.Rat).Sub(margin, slack).Sign() > 0 {
				fail("enough")
			}
			if got {
				model.take(at, q.n)
				grants = append(grants, grant{model.newest, q.n})
			}
		}

		slack := model.slack(new(big.Rat))
		for i := range grants {
			sum := new(big.Rat)
			for j := i; j < len(grants); j++ {
				sum.Add(sum, new(big.Rat).SetInt64(int64(grants[j].n)))
				most := new(big.Rat).SetInt64(int64(grants[j].at - grants[i].at + 1)) // 1ns early
				most.Mul(most, model.rate).Add(most, model.burst).Add(most, slack)
				if sum.Cmp(most) > 0 {
					t.Fatalf("%s grants in [%v, %v], want at most %s", sum.FloatString(0), grants[i].at, grants[j].at, most.FloatString(6))
				}
			}
		}
	})
}
