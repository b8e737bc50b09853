package peers

import (
	"context"
	"testing"
	"time"

	benbjohnson "github.com/benbjohnson/clock"
	"github.com/coder/quartz"
	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/synctestcompat"
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
		name  string
		new   func(conformance.ClockEnv) conformance.ClockFuncs
		known []conformance.Known
	}{
		{"clockwork v0.5.0", clockworkFuncs, clockworkKnown},
		{"clockwork v0.5.0, wrapped", wrappedFuncs, wrappedKnown},
		{"coder/quartz v0.3.1", quartzFuncs, quartzKnown},
		{"benbjohnson/clock v1.3.5", benbjohnsonFuncs, benbjohnsonKnown},
		{"k8s.io/utils/clock/testing", k8sFuncs, k8sKnown},
		{"tilinna/clock v1.1.0", tilinnaFuncs, tilinnaKnown},
		{"zoobz-io/clockz v1.0.2", clockzFuncs, clockzKnown},
	} {
		if testing.Short() && (peer.name[0] == 'k' || peer.name[0] == 'z') {
			continue // their locks hang a run until the watchdog looks
		}
		t.Run(peer.name, func(t *testing.T) {
			reports = append(reports, conformance.RunClock(t, conformance.ClockSpec{
				Name: peer.name, New: peer.new, KnownFailing: peer.known,
				Traits: conformance.ClockTraits{Waits: conformance.WaitsForAll},
			}))
		})
	}
	t.Log("\n" + conformance.Table(reports...))
}

// clockworkDivergences lists how clockwork differs from package time, with the
// schedule that shows it and the rule that judges it, or why no rule does.
var clockworkDivergences = []struct{ id, what, rule, schedule string }{
	{"D1", "Ticker.Reset, then Stop, and it ticks on", "CK-TICKSTOP", "ticker 1 1s @0 | rearm 1 700ms @0 | halt 1 @0 | read 1 @5s | read 1 @5.3s | read 1 @6.3s"},
	{"D2", "each Ticker.Reset leaves a waiter behind", "CK-ARMED", "ticker 1 1s @0 | armed @0 | rearm 1 700ms @0 | armed @0 | armed @5s"},
	{"D3", "Ticker.Reset takes a period <= 0", "CK-TICKARG", "ticker 1 1s @0 | rearm 1 0 @0"},
	{"D4", "Stop of a fired, unread timer is false", "CK-UNREAD", "timer 1 1s @0 | halt 1 @1s | read 1 @6s"},
	{"D5", "Reset of a fired, unread timer is false", "CK-UNREAD", "timer 1 1s @0 | rearm 1 1s @1s | read 1 @6s"},
	{"D6", "a timer that fires again while unread keeps the old value", "", "shows as D5: what Reset says differs first"},
	{"D7", "Ticker.Stop and Reset leave a stale tick", "CK-TICKUNREAD", "ticker 1 1s @0 | rearm 1 700ms @1s | read 1 @6s | read 1 @6.3s | read 1 @7.3s"},
	{"D8", "Now in a function is the end of the Advance", "CK-AT", "afterfunc 1 1s @0 | now @f1 | now @5s"},
	{"D9", "Now in a receiver is the end of the Advance", "CK-FLOW", "timer 1 1s @0 | consume 2 1 @0 | now @f2 | idle 5s"},
	{"D10", "a chain of functions runs only once in an Advance", "CK-CHAIN", "afterfunc 1 1s @0 | rearm 1 1.3s @f1 | idle 10s"},
	{"D11", "a function cannot stop a later one", "CK-CHAIN", "afterfunc 2 2.1s @0 | afterfunc 1 1s @0 | halt 2 @f1 | idle 10s"},
	{"D12", "a function cannot put off a later one", "CK-CHAIN", "afterfunc 2 2.1s @0 | afterfunc 1 1s @0 | rearm 2 2.7s @f1 | idle 10s"},
	{"D13", "functions run out of order", "CK-ORDER", "afterfunc 1 1s @0 | afterfunc 2 3s @0 | afterfunc 3 2s @0 | idle 10s"},
	{"D14", "Advance returns before functions have run", "", "CK-AWAIT, by a probe without a schedule"},
	{"D15", "a loop on After comes round once in an Advance", "CK-FLOW", "after 1 1s @0 | consume 2 1 @0 | after 1 1s @f2 | idle 5s"},
	{"D16", "a consumer of a ticker misses ticks", "CK-FLOW", "ticker 1 1s @0 | consume 2 1 @0 | idle 3s"},
	{"D17", "AfterFunc's timer has a channel", "CK-CHAN", "afterfunc 1 1s @0 | chan 1 @0"},
	{"D17", "channels have capacity 1", "", "no library can make a channel that is like package time's"},
	{"D18", "Err of a live context blocks", "CK-CONTEXT", "timeout 1 1s @0 | err 1 @0 | idle 2s"},
	{"D19", "Done is open when cancel returns", "", "package context: it may close after cancel has returned"},
	{"D20", "a cancelled context leaves its timer", "CK-ARMED", "timeout 1 1s @0 | cancel 1 @0 | armed @0"},
	{"D21", "a child shows its own deadline, not its parent's", "CK-CTXTREE", "timeout 1 1s @0 | timeout 2 10s 1 @0 | idle 500ms | idle 1s"},
	{"D22", "Err is not context.DeadlineExceeded", "CK-CONTEXT", "timeout 1 1s @0 | err 1 @1s | idle 2s"},
	{"D23", "Done is open when Advance returns", "", "package time has no Advance; once all is settled it is closed"},
	{"D24", "a parent's later cause replaces the own", "CK-CTXTREE", "within 1 @0 | timeout 2 1s 1 @0 | idle 1s | cancel 1 @2s"},
	{"D25", "the doc says that the parent's end is ignored", "", "a doc, not a behaviour"},
	{"D26", "a context of a wrapped clock runs on real time", "", "TestClocks has a clock that is wrapped"},
	{"D27", "Advance goes back", "", "package time has no Advance"},
	{"D28", "BlockUntil returns with more than n waiters", "", "package time has no BlockUntil"},
	{"D29", "the timers of After stay", "", "only the runtime knows that nobody can receive any more"},
	{"D30", "AfterFunc takes a nil function", "", "package time ends the process"},
	{"D31", "the order of equal deadlines", "", "package time promises none"},
}

// Each divergence is found by the schedule that stands for it.
func TestClockwork_divergences(t *testing.T) {
	synctestcompat.Require(t)
	for _, d := range clockworkDivergences {
		if d.rule == "" {
			t.Logf("%-4s %-58s not judged: %s", d.id, d.what, d.schedule)
			continue
		}
		t.Run(d.id, func(t *testing.T) {
			t.Setenv("ESCAPEMENT_SCHEDULE", d.schedule)
			r := conformance.RunClock(t, conformance.ClockSpec{
				Name: "clockwork v0.5.0", New: clockworkFuncs,
				Traits:       conformance.ClockTraits{Waits: conformance.WaitsForAll},
				KnownFailing: []conformance.Known{{Rule: d.rule, Schedule: d.schedule, Why: d.what}},
			})
			if v, _ := r.Verdict(d.rule); v.Status != conformance.KnownFail {
				t.Errorf("%s does not find that %s", d.rule, d.what)
			}
		})
		t.Logf("%-4s %-58s %s: %s", d.id, d.what, d.rule, d.schedule)
	}
}
