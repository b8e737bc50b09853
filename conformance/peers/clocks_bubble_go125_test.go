//go:build go1.25

package peers

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/jonboulle/clockwork"
)

// inBubble runs a benchmark on package time in a bubble of testing/synctest, once
// for each b.N that is tried.
func inBubble(b *testing.B, bench func(m meter, new func() fakeClock)) {
	m := &bubbled{b: b, left: b.N, calls: make(chan func()), done: make(chan struct{})}
	go func() {
		defer close(m.calls)
		synctest.Test(new(testing.T), func(*testing.T) {
			bench(m, func() fakeClock { return bubbleClock{} })
		})
	}()
	for call := range m.calls {
		call()
		m.done <- struct{}{}
	}
}

// bubbled is a meter for the inside of a bubble. Whatever reads time is done outside;
// waiting for that does not move the bubble's time, as the channels are not its own.
type bubbled struct {
	b     *testing.B
	left  int
	calls chan func()
	done  chan struct{}
}

func (m *bubbled) outside(f func()) {
	m.calls <- f
	<-m.done
}

func (m *bubbled) Loop() bool {
	if m.left == m.b.N {
		m.outside(m.b.ResetTimer)
	}
	if m.left == 0 {
		m.outside(m.b.StopTimer)
		return false
	}
	m.left--
	return true
}

func (m *bubbled) StartTimer() { m.outside(m.b.StartTimer) }
func (m *bubbled) StopTimer()  { m.outside(m.b.StopTimer) }

// bubbleClock is package time. Advance waits for all that it has started.
type (
	bubbleClock  struct{}
	bubbleTimer  struct{ *time.Timer }
	bubbleTicker struct{ *time.Ticker }
)

func (bubbleClock) Advance(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (bubbleClock) Now() time.Time                           { return time.Now() }
func (bubbleClock) Since(t time.Time) time.Duration          { return time.Since(t) }
func (bubbleClock) Until(t time.Time) time.Duration          { return time.Until(t) }
func (bubbleClock) Sleep(d time.Duration)                    { time.Sleep(d) }
func (bubbleClock) After(d time.Duration) <-chan time.Time   { return time.After(d) }
func (bubbleClock) NewTimer(d time.Duration) clockwork.Timer { return bubbleTimer{time.NewTimer(d)} }
func (bubbleClock) NewTicker(d time.Duration) clockwork.Ticker {
	return bubbleTicker{time.NewTicker(d)}
}
func (bubbleClock) AfterFunc(d time.Duration, f func()) clockwork.Timer {
	return bubbleTimer{time.AfterFunc(d, f)}
}
func (t bubbleTimer) Chan() <-chan time.Time  { return t.C }
func (t bubbleTicker) Chan() <-chan time.Time { return t.C }

const go124 = false

// bubbledLoop returns a loop whose calls are made in a bubble.
func bubbledLoop(b *testing.B, prepare func(c fakeClock) func(n int)) func(n int) {
	calls, done := make(chan int), make(chan struct{})
	b.Cleanup(func() { close(calls) })
	go inBubble(b, func(_ meter, new func() fakeClock) {
		loop := prepare(new())
		for n := range calls {
			loop(n)
			done <- struct{}{}
		}
	})
	return func(n int) {
		calls <- n
		<-done
	}
}
