package debouncertest_test

import (
	"fmt"
	"time"

	"github.com/escapement-go/escapement/conformance/debouncertest"
	"github.com/escapement-go/escapement/debounce"
	"github.com/escapement-go/escapement/fakeclock"
)

// How a debouncer is described.
func ExampleRun() {
	spec := debouncertest.Spec{
		Name: "mine",
		Time: debouncertest.Injected,
		New: func(env debouncertest.Env, cfg debouncertest.Config, fire func(int)) debouncertest.Funcs {
			d := debounce.New(cfg.Wait, fire, debounce.WithClock(env.Clock))
			return debouncertest.Funcs{Call: d.Call, CancelReports: d.Cancel, Stop: d.Stop}
		},
		Traits: debouncertest.Traits{
			Edges:         []debouncertest.Edges{debouncertest.Trailing},
			Payload:       debouncertest.LastPayload,
			Tie:           debouncertest.ResetFirst,
			StaleFire:     debouncertest.StaleForbidden,
			CancelBarrier: debouncertest.CommitBarrier,
			AfterCancel:   debouncertest.CancelReusable,
			StopPending:   debouncertest.StopDrops,
			ZeroWait:      debouncertest.ZeroSync,
			Overlap:       debouncertest.Serial,
		},
	}
	// In a test: debouncertest.Run(t, spec)
	clock := fakeclock.New()
	fire := func(v int) { fmt.Println("fired", v) }
	d := spec.New(debouncertest.Env{Clock: clock}, debouncertest.Config{Wait: time.Second}, fire)
	d.Call(1)
	d.Call(2)
	clock.Advance(time.Second)
	// Output: fired 2
}

// Presets are traits to start from.
func ExampleLodash() {
	traits := debouncertest.Lodash()
	traits.Overlap = debouncertest.Serial
	fmt.Println(traits.Edges, traits.MaxWait == debouncertest.MaxWaitFromFire)
	// Output: [trailing leading both] true
}
