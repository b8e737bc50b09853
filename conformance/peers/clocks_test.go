package peers

import (
	"context"
	"testing"
	"time"

	benbjohnson "github.com/benbjohnson/clock"
	"github.com/coder/quartz"
	"github.com/escapement-go/escapement/conformance"
	"github.com/jonboulle/clockwork"
	"github.com/tilinna/clock"
	"github.com/zoobz-io/clockz"
	k8s "k8s.io/utils/clock/testing"
)

// timer and ticker are those of other libraries behind clockwork's interfaces.
type (
	timer struct {
		c     <-chan time.Time
		stop  func() bool
		reset func(d time.Duration) bool
	}
	ticker struct {
		c     <-chan time.Time
		stop  func()
		reset func(d time.Duration)
	}
)

func (t timer) Chan() <-chan time.Time     { return t.c }
func (t timer) Stop() bool                 { return t.stop() }
func (t timer) Reset(d time.Duration) bool { return t.reset(d) }
func (t ticker) Chan() <-chan time.Time    { return t.c }
func (t ticker) Stop()                     { t.stop() }
func (t ticker) Reset(d time.Duration)     { t.reset(d) }

func clockworkFuncs(conformance.ClockEnv) conformance.ClockFuncs {
	c := clockwork.NewFakeClockAt(start)
	f := conformance.ClockOf(c)
	f.WithTimeout = func(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
		return clockwork.WithTimeout(ctx, c, d)
	}
	f.WithDeadline = func(ctx context.Context, t time.Time) (context.Context, context.CancelFunc) {
		return clockwork.WithDeadline(ctx, c, t)
	}
	return f
}

// wrappedFuncs is clockwork's clock inside a wrapper, as instrumentation makes one:
// its contexts then run on real time.
func wrappedFuncs(env conformance.ClockEnv) conformance.ClockFuncs {
	f := clockworkFuncs(env)
	c := struct{ clockwork.Clock }{clockwork.NewFakeClockAt(start)}
	f.WithTimeout = func(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
		return clockwork.WithTimeout(ctx, c, d)
	}
	return f
}

// quartzFuncs moves from event to event, as the docs tell: Advance refuses to pass
// one.
func quartzFuncs(env conformance.ClockEnv) conformance.ClockFuncs {
	m := quartz.NewMock(&silent{})
	m.Set(start)
	wrap := func(t *quartz.Timer) clockwork.Timer {
		return timer{t.C, func() bool { return t.Stop() }, func(d time.Duration) bool { return t.Reset(d) }}
	}
	return conformance.ClockFuncs{
		Now:   func() time.Time { return m.Now() },
		Since: func(t time.Time) time.Duration { return m.Since(t) },
		Until: func(t time.Time) time.Duration { return m.Until(t) },
		Advance: func(d time.Duration) {
			for {
				next, ok := m.Peek()
				if !ok || next > d {
					break
				}
				m.Advance(next)
				env.Settle() // MustWait would block on a function that sleeps
				d -= next
			}
			m.Advance(d)
		},
		NewTimer:  func(d time.Duration) clockwork.Timer { return wrap(m.NewTimer(d)) },
		AfterFunc: func(d time.Duration, f func()) clockwork.Timer { return wrap(m.AfterFunc(d, f)) },
		NewTicker: func(d time.Duration) clockwork.Ticker {
			t := m.NewTicker(d)
			return ticker{t.C, func() { t.Stop() }, func(d time.Duration) { t.Reset(d) }}
		},
	}
}

// silent is a testing.TB that nobody listens to.
type silent struct{ testing.TB }

func (*silent) Helper()                   {}
func (*silent) Logf(string, ...any)       {}
func (*silent) Log(...any)                {}
func (*silent) Error(...any)              {}
func (*silent) Errorf(string, ...any)     {}
func (*silent) Fatalf(f string, a ...any) { panic(f) }
func (*silent) Cleanup(func())            {}

func benbjohnsonFuncs(conformance.ClockEnv) conformance.ClockFuncs {
	m := benbjohnson.NewMock()
	m.Set(start)
	wrap := func(t *benbjohnson.Timer) clockwork.Timer { return timer{t.C, t.Stop, t.Reset} }
	return conformance.ClockFuncs{
		Now: m.Now, Since: m.Since, Until: m.Until, Advance: m.Add, Sleep: m.Sleep, After: m.After,
		NewTimer:  func(d time.Duration) clockwork.Timer { return wrap(m.Timer(d)) },
		AfterFunc: func(d time.Duration, f func()) clockwork.Timer { return wrap(m.AfterFunc(d, f)) },
		NewTicker: func(d time.Duration) clockwork.Ticker {
			t := m.Ticker(d)
			return ticker{t.C, t.Stop, t.Reset}
		},
		WithTimeout: m.WithTimeout, WithDeadline: m.WithDeadline,
	}
}

func k8sFuncs(conformance.ClockEnv) conformance.ClockFuncs {
	c := k8s.NewFakeClock(start)
	return conformance.ClockFuncs{
		Now: c.Now, Since: c.Since, Advance: c.Step, Sleep: c.Sleep, After: c.After,
		NewTimer: func(d time.Duration) clockwork.Timer {
			t := c.NewTimer(d)
			return timer{t.C(), t.Stop, t.Reset}
		},
		AfterFunc: func(d time.Duration, f func()) clockwork.Timer {
			t := c.AfterFunc(d, f)
			return timer{t.C(), t.Stop, t.Reset}
		},
		NewTicker: func(d time.Duration) clockwork.Ticker {
			t := c.NewTicker(d)
			return ticker{t.C(), t.Stop, nil}
		},
		NoTickerReset: true,
	}
}

func tilinnaFuncs(conformance.ClockEnv) conformance.ClockFuncs {
	m := clock.NewMock(start)
	wrap := func(t *clock.Timer) clockwork.Timer { return timer{t.C, t.Stop, t.Reset} }
	return conformance.ClockFuncs{
		Now: m.Now, Since: m.Since, Until: m.Until, Advance: func(d time.Duration) { m.Add(d) }, Sleep: m.Sleep, After: m.After,
		NewTimer:  func(d time.Duration) clockwork.Timer { return wrap(m.NewTimer(d)) },
		AfterFunc: func(d time.Duration, f func()) clockwork.Timer { return wrap(m.AfterFunc(d, f)) },
		NewTicker: func(d time.Duration) clockwork.Ticker {
			t := m.NewTicker(d)
			return ticker{t.C, t.Stop, nil}
		},
		NoTickerReset: true,
		WithTimeout:   m.TimeoutContext, WithDeadline: m.DeadlineContext,
		Armed: m.Len,
	}
}

// clockzFuncs delivers what an Advance has made due, as its docs tell to.
func clockzFuncs(conformance.ClockEnv) conformance.ClockFuncs {
	c := clockz.NewFakeClockAt(start)
	wrap := func(t clockz.Timer) clockwork.Timer { return timer{t.C(), t.Stop, t.Reset} }
	return conformance.ClockFuncs{
		Now: c.Now, Since: c.Since, Sleep: c.Sleep, After: c.After,
		Advance: func(d time.Duration) {
			c.Advance(d)
			c.BlockUntilReady()
		},
		NewTimer:  func(d time.Duration) clockwork.Timer { return wrap(c.NewTimer(d)) },
		AfterFunc: func(d time.Duration, f func()) clockwork.Timer { return wrap(c.AfterFunc(d, f)) },
		NewTicker: func(d time.Duration) clockwork.Ticker {
			t := c.NewTicker(d)
			return ticker{t.C(), t.Stop, nil}
		},
		NoTickerReset: true,
		WithTimeout:   c.WithTimeout, WithDeadline: c.WithDeadline,
	}
}

// TestClocks runs the suite over other fake clocks. All are held to package time,
// in a bubble that waits for everything.
func TestClocks(t *testing.T) {
	var reports []*conformance.Report
	for _, peer := range []struct {
		name string
		new  func(conformance.ClockEnv) conformance.ClockFuncs
	}{
		{"clockwork v0.5.0", clockworkFuncs},
		{"clockwork v0.5.0, wrapped", wrappedFuncs},
		{"coder/quartz v0.3.1", quartzFuncs},
		{"benbjohnson/clock v1.3.5", benbjohnsonFuncs},
		{"k8s.io/utils/clock/testing", k8sFuncs},
		{"tilinna/clock v1.1.0", tilinnaFuncs},
		{"zoobz-io/clockz v1.0.2", clockzFuncs},
	} {
		t.Run(peer.name, func(t *testing.T) {
			reports = append(reports, conformance.RunClock(t, conformance.ClockSpec{
				Name: peer.name, New: peer.new,
				Traits: conformance.ClockTraits{Waits: conformance.WaitsForAll},
			}))
		})
	}
	t.Log("\n" + conformance.Table(reports...))
}
