package bundled

import (
	"context"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/debounce"
)

// Debouncer describes debounce.Debouncer, on the clock that the environment
// has or on package time.
func Debouncer(source conformance.TimeSource) conformance.DebouncerSpec {
	return conformance.DebouncerSpec{
		Name: "debounce.Debouncer",
		Time: source,
		New: func(env conformance.Env, cfg conformance.DebounceConfig, fire func(int)) conformance.DebouncerFuncs {
			return debouncerFuncs(debounce.New(cfg.Wait, fire, debounceOptions(source, env, cfg)...))
		},
		Traits: debounceTraits,
	}
}

// debounceTraits are the choices of package debounce.
var debounceTraits = conformance.DebounceTraits{
	Edges:         []conformance.Edges{conformance.Trailing, conformance.Leading, conformance.LeadingAndTrailing},
	Payload:       conformance.LastPayload,
	Tie:           conformance.ResetFirst,
	StaleFire:     conformance.StaleForbidden,
	CancelBarrier: conformance.CommitBarrier,
	AfterCancel:   conformance.CancelReusable,
	StopPending:   conformance.StopDrops,
	ZeroWait:      conformance.ZeroSync,
	Overlap:       conformance.Serial,
	BothSingle:    conformance.BothOnce,
	MaxWait:       conformance.MaxWaitFromFirst,
	ClockBack:     conformance.BackBounded,
	PanicPolicy:   conformance.PanicPropagates,
	CloseFlush:    conformance.CloseFires,
}

// debouncerFuncs are the methods that a Debouncer and a Batch have in common.
func debouncerFuncs(d interface {
	Call(int)
	Cancel() bool
	Flush() bool
	Pending() bool
	Stop()
	Close(context.Context) error
}) conformance.DebouncerFuncs {
	return conformance.DebouncerFuncs{
		Call: d.Call, CancelReports: d.Cancel, Flush: func() { d.Flush() }, Pending: d.Pending, Stop: d.Stop,
		Close: func() { _ = d.Close(context.Background()) },
	}
}

// debounceOptions says in the terms of package debounce what cfg says.
func debounceOptions(source conformance.TimeSource, env conformance.Env, cfg conformance.DebounceConfig) []debounce.Option {
	opts := []debounce.Option{debounce.WithClock(clockFor(source, env))}
	switch cfg.Edges {
	case conformance.Leading:
		opts = append(opts, debounce.Leading())
	case conformance.LeadingAndTrailing:
		opts = append(opts, debounce.LeadingAndTrailing())
	}
	if cfg.MaxWait > 0 {
		opts = append(opts, debounce.MaxWait(cfg.MaxWait))
	}
	return opts
}

// Twice describes debounce.Debouncer where a burst of one call fires twice.
func Twice(source conformance.TimeSource) conformance.DebouncerSpec {
	spec := Debouncer(source)
	spec.Name = "debounce.DebouncerTwice"
	spec.New = func(env conformance.Env, cfg conformance.DebounceConfig, fire func(int)) conformance.DebouncerFuncs {
		opts := debounceOptions(source, env, cfg)
		if cfg.Edges == conformance.LeadingAndTrailing {
			opts = append(opts, debounce.LeadingAndTrailingTwice())
		}
		return debouncerFuncs(debounce.New(cfg.Wait, fire, opts...))
	}
	spec.Traits.BothSingle = conformance.BothTwice
	return spec
}

// Batch describes debounce.Batch.
func Batch(source conformance.TimeSource) conformance.DebouncerSpec {
	spec := Debouncer(source)
	spec.Name = "debounce.Batch"
	spec.New = nil
	spec.NewBatch = func(env conformance.Env, cfg conformance.DebounceConfig, fire func([]int)) conformance.DebouncerFuncs {
		return debouncerFuncs(debounce.NewBatch(cfg.Wait, fire, debounceOptions(source, env, cfg)...))
	}
	spec.Traits.Payload = conformance.AllPayloads
	return spec
}

// Keyed describes debounce.Keyed, with 0 as the key of calls that have none.
func Keyed(source conformance.TimeSource) conformance.DebouncerSpec {
	spec := Debouncer(source)
	spec.Name = "debounce.Keyed"
	spec.New = func(env conformance.Env, cfg conformance.DebounceConfig, fire func(int)) conformance.DebouncerFuncs {
		d := debounce.NewKeyed(cfg.Wait, func(_, v int) { fire(v) }, debounceOptions(source, env, cfg)...)
		call := func(key, v int) { _ = d.Call(key, v) } // without MaxKeys there is no error
		return conformance.DebouncerFuncs{
			Call:          func(v int) { call(0, v) },
			CallKey:       call,
			CancelReports: func() bool { return d.Cancel(0) },
			Flush:         func() { d.Flush(0) },
			Pending:       func() bool { return d.Pending(0) },
			Stop:          d.Stop,
			Close:         func() { _ = d.Close(context.Background()) },
		}
	}
	return spec
}

// Stream describes debounce.Stream. Its reader is the callback.
func Stream(source conformance.TimeSource) conformance.DebouncerSpec {
	spec := Debouncer(source)
	spec.Name = "debounce.Stream"
	spec.New = func(env conformance.Env, cfg conformance.DebounceConfig, fire func(int)) conformance.DebouncerFuncs {
		ctx, cancel := context.WithCancel(context.Background())
		in := make(chan int)
		out := debounce.Stream(ctx, in, cfg.Wait, nil, debounceOptions(source, env, cfg)...)
		go func() {
			for v := range out {
				fire(v)
			}
		}()
		return conformance.DebouncerFuncs{
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
	spec.Traits.Tie = conformance.FireFirst
	spec.Traits.StaleFire = conformance.StaleAllowed // a value is called when it is read, and what is due goes first
	spec.Traits.ZeroWait = conformance.ZeroNextTick
	spec.Traits.Reentrancy = conformance.ReentrancyForbidden // a reader that sends waits for itself
	spec.Traits.StopBarrier = conformance.NoBarrier          // a context is done before the goroutine has seen it
	return spec
}
