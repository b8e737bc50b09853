package peers

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/coder/quartz"
	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/clocktest"
	"github.com/escapement-go/escapement/synctestcompat"
	"github.com/jonboulle/clockwork"
)

// funcs are the operations of a clock of the table: those that it has, and contexts
// where the library brings them.
func funcs(c fakeClock, lacks []string) clocktest.Funcs {
	f := clocktest.Of(c)
	for _, name := range lacks {
		switch name {
		case "Sleep":
			f.Sleep = nil
		case "After":
			f.After = nil
		case "NewTicker":
			f.NewTicker = nil
		case "Ticker.Reset":
			f.NoTickerReset = true
		}
	}
	switch c := c.(type) {
	case *clockwork.FakeClock:
		f.WithTimeout, f.WithDeadline = clockworkContexts(c)
	case tilinnaClock:
		f.WithTimeout, f.WithDeadline, f.Armed = c.TimeoutContext, c.DeadlineContext, c.Len
	case interface {
		WithTimeout(context.Context, time.Duration) (context.Context, context.CancelFunc)
		WithDeadline(context.Context, time.Time) (context.Context, context.CancelFunc)
	}:
		f.WithTimeout, f.WithDeadline = c.WithTimeout, c.WithDeadline
	}
	return f
}

func clockworkContexts(c clockwork.Clock) (
	withTimeout func(context.Context, time.Duration) (context.Context, context.CancelFunc),
	withDeadline func(context.Context, time.Time) (context.Context, context.CancelFunc),
) {
	return func(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
			return clockwork.WithTimeout(ctx, c, d)
		}, func(ctx context.Context, t time.Time) (context.Context, context.CancelFunc) {
			return clockwork.WithDeadline(ctx, c, t)
		}
}

// describe is the spec of a clock of the table, held to package time in a bubble
// that waits for everything.
func describe(name string, known ...clocktest.Known) clocktest.Spec {
	spec := clocktest.Spec{
		Name:         name,
		Traits:       clocktest.Traits{Waits: clocktest.WaitsForAll},
		KnownFailing: known,
	}
	for _, peer := range clocks {
		if peer.name == name {
			spec.New = func(env clocktest.Env) clocktest.Funcs {
				c := peer.new()
				f := funcs(c, peer.lacks)
				if q, ok := c.(quartzClock); ok {
					// The docs tell to go from event to event and to wait; settling waits for all.
					f.Advance = func(d time.Duration) { q.advance(d, func(quartz.AdvanceWaiter) { env.Settle() }) }
				}
				return f
			}
		}
	}
	return spec
}

// wrapped is clockwork's clock inside a wrapper, as instrumentation makes one: its
// contexts then run on real time.
func wrapped(known ...clocktest.Known) clocktest.Spec {
	spec := describe("clockwork, wrapped", known...)
	spec.New = func(clocktest.Env) clocktest.Funcs {
		c := clockwork.NewFakeClockAt(start)
		f := funcs(c, nil)
		f.WithTimeout, f.WithDeadline = clockworkContexts(struct{ clockwork.Clock }{c})
		return f
	}
	return spec
}

func fakeClocks() []peer[clocktest.Spec] {
	return []peer[clocktest.Spec]{
		{"clockwork", describe("clockwork", clockworkKnown...)},
		{"clockwork, wrapped", wrapped(wrappedKnown...)},
		{"quartz", describe("quartz", quartzKnown...)},
		{"benbjohnson", describe("benbjohnson", benbjohnsonKnown...)},
		{"k8s", describe("k8s", k8sKnown...)},
		{"tilinna", describe("tilinna", tilinnaKnown...)},
		{"clockz", describe("clockz", clockzKnown...)},
		{"juju", describe("juju", jujuKnown...)},
	}
}

// TestClocks runs the suite over fake clocks and prints the table of verdicts.
func TestClocks(t *testing.T) {
	if go124 && testing.Short() {
		t.Skip("-short: some of these clocks leave bubbles in a deadlock, and the runtime of this release can crash on them")
	}
	var reports []*conformance.Report
	each(t, fakeClocks(), func(t *testing.T, spec clocktest.Spec) {
		reports = append(reports, clocktest.Run(t, spec))
	})
	t.Log("\n" + conformance.Table(reports...))
}

// presets are the traits that package clocktest has of libraries. TestClocks holds their clocks
// to what a bubble makes of them; here each is held to what it declares. That excuses it from
// rules that it breaks there.
var presets = map[string]struct {
	traits  clocktest.Traits
	excuses []string
}{
	"clockwork":   {clocktest.Clockwork(), []string{"CK-ORDER", "CK-AT", "CK-CHAIN", "CK-FLOW", "CK-AWAIT"}},
	"quartz":      {clocktest.Quartz(), nil},
	"benbjohnson": {clocktest.Benbjohnson(), nil},
	"k8s":         {clocktest.K8s(), []string{"CK-REENT"}},
	"juju":        {clocktest.Juju(), []string{"CK-ORDER", "CK-AT", "CK-CHAIN", "CK-FLOW", "CK-AWAIT"}},
}

// TestClocks_presets judges libraries with the traits that are named after them. Those that
// excuse nothing are those with which TestClocks judges.
func TestClocks_presets(t *testing.T) {
	if go124 && testing.Short() {
		t.Skip("-short: some of these clocks leave bubbles in a deadlock, and the runtime of this release can crash on them")
	}
	each(t, fakeClocks(), func(t *testing.T, spec clocktest.Spec) {
		preset, ok := presets[spec.Name]
		switch {
		case !ok:
			t.Skip("no preset")
		case preset.excuses == nil && preset.traits != spec.Traits:
			t.Fatalf("the preset is %v, and TestClocks judges with %v", preset.traits, spec.Traits)
		case preset.excuses == nil:
			t.Skip("TestClocks judges it")
		}
		spec.Traits = preset.traits
		spec.KnownFailing = slices.DeleteFunc(slices.Clone(spec.KnownFailing), func(k clocktest.Known) bool {
			return slices.Contains(preset.excuses, k.Rule)
		})
		spec.KnownFailing = append(spec.KnownFailing, presetKnown[spec.Name]...)
		r := clocktest.Run(t, spec)
		for _, rule := range preset.excuses {
			if v, _ := r.Verdict(rule); v.Status != conformance.Skip {
				t.Errorf("the preset does not excuse the clock from %s", rule)
			}
		}
	})
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
			r := clocktest.Run(t, describe("clockwork", clocktest.Known{Rule: d.rule, Schedule: d.schedule, Why: d.what}))
			if v, _ := r.Verdict(d.rule); v.Status != conformance.KnownFail {
				t.Errorf("%s does not find that %s", d.rule, d.what)
			}
		})
		t.Logf("%-4s %-58s %s: %s", d.id, d.what, d.rule, d.schedule)
	}
}
