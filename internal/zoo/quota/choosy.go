package quota

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"sync"
	"time"

	qt "github.com/escapement-go/escapement/conformance/quotatest"
)

// choosy is a limiter of any kind that makes the choices that it is told to make. It
// remembers every request that counts, and works out from all of them what is left.
type choosy struct {
	kind   qt.Kind
	cfg    qt.Config
	traits qt.Traits
	whims  whims

	mu     sync.Mutex
	anchor time.Time // where the first window begins
	began  bool      // it is known
	open   time.Time // the window that a request opened, if one did
	newest time.Time
	asked  bool
	past   []counted
	tokens *big.Rat // of GCRA, at the instant filled
	filled time.Time
	used   bool // filled is set
}

type counted struct {
	at     time.Time
	window time.Time // in which it was taken
	n      int
}

// whims is what no trait is about.
type whims struct {
	made   bool // the constructor begins the first window, unless windows begin on the clock
	odd    bool // what can never be granted begins windows too, and counts if denied requests do
	past   bool // instants of requests that are denied count as the newest as well
	before bool // where windows include their ends and not their starts, so does the first one
	peeks  bool // there is a Peek
	stops  bool // there is a Stop
}

func newChoosy(kind qt.Kind, cfg qt.Config, tr qt.Traits, w whims, start time.Time) *choosy {
	if cfg.Window > math.MaxInt64/8 {
		panic("choosy: it counts four windows back")
	}
	l := &choosy{kind: kind, cfg: cfg, traits: tr, whims: w, tokens: fraction(cfg.Burst)}
	if w.made {
		l.began, l.anchor = true, l.cut(start)
		l.open = l.anchor
	}
	return l
}

// fraction is n as a rational number.
func fraction(n int) *big.Rat { return new(big.Rat).SetInt64(int64(n)) }

// cut is t as the limiter sees it.
func (l *choosy) cut(t time.Time) time.Time {
	if l.traits.Resolution > 0 {
		return t.Truncate(l.traits.Resolution)
	}
	return t
}

func (l *choosy) full() int {
	if l.kind == qt.GCRA {
		return l.cfg.Burst
	}
	return l.cfg.Limit
}

// outside reports whether something of that age is not in the window any more.
func (l *choosy) outside(age time.Duration) bool {
	return age > l.cfg.Window || age == l.cfg.Window && l.traits.Edge != qt.EdgeClosed
}

// window is where the window of t begins.
func (l *choosy) window(t time.Time) time.Time {
	switch l.traits.Align {
	case qt.AlignFirstUse:
		if !l.began || l.outside(t.Sub(l.open)) {
			return t // it would begin now
		}
		return l.open
	case qt.AlignCreation:
		if !l.began {
			return t
		}
		since := t.Sub(l.anchor)
		n := since / l.cfg.Window
		if since < 0 && since%l.cfg.Window != 0 {
			n--
		}
		ends := l.kind == qt.FixedWindow && l.traits.Edge == qt.EdgeClosed && since%l.cfg.Window == 0
		if ends && (n > 0 || l.whims.before) {
			n--
		}
		return l.anchor.Add(n * l.cfg.Window)
	}
	start := onGrid(l.traits.Align, t, l.cfg.Window)
	if l.kind == qt.FixedWindow && l.traits.Edge == qt.EdgeClosed && start.Equal(t) {
		return start.Add(-l.cfg.Window)
	}
	return start
}

// onGrid is the newest whole multiple of a window up to t, counted from the year 1 or from 1970.
func onGrid(align qt.Align, t time.Time, window time.Duration) time.Time {
	if align == qt.AlignEpoch {
		return t.Truncate(window)
	}
	since1970 := time.Unix(0, 0).Sub(time.Unix(0, 0).Truncate(window)) // of the other grid
	return t.Add(-since1970).Truncate(window).Add(since1970)
}

// room is how many more fit at t, no earlier than any other that was asked about.
func (l *choosy) room(t time.Time) *big.Rat {
	if l.kind == qt.GCRA {
		return l.level(t)
	}
	left := fraction(l.cfg.Limit)
	take := func(n, of, per int64) { left.Sub(left, new(big.Rat).Mul(fraction(int(n)), big.NewRat(of, per))) }
	now := l.window(t)
	for _, e := range l.past {
		switch {
		case l.kind == qt.SlidingLog && !l.outside(t.Sub(e.at)), l.kind != qt.SlidingLog && e.window.Equal(now):
			take(int64(e.n), 1, 1)
		case l.kind == qt.SlidingCounter && e.window.Add(l.cfg.Window).Equal(now):
			take(int64(e.n), int64(l.cfg.Window-t.Sub(now)), int64(l.cfg.Window))
		}
	}
	return left
}

// level is the tokens of GCRA at t.
func (l *choosy) level(t time.Time) *big.Rat {
	if !l.used {
		return l.tokens
	}
	more := new(big.Rat).Mul(fraction(int(t.Sub(l.filled))), big.NewRat(int64(l.cfg.Limit), int64(l.cfg.Window)))
	if more.Add(more, l.tokens); more.Cmp(fraction(l.cfg.Burst)) > 0 {
		return fraction(l.cfg.Burst)
	}
	return more
}

// until is how long after t, as the limiter sees it, n fit, if nothing else is granted.
func (l *choosy) until(t time.Time, n int) time.Duration {
	if l.kind == qt.GCRA {
		short := new(big.Rat).Sub(fraction(n), l.room(t))
		short.Mul(short, big.NewRat(int64(l.cfg.Window), int64(l.cfg.Limit)))
		up := new(big.Int).Add(short.Num(), new(big.Int).Sub(short.Denom(), big.NewInt(1)))
		return max(0, time.Duration(new(big.Int).Div(up, short.Denom()).Int64()))
	}
	best := time.Duration(math.MaxInt64)
	later := []time.Time{t}
	for _, e := range l.past {
		later = append(later, e.at.Add(l.cfg.Window), e.window.Add(l.cfg.Window))
	}
	for _, at := range later {
		for _, at := range []time.Time{at, at.Add(1)} {
			if d := at.Sub(t); d >= 0 && d < best && l.room(at).Cmp(fraction(n)) >= 0 {
				best = d
			}
		}
	}
	return best
}

// take answers a request for n, or a look if peek is true.
func (l *choosy) take(t time.Time, n int, peek bool) qt.Answer {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.traits.OneAtATime && n != 1 && !peek {
		panic("choosy: one at a time")
	}
	t = l.cut(t)
	old := l.asked && t.Before(l.newest)
	if old {
		t = l.newest
	}
	ordinary := !peek && n > 0 && n <= l.full()
	if ordinary || !peek && l.whims.odd {
		l.begin(t)
	}
	ok := l.fits(t, n) && !(old && l.traits.BackTime == qt.BackReject)
	retry := unanswered
	if !ok && l.traits.Fields&qt.FieldRetry != 0 {
		retry = l.retry(t, n)
	}
	counts := ok || l.traits.CountDenied == qt.DeniedCounted && (ordinary || l.whims.odd) && !old
	if !peek && n > 0 && counts {
		l.count(t, n)
	}
	if !peek && (ok || l.whims.past) {
		l.newest, l.asked = t, true
	}
	return l.answer(t, ok, retry)
}

// unanswered is the nonsense in fields that are not declared to be answered.
const unanswered time.Duration = -7

// begin begins the window of a request at t, where requests begin windows.
func (l *choosy) begin(t time.Time) {
	if !l.began || l.traits.Align == qt.AlignFirstUse && l.outside(t.Sub(l.open)) {
		l.open = t
	}
	if !l.began {
		l.began, l.anchor = true, t
	}
}

// fits reports whether a request for n at t can be granted. One for nothing can.
func (l *choosy) fits(t time.Time, n int) bool {
	return n == 0 || n > 0 && n <= l.full() && l.room(t).Cmp(fraction(n)) >= 0
}

// count counts a request for n at t.
func (l *choosy) count(t time.Time, n int) {
	l.past = append(l.past, counted{t, l.window(t), n})
	for t.Sub(l.past[0].at) > 4*l.cfg.Window {
		l.past = l.past[1:]
	}
	if l.kind == qt.GCRA {
		l.tokens = new(big.Rat).Sub(l.level(t), fraction(n))
		l.filled, l.used = t, true
	}
}

// answer fills in what is declared to be answered.
func (l *choosy) answer(t time.Time, ok bool, retry time.Duration) qt.Answer {
	a := qt.Answer{OK: ok, RetryAfter: retry, ResetAfter: unanswered, Remaining: int(unanswered)}
	if l.traits.Fields&qt.FieldReset != 0 {
		a.ResetAfter = l.until(t, l.full())
	}
	if l.traits.Fields&qt.FieldRemaining != 0 {
		a.Remaining = 0
		if room := l.room(t); room.Sign() > 0 {
			a.Remaining = int(new(big.Int).Div(room.Num(), room.Denom()).Int64())
		}
	}
	return a
}

// retry is how long a request for n takes from t until it is granted, as declared if that
// is never.
func (l *choosy) retry(t time.Time, n int) time.Duration {
	switch {
	case n <= l.full():
		return l.until(t, n)
	case l.traits.RetryNever == qt.RetryNegative:
		return -1
	case l.traits.RetryNever == qt.RetryForever:
		return math.MaxInt64
	}
	return 0
}

func choosySpec(kind qt.Kind, source qt.TimeSource, tr qt.Traits, w whims) qt.Spec {
	return qt.Spec{
		Name: "a choosy " + kind.String(), Time: source, Kind: kind, Traits: tr,
		New: func(env qt.Env, cfg qt.Config) qt.Funcs {
			l := newChoosy(kind, cfg, tr, w, env.Start)
			f := qt.Funcs{
				Take:   func(n int) qt.Answer { return l.take(env.Clock.Now(), n, false) },
				TakeAt: func(t time.Time, n int) qt.Answer { return l.take(t, n, false) },
			}
			if w.peeks {
				f.Peek = func() qt.Answer { return l.take(env.Clock.Now(), 0, true) }
				f.PeekAt = func(t time.Time) qt.Answer { return l.take(t, 0, true) }
			}
			if w.stops {
				f.Stop = func() {}
			}
			return f
		},
	}
}

// chosen are limiters with choices drawn from a seed, which is always the same. In twelve rounds of the four kinds each
// edge meets each alignment, and is exact.
func chosen(n int) []qt.Spec {
	rnd := rand.New(rand.NewPCG(2, 2))
	sources := []qt.TimeSource{qt.Explicit, qt.Injected, qt.Explicit, qt.PackageTime}
	aligns := []qt.Align{
		qt.AlignEpoch, qt.AlignUnix, qt.AlignCreation, qt.AlignFirstUse, qt.AlignCreation, qt.AlignFirstUse,
	}
	var out []qt.Spec
	for i := range n {
		round, pick := i/4, func(of int) int { return 1 + rnd.IntN(of) }
		coin := func() bool { return rnd.IntN(2) == 0 }
		kind, source := qt.Kind(1+i%4), sources[round%4]
		tr := qt.Traits{
			Edge: qt.Edge(1 + round%2), Align: aligns[round/2%6], CountDenied: qt.CountDenied(pick(2)),
			RetryNever: qt.RetryNever(pick(3)), BackTime: qt.BackTime(1 + round%3),
			Fields: qt.Fields(rnd.IntN(8)), OneAtATime: rnd.IntN(4) == 0,
		}
		if round%3 == 2 {
			tr.Resolution = []time.Duration{time.Microsecond, time.Millisecond}[rnd.IntN(2)]
		}
		switch {
		case kind == qt.GCRA: // it has no windows
			tr.Edge, tr.Align, tr.CountDenied = 0, 0, 0
		case kind == qt.SlidingCounter && tr.Align == qt.AlignFirstUse:
			tr.Align = qt.AlignCreation
		}
		if kind == qt.SlidingCounter {
			tr.Edge = 0
		}
		if kind == qt.SlidingLog {
			tr.Align = 0
		}
		w := whims{made: coin(), odd: coin(), past: coin(), before: round/4%2 == 1, peeks: coin(), stops: coin()}
		w.peeks = w.peeks || tr.Align == qt.AlignFirstUse // a look may begin a window by mistake
		spec := choosySpec(kind, source, tr, w)
		spec.Name = fmt.Sprintf("%s %d", spec.Name, i)
		out = append(out, spec)
	}
	return out
}
