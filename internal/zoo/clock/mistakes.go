package clock

import (
	"context"
	"time"

	ct "github.com/escapement-go/escapement/conformance/clocktest"
	"github.com/escapement-go/escapement/fakeclock"
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
	{"a ticker of a nanosecond panics", "CK-TICKARG", nil},
	{"sleeps of a nanosecond are none", "CK-SLEEP", nil},
	{"timer sends the time after its deadline", "CK-TIMER", nil},
	{lateAlone, "CK-TIMER", nil},
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
	{"Reset of an unread timer leaves its value", "CK-UNREAD", nil},
	{"Reset of an unread timer says false", "CK-UNREAD", nil},
	{"Stop of a timer always says true", "CK-STOP", nil},
	{"Reset of a stopped timer is lost", "CK-STOP", nil},
	{keepsLock, "CK-REENT", nil},
	{"values stay after Stop, as before Go 1.23", "CK-UNREAD", nil},
	{"ticker drifts by a nanosecond", "CK-TICKER", nil},
	{"Stop after Reset does not stop a ticker", "CK-TICKSTOP", nil},
	{"ticks stay after Stop, as before Go 1.23", "CK-TICKUNREAD", nil},
	{"NewTicker takes a period of zero", "CK-TICKARG", nil},
	{"a timer of zero waits for the clock", "CK-ZERO", nil},
	{"Sleep oversleeps by a nanosecond", "CK-SLEEP", nil},
	{"the third timer cannot be reset", "CK-DIFF", func(f *ct.Funcs) {
		n, newTimer := 0, f.NewTimer
		f.NewTimer = func(d time.Duration) clockwork.Timer {
			if n++; n == 3 {
				return lastReset{newTimer(d)}
			}
			return newTimer(d)
		}
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
	{"every timer has a goroutine for good", "X-LEAK", nil},
}

// functionMistakes are mistakes of AfterFunc and of how the clock moves on.
var functionMistakes = []mistake{
	{"the longest wait of a function overflows", "CK-FUNC", nil},
	{"Stop at the deadline says true and leaves the function", "CK-SAME", nil},
	{"timers answer nothing, and a function is not stopped", "CK-FUNC", nil},
	{"Stop of a function always says false", "CK-FUNC", nil},
	{"a function's timer has a channel", "CK-CHAN", nil},
	{"Advance panics where two deadlines meet", "CK-SAME", nil},
	{"a Stop of what has run panics under its lock", "CK-REENT", nil},
	{runsUnderLock, "CK-REENT", nil},
	{"what fills a gap in the heap cannot rise", "CK-ORDER", heapedFunctions(2, "rise")},
	{"what fills a gap in the heap cannot sink", "CK-ORDER", heapedFunctions(2, "sink")},
	{"what is armed rises past a wrong place in the heap", "CK-ORDER", heapedFunctions(4, "parent")},
	{"what fills a gap in the heap looks at a wrong place above it", "CK-ORDER", heapedFunctions(4, "gap")},
	{"what fills a gap in the heap looks at a place too far below it", "CK-ORDER", heapedFunctions(4, "far")},
	{"the heap takes a nanosecond for none", "CK-ORDER", heapedFunctions(2, "tell")},
	{"functions run in the reverse order", "CK-ORDER", nil},
	{"Stop among many drops the newest as well", "CK-ORDER", nil},
	{"Now is the end of the Advance", "CK-AT", nil},
	{"what a function arms counts from the end of the Advance", "CK-CHAIN", nil},
	{"does not wait for what it wakes", "CK-FLOW", func(f *ct.Funcs) {
		*f = ct.Of(fakeclock.New())
	}},
	{"a stopped function is still counted", "CK-ARMED", nil},
	{"a function that runs is still counted", "CK-ARMED", nil},
	{"says that it waits for functions and does not", "CK-AWAIT", startsFunctions},
	{"Now reads without the lock what Advance writes", "X-RACE", nil},
	{"counts without a lock", "X-RACE", nil},
}

// longMistakes are those of clocks that count in nanoseconds since their start, of which there are
// too few for what is armed for the longest duration when the clock has moved: it is due at once.
var longMistakes = []mistake{
	{"a timer overflows", "CK-TIMER", nil},
	{"the deadline of a Reset overflows", "CK-STOP", nil},
	{"a ticker overflows", "CK-TICKER", nil},
	{"a context overflows", "CK-CONTEXT", func(f *ct.Funcs) {
		start, withTimeout := f.Now(), f.WithTimeout
		f.WithTimeout = func(p context.Context, d time.Duration) (context.Context, context.CancelFunc) {
			if d > 0 && f.Now().Sub(start)+d < 0 {
				d = 0
			}
			return withTimeout(p, d)
		}
	}},
}

// wallMistakes are mistakes of clocks whose wall clock can be stepped.
var wallMistakes = []mistake{
	{"a step forward fires what is armed", "CK-WALL", func(f *ct.Funcs) {
		setWall := f.SetWall
		f.SetWall = func(t time.Time) {
			if d := t.Sub(f.Now()); d > 0 {
				f.Advance(d)
			}
			setWall(t)
		}
	}},
	{"a timeout is what has not been shown of it", "CK-WALL", func(f *ct.Funcs) {
		withTimeout := f.WithTimeout
		f.WithTimeout = func(p context.Context, d time.Duration) (context.Context, context.CancelFunc) {
			return withTimeout(p, -f.Since(f.Now().Add(d)))
		}
	}},
	{"a child is compared with its parent by wall time", "CK-WALL", func(f *ct.Funcs) {
		withTimeout := f.WithTimeout
		f.WithTimeout = func(p context.Context, d time.Duration) (context.Context, context.CancelFunc) {
			if end, ends := p.Deadline(); ends && end.Before(f.Now().Add(d)) {
				return context.WithCancel(p)
			}
			return withTimeout(p, d)
		}
	}},
	{"who sleeps looks at the wall when he wakes", "CK-WALL", func(f *ct.Funcs) {
		sleep := f.Sleep
		f.Sleep = func(d time.Duration) {
			for end := f.Now().Add(d); d > 0; d = end.Sub(f.Now()) {
				sleep(d)
			}
		}
	}},
	{"Until is the opposite of Since", "CK-WALL", func(f *ct.Funcs) {
		f.Until = func(t time.Time) time.Duration { return -max(f.Since(t), 1-1<<63) }
	}},
}

// unreadMistakes are those of clocks that look at what is unread.
var unreadMistakes = []mistake{
	{tickComesBack, "CK-CHAIN", nil},
	{tickIsLost, "CK-TICKER", nil},
	{sendsUnderLock, "CK-DIFF", nil},
}
