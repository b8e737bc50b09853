package peers

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	benbjohnson "github.com/benbjohnson/clock"
	"github.com/jonboulle/clockwork"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/fakeclock/clockctx"
	"github.com/escapement-go/escapement/synctestcompat"
)

// row is a row of a table of fakeclock/MOVING.md: what it says to write instead shows what
// the other clock shows. Both run in bubbles, where naps take no time.
type row struct {
	library string
	before  string // the first cell
	theirs  func(t *testing.T) string
	ours    func(t *testing.T) string
}

func TestMoving_eachRow(t *testing.T) {
	rows := slices.Concat(fromClockwork, fromBenbjohnson, fromQuartz, fromK8s)
	var documented, tested []string
	for _, r := range rows {
		tested = append(tested, r.library+": "+r.before)
	}
	text, err := os.ReadFile("../../fakeclock/MOVING.md")
	if err != nil {
		t.Fatal(err)
	}
	library := ""
	for _, line := range strings.Split(string(text), "\n") {
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			library, _ = strings.CutPrefix(heading, "From ")
			if library == heading {
				library = ""
			}
		}
		cells := regexp.MustCompile(`^\| (.*?) \| `).FindStringSubmatch(line)
		if library != "" && cells != nil && cells[1] != "before" {
			documented = append(documented, library+": "+cells[1])
		}
	}
	if !slices.Equal(documented, tested) {
		t.Errorf("MOVING.md has the rows\n%s\nand these are tested\n%s",
			strings.Join(documented, "\n"), strings.Join(tested, "\n"))
	}
	for _, r := range rows {
		t.Run(r.library+"/"+r.before, func(t *testing.T) {
			run := synctestcompat.Run
			if r.library == "quartz" { // it needs none, and on Go 1.24 its cleanups come after the bubble
				run = func(t *testing.T, f func(*testing.T)) { f(t) }
			}
			var theirs, ours string
			run(t, func(t *testing.T) { theirs = r.theirs(t) })
			run(t, func(t *testing.T) { ours = r.ours(t) })
			if theirs != ours || ours == "" {
				t.Errorf("before it shows %q, after it %q", theirs, ours)
			}
		})
	}
}

// at says how long after start something is.
func at(instant time.Time) string { return instant.Sub(start).String() }

// ready is what a channel gives at once.
func ready(c <-chan time.Time) string {
	select {
	case v := <-c:
		return at(v)
	default:
		return "nothing"
	}
}

// chain is a function that arms itself anew after each of three seconds.
func chain(afterFunc func(time.Duration, func()), log func()) {
	var f func()
	left := 3
	f = func() {
		log()
		if left--; left > 0 {
			afterFunc(time.Second, f)
		}
	}
	afterFunc(time.Second, f)
}

// sleeper is a goroutine that sleeps three times, and what it counts.
func sleeper(clock clockwork.Clock) (count func() int) {
	n := make(chan int, 1)
	n <- 0
	go func() {
		for range 3 {
			clock.Sleep(time.Second)
			n <- 1 + <-n
		}
	}()
	return func() int {
		v := <-n
		n <- v
		return v
	}
}

func armed(c clockwork.Clock, f func()) { c.AfterFunc(time.Second, f) }

var fromClockwork = []row{
	{"clockwork.FakeClock", "`clockwork.NewFakeClock()`, `NewFakeClockAt(t)`",
		func(t *testing.T) string { return at(clockwork.NewFakeClockAt(start.Add(time.Hour)).Now()) },
		func(t *testing.T) string {
			fakeclock.NewTest(t)
			return at(fakeclock.New(fakeclock.WithStart(start.Add(time.Hour))).Now())
		}},
	{"clockwork.FakeClock", "`clock.Advance(d)`",
		func(t *testing.T) string {
			clock := clockwork.NewFakeClockAt(start)
			timer := clock.NewTimer(time.Second)
			clock.Advance(time.Second)
			return ready(timer.Chan())
		},
		func(t *testing.T) string {
			clock := fakeclock.NewTest(t)
			timer := clock.NewTimer(time.Second)
			clock.Advance(time.Second)
			return ready(timer.Chan())
		}},
	{"clockwork.FakeClock", "`clock.BlockUntil(n)`, `BlockUntilContext(ctx, n)`",
		func(t *testing.T) string { return blockUntil(clockwork.NewFakeClockAt(start)) },
		func(t *testing.T) string { return blockUntil(fakeclock.NewTest(t)) }},
	{"clockwork.FakeClock", "`clockwork.WithTimeout(ctx, clock, d)`",
		func(t *testing.T) string {
			clock := clockwork.NewFakeClockAt(start)
			ctx, cancel := clockwork.WithTimeout(context.Background(), clock, time.Second)
			defer cancel()
			clock.BlockUntil(1)
			clock.Advance(time.Second)
			<-ctx.Done()
			return "done"
		},
		func(t *testing.T) string {
			clock := fakeclock.NewTest(t)
			ctx, cancel := clockctx.WithTimeout(context.Background(), clock, time.Second)
			defer cancel()
			clock.Advance(time.Second)
			<-ctx.Done()
			return "done"
		}},
	{"clockwork.FakeClock", "a sleep, or a poll, after `Advance`, for functions of AfterFunc",
		func(t *testing.T) string {
			clock := clockwork.NewFakeClockAt(start)
			ran := make(chan bool, 1)
			armed(clock, func() { ran <- true })
			clock.Advance(time.Second)
			synctestcompat.Sleep(10 * time.Millisecond)
			return fmt.Sprint(len(ran))
		},
		func(t *testing.T) string {
			clock := fakeclock.NewTest(t)
			ran := make(chan bool, 1)
			armed(clock, func() { ran <- true })
			clock.Advance(time.Second)
			return fmt.Sprint(len(ran))
		}},
	{"clockwork.FakeClock", "the same, for a goroutine that the code started",
		func(t *testing.T) string {
			clock := clockwork.NewFakeClockAt(start)
			count := sleeper(clock)
			clock.BlockUntil(1)
			clock.Advance(time.Second)
			synctestcompat.Sleep(10 * time.Millisecond)
			defer finish(clock.Advance)
			return fmt.Sprint(count())
		},
		func(t *testing.T) string {
			clock := fakeclock.NewTest(t, fakeclock.WithSettle(synctestcompat.Wait))
			count := sleeper(clock)
			clock.Advance(time.Second)
			defer finish(clock.Advance)
			return fmt.Sprint(count())
		}},
	{"clockwork.FakeClock", "`Advance(1s)` in a loop, to let functions re-arm their timers",
		func(t *testing.T) string {
			clock := clockwork.NewFakeClockAt(start)
			log := ""
			chain(func(d time.Duration, f func()) { clock.AfterFunc(d, f) }, func() { log += at(clock.Now()) + " " })
			for range 3 {
				clock.Advance(time.Second)
				synctestcompat.Wait()
			}
			return log
		},
		func(t *testing.T) string {
			clock := fakeclock.NewTest(t)
			log := ""
			chain(func(d time.Duration, f func()) { clock.AfterFunc(d, f) }, func() { log += at(clock.Now()) + " " })
			clock.Advance(3 * time.Second)
			return log
		}},
	{"clockwork.FakeClock", "the same, to let goroutines re-arm theirs",
		func(t *testing.T) string {
			clock := clockwork.NewFakeClockAt(start)
			count := sleeper(clock)
			for range 3 {
				clock.BlockUntil(1)
				clock.Advance(time.Second)
				synctestcompat.Wait()
			}
			return fmt.Sprint(count())
		},
		func(t *testing.T) string {
			clock := fakeclock.NewTest(t, fakeclock.WithSettle(synctestcompat.Wait))
			count := sleeper(clock)
			clock.Advance(3 * time.Second)
			return fmt.Sprint(count())
		}},
}

// finish lets a sleeper end.
func finish(advance func(time.Duration)) {
	for range 2 {
		synctestcompat.Wait()
		advance(time.Second)
	}
	synctestcompat.Wait()
}

// blockUntil waits for two timers that two goroutines arm.
func blockUntil(clock interface {
	clockwork.Clock
	Advance(time.Duration)
	BlockUntil(int)
	BlockUntilContext(context.Context, int) error
}) string {
	woke := make(chan time.Time, 2)
	for range 2 {
		go func() { woke <- <-clock.After(time.Second) }()
	}
	clock.BlockUntil(1)
	if err := clock.BlockUntilContext(context.Background(), 2); err != nil {
		return err.Error()
	}
	clock.Advance(time.Second)
	return at(<-woke) + at(<-woke)
}

var fromBenbjohnson = []row{
	{"benbjohnson/clock", "`clock.NewMock()`, `mock.Set(t)`",
		func(t *testing.T) string {
			mock := benbjohnson.NewMock()
			mock.Set(start.Add(time.Hour))
			began := at(mock.Now())
			mock.Set(start.Add(2 * time.Hour))
			return began + at(mock.Now())
		},
		func(t *testing.T) string {
			clock := fakeclock.NewTest(t, fakeclock.WithStart(start.Add(time.Hour)))
			began := at(clock.Now())
			clock.AdvanceTo(start.Add(2 * time.Hour))
			return began + at(clock.Now())
		}},
	{"benbjohnson/clock", "`mock.Add(d)`",
		func(t *testing.T) string {
			mock := benbjohnson.NewMock()
			mock.Set(start)
			timer := mock.Timer(time.Second)
			mock.Add(time.Second)
			return ready(timer.C)
		},
		func(t *testing.T) string {
			clock := fakeclock.NewTest(t)
			timer := clock.NewTimer(time.Second)
			clock.Advance(time.Second)
			return ready(timer.Chan())
		}},
	{"benbjohnson/clock", "`mock.WaitForAllTimers()`",
		func(t *testing.T) string {
			mock := benbjohnson.NewMock()
			mock.Set(start)
			for i := range 3 {
				mock.AfterFunc(time.Duration(i+1)*time.Second, func() {})
			}
			mock.WaitForAllTimers()
			return at(mock.Now())
		},
		func(t *testing.T) string {
			clock := fakeclock.NewTest(t)
			for i := range 3 {
				clock.AfterFunc(time.Duration(i+1)*time.Second, func() {})
			}
			for {
				if _, ok := clock.AdvanceNext(); !ok {
					break
				}
			}
			return at(clock.Now())
		}},
	{"benbjohnson/clock", "`mock.Timer(d)`, `mock.Ticker(d)`, `t.C`",
		func(t *testing.T) string {
			mock := benbjohnson.NewMock()
			mock.Set(start)
			timer, ticker := mock.Timer(2*time.Second), mock.Ticker(time.Second)
			defer ticker.Stop()
			mock.Add(time.Second)
			tick := ready(ticker.C)
			mock.Add(time.Second)
			return tick + ready(timer.C)
		},
		func(t *testing.T) string {
			clock := fakeclock.NewTest(t)
			timer, ticker := clock.NewTimer(2*time.Second), clock.NewTicker(time.Second)
			defer ticker.Stop()
			clock.Advance(time.Second)
			tick := ready(ticker.Chan())
			clock.Advance(time.Second)
			return tick + ready(timer.Chan())
		}},
	{"benbjohnson/clock", "`mock.WithTimeout(ctx, d)`",
		func(t *testing.T) string {
			mock := benbjohnson.NewMock()
			ctx, cancel := mock.WithTimeout(context.Background(), time.Second)
			defer cancel()
			mock.Add(time.Second)
			return fmt.Sprint(ctx.Err())
		},
		func(t *testing.T) string {
			clock := fakeclock.NewTest(t)
			ctx, cancel := clockctx.WithTimeout(context.Background(), clock, time.Second)
			defer cancel()
			clock.Advance(time.Second)
			return fmt.Sprint(ctx.Err())
		}},
}
