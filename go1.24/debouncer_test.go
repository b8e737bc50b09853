package floor

import (
	"sync"
	"testing"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/debouncertest"
	"github.com/jonboulle/clockwork"
)

// debouncer is a user's own: one goroutine for each burst, woken by a timer.
type debouncer struct {
	clock clockwork.Clock
	wait  time.Duration
	f     func(int)

	mu      sync.Mutex
	timer   clockwork.Timer
	burst   int
	stopped bool
}

func (d *debouncer) call(v int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopped {
		return
	}
	d.discard()
	burst := d.burst
	d.timer = d.clock.AfterFunc(d.wait, func() {
		d.mu.Lock()
		current := burst == d.burst
		d.mu.Unlock()
		if current {
			d.f(v)
		}
	})
}

func (d *debouncer) discard() {
	d.burst++
	if d.timer != nil {
		d.timer.Stop()
	}
}

func (d *debouncer) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = true
	d.discard()
}

// The suite on a debouncer of one's own. On Go 1.24 without the experiment the
// rules that need a bubble are skipped and the report says so.
func TestSuite(t *testing.T) {
	report := debouncertest.Run(t, debouncertest.Spec{
		Name: "a user's own",
		Time: debouncertest.Injected,
		New: func(env debouncertest.Env, cfg debouncertest.Config, fire func(int)) debouncertest.Funcs {
			d := &debouncer{clock: env.Clock, wait: cfg.Wait, f: fire}
			return debouncertest.Funcs{Call: d.call, Stop: d.stop}
		},
		Traits: debouncertest.Traits{
			Edges:       []debouncertest.Edges{debouncertest.Trailing},
			Payload:     debouncertest.LastPayload,
			Tie:         debouncertest.ResetFirst,
			StaleFire:   debouncertest.StaleForbidden,
			StopPending: debouncertest.StopDrops,
			ZeroWait:    debouncertest.ZeroNextTick,
			Overlap:     debouncertest.Parallel,
		},
	})
	documented(t, report)
	if got := report.Count(conformance.Fail, conformance.Inconclusive); got != 0 {
		t.Errorf("%d rules failed or were inconclusive", got)
	}
	if got := report.Count(conformance.Pass); got < 14 {
		t.Errorf("%d rules passed, want 14 or more", got)
	}
}
