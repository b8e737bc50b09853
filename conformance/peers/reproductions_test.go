package peers

import (
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	bep "github.com/bep/debounce"
	"github.com/escapement-go/escapement/synctestcompat"
	romdo "github.com/romdo/go-debounce"
	"github.com/samber/lo"
	uber "go.uber.org/ratelimit"
	"golang.org/x/time/rate"
)

// These tests show each known failure with the library alone, so that a mistake of
// the suite cannot hide behind it. They fail when the library is mended.

var start = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// The docs of AllowN say "reports whether n events may happen at time t", and do not
// mention a negative n. A request for -1 is granted and pays one token in: 4 leave a
// bucket of 3 at one instant. Some callers count on it (golang/go#54082).
func TestXTime_negativeRequestAddsTokens(t *testing.T) {
	l := rate.NewLimiter(10, 3)
	l.AllowN(start, 1)
	l.AllowN(start, -1)
	if !l.AllowN(start, 3) {
		t.Error("AllowN(t, 3) was denied: x/time no longer adds tokens for a negative n")
	}
}

// The docs promise "events up to rate r" and "bursts of at most b tokens", and do not
// ask that t never goes back. One token a second and a burst of 2 make 3 tokens in a
// second; asking about the start of that second again mints a fourth, and so on for
// ever (golang/go#56287).
func TestXTime_pastInstantMintsTokens(t *testing.T) {
	l := rate.NewLimiter(1, 2)
	granted := 0
	for range 100 {
		if l.AllowN(start.Add(time.Second), 1) {
			granted++
		}
		l.AllowN(start, 0) // asks for nothing, one second ago
	}
	if granted <= 3 {
		t.Errorf("%d tokens in one second: x/time no longer mints any", granted)
	}
}

// The docs of New say "will limit to the given RPS", without bounds. 6e8 a second are
// 1.67ns apiece; the limiter lets them pass 1ns apart.
func TestUber_fastRateIsCutToNanoseconds(t *testing.T) {
	clock := &jumping{now: start}
	l := uber.New(600_000_000, uber.WithoutSlack, uber.WithClock(clock))
	for range 601 {
		l.Take()
	}
	if got := clock.now.Sub(start); got >= time.Microsecond {
		t.Errorf("601 Takes took %v: the rate is kept", got)
	}
}

// Above 1e9 a second the interval is cut to nothing: no Take ever waits.
func TestUber_veryFastRateIsUnlimited(t *testing.T) {
	clock := &jumping{now: start}
	l := uber.New(1_500_000_000, uber.WithoutSlack, uber.WithClock(clock))
	for range 10_000 {
		l.Take()
	}
	if got := clock.now.Sub(start); got != 0 {
		t.Errorf("10000 Takes took %v: the rate is kept", got)
	}
}

// The docs of WithClock offer "typically a mock Clock for testing", and do not say
// where it may start. At Unix(0) the limiter takes itself for unused: nothing waits.
func TestUber_unixZeroIsTakenForNew(t *testing.T) {
	clock := &jumping{now: time.Unix(0, 0)}
	l := uber.New(10, uber.WithoutSlack, uber.WithClock(clock))
	for range 100 {
		l.Take()
	}
	if got := clock.now.Sub(time.Unix(0, 0)); got != 0 {
		t.Errorf("100 Takes at 10/s took %v: the sentinel is gone", got)
	}
}

// The docs of WithSlack say that unspent requests accumulate "for future bursts of
// traffic". They are lost when the last Take was at Unix(0): after 10s with a slack of
// 1 the third Take waits; from any other start it does not.
func TestUber_unixZeroLosesSlack(t *testing.T) {
	for _, epoch := range []time.Time{time.Unix(0, 0), start} {
		clock := &jumping{now: epoch}
		l := uber.New(10, uber.WithSlack(1), uber.WithClock(clock))
		l.Take()
		clock.Sleep(10 * time.Second)
		before := clock.now
		l.Take()
		clock.Sleep(50 * time.Millisecond)
		l.Take()
		waited := clock.now.Sub(before) - 50*time.Millisecond
		if (waited > 0) != (epoch != start) {
			t.Errorf("after %v: waited %v", epoch, waited)
		}
	}
}

// The docs of bep/debounce say "the last one will win", and nothing of a call at the
// instant at which the timer expires. The older function can run after the newer
// call has returned, a whole wait early.
func TestBep_olderFunctionRunsAfterNewerCall(t *testing.T) {
	late := afterTheFact(t, func(f func()) (again func()) {
		debounced := bep.New(time.Second)
		debounced(f)
		return func() { debounced(func() {}) }
	})
	if late == 0 {
		t.Errorf("no older function ran after a newer call in %d rounds: bep/debounce looks back now", rounds)
	}
}

// The docs of lo.NewDebounce say that functions are delayed "until after wait
// milliseconds have elapsed", and nothing of the same tie.
func TestLo_firesAfterNewerCall(t *testing.T) {
	late := afterTheFact(t, func(f func()) (again func()) {
		debounced, _ := lo.NewDebounce(time.Second, f)
		debounced()
		return debounced
	})
	if late == 0 {
		t.Errorf("nothing fired after a newer call in %d rounds: lo.NewDebounce looks back now", rounds)
	}
}

// The README of lo says "until cancel is called", and not whether a function may
// still start when cancel has returned.
func TestLo_firesAfterCancelReturned(t *testing.T) {
	late := afterTheFact(t, func(f func()) (again func()) {
		debounced, cancel := lo.NewDebounce(time.Second, f)
		debounced()
		return cancel
	})
	if late == 0 {
		t.Errorf("nothing fired after cancel in %d rounds: lo.NewDebounce looks back now", rounds)
	}
}

// The docs of lo.NewThrottle say nothing of a call from the function. It waits for the
// mutex under which the function runs: from the function itself, for ever.
func TestLo_throttleHoldsItsMutex(t *testing.T) {
	var throttled func()
	blocked := false
	throttled, _ = lo.NewThrottle(time.Hour, func() {
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			throttled()
		}()
		for {
			select {
			case <-ended:
				return
			default:
			}
			for _, g := range strings.Split(stackDump(), "\n\n") {
				if strings.Contains(g, "[sync.Mutex.Lock") && strings.Contains(g, ".throttledFunc(") {
					blocked = true
					return
				}
			}
			runtime.Gosched()
		}
	})
	throttled()
	if !blocked {
		t.Error("the call went through: lo runs its functions without the mutex now")
	}
}

// The docs of lo.NewThrottleBy say "only once in every interval" of each key. The timer
// that the first key starts lets the second pass again before its interval is over.
func TestLo_keysShareATimer(t *testing.T) {
	synctestcompat.Require(t)
	synctestcompat.Run(t, func(*testing.T) {
		var passed []time.Duration
		begin := time.Now()
		throttled, _ := lo.NewThrottleBy(time.Second, func(key string) {
			if key == "b" {
				passed = append(passed, time.Since(begin))
			}
		})
		throttled("a")
		synctestcompat.Sleep(900 * time.Millisecond)
		throttled("b")
		synctestcompat.Sleep(150 * time.Millisecond)
		throttled("b")
		synctestcompat.Sleep(time.Hour)
		if len(passed) != 2 || passed[1]-passed[0] >= time.Second {
			t.Errorf("b passed at %v: each key has an interval of its own now", passed)
		}
	})
}

// The docs of lo.NewThrottleBy do not say what an interval of 0 is. A timer ends it, as any other, so that of calls
// one after the other some are dropped.
func TestLo_zeroIntervalDropsCalls(t *testing.T) {
	dropped := 0
	for range rounds {
		passed := 0
		throttled, _ := lo.NewThrottleBy(0, func(string) { passed++ })
		throttled("a")
		throttled("a")
		dropped += 2 - passed
	}
	if dropped == 0 {
		t.Errorf("no call was dropped in %d rounds: an interval of 0 has no timer now", rounds)
	}
}

// The docs of lo.NewThrottle say "only once in every interval", and of reset that it is "to
// reset interval". A timer that has expired when reset comes waits for the mutex, and then
// ends the interval that the next call has begun.
func TestLo_expiredTimerEndsTheNextInterval(t *testing.T) {
	synctestcompat.Require(t)
	early := 0
	for range rounds {
		synctestcompat.Run(t, func(*testing.T) {
			passed := 0
			throttled, reset := lo.NewThrottle(time.Second, func() { passed++ })
			throttled()
			time.Sleep(time.Second)
			reset()
			throttled()
			synctestcompat.Sleep(time.Nanosecond)
			throttled()
			if passed == 3 {
				early++
			}
			synctestcompat.Sleep(time.Hour)
		})
	}
	if early == 0 {
		t.Errorf("no interval ended early in %d rounds: an expired timer looks whose interval it ends now", rounds)
	}
}

// The docs of romdo's debouncer say that it "delays invoking f until after wait time has elapsed
// since the last time the debounced function was invoked". With a maximum, a timer that has
// expired when a call comes waits for the mutex, runs f at once, and stops the timer of the call.
func TestRomdo_expiredTimerRunsForTheNextCall(t *testing.T) {
	synctestcompat.Require(t)
	early := 0
	for range rounds {
		synctestcompat.Run(t, func(*testing.T) {
			var ran, last atomic.Int64
			debounced, _ := romdo.NewWithMaxWait(time.Second, 10*time.Second, func() {
				ran.Add(1)
				last.Store(time.Now().UnixNano())
			})
			debounced()
			time.Sleep(time.Second)
			debounced()
			called := time.Now().UnixNano()
			synctestcompat.Sleep(time.Hour)
			if ran.Load() == 1 && called == last.Load() {
				early++
			}
		})
	}
	if early == 0 {
		t.Errorf("a run came a second after the call, in each of %d rounds: mended", rounds)
	}
}

func stackDump() string {
	for size := 1 << 20; ; size *= 2 {
		buf := make([]byte, size)
		if n := runtime.Stack(buf, true); n < size {
			return string(buf[:n])
		}
	}
}

// rounds is how often a tie is tried: who goes first is chance.
const rounds = 400

// afterTheFact arms a debouncer of one second and calls what arm returned at the
// instant of its deadline. It returns how often f started only after that call had
// returned.
func afterTheFact(t *testing.T, arm func(f func()) (again func())) (late int) {
	synctestcompat.Require(t)
	synctestcompat.Run(t, func(*testing.T) {
		for range rounds {
			var fired atomic.Bool
			again := arm(func() { fired.Store(true) })
			time.Sleep(time.Second)
			again()
			before := fired.Load()
			synctestcompat.Wait()
			if !before && fired.Load() {
				late++
			}
			synctestcompat.Sleep(2 * time.Second)
		}
	})
	return late
}

// jumping is a clock whose Sleep moves it.
type jumping struct{ now time.Time }

func (c *jumping) Now() time.Time        { return c.now }
func (c *jumping) Sleep(d time.Duration) { c.now = c.now.Add(d) }
