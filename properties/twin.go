package properties

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/escapement-go/escapement/conformance"
)

// twin is an implementation in the terms of the laws of two runs.
type twin struct {
	judge *conformance.Judge
	// beside makes two instances and does everything with the other one first.
	beside   *conformance.Judge
	source   conformance.TimeSource
	pairs    *rapid.Generator[pair]
	question conformance.Op
	nameless bool // what comes out does not bear the payload
	// scale makes all durations of a configuration k times as long, long is a time
	// after which nothing that happened before matters.
	scale func(c conformance.Config, k time.Duration) conformance.Config
	long  func(c conformance.Config) time.Duration
}

// apart draws schedules whose instants keep clear of every deadline: each gap has an odd
// part of its own, a power of two, so that no sum of gaps is the unit or half of it, or
// a multiple. Some gaps are 0.
func apart(cfg conformance.Config, unit time.Duration, step func(m move) conformance.Step, ops []conformance.Op) *rapid.Generator[conformance.Schedule] {
	gaps := []time.Duration{0, unit / 8, unit / 2, unit * 7 / 8, unit, unit * 3 / 2, unit * 5}
	return rapid.Map(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) move {
		return move{
			op:  rapid.SampledFrom(ops).Draw(t, "op"),
			gap: rapid.IntRange(0, len(gaps)-1).Draw(t, "gap"),
			n:   rapid.IntRange(0, 9).Draw(t, "n"),
		}
	}), 1, 12), func(moves []move) conformance.Schedule {
		s := conformance.Schedule{Config: cfg}
		at := time.Duration(0)
		for i, m := range moves {
			if i > 0 && m.gap > 0 {
				at += gaps[m.gap] + time.Microsecond<<i
			}
			st := step(m)
			st.Op, st.At = m.op, at
			s.Steps = append(s.Steps, st)
		}
		return number(s)
	})
}

// paired draws two schedules of one configuration.
func paired(of []*rapid.Generator[conformance.Schedule]) *rapid.Generator[pair] {
	return rapid.Custom(func(t *rapid.T) pair {
		g := rapid.SampledFrom(of).Draw(t, "config")
		return pair{g.Draw(t, "first"), g.Draw(t, "second"), rapid.IntRange(0, 1000).Draw(t, "k")}
	})
}

const unit = 100 * time.Millisecond

func debouncerTwin(t *testing.T, spec conformance.DebouncerSpec) *twin {
	t.Helper()
	w := &twin{
		judge: conformance.JudgeDebouncer(t, spec), source: spec.Time, question: conformance.OpPending,
		nameless: spec.Traits.Payload == conformance.NoPayload,
		scale: func(c conformance.Config, k time.Duration) conformance.Config {
			out := config("wait", (c.Wait * k).String())
			if c.Edges != 0 {
				out = out.With("edges", c.Edges.String())
			}
			return out
		},
		long: func(c conformance.Config) time.Duration { return 100_000 * c.Wait },
	}
	twice := spec
	twice.New = func(env conformance.Env, cfg conformance.DebounceConfig, fire func(int)) conformance.DebouncerFuncs {
		other, f := spec.New(env, cfg, func(int) {}), spec.New(env, cfg, fire)
		call, stop := f.Call, f.Stop
		f.Call = func(v int) { other.Call(-v); call(v) }
		if stop != nil {
			f.Stop = func() { other.Stop(); stop() }
		}
		return f
	}
	w.beside = conformance.JudgeDebouncer(t, twice)
	ops := []conformance.Op{conformance.OpCall, conformance.OpCall}
	if spec.Traits.AfterCancel != conformance.CancelFinal {
		ops = append(ops, accepted(w.judge, conformance.OpCancel)...)
	}
	ops = append(ops, accepted(w.judge, conformance.OpFlush)...)
	var all []*rapid.Generator[conformance.Schedule]
	for _, e := range spec.Traits.Edges {
		cfg := config("wait", unit.String())
		if e != conformance.Trailing {
			cfg = cfg.With("edges", e.String())
		}
		all = append(all, apart(cfg, unit, func(move) conformance.Step { return conformance.Step{} }, ops))
	}
	w.pairs = paired(all)
	return w
}

func debouncerLaws(spec conformance.DebouncerSpec) []Law {
	out := []Law{replay, shift, scale, rename, query, iso, evict, concat}
	if !slices.Contains(spec.Traits.Edges, conformance.Leading) && spec.Traits.Payload != conformance.NoPayload {
		out = append(out, insert)
	}
	return out
}

func throttleTwin(t *testing.T, spec conformance.ThrottleSpec) *twin {
	t.Helper()
	w := &twin{
		judge: conformance.JudgeThrottle(t, spec), source: spec.Time,
		nameless: spec.Traits.Payload == conformance.NoPayload,
		scale: func(c conformance.Config, k time.Duration) conformance.Config {
			return config("interval", (c.Interval * k).String(), "edges", c.Edges.String())
		},
		long: func(c conformance.Config) time.Duration { return 100_000 * c.Interval },
	}
	twice := spec
	twice.New = func(env conformance.Env, cfg conformance.ThrottleConfig, emit func(int)) conformance.ThrottleFuncs {
		other, f := spec.New(env, cfg, func(int) {}), spec.New(env, cfg, emit)
		if call := f.Call; call != nil {
			f.Call = func(v int) { other.Call(-v); call(v) }
		}
		if allow := f.Allow; allow != nil {
			f.Allow = func() bool { other.Allow(); return allow() }
		}
		if at := f.AllowAt; at != nil {
			f.AllowAt = func(t time.Time) bool { other.AllowAt(t); return at(t) }
		}
		if stop := f.Stop; stop != nil {
			f.Stop = func() { other.Stop(); stop() }
		}
		return f
	}
	w.beside = conformance.JudgeThrottle(t, twice)
	var all []*rapid.Generator[conformance.Schedule]
	for _, e := range spec.Traits.Edges {
		ops := []conformance.Op{conformance.OpCall}
		if e == conformance.Leading {
			ops = append(ops, accepted(w.judge, conformance.OpReset)...)
		}
		all = append(all, apart(config("interval", unit.String(), "edges", e.String()), unit, func(move) conformance.Step { return conformance.Step{} }, ops))
	}
	w.pairs = paired(all)
	return w
}

func limiterTwin(t *testing.T, spec conformance.LimiterSpec) *twin {
	t.Helper()
	w := &twin{
		judge: conformance.JudgeLimiter(t, spec), source: spec.Time, question: conformance.OpTokens, nameless: false,
		scale: func(c conformance.Config, k time.Duration) conformance.Config {
			return config("rate", fmt.Sprintf("%d/%v", c.Rate.Events, c.Rate.Per*k), "burst", fmt.Sprint(c.Burst))
		},
		long: func(c conformance.Config) time.Duration { return 1000 * c.Rate.Interval() * time.Duration(c.Burst) },
	}
	if !w.judge.Accepts(conformance.OpAllow) {
		t.Skip("properties: the laws of two runs need AllowN, Allow or AllowAt")
	}
	twice := spec
	twice.New = func(env conformance.Env, cfg conformance.LimiterConfig) conformance.LimiterFuncs {
		other, f := spec.New(env, cfg), spec.New(env, cfg)
		if allow := f.Allow; allow != nil {
			f.Allow = func() bool { other.Allow(); return allow() }
		}
		if many := f.AllowN; many != nil {
			f.AllowN = func(n int) bool { other.AllowN(n); return many(n) }
		}
		if at := f.AllowAt; at != nil {
			f.AllowAt = func(t time.Time, n int) bool { other.AllowAt(t, n); return at(t, n) }
		}
		if stop := f.Stop; stop != nil {
			f.Stop = func() { other.Stop(); stop() }
		}
		return f
	}
	w.beside = conformance.JudgeLimiter(t, twice)
	var all []*rapid.Generator[conformance.Schedule]
	for _, burst := range []int{3, 1, 10} {
		cfg := config("rate", "1/"+unit.String(), "burst", fmt.Sprint(burst))
		all = append(all, apart(cfg, unit, func(m move) conformance.Step {
			if !w.judge.Several() {
				return conformance.Step{N: 1}
			}
			return conformance.Step{N: 1 + m.n%burst}
		}, []conformance.Op{conformance.OpAllow}))
	}
	w.pairs = paired(all)
	return w
}

func limiterLaws(spec conformance.LimiterSpec) []Law {
	out := []Law{replay, shift, scale, query, iso}
	if spec.Traits.Initial == conformance.InitialFull && spec.Traits.Quantum == 0 {
		out = append(out, evict) // tokens that come at instants of the limiter's own tell it from a new one
	}
	if !spec.Traits.Single {
		out = append(out, split)
	}
	return out
}
