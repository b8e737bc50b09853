//go:build go1.25

package fakeclock_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/escapement-go/escapement/fakeclock"
)

// seedVariable replays one program of TestClock_likePackageTime.
const seedVariable = "ESCAPEMENT_SEED"

// TestClock_likePackageTime runs random programs on package time in a bubble,
// on a settled clock in a bubble and, if they start no goroutine that only a
// bubble can wait for, on a clock outside. All must tell the same story: what
// Stop and Reset return, which values are received, and when functions,
// receivers and sleepers run.
func TestClock_likePackageTime(t *testing.T) {
	programs, operations := 2000, 40
	if testing.Short() {
		programs = 200
	}
	zero := true
	if v := runtime.Version(); raceEnabled && (strings.HasPrefix(v, "go1.25") || strings.HasPrefix(v, "go1.26")) {
		zero = false
		t.Logf("%s with -race: no zero durations, as package time's crash the runtime in bubbles (go.dev/issue/78156)", v)
	}
	first := rand.Uint64()
	if s := os.Getenv(seedVariable); s != "" {
		seed, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", seedVariable, err)
		}
		first, programs = seed, 1
	}
	for i := range programs {
		seed := first + uint64(i)
		ops := newProgram(seed, operations, i%2 == 0, zero)
		if compare(t, ops) == "" {
			continue
		}
		ops = shrink(t, ops)
		t.Fatalf("%s=%d\n%v\n%s", seedVariable, seed, ops, compare(t, ops))
	}
}

// op is one operation of a program. Durations are random nanoseconds out of an
// hour, so that deadlines do not coincide: package time orders ties at random.
type op struct {
	name string
	k    int // which timer or ticker, modulo their number
	d    time.Duration
	then *op // what a function does when it runs
}

func (o op) String() string {
	if o.then != nil {
		return fmt.Sprintf("%s(%d,%d){%v}", o.name, o.k, o.d, *o.then)
	}
	return fmt.Sprintf("%s(%d,%d)", o.name, o.k, o.d)
}

// newProgram draws a program. Only if settled it starts goroutines: consumers
// of tickers, sleepers, and functions that no Advance waits for.
func newProgram(seed uint64, n int, settled, zero bool) []op {
	rng := rand.New(rand.NewPCG(seed, 0))
	duration := func(zero bool) time.Duration {
		if zero && rng.IntN(8) == 0 {
			return time.Duration(-rng.IntN(2))
		}
		return time.Duration(1 + rng.Int64N(int64(time.Hour)))
	}
	actions := []string{"log", "again", "stop", "reset", "recv", "func", "sleep", "tickerstop", "tickerreset", "tickerrecv"}
	names := []string{"timer", "timer", "func", "func", "ticker", "stop", "reset", "recv", "tickerstop", "tickerreset", "tickerrecv",
		"advance", "advance", "advance", "until", "until", "until"}
	if settled {
		names = append(names, "consume", "sleeper")
	}
	var ops []op
	for range n {
		o := op{name: names[rng.IntN(len(names))], k: rng.IntN(100)}
		switch o.name {
		case "timer":
			o.d = duration(zero)
		case "func":
			o.d = duration(zero && settled)
			then := op{name: actions[rng.IntN(len(actions))], k: rng.IntN(100)}
			then.d = duration(zero && then.name == "func")
			o.then = &then
		case "reset":
			o.d = duration(zero && settled)
		case "until": // the deadline of a timer, or just before or after it
			o.d = time.Duration(rng.IntN(3) - 1)
		default:
			o.d = duration(false)
		}
		ops = append(ops, o)
	}
	return ops
}

func compare(t *testing.T, ops []op) string {
	var want []string
	synctest.Test(t, func(*testing.T) {
		want = (&world{
			clock:   clockwork.NewRealClock(),
			advance: func(d time.Duration) { time.Sleep(d); synctest.Wait() },
			settle:  synctest.Wait,
		}).run(ops)
	})
	outside := !slices.ContainsFunc(ops, func(o op) bool {
		return o.name == "consume" || o.name == "sleeper" || o.name == "func" && o.d <= 0 || o.name == "reset" && o.d <= 0
	})
	for _, hooked := range []bool{false, true} { // a hook opens the lock within operations
		var got []string
		synctest.Test(t, func(*testing.T) {
			clock := newHooked(hooked, fakeclock.WithSettle(synctest.Wait))
			got = (&world{clock: clock, advance: clock.Advance, settle: synctest.Wait}).run(ops)
		})
		if !slices.Equal(want, got) {
			return difference(want, got)
		}
		if outside {
			clock := newHooked(hooked)
			got = (&world{clock: clock, advance: clock.Advance, settle: func() {}}).run(ops)
		}
		if !slices.Equal(want, got) {
			return difference(want, got)
		}
	}
	return ""
}

// newHooked returns a clock, if hooked with a hook that looks at it.
func newHooked(hooked bool, opts ...fakeclock.Option) *fakeclock.Clock {
	var clock *fakeclock.Clock
	if hooked {
		opts = append(opts, fakeclock.WithEvents(func(fakeclock.Event) { clock.Next() }))
	}
	clock = fakeclock.New(opts...)
	return clock
}

func difference(want, got []string) string {
	i := 0
	for i < min(len(want), len(got)) && want[i] == got[i] {
		i++
	}
	at := func(s []string) string { return strings.Join(s[i:min(i+3, len(s))], "\n\t") }
	return fmt.Sprintf("package time, then this clock, from the first difference:\n\t%s\n\n\t%s", at(want), at(got))
}

// shrink drops operations as long as a difference remains.
func shrink(t *testing.T, ops []op) []op {
	for i := 0; i < len(ops); {
		less := slices.Delete(slices.Clone(ops), i, i+1)
		if compare(t, less) != "" {
			ops, i = less, 0
		} else {
			i++
		}
	}
	return ops
}

// world is a clock, real or not, on which a program runs.
type world struct {
	clock   clockwork.Clock
	advance func(time.Duration)
	settle  func()

	mu      sync.Mutex
	timers  []clockwork.Timer
	due     []time.Duration // deadlines, as far as the program set them
	tickers []clockwork.Ticker
	events  []event
	runs    int
}

type event struct {
	at   time.Duration
	who  int // 0 the program, else a function or goroutine by number
	text string
}

func (w *world) now() time.Duration { return w.clock.Since(start) }

func (w *world) note(who int, format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, event{w.now(), who, fmt.Sprintf(format, args...)})
}

// run returns what happened, in order; events of one instant by originator, as
// goroutines of one instant are not ordered.
func (w *world) run(ops []op) []string {
	quit := make(chan struct{})
	for i, o := range ops {
		w.do(0, i+1, o, quit)
		w.settle()
	}
	for _, timer := range w.timers {
		timer.Stop()
	}
	for _, ticker := range w.tickers {
		ticker.Stop()
	}
	close(quit)
	w.advance(3 * time.Hour) // lets sleepers and their successors end
	w.settle()
	w.mu.Lock()
	defer w.mu.Unlock()
	slices.SortStableFunc(w.events, func(a, b event) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.who, b.who))
	})
	var lines []string
	for _, e := range w.events {
		lines = append(lines, fmt.Sprintf("%d by %d: %s", e.at, e.who, e.text))
	}
	return lines
}

// do performs o for who. id numbers what it starts.
func (w *world) do(who, id int, o op, quit chan struct{}) {
	w.mu.Lock()
	var timer clockwork.Timer
	var ticker clockwork.Ticker
	k, due := 0, time.Duration(0)
	if n := len(w.timers); n > 0 {
		k = o.k % n
		timer, due = w.timers[k], w.due[k]
	}
	if n := len(w.tickers); n > 0 {
		ticker = w.tickers[o.k%n]
	}
	w.mu.Unlock()

	switch o.name {
	case "log":
		w.note(who, "ran")
	case "timer":
		w.keep(o.d, func() clockwork.Timer { return w.clock.NewTimer(o.d) })
	case "func":
		w.keep(o.d, func() clockwork.Timer {
			return w.clock.AfterFunc(o.d, func() { w.called(id, o, quit) })
		})
	case "sleep":
		w.clock.Sleep(o.d)
		w.note(who, "slept")
	case "sleeper":
		go func() {
			w.clock.Sleep(o.d)
			w.note(id, "woke")
		}()
	case "ticker", "consume":
		ticker := w.clock.NewTicker(o.d)
		w.mu.Lock()
		w.tickers = append(w.tickers, ticker)
		w.mu.Unlock()
		if o.name == "consume" {
			go w.consume(id, ticker.Chan(), quit)
		}
	case "advance":
		w.advance(o.d)
	case "until":
		if timer != nil {
			w.advance(max(due+o.d-w.now(), 0))
		}
	}
	if timer != nil {
		switch o.name {
		case "stop":
			w.note(who, "timer %d stop %v", k, timer.Stop())
		case "reset", "again":
			w.mu.Lock()
			w.due[k] = w.now() + o.d
			w.mu.Unlock()
			w.note(who, "timer %d reset %v", k, timer.Reset(o.d))
		case "recv":
			w.note(who, "timer %d value %v", k, received(timer.Chan(), start))
		}
	}
	if ticker != nil {
		switch o.name {
		case "tickerstop":
			ticker.Stop()
		case "tickerreset":
			ticker.Reset(o.d)
		case "tickerrecv":
			w.note(who, "tick %v", received(ticker.Chan(), start))
		}
	}
}

// keep makes a timer and the program's later operations know it, a function
// that runs at once included.
func (w *world) keep(d time.Duration, newTimer func() clockwork.Timer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.due = append(w.due, w.now()+d)
	w.timers = append(w.timers, newTimer())
}

// called is a timer's function. Functions that re-arm each other would go on
// for ever in the last Advance, so the program's later ones only log. Each call
// uses a duration of its own: two at one instant, as Reset(0) makes them, would
// otherwise arm timers for the same deadline.
func (w *world) called(id int, o op, quit chan struct{}) {
	w.note(id, "called")
	w.mu.Lock()
	w.runs++
	runs := w.runs
	w.mu.Unlock()
	if o.then == nil || runs > 50 {
		return
	}
	then := *o.then
	if then.d > 0 {
		then.d += time.Duration(runs)
	}
	w.do(id, id+1000, then, quit)
}

func (w *world) consume(id int, ticks <-chan time.Time, quit chan struct{}) {
	for {
		select {
		case tick := <-ticks:
			w.note(id, "tick %v", tick.Sub(start))
		case <-quit:
			return
		}
	}
}

// start is where a bubble and a clock start.
var start = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
