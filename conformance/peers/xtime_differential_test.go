//go:build go1.25

package peers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/escapement-go/escapement/limiters"
	"golang.org/x/time/rate"
)

// xrate is the Limiter of x/time/rate in rational numbers, with what its floats may
// be off: so that it is known which decisions are not theirs.
type xrate struct {
	burst     int64
	rate      *big.Rat // tokens per nanosecond
	tokens    *big.Rat
	last      int64    // nanoseconds
	lastEvent *big.Rat // likewise
	off       float64  // tokens
}

// xreservation is one of its reservations.
type xreservation struct {
	n   int64
	act *big.Rat // nil: never
}

func rat(n int64) *big.Rat { return new(big.Rat).SetInt64(n) }

func newXrate(r rate.Limit, b int) *xrate {
	x := &xrate{burst: int64(b), tokens: rat(int64(b)), lastEvent: new(big.Rat)}
	x.setLimit(r)
	return x
}

func (x *xrate) setLimit(r rate.Limit) {
	x.rate = new(big.Rat).SetFloat64(float64(r))
	x.rate.Quo(x.rate, rat(1e9))
	x.round(x.tokens)
}

// at returns the tokens at t.
func (x *xrate) at(t int64) *big.Rat {
	tokens := new(big.Rat).Mul(x.rate, rat(t-x.last))
	if tokens.Add(tokens, x.tokens); tokens.Cmp(rat(x.burst)) > 0 {
		tokens.SetInt64(x.burst)
	}
	return tokens
}

// round grows off by what one rounding of tokens may do.
func (x *xrate) round(tokens *big.Rat) {
	f, _ := tokens.Float64()
	x.off += (math.Abs(f) + float64(x.burst) + 1) * 0x1p-50
}

// offNS is off in nanoseconds.
func (x *xrate) offNS() float64 {
	r, _ := x.rate.Float64()
	if r == 0 {
		return 0
	}
	return x.off / r
}

// close reports whether d nanoseconds are too few to tell them from 0.
func (x *xrate) close(d *big.Rat, within float64) bool {
	f, _ := d.Float64()
	return math.Abs(f) <= within+x.offNS()
}

// wait returns the nanoseconds until there are n tokens: nil means never, and
// sure that it is sure whether that is less than one.
func (x *xrate) wait(t, n int64) (wait *big.Rat, sure bool) {
	missing := new(big.Rat).Sub(rat(n), x.at(t))
	if missing.Sign() <= 0 {
		f, _ := missing.Float64()
		return new(big.Rat), -f >= x.off || x.rate.Sign() > 0 && x.offNS() < .9
	}
	if x.rate.Sign() == 0 {
		f, _ := missing.Float64()
		return nil, f > x.off
	}
	wait = missing.Quo(missing, x.rate)
	return wait, !x.close(new(big.Rat).Sub(wait, rat(1)), 1e-6)
}

// take takes n tokens at t, after wait.
func (x *xrate) take(t, n int64, wait *big.Rat) xreservation {
	x.tokens = x.at(t)
	x.tokens.Sub(x.tokens, rat(n))
	x.last = t
	x.round(x.tokens)
	r := xreservation{n: n}
	if wait != nil {
		if wait.Cmp(rat(1)) < 0 {
			wait = new(big.Rat)
		}
		r.act = new(big.Rat).Add(rat(t), wait)
		x.lastEvent = r.act
	}
	return r
}

// cancel is CancelAt(t). It is not sure if that hangs on a nanosecond, or gives back
// more than was taken.
func (x *xrate) cancel(r xreservation, t int64) (sure bool) {
	back := rat(r.n)
	if r.act != nil {
		early := new(big.Rat).Sub(r.act, rat(t))
		if early.Sign() != 0 && x.close(early, 1) {
			return false
		}
		if early.Sign() < 0 {
			return true
		}
		after := new(big.Rat).Sub(x.lastEvent, r.act)
		if after.Sign() != 0 && x.close(after, 1) {
			return false
		}
		back.Sub(back, after.Mul(after, x.rate))
		ns, _ := x.rate.Float64()
		x.off += 2 * ns
	}
	f, _ := back.Float64()
	if f > float64(r.n)+x.off || math.Abs(f) <= x.off {
		return false
	}
	if f <= 0 {
		return true
	}
	x.tokens = x.at(t)
	if x.tokens.Add(x.tokens, back); x.tokens.Cmp(rat(x.burst)) > 0 {
		x.tokens.SetInt64(x.burst)
	}
	x.last = t
	x.round(x.tokens)
	if r.act != nil && x.lastEvent.Cmp(r.act) == 0 && x.rate.Sign() > 0 {
		before := new(big.Rat).Sub(r.act, new(big.Rat).Quo(rat(r.n), x.rate))
		gap := before.Sub(before, rat(t))
		if x.close(gap, 2) {
			return false
		}
		if gap.Sign() > 0 {
			x.lastEvent = gap.Add(gap, rat(t))
		}
	}
	return true
}

// pair is a reservation or a wait, made of both limiters.
type pair struct {
	xreservation
	theirs  *rate.Reservation
	ours    *limiters.Reservation
	settled bool // cancelled, or from before the limit was set

	cancel context.CancelFunc // of a wait
	ends   [2]chan error
	ended  [2]bool
	err    [2]error
	took   [2]time.Duration
}

// look sees which waits have ended.
func (p *pair) look() {
	synctest.Wait()
	for i, end := range p.ends {
		select {
		case err := <-end:
			p.err[i], p.ended[i] = err, true
		default:
		}
	}
}

// differential is one history.
type differential struct {
	*rand.Rand
	x       *xrate
	theirs  *rate.Limiter
	ours    *limiters.TokenBucket
	start   time.Time
	pairs   []*pair
	log     strings.Builder
	failure string
	counts  map[string]int
}

func (d *differential) fail(format string, args ...any) {
	if d.failure == "" {
		d.failure = fmt.Sprintf(format, args...) + "\n" + d.log.String()
	}
}

func (d *differential) did(op string, format string, args ...any) {
	d.counts[op]++
	fmt.Fprintf(&d.log, "%v: %s\n", time.Since(d.start), fmt.Sprintf(format, args...))
}

// near reports whether two durations are within a nanosecond, and what floats may
// be off.
func (d *differential) near(a, b time.Duration) bool {
	const ages = 290 * 365 * 24 * time.Hour
	return a > ages && b > ages || math.Abs(float64(a-b)) <= 1+math.Floor(d.x.offNS()+float64(max(a, b))*0x1p-50)
}

// class tells errors apart.
func class(err error) string {
	switch {
	case err == nil:
		return "nil"
	case errors.Is(err, limiters.ErrDeadline) || strings.Contains(err.Error(), "would exceed context deadline"):
		return "too late"
	case errors.Is(err, limiters.ErrBurst) || strings.Contains(err.Error(), "exceeds limiter's burst"):
		return "burst"
	}
	return err.Error()
}

// step does one operation on both. It returns false if what follows cannot be
// compared.
func (d *differential) step() bool {
	now := time.Now()
	t := int64(now.Sub(d.start))
	n := int64(1 + d.IntN(int(min(d.x.burst, 6))+1))
	if d.IntN(20) == 0 {
		n = int64(d.IntN(math.MaxInt32))
	}
	switch op := d.IntN(16); {
	case op < 4:
		wait, sure := d.x.wait(t, n)
		ours, theirs := d.ours.AllowN(now, int(n)), d.theirs.AllowN(now, int(n))
		if op == 0 && n == 1 {
			d.did("Allow", "AllowN(1) = %v", ours)
		} else {
			d.did("AllowN", "AllowN(%d) = %v", n, ours)
		}
		if n <= d.x.burst && !sure {
			return ours == theirs && d.follow(ours, t, n, wait)
		}
		want := n <= d.x.burst && wait != nil && wait.Cmp(rat(1)) < 0
		if ours != want || theirs != want {
			d.fail("AllowN(%d): ours %v, theirs %v, want %v", n, ours, theirs, want)
		}
		return d.follow(ours, t, n, wait)
	case op < 8:
		wait, sure := d.x.wait(t, n)
		p := &pair{ours: d.ours.ReserveN(now, int(n)), theirs: d.theirs.ReserveN(now, int(n))}
		ours, theirs := p.ours.DelayFrom(now), p.theirs.DelayFrom(now)
		d.did("ReserveN", "ReserveN(%d): %v, %v", n, p.ours.OK(), ours)
		if !sure && !d.near(ours, theirs) {
			return false
		}
		if p.ours.OK() != (n <= d.x.burst) || p.theirs.OK() != p.ours.OK() || !d.near(ours, theirs) {
			d.fail("ReserveN(%d): ours %v %v, theirs %v %v", n, p.ours.OK(), ours, p.theirs.OK(), theirs)
		}
		if !p.ours.OK() {
			return true
		}
		p.xreservation = d.x.take(t, n, wait)
		d.pairs = append(d.pairs, p)
		return sure
	case op < 11 && len(d.pairs) > 0:
		p := d.pairs[d.IntN(len(d.pairs))]
		if d.IntN(2) == 0 {
			p = d.pairs[len(d.pairs)-1]
		}
		if p.settled {
			return true
		}
		p.settled = true
		if p.look(); p.ended[0] || p.ended[1] { // waits, that are through
			return p.ended[0] == p.ended[1]
		}
		sure := d.x.cancel(p.xreservation, t)
		if p.cancel != nil {
			d.did("cancel Wait", "cancel Wait(%d)", p.n)
			p.cancel()
			p.look()
			if sure && class(p.err[0]) != class(p.err[1]) {
				d.fail("cancelled WaitN(%d): ours %v, theirs %v", p.n, p.err[0], p.err[1])
			}
			return sure
		}
		d.did("Cancel", "Cancel(%d)", p.n)
		p.ours.CancelAt(now)
		p.theirs.CancelAt(now)
		return sure
	case op < 13:
		return d.wait(now, t, n)
	case op == 13:
		r := limits[d.IntN(len(limits))]
		d.did("SetLimit", "SetLimit(%v)", float64(r))
		d.ours.SetLimitAt(now, limiters.Limit(r))
		d.theirs.SetLimitAt(now, r)
		d.x.tokens, d.x.last = d.x.at(t), t
		d.x.setLimit(r)
		for _, p := range d.pairs {
			p.settled = true // To cancel it now is not sane.
		}
	case op == 14:
		b := int64(d.IntN(10))
		d.did("SetBurst", "SetBurst(%d)", b)
		d.ours.SetBurstAt(now, int(b))
		d.theirs.SetBurstAt(now, int(b))
		d.x.tokens, d.x.last = d.x.at(t), t
		for _, p := range d.pairs {
			p.settled = p.settled || b < d.x.burst
		}
		if d.x.burst = b; d.x.tokens.Cmp(rat(b)) > 0 {
			d.x.tokens.SetInt64(b)
		}
		d.x.round(d.x.tokens)
	default:
		d.did("Tokens", "TokensAt")
	}
	ours, theirs := d.ours.TokensAt(now), d.theirs.TokensAt(now)
	if math.Abs(ours-theirs) > d.x.off+1e-9 {
		d.fail("TokensAt: ours %v, theirs %v", ours, theirs)
	}
	return true
}

// follow takes what was granted.
func (d *differential) follow(granted bool, t, n int64, wait *big.Rat) bool {
	if granted && d.failure == "" {
		if wait == nil {
			wait = new(big.Rat)
		}
		d.x.take(t, n, wait)
	}
	return true
}

// wait begins a Wait on both, with a context that is done, will be cancelled by
// hand, or has a deadline.
func (d *differential) wait(now time.Time, t, n int64) bool {
	if d.IntN(2) == 0 {
		n = 1
	}
	wait, sure := d.x.wait(t, n)
	ctx, cancel := context.WithCancel(context.Background())
	kind := "no deadline"
	switch d.IntN(4) {
	case 0:
		kind = "done"
		cancel()
	case 1:
		timeout := time.Duration(d.IntN(int(4 * time.Second)))
		kind = timeout.String()
		ctx, cancel = context.WithTimeout(context.Background(), timeout)
		if wait == nil {
			break
		}
		if gap := new(big.Rat).Sub(wait, rat(int64(timeout))); d.x.close(gap, 2) {
			cancel()
			return true
		}
	}
	p := &pair{cancel: cancel}
	for i, wait := range []func(context.Context, int) error{d.ours.WaitN, d.theirs.WaitN} {
		p.ends[i] = make(chan error, 1)
		go func() {
			err := wait(ctx, int(n))
			p.took[i] = time.Since(now)
			p.ends[i] <- err
		}()
		p.look()
	}
	d.did("WaitN", "WaitN(%d), %s: ended %v, %v", n, kind, p.ended[0], p.err[0])
	if p.ended[0] != p.ended[1] || class(p.err[0]) != class(p.err[1]) {
		if !sure {
			cancel()
			return false
		}
		d.fail("WaitN(%d): ours ended %v, %v, theirs %v, %v", n, p.ended[0], p.err[0], p.ended[1], p.err[1])
	}
	if p.err[0] == nil { // waiting, or through
		p.xreservation = d.x.take(t, n, wait)
		if !p.ended[0] {
			d.pairs = append(d.pairs, p)
			return sure
		}
	}
	cancel()
	return sure
}

// limits are those that are drawn: with whole intervals and without, fast and slow.
var limits = []rate.Limit{1, 10, 3, 10. / 13, 0.3, 100, 1e3, 12345.678, 1e6, 0.001, 0, rate.Every(7 * time.Millisecond), rate.Every(time.Hour)}

// history runs one history in a bubble.
func history(t *testing.T, seed uint64, counts map[string]int) {
	synctest.Test(t, func(t *testing.T) {
		d := &differential{Rand: rand.New(rand.NewPCG(seed, 5)), start: time.Now(), counts: counts}
		r, b := limits[d.IntN(len(limits))], d.IntN(10)
		d.x, d.theirs, d.ours = newXrate(r, b), rate.NewLimiter(r, b), limiters.NewTokenBucket(limiters.Limit(r), b)
		fmt.Fprintf(&d.log, "limit %v, burst %d\n", float64(r), b)
		// Its first call finds a bucket that was last seen in the year 1.
		d.theirs.SetLimitAt(d.start, r)
		for range 40 {
			interval := 1e9
			if f, _ := d.x.rate.Float64(); f > 0 {
				interval = 1 / f
			}
			switch d.IntN(6) {
			case 0:
				time.Sleep(time.Duration(interval * d.Float64() * 3))
			case 1:
				time.Sleep(time.Duration(math.Ceil(interval * float64(d.IntN(3)))))
			case 2:
				time.Sleep(time.Duration(interval*float64(d.IntN(4))) + time.Duration(d.IntN(3)))
			}
			synctest.Wait()
			if !d.step() || d.failure != "" {
				counts["cut short"]++
				break
			}
		}
		for _, p := range d.pairs {
			if p.cancel == nil {
				continue
			}
			if p.look(); p.ended[0] && p.ended[1] && (class(p.err[0]) != class(p.err[1]) || !d.near(p.took[0], p.took[1])) && !p.settled {
				d.fail("WaitN(%d): ours %v after %v, theirs %v after %v", p.n, p.err[0], p.took[0], p.err[1], p.took[1])
			}
			p.cancel()
		}
		counts["histories"]++
		if d.failure != "" {
			t.Errorf("PEERS_SEED=%d: %s", seed, d.failure)
		}
	})
}

// On histories that make sense to x/time/rate (time does not go back, n > 0, the
// limit is finite, reservations are cancelled once and under the limit and burst
// that they were made under) TokenBucket decides as it does, wherever rounding
// errors leave no doubt, with delays within a nanosecond. ESCAPEMENT_PROVE=all runs
// 100,000; PEERS_SEED=n runs one.
func TestXTime_differential(t *testing.T) {
	if s := os.Getenv("PEERS_SEED"); s != "" {
		seed, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		history(t, seed, map[string]int{})
		return
	}
	n := 2000
	switch {
	case os.Getenv("ESCAPEMENT_PROVE") == "all":
		n = 100_000
	case testing.Short():
		n = 500
	}
	counts := map[string]int{}
	for seed := range uint64(n) {
		if history(t, seed, counts); t.Failed() {
			return
		}
	}
	t.Logf("%d histories: %v", n, counts)
	for _, op := range []string{"Allow", "AllowN", "ReserveN", "Cancel", "WaitN", "cancel Wait", "SetLimit", "SetBurst"} {
		if counts[op] < n/4 {
			t.Errorf("%s: only %d of them", op, counts[op])
		}
	}
}
