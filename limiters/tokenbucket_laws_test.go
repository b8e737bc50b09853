package limiters

import (
	"fmt"
	"math"
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/escapement-go/escapement/internal/prove"
)

// world is a token bucket in rational numbers. It does not decide; it is told.
type world struct {
	tokens *big.Rat
	rate   *big.Rat // in tokens per nanosecond; nil: infinite
	burst  int64
	newest time.Duration
	fresh  bool // no instant yet
	flow   *big.Rat
}

func newWorld(r Limit, b int) *world {
	w := &world{burst: int64(max(b, 0)), fresh: true, flow: new(big.Rat)}
	w.tokens = new(big.Rat).SetInt64(w.burst)
	w.limit(r)
	return w
}

func (w *world) limit(r Limit) {
	switch {
	case math.IsNaN(float64(r)) || r < 0x1p-34:
		w.rate = new(big.Rat)
	case r >= Inf:
		w.rate = nil
	default:
		w.rate = new(big.Rat).SetFloat64(float64(r))
		w.rate.Quo(w.rate, big.NewRat(1e9, 1))
	}
}

func (w *world) clone() *world {
	c := *w
	c.tokens, c.flow = new(big.Rat).Set(w.tokens), new(big.Rat).Set(w.flow)
	return &c
}

// to moves on to t, unless that is in the past.
func (w *world) to(t time.Duration) {
	if !w.fresh && t > w.newest {
		if w.rate == nil {
			w.tokens.SetInt64(w.burst)
		} else {
			flow := new(big.Rat).Mul(w.rate, new(big.Rat).SetInt64(int64(t-w.newest)))
			w.flow.Add(w.flow, flow)
			w.tokens.Add(w.tokens, flow)
			w.cap()
		}
	}
	if w.fresh || t > w.newest {
		w.newest, w.fresh = t, false
	}
}

func (w *world) cap() {
	if b := new(big.Rat).SetInt64(w.burst); w.tokens.Cmp(b) > 0 {
		w.tokens.Set(b)
	}
}

func (w *world) add(n *big.Rat) {
	w.tokens.Add(w.tokens, n)
	w.cap()
}

// slack is what rates and tokens rounded to float64s may be off.
func (w *world) slack() *big.Rat {
	s := new(big.Rat).Add(w.flow, new(big.Rat).SetInt64(w.burst))
	return s.Mul(s.Add(s, big.NewRat(1, 1)), big.NewRat(1, 1<<48))
}

// An event is one that was granted, or reserved and not cancelled in time.
type event struct {
	at time.Duration
	n  int64
}

// held is a reservation, and the world as it would be without it.
type held struct {
	*Reservation
	event
	without   *world
	after     int64 // tokens taken since
	cancelled bool  // in time
	over      bool  // cancelled, or too late to
	shared    bool  // others were cancelled, after a change of limit or burst
	changed   bool  // limit or burst, since
	ahead     int64 // room when those act that have begun to wait since that
}

// history drives a TokenBucket and judges every step.
type history struct {
	*rapid.T
	l       *TokenBucket
	w       *world
	limit   Limit
	start   time.Time
	held    []*held
	events  []event
	changed bool // limit or burst
	at      time.Duration
}

func (h *history) fail(op string, format string, args ...any) {
	h.Helper()
	h.Fatalf("%s at %v, with %s tokens: %s", op, h.at, h.w.tokens.FloatString(12), fmt.Sprintf(format, args...))
}

// all is done to the world, and to those that have one reservation less.
func (h *history) all(f func(*world)) {
	f(h.w)
	for _, r := range h.held {
		f(r.without)
	}
}

func (h *history) take(n int64) {
	amount := new(big.Rat).SetInt64(-n)
	h.all(func(w *world) { w.to(h.at); w.add(amount) })
	for _, r := range h.held {
		r.after += n
	}
}

// there returns the tokens that there are, after a look that changes nothing.
func (h *history) there() *world {
	w := h.w.clone()
	w.to(h.at)
	return w
}

func (h *history) state() any {
	l := h.l
	return [...]any{l.limit, l.burst, l.at, l.left, l.phase, l.frac, l.last, l.ledger}
}

// enough compares the tokens that there will be by the next nanosecond with n: 1
// is enough, -1 too few, 0 too close to tell.
func enough(w *world, n int64) int {
	margin := new(big.Rat).Add(w.tokens, w.rate)
	margin.Sub(margin, new(big.Rat).SetInt64(n))
	if abs := new(big.Rat).Abs(margin); abs.Cmp(w.slack()) <= 0 {
		return 0
	}
	return margin.Sign()
}

func (h *history) allow(n int) {
	there, before := h.there(), h.state()
	got := h.l.AllowN(h.start.Add(h.at), n)
	op := fmt.Sprintf("AllowN(%d) = %v", n, got)
	switch {
	case n <= 0 && got != (n == 0), n > 0 && h.w.rate == nil && !got:
		h.fail(op, "want %v", !got)
	case n > 0 && h.w.rate != nil:
		if int64(n) > h.w.burst && got {
			h.fail(op, "burst is %d", h.w.burst)
		}
		if int64(n) <= h.w.burst {
			if e := enough(there, int64(n)); got && e < 0 || !got && e > 0 {
				h.fail(op, "there are %s", there.tokens.FloatString(12))
			}
		}
	}
	if (!got || n <= 0 || h.w.rate == nil) && before != h.state() {
		h.fail(op, "the state has changed")
	}
	if got && n > 0 && h.w.rate != nil {
		h.take(int64(n))
		h.events = append(h.events, event{h.w.newest, int64(n)})
	}
}

func (h *history) reserve(n int) {
	there, before := h.there(), h.state()
	r := h.l.ReserveN(h.start.Add(h.at), n)
	op := fmt.Sprintf("ReserveN(%d): OK %v, delay %v", n, r.OK(), r.DelayFrom(h.start.Add(h.at)))
	if r.OK() != (n >= 0 && (int64(n) <= h.w.burst || h.w.rate == nil)) {
		h.fail(op, "burst is %d", h.w.burst)
	}
	if !r.OK() || n == 0 || h.w.rate == nil {
		if before != h.state() {
			h.fail(op, "the state has changed")
		}
		want := InfDuration
		if r.OK() {
			want = 0
		}
		if r.DelayFrom(h.start.Add(h.at)) != want {
			h.fail(op, "want %v", want)
		}
		before := h.l.TokensAt(h.start.Add(h.at))
		if r.CancelAt(h.start.Add(h.at)); before != h.l.TokensAt(h.start.Add(h.at)) {
			h.fail(op, "Cancel gives back what was not taken")
		}
		return
	}
	// The delay is what is missing, divided by the rate and rounded down.
	delay := r.DelayFrom(h.start.Add(there.newest))
	missing := new(big.Rat).Sub(new(big.Rat).SetInt64(int64(n)), there.tokens)
	off := func(by *big.Rat, d time.Duration) bool { // are there missing+by tokens after d?
		flow := new(big.Rat).Mul(there.rate, new(big.Rat).SetInt64(int64(d)))
		return flow.Cmp(new(big.Rat).Add(missing, by)) >= 0
	}
	slack := there.slack()
	slack.Add(slack, new(big.Rat).Mul(new(big.Rat).Abs(missing), big.NewRat(1, 1<<48)))
	if delay < InfDuration-2 && !off(new(big.Rat).Neg(slack), delay+1) {
		h.fail(op, "too early: there are %s", there.tokens.FloatString(12))
	}
	if delay > 0 && off(slack, delay-1) {
		h.fail(op, "too late: there are %s", there.tokens.FloatString(12))
	}
	without := h.there()
	h.take(int64(n))
	act := time.Duration(math.MaxInt64)
	if delay < InfDuration {
		act = there.newest + delay
	}
	for _, other := range h.held {
		if other.changed && delay > 0 {
			other.ahead = min(other.ahead, h.w.burst-int64(n))
		}
	}
	h.held = append(h.held, &held{Reservation: r, event: event{act, int64(n)}, without: without, ahead: math.MaxInt64})
}

func (h *history) cancel(i int) {
	r := h.held[i]
	there := h.there()
	at := h.start.Add(there.newest)
	tokens := func() *big.Rat { return new(big.Rat).SetFloat64(h.l.TokensAt(at)) }
	if got := new(big.Rat).Sub(tokens(), there.tokens); got.Abs(got).Cmp(there.slack()) > 0 {
		h.fail("TokensAt", "there are %s, got %v", there.tokens.FloatString(12), h.l.TokensAt(at))
	}
	before := h.l.TokensAt(at)
	r.CancelAt(h.start.Add(h.at))
	after := h.l.TokensAt(at)
	op := fmt.Sprintf("Cancel(%d, n=%d, act=%v): %v, then %v", i, r.n0(), r.at, before, after)
	if before == after {
		if !r.over && r.at >= there.newest && h.w.rate != nil {
			h.atLeast(op, r, there, new(big.Rat))
		}
	} else {
		back := new(big.Rat).Sub(tokens(), there.tokens)
		slack := there.slack()
		if r.over {
			h.fail(op, "it was cancelled before")
		}
		if r.at < there.newest {
			h.fail(op, "too late")
		}
		if new(big.Rat).Add(back, slack).Sign() < 0 {
			h.fail(op, "takes tokens")
		}
		h.atLeast(op, r, there, back)
		h.all(func(w *world) { w.to(h.at) })
		if most := new(big.Rat).Add(r.without.tokens, slack); tokens().Cmp(most) > 0 {
			h.fail(op, "without it there would be %s", r.without.tokens.FloatString(12))
		}
		h.all(func(w *world) { w.add(back) })
		for _, other := range h.held {
			other.shared = other.shared || h.changed
		}
		h.w.tokens = tokens()
	}
	r.cancelled = r.cancelled || !r.over && r.at >= there.newest
	r.over = true
}

func (r *held) n0() int64 { return r.event.n }

// atLeast checks that enough was given back: all but what was taken since, and
// what would have been lost without the reservation too, or would be when others act.
func (h *history) atLeast(op string, r *held, there *world, back *big.Rat) {
	if r.shared {
		return // What both would have lost together, each would not have alone.
	}
	w := r.without.clone()
	w.to(h.at)
	least := new(big.Rat).SetInt64(min(r.event.n-r.after, r.ahead))
	if room := new(big.Rat).Sub(w.tokens, there.tokens); room.Cmp(least) < 0 {
		least = room
	}
	if least.Sub(least, there.slack()); back.Cmp(least) < 0 {
		h.fail(op, "too little, %d were taken since, and without it there would be %s", r.after, w.tokens.FloatString(12))
	}
}

func (h *history) setLimit(r Limit) {
	h.l.SetLimitAt(h.start.Add(h.at), r)
	h.all(func(w *world) { w.to(h.at); w.limit(r) })
	h.limit = r
	h.change()
}

func (h *history) setBurst(b int) {
	h.l.SetBurstAt(h.start.Add(h.at), b)
	h.all(func(w *world) { w.to(h.at); w.burst = int64(max(b, 0)); w.cap() })
	h.change()
}

func (h *history) change() {
	h.changed = true
	for _, r := range h.held {
		r.changed = true
	}
}

// envelope checks all windows that begin and end with an event.
func (h *history) envelope(r Limit, b int) {
	events := h.events
	for _, r := range h.held {
		if !r.cancelled && r.at < math.MaxInt64/2 {
			events = append(events, r.event)
		}
	}
	for _, first := range events {
		for _, last := range events {
			if last.at < first.at {
				continue
			}
			sum := int64(0)
			for _, e := range events {
				if e.at >= first.at && e.at <= last.at {
					sum += e.n
				}
			}
			most := new(big.Rat).SetInt64(int64(last.at - first.at + 1))
			most.Mul(most, h.w.rate).Add(most, new(big.Rat).SetInt64(int64(b))).Add(most, h.w.slack())
			if most.Cmp(new(big.Rat).SetInt64(sum)) < 0 {
				h.fail("envelope", "%d in [%v, %v], want at most %s", sum, first.at, last.at, most.FloatString(6))
			}
		}
	}
}

// However time goes, and with whatever numbers: the laws hold.
func TestTokenBucket_laws(t *testing.T) {
	prove.SameSeed(t)
	rounds := prove.Long(1, 1000)
	for range rounds {
		t.Run("one limit", rapid.MakeCheck(func(t *rapid.T) { laws(t, false) }))
		t.Run("limits", rapid.MakeCheck(func(t *rapid.T) { laws(t, true) }))
	}
}

func laws(t *rapid.T, sets bool) {
	limits := rapid.SampledFrom([]Limit{1, 10, 3, 10. / 13, 1000, 0.01, 1e9, 3e9, 0})
	odd := rapid.SampledFrom([]Limit{Inf, Limit(math.NaN()), Limit(math.Inf(1)), -1, 1e-12, 1e12})
	r := limits.Draw(t, "limit")
	b := rapid.IntRange(0, 10).Draw(t, "burst")
	h := &history{T: t, l: NewTokenBucket(r, b), w: newWorld(r, b), limit: r,
		start: rapid.SampledFrom([]time.Time{{}, time.Unix(0, 0), t0}).Draw(t, "start")}
	ops := []string{"allow", "allow", "reserve", "reserve", "reserve", "cancel", "cancel"}
	if sets {
		ops = append(ops, "limit", "burst", "inf")
	}
	for i := range rapid.IntRange(1, 40).Draw(t, "steps") {
		interval := float64(time.Second)
		if f := float64(h.limit); f > 1e-6 && f < 1e9 {
			interval /= f
		}
		switch rapid.IntRange(0, 9).Draw(t, "time") {
		case 0, 1, 2: // stays
		case 3:
			h.at++
		case 4, 5:
			h.at += time.Duration(interval * float64(rapid.IntRange(1, 4).Draw(t, "intervals")))
		case 6, 7:
			h.at += time.Duration(interval * rapid.Float64Range(0, 2).Draw(t, "part"))
		case 8:
			h.at += time.Duration(interval * float64(h.w.burst+1))
		case 9:
			h.at -= time.Duration(interval * rapid.Float64Range(0, 10).Draw(t, "back"))
		}
		n := rapid.OneOf(rapid.IntRange(1, 4), rapid.IntRange(1, 4), rapid.IntRange(1, 10),
			rapid.SampledFrom([]int{0, -1, math.MinInt, math.MaxInt})).Draw(t, "n")
		switch op := rapid.SampledFrom(ops).Draw(t, fmt.Sprint("op", i)); {
		case op == "allow":
			h.allow(n)
		case op == "reserve":
			h.reserve(n)
		case op == "cancel" && len(h.held) > 0:
			h.cancel(rapid.IntRange(0, len(h.held)-1).Draw(t, "which"))
		case op == "limit":
			h.setLimit(limits.Draw(t, "limit"))
		case op == "inf":
			h.setLimit(odd.Draw(t, "limit"))
		case op == "burst":
			h.setBurst(rapid.IntRange(-1, 12).Draw(t, "burst"))
		}
	}
	if !sets {
		h.envelope(r, b)
	}
}
