package conformance

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// zooQuota is a limiter of each kind, correct unless mutant names one of its
// mistakes.
type zooQuota struct {
	kind   QuotaKind
	cfg    QuotaConfig
	mutant string

	mu      sync.Mutex
	used    bool
	newest  time.Time
	log     []time.Time // of a SlidingLog
	start   time.Time   // of a window
	before  int
	current int
	arrival time.Time // of the next event of GCRA, in theory
	n       int
}

func (q *zooQuota) is(mutant string) bool { return q.mutant == mutant }

// grain is the time between two events of GCRA.
func (q *zooQuota) grain() time.Duration {
	t := q.cfg.Window / time.Duration(q.cfg.Limit)
	if q.is("the interval is cut to whole milliseconds") {
		t = t.Truncate(time.Millisecond)
	}
	return t
}

func (q *zooQuota) full() int {
	if q.kind == GCRA {
		return q.cfg.Burst
	}
	return q.cfg.Limit
}

func (q *zooQuota) takeAt(t time.Time, n int) (answer Answer) {
	if q.is("keeps a lock when it denies") {
		defer func() { keep(&q.mu, !answer.OK) }()
	}
	if q.is("counts without the lock") {
		q.n++
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.is("panics on the third request") {
		if q.n++; q.n == 3 {
			panic("index out of range")
		}
	}
	asked := t
	if q.used && t.Before(q.newest) {
		if q.is("an old instant starts anew") {
			q.used, q.log, q.current, q.before, q.arrival, q.newest = false, nil, 0, 0, t, t
		}
		t = q.newest
	}
	switch {
	case n == 0 && q.is("a look takes one"):
		n = 1
	case n < 0 && !q.is("a negative request gives back"), n == 0:
		return q.answer(t, n, n == 0)
	case n > q.full() && q.is("a large request starts anew"):
		q.used, q.log, q.current, q.before = false, nil, 0, 0
		return q.answer(t, n, false)
	}
	q.move(t)
	room := q.room(t)
	if q.is("decides without the lock") {
		q.mu.Unlock()
		for range 100 {
			runtime.Gosched() // lets others in
		}
		q.mu.Lock()
	}
	ok := n <= room
	switch q.mutant {
	case "one too many":
		ok = n <= room+1 && n <= q.full()
	case "the last one is denied":
		ok = n < room || n == room && room == q.full() && q.full() > 1
	case "the sum overflows":
		ok = q.full()-room+n <= q.full()
	case "a burst of one is none":
		ok = ok && q.full() > 1
	}
	if ok || q.is("a denied request counts") || q.is("a hit extends the window") {
		q.used, q.newest = true, t
	}
	if ok || q.is("a denied request counts") {
		q.take(t, n)
	}
	if q.is("a hit extends the window") && q.kind == FixedWindow {
		q.start = t
	}
	a := q.answer(t, n, ok)
	if q.is("remaining of an old instant counts from there") {
		a.Remaining -= int(max(0, t.Sub(asked)) / q.grain())
	}
	return a
}

// move begins the window of t.
func (q *zooQuota) move(t time.Time) {
	start := t.Truncate(q.cfg.Window)
	switch {
	case q.is("windows begin with the first request"):
		if start = q.start; q.start.IsZero() {
			start = t
		}
		start = start.Add(t.Sub(start) / q.cfg.Window * q.cfg.Window)
	case q.is("a window begins a nanosecond late"):
		start = t.Add(-1).Truncate(q.cfg.Window)
	case q.is("a hit extends the window") && q.current > 0 && t.Sub(q.start) < q.cfg.Window:
		start = q.start
	}
	switch gap := start.Sub(q.start); {
	case gap == 0:
	case gap == q.cfg.Window && !q.is("forgets the window before"):
		q.before, q.current, q.start = q.current, 0, start
	case q.is("keeps the window before for ever") && q.current > 0:
		q.before, q.current, q.start = q.current, 0, start
	default:
		q.before, q.current, q.start = 0, 0, start
	}
}

// room is how many fit at t.
func (q *zooQuota) room(t time.Time) int {
	switch q.kind {
	case SlidingLog:
		for len(q.log) > 0 {
			age := t.Sub(q.log[0])
			if age < q.cfg.Window || age == q.cfg.Window && q.is("an event leaves a nanosecond late") {
				break
			}
			q.log = q.log[1:]
			if q.is("forgets the whole log") {
				q.log = nil
			}
		}
		return q.cfg.Limit - len(q.log)
	case SlidingCounter:
		fade := float64(q.cfg.Window-t.Sub(q.start)) / float64(q.cfg.Window)
		if q.is("the window before fades twice") {
			fade *= fade
		}
		return q.cfg.Limit - q.current - int(math.Ceil(float64(q.before)*fade-1e-9))
	case FixedWindow:
		if q.is("half of the limit carries over") {
			return q.cfg.Limit - q.current + (q.cfg.Limit-q.before)/2
		}
		return q.cfg.Limit - q.current
	}
	debt := max(0, q.arrival.Sub(t))
	if !q.used || q.is("idle time builds up") {
		debt = q.arrival.Sub(t)
	}
	if !q.used {
		debt = 0
	}
	if q.is("a nanosecond early") {
		debt = max(0, debt-1)
	}
	return int((time.Duration(q.cfg.Burst)*q.grain() - debt) / q.grain())
}

// take counts n events at t.
func (q *zooQuota) take(t time.Time, n int) {
	for i := 0; q.kind == SlidingLog && i < n; i++ {
		q.log = append(q.log, t)
	}
	q.current += n
	if t.After(q.arrival) && !q.is("idle time builds up") || q.n == 0 && q.arrival.IsZero() {
		q.arrival = t
	}
	q.arrival = q.arrival.Add(time.Duration(n) * q.grain())
}

// answer says what comes of a request for n.
func (q *zooQuota) answer(t time.Time, n int, ok bool) Answer {
	q.move(t)
	room := q.room(t)
	a := Answer{OK: ok, Remaining: max(0, room)}
	if q.is("remaining counts before") && ok {
		a.Remaining += n
	}
	switch q.kind {
	case SlidingLog:
		for i, at := range q.log {
			a.ResetAfter = q.cfg.Window - t.Sub(at)
			if i+1 == n-room {
				a.RetryAfter = a.ResetAfter
			}
		}
	case FixedWindow:
		if q.current > 0 {
			a.ResetAfter = q.cfg.Window - t.Sub(q.start)
		}
		a.RetryAfter = a.ResetAfter
	case GCRA:
		debt := time.Duration(0)
		if q.used {
			debt = max(0, q.arrival.Sub(t))
		}
		a.ResetAfter = debt
		a.RetryAfter = debt + time.Duration(n-q.cfg.Burst)*q.grain()
	}
	if q.is("retry is a nanosecond short") {
		a.RetryAfter--
	}
	if q.is("reset is one event late") {
		a.ResetAfter += q.grain()
	}
	if n > q.full() && !q.is("retry of what never fits") {
		a.RetryAfter = -1
	}
	return a
}

func zooQuotaSpec(mutant string, kind QuotaKind, source TimeSource) QuotaSpec {
	tr := QuotaTraits{Denied: DeniedFree, BackTime: BackClamp, Edge: EdgeHalfOpen, Align: AlignEpoch, TooLarge: TooLargeNegative,
		Answers: AnswersRetry | AnswersReset | AnswersRemaining}
	if kind == SlidingCounter {
		tr.Answers = 0
	}
	return QuotaSpec{
		Name: "zoo " + kind.String(),
		Time: source,
		Kind: kind,
		New: func(env Env, cfg QuotaConfig) QuotaFuncs {
			q := &zooQuota{kind: kind, cfg: cfg, mutant: mutant}
			if t := cfg.Window / time.Duration(max(1, cfg.Limit)); kind == GCRA && mutant != "takes any interval" &&
				(t < 1 || cfg.Burst > 0 && t > math.MaxInt64/2/time.Duration(cfg.Burst)) {
				panic("zooQuota: a burst of intervals is too short or too long to count with")
			}
			if mutant == "the window is cut to whole seconds" {
				q.cfg.Window = max(time.Second, cfg.Window.Truncate(time.Second))
			}
			if mutant == "goroutine left behind" {
				startForGood()
			}
			return QuotaFuncs{
				Take:   func(n int) Answer { return q.takeAt(env.Clock.Now(), n) },
				TakeAt: q.takeAt,
				Peek:   func() Answer { return q.takeAt(env.Clock.Now(), 0) },
				PeekAt: func(t time.Time) Answer { return q.takeAt(t, 0) },
			}
		},
		Traits: tr,
	}
}

// quotaMutants are mistakes, each of one kind, with the rule that must catch it.
var quotaMutants = []struct {
	name string
	kind QuotaKind
	rule string
}{
	{"one too many", SlidingLog, "SW-ANY"},
	{"forgets the whole log", SlidingLog, "SW-ANY"},
	{"the window is cut to whole seconds", SlidingLog, "SW-ANY"},
	{"an event leaves a nanosecond late", SlidingLog, "SW-EXP"},
	{"the last one is denied", SlidingLog, "SW-WORK"},
	{"a denied request counts", SlidingLog, "SW-DENYCOUNT"},
	{"forgets the window before", SlidingCounter, "SC-APPROX"},
	{"the window before fades twice", SlidingCounter, "SC-APPROX"},
	{"an old instant starts anew", SlidingCounter, "SC-ORDER"},
	{"keeps the window before for ever", SlidingCounter, "SC-N1"},
	{"a burst of one is none", SlidingCounter, "SC-N1"},
	{"windows begin with the first request", SlidingCounter, "SC-FIRST"},
	{"one too many", FixedWindow, "FW-ALIGNED"},
	{"windows begin with the first request", FixedWindow, "FW-ALIGNED"},
	{"half of the limit carries over", FixedWindow, "FW-2N"},
	{"the window is cut to whole seconds", FixedWindow, "FW-NOEXTEND"},
	{"a hit extends the window", FixedWindow, "FW-NOEXTEND"},
	{"a window begins a nanosecond late", FixedWindow, "FW-EDGE"},
	{"the last one is denied", FixedWindow, "FW-HIT"},
	{"a nanosecond early", GCRA, "GC-EQUIV"},
	{"the interval is cut to whole milliseconds", GCRA, "GC-EQUIV"},
	{"one too many", GCRA, "GC-BURST"},
	{"the last one is denied", GCRA, "GC-BURST"},
	{"idle time builds up", GCRA, "GC-TAT"},
	{"an old instant starts anew", GCRA, "GC-TAT"},
	{"retry is a nanosecond short", GCRA, "GC-RETRY"},
	{"retry is a nanosecond short", SlidingLog, "GC-RETRY"},
	{"retry of what never fits", GCRA, "GC-RETRYNEG"},
	{"remaining counts before", GCRA, "GC-REMAIN"},
	{"remaining of an old instant counts from there", GCRA, "GC-REMAIN"},
	{"reset is one event late", GCRA, "GC-RESET"},
	{"a denied request counts", GCRA, "GC-DENYPURE"},
	{"a look takes one", GCRA, "GC-PEEKPURE"},
	{"a negative request gives back", GCRA, "GC-NEG"},
	{"the sum overflows", FixedWindow, "RL-NBIG"},
	{"a large request starts anew", GCRA, "RL-NBIG"},
	{"panics on the third request", FixedWindow, "X-CALLS"},
	{"keeps a lock when it denies", GCRA, "X-CALLS"},
	{"takes any interval", GCRA, "X-CFG"},
	{"goroutine left behind", GCRA, "X-LEAK"},
	{"decides without the lock", SlidingCounter, "X-CONC"},
}

// quotaZoo are correct limiters of other designs.
func quotaZoo() []QuotaSpec {
	of := func(name string, kind QuotaKind, tr QuotaTraits, make func(cfg QuotaConfig) func(t time.Time, n int) Answer) QuotaSpec {
		tr.BackTime = BackClamp
		return QuotaSpec{Name: name, Time: Explicit, Kind: kind, Traits: tr, New: func(_ Env, cfg QuotaConfig) QuotaFuncs {
			take, mu := make(cfg), new(sync.Mutex)
			var newest time.Time
			return QuotaFuncs{TakeAt: func(t time.Time, n int) Answer {
				mu.Lock()
				defer mu.Unlock()
				if n < 0 || n > max(cfg.Limit, cfg.Burst) {
					return Answer{RetryAfter: math.MaxInt64}
				}
				if t.Before(newest) {
					t = newest
				}
				newest = t
				return take(t, n)
			}}
		}}
	}
	return []QuotaSpec{
		of("a key that expires", FixedWindow, QuotaTraits{Edge: EdgeHalfOpen, Align: AlignFirstUse, Denied: DeniedFree},
			func(cfg QuotaConfig) func(time.Time, int) Answer {
				var until time.Time
				n := 0
				return func(t time.Time, k int) Answer {
					if k == 0 {
						return Answer{OK: true}
					}
					if n == 0 || !t.Before(until) {
						n, until = 0, t.Add(cfg.Window)
					}
					if n+k > cfg.Limit {
						return Answer{}
					}
					n += k
					return Answer{OK: true}
				}
			}),
		{
			Name: "a window that any request opens", Time: Explicit, Kind: FixedWindow,
			Traits: QuotaTraits{Edge: EdgeHalfOpen, Align: AlignFirstUse, Denied: DeniedFree, BackTime: BackClamp, TooLarge: TooLargeZero, Answers: AnswersRemaining | AnswersReset},
			New: func(_ Env, cfg QuotaConfig) QuotaFuncs {
				var mu sync.Mutex
				var until, newest time.Time
				n := 0
				return QuotaFuncs{TakeAt: func(t time.Time, k int) Answer {
					mu.Lock()
					defer mu.Unlock()
					if t.Before(newest) {
						t = newest
					}
					if newest = t; !t.Before(until) {
						n, until = 0, t.Add(cfg.Window)
					}
					ok := k >= 0 && k <= cfg.Limit-n
					if ok {
						n += k
					}
					return Answer{OK: ok, Remaining: cfg.Limit - n, ResetAfter: until.Sub(t)}
				}}
			},
		},
		{
			Name: "a window that the constructor opens", Time: Explicit, Kind: FixedWindow,
			Traits: QuotaTraits{Edge: EdgeClosed, Align: AlignFirstUse, Denied: DeniedFree, BackTime: BackClamp, Single: true,
				TooLarge: TooLargeZero, Answers: AnswersRemaining | AnswersRetry | AnswersReset},
			New: func(env Env, cfg QuotaConfig) QuotaFuncs {
				var mu sync.Mutex
				began, newest, n := env.Start, env.Start, 0
				return QuotaFuncs{TakeAt: func(t time.Time, _ int) Answer {
					mu.Lock()
					defer mu.Unlock()
					if t.Before(newest) {
						t = newest
					}
					if newest = t; t.Sub(began) > cfg.Window {
						began, n = t, 0
					}
					ok := n < cfg.Limit
					if ok {
						n++
					}
					return Answer{OK: ok, Remaining: cfg.Limit - n, RetryAfter: began.Add(cfg.Window + 1).Sub(t), ResetAfter: began.Add(cfg.Window + 1).Sub(t)}
				}}
			},
		},
		{
			Name: "a grid from the first request on", Time: Explicit, Kind: FixedWindow,
			Traits: QuotaTraits{Edge: EdgeHalfOpen, Align: AlignCreation, Denied: DeniedFree, BackTime: BackClamp, Single: true,
				TooLarge: TooLargeZero, Answers: AnswersRemaining | AnswersRetry | AnswersReset},
			New: func(_ Env, cfg QuotaConfig) QuotaFuncs {
				var mu sync.Mutex
				var first, newest time.Time
				used, tick, n := false, time.Duration(0), 0
				return QuotaFuncs{TakeAt: func(t time.Time, _ int) Answer {
					mu.Lock()
					defer mu.Unlock()
					if !used {
						used, first, newest = true, t, t
					}
					if t.Before(newest) {
						t = newest
					}
					newest = t
					if now := t.Sub(first) / cfg.Window; now != tick {
						tick, n = now, 0
					}
					ok := n < cfg.Limit
					if ok {
						n++
					}
					next := first.Add((tick + 1) * cfg.Window).Sub(t)
					return Answer{OK: ok, Remaining: cfg.Limit - n, RetryAfter: next, ResetAfter: next}
				}}
			},
		},
		of("an increment that expires", FixedWindow, QuotaTraits{Edge: EdgeClosed, Align: AlignFirstUse, Denied: DeniedCounted},
			func(cfg QuotaConfig) func(time.Time, int) Answer {
				var until time.Time
				n := 0
				return func(t time.Time, k int) Answer {
					if k > 0 && (n == 0 || t.After(until)) {
						n, until = 0, t.Add(cfg.Window)
					}
					n += k
					return Answer{OK: n <= cfg.Limit || k == 0}
				}
			}),
		of("ticks from the first request", FixedWindow, QuotaTraits{Edge: EdgeHalfOpen, Align: AlignCreation, Denied: DeniedFree},
			func(cfg QuotaConfig) func(time.Time, int) Answer {
				var first time.Time
				used, left, tick := false, cfg.Limit, time.Duration(0)
				return func(t time.Time, k int) Answer {
					if !used {
						first, used = t, true
					}
					if now := t.Sub(first) / cfg.Window; now != tick {
						tick, left = now, cfg.Limit
					}
					ok := k <= left
					if ok {
						left -= k
					}
					return Answer{OK: ok}
				}
			}),
		of("a log of all that was asked", SlidingLog, QuotaTraits{Edge: EdgeClosed, Denied: DeniedCounted},
			func(cfg QuotaConfig) func(time.Time, int) Answer {
				var log []time.Time
				return func(t time.Time, k int) Answer {
					n := 0
					for _, at := range log {
						if t.Sub(at) <= cfg.Window {
							n++
						}
					}
					for range k {
						log = append(log, t)
					}
					return Answer{OK: n+k <= cfg.Limit}
				}
			}),
		of("a ring of the last that were granted", SlidingLog, QuotaTraits{Edge: EdgeHalfOpen, Denied: DeniedFree, Single: true},
			func(cfg QuotaConfig) func(time.Time, int) Answer {
				if cfg.Limit < 1 {
					panic("a ring has a place at least")
				}
				ring, n := make([]time.Time, cfg.Limit), 0
				return func(t time.Time, _ int) Answer {
					if n >= cfg.Limit && t.Sub(ring[n%cfg.Limit]) < cfg.Window {
						return Answer{}
					}
					ring[n%cfg.Limit] = t
					n++
					return Answer{OK: true}
				}
			}),
		of("a counter that rounds down", SlidingCounter, QuotaTraits{Align: AlignCreation, Denied: DeniedFree},
			func(cfg QuotaConfig) func(time.Time, int) Answer {
				var start time.Time
				used, before, current := false, 0, 0
				return func(t time.Time, k int) Answer {
					if !used {
						start, used = t, true
					}
					if n := t.Sub(start) / cfg.Window; n > 0 {
						if before = 0; n == 1 {
							before = current
						}
						current, start = 0, start.Add(n*cfg.Window)
					}
					estimate := int(float64(before)*(1-t.Sub(start).Seconds()/cfg.Window.Seconds())) + current
					ok := estimate+k <= cfg.Limit
					if ok {
						current += k
					}
					return Answer{OK: ok}
				}
			}),
		of("a counter of all that was asked, up to the limit", SlidingCounter, QuotaTraits{Align: AlignEpoch, Denied: DeniedCounted},
			func(cfg QuotaConfig) func(time.Time, int) Answer {
				var start time.Time
				before, current := 0, 0
				return func(t time.Time, k int) Answer {
					if now := t.Truncate(cfg.Window); !now.Equal(start) {
						if before = 0; now.Sub(start) == cfg.Window {
							before = current
						}
						current, start = 0, now
					}
					current = min(current+k, cfg.Limit+1)
					estimate := float64(before)*float64(cfg.Window-t.Sub(start))/float64(cfg.Window) + float64(current)
					return Answer{OK: estimate <= float64(cfg.Limit)}
				}
			}),
		{
			Name: "a log whose janitor goes home", Time: PackageTime, Kind: SlidingLog,
			Traits: QuotaTraits{Edge: EdgeHalfOpen, Denied: DeniedFree, Single: true},
			New: func(_ Env, cfg QuotaConfig) QuotaFuncs {
				if cfg.Window > math.MaxInt64/2 {
					panic("the janitor comes every other window")
				}
				var mu sync.Mutex
				var log []time.Time
				working := false
				clean := func() (more bool) {
					mu.Lock()
					defer mu.Unlock()
					for len(log) > 0 && time.Since(log[0]) >= cfg.Window {
						log = log[1:]
					}
					working = len(log) > 0
					return working
				}
				return QuotaFuncs{Take: func(int) Answer {
					mu.Lock()
					defer mu.Unlock()
					n := 0
					for _, at := range log {
						if time.Since(at) < cfg.Window {
							n++
						}
					}
					if n >= cfg.Limit {
						return Answer{}
					}
					log = append(log, time.Now())
					if !working {
						working = true
						go func() {
							for more := true; more; more = clean() {
								time.Sleep(2 * cfg.Window)
							}
						}()
					}
					return Answer{OK: true}
				}}
			},
		},
		of("a bucket in floating point", GCRA, QuotaTraits{Grain: 1, Answers: AnswersRemaining | AnswersRetry, TooLarge: TooLargeForever},
			func(cfg QuotaConfig) func(time.Time, int) Answer {
				tokens, rate := float64(cfg.Burst), float64(cfg.Limit)/cfg.Window.Seconds()
				var last time.Time
				used := false
				return func(t time.Time, k int) Answer {
					if k > cfg.Burst {
						return Answer{RetryAfter: math.MaxInt64}
					}
					if used {
						tokens = min(float64(cfg.Burst), tokens+t.Sub(last).Seconds()*rate)
					}
					used, last = true, t
					if float64(k) > tokens+1e-9 {
						return Answer{Remaining: int(tokens + 1e-9), RetryAfter: time.Duration(math.Round((float64(k) - tokens) / rate * 1e9))}
					}
					tokens -= float64(k)
					return Answer{OK: true, Remaining: int(tokens + 1e-9)}
				}
			}),
		{
			Name: "an atomic arrival", Time: Explicit, Kind: GCRA, Traits: QuotaTraits{BackTime: BackClamp},
			New: func(env Env, cfg QuotaConfig) QuotaFuncs {
				var arrival, newest atomic.Int64
				t1 := int64(cfg.Window) / int64(cfg.Limit)
				if t1 < 1 || cfg.Burst > 0 && t1 > math.MaxInt64/4/int64(cfg.Burst) {
					panic("intervals are too short or too long to count with")
				}
				return QuotaFuncs{TakeAt: func(t time.Time, n int) Answer {
					if n <= 0 || n > cfg.Burst {
						return Answer{OK: n == 0}
					}
					for {
						now, old := int64(t.Sub(env.Start)), arrival.Load()
						if last := newest.Load(); now < last {
							now = last
						}
						next := max(old, now) + int64(n)*t1
						if next-now > int64(cfg.Burst)*t1 {
							return Answer{}
						}
						if arrival.CompareAndSwap(old, next) {
							newest.Store(now)
							return Answer{OK: true}
						}
					}
				}}
			},
		},
	}
}
