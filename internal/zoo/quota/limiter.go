package quota

import (
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	qt "github.com/escapement-go/escapement/conformance/quotatest"
	"github.com/escapement-go/escapement/internal/zoo"
)

// limiter is of any kind, and correct unless mutant names one of its mistakes.
type limiter struct {
	kind   qt.Kind
	cfg    qt.Config
	mutant string

	mu      sync.Mutex
	used    bool
	newest  time.Time
	asked   time.Time   // the instant of the request
	late    bool        // it is before newest
	log     []time.Time // of a SlidingLog
	start   time.Time   // of a window
	before  int
	current int
	arrival time.Time // the theoretical arrival time of GCRA
	idle    int       // how often it was idle
	n       int
}

func (l *limiter) is(mutant string) bool { return l.mutant == mutant }

// interval is the time between two events of GCRA.
func (l *limiter) interval() time.Duration {
	t := l.cfg.Window / time.Duration(l.cfg.Limit)
	if l.is("the interval is cut to whole milliseconds") {
		t = t.Truncate(time.Millisecond)
	}
	return t
}

func (l *limiter) full() int {
	if l.kind == qt.GCRA {
		return l.cfg.Burst
	}
	return l.cfg.Limit
}

func (l *limiter) takeAt(t time.Time, n int) (answer qt.Answer) {
	if l.is("keeps a lock when it denies") {
		defer func() {
			if !answer.OK {
				l.mu.Lock()
			}
		}()
	}
	if l.is("counts without the lock") {
		l.n++
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.is("panics on the third request") {
		if l.n++; l.n == 3 {
			panic("index out of range")
		}
	}
	l.asked = t
	l.late = l.used && t.Before(l.newest)
	if l.used && t.Before(l.newest) {
		if l.is("an old instant starts anew") {
			l.used, l.log, l.current, l.before, l.arrival, l.newest = false, nil, 0, 0, t, t
		}
		switch back := l.newest.Sub(t); {
		case l.is("goes back to a window of long ago") && back > 2*l.cfg.Window:
			l.used, l.current, l.newest = false, 0, t
		case l.is("an instant of long ago is for ever") && back > 2*l.interval():
			l.arrival = l.arrival.Add(back + time.Hour)
		}
		t = l.newest
	}
	if l.kind == qt.SlidingLog { // from which any request drops what has left the window
		l.used, l.newest = true, t
	}
	switch {
	case n == 0 && l.is("a look lets go a nanosecond early"):
		l.room(t.Add(1))
		return l.answer(t, n, true)
	case n == 0 && l.is("a look takes one"):
		n = 1
	case n < 0 && !l.is("a negative request gives back"), n == 0:
		return l.answer(t, n, n == 0)
	case n > l.full() && l.is("a large request starts anew"):
		l.used, l.log, l.current, l.before = false, nil, 0, 0
		return l.answer(t, n, false)
	}
	ok := l.decide(t, n)
	if l.is("a hit extends the window") && l.kind == qt.FixedWindow {
		l.used, l.newest, l.start = true, t, t
	}
	a := l.answer(t, n, ok)
	if l.is("remaining of an old instant counts from there") {
		a.Remaining -= int(max(0, t.Sub(l.asked)) / l.interval())
	}
	return a
}

// decide decides a request for n at t, and counts it if it is granted.
func (l *limiter) decide(t time.Time, n int) (ok bool) {
	l.move(t)
	room := l.room(t)
	if l.is("decides without the lock") {
		l.mu.Unlock()
		for range 100 {
			runtime.Gosched() // lets others in
		}
		l.mu.Lock()
	}
	ok = n <= room
	switch l.mutant {
	case "one too many":
		ok = n <= room+1 && n <= l.full()
	case roomForOne:
		ok = n <= l.full() && room >= 1
	case "denies everything":
		ok = false
	case "the last one is denied":
		ok = n < room || n == room && room == l.full() && l.full() > 1
	case "the sum overflows":
		ok = l.full()-room+n <= l.full()
	case sumsPastLargest:
		ok = n <= l.full() && l.full()-room+n <= l.full()
	case "a burst that is too large denies everything":
		ok = ok && int64(l.cfg.Burst)*int64(l.interval()) < 1<<52
	case "a burst of one is none":
		ok = ok && l.full() > 1
	}
	begins := l.is("what begins an epoch does not count") && l.used && t.Sub(l.newest) > 1<<60
	if ok && !begins || l.is("a denied request counts") {
		l.used, l.newest = true, t
		l.take(t, n)
	}
	return ok
}

// move begins the window of t.
func (l *limiter) move(t time.Time) {
	start := t.Truncate(l.cfg.Window)
	switch {
	case l.is(sinceUnix):
		start = onGrid(qt.AlignUnix, t, l.cfg.Window)
	case l.is("windows begin with the first request"):
		if start = l.start; l.start.IsZero() {
			start = t
		}
		start = start.Add(t.Sub(start) / l.cfg.Window * l.cfg.Window)
	case l.is("a window begins a nanosecond late"):
		start = t.Add(-1).Truncate(l.cfg.Window)
	case l.is("a hit extends the window") && l.current > 0 && t.Sub(l.start) < l.cfg.Window:
		start = l.start
	}
	switch gap := start.Sub(l.start); {
	case l.is("the zero time means new") && l.start.IsZero():
		l.before, l.current, l.start = 0, 0, start
	case l.is("twice the window overflows") && t.Sub(start) >= 2*l.cfg.Window:
		l.before, l.current, l.start = 0, 0, start
	case gap == 0:
	case gap < 0 && l.used && !l.is("goes back behind a request that was denied"):
		// such a request has begun a later one
	case gap == l.cfg.Window && !l.is("forgets the window before"):
		l.before, l.current, l.start = l.current, 0, start
		if l.is("the last of a full window does not fade") {
			l.before = min(l.before, l.cfg.Limit-1)
		}
	case l.is("keeps the window before for ever") && l.current > 0:
		l.before, l.current, l.start = l.current, 0, start
	default:
		l.before, l.current, l.start = 0, 0, start
	}
}

// room is how many fit at t.
func (l *limiter) room(t time.Time) int {
	switch l.kind {
	case qt.SlidingLog:
		for len(l.log) > 0 {
			age := t.Sub(l.log[0])
			if l.is("ages are cut to whole milliseconds") {
				age = age.Truncate(time.Millisecond)
			}
			if age < l.cfg.Window || age == l.cfg.Window && l.is("an event leaves a nanosecond late") {
				break
			}
			l.log = l.log[1:]
			if l.is("forgets the whole log") {
				l.log = nil
			}
		}
		return l.cfg.Limit - len(l.log)
	case qt.SlidingCounter:
		fade := float64(l.cfg.Window-t.Sub(l.start)) / float64(l.cfg.Window)
		if l.is("the window before fades twice") {
			fade *= fade
		}
		if l.is("the window before fades in tenths") {
			fade = math.Floor(fade*10) / 10
		}
		return l.cfg.Limit - l.current - int(math.Ceil(float64(l.before)*fade-1e-9))
	case qt.FixedWindow:
		if l.is("half of the limit carries over") {
			return l.cfg.Limit - l.current + (l.cfg.Limit-l.before)/2
		}
		return l.cfg.Limit - l.current
	}
	debt := max(0, l.arrival.Sub(t))
	if !l.used || l.is("idle time builds up") {
		debt = l.arrival.Sub(t)
	}
	if !l.used {
		debt = 0
	}
	if l.is("a nanosecond early") {
		debt = max(0, debt-1)
	}
	if l.is("half a billionth of an event is none") {
		debt = max(0, debt-l.interval()/2e9)
	}
	if l.is("the zero time means new") && l.newest.IsZero() {
		debt = 0
	}
	return int((time.Duration(l.cfg.Burst)*l.interval() - debt) / l.interval())
}

// take counts n events at t.
func (l *limiter) take(t time.Time, n int) {
	at := t
	if l.late && l.is("answers from the instants of what came late") {
		at = l.asked
	}
	for i := 0; l.kind == qt.SlidingLog && i < n; i++ {
		l.log = append(l.log, at)
	}
	if l.late && l.is("counts what comes late where it belongs") {
		l.log = append(slices.Repeat([]time.Time{l.asked}, n), l.log[:len(l.log)-n]...)
	}
	if l.late && l.is("a late request of several counts as one") {
		n = 1
	}
	l.current += n
	if t.After(l.arrival) && !l.is("idle time builds up") || l.n == 0 && l.arrival.IsZero() {
		if l.is(idleAddsUp) && t.Sub(l.arrival) > time.Duration(l.cfg.Burst)*l.interval() {
			l.idle++
		}
		l.arrival = t.Add(-time.Duration(l.idle/4) * l.interval())
	}
	l.arrival = l.arrival.Add(time.Duration(n) * l.interval())
}

// retryUntil is a mistake of an injected clock beside package time.
const retryUntil = "retry is told by package time"

// answer says what comes of a request for n.
func (l *limiter) answer(t time.Time, n int, ok bool) qt.Answer {
	l.move(t)
	room := l.room(t)
	a := qt.Answer{OK: ok, Remaining: max(0, room)}
	if l.is("remaining counts before") && ok {
		a.Remaining += n
	}
	if l.is("remaining forgets the window before") {
		a.Remaining = max(0, l.cfg.Limit-l.current)
	}
	switch l.kind {
	case qt.SlidingLog:
		for i, at := range l.log {
			a.ResetAfter = l.cfg.Window - t.Sub(at)
			if i+1 == n-room {
				a.RetryAfter = a.ResetAfter
			}
		}
	case qt.FixedWindow:
		if l.current > 0 {
			a.ResetAfter = l.cfg.Window - t.Sub(l.start)
		}
		a.RetryAfter = a.ResetAfter
	case qt.GCRA:
		debt := time.Duration(0)
		if l.used {
			debt = max(0, l.arrival.Sub(t))
		}
		a.ResetAfter = debt
		a.RetryAfter = debt + time.Duration(n-l.cfg.Burst)*l.interval()
	}
	if l.is("retry is a nanosecond short") ||
		l.is("retry is cut to whole nanoseconds") && l.cfg.Window%time.Duration(l.cfg.Limit) != 0 {
		a.RetryAfter--
	}
	if l.is(retryUntil) && !ok {
		a.RetryAfter = time.Until(t.Add(a.RetryAfter))
	}
	if l.is("reset is one event late") {
		a.ResetAfter += l.interval()
	}
	if n > l.full() && !l.is("retry of what never fits") {
		a.RetryAfter = -1
	}
	return a
}

// renewed forgets everything when the clock shows an instant before the last that it showed.
func (l *limiter) renewed(now func() time.Time) func() time.Time {
	last := now()
	return func() time.Time {
		t := now()
		if t.Before(last) {
			l.used, l.log, l.current, l.before, l.arrival, l.newest = false, nil, 0, 0, t, t
		}
		last = t
		return t
	}
}

// giveBack takes the newest events out.
func (l *limiter) giveBack(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.is("what is given back counts twice") {
		n *= 2
	}
	if l.is("what is given back was of the window before") && l.before >= n {
		l.before, l.current = l.before-n, l.current+n
	}
	l.current = max(0, l.current-n)
	if l.is("the oldest are given back") {
		l.log = l.log[min(n, len(l.log)):]
	} else {
		l.log = l.log[:max(0, len(l.log)-n)]
	}
	l.arrival = l.arrival.Add(-time.Duration(n) * l.interval())
}

// reset forgets every event.
func (l *limiter) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.used, l.log, l.current, l.arrival = false, nil, 0, time.Time{}
	if !l.is("a reset keeps the window before") {
		l.before = 0
	}
	if l.is("a reset keeps one") {
		l.take(l.newest, 1)
	}
}

func limiterSpec(mutant string, kind qt.Kind, source qt.TimeSource) qt.Spec {
	tr := qt.Traits{CountDenied: qt.DeniedFree, BackTime: qt.BackClamp, Edge: qt.EdgeHalfOpen, Align: qt.AlignEpoch,
		RetryNever: qt.RetryNegative, Fields: qt.FieldRetry | qt.FieldReset | qt.FieldRemaining}
	if kind == qt.SlidingCounter {
		tr.Fields = qt.FieldRemaining
	}
	return qt.Spec{
		Name: "zoo " + kind.String(),
		Time: source,
		Kind: kind,
		New: func(env qt.Env, cfg qt.Config) qt.Funcs {
			l := &limiter{kind: kind, cfg: cfg, mutant: mutant}
			if t := cfg.Window / time.Duration(max(1, cfg.Limit)); kind == qt.GCRA && mutant != "takes any interval" &&
				(t < 1 || cfg.Burst > 0 && t > math.MaxInt64/2/time.Duration(cfg.Burst)) {
				panic("limiter: a burst of intervals is too short or too long to count with")
			}
			if mutant == "the window is cut to whole seconds" {
				l.cfg.Window = max(time.Second, cfg.Window.Truncate(time.Second))
			}
			if mutant == "the constructor divides by half of the limit" {
				_ = cfg.Window / time.Duration(cfg.Limit/2)
			}
			if mutant == "goroutine left behind" {
				zoo.LeaveForGood()
			}
			now := env.Clock.Now
			if mutant == "adds what package time has passed" {
				made := time.Now()
				now = func() time.Time { return env.Clock.Now().Add(time.Since(made)) }
			}
			if mutant == setBackAnew {
				now = l.renewed(now)
			}
			return qt.Funcs{
				GiveBack: l.giveBack, Reset: l.reset,
				Take:   func(n int) qt.Answer { return l.takeAt(now(), n) },
				TakeAt: l.takeAt,
				Peek:   func() qt.Answer { return l.takeAt(now(), 0) },
				PeekAt: func(t time.Time) qt.Answer { return l.takeAt(t, 0) },
			}
		},
		Traits: tr,
	}
}
