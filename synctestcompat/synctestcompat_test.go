package synctestcompat_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/escapement-go/escapement/synctestcompat"
	"github.com/jonboulle/clockwork"
)

var _ clockwork.Clock = (*synctestcompat.Clock)(nil)

func TestRun_startsAtTheEpochOfBubbles(t *testing.T) {
	synctestcompat.Run(t, func(*testing.T) {
		want := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
		if got := time.Now(); !got.Equal(want) {
			t.Errorf("time.Now() = %v, want %v", got, want)
		}
	})
}

// A timer due at the instant at which the sleep ends has run when Sleep returns.
func TestSleep_settlesTheInstantItReaches(t *testing.T) {
	synctestcompat.Require(t)
	for range 200 { // a bare time.Sleep misses about half of them
		synctestcompat.Run(t, func(*testing.T) {
			var ran atomic.Bool
			time.AfterFunc(time.Second, func() { ran.Store(true) })
			synctestcompat.Sleep(time.Second)
			if !ran.Load() {
				t.Fatal("AfterFunc(1s) had not run when Sleep(1s) returned")
			}
		})
	}
}

func TestWait_returnsWhenOthersAreBlocked(t *testing.T) {
	synctestcompat.Run(t, func(*testing.T) {
		steps := make(chan int)
		var got atomic.Int64
		go func() {
			for v := range steps {
				got.Store(int64(v))
			}
		}()
		steps <- 1
		synctestcompat.Wait()
		if got.Load() != 1 {
			t.Errorf("after Wait the receiver had stored %d, want 1", got.Load())
		}
		close(steps)
	})
}

func TestClock_advanceReachesEveryInstant(t *testing.T) {
	synctestcompat.Run(t, func(*testing.T) {
		c := synctestcompat.NewClock()
		start := c.Now()
		var at []time.Duration
		var tick func()
		tick = func() {
			at = append(at, c.Since(start))
			if len(at) < 3 {
				c.AfterFunc(time.Second, tick)
			}
		}
		c.AfterFunc(time.Second, tick)
		c.Advance(10 * time.Second)
		if got, want := fmt.Sprint(at), "[1s 2s 3s]"; got != want {
			t.Errorf("a timer that re-arms itself ran at %s, want %s", got, want)
		}
		if got := c.Since(start); got != 10*time.Second {
			t.Errorf("after Advance(10s) the clock is at %v", got)
		}
	})
}

func TestClock_refusesToGoBack(t *testing.T) {
	defer func() {
		want := "synctestcompat: Advance(-1s): time does not go back; use a duration >= 0"
		if got := recover(); got != want {
			t.Errorf("Advance(-1s) panicked with %v, want %q", got, want)
		}
	}()
	synctestcompat.NewClock().Advance(-time.Second)
}

// A goroutine that outlives the bubble's function is named by the same panic on
// every release, also where it would keep Go 1.24 busy for ever.
func TestRun_reportsWhatIsLeftBehind(t *testing.T) {
	synctestcompat.Require(t)
	leaks := map[string]func(){
		"blocked": func() { go func() { <-make(chan int) }() },
		"ticking": func() {
			go func() {
				for range time.NewTicker(time.Second).C {
				}
			}()
		},
	}
	for name, leak := range leaks {
		t.Run(name, func(t *testing.T) {
			defer func() {
				want := "deadlock: main bubble goroutine has exited but blocked goroutines remain"
				if got := fmt.Sprint(recover()); got != want {
					t.Errorf("Run panicked with %q, want %q", got, want)
				}
			}()
			synctestcompat.Run(t, func(*testing.T) { leak() })
		})
	}
}

// Goroutines that end by themselves are no leak.
func TestRun_waitsForGoroutinesThatEnd(t *testing.T) {
	synctestcompat.Run(t, func(*testing.T) {
		c := make(chan int)
		go func() { c <- 1 }()
		go func() { <-c }()
	})
}

func TestReason_isGivenExactlyWhereBubblesAreMissing(t *testing.T) {
	if synctestcompat.Available == (synctestcompat.Reason != "") {
		t.Errorf("Available = %v with Reason %q", synctestcompat.Available, synctestcompat.Reason)
	}
}
