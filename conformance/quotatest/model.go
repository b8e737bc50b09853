package quotatest

import (
	"cmp"
	"math"
	"math/big"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
)

// model is the definition of a kind of limiter: it remembers every request that counts,
// and works out from them how many more fit at an instant. Instants count from the start
// of the schedule.
type model struct {
	kind     Kind
	limit    int // of a window; the burst of GCRA
	window   time.Duration
	interval time.Duration // between two events of GCRA
	edge     Edge
	align    Align // 0 where there is no sequence of windows
	first    origin
	counted  bool     // denied requests count
	parts    *big.Int // how many an event has: each room is a whole number of them
	past     []request
}

// request is one that counts.
type request struct {
	at time.Duration
	n  int
}

// origin is where the first window begins.
type origin struct {
	at time.Duration
	// included says that an event at that very instant is in the first window. With
	// EdgeClosed other windows do not include their start, as they include their end.
	included bool
}

// never is the origin if no window begins before the first request.
const never = math.MinInt64 / 2

// newModel returns the model of a configuration with these traits. The origin matters for
// AlignCreation and AlignFirstUse.
func newModel(kind Kind, cfg conformance.Config, tr *Traits, first origin) *model {
	m := &model{kind: kind, limit: full(kind, cfg), window: cfg.Rate.Per, edge: tr.Edge, first: first,
		counted: tr.CountDenied == DeniedCounted, parts: big.NewInt(1)}
	switch {
	case kind == GCRA:
		m.interval = cfg.Rate.Per / time.Duration(cfg.Rate.Events)
		m.parts = big.NewInt(int64(m.interval))
	case kind == SlidingLog:
	case tr.Align == AlignCreation || tr.Align == AlignFirstUse:
		m.align = tr.Align
	default:
		m.align, m.first.at = cmp.Or(tr.Align, AlignEpoch), -into(tr.Align, cfg)
	}
	if kind == SlidingCounter {
		m.parts = big.NewInt(int64(m.window))
	}
	return m
}

// into is how much of a window has passed when the schedule starts, where windows begin on the clock.
func into(align Align, cfg conformance.Config) time.Duration {
	start, since1 := cfg.Start(), time.Duration(0)
	if align == AlignUnix { // Truncate counts from the year 1
		since1 = time.Unix(0, 0).Sub(time.Unix(0, 0).Truncate(cfg.Rate.Per))
	}
	part := start.Sub(start.Truncate(cfg.Rate.Per)) - since1
	if part < 0 {
		part += cfg.Rate.Per
	}
	return part
}

// add remembers a request.
func (m *model) add(at time.Duration, n int, granted bool) {
	if n > 0 && (granted || m.counted) {
		m.past = append(m.past, request{at, n})
	}
}

// newest is when the newest window began, where windows begin with a request.
func (m *model) newest() time.Duration {
	start := m.first.at
	for _, e := range m.past {
		if m.over(e.at - start) {
			start = e.at
		}
	}
	return start
}

// begins returns the first instant of the window that t is in, where each begins as the one before ends, or with a
// request: one that counts at t may begin it.
func (m *model) begins(t time.Duration) time.Duration {
	if m.align == AlignFirstUse {
		if start := m.newest(); !m.over(t - start) {
			return start
		}
		return t
	}
	first := m.first.at
	if m.edge == EdgeClosed && m.kind == FixedWindow { // each includes the instant at which the next would begin
		if first++; m.first.included && t >= first-1 && t < first+m.window {
			return first - 1
		}
	}
	i := (t - first) / m.window
	if (t-first)%m.window < 0 {
		i--
	}
	return first + i*m.window
}

// from returns the first instant of which an event counts in full at t, where windows count.
func (m *model) from(t time.Duration) time.Duration {
	if m.align == 0 {
		return t - m.window + time.Duration(suite.Number(m.edge != EdgeClosed))
	}
	return m.begins(t)
}

// over reports whether an event of that age is no longer in the window.
func (m *model) over(age time.Duration) bool {
	return age > m.window || age == m.window && m.edge != EdgeClosed
}

// straddles reports whether t is within the grain of an instant at which a window ends, so
// that a limiter of that grain may put what comes at t into the window before it or after it.
func (m *model) straddles(t, grain time.Duration) bool {
	if grain == 0 || m.align == 0 {
		return false
	}
	before, after := t-grain, t+grain
	switch m.align {
	case AlignFirstUse:
		start := m.newest()
		return m.over(before-start) != m.over(after-start)
	case AlignCreation:
		before = max(before, min(t, m.first.at)) // no event is earlier than the limiter
	}
	return m.begins(before) != m.begins(after)
}

// indifferent returns the instant from which on it makes no difference to which of two
// windows a request at t counts that straddles them.
func (m *model) indifferent(t, grain time.Duration) time.Duration {
	if m.align == AlignFirstUse {
		return math.MaxInt64 // each window begins where the last one ended
	}
	windows := time.Duration(1)
	if m.kind == SlidingCounter {
		windows = 2
	}
	return t + windows*m.window + 2*grain
}

// events are the parts of n events.
func (m *model) events(n int) *big.Int { return new(big.Int).Mul(big.NewInt(int64(n)), m.parts) }

// whole rounds a room down to whole events, and reports whether it is that many.
func (m *model) whole(room *big.Int) (events int, exact bool) {
	n, rest := new(big.Int).DivMod(room, m.parts, new(big.Int))
	return int(n.Int64()), rest.Sign() == 0
}

// room returns how many more events fit at t, in parts.
func (m *model) room(t time.Duration) *big.Int {
	room := m.events(m.limit)
	if m.kind == GCRA {
		return room.Sub(room, big.NewInt(int64(max(0, m.arrival(t)-t))))
	}
	from := m.from(t)
	for _, e := range m.past {
		switch {
		case e.at >= from:
			room.Sub(room, m.events(e.n))
		case m.kind == SlidingCounter && e.at >= from-m.window: // it fades
			left := big.NewInt(int64(m.window - (t - from)))
			room.Sub(room, left.Mul(left, big.NewInt(int64(e.n))))
		}
	}
	return room
}

// arrival returns the theoretical arrival time of GCRA at t.
func (m *model) arrival(t time.Duration) time.Duration {
	arrival := t
	for i, e := range m.past {
		if i == 0 || arrival < e.at {
			arrival = e.at
		}
		arrival += time.Duration(e.n) * m.interval
	}
	return arrival
}

// capped is the model of a limiter that counts denied requests, but in each window no more
// than one above the limit. In that window it denies the same requests as one that counts
// them all, but a flood of requests does not fill the next window too.
func (m *model) capped() *model {
	other := *m
	other.past, other.counted = nil, false
	for _, e := range m.past {
		sum := 0
		for _, o := range other.past {
			if m.begins(o.at) == m.begins(e.at) {
				sum += o.n
			}
		}
		n := e.n
		if left := m.limit - sum; n > left {
			n = left + 1
		}
		other.past = append(other.past, request{e.at, n})
	}
	return &other
}

// fits reports whether n events fit at t, and whether that is clear. It is not clear if
// the answer is another at an instant within the grain, if the estimate of a
// SlidingCounter is within one event of the limit, as it may be rounded either way where it
// is no whole number, or if the capped model has another answer.
func (m *model) fits(t time.Duration, n int, grain time.Duration) (yes, clear bool) {
	want, room := m.events(n), m.room(t)
	yes = room.Cmp(want) >= 0
	if m.kind == SlidingCounter {
		off := new(big.Int).Sub(room, want)
		whole := grain == 0 && m.begins(t) == t // where a window begins, all of the one before counts
		if m.estimates(t) && !whole && off.CmpAbs(m.parts) <= 0 {
			return yes, false
		}
	}
	clear = grain == 0 || yes == (m.room(t-grain).Cmp(want) >= 0) && yes == (m.room(t+grain).Cmp(want) >= 0)
	if m.kind == SlidingCounter && m.counted && clear && !yes {
		other, sure := m.capped().fits(t, n, grain)
		clear = sure && !other
	}
	return yes, clear
}

// estimates reports whether events of the window before that of t count at t, so that the
// room is an estimate.
func (m *model) estimates(t time.Duration) bool {
	from := m.begins(t)
	return slices.ContainsFunc(m.past, func(e request) bool { return e.at < from && e.at >= from-m.window })
}

// until returns how long it takes from t until n events fit; -1 if they never do.
func (m *model) until(t time.Duration, n int) time.Duration {
	at := []time.Duration{t} // the instants at which the room changes, except for GCRA
	want := m.events(n)
	if m.kind == GCRA { // a part comes each nanosecond
		at = append(at, t+time.Duration(new(big.Int).Sub(want, m.room(t)).Int64()))
	}
	for _, e := range m.past {
		at = append(at, e.at+m.window, e.at+m.window+1)
	}
	if m.kind == FixedWindow {
		end := m.begins(t) + m.window
		at = append(at, end, end+1)
	}
	slices.Sort(at)
	for _, a := range at {
		if a >= t && m.room(a).Cmp(want) >= 0 {
			return a - t
		}
	}
	return -1
}

// rested reports whether a bucket was idle until t for so long that it is full, or not used at all, or just before.
func (m *model) rested(t time.Duration) bool {
	if len(m.past) == 0 {
		return true
	}
	idle := t - m.past[len(m.past)-1].at
	return idle == 0 || idle >= time.Duration(m.limit)*m.interval
}
