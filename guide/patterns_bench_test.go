package guide

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/escapement-go/escapement/debounce"
	"github.com/escapement-go/escapement/limiters"
)

// The table of patterns of "Debounce and Throttle — Specification" (see SOURCES.md): what
// each allocates for an event. That they are O(1) is shown where something could grow with
// the events or the keys: by a pair of sizes. Waits are on real time, of 100 µs at most.
func BenchmarkPatterns(b *testing.B) {
	many, few := limiters.NewTokenBucket(1e6, 1), limiters.NewTokenBucket(1e4, 1)
	bursts := debounce.New(time.Hour, func(int) {})
	defer bursts.Stop()
	events, handled := make(chan int), make(chan int)
	stop := make(chan bool)
	defer close(stop)
	go debounceLoop(stop, events, handled)
	ticker := time.NewTicker(time.Microsecond)
	defer ticker.Stop()
	var escapes *limiters.Reservation
	for _, pattern := range []struct {
		name  string
		event func(i int)
	}{
		{"allow", func(int) { many.Allow() }},
		{"wait", func(int) { _ = few.Wait(context.Background()) }},
		{"reserve", func(int) { many.Reserve().Cancel() }},
		{"reserve-that-escapes", func(int) { escapes = many.Reserve(); escapes.Cancel() }},
		{"trailing-by-AfterFunc/call", func(i int) { bursts.Call(i) }},
		{"trailing-by-AfterFunc/burst", func(i int) { bursts.Call(i); bursts.Flush() }},
		{"trailing-by-goroutine/call", func(i int) { events <- i; <-handled }},
		{"time.After-in-a-loop", func(int) { <-time.After(time.Microsecond) }},
		{"ticker-in-a-loop", func(int) { <-ticker.C }},
		{"limiter-for-each-of-1000", perActor(1000)},
		{"limiter-for-each-of-100000", perActor(100_000)},
	} {
		b.Run(pattern.name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				pattern.event(i)
			}
		})
	}
}

// debounceLoop is a trailing debouncer in a goroutine of its own, with one timer that each
// event resets; it answers each event, so that the benchmark sees how long one takes.
func debounceLoop(stop chan bool, events, handled chan int) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		select {
		case e := <-events:
			timer.Reset(time.Hour)
			handled <- e
		case <-timer.C: // here it would call
		case <-stop:
			return
		}
	}
}

// perActor asks one limiter after another, each that of an actor who is known.
func perActor(actors int) func(int) {
	k := limiters.NewKeyed(actors, func(int) *limiters.FixedWindow {
		return limiters.NewFixedWindow(1, time.Hour)
	}, (*limiters.FixedWindow).Fresh)
	for actor := range actors {
		if err := k.Do(actor, func(l *limiters.FixedWindow) { l.Allow() }); err != nil {
			panic(fmt.Sprintf("actor %d: %v", actor, err))
		}
	}
	return func(i int) { _ = k.Do(i%actors, func(l *limiters.FixedWindow) { l.Allow() }) }
}
