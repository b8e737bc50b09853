package peers

import (
	"strconv"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
)

// BenchmarkRows_clocks has reads of a fake clock, a timer that is armed anew, and what fires.
func BenchmarkRows_clocks(b *testing.B) {
	rows := []costRow{nowRow(), sinceRow()}
	for _, n := range []int{1, 10_000, 1_000_000} {
		rows = append(rows, resetRow(n))
	}
	rows = append(rows, advanceRows()...)
	measureRows(b, append(rows, pendingBytesRow("timer"), pendingBytesRow("func")))
}

// clockRow measures what is done with each of some clocks; prepare makes that ready.
func clockRow(name string, most float64, prepare func(c fakeClock) func(n int)) costRow {
	return costRow{name: name, most: most, sides: func(b *testing.B) []side {
		var sides []side
		for _, c := range clocks {
			if c.name == "escapement" || c.name == "clockwork" && most > 0 {
				sides = append(sides, side{name: c.name, loop: prepare(c.new())})
			}
		}
		if !go124 {
			sides = append(sides, side{name: "testing/synctest", loop: bubbledLoop(b, prepare)})
		}
		return sides
	}}
}

func nowRow() costRow {
	return clockRow("Clock.Now", 5, func(c fakeClock) func(n int) {
		return func(n int) {
			for range n {
				c.Now()
			}
		}
	})
}

func sinceRow() costRow {
	return clockRow("Clock.Since", 10, func(c fakeClock) func(n int) {
		t := c.Now()
		return func(n int) {
			for range n {
				c.Since(t)
			}
		}
	})
}

// resetRow puts off one of so many timers, each time to a later deadline.
func resetRow(timers int) costRow {
	row := clockRow("Timer.Reset, one of "+strconv.Itoa(timers)+", later", 0, func(c fakeClock) func(n int) {
		all, next := make([]clockwork.Timer, timers), 0
		for i := range all {
			all[i] = c.AfterFunc(time.Hour+time.Duration(i)*time.Millisecond, func() {})
		}
		later := 2 * time.Hour
		return func(n int) {
			for range n {
				all[next].Reset(later)
				later++
				if next += 7919; next >= timers { // a prime, so that all have their turn
					next %= timers
				}
			}
		}
	})
	sides := row.sides
	row.sides = func(b *testing.B) []side {
		all := sides(b)
		if len(all) > 1 {
			all[1].most = 1
		}
		return all
	}
	return row
}

// pendingBytesRow is what the heap holds of a timer that is armed.
func pendingBytesRow(kind string) costRow {
	return costRow{name: "a pending " + kind, unit: "B", sides: func(b *testing.B) []side {
		held := map[string]float64{}
		hold := func(name string) func(c fakeClock) func(int) {
			return func(c fakeClock) func(int) {
				return func(int) { held[name] = heldByTimers(c, kind) }
			}
		}
		var sides []side
		add := func(name string) {
			sides = append(sides, side{name: name, calls: 1, measure: func(int) float64 { return held[name] }})
		}
		for _, c := range clocks {
			if c.name == "escapement" || c.name == "tilinna" {
				hold(c.name)(c.new())(1)
				add(c.name)
			}
		}
		if !go124 {
			const name = "testing/synctest"
			bubbledLoop(b, hold(name))(1)
			add(name)
		}
		return sides
	}}
}

// heldByTimers arms 100,000 timers, and returns what the heap holds of one.
func heldByTimers(c fakeClock, kind string) float64 {
	const n = 100_000
	timers, f := make([]clockwork.Timer, n), func() {}
	before := heapInUse()
	for i := range timers {
		d := time.Hour + time.Duration(i)*time.Millisecond
		if kind == "timer" {
			timers[i] = c.NewTimer(d)
		} else {
			timers[i] = c.AfterFunc(d, f)
		}
	}
	held := (heapInUse() - before) / n
	for _, timer := range timers {
		timer.Stop()
	}
	return held
}
