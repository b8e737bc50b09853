package clock

import (
	"sync"
	"time"

	ct "github.com/escapement-go/escapement/conformance/clocktest"
	"github.com/escapement-go/escapement/internal/zoo"
	"github.com/jonboulle/clockwork"
)

// timerMistakes are mistakes of timers, tickers, sleepers and the clock itself.
var timerMistakes = []mistake{
	{"Since is a nanosecond off", "CK-NOW", func(f *ct.Funcs) {
		since := f.Since
		f.Since = func(t time.Time) time.Duration { return since(t) + 1 }
	}},
	{"Since of what is to come is 0", "CK-NOW", func(f *ct.Funcs) {
		since := f.Since
		f.Since = func(t time.Time) time.Duration { return max(0, since(t)) }
	}},
	{"Since of the zero time overflows", "CK-NOW", func(f *ct.Funcs) {
		f.Since = func(t time.Time) time.Duration {
			now := f.Now()
			return time.Duration(now.Unix()-t.Unix())*time.Second + time.Duration(now.Nanosecond()-t.Nanosecond())
		}
	}},
	{"a ticker of a nanosecond panics", "CK-TICKARG", func(f *ct.Funcs) {
		newTicker := f.NewTicker
		f.NewTicker = func(d time.Duration) clockwork.Ticker {
			if d < 2 {
				panic("the period is too short")
			}
			return newTicker(d)
		}
	}},
	{"sleeps of a nanosecond are none", "CK-SLEEP", func(f *ct.Funcs) {
		sleep := f.Sleep
		f.Sleep = func(d time.Duration) { sleep(d - d%2) }
	}},
	{"timer sends the time after its deadline", "CK-TIMER", func(f *ct.Funcs) {
		f.NewTimer = func(d time.Duration) clockwork.Timer { return newRelay(f, d, 1, true) }
	}},
	{"After alone sends the time after its deadline", "CK-TIMER", func(f *ct.Funcs) {
		g := *f
		*f = ct.Funcs{Now: g.Now, Advance: g.Advance, After: func(d time.Duration) <-chan time.Time {
			return newRelay(&g, d, 1, true).c
		}}
	}},
	{"Tick is NewTicker and panics", "CK-TICK", func(f *ct.Funcs) {
		newTicker := f.NewTicker
		f.Tick = func(d time.Duration) <-chan time.Time { return newTicker(d).Chan() }
	}},
	{"Tick of a nanosecond is nil", "CK-TICK", func(f *ct.Funcs) {
		tick := f.Tick
		f.Tick = func(d time.Duration) <-chan time.Time {
			if d == 1 {
				return nil
			}
			return tick(d)
		}
	}},
	{"Reset of an unread timer leaves its value", "CK-UNREAD", wrapRelays(func(r *relay, d time.Duration) bool {
		armed := r.Timer.Stop()
		r.Timer.Reset(d)
		return armed || len(r.c) > 0
	})},
	{"Reset of an unread timer says false", "CK-UNREAD", wrapRelays(func(r *relay, d time.Duration) bool {
		armed := r.Timer.Stop()
		r.unread()
		r.Timer.Reset(d)
		return armed
	})},
	{"Stop of a timer always says true", "CK-STOP", wrapTimers(func(t *timerMutant) {
		t.stop = func() bool { t.Timer.Stop(); return true }
	})},
	{"Reset of a stopped timer is lost", "CK-STOP", wrapTimers(func(t *timerMutant) {
		stopped := false
		t.stop = func() bool { stopped = true; return t.Timer.Stop() }
		t.reset = func(d time.Duration) bool {
			if stopped {
				return false
			}
			return t.Timer.Reset(d)
		}
	})},
	{"keeps a lock when a timer is reset", "CK-REENT", wrapTimers(func(t *timerMutant) {
		var mu sync.Mutex
		t.stop = func() bool { mu.Lock(); defer mu.Unlock(); return t.Timer.Stop() }
		t.reset = func(d time.Duration) bool { mu.Lock(); return t.Timer.Reset(d) }
	})},
	{"values stay after Stop, as before Go 1.23", "CK-UNREAD", func(f *ct.Funcs) {
		f.NewTimer = func(d time.Duration) clockwork.Timer { return newRelay(f, d, 0, false) }
	}},
	{"ticker drifts by a nanosecond", "CK-TICKER", func(f *ct.Funcs) {
		f.NewTicker = func(d time.Duration) clockwork.Ticker { return newRepeater(f, d, 1, true) }
	}},
	{"Stop after Reset does not stop a ticker", "CK-TICKSTOP", wrapTickers(func(t *tickerMutant) {
		reset := false
		t.reset = func(d time.Duration) { reset = true; t.Ticker.Reset(d) }
		t.stop = func() {
			if !reset {
				t.Ticker.Stop()
			}
		}
	})},
	{"ticks stay after Stop, as before Go 1.23", "CK-TICKUNREAD", func(f *ct.Funcs) {
		f.NewTicker = func(d time.Duration) clockwork.Ticker { return newRepeater(f, d, 0, false) }
	}},
	{"NewTicker takes a period of zero", "CK-TICKARG", func(f *ct.Funcs) {
		newTicker := f.NewTicker
		f.NewTicker = func(d time.Duration) clockwork.Ticker { return newTicker(max(d, 1)) }
	}},
	{"a timer of zero waits for the clock", "CK-ZERO", func(f *ct.Funcs) {
		newTimer := f.NewTimer
		f.NewTimer = func(d time.Duration) clockwork.Timer { return newTimer(max(d, 1)) }
	}},
	{"Sleep oversleeps by a nanosecond", "CK-SLEEP", func(f *ct.Funcs) {
		sleep := f.Sleep
		f.Sleep = func(d time.Duration) {
			if d > 0 {
				d++
			}
			sleep(d)
		}
	}},
	{"the third timer cannot be reset", "CK-DIFF", func(f *ct.Funcs) {
		n := 0
		wrapTimers(func(t *timerMutant) {
			if n++; n == 3 {
				t.reset = func(time.Duration) bool { return t.Timer.Stop() }
			}
		})(f)
	}},
	{"Since overflows, and goes by what then looks as if it were of the clock", "CK-NOW", func(f *ct.Funcs) {
		start := f.Now()
		f.Since = func(t time.Time) time.Duration {
			now := f.Now()
			d := time.Duration(t.Unix()-start.Unix())*time.Second + time.Duration(t.Nanosecond()-start.Nanosecond())
			if elapsed := now.Sub(start); 0 <= d && d <= elapsed {
				return elapsed - d
			}
			return now.Sub(t)
		}
	}},
	{"every timer has a goroutine for good", "X-LEAK", func(f *ct.Funcs) {
		newTimer := f.NewTimer
		f.NewTimer = func(d time.Duration) clockwork.Timer {
			zoo.LeaveForGood()
			return newTimer(d)
		}
	}},
}
