package certain

import (
	"testing"
	"time"
)

func TestEnds(t *testing.T) {
	var b Breaker
	b.Open(10 * time.Millisecond)
	time.Sleep(20 * time.Millisecond) // want `the test sleeps 20ms`
	if b.IsOpen() {
		t.Error("open")
	}
}

func TestThroughInterface(t *testing.T) {
	var b Breaker
	Through(&b, 10*time.Millisecond)
	time.Sleep(20 * time.Millisecond) // want `the test sleeps 20ms`
	if b.IsOpen() {
		t.Error("open")
	}
}

func TestExactly(t *testing.T) { // no fix: both end at one instant
	var b Breaker
	b.Open(10 * time.Millisecond)
	time.Sleep(5 * time.Millisecond) // want `the test sleeps 5ms`
	time.Sleep(5 * time.Millisecond) // want `the test sleeps 5ms`
	if b.IsOpen() {
		t.Error("open")
	}
}

func TestOfUnknownLength(t *testing.T) { // no fix: it may be the same
	var b Breaker
	d := 10 * time.Millisecond
	b.Open(d)
	time.Sleep(2 * d) // want `the test sleeps`
}

func TestLeavesBehind(t *testing.T) { // no fix: a goroutine outlives it
	var b Breaker
	b.Watch(10 * time.Millisecond)
	time.Sleep(25 * time.Millisecond) // want `the test sleeps 25ms`
}

func TestNobodyReceives(t *testing.T) { // no fix: a goroutine may outlive it
	var b Breaker
	b.Answer()
	time.Sleep(25 * time.Millisecond) // want `the test sleeps 25ms`
}

func TestBusy(t *testing.T) { // no fix: time would stand still
	var b Breaker
	b.Open(10 * time.Millisecond)
	for b.IsOpen() {
	}
	time.Sleep(25 * time.Millisecond) // want `the test sleeps 25ms`
}

func TestLocked(t *testing.T) { // no fix: who waits for a lock keeps time from moving
	var b Breaker
	go b.Do(func() { time.Sleep(time.Second) })
	time.Sleep(25 * time.Millisecond) // want `the test sleeps 25ms`
	b.IsOpen()
}

func TestSharesState(t *testing.T) { // no fix: a timer that is there for ever
	Shared("a")
	time.Sleep(25 * time.Millisecond) // want `the test sleeps 25ms`
}

func TestCalendar(t *testing.T) { // no fix: a bubble begins at midnight
	if time.Now().Second() == 0 {
		time.Sleep(25 * time.Millisecond) // want `the test sleeps 25ms`
	}
}
