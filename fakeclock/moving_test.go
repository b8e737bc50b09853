package fakeclock_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
)

// These tests show what MOVING.md claims.

func TestMoving_registrationRace(t *testing.T) {
	clock := fakeclock.NewTest(t)
	fired := make(chan time.Time)
	go func() { fired <- <-clock.After(time.Minute) }()
	clock.BlockUntil(1)
	clock.Advance(time.Minute)
	if got := (<-fired).Sub(start); got != time.Minute {
		t.Errorf("fired at %v, want 1m", got)
	}
}

func TestMoving_go123(t *testing.T) {
	clock := fakeclock.NewTest(t)
	timer := clock.NewTimer(time.Second)
	clock.Advance(time.Second)
	if !timer.Stop() {
		t.Error("Stop of a fired, unread timer is false")
	}
	select {
	case v := <-timer.Chan():
		t.Errorf("a stale value %v after Stop", v)
	default:
	}
}

func TestMoving_waitsForFunctions(t *testing.T) {
	clock := fakeclock.NewTest(t)
	ran := 0 // no lock: Advance orders it
	for i := range 10 {
		clock.AfterFunc(time.Duration(10-i)*time.Second, func() { ran++ })
	}
	clock.Advance(time.Minute)
	if ran != 10 {
		t.Errorf("%d functions ran, want 10", ran)
	}
}

func TestMoving_nowInFunction(t *testing.T) {
	clock := fakeclock.NewTest(t)
	var at time.Duration
	clock.AfterFunc(time.Second, func() { at = clock.Elapsed() })
	clock.Advance(time.Hour)
	if at != time.Second {
		t.Errorf("the function ran at %v, want 1s", at)
	}
}

func TestMoving_functionUsesClock(t *testing.T) {
	clock := fakeclock.NewTest(t)
	runs := 0
	clock.AfterFunc(time.Second, func() {
		timer := clock.AfterFunc(time.Second, func() { runs++ })
		timer.Reset(2 * time.Second)
		_, _ = clock.Next()
		clock.Sleep(time.Second)
	})
	clock.Advance(time.Minute)
	if runs != 1 {
		t.Errorf("the timer that the function armed ran %d times, want 1", runs)
	}
}

func TestMoving_particularTimer(t *testing.T) {
	clock := fakeclock.NewTest(t)
	background := clock.NewTicker(time.Second) // one service more or less does not matter
	defer background.Stop()
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		clock.Sleep(time.Minute)
	}()
	err := clock.BlockUntilFunc(context.Background(), func(timers []fakeclock.Timer) bool {
		for _, timer := range timers {
			if timer.Kind == fakeclock.KindSleep {
				return true
			}
		}
		return false
	})
	if err != nil {
		t.Fatal(err)
	}
	clock.Advance(time.Minute)
	wg.Wait()
}

func TestMoving_nextDeadline(t *testing.T) {
	clock := fakeclock.NewTest(t)
	for _, d := range []time.Duration{3, 1, 2} {
		clock.AfterFunc(d*time.Second, func() {})
	}
	var visited []time.Duration
	for {
		at, ok := clock.AdvanceNext()
		if !ok {
			break
		}
		visited = append(visited, at.Sub(start))
	}
	if len(visited) != 3 || visited[0] != time.Second || visited[2] != 3*time.Second {
		t.Errorf("AdvanceNext visited %v, want 1s, 2s and 3s", visited)
	}
}

func TestMoving_absoluteTimer(t *testing.T) {
	clock := fakeclock.NewTest(t)
	deadline := clock.Now().Add(time.Minute)
	clock.Advance(2 * time.Minute) // somebody else was quicker
	select {
	case <-clock.NewTimerAt(deadline).Chan():
	default:
		t.Error("a timer for an instant that has passed did not fire at once")
	}
}

func TestMoving_equalDeadlines(t *testing.T) {
	clock := fakeclock.NewTest(t)
	var mu sync.Mutex
	order := ""
	for _, name := range []string{"a", "b", "c", "d"} {
		clock.AfterFunc(time.Second, func() {
			mu.Lock()
			defer mu.Unlock()
			order += name
		})
	}
	clock.Advance(time.Second)
	if order != "abcd" {
		t.Errorf("equal deadlines fired in the order %s, want abcd", order)
	}
}

func TestMoving_sleepWaits(t *testing.T) {
	clock := fakeclock.NewTest(t)
	woke := make(chan time.Duration)
	go func() {
		clock.Sleep(time.Second)
		woke <- clock.Elapsed()
	}()
	clock.BlockUntil(1)
	if clock.Elapsed() != 0 {
		t.Error("Sleep moved the clock")
	}
	clock.Advance(time.Second)
	if got := <-woke; got != time.Second {
		t.Errorf("Sleep returned at %v, want 1s", got)
	}
}

func TestMoving_zeroDurations(t *testing.T) {
	clock := fakeclock.NewTest(t)
	clock.Sleep(0)
	clock.Sleep(-time.Second)
	<-clock.After(0)
	<-clock.NewTimer(-time.Second).Chan()
	ran := make(chan bool)
	clock.AfterFunc(0, func() { ran <- true })
	<-ran
	defer func() {
		if recover() == nil {
			t.Error("NewTicker(0) did not panic")
		}
	}()
	clock.NewTicker(0)
}

func TestMoving_hugeAdvance(t *testing.T) {
	clock := fakeclock.NewTest(t)
	ticker := clock.NewTicker(time.Nanosecond)
	defer ticker.Stop()
	clock.Advance(100 * 365 * 24 * time.Hour) // 3e18 ticks
	if got := (<-ticker.Chan()).Sub(start); got != 1 {
		t.Errorf("the tick is of %v, want 1ns", got)
	}
}
