package certain

import (
	"context"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
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
	time.Sleep(25 * time.Millisecond) // want `the test sleeps 25ms; a bubble does not wait for it, once the test ends what it starts: `
}

func TestStops(t *testing.T) {
	m := NewMeter(context.Background())
	defer m.Stop()
	time.Sleep(25 * time.Millisecond) // want `the test sleeps 25ms`
}

func TestStopsByHelper(t *testing.T) {
	defer goleak(t) // it stays outside
	newMeter(t)
	time.Sleep(25 * time.Millisecond) // want `the test sleeps 25ms`
}

func newMeter(t *testing.T) *Meter {
	m := NewMeter(context.Background())
	t.Cleanup(m.Stop)
	return m
}

func goleak(t *testing.T) { runtime.NumGoroutine() }

func TestCancels(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	NewMeter(ctx)
	time.Sleep(25 * time.Millisecond) // want `the test sleeps 25ms`
}

func TestStopsAnother(t *testing.T) { // no fix: one is left behind
	NewMeter(context.Background())
	m := NewMeter(context.Background())
	m.Stop()
	time.Sleep(25 * time.Millisecond) // want `the test sleeps 25ms`
}

func TestSubtests(t *testing.T) {
	outside := make(chan bool, 1)
	for _, d := range []time.Duration{10 * time.Millisecond} {
		t.Run("in a bubble", func(t *testing.T) {
			var b Breaker
			b.Open(d)
			time.Sleep(25 * time.Millisecond) // want `the test sleeps 25ms`
		})
		t.Run("not in one", func(t *testing.T) { // no fix: a channel from outside
			outside <- true
			time.Sleep(25 * time.Millisecond) // want `the test sleeps 25ms`
			<-outside
		})
	}
}

func TestFewTicks(t *testing.T) { // no fix: the last of them is at the end
	var b Breaker
	b.Open(10 * time.Millisecond)
	assert.Eventually(t, b.IsOpen, time.Second, time.Second/2) // want `the test polls`
}

func TestListens(t *testing.T) { // no fix: what waits for a socket keeps time from moving
	l, _ := net.Listen("tcp", "localhost:0")
	defer l.Close()
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
		time.Sleep(time.Second) // want `the test sleeps 1s`
	}
}
