package limiters_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/escapement-go/escapement/conformance/throttletest"
	"github.com/escapement-go/escapement/limiters"
)

func TestConformance_Throttle(t *testing.T) {
	everyTime(t, func(t *testing.T, source throttletest.TimeSource) { throttletest.Run(t, throttleSpec(source)) })
}

func TestConformance_ThrottleFunc(t *testing.T) {
	everyClock(t, func(t *testing.T, source throttletest.TimeSource) { throttletest.Run(t, throttleFuncSpec(source)) })
}

func TestConformance_ThrottleStream(t *testing.T) {
	everyClock(t, func(t *testing.T, source throttletest.TimeSource) {
		throttletest.Run(t, throttleStreamSpec(source))
	})
}

func TestConformance_ThrottleFuncStream(t *testing.T) {
	everyClock(t, func(t *testing.T, source throttletest.TimeSource) {
		throttletest.Run(t, throttleFuncStreamSpec(source))
	})
}

// throttleSpec describes a Throttle.
func throttleSpec(source throttletest.TimeSource) throttletest.Spec {
	return throttletest.Spec{
		Name: "limiters.Throttle",
		Time: source,
		New: func(env throttletest.Env, cfg throttletest.Config, _ func(int)) throttletest.Funcs {
			opts := []limiters.ThrottleOption{limiters.WithClock(injected(source, env))}
			if cfg.K > 0 {
				opts = append(opts, limiters.PerWindow(cfg.K))
			}
			h := limiters.NewThrottle(cfg.Interval, opts...)
			return throttletest.Funcs{Allow: h.Allow, AllowAt: h.AllowAt, Reset: h.Reset}
		},
		Traits: throttletest.Traits{
			Edges:     []throttletest.Edges{throttletest.Leading},
			Boundary:  throttletest.BoundaryPasses,
			Windows:   throttletest.WindowsFromFirst,
			ClockBack: throttletest.BackBounded,
		},
	}
}

var edges = map[throttletest.Edges]limiters.Edges{
	throttletest.Leading:            limiters.Leading,
	throttletest.Trailing:           limiters.Trailing,
	throttletest.LeadingAndTrailing: limiters.Leading | limiters.Trailing,
}

// throttleFuncSpec describes a ThrottleFunc.
func throttleFuncSpec(source throttletest.TimeSource) throttletest.Spec {
	return throttletest.Spec{
		Name: "limiters.ThrottleFunc",
		Time: source,
		New: func(env throttletest.Env, cfg throttletest.Config, emit func(int)) throttletest.Funcs {
			clock := limiters.WithClock(injected(source, env))
			h := limiters.NewThrottleFunc(cfg.Interval, emit, edges[cfg.Edges], clock)
			return throttletest.Funcs{Call: h.Call, Flush: func() { h.Flush() }, Stop: h.Stop}
		},
		Traits: throttletest.Traits{
			Edges: []throttletest.Edges{
				throttletest.Leading, throttletest.Trailing, throttletest.LeadingAndTrailing,
			},
			Boundary:    throttletest.BoundaryPasses,
			BothSingle:  throttletest.BothOnce,
			Payload:     throttletest.LastPayload,
			Anchor:      throttletest.AnchorStart,
			AfterFlush:  throttletest.FlushOpensInterval,
			ClockBack:   throttletest.BackBounded,
			PanicPolicy: throttletest.PanicPropagates,
		},
	}
}

// throttleStreamSpec describes a ThrottleStream. Its items carry their payload, and
// errors pass.
func throttleStreamSpec(source throttletest.TimeSource) throttletest.Spec {
	return throttletest.Spec{
		Name: "limiters.ThrottleStream",
		Time: source,
		New: func(env throttletest.Env, cfg throttletest.Config, emit func(int)) throttletest.Funcs {
			h := limiters.NewThrottle(cfg.Interval, limiters.WithClock(injected(source, env)))
			return stream(emit, func(ctx context.Context, in chan limiters.Item[int]) <-chan limiters.Item[int] {
				return limiters.ThrottleStream(ctx, h, in)
			})
		},
		Traits: throttletest.Traits{
			Edges:     []throttletest.Edges{throttletest.Leading},
			Boundary:  throttletest.BoundaryPasses,
			ClockBack: throttletest.BackBounded,
		},
	}
}

// stream is what drives a stream that made makes.
func stream(
	emit func(int), made func(ctx context.Context, in chan limiters.Item[int]) <-chan limiters.Item[int],
) throttletest.Funcs {
	ctx, cancel := context.WithCancel(context.Background())
	in := make(chan limiters.Item[int])
	out := made(ctx, in)
	var closed atomic.Bool
	go func() {
		for item := range out {
			emit(item.Value)
		}
		closed.Store(true)
	}()
	return throttletest.Funcs{
		Call:   func(v int) { in <- limiters.Item[int]{Value: v} },
		Fault:  func(v int) { in <- limiters.Item[int]{Value: v, Err: errors.ErrUnsupported} },
		Close:  func() { close(in) },
		Cancel: cancel,
		Closed: closed.Load,
	}
}

// throttleFuncStreamSpec describes a ThrottleFuncStream.
func throttleFuncStreamSpec(source throttletest.TimeSource) throttletest.Spec {
	spec := throttleFuncSpec(source)
	spec.Name = "limiters.ThrottleFuncStream"
	spec.New = func(env throttletest.Env, cfg throttletest.Config, emit func(int)) throttletest.Funcs {
		clock := limiters.WithClock(injected(source, env))
		return stream(emit, func(ctx context.Context, in chan limiters.Item[int]) <-chan limiters.Item[int] {
			return limiters.ThrottleFuncStream(ctx, in, cfg.Interval, edges[cfg.Edges], clock)
		})
	}
	spec.Traits.CloseFlush = throttletest.CloseFires
	spec.Traits.Anchor = 0 // there are no callbacks
	return spec
}
