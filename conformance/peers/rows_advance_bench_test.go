package peers

import (
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
)

// advanceRows are what an Advance does: it fires functions and ticks.
func advanceRows() []costRow {
	return []costRow{
		functionsRow(10_000),
		oneFunctionRow(),
		tickerRow("ticker, each tick read", time.Millisecond),
		tickerRow("ticker of 1 ms, read once an hour", time.Hour),
		fireRow(),
		createStopRow(),
	}
}

// besideRow is what is done with an escapement clock beside some others and package time; most
// says of these how many times as much it may take, 0 for no goal.
func besideRow(name string, most map[string]float64, prepare func(new func() fakeClock) func(n int)) costRow {
	return costRow{name: name, sides: func(b *testing.B) (sides []side) {
		for _, c := range clocks {
			if _, ok := most[c.name]; ok || c.name == "escapement" {
				sides = append(sides, side{name: c.name, most: most[c.name], loop: prepare(c.new)})
			}
		}
		if most, ok := most[synctests]; ok && !go124 {
			loop := bubbledLoop(b, func(c fakeClock) func(n int) { return prepare(func() fakeClock { return c }) })
			sides = append(sides, side{name: synctests, most: most, loop: loop})
		}
		return sides
	}}
}

// synctests is the name of package time in a bubble.
const synctests = "testing/synctest"

// functionsRow is one Advance over so many functions that were armed in random order, until the
// last has run. Arming is not measured. clockwork and tilinna start them and return.
func functionsRow(functions int) costRow {
	row := besideRow("one Advance over "+strconv.Itoa(functions)+" functions",
		map[string]float64{"clockwork": 0, "tilinna": 1, synctests: 1}, advanceOver(functions))
	row.most = 460
	sides := row.sides
	row.sides = func(b *testing.B) []side {
		all := append(sides(b), side{name: "floor: each function starts the next", loop: startNext},
			side{name: "go, and Gosched until it has run", loop: startAndYield()})
		for i := range all {
			loop := all[i].loop
			all[i].calls, all[i].measure = functions, func(n int) float64 {
				loop(0)
				began := time.Now()
				loop(n)
				return float64(time.Since(began))
			}
		}
		return all
	}
	return row
}

// advanceOver returns a loop that arms functions if it is called with 0, and with another
// number advances over them.
func advanceOver(functions int) func(new func() fakeClock) func(n int) {
	delays := rand.New(rand.NewPCG(1, 2)).Perm(functions)
	return func(new func() fakeClock) func(n int) {
		c := new()
		var ran atomic.Int64
		return func(n int) {
			if n == 0 {
				ran.Store(0)
				for _, d := range delays {
					c.AfterFunc(time.Duration(1+d), func() { ran.Add(1) })
				}
				return
			}
			c.Advance(time.Duration(functions))
			for ran.Load() < int64(functions) {
				runtime.Gosched()
			}
		}
	}
}

// startAndYield is what it costs to start a function and to wait for it each time, where nothing
// else is to be done.
func startAndYield() func(n int) {
	var mu sync.Mutex
	active := 0
	f := func() {
		mu.Lock()
		defer mu.Unlock()
		active--
	}
	return func(n int) {
		mu.Lock()
		defer mu.Unlock()
		for range n {
			active++
			go f()
			for active > 0 {
				mu.Unlock()
				runtime.Gosched()
				mu.Lock()
			}
		}
	}
}

// startNext is what it costs if each function starts the next, at its end.
func startNext(n int) {
	if n == 0 {
		return
	}
	var mu sync.Mutex
	done := make(chan struct{})
	var f func()
	f = func() {
		mu.Lock()
		defer mu.Unlock()
		if n--; n == 0 {
			close(done)
			return
		}
		go f()
	}
	go f()
	<-done
}

// oneFunctionRow is the whole life of a function: AfterFunc, Advance, and the wait until it has
// run, where Advance does not wait for it.
func oneFunctionRow() costRow {
	beside := map[string]float64{"clockwork": 1, synctests: 1}
	return besideRow("AfterFunc, Advance, ran", beside, func(new func() fakeClock) func(n int) {
		c := new()
		var ran atomic.Int64
		want := int64(0)
		f := func() { ran.Add(1) }
		return func(n int) {
			for range n {
				c.AfterFunc(time.Millisecond, f)
				c.Advance(time.Millisecond)
				for want++; ran.Load() < want; {
					runtime.Gosched()
				}
			}
		}
	})
}

// tickerRow reads a ticker of 1 ms each time that a clock has advanced by d.
func tickerRow(name string, d time.Duration) costRow {
	beside := map[string]float64{"tilinna": 1, synctests: 1}
	return besideRow(name, beside, func(new func() fakeClock) func(n int) {
		const readings = 100_000 // of one clock, which has room for 292 years
		c, ticker, left := new(), clockwork.Ticker(nil), 0
		return func(n int) {
			for range n {
				if left--; left < 0 {
					c = new()
					ticker, left = c.NewTicker(time.Millisecond), readings
				}
				c.Advance(d)
				<-ticker.Chan()
			}
		}
	})
}

// fireRow is the whole life of a timer: create, advance, receive.
func fireRow() costRow {
	beside := map[string]float64{"clockwork": 1, "tilinna": 1, synctests: 1}
	return besideRow("NewTimer, Advance, receive", beside, func(new func() fakeClock) func(n int) {
		c := new()
		return func(n int) {
			for range n {
				timer := c.NewTimer(time.Millisecond)
				c.Advance(time.Millisecond)
				<-timer.Chan()
			}
		}
	})
}

// createStopRow makes a function that does not run, beside 10,000 others.
func createStopRow() costRow {
	beside := map[string]float64{"tilinna": 1, synctests: 1}
	return besideRow("AfterFunc, Stop, one of 10,000", beside, func(new func() fakeClock) func(n int) {
		c, f := new(), func() {}
		for i := range 10_000 {
			c.AfterFunc(time.Hour+time.Duration(i)*time.Millisecond, f)
		}
		return func(n int) {
			for range n {
				c.AfterFunc(time.Second, f).Stop()
			}
		}
	})
}
