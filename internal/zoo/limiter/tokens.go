package limiter

import (
	"context"
	"sync/atomic"

	"github.com/jonboulle/clockwork"

	lt "github.com/escapement-go/escapement/conformance/limitertest"
	"github.com/escapement-go/escapement/internal/zoo"
)

// tokens is a channel of tokens, to which one is added at each tick.
type tokens chan struct{}

// newTokens is a channel full of tokens, and its ticker.
func newTokens(env lt.Env, cfg lt.Config) (tokens, clockwork.Ticker) {
	if cfg.Burst < 1 || !cfg.Rate.Exact() {
		panic("tokens: want a burst of 1 or more, and a rate with a whole period")
	}
	l := make(tokens, cfg.Burst)
	for range cfg.Burst {
		l <- struct{}{}
	}
	return l, env.Clock.NewTicker(cfg.Rate.Interval())
}

func (l tokens) add() { zoo.Offer(l, struct{}{}) }

func (l tokens) allow() bool { _, ok := zoo.Poll(l); return ok }

func (l tokens) wait(ctx context.Context, _ int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case <-l:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ticksOn is a mistake: the ticker outlives the limiter.
const ticksOn = "the ticker goes on after Stop"

// endless is a ticker that cannot be stopped.
type endless struct{ clockwork.Ticker }

func (endless) Stop() {}

// tickerSpec describes a channel of tokens, correct unless mutant names its mistake.
func tickerSpec(mutant string, source lt.TimeSource) lt.Spec {
	return lt.Spec{
		Name: "zoo: channel of tokens",
		Time: source,
		New: func(env lt.Env, cfg lt.Config) lt.Funcs {
			l, ticker := newTokens(env, cfg)
			if mutant == ticksOn {
				ticker = endless{ticker}
			}
			return lt.Funcs{Allow: l.allow, WaitN: l.wait, Stop: zoo.OnTicks(ticker, l.add)}
		},
		Traits: lt.Traits{
			Initial: lt.InitialFull, OneAtATime: true, RefillSize: 1, BackTime: lt.BackClamp,
			ZeroRate: lt.ZeroRateRefused, Inf: lt.InfAbsent, Fair: lt.FairFIFO,
			DeadlineCheck: lt.DeadlineSleeps, Refund: lt.RefundFull, OnChange: lt.OnChangeServes,
		},
	}
}

// lateSpec is that channel, filled by a goroutine that looks at its next tick whether it was stopped.
func lateSpec(source lt.TimeSource) lt.Spec {
	spec := tickerSpec("", source)
	spec.Name = "zoo: channel of tokens that ends at a tick"
	spec.New = func(env lt.Env, cfg lt.Config) lt.Funcs {
		l, ticker := newTokens(env, cfg)
		var stopped atomic.Bool
		go func() {
			defer ticker.Stop()
			for range ticker.Chan() {
				if stopped.Load() {
					return
				}
				l.add()
			}
		}()
		return lt.Funcs{Allow: l.allow, Stop: func() { stopped.Store(true) }}
	}
	return spec
}
