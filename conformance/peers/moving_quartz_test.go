package peers

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/coder/quartz"
	"github.com/jonboulle/clockwork"
	k8s "k8s.io/utils/clock/testing"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/synctestcompat"
)

// mock is one of quartz that stands at start.
func mock(t *testing.T) *quartz.Mock {
	m := quartz.NewMock(t)
	m.Set(start).MustWait(context.Background())
	return m
}

var fromQuartz = []row{
	{"quartz", "`quartz.NewMock(t)`",
		func(t *testing.T) string { return at(mock(t).Now()) },
		func(t *testing.T) string { return at(fakeclock.NewTest(t).Now()) }},
	{"quartz", "`mock.Advance(d).MustWait(ctx)`",
		func(t *testing.T) string {
			mock, ran := mock(t), ""
			mock.AfterFunc(time.Second, func() { ran = at(mock.Now()) })
			mock.Advance(time.Second).MustWait(context.Background())
			return ran
		},
		func(t *testing.T) string {
			clock, ran := fakeclock.NewTest(t), ""
			clock.AfterFunc(time.Second, func() { ran = at(clock.Now()) })
			clock.Advance(time.Second)
			return ran
		}},
	{"quartz", "a loop of `Peek` and `Advance`, because Advance refuses to pass an event",
		func(t *testing.T) string {
			mock, log := mock(t), ""
			chain(func(d time.Duration, f func()) { mock.AfterFunc(d, f) }, func() { log += at(mock.Now()) + " " })
			for {
				d, ok := mock.Peek()
				if !ok {
					return log
				}
				mock.Advance(d).MustWait(context.Background())
			}
		},
		func(t *testing.T) string {
			clock, log := fakeclock.NewTest(t), ""
			chain(func(d time.Duration, f func()) { clock.AfterFunc(d, f) }, func() { log += at(clock.Now()) + " " })
			clock.Advance(time.Minute)
			return log
		}},
	{"quartz", "`mock.AdvanceNext()`",
		func(t *testing.T) string {
			mock := mock(t)
			mock.AfterFunc(time.Second, func() {})
			_, w := mock.AdvanceNext()
			w.MustWait(context.Background())
			return at(mock.Now())
		},
		func(t *testing.T) string {
			clock := fakeclock.NewTest(t)
			clock.AfterFunc(time.Second, func() {})
			clock.AdvanceNext()
			return at(clock.Now())
		}},
	{"quartz", "`mock.Set(t)`",
		func(t *testing.T) string {
			mock := mock(t)
			mock.Set(start.Add(time.Hour)).MustWait(context.Background())
			return at(mock.Now())
		},
		func(t *testing.T) string {
			clock := fakeclock.NewTest(t)
			clock.AdvanceTo(start.Add(time.Hour))
			return at(clock.Now())
		}},
	{"quartz", "`mock.TickerFunc(ctx, d, f)`", tickerFunc, ownTickerFunc},
	{"quartz", "`mock.Trap().NewTimer(tags...)`, `MustWait`, `Release`",
		func(t *testing.T) string {
			mock := mock(t)
			trap := mock.Trap().NewTimer()
			defer trap.Close()
			woke := make(chan time.Time)
			go func() { woke <- <-mock.NewTimer(time.Second).C }()
			trap.MustWait(context.Background()).MustRelease(context.Background())
			mock.Advance(time.Second).MustWait(context.Background())
			return at(<-woke)
		},
		func(t *testing.T) string {
			clock := fakeclock.NewTest(t)
			woke := make(chan time.Time)
			go func() { woke <- <-clock.NewTimer(time.Second).Chan() }()
			due := clock.Now().Add(time.Second)
			err := clock.BlockUntilFunc(context.Background(), func(ts []fakeclock.Timer) bool {
				return len(ts) > 0 && ts[0].Deadline.Equal(due)
			})
			if err != nil {
				return err.Error()
			}
			clock.Advance(time.Second)
			return at(<-woke)
		}},
	{"quartz", "the default log of every call",
		func(t *testing.T) string {
			log := &calls{}
			mock := quartz.NewMock(t).WithLogger(log)
			mock.NewTimer(time.Second).Stop()
			return fmt.Sprint(log.n > 0)
		},
		func(t *testing.T) string {
			n := 0
			clock := fakeclock.NewTest(t, fakeclock.WithEvents(func(fakeclock.Event) { n++ }))
			clock.NewTimer(time.Second).Stop()
			return fmt.Sprint(n > 0)
		}},
	{"quartz", "`quartz.Clock`, `quartz.NewReal()`",
		func(*testing.T) string {
			var clock quartz.Clock = quartz.NewReal()
			return fmt.Sprint(clock.Until(time.Now().Add(time.Hour)) > time.Minute)
		},
		func(*testing.T) string {
			var clock clockwork.Clock = clockwork.NewRealClock()
			return fmt.Sprint(clock.Until(time.Now().Add(time.Hour)) > time.Minute)
		}},
	{"quartz", "`clock.NewTimer(d, \"worker\", \"retry\")`, and the tags of every other call",
		func(t *testing.T) string {
			mock := mock(t)
			timer := mock.NewTimer(time.Second, "worker", "retry")
			mock.Advance(time.Second).MustWait(context.Background())
			return at(<-timer.C)
		},
		func(t *testing.T) string {
			clock := fakeclock.NewTest(t)
			timer := clock.NewTimer(time.Second)
			clock.Advance(time.Second)
			return at(<-timer.Chan())
		}},
	{"quartz", "`timer.C`, `ticker.C`",
		func(t *testing.T) string {
			mock := mock(t)
			ticker := mock.NewTicker(time.Second)
			defer ticker.Stop()
			mock.Advance(time.Second).MustWait(context.Background())
			return at(<-ticker.C) // its goroutine may send it later
		},
		func(t *testing.T) string {
			clock := fakeclock.NewTest(t)
			ticker := clock.NewTicker(time.Second)
			defer ticker.Stop()
			clock.Advance(time.Second)
			return ready(ticker.Chan())
		}},
}

// calls counts what is logged.
type calls struct{ n int }

func (c *calls) Log(...any)          { c.n++ }
func (c *calls) Logf(string, ...any) { c.n++ }

func tickerFunc(t *testing.T) string {
	mock, log := mock(t), ""
	ctx, cancel := context.WithCancel(context.Background())
	w := mock.TickerFunc(ctx, time.Second, func() error { log += at(mock.Now()) + " "; return nil })
	for range 3 {
		mock.Advance(time.Second).MustWait(context.Background())
	}
	cancel()
	_ = w.Wait() // the context's error
	return log
}

func ownTickerFunc(t *testing.T) string {
	clock, log := fakeclock.NewTest(t), ""
	var next func()
	timer := clock.AfterFunc(time.Second, func() { next() })
	next = func() {
		log += at(clock.Now()) + " "
		timer.Reset(time.Second)
	}
	clock.Advance(3 * time.Second)
	timer.Stop()
	return log
}

var fromK8s = []row{
	{"k8s.io/utils/clock/testing", "`NewFakeClock(t)`",
		func(t *testing.T) string { return at(k8s.NewFakeClock(start.Add(time.Hour)).Now()) },
		func(t *testing.T) string { return at(fakeclock.New(fakeclock.WithStart(start.Add(time.Hour))).Now()) }},
	{"k8s.io/utils/clock/testing", "`clock.Step(d)`",
		func(t *testing.T) string {
			clock := k8s.NewFakeClock(start)
			timer := clock.NewTimer(time.Second)
			clock.Step(time.Second)
			return ready(timer.C())
		},
		func(t *testing.T) string {
			clock := fakeclock.NewTest(t)
			timer := clock.NewTimer(time.Second)
			clock.Advance(time.Second)
			return ready(timer.Chan())
		}},
	{"k8s.io/utils/clock/testing", "`clock.SetTime(t)`",
		func(t *testing.T) string {
			clock := k8s.NewFakeClock(start)
			clock.SetTime(start.Add(time.Hour))
			return at(clock.Now())
		},
		func(t *testing.T) string {
			clock := fakeclock.NewTest(t)
			clock.AdvanceTo(start.Add(time.Hour))
			return at(clock.Now())
		}},
	{"k8s.io/utils/clock/testing", "a poll for `HasWaiters()` or `Waiters()`",
		func(t *testing.T) string {
			clock := k8s.NewFakeClock(start)
			woke := make(chan time.Time)
			go func() { woke <- <-clock.After(time.Second) }()
			for !clock.HasWaiters() {
				synctestcompat.Sleep(time.Millisecond)
			}
			clock.Step(time.Second)
			return at(<-woke)
		},
		func(t *testing.T) string {
			clock := fakeclock.NewTest(t)
			woke := make(chan time.Time)
			go func() { woke <- <-clock.After(time.Second) }()
			clock.BlockUntil(1)
			clock.Advance(time.Second)
			return at(<-woke)
		}},
	{"k8s.io/utils/clock/testing", "`clock.Sleep(d)` in a test, which moves the clock",
		func(t *testing.T) string {
			clock := k8s.NewFakeClock(start)
			clock.Sleep(time.Second)
			return at(clock.Now())
		},
		func(t *testing.T) string {
			clock := fakeclock.NewTest(t)
			clock.Advance(time.Second)
			return at(clock.Now())
		}},
	{"k8s.io/utils/clock/testing", "`timer.C()`, `ticker.C()`, `clock.Tick(d)`",
		func(t *testing.T) string {
			clock := k8s.NewFakeClock(start)
			timer, tick := clock.NewTimer(time.Second), clock.Tick(time.Second)
			clock.Step(time.Second)
			return ready(timer.C()) + ready(tick)
		},
		func(t *testing.T) string {
			clock := fakeclock.New()
			timer, tick := clock.NewTimer(time.Second), clock.NewTicker(time.Second).Chan()
			clock.Advance(time.Second)
			return ready(timer.Chan()) + ready(tick)
		}},
}
