package clock

import (
	"sync"
	"sync/atomic"
	"time"

	ct "github.com/escapement-go/escapement/conformance/clocktest"
	"github.com/escapement-go/escapement/fakeclock"
	"github.com/jonboulle/clockwork"
)

// functionMistakes are mistakes of AfterFunc and of how the clock moves on.
var functionMistakes = []mistake{
	{"the longest wait of a function overflows", "CK-FUNC", func(f *ct.Funcs) {
		afterFunc := f.AfterFunc
		f.AfterFunc = func(d time.Duration, fn func()) clockwork.Timer {
			if f.Now().UnixNano()+int64(d) < 0 {
				d = 0
			}
			return afterFunc(d, fn)
		}
	}},
	{"Stop at the deadline says true and leaves the function", "CK-SAME", func(f *ct.Funcs) {
		afterFunc := f.AfterFunc
		f.AfterFunc = func(d time.Duration, fn func()) clockwork.Timer {
			var ran atomic.Bool
			due := f.Now().Add(d)
			t := &timerMutant{Timer: afterFunc(d, func() { ran.Store(true); fn() })}
			t.stop = func() bool { return !ran.Load() && f.Now().Equal(due) || t.Timer.Stop() }
			return t
		}
	}},
	{"timers answer nothing, and a function is not stopped", "CK-FUNC", func(f *ct.Funcs) {
		unanswering(f)
		afterFunc := f.AfterFunc
		f.AfterFunc = func(d time.Duration, fn func()) clockwork.Timer { return unstoppable{afterFunc(d, fn)} }
	}},
	{"Stop of a function always says false", "CK-FUNC", wrapFuncs(func(t *timerMutant) {
		t.stop = func() bool { t.Timer.Stop(); return false }
	})},
	{"a function's timer has a channel", "CK-CHAN", wrapFuncs(func(t *timerMutant) {
		t.c = make(chan time.Time)
	})},
	{"Advance panics where two deadlines meet", "CK-SAME", func(f *ct.Funcs) {
		var mu sync.Mutex
		due := map[time.Time]int{}
		afterFunc, advance := f.AfterFunc, f.Advance
		f.AfterFunc = func(d time.Duration, fn func()) clockwork.Timer {
			mu.Lock()
			due[f.Now().Add(d)]++
			mu.Unlock()
			return afterFunc(d, fn)
		}
		meet := func(end time.Time) bool {
			mu.Lock()
			defer mu.Unlock()
			for at, n := range due {
				if n > 1 && !at.After(end) {
					return true
				}
			}
			return false
		}
		f.Advance = func(d time.Duration) {
			if meet(f.Now().Add(d)) {
				panic("two heads, one slot")
			}
			advance(d)
		}
	}},
	{"a Stop of what has run panics under its lock", "CK-REENT", func(f *ct.Funcs) {
		var mu sync.Mutex
		now := f.Now
		f.Now = func() time.Time { mu.Lock(); defer mu.Unlock(); return now() }
		wrapFuncs(func(t *timerMutant) {
			t.stop = func() bool {
				mu.Lock()
				armed := t.Timer.Stop()
				if !armed {
					panic("the timer is in no list")
				}
				mu.Unlock()
				return armed
			}
		})(f)
	}},
	{"functions run under the clock's lock", "CK-REENT", func(f *ct.Funcs) {
		var mu sync.Mutex
		now, afterFunc := f.Now, f.AfterFunc
		f.Now = func() time.Time { mu.Lock(); defer mu.Unlock(); return now() }
		f.AfterFunc = func(d time.Duration, fn func()) clockwork.Timer {
			return afterFunc(d, func() { mu.Lock(); defer mu.Unlock(); fn() })
		}
	}},
	{"what fills a gap in the heap cannot rise", "CK-ORDER", heapedFunctions(2, "rise")},
	{"what fills a gap in the heap cannot sink", "CK-ORDER", heapedFunctions(2, "sink")},
	{"what is armed rises past a wrong place in the heap", "CK-ORDER", heapedFunctions(4, "parent")},
	{"what fills a gap in the heap looks at a wrong place above it", "CK-ORDER", heapedFunctions(4, "gap")},
	{"what fills a gap in the heap looks at a place too far below it", "CK-ORDER", heapedFunctions(4, "far")},
	{"the heap takes a nanosecond for none", "CK-ORDER", heapedFunctions(2, "tell")},
	{"functions run in the reverse order", "CK-ORDER", func(f *ct.Funcs) {
		var mu sync.Mutex
		var due []func()
		afterFunc, advance := f.AfterFunc, f.Advance
		f.AfterFunc = func(d time.Duration, fn func()) clockwork.Timer {
			return afterFunc(d, func() {
				mu.Lock()
				defer mu.Unlock()
				due = append(due, fn)
			})
		}
		last := func() func() {
			mu.Lock()
			defer mu.Unlock()
			if len(due) == 0 {
				return nil
			}
			fn := due[len(due)-1]
			due = due[:len(due)-1]
			return fn
		}
		f.Advance = func(d time.Duration) {
			advance(d)
			for fn := last(); fn != nil; fn = last() {
				fn()
			}
		}
	}},
	{"Stop among many drops the newest as well", "CK-ORDER", func(f *ct.Funcs) {
		var mu sync.Mutex
		var made []clockwork.Timer
		wrapFuncs(func(t *timerMutant) {
			mu.Lock()
			defer mu.Unlock()
			made = append(made, t.Timer)
			t.stop = func() bool {
				mu.Lock()
				defer mu.Unlock()
				if len(made) > 30 {
					made[len(made)-1].Stop()
				}
				return t.Timer.Stop()
			}
		})(f)
	}},
	{"Now is the end of the Advance", "CK-AT", func(f *ct.Funcs) {
		var mu sync.Mutex
		var end time.Time
		now, advance := f.Now, f.Advance
		f.Now = func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			if n := now(); n.After(end) {
				return n
			}
			return end
		}
		f.Since = func(t time.Time) time.Duration { return f.Now().Sub(t) }
		f.Until = func(t time.Time) time.Duration { return t.Sub(f.Now()) }
		f.Advance = func(d time.Duration) {
			mu.Lock()
			end = now().Add(d)
			mu.Unlock()
			advance(d)
		}
	}},
	{"what a function arms counts from the end of the Advance", "CK-CHAIN", func(f *ct.Funcs) {
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
	{"does not wait for what it wakes", "CK-FLOW", func(f *ct.Funcs) {
		*f = ct.Of(fakeclock.New())
	}},
	{"a stopped function is still counted", "CK-ARMED", func(f *ct.Funcs) {
		n := 0
		armed := f.Armed
		wrapFuncs(func(t *timerMutant) {
			t.stop = func() bool { n++; return t.Timer.Stop() }
		})(f)
		f.Armed = func() int { return armed() + n }
	}},
	{"a function that runs is still counted", "CK-ARMED", func(f *ct.Funcs) {
		var running atomic.Int64
		armed, afterFunc := f.Armed, f.AfterFunc
		f.AfterFunc = func(d time.Duration, fn func()) clockwork.Timer {
			return afterFunc(d, func() {
				running.Add(1)
				defer running.Add(-1)
				fn()
			})
		}
		f.Armed = func() int { return armed() + int(running.Load()) }
	}},
	{"says that it waits for functions and does not", "CK-AWAIT", startsFunctions},
	{"Now reads without the lock what Advance writes", "X-RACE", func(f *ct.Funcs) {
		now, advance := f.Now(), f.Advance
		f.Now = func() time.Time { return now }
		f.Advance = func(d time.Duration) { now = now.Add(d); advance(d) }
	}},
	{"counts without a lock", "X-RACE", func(f *ct.Funcs) {
		n := 0
		wrapFuncs(func(t *timerMutant) {
			t.stop = func() bool { n++; return t.Timer.Stop() }
		})(f)
	}},
}
