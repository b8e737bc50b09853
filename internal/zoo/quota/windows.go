package quota

import (
	"sync"
	"sync/atomic"
	"time"

	qt "github.com/escapement-go/escapement/conformance/quotatest"
)

// Correct limiters by fixed windows of other designs.

// expiringKey counts under a key that expires a window after its first event.
func expiringKey() qt.Spec {
	return serial("a key that expires", qt.FixedWindow,
		qt.Traits{Edge: qt.EdgeHalfOpen, Align: qt.AlignFirstUse, CountDenied: qt.DeniedFree},
		func(cfg qt.Config) takeAt {
			var until time.Time
			n := 0
			return func(t time.Time, k int) qt.Answer {
				if k == 0 {
					return qt.Answer{OK: true}
				}
				if n == 0 || !t.Before(until) {
					n, until = 0, t.Add(cfg.Window)
				}
				if k > cfg.Limit-n {
					return qt.Answer{}
				}
				n += k
				return qt.Answer{OK: true}
			}
		})
}

// resetLeaves is a mistake of openedByAny.
const resetLeaves = "a reset leaves the window"

// openedByAny has windows that begin with any request, also one that cannot be granted.
func openedByAny(mutant string) qt.Spec {
	return qt.Spec{
		Name: "a window that any request opens", Time: qt.Explicit, Kind: qt.FixedWindow,
		Traits: qt.Traits{
			Edge: qt.EdgeHalfOpen, Align: qt.AlignFirstUse, CountDenied: qt.DeniedFree, BackTime: qt.BackClamp,
			RetryNever: qt.RetryZero, Fields: qt.FieldRemaining | qt.FieldReset,
		},
		New: func(_ qt.Env, cfg qt.Config) qt.Funcs {
			var mu sync.Mutex
			var until, newest time.Time
			n := 0
			reset := func() {
				mu.Lock()
				defer mu.Unlock()
				if n = 0; mutant != resetLeaves {
					until = time.Time{}
				}
			}
			return qt.Funcs{Reset: reset, TakeAt: func(t time.Time, k int) qt.Answer {
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
				return qt.Answer{OK: ok, Remaining: cfg.Limit - n, ResetAfter: until.Sub(t)}
			}}
		},
	}
}

// openedByLook is a mistake: its windows begin with a look, too, except for the first.
func openedByLook() qt.Spec {
	spec := openedByAny("")
	New := spec.New
	spec.New = func(env qt.Env, cfg qt.Config) qt.Funcs {
		take := New(env, cfg).TakeAt
		var asked atomic.Bool
		return qt.Funcs{
			TakeAt: func(t time.Time, n int) qt.Answer {
				asked.Store(true)
				return take(t, n)
			},
			PeekAt: func(t time.Time) qt.Answer {
				if !asked.Load() {
					return qt.Answer{}
				}
				return take(t, 0)
			},
		}
	}
	spec.Name, spec.Traits.Fields, spec.Traits.RetryNever = "a window that a look opens", 0, 0
	return spec
}

// openedAtOnce has a first window that begins when the limiter is made. It tells the end of a window, at which that is
// not over yet.
func openedAtOnce() qt.Spec {
	spec := choosySpec(qt.FixedWindow, qt.Explicit, qt.Traits{
		Edge: qt.EdgeClosed, Align: qt.AlignFirstUse, CountDenied: qt.DeniedFree, BackTime: qt.BackClamp,
		OneAtATime: true, RetryNever: qt.RetryZero, Fields: qt.FieldRemaining | qt.FieldRetry | qt.FieldReset,
	}, whims{made: true, past: true})
	spec.Name = "a window that the constructor opens"
	spec = eachIsOne(spec)
	made := spec.New
	spec.New = func(env qt.Env, cfg qt.Config) qt.Funcs {
		take := made(env, cfg).TakeAt
		return qt.Funcs{TakeAt: func(t time.Time, n int) qt.Answer {
			a := take(t, n)
			a.ResetAfter = max(0, a.ResetAfter-1)
			return a
		}}
	}
	return spec
}

// eachIsOne is a limiter that takes any request for one event.
func eachIsOne(spec qt.Spec) qt.Spec {
	made := spec.New
	spec.New = func(env qt.Env, cfg qt.Config) qt.Funcs {
		f := made(env, cfg)
		return qt.Funcs{TakeAt: func(t time.Time, _ int) qt.Answer { return f.TakeAt(t, 1) }}
	}
	return spec
}

// gridFromFirst has windows that follow one another from the first request on. It is exact, also where a cautious
// author declares a grain.
func gridFromFirst(grain time.Duration) qt.Spec {
	spec := choosySpec(qt.FixedWindow, qt.Explicit, qt.Traits{
		Edge: qt.EdgeHalfOpen, Align: qt.AlignCreation, CountDenied: qt.DeniedFree, BackTime: qt.BackClamp,
		OneAtATime: true, RetryNever: qt.RetryZero, Fields: qt.FieldRemaining | qt.FieldRetry | qt.FieldReset,
	}, whims{past: true})
	if spec.Name = "a grid from the first request on"; grain > 0 {
		spec.Name, spec.Traits.Resolution = spec.Name+", to "+grain.String(), grain
	}
	return eachIsOne(spec)
}

// expiringIncrement counts first and decides then, under a key that expires after a window.
func expiringIncrement() qt.Spec {
	return serial("an increment that expires", qt.FixedWindow,
		qt.Traits{Edge: qt.EdgeClosed, Align: qt.AlignFirstUse, CountDenied: qt.DeniedCounted},
		func(cfg qt.Config) takeAt {
			var until time.Time
			n := int64(0) // what is denied counts, too, and four limits may be more than an int32
			return func(t time.Time, k int) qt.Answer {
				if k > 0 && (n == 0 || t.After(until)) {
					n, until = 0, t.Add(cfg.Window)
				}
				n += int64(k)
				return qt.Answer{OK: n <= int64(cfg.Limit) || k == 0}
			}
		})
}

// ticksFromFirst counts in ticks of a window, the first of which begins with the first request.
func ticksFromFirst() qt.Spec {
	return serial("ticks from the first request", qt.FixedWindow,
		qt.Traits{Edge: qt.EdgeHalfOpen, Align: qt.AlignCreation, CountDenied: qt.DeniedFree},
		func(cfg qt.Config) takeAt {
			var first time.Time
			used, left, tick := false, cfg.Limit, time.Duration(0)
			return func(t time.Time, k int) qt.Answer {
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
				return qt.Answer{OK: ok}
			}
		})
}

// keyOfUnix counts under the number of the window since 1970, in whole seconds, as scripts of Redis do.
func keyOfUnix() qt.Spec {
	return serial("a key for each window of Unix time", qt.FixedWindow,
		qt.Traits{Edge: qt.EdgeHalfOpen, Align: qt.AlignUnix, CountDenied: qt.DeniedFree},
		func(cfg qt.Config) takeAt {
			if cfg.Window%time.Second != 0 {
				panic("the window is no whole number of seconds")
			}
			seconds, counts := int64(cfg.Window/time.Second), map[int64]int{}
			return func(t time.Time, k int) qt.Answer {
				key := t.Unix() / seconds
				if k > cfg.Limit-counts[key] {
					return qt.Answer{}
				}
				counts[key] += k
				return qt.Answer{OK: true}
			}
		})
}
