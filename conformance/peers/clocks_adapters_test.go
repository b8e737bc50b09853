package peers

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	benbjohnson "github.com/benbjohnson/clock"
	"github.com/coder/quartz"
	"github.com/escapement-go/escapement/fakeclock"
	"github.com/jonboulle/clockwork"
	juju "github.com/juju/clock/testclock"
	"github.com/tilinna/clock"
	"github.com/zoobz-io/clockz"
	k8sclock "k8s.io/utils/clock"
	k8s "k8s.io/utils/clock/testing"
)

// fakeClock is what code under test and the test itself see of a fake clock.
type fakeClock interface {
	clockwork.Clock
	Advance(d time.Duration)
}

// clocks are fake clocks behind one interface, all at start. A method that a
// library lacks panics; Since and Until are made from Now where they are missing.
// The adapters allocate nothing, but 16 bytes for each timer of k8s and clockz,
// which hide their types.
var clocks = []struct {
	name  string
	lacks []string         // methods of Clock, or Ticker.Reset
	new   func() fakeClock // at start
}{
	{"escapement", nil, func() fakeClock { return fakeclock.New() }},
	{"clockwork", nil, func() fakeClock { return clockwork.NewFakeClockAt(start) }},
	{"quartz", []string{"Sleep", "After"}, newQuartzClock},
	{"benbjohnson", nil, newBenbjohnsonClock},
	{"k8s", []string{"Ticker.Reset"}, func() fakeClock { return k8sClock{k8s.NewFakeClock(start)} }},
	{"tilinna", []string{"Ticker.Reset"}, func() fakeClock { return tilinnaClock{clock.NewMock(start)} }},
	{"clockz", []string{"Ticker.Reset"}, func() fakeClock { return clockzClock{clockz.NewFakeClockAt(start)} }},
	{"juju", []string{"Sleep", "NewTicker", "Ticker.Reset"}, func() fakeClock { return jujuClock{juju.NewClock(start)} }},
}

func missing(library string) { panic("not implemented by " + library) }

type (
	quartzClock  struct{ m *quartz.Mock }
	quartzTimer  struct{ t *quartz.Timer }
	quartzTicker struct{ t *quartz.Ticker }
)

func newQuartzClock() fakeClock {
	m := quartz.NewMock(&strict{}).WithLogger(quartz.NoOpLogger) // the default formats each call
	m.Set(start)
	return quartzClock{m}
}

// Advance goes from event to event, which is as far as quartz moves in one step,
// and waits for each.
func (c quartzClock) Advance(d time.Duration) {
	c.advance(d, func(w quartz.AdvanceWaiter) { <-w.Done() })
}

func (c quartzClock) advance(d time.Duration, wait func(quartz.AdvanceWaiter)) {
	for {
		next, ok := c.m.Peek()
		if !ok || next > d {
			break
		}
		wait(c.m.Advance(next))
		d -= next
	}
	wait(c.m.Advance(d))
}

func (c quartzClock) Now() time.Time                           { return c.m.Now() }
func (c quartzClock) Since(t time.Time) time.Duration          { return c.m.Since(t) }
func (c quartzClock) Until(t time.Time) time.Duration          { return c.m.Until(t) }
func (c quartzClock) Sleep(time.Duration)                      { missing("quartz") }
func (c quartzClock) After(time.Duration) <-chan time.Time     { missing("quartz"); return nil }
func (c quartzClock) NewTimer(d time.Duration) clockwork.Timer { return quartzTimer{c.m.NewTimer(d)} }
func (c quartzClock) NewTicker(d time.Duration) clockwork.Ticker {
	return quartzTicker{c.m.NewTicker(d)}
}
func (c quartzClock) AfterFunc(d time.Duration, f func()) clockwork.Timer {
	return quartzTimer{c.m.AfterFunc(d, f)}
}
func (t quartzTimer) Chan() <-chan time.Time     { return t.t.C }
func (t quartzTimer) Stop() bool                 { return t.t.Stop() }
func (t quartzTimer) Reset(d time.Duration) bool { return t.t.Reset(d) }
func (t quartzTicker) Chan() <-chan time.Time    { return t.t.C }
func (t quartzTicker) Stop()                     { t.t.Stop() }
func (t quartzTicker) Reset(d time.Duration)     { t.t.Reset(d) }

// strict is the test that quartz reports to: what would fail it panics. Clean-ups,
// one for each timer that fires, are dropped.
type strict struct{ testing.TB }

func (*strict) Helper()                   {}
func (*strict) Logf(string, ...any)       {}
func (*strict) Log(...any)                {}
func (*strict) Cleanup(func())            {}
func (*strict) Fatalf(f string, a ...any) { panic("quartz: " + fmt.Sprintf(f, a...)) }

func (*strict) Error(a ...any)            { panic("quartz: " + fmt.Sprint(a...)) }
func (*strict) Errorf(f string, a ...any) { panic("quartz: " + fmt.Sprintf(f, a...)) }

type (
	benbjohnsonClock  struct{ *benbjohnson.Mock }
	benbjohnsonTimer  struct{ *benbjohnson.Timer }
	benbjohnsonTicker struct{ *benbjohnson.Ticker }
)

func newBenbjohnsonClock() fakeClock {
	m := benbjohnson.NewMock()
	m.Set(start)
	return benbjohnsonClock{m}
}

func (c benbjohnsonClock) Advance(d time.Duration) { c.Add(d) }
func (c benbjohnsonClock) NewTimer(d time.Duration) clockwork.Timer {
	return benbjohnsonTimer{c.Timer(d)}
}
func (c benbjohnsonClock) NewTicker(d time.Duration) clockwork.Ticker {
	return benbjohnsonTicker{c.Ticker(d)}
}
func (c benbjohnsonClock) AfterFunc(d time.Duration, f func()) clockwork.Timer {
	return benbjohnsonTimer{c.Mock.AfterFunc(d, f)}
}
func (t benbjohnsonTimer) Chan() <-chan time.Time  { return t.C }
func (t benbjohnsonTicker) Chan() <-chan time.Time { return t.C }

type (
	k8sClock  struct{ *k8s.FakeClock }
	k8sTimer  struct{ k8sclock.Timer }
	k8sTicker struct{ k8sclock.Ticker }
)

func (c k8sClock) Advance(d time.Duration)                  { c.Step(d) }
func (c k8sClock) Until(t time.Time) time.Duration          { return t.Sub(c.Now()) }
func (c k8sClock) NewTimer(d time.Duration) clockwork.Timer { return k8sTimer{c.FakeClock.NewTimer(d)} }
func (c k8sClock) NewTicker(d time.Duration) clockwork.Ticker {
	return k8sTicker{c.FakeClock.NewTicker(d)}
}
func (c k8sClock) AfterFunc(d time.Duration, f func()) clockwork.Timer {
	return k8sTimer{c.FakeClock.AfterFunc(d, f)}
}
func (t k8sTimer) Chan() <-chan time.Time  { return t.C() }
func (t k8sTicker) Chan() <-chan time.Time { return t.C() }
func (t k8sTicker) Reset(time.Duration)    { missing("k8s") }

type (
	tilinnaClock  struct{ *clock.Mock }
	tilinnaTimer  struct{ *clock.Timer }
	tilinnaTicker struct{ *clock.Ticker }
)

func (c tilinnaClock) Advance(d time.Duration) { c.Add(d) }
func (c tilinnaClock) NewTimer(d time.Duration) clockwork.Timer {
	return tilinnaTimer{c.Mock.NewTimer(d)}
}
func (c tilinnaClock) NewTicker(d time.Duration) clockwork.Ticker {
	return tilinnaTicker{c.Mock.NewTicker(d)}
}
func (c tilinnaClock) AfterFunc(d time.Duration, f func()) clockwork.Timer {
	return tilinnaTimer{c.Mock.AfterFunc(d, f)}
}
func (t tilinnaTimer) Chan() <-chan time.Time  { return t.C }
func (t tilinnaTicker) Chan() <-chan time.Time { return t.C }
func (t tilinnaTicker) Reset(time.Duration)    { missing("tilinna") }

type (
	clockzClock  struct{ *clockz.FakeClock }
	clockzTimer  struct{ clockz.Timer }
	clockzTicker struct{ clockz.Ticker }
)

// Advance delivers what it makes due, which clockz leaves to a second call.
func (c clockzClock) Advance(d time.Duration) {
	c.FakeClock.Advance(d)
	c.BlockUntilReady()
}

func (c clockzClock) Until(t time.Time) time.Duration { return t.Sub(c.Now()) }
func (c clockzClock) NewTimer(d time.Duration) clockwork.Timer {
	return clockzTimer{c.FakeClock.NewTimer(d)}
}
func (c clockzClock) NewTicker(d time.Duration) clockwork.Ticker {
	return clockzTicker{c.FakeClock.NewTicker(d)}
}
func (c clockzClock) AfterFunc(d time.Duration, f func()) clockwork.Timer {
	return clockzTimer{c.FakeClock.AfterFunc(d, f)}
}
func (t clockzTimer) Chan() <-chan time.Time  { return t.C() }
func (t clockzTicker) Chan() <-chan time.Time { return t.C() }
func (t clockzTicker) Reset(time.Duration)    { missing("clockz") }

// jujuClock reads the notifications that its clock sends for each timer: the
// 10,001st unread one panics. Those of Reset stay until the next call here.
type jujuClock struct{ *juju.Clock }

func (c jujuClock) drain() {
	for {
		select {
		case <-c.Alarms():
		default:
			return
		}
	}
}

func (c jujuClock) Advance(d time.Duration) {
	c.drain()
	c.Clock.Advance(d)
}

func (c jujuClock) NewTimer(d time.Duration) clockwork.Timer {
	c.drain()
	return c.Clock.NewTimer(d)
}

func (c jujuClock) AfterFunc(d time.Duration, f func()) clockwork.Timer {
	c.drain()
	return c.Clock.AfterFunc(d, f)
}

func (c jujuClock) Since(t time.Time) time.Duration          { return c.Now().Sub(t) }
func (c jujuClock) Until(t time.Time) time.Duration          { return t.Sub(c.Now()) }
func (c jujuClock) Sleep(time.Duration)                      { missing("juju") }
func (c jujuClock) NewTicker(time.Duration) clockwork.Ticker { missing("juju"); return nil }

// Each adapter does what it is for: everything fires once its time has come, and
// what is missing says so.
func TestFakeClocks(t *testing.T) {
	for _, peer := range clocks {
		t.Run(peer.name, func(t *testing.T) {
			c := peer.new()
			has := func(op string) bool {
				for _, lacking := range peer.lacks {
					if op == lacking {
						return false
					}
				}
				return true
			}
			instant := func(what string, got time.Time, after time.Duration) {
				t.Helper()
				if want := start.Add(after); !got.Equal(want) {
					t.Errorf("%s = %v, want %v", what, got, want)
				}
			}
			absent := func(op string, call func()) {
				t.Helper()
				defer func() {
					if got, want := recover(), "not implemented by "+peer.name; got != want {
						t.Errorf("%s panics with %v, want %q", op, got, want)
					}
				}()
				call()
			}

			instant("Now()", c.Now(), 0)
			timer := c.NewTimer(time.Millisecond)
			c.Advance(time.Millisecond)
			instant("the timer's value", <-timer.Chan(), time.Millisecond)
			instant("Now()", c.Now(), time.Millisecond)
			timer.Reset(time.Millisecond)
			if got := timer.Stop(); !got && peer.name != "clockz" { // which forgets a timer that fired
				t.Error("Stop() = false after Reset")
			}
			if got, want := c.Since(start), time.Millisecond; got != want {
				t.Errorf("Since(start) = %v, want %v", got, want)
			}
			if got, want := c.Until(start), -time.Millisecond; got != want {
				t.Errorf("Until(start) = %v, want %v", got, want)
			}

			var ran atomic.Int32
			c.AfterFunc(time.Millisecond, func() { ran.Add(1) })
			c.AfterFunc(3*time.Millisecond, func() { ran.Add(1) })
			c.Advance(2 * time.Millisecond) // beyond the first
			c.Advance(time.Millisecond)
			for ran.Load() != 2 { // some do not wait
				runtime.Gosched()
			}

			if !has("After") {
				absent("After", func() { c.After(time.Millisecond) })
			} else {
				after := c.After(time.Millisecond)
				c.Advance(time.Millisecond)
				<-after
			}

			if !has("Sleep") {
				absent("Sleep", func() { c.Sleep(time.Millisecond) })
			} else {
				var awake atomic.Bool
				go func() {
					c.Sleep(time.Millisecond)
					awake.Store(true)
				}()
				for !awake.Load() {
					c.Advance(time.Millisecond)
					runtime.Gosched()
				}
			}

			if !has("NewTicker") {
				absent("NewTicker", func() { c.NewTicker(time.Millisecond) })
				return
			}
			ticker := c.NewTicker(time.Millisecond)
			defer ticker.Stop()
			for range 3 {
				c.Advance(time.Millisecond)
				<-ticker.Chan()
			}
			if !has("Ticker.Reset") {
				absent("Ticker.Reset", func() { ticker.Reset(time.Second) })
				return
			}
			ticker.Reset(2 * time.Millisecond)
			c.Advance(2 * time.Millisecond)
			<-ticker.Chan()
		})
	}
}
