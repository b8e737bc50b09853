package quota

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	qt "github.com/escapement-go/escapement/conformance/quotatest"
)

// takeAt asks for n events at t.
type takeAt = func(t time.Time, n int) qt.Answer

// serial is a limiter that is told the time, to which take is asked under a lock, in order and
// for no more than it can grant.
func serial(name string, kind qt.Kind, tr qt.Traits, make func(cfg qt.Config) takeAt) qt.Spec {
	tr.BackTime = qt.BackClamp
	return qt.Spec{Name: name, Time: qt.Explicit, Kind: kind, Traits: tr, New: func(_ qt.Env, cfg qt.Config) qt.Funcs {
		take, mu := make(cfg), new(sync.Mutex)
		var newest time.Time
		return qt.Funcs{TakeAt: func(t time.Time, n int) qt.Answer {
			mu.Lock()
			defer mu.Unlock()
			if n < 0 || n > max(cfg.Limit, cfg.Burst) {
				return qt.Answer{RetryAfter: math.MaxInt64}
			}
			if t.Before(newest) {
				t = newest
			}
			newest = t
			return take(t, n)
		}}
	}}
}

// clearedByTicker counts what is asked for until the next tick, however short the window is.
func clearedByTicker() qt.Spec {
	return qt.Spec{
		Name: "a count that a ticker clears", Time: qt.PackageTime, Kind: qt.FixedWindow,
		New: func(_ qt.Env, cfg qt.Config) qt.Funcs {
			ticker, stop := time.NewTicker(cfg.Window), make(chan struct{})
			var count atomic.Int64
			go func() {
				defer ticker.Stop()
				for {
					select {
					case <-ticker.C:
						count.Store(0)
					case <-stop:
						return
					}
				}
			}()
			return qt.Funcs{Take: func(n int) qt.Answer {
				if n != 1 {
					panic("one at a time")
				}
				return qt.Answer{OK: count.Add(1) <= int64(cfg.Limit)}
			}, Reset: func() { count.Store(0) }, Stop: sync.OnceFunc(func() { close(stop) })}
		},
		Traits: qt.Traits{OneAtATime: true, Edge: qt.EdgeHalfOpen, Align: qt.AlignCreation},
	}
}

// inSeconds answers in whole seconds, as the headers of HTTP do; a mutant cuts what is left off.
func inSeconds(kind qt.Kind, mutant string) qt.Spec {
	spec := limiterSpec(mutant, kind, qt.Explicit)
	spec.Name, spec.Traits.Rounded = "answers in whole seconds, "+spec.Name, time.Second
	cut := func(d time.Duration) time.Duration {
		if up := time.Second - 1; d > 0 && mutant != "cut off" {
			d += up
		}
		return d.Truncate(time.Second)
	}
	New := spec.New
	spec.New = func(env qt.Env, cfg qt.Config) qt.Funcs {
		f := New(env, cfg)
		rounded := func(a qt.Answer) qt.Answer {
			a.ResetAfter = cut(a.ResetAfter)
			if a.RetryAfter > 0 {
				a.RetryAfter = cut(a.RetryAfter)
			}
			return a
		}
		return qt.Funcs{
			TakeAt: func(t time.Time, n int) qt.Answer { return rounded(f.TakeAt(t, n)) },
			PeekAt: func(t time.Time) qt.Answer { return rounded(f.PeekAt(t)) },
		}
	}
	return spec
}

// toTheSecond knows the time to the second, as those do that keep Unix times, and takes no window of parts of one.
func toTheSecond(spec qt.Spec) qt.Spec {
	spec.Name += ", to the second"
	spec.Traits.Resolution, spec.Traits.Fields, spec.Traits.RetryNever = time.Second, 0, 0
	New := spec.New
	spec.New = func(env qt.Env, cfg qt.Config) qt.Funcs {
		if cfg.Window%time.Second != 0 {
			panic("the window must be whole seconds")
		}
		f := New(env, cfg)
		return qt.Funcs{TakeAt: func(t time.Time, n int) qt.Answer {
			return qt.Answer{OK: f.TakeAt(t.Truncate(time.Second), n).OK}
		}}
	}
	return spec
}

// wholeLog remembers all that was asked, also what was denied.
func wholeLog() qt.Spec {
	return serial("a log of all that was asked", qt.SlidingLog,
		qt.Traits{Edge: qt.EdgeClosed, CountDenied: qt.DeniedCounted},
		func(cfg qt.Config) takeAt {
			var log []time.Time
			return func(t time.Time, k int) qt.Answer {
				n := 0
				for _, at := range log {
					if t.Sub(at) <= cfg.Window {
						n++
					}
				}
				for range k {
					log = append(log, t)
				}
				return qt.Answer{OK: n+k <= cfg.Limit}
			}
		})
}

// roundedDown rounds its estimate down.
func roundedDown() qt.Spec {
	return serial("a counter that rounds down", qt.SlidingCounter,
		qt.Traits{Align: qt.AlignCreation, CountDenied: qt.DeniedFree},
		func(cfg qt.Config) takeAt {
			var start time.Time
			used, before, current := false, 0, 0
			return func(t time.Time, k int) qt.Answer {
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
				ok := k <= cfg.Limit-estimate
				if ok {
					current += k
				}
				return qt.Answer{OK: ok}
			}
		})
}

// cappedCounter counts what is denied too, but no more than one above the limit.
func cappedCounter() qt.Spec {
	return serial("a counter of all that was asked, up to the limit", qt.SlidingCounter,
		qt.Traits{Align: qt.AlignEpoch, CountDenied: qt.DeniedCounted},
		func(cfg qt.Config) takeAt {
			var start time.Time
			before, current := 0, 0
			return func(t time.Time, k int) qt.Answer {
				if now := t.Truncate(cfg.Window); !now.Equal(start) {
					if before = 0; now.Sub(start) == cfg.Window {
						before = current
					}
					current, start = 0, now
				}
				current = min(current+k, cfg.Limit+1)
				estimate := float64(before)*float64(cfg.Window-t.Sub(start))/float64(cfg.Window) + float64(current)
				return qt.Answer{OK: estimate <= float64(cfg.Limit)}
			}
		})
}

// janitor has a goroutine that clears the log, and ends when that is empty.
func janitor() qt.Spec {
	return qt.Spec{
		Name: "a log whose janitor goes home", Time: qt.PackageTime, Kind: qt.SlidingLog,
		Traits: qt.Traits{Edge: qt.EdgeHalfOpen, CountDenied: qt.DeniedFree, OneAtATime: true},
		New: func(_ qt.Env, cfg qt.Config) qt.Funcs {
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
			return qt.Funcs{Take: func(int) qt.Answer {
				mu.Lock()
				defer mu.Unlock()
				n := 0
				for _, at := range log {
					if time.Since(at) < cfg.Window {
						n++
					}
				}
				if n >= cfg.Limit {
					return qt.Answer{}
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
				return qt.Answer{OK: true}
			}}
		},
	}
}

// floatingBucket is a token bucket in floating point, which is exact to a nanosecond.
func floatingBucket() qt.Spec {
	return serial("a bucket in floating point", qt.GCRA,
		qt.Traits{Resolution: 1, Fields: qt.FieldRemaining | qt.FieldRetry, RetryNever: qt.RetryForever},
		func(cfg qt.Config) takeAt {
			tokens, rate := float64(cfg.Burst), float64(cfg.Limit)/cfg.Window.Seconds()
			var last time.Time
			used := false
			return func(t time.Time, k int) qt.Answer {
				if k > cfg.Burst {
					return qt.Answer{RetryAfter: math.MaxInt64}
				}
				if used {
					tokens = min(float64(cfg.Burst), tokens+t.Sub(last).Seconds()*rate)
				}
				used, last = true, t
				if float64(k) > tokens {
					wait := math.Round((float64(k) - tokens) / rate * 1e9)
					return qt.Answer{Remaining: int(tokens), RetryAfter: time.Duration(wait)}
				}
				tokens -= float64(k)
				return qt.Answer{OK: true, Remaining: int(tokens)}
			}
		})
}

// deniesLosers is a mistake of atomicArrival.
const deniesLosers = "who loses a race is denied"

// atomicArrival keeps the theoretical arrival time in an atomic integer.
func atomicArrival(mutant string) qt.Spec {
	return qt.Spec{
		Name: "an atomic arrival", Time: qt.Explicit, Kind: qt.GCRA, Traits: qt.Traits{BackTime: qt.BackClamp},
		New: func(env qt.Env, cfg qt.Config) qt.Funcs {
			var arrival, newest atomic.Int64
			t1 := int64(cfg.Window) / int64(cfg.Limit)
			if t1 < 1 || cfg.Burst > 0 && t1 > math.MaxInt64/4/int64(cfg.Burst) {
				panic("intervals are too short or too long to count with")
			}
			return qt.Funcs{TakeAt: func(t time.Time, n int) qt.Answer {
				if n <= 0 || n > cfg.Burst {
					return qt.Answer{OK: n == 0}
				}
				for {
					now, old := int64(t.Sub(env.Start)), arrival.Load()
					if last := newest.Load(); now < last {
						now = last
					}
					next := max(old, now) + int64(n)*t1
					if next-now > int64(cfg.Burst)*t1 {
						return qt.Answer{}
					}
					if mutant == deniesLosers {
						for range 2000 { // so that others come in between
							arrival.Load()
						}
					}
					if arrival.CompareAndSwap(old, next) {
						newest.Store(now)
						return qt.Answer{OK: true}
					}
					if mutant == deniesLosers {
						return qt.Answer{}
					}
				}
			}}
		},
	}
}
