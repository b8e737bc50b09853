package conformance

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// choosyQuota is a limiter of each kind that remembers every request that counts, and
// works out from all of them what is left.
type choosyQuota struct {
	kind   QuotaKind
	cfg    QuotaConfig
	traits QuotaTraits
	whims  quotaWhims

	mu     sync.Mutex
	anchor time.Time // where the first window begins
	began  bool      // it is known
	open   time.Time // the window that a request opened, if one did
	newest time.Time
	asked  bool
	past   []choosyTaken
	tokens *big.Rat // of GCRA, at the instant filled
	filled time.Time
	used   bool // filled is set
}

type choosyTaken struct {
	at     time.Time
	window time.Time // in which it was taken
	n      int
}

// quotaWhims is what no trait is about.
type quotaWhims struct {
	made   bool // the constructor begins the first window, where windows have a beginning of their own
	odd    bool // what can never be granted opens windows too, and counts if denied requests do
	past   bool // instants of requests that are denied count as the newest as well
	before bool // where windows include their ends, the beginning of the first is the end of one before
	peeks  bool // there is a Peek
	stops  bool // there is a Stop
}

func newChoosyQuota(kind QuotaKind, cfg QuotaConfig, tr QuotaTraits, w quotaWhims, start time.Time) *choosyQuota {
	if cfg.Window > math.MaxInt64/8 {
		panic("choosyQuota: it counts four windows back")
	}
	q := &choosyQuota{kind: kind, cfg: cfg, traits: tr, whims: w, tokens: fraction64(cfg.Burst)}
	if w.made {
		q.began, q.anchor = true, q.cut(start)
		q.open = q.anchor
	}
	return q
}

// cut is t as the limiter sees it.
func (q *choosyQuota) cut(t time.Time) time.Time {
	if q.traits.Grain > 0 {
		return t.Truncate(q.traits.Grain)
	}
	return t
}

func (q *choosyQuota) full() int {
	if q.kind == GCRA {
		return q.cfg.Burst
	}
	return q.cfg.Limit
}

// outside reports whether something of that age is not in the window any more.
func (q *choosyQuota) outside(age time.Duration) bool {
	return age > q.cfg.Window || age == q.cfg.Window && q.traits.Edge != EdgeClosed
}

// window is where the window of t begins.
func (q *choosyQuota) window(t time.Time) time.Time {
	switch q.traits.Align {
	case AlignFirstUse:
		if !q.began || q.outside(t.Sub(q.open)) {
			return t // it would begin now
		}
		return q.open
	case AlignCreation:
		if !q.began {
			return t
		}
		since := t.Sub(q.anchor)
		n := since / q.cfg.Window
		if q.kind == FixedWindow && q.traits.Edge == EdgeClosed && since%q.cfg.Window == 0 && (n > 0 || q.whims.before) {
			n--
		}
		return q.anchor.Add(n * q.cfg.Window)
	}
	start := t.Truncate(q.cfg.Window)
	if q.kind == FixedWindow && q.traits.Edge == EdgeClosed && start.Equal(t) {
		return start.Add(-q.cfg.Window)
	}
	return start
}

// room is how many more fit at t, no earlier than any other that was asked about.
func (q *choosyQuota) room(t time.Time) *big.Rat {
	if q.kind == GCRA {
		return q.level(t)
	}
	left := fraction64(q.cfg.Limit)
	take := func(n, of, per int64) { left.Sub(left, new(big.Rat).Mul(fraction64(int(n)), big.NewRat(of, per))) }
	now := q.window(t)
	for _, e := range q.past {
		switch {
		case q.kind == SlidingLog && !q.outside(t.Sub(e.at)), q.kind != SlidingLog && e.window.Equal(now):
			take(int64(e.n), 1, 1)
		case q.kind == SlidingCounter && e.window.Add(q.cfg.Window).Equal(now):
			take(int64(e.n), int64(q.cfg.Window-t.Sub(now)), int64(q.cfg.Window))
		}
	}
	return left
}

// level is the tokens of GCRA at t.
func (q *choosyQuota) level(t time.Time) *big.Rat {
	if !q.used {
		return q.tokens
	}
	more := new(big.Rat).Mul(fraction64(int(t.Sub(q.filled))), big.NewRat(int64(q.cfg.Limit), int64(q.cfg.Window)))
	if more.Add(more, q.tokens); more.Cmp(fraction64(q.cfg.Burst)) > 0 {
		return fraction64(q.cfg.Burst)
	}
	return more
}

// until is how long after t, as the limiter sees it, n fit, if nothing else is granted.
func (q *choosyQuota) until(t time.Time, n int) time.Duration {
	if q.kind == GCRA {
		short := new(big.Rat).Sub(fraction64(n), q.room(t))
		short.Mul(short, big.NewRat(int64(q.cfg.Window), int64(q.cfg.Limit)))
		up := new(big.Int).Add(short.Num(), new(big.Int).Sub(short.Denom(), big.NewInt(1)))
		return max(0, time.Duration(new(big.Int).Div(up, short.Denom()).Int64()))
	}
	best := time.Duration(math.MaxInt64)
	later := []time.Time{t}
	for _, e := range q.past {
		later = append(later, e.at.Add(q.cfg.Window), e.window.Add(q.cfg.Window))
	}
	for _, at := range later {
		for _, at := range []time.Time{at, at.Add(1)} {
			if d := at.Sub(t); d >= 0 && d < best && q.room(at).Cmp(fraction64(n)) >= 0 {
				best = d
			}
		}
	}
	return best
}

// take answers a request for n, or a look if peek is true.
func (q *choosyQuota) take(t time.Time, n int, peek bool) Answer {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.traits.Single && n != 1 && !peek {
		panic("choosyQuota: one at a time")
	}
	t = q.cut(t)
	old := q.asked && t.Before(q.newest)
	if old {
		t = q.newest
	}
	ordinary := !peek && n > 0 && n <= q.full()
	if ordinary || !peek && q.whims.odd {
		if !q.began || q.traits.Align == AlignFirstUse && q.outside(t.Sub(q.open)) {
			q.open = t
			if !q.began {
				q.began, q.anchor = true, t
			}
		}
	}
	ok := n <= 0 || n <= q.full() && q.room(t).Cmp(fraction64(n)) >= 0
	if n < 0 || old && q.traits.BackTime == BackReject {
		ok = false
	}
	a := Answer{OK: ok, RetryAfter: -7, ResetAfter: -7, Remaining: -7} // those that nobody declares are nonsense
	if !ok && q.traits.Answers&AnswersRetry != 0 {
		a.RetryAfter = q.retry(t, n)
	}
	counts := ok || q.traits.Denied == DeniedCounted && (ordinary || q.whims.odd)
	if !peek && n > 0 && counts && !(old && !ok) {
		q.past = append(q.past, choosyTaken{t, q.window(t), n})
		for t.Sub(q.past[0].at) > 4*q.cfg.Window {
			q.past = q.past[1:]
		}
		if q.kind == GCRA {
			q.tokens = new(big.Rat).Sub(q.level(t), fraction64(n))
			q.filled, q.used = t, true
		}
	}
	if !peek && (ok || q.whims.past) {
		q.newest, q.asked = t, true
	}
	if q.traits.Answers&AnswersReset != 0 {
		a.ResetAfter = q.until(t, q.full())
	}
	if q.traits.Answers&AnswersRemaining != 0 {
		if room := q.room(t); room.Sign() > 0 {
			a.Remaining = whole(room)
		} else {
			a.Remaining = 0
		}
	}
	return a
}

func (q *choosyQuota) retry(t time.Time, n int) time.Duration {
	switch {
	case n <= q.full():
		return q.until(t, n)
	case q.traits.TooLarge == TooLargeNegative:
		return -1
	case q.traits.TooLarge == TooLargeForever:
		return math.MaxInt64
	}
	return 0
}

func choosyQuotaSpec(kind QuotaKind, source TimeSource, tr QuotaTraits, w quotaWhims) QuotaSpec {
	return QuotaSpec{
		Name: "a choosy " + kind.String(), Time: source, Kind: kind, Traits: tr,
		New: func(env Env, cfg QuotaConfig) QuotaFuncs {
			q := newChoosyQuota(kind, cfg, tr, w, env.Start)
			f := QuotaFuncs{
				Take:   func(n int) Answer { return q.take(env.Clock.Now(), n, false) },
				TakeAt: func(t time.Time, n int) Answer { return q.take(t, n, false) },
			}
			if w.peeks {
				f.Peek = func() Answer { return q.take(env.Clock.Now(), 0, true) }
				f.PeekAt = func(t time.Time) Answer { return q.take(t, 0, true) }
			}
			if w.stops {
				f.Stop = func() {}
			}
			return f
		},
	}
}

// chosenQuotas are limiters with choices drawn from a seed, which is always the same.
func chosenQuotas(n int) []QuotaSpec {
	rnd := rand.New(rand.NewPCG(2, 2))
	var out []QuotaSpec
	for i := range n {
		pick := func(of int) int { return 1 + (i/4+rnd.IntN(of))%of }
		coin := func() bool { return rnd.IntN(2) == 0 }
		kind, source := QuotaKind(1+i%4), []TimeSource{Explicit, Injected, PackageTime}[rnd.IntN(3)]
		tr := QuotaTraits{
			Edge: Edge(pick(2)), Align: Align(pick(3)), Denied: Denied(pick(2)), TooLarge: TooLarge(pick(3)), BackTime: BackTime(pick(3)),
			Answers: Answers(rnd.IntN(8)), Single: rnd.IntN(4) == 0, Grain: []time.Duration{0, 0, 0, time.Microsecond, time.Millisecond}[rnd.IntN(5)],
		}
		switch {
		case kind == GCRA: // it has no windows
			tr.Edge, tr.Align, tr.Denied = 0, 0, 0
		case kind == SlidingCounter && tr.Align == AlignFirstUse:
			tr.Align = AlignCreation
		}
		if kind == SlidingCounter {
			tr.Edge = 0
		}
		if kind == SlidingLog {
			tr.Align = 0
		}
		w := quotaWhims{made: coin(), odd: coin(), past: coin(), before: coin(), peeks: coin(), stops: coin()}
		spec := choosyQuotaSpec(kind, source, tr, w)
		spec.Name = fmt.Sprintf("%s %d", spec.Name, i)
		out = append(out, spec)
	}
	return out
}

// Whatever a correct limiter of a kind chooses, and declares, it passes.
func TestChoices_quotas(t *testing.T) {
	tryAll(t, chosenQuotas(fewChoices()), RunQuota, func(s QuotaSpec) (string, TimeSource, any) { return s.Name, s.Time, s.Traits })
}
