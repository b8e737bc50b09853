package guide

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/synctestcompat"
)

// Advance that comes before the timer is armed moves past nothing.
func TestTrap_notArmedYet(t *testing.T) {
	clock := fakeclock.NewTest(t)
	begin, woke := make(chan bool), make(chan time.Duration)
	go func() {
		<-begin // late
		clock.Sleep(time.Minute)
		woke <- clock.Elapsed()
	}()
	clock.Advance(time.Minute)
	close(begin)
	clock.BlockUntil(1) // the cure, here too late
	if at, _ := clock.Next(); clock.Until(at) != time.Minute {
		t.Errorf("it wakes in %v: the Advance before has moved it", clock.Until(at))
	}
	clock.Advance(time.Minute)
	if at := <-woke; at != 2*time.Minute {
		t.Errorf("woke at %v, want 2m", at)
	}
}

// A lock that is held over a sleep keeps a bubble from settling if another goroutine waits
// for it. A fake clock outside a bubble does not care.
func TestTrap_lockHeldOverSleep(t *testing.T) {
	clock := fakeclock.NewTest(t)
	var mu sync.Mutex
	ended := make(chan time.Duration)
	for range 2 {
		go func() {
			mu.Lock()
			defer mu.Unlock()
			clock.Sleep(time.Minute)
			ended <- clock.Elapsed()
		}()
	}
	for i := range 2 {
		clock.BlockUntil(1)
		clock.Advance(time.Minute)
		if at := <-ended; at != time.Duration(i+1)*time.Minute {
			t.Errorf("goroutine %d ended at %v", i, at)
		}
	}
}

// Code that holds a lock over a wait and takes no clock: what comes before what needs no
// time. Whoever is inside lets the others in, if they can come. This never fails without a
// bug; that it finds one depends on turns, of which a thousand are enough.
func TestTrap_orderWithoutTime(t *testing.T) {
	var mu sync.Mutex
	var inside, done atomic.Int32
	var all sync.WaitGroup
	for range 2 {
		all.Add(1)
		go func() {
			defer all.Done()
			mu.Lock()
			defer mu.Unlock()
			if n := inside.Add(1); n != 1 {
				t.Errorf("%d of them hold the lock", n)
			}
			for range 1000 {
				runtime.Gosched()
			}
			inside.Add(-1)
			done.Add(1)
		}()
	}
	all.Wait()
	if n := done.Load(); n != 2 {
		t.Errorf("%d have been inside, want 2", n)
	}
}

// The time of a bubble stands still while anybody is busy, so a loop that asks until
// something is due asks for ever.
func TestTrap_busyLoop(t *testing.T) {
	synctestcompat.Run(t, func(t *testing.T) {
		const ttl = time.Nanosecond
		stored := time.Now()
		for range 1000 {
			runtime.Gosched()
			if age := time.Since(stored); age != 0 {
				t.Fatalf("time has moved by %v during the loop", age)
			}
		}
		synctestcompat.Sleep(ttl) // in place of the loop
		if age := time.Since(stored); age != ttl {
			t.Errorf("after a sleep of %v the age is %v", ttl, age)
		}
	})
}

// Subtests outside, bubbles inside.
func TestTrap_subtests(t *testing.T) {
	for _, wait := range []time.Duration{time.Second, time.Hour} {
		t.Run(wait.String(), func(t *testing.T) {
			synctestcompat.Run(t, func(t *testing.T) {
				began := time.Now()
				<-time.After(wait)
				if took := time.Since(began); took != wait {
					t.Errorf("After(%v) took %v", wait, took)
				}
			})
		})
	}
}

var loaded = time.Now()

// A time that was noted when the package was loaded is one of another clock.
func TestTrap_timeOfAnotherClock(t *testing.T) {
	synctestcompat.Run(t, func(t *testing.T) {
		if age := time.Since(loaded); age >= 0 && age < 24*time.Hour {
			t.Errorf("the process seems to be %v old", age)
		}
	})
}

// A function that waits for what the test does after Advance would make Advance hang. In a
// bubble that settles, it waits as any goroutine does.
func TestTrap_functionWaitsForTest(t *testing.T) {
	synctestcompat.Run(t, func(t *testing.T) {
		clock := fakeclock.NewTest(t, fakeclock.WithSettle(synctestcompat.Wait))
		proceed, ended := make(chan bool), false
		clock.AfterFunc(time.Second, func() {
			<-proceed
			ended = true
		})
		clock.Advance(time.Second)
		close(proceed)
		synctestcompat.Wait()
		if !ended {
			t.Error("the function has not ended")
		}
	})
}

// A fake clock does not see what does not go through it.
func TestTrap_packageTimeBesideTheClock(t *testing.T) {
	synctestcompat.Run(t, func(t *testing.T) {
		clock := fakeclock.NewTest(t, fakeclock.WithSettle(synctestcompat.Wait))
		ctx, cancel := clockwork.WithTimeout(t.Context(), clock, time.Second) // on package time, by clockwork's doing
		defer cancel()
		clock.Advance(time.Hour)
		if ctx.Err() != nil {
			t.Error("clockwork.WithTimeout knows this clock now: the guide is out of date")
		}
		ours, cancel := fakeclock.WithTimeout(t.Context(), clock, time.Second)
		defer cancel()
		clock.Advance(time.Second)
		if ours.Err() == nil {
			t.Error("a context on the clock has not ended")
		}
	})
}

// Real time always adds a little to a sleep. In a bubble a sleep is exact, so a test meets
// the instant itself: there code that asks for "longer than" and code that asks for "as long
// as" differ.
func TestTrap_exactly(t *testing.T) {
	synctestcompat.Run(t, func(t *testing.T) {
		const ttl = time.Minute
		stored := time.Now()
		synctestcompat.Sleep(ttl)
		if age := time.Since(stored); age > ttl || age < ttl {
			t.Errorf("after a sleep of %v the age is %v", ttl, age)
		}
	})
}

// A ticker that nobody stops gives a bubble something to do for ever, so that a test which
// waits in vain is no deadlock. A limit costs nothing there.
func TestTrap_tickerRunsOn(t *testing.T) {
	synctestcompat.Run(t, func(t *testing.T) {
		stop, inVain := make(chan bool), make(chan bool)
		go runUntil(stop, time.Second)
		began := time.Now()
		select {
		case <-inVain:
		case <-time.After(time.Hour):
		}
		if took := time.Since(began); took != time.Hour {
			t.Errorf("it waited for %v", took)
		}
		close(stop)
	})
}

func runUntil(stop chan bool, interval time.Duration) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-stop:
			return
		}
	}
}
