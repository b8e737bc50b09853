package conformance

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/jonboulle/clockwork"
)

// zooClock is a correct fake clock, and one mistake at will.
func zooClock(name string, waits ClockWaits, mistake func(f *ClockFuncs), opts ...fakeclock.Option) ClockSpec {
	return ClockSpec{
		Name:   name,
		Traits: ClockTraits{Waits: waits},
		New: func(env ClockEnv) ClockFuncs {
			opts := slices.Clone(opts)
			if waits == WaitsForAll {
				opts = append(opts, fakeclock.WithSettle(env.Settle))
			}
			clock := fakeclock.New(opts...)
			f := ClockOf(clock)
			f.WithTimeout = func(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
				return fakeclock.WithTimeout(parent, clock, d)
			}
			f.WithDeadline = func(parent context.Context, t time.Time) (context.Context, context.CancelFunc) {
				return fakeclock.WithDeadline(parent, clock, t)
			}
			if mistake != nil {
				mistake(&f)
			}
			return f
		},
	}
}

// valueless is a context that forgets the values of its parents.
type valueless struct{ context.Context }

func (v valueless) Value(key any) any {
	if _, root := key.(rootKey); root {
		return nil
	}
	return v.Context.Value(key)
}

// lazyContext is told that it has ended when its Done is called.
type lazyContext struct {
	context.Context
	ended sync.Once
	done  chan struct{}
}

func (l *lazyContext) Done() <-chan struct{} {
	if l.Err() != nil {
		l.ended.Do(func() { close(l.done) })
	}
	return l.done
}

// clockMutants are mistakes, each with the rule that must catch it.
var clockMutants = []struct {
	name, rule string
	waits      ClockWaits
	mistake    func(f *ClockFuncs)
}{
	{"Since is a nanosecond off", "CK-NOW", WaitsForAll, func(f *ClockFuncs) {
		since := f.Since
		f.Since = func(t time.Time) time.Duration { return since(t) + 1 }
	}},
	{"Since counts from the start", "CK-NOW", WaitsForAll, func(f *ClockFuncs) {
		start := f.Now()
		f.Since = func(time.Time) time.Duration { return f.Now().Sub(start) }
	}},
	{"the longest wait of a function overflows", "CK-FUNC", WaitsForAll, func(f *ClockFuncs) {
		afterFunc := f.AfterFunc
		f.AfterFunc = func(d time.Duration, fn func()) clockwork.Timer {
			if f.Now().UnixNano()+int64(d) < 0 {
				d = 0
			}
			return afterFunc(d, fn)
		}
	}},
	{"a context has no values", "CK-CTXTREE", WaitsForAll, func(f *ClockFuncs) {
		withTimeout := f.WithTimeout
		f.WithTimeout = func(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
			ctx, cancel := withTimeout(parent, d)
			return valueless{ctx}, cancel
		}
	}},
	{"timer sends the time after its deadline", "CK-TIMER", WaitsForAll, func(f *ClockFuncs) {
		f.NewTimer = func(d time.Duration) clockwork.Timer { return newRelay(f, d, 1, true) }
	}},
	{"Stop of a timer always says true", "CK-STOP", WaitsForAll, wrapTimers(func(t *timerMutant) {
		t.stop = func() bool { t.Timer.Stop(); return true }
	})},
	{"Reset of a stopped timer is lost", "CK-STOP", WaitsForAll, wrapTimers(func(t *timerMutant) {
		stopped := false
		t.stop = func() bool { stopped = true; return t.Timer.Stop() }
		t.reset = func(d time.Duration) bool {
			if stopped {
				return false
			}
			return t.Timer.Reset(d)
		}
	})},
	{"keeps a lock when a timer is reset", "CK-REENT", WaitsForAll, wrapTimers(func(t *timerMutant) {
		var mu sync.Mutex
		t.stop = func() bool { mu.Lock(); defer mu.Unlock(); return t.Timer.Stop() }
		t.reset = func(d time.Duration) bool { mu.Lock(); return t.Timer.Reset(d) }
	})},
	{"values stay after Stop, as before Go 1.23", "CK-UNREAD", WaitsForAll, func(f *ClockFuncs) {
		f.NewTimer = func(d time.Duration) clockwork.Timer { return newRelay(f, d, 0, false) }
	}},
	{"ticker drifts by a nanosecond", "CK-TICKER", WaitsForAll, func(f *ClockFuncs) {
		f.NewTicker = func(d time.Duration) clockwork.Ticker { return newRepeater(f, d, 1, true) }
	}},
	{"Stop after Reset does not stop a ticker", "CK-TICKSTOP", WaitsForAll, wrapTickers(func(t *tickerMutant) {
		reset := false
		t.reset = func(d time.Duration) { reset = true; t.Ticker.Reset(d) }
		t.stop = func() {
			if !reset {
				t.Ticker.Stop()
			}
		}
	})},
	{"ticks stay after Stop, as before Go 1.23", "CK-TICKUNREAD", WaitsForAll, func(f *ClockFuncs) {
		f.NewTicker = func(d time.Duration) clockwork.Ticker { return newRepeater(f, d, 0, false) }
	}},
	{"NewTicker takes a period of zero", "CK-TICKARG", WaitsForAll, func(f *ClockFuncs) {
		newTicker := f.NewTicker
		f.NewTicker = func(d time.Duration) clockwork.Ticker { return newTicker(max(d, 1)) }
	}},
	{"a timer of zero waits for the clock", "CK-ZERO", WaitsForAll, func(f *ClockFuncs) {
		newTimer := f.NewTimer
		f.NewTimer = func(d time.Duration) clockwork.Timer { return newTimer(max(d, 1)) }
	}},
	{"Stop of a function always says false", "CK-FUNC", WaitsForAll, wrapFuncs(func(t *timerMutant) {
		t.stop = func() bool { t.Timer.Stop(); return false }
	})},
	{"a function's timer has a channel", "CK-CHAN", WaitsForAll, wrapFuncs(func(t *timerMutant) {
		t.c = make(chan time.Time)
	})},
	{"Sleep oversleeps by a nanosecond", "CK-SLEEP", WaitsForAll, func(f *ClockFuncs) {
		sleep := f.Sleep
		f.Sleep = func(d time.Duration) {
			if d > 0 {
				d++
			}
			sleep(d)
		}
	}},
	{"one deadline holds one function", "CK-SAME", WaitsForAll, func(f *ClockFuncs) {
		var mu sync.Mutex
		taken := map[time.Time]bool{}
		afterFunc := f.AfterFunc
		f.AfterFunc = func(d time.Duration, fn func()) clockwork.Timer {
			mu.Lock()
			due := f.Now().Add(d)
			lost := taken[due]
			taken[due] = true
			mu.Unlock()
			t := afterFunc(d, fn)
			if lost && d > 0 {
				t.Stop()
			}
			return t
		}
	}},
	{"Advance panics where two deadlines meet", "CK-SAME", WaitsForAll, func(f *ClockFuncs) {
		var mu sync.Mutex
		due := map[time.Time]int{}
		afterFunc, advance := f.AfterFunc, f.Advance
		f.AfterFunc = func(d time.Duration, fn func()) clockwork.Timer {
			mu.Lock()
			due[f.Now().Add(d)]++
			mu.Unlock()
			return afterFunc(d, fn)
		}
		f.Advance = func(d time.Duration) {
			for at, n := range due {
				if n > 1 && !at.After(f.Now().Add(d)) {
					panic("two heads, one slot")
				}
			}
			advance(d)
		}
	}},
	{"functions run under the clock's lock", "CK-REENT", WaitsForAll, func(f *ClockFuncs) {
		var mu sync.Mutex
		now, afterFunc := f.Now, f.AfterFunc
		f.Now = func() time.Time { mu.Lock(); defer mu.Unlock(); return now() }
		f.AfterFunc = func(d time.Duration, fn func()) clockwork.Timer {
			return afterFunc(d, func() { mu.Lock(); defer mu.Unlock(); fn() })
		}
	}},
	{"functions run in the reverse order", "CK-ORDER", WaitsForAll, func(f *ClockFuncs) {
		var due []func()
		afterFunc, advance := f.AfterFunc, f.Advance
		f.AfterFunc = func(d time.Duration, fn func()) clockwork.Timer {
			return afterFunc(d, func() { due = append(due, fn) })
		}
		f.Advance = func(d time.Duration) {
			advance(d)
			for len(due) > 0 {
				last := due[len(due)-1]
				due = due[:len(due)-1]
				last()
			}
		}
	}},
	{"Stop among many drops the newest as well", "CK-ORDER", WaitsForAll, func(f *ClockFuncs) {
		var made []clockwork.Timer
		wrapFuncs(func(t *timerMutant) {
			made = append(made, t.Timer)
			t.stop = func() bool {
				if len(made) > 30 {
					made[len(made)-1].Stop()
				}
				return t.Timer.Stop()
			}
		})(f)
	}},
	{"Now is the end of the Advance", "CK-AT", WaitsForAll, func(f *ClockFuncs) {
		var mu sync.Mutex
		var end time.Time
		now, since, until, advance := f.Now, f.Since, f.Until, f.Advance
		f.Now = func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			if n := now(); n.After(end) {
				return n
			}
			return end
		}
		f.Since = func(t time.Time) time.Duration { return since(t) + f.Now().Sub(now()) }
		f.Until = func(t time.Time) time.Duration { return until(t) - f.Now().Sub(now()) }
		f.Advance = func(d time.Duration) {
			mu.Lock()
			end = now().Add(d)
			mu.Unlock()
			advance(d)
		}
	}},
	{"what a function arms counts from the end of the Advance", "CK-CHAIN", WaitsForAll, func(f *ClockFuncs) {
		var mu sync.Mutex
		advancing := false
		var late []func()
		newTimer, advance := f.NewTimer, f.Advance
		f.NewTimer = func(d time.Duration) clockwork.Timer {
			t := newTimer(d)
			mu.Lock()
			defer mu.Unlock()
			if advancing {
				t.Stop()
				late = append(late, func() { t.Reset(d) })
			}
			return t
		}
		f.Advance = func(d time.Duration) {
			mu.Lock()
			advancing = true
			mu.Unlock()
			advance(d)
			mu.Lock()
			defer mu.Unlock()
			advancing = false
			for _, f := range late {
				f()
			}
			late = nil
		}
	}},
	{"does not wait for what it wakes", "CK-FLOW", WaitsForAll, func(f *ClockFuncs) {
		*f = ClockOf(fakeclock.New())
	}},
	{"Err wraps the error", "CK-CONTEXT", WaitsForAll, func(f *ClockFuncs) {
		withTimeout := f.WithTimeout
		f.WithTimeout = func(p context.Context, d time.Duration) (context.Context, context.CancelFunc) {
			ctx, cancel := withTimeout(p, d)
			return wrappingContext{ctx}, cancel
		}
	}},
	{"a context ends when it is asked", "CK-CONTEXT", WaitsForAll, func(f *ClockFuncs) {
		withTimeout := f.WithTimeout
		f.WithTimeout = func(p context.Context, d time.Duration) (context.Context, context.CancelFunc) {
			ctx, cancel := withTimeout(p, d)
			return &lazyContext{Context: ctx, done: make(chan struct{})}, cancel
		}
	}},
	{"a child shows its own deadline", "CK-CTXTREE", WaitsForAll, func(f *ClockFuncs) {
		withTimeout := f.WithTimeout
		f.WithTimeout = func(p context.Context, d time.Duration) (context.Context, context.CancelFunc) {
			own := f.Now().Add(d)
			ctx, cancel := withTimeout(p, d)
			return ownDeadline{ctx, own}, cancel
		}
	}},
	{"a stopped function is still counted", "CK-ARMED", WaitsForAll, func(f *ClockFuncs) {
		n := 0
		armed := f.Armed
		wrapFuncs(func(t *timerMutant) {
			t.stop = func() bool { n++; return t.Timer.Stop() }
		})(f)
		f.Armed = func() int { return armed() + n }
	}},
	{"says that it waits for functions and does not", "CK-AWAIT", WaitsForFunctions, func(f *ClockFuncs) {
		afterFunc := f.AfterFunc
		f.AfterFunc = func(d time.Duration, fn func()) clockwork.Timer { return afterFunc(d, func() { go fn() }) }
	}},
	{"the third timer cannot be reset", "CK-DIFF", WaitsForAll, func(f *ClockFuncs) {
		n := 0
		wrapTimers(func(t *timerMutant) {
			if n++; n == 3 {
				t.reset = func(time.Duration) bool { return t.Timer.Stop() }
			}
		})(f)
	}},
	{"every timer has a goroutine for good", "X-LEAK", WaitsForAll, func(f *ClockFuncs) {
		newTimer := f.NewTimer
		f.NewTimer = func(d time.Duration) clockwork.Timer {
			startForGood()
			return newTimer(d)
		}
	}},
}

// startForGood and forGood have names, so that the failure text names them alike
// wherever they are used.
//
//go:noinline
func startForGood() { go forGood() }

//go:noinline
func forGood() { select {} }

// timerMutant is a timer whose methods can be replaced.
type timerMutant struct {
	clockwork.Timer
	stop  func() bool
	reset func(d time.Duration) bool
	c     chan time.Time
}

func (t *timerMutant) Stop() bool {
	if t.stop != nil {
		return t.stop()
	}
	return t.Timer.Stop()
}

func (t *timerMutant) Reset(d time.Duration) bool {
	if t.reset != nil {
		return t.reset(d)
	}
	return t.Timer.Reset(d)
}

func (t *timerMutant) Chan() <-chan time.Time {
	if t.c != nil {
		return t.c
	}
	return t.Timer.Chan()
}

func wrapTimers(mistake func(t *timerMutant)) func(f *ClockFuncs) {
	return func(f *ClockFuncs) {
		newTimer := f.NewTimer
		f.NewTimer = func(d time.Duration) clockwork.Timer {
			t := &timerMutant{Timer: newTimer(d)}
			mistake(t)
			return t
		}
	}
}

func wrapFuncs(mistake func(t *timerMutant)) func(f *ClockFuncs) {
	return func(f *ClockFuncs) {
		afterFunc := f.AfterFunc
		f.AfterFunc = func(d time.Duration, fn func()) clockwork.Timer {
			t := &timerMutant{Timer: afterFunc(d, fn)}
			mistake(t)
			return t
		}
	}
}

// relay is a timer made of AfterFunc and a channel, as fake clocks make them.
type relay struct {
	clockwork.Timer
	c     chan time.Time
	drain bool // Stop and Reset discard an unread value
}

func newRelay(f *ClockFuncs, d, late time.Duration, drain bool) *relay {
	r := &relay{c: make(chan time.Time, 1), drain: drain}
	r.Timer = f.AfterFunc(d, func() { r.send(f.Now().Add(late)) })
	return r
}

func (r *relay) send(t time.Time) {
	select {
	case r.c <- t:
	default:
	}
}

func (r *relay) unread() bool {
	if !r.drain {
		return false
	}
	select {
	case <-r.c:
		return true
	default:
		return false
	}
}

func (r *relay) Chan() <-chan time.Time { return r.c }

func (r *relay) Stop() bool {
	armed := r.Timer.Stop()
	return r.unread() || armed
}

func (r *relay) Reset(d time.Duration) bool {
	armed := r.Stop()
	r.Timer.Reset(d)
	return armed
}

// repeater is a ticker made of a relay that arms itself again.
type repeater struct {
	relay
	mu     sync.Mutex
	period time.Duration
}

func newRepeater(f *ClockFuncs, d, drift time.Duration, drain bool) *repeater {
	if d <= 0 {
		panic("non-positive period")
	}
	r := &repeater{relay: relay{c: make(chan time.Time, 1), drain: drain}, period: d}
	r.Timer = f.AfterFunc(d, func() {
		r.send(f.Now())
		r.mu.Lock()
		defer r.mu.Unlock()
		r.Timer.Reset(r.period + drift)
	})
	return r
}

func (r *repeater) Stop() { r.relay.Stop() }

func (r *repeater) Reset(d time.Duration) {
	if d <= 0 {
		panic("non-positive period")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.period = d
	r.relay.Reset(d)
}

// tickerMutant is a ticker whose methods can be replaced.
type tickerMutant struct {
	clockwork.Ticker
	stop  func()
	reset func(d time.Duration)
}

func (t *tickerMutant) Stop()                 { t.stop() }
func (t *tickerMutant) Reset(d time.Duration) { t.reset(d) }

func wrapTickers(mistake func(t *tickerMutant)) func(f *ClockFuncs) {
	return func(f *ClockFuncs) {
		newTicker := f.NewTicker
		f.NewTicker = func(d time.Duration) clockwork.Ticker {
			t := &tickerMutant{Ticker: newTicker(d)}
			mistake(t)
			return t
		}
	}
}

// wrappingContext says what went wrong in its own words.
type wrappingContext struct{ context.Context }

func (c wrappingContext) Err() error {
	if err := c.Context.Err(); err != nil {
		return fmt.Errorf("fake: %w", err)
	}
	return nil
}

// ownDeadline shows its own deadline even if a parent's comes first.
type ownDeadline struct {
	context.Context
	deadline time.Time
}

func (c ownDeadline) Deadline() (time.Time, bool) { return c.deadline, true }
