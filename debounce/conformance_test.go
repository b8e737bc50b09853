package debounce_test

import (
	"context"
	"testing"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/debouncertest"
	"github.com/escapement-go/escapement/debounce"
	"github.com/escapement-go/escapement/internal/prove"
)

func TestConformance_Debouncer(t *testing.T) {
	everyTime(t, func(t *testing.T, source debouncertest.TimeSource) { debouncertest.Run(t, debouncerSpec(source)) })
}

func TestConformance_DebouncerTwice(t *testing.T) {
	debouncertest.Run(t, twiceSpec(debouncertest.Injected))
}
func TestConformance_Batch(t *testing.T)  { debouncertest.Run(t, batchSpec(debouncertest.Injected)) }
func TestConformance_Keyed(t *testing.T)  { debouncertest.Run(t, keyedSpec(debouncertest.Injected)) }
func TestConformance_Stream(t *testing.T) { debouncertest.Run(t, streamSpec(debouncertest.Injected)) }

// everyTime runs a test for each way to take time; by default, for an injected clock.
func everyTime(t *testing.T, run func(t *testing.T, source debouncertest.TimeSource)) {
	prove.SameSeed(t)
	for _, source := range []debouncertest.TimeSource{debouncertest.Injected, debouncertest.PackageTime} {
		t.Run(source.String(), func(t *testing.T) {
			if source != debouncertest.Injected {
				prove.Require(t, prove.Suite)
			}
			run(t, source)
		})
	}
}

// debouncerSpec describes a Debouncer.
func debouncerSpec(source debouncertest.TimeSource) debouncertest.Spec {
	return debouncertest.Spec{
		Name: "debounce.Debouncer",
		Time: source,
		New: func(env debouncertest.Env, cfg debouncertest.Config, fire func(int)) debouncertest.Funcs {
			return funcs(debounce.New(cfg.Wait, fire, options(source, env, cfg)...))
		},
		Traits: traits(),
	}
}

var edges = []debouncertest.Edges{debouncertest.Trailing, debouncertest.Leading, debouncertest.LeadingAndTrailing}

// traits are the choices of this package.
func traits() debouncertest.Traits {
	return debouncertest.Traits{
		Edges:         edges,
		AfterFlush:    debouncertest.FlushEndsBurst,
		Payload:       debouncertest.LastPayload,
		Tie:           debouncertest.ResetFirst,
		StaleFire:     debouncertest.StaleForbidden,
		CancelBarrier: debouncertest.CommitBarrier,
		AfterCancel:   debouncertest.CancelReusable,
		StopPending:   debouncertest.StopDrops,
		ZeroWait:      debouncertest.ZeroSync,
		Overlap:       debouncertest.Serial,
		BothSingle:    debouncertest.BothOnce,
		MaxWait:       debouncertest.MaxWaitFromFirst,
		ClockBack:     debouncertest.BackBounded,
		PanicPolicy:   debouncertest.PanicPropagates,
		CloseFlush:    debouncertest.CloseFires,
	}
}

// options says in the terms of this package what cfg says.
func options(source debouncertest.TimeSource, env debouncertest.Env, cfg debouncertest.Config) []debounce.Option {
	if source == debouncertest.PackageTime {
		env.Clock = nil
	}
	opts := []debounce.Option{debounce.WithClock(env.Clock)}
	switch cfg.Edges {
	case debouncertest.Leading:
		opts = append(opts, debounce.Leading())
	case debouncertest.LeadingAndTrailing:
		opts = append(opts, debounce.LeadingAndTrailing())
	}
	if cfg.MaxWait > 0 {
		opts = append(opts, debounce.MaxWait(cfg.MaxWait))
	}
	return opts
}

// funcs are the methods that a Debouncer and a Batch have in common.
func funcs(d interface {
	Call(int)
	Cancel() bool
	Flush() bool
	Pending() bool
	Stop()
	Close(context.Context) error
}) debouncertest.Funcs {
	return debouncertest.Funcs{
		Call: d.Call, CancelReports: d.Cancel, Flush: func() { d.Flush() }, Pending: d.Pending, Stop: d.Stop,
		Close: func() { _ = d.Close(context.Background()) },
	}
}

// twiceSpec describes a Debouncer that may fire twice for a burst of one call.
func twiceSpec(source debouncertest.TimeSource) debouncertest.Spec {
	spec := debouncerSpec(source)
	spec.Name = "debounce.DebouncerTwice"
	spec.New = func(env debouncertest.Env, cfg debouncertest.Config, fire func(int)) debouncertest.Funcs {
		opts := options(spec.Time, env, cfg)
		if cfg.Edges == debouncertest.LeadingAndTrailing {
			opts = append(opts, debounce.LeadingAndTrailingTwice())
		}
		return funcs(debounce.New(cfg.Wait, fire, opts...))
	}
	spec.Traits.BothSingle = debouncertest.BothTwice
	return spec
}

// batchSpec describes a Batch.
func batchSpec(source debouncertest.TimeSource) debouncertest.Spec {
	spec := debouncerSpec(source)
	spec.Name, spec.New = "debounce.Batch", nil
	spec.NewBatch = func(env debouncertest.Env, cfg debouncertest.Config, fire func([]int)) debouncertest.Funcs {
		return funcs(debounce.NewBatch(cfg.Wait, fire, options(spec.Time, env, cfg)...))
	}
	spec.Traits.Payload = debouncertest.AllPayloads
	return spec
}

// keyedSpec describes a Keyed. Calls that have no key have the key 0.
func keyedSpec(source debouncertest.TimeSource) debouncertest.Spec {
	spec := debouncerSpec(source)
	spec.Name = "debounce.Keyed"
	spec.New = func(env debouncertest.Env, cfg debouncertest.Config, fire func(int)) debouncertest.Funcs {
		d := debounce.NewKeyed(cfg.Wait, func(_, v int) { fire(v) }, options(spec.Time, env, cfg)...)
		call := func(key, v int) { _ = d.Call(key, v) } // without MaxKeys there is no error
		return debouncertest.Funcs{
			Call:          func(v int) { call(0, v) },
			CallKey:       call,
			CancelKey:     func(key int) { d.Cancel(key) },
			FlushKey:      func(key int) { d.Flush(key) },
			CancelReports: func() bool { return d.Cancel(0) },
			Flush:         func() { d.Flush(0) },
			Pending:       func() bool { return d.Pending(0) },
			Stop:          d.Stop,
			Close:         func() { _ = d.Close(context.Background()) },
		}
	}
	return spec
}

// streamSpec describes a Stream, whose reader is the callback.
func streamSpec(source debouncertest.TimeSource) debouncertest.Spec {
	spec := debouncerSpec(source)
	spec.Name = "debounce.Stream"
	spec.New = func(env debouncertest.Env, cfg debouncertest.Config, fire func(int)) debouncertest.Funcs {
		ctx, cancel := context.WithCancel(context.Background())
		in := make(chan int)
		out := debounce.Stream(ctx, in, cfg.Wait, nil, options(spec.Time, env, cfg)...)
		go func() {
			for v := range out {
				fire(v)
			}
		}()
		return debouncertest.Funcs{
			Call: func(v int) {
				select {
				case in <- v:
				case <-ctx.Done():
				}
			},
			Stop:  cancel,
			Close: func() { close(in) },
		}
	}
	spec.Traits.Tie = debouncertest.FireFirst
	spec.Traits.StaleFire = debouncertest.StaleAllowed // a value is called when it is read, and what is due goes first
	spec.Traits.ZeroWait = debouncertest.ZeroNextTick
	spec.Traits.Reentrancy = debouncertest.ReentrancyForbidden // a reader that sends waits for itself
	spec.Traits.StopBarrier = debouncertest.NoBarrier          // a context is done before the goroutine has seen it
	return spec
}

// After Stop nothing is expected, on whatever edge and within whatever bound.
func TestConformance_afterStop(t *testing.T) {
	j := debouncerSpec(debouncertest.Injected).Judge(t)
	for _, text := range []string{
		"wait=100ms maxwait=250ms | call 1 @0 | stop @0",
		"wait=100ms edges=both | call 1 @0 | call 2 @1ms | stop @2ms | call 3 @1s",
		"wait=100ms edges=leading | call 1 @0 | stop @1ms | call 2 @1s",
	} {
		s, err := conformance.ParseSchedule(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range j.Run(s) {
			t.Error(v.Text())
		}
	}
}
