package conformance

import (
	"math"
	"math/big"
	"slices"
	"time"
)

// quotaModel is the definition of a kind: it remembers every request that counted and
// works out from all of them what fits at an instant. Instants are those of the
// schedule.
type quotaModel struct {
	kind    QuotaKind
	limit   int // of a window, or the burst
	window  time.Duration
	t       time.Duration // between two events of GCRA
	edge    Edge
	align   Align
	anchor  time.Duration // where the first window begins, or those that are one after the other
	shut    bool          // the first window has its beginning, though each other has its end instead
	counted bool          // denied requests count
	past    []taken
}

// taken is a request that counts.
type taken struct {
	at time.Duration
	n  int
}

// never is the anchor of windows none of which was opened by the constructor.
const never = math.MinInt64 / 2

// beginning is where the first window begins, and whether it has that instant in it
// though windows have their ends in them.
type beginning struct {
	at time.Duration
	in bool
}

// newQuotaModel returns the model of a configuration, as declared. The beginning is for
// AlignCreation and AlignFirstUse.
func newQuotaModel(kind QuotaKind, cfg Config, tr QuotaTraits, first beginning) *quotaModel {
	m := &quotaModel{kind: kind, limit: cfg.Rate.Events, window: cfg.Rate.Per, edge: tr.Edge, align: tr.Align, anchor: first.at, shut: first.in,
		counted: tr.Denied == DeniedCounted}
	if kind == GCRA {
		m.limit, m.t = cfg.Burst, cfg.Rate.Per/time.Duration(cfg.Rate.Events)
	}
	if tr.Align == AlignEpoch || tr.Align == 0 {
		start := cfg.start()
		m.anchor = -start.Sub(start.Truncate(m.window))
	}
	return m
}

// add remembers a request.
func (m *quotaModel) add(at time.Duration, n int, granted bool) {
	if n > 0 && (granted || m.counted) {
		m.past = append(m.past, taken{at, n})
	}
}

// index is the window that t is in, of those that are one after the other.
func (m *quotaModel) index(t time.Duration) int64 {
	t -= m.anchor
	if m.edge == EdgeClosed && m.kind == FixedWindow && !(m.shut && t == 0) {
		t--
	}
	i := t / m.window
	if t%m.window < 0 {
		i--
	}
	return int64(i)
}

// opened is when the window of t opened, where windows open with a request.
func (m *quotaModel) opened(t time.Duration) (start time.Duration, ok bool) {
	start = m.anchor
	for _, e := range m.past {
		if m.over(e.at - start) {
			start = e.at
		}
	}
	return start, !m.over(t - start)
}

// over reports whether something of that age is outside the window.
func (m *quotaModel) over(age time.Duration) bool {
	return age > m.window || age == m.window && m.edge != EdgeClosed
}

// torn reports whether it hangs on the grain in which window something at t is: there
// is no window then that it can be said to be in.
func (m *quotaModel) torn(t, grain time.Duration) bool {
	if grain == 0 || m.kind != FixedWindow && m.kind != SlidingCounter {
		return false
	}
	before, after := t-grain, t+grain
	if m.align == AlignFirstUse {
		start, _ := m.opened(before)
		return m.over(before-start) != m.over(after-start)
	}
	if m.align == AlignCreation {
		before = max(before, min(t, m.anchor)) // nothing comes before it is made
	}
	return m.index(before) != m.index(after)
}

// settled is from when on it does not matter any more in which window something at t,
// where it hangs on the grain, was.
func (m *quotaModel) settled(t, grain time.Duration) time.Duration {
	if m.align == AlignFirstUse {
		return math.MaxInt64 // each window begins where the last one ended
	}
	windows := time.Duration(1)
	if m.kind == SlidingCounter {
		windows = 2
	}
	return t + windows*m.window + 2*grain
}

// room is how many more events fit at t.
func (m *quotaModel) room(t time.Duration) *big.Rat {
	room := big.NewRat(int64(m.limit), 1)
	take := func(n int) { room.Sub(room, big.NewRat(int64(n), 1)) }
	switch {
	case m.kind == GCRA:
		arrival := t // of the next event, in theory
		for i, e := range m.past {
			if i == 0 || arrival < e.at {
				arrival = e.at
			}
			arrival += time.Duration(e.n) * m.t
		}
		room.Sub(room, big.NewRat(int64(max(0, arrival-t)), int64(m.t)))
	case m.kind == SlidingLog:
		for _, e := range m.past {
			if !m.over(t - e.at) {
				take(e.n)
			}
		}
	case m.kind == FixedWindow && m.align == AlignFirstUse:
		start, ok := m.opened(t)
		for _, e := range m.past {
			if ok && e.at >= start {
				take(e.n)
			}
		}
	default:
		for _, e := range m.past {
			switch m.index(t) - m.index(e.at) {
			case 0:
				take(e.n)
			case 1:
				if m.kind == SlidingCounter {
					since := (t - m.anchor) % m.window
					if since < 0 {
						since += m.window
					}
					fade := big.NewRat(int64(m.window-since), int64(m.window))
					room.Sub(room, fade.Mul(fade, big.NewRat(int64(e.n), 1)))
				}
			}
		}
	}
	return room
}

// capped is the model in which no more than one event above the limit counts in a
// window, however often it is asked in vain: a counter that stops there sees as well
// that nothing fits, and is not locked up for the next window by a flood in this one.
func (m *quotaModel) capped() *quotaModel {
	other := *m
	other.past = nil
	for _, e := range m.past {
		sum := 0
		for _, o := range other.past {
			if m.index(o.at) == m.index(e.at) {
				sum += o.n
			}
		}
		other.past = append(other.past, taken{e.at, min(e.n, m.limit+1-sum)})
	}
	return &other
}

// fits reports whether n events fit at t, and whether that is clear: the same within
// the grain, for the estimate of a SlidingCounter within one event, as it may be
// rounded either way, and for one that counts what it denies also if it stops to.
func (m *quotaModel) fits(t time.Duration, n int, grain time.Duration) (yes, clear bool) {
	yes, clear = m.fit(t, n, grain)
	if m.kind == SlidingCounter && m.counted && clear && !yes {
		other, sure := m.capped().fit(t, n, grain)
		clear = sure && !other
	}
	return yes, clear
}

func (m *quotaModel) fit(t time.Duration, n int, grain time.Duration) (yes, clear bool) {
	want := big.NewRat(int64(n), 1)
	room := m.room(t)
	yes = room.Cmp(want) >= 0
	if m.kind == SlidingCounter {
		off := new(big.Rat).Sub(room, want)
		if !m.inWindow(t) && off.Abs(off).Cmp(big.NewRat(1, 1)) <= 0 {
			return yes, false
		}
	}
	return yes, grain == 0 || yes == (m.room(t-grain).Cmp(want) >= 0) && yes == (m.room(t+grain).Cmp(want) >= 0)
}

// inWindow reports whether there is nothing to estimate at t: nothing was granted in
// the window before.
func (m *quotaModel) inWindow(t time.Duration) bool {
	return !slices.ContainsFunc(m.past, func(e taken) bool { return m.index(t)-m.index(e.at) == 1 })
}

// until is how long it takes from t until n events fit, which they do some day.
func (m *quotaModel) until(t time.Duration, n int) time.Duration {
	at := []time.Duration{t}
	if m.kind == GCRA {
		short := new(big.Rat).Sub(big.NewRat(int64(n), 1), m.room(t))
		short.Mul(short, big.NewRat(int64(m.t), 1))
		up := new(big.Int).Add(short.Num(), new(big.Int).Sub(short.Denom(), big.NewInt(1)))
		at = append(at, t+time.Duration(up.Div(up, short.Denom()).Int64()))
	}
	for _, e := range m.past {
		at = append(at, e.at+m.window, e.at+m.window+1)
	}
	switch {
	case m.kind == FixedWindow && m.align == AlignFirstUse:
		at = append(at, m.anchor+m.window, m.anchor+m.window+1)
	case m.kind == FixedWindow:
		next := m.anchor + time.Duration(m.index(t)+1)*m.window
		at = append(at, next, next+1)
	}
	slices.Sort(at)
	for _, a := range at {
		if a >= t && m.room(a).Cmp(big.NewRat(int64(n), 1)) >= 0 {
			return a - t
		}
	}
	return -1
}

// whole is a room in whole events.
func whole(room *big.Rat) int {
	return int(new(big.Int).Div(room.Num(), room.Denom()).Int64())
}
