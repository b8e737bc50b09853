package properties

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/escapement-go/escapement/conformance"
)

func debouncerTwin(t *testing.T, spec conformance.DebouncerSpec) *twin {
	t.Helper()
	w := &twin{
		judge: conformance.JudgeDebouncer(t, spec), source: spec.Time, question: conformance.OpPending,
		nameless: spec.Traits.Payload == conformance.NoPayload,
		long:     func(c conformance.Config) time.Duration { return 100_000 * c.Wait },
		laws:     []Law{replay, shift, scale, rename, query, iso, evict, concat},
	}
	if !slices.Contains(spec.Traits.Edges, conformance.Leading) && spec.Traits.Payload != conformance.NoPayload {
		w.laws = append(w.laws, insert)
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
		all = append(all, apart(cfg, ops, bare))
	}
	w.pairs = paired(all)
	return w
}

func throttleTwin(t *testing.T, spec conformance.ThrottleSpec) *twin {
	t.Helper()
	w := &twin{
		judge: conformance.JudgeThrottle(t, spec), source: spec.Time,
		nameless: spec.Traits.Payload == conformance.NoPayload,
		long:     func(c conformance.Config) time.Duration { return 100_000 * c.Interval },
		laws:     []Law{replay, shift, scale, rename, iso, evict},
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
		all = append(all, apart(config("interval", unit.String(), "edges", e.String()), ops, bare))
	}
	w.pairs = paired(all)
	return w
}

func limiterTwin(t *testing.T, spec conformance.LimiterSpec) *twin {
	t.Helper()
	w := &twin{
		judge: conformance.JudgeLimiter(t, spec), source: spec.Time, question: conformance.OpTokens,
		long: func(c conformance.Config) time.Duration { return 1000 * c.Rate.Interval() * time.Duration(c.Burst) },
		laws: []Law{replay, scale, query, iso}, windows: spec.Traits.Quantum > 0,
	}
	if spec.Traits.Initial == conformance.InitialFull { // else it fills up before the first request
		w.laws = append(w.laws, shift)
		if spec.Traits.Quantum == 0 { // tokens that come at instants of the limiter's own tell it from a new one
			w.laws = append(w.laws, evict)
		}
	}
	if !spec.Traits.Single {
		w.laws = append(w.laws, split)
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
		most := burst
		if !w.judge.Several() {
			most = 1
		}
		all = append(all, apart(cfg, []conformance.Op{conformance.OpAllow}, asking(most)))
	}
	w.pairs = paired(all)
	return w
}

func quotaTwin(t *testing.T, spec conformance.QuotaSpec) *twin {
	t.Helper()
	if spec.Traits.Grain > 0 {
		t.Skip("properties: the laws of two runs need a limiter that is exact to the nanosecond")
	}
	w := &twin{
		judge: conformance.JudgeQuota(t, spec), source: spec.Time, question: conformance.OpTokens,
		windows: spec.Kind == conformance.FixedWindow || spec.Kind == conformance.SlidingCounter,
		long:    func(c conformance.Config) time.Duration { return 1000 * c.Rate.Per },
		laws:    []Law{replay, shift, scale, query, iso, evict},
	}
	if !spec.Traits.Single {
		w.laws = append(w.laws, split)
	}
	twice := spec
	twice.New = func(env conformance.Env, cfg conformance.QuotaConfig) conformance.QuotaFuncs {
		other, f := spec.New(env, cfg), spec.New(env, cfg)
		if take := f.Take; take != nil {
			f.Take = func(n int) conformance.Answer { other.Take(n); return take(n) }
		}
		if at := f.TakeAt; at != nil {
			f.TakeAt = func(t time.Time, n int) conformance.Answer { other.TakeAt(t, n); return at(t, n) }
		}
		if stop := f.Stop; stop != nil {
			f.Stop = func() { other.Stop(); stop() }
		}
		return f
	}
	w.beside = conformance.JudgeQuota(t, twice)
	var all []*rapid.Generator[conformance.Schedule]
	for _, limit := range []int{3, 1, 10} {
		cfg, most := config("rate", fmt.Sprintf("%d/%v", limit, unit)), limit
		if spec.Kind == conformance.GCRA {
			cfg = config("rate", "1/"+unit.String(), "burst", fmt.Sprint(limit))
		}
		if !w.judge.Several() {
			most = 1
		}
		all = append(all, apart(cfg, []conformance.Op{conformance.OpAllow}, asking(most)))
	}
	w.pairs = paired(all)
	return w
}

func leakyTwin(t *testing.T, spec conformance.LeakyBucketSpec) *twin {
	t.Helper()
	w := &twin{
		judge: conformance.JudgeLeakyBucket(t, spec), source: spec.Time,
		long: func(c conformance.Config) time.Duration { return 1000 * c.Interval },
		laws: []Law{replay, scale, rename, iso}, windows: spec.Traits.Head == conformance.HeadOnGrid,
	}
	if spec.Traits.Slack == 0 { // else idle time is saved up
		w.laws = append(w.laws, shift)
		if !w.windows { // the grid goes on
			w.laws = append(w.laws, evict)
		}
	}
	twice := spec
	twice.New = func(env conformance.Env, cfg conformance.LeakyBucketConfig, leave func(int)) conformance.LeakyBucketFuncs {
		other, f := spec.New(env, cfg, func(int) {}), spec.New(env, cfg, leave)
		put, stop := f.Put, f.Stop
		f.Put = func(v int) bool { other.Put(-v); return put(v) }
		if stop != nil {
			f.Stop = func() { other.Stop(); stop() }
		}
		return f
	}
	w.beside = conformance.JudgeLeakyBucket(t, twice)
	w.pairs = paired([]*rapid.Generator[conformance.Schedule]{
		apart(config("interval", unit.String(), "backlog", "2"), []conformance.Op{conformance.OpPut}, bare),
		apart(config("interval", unit.String(), "backlog", "5"), []conformance.Op{conformance.OpPut}, bare),
	})
	return w
}

func concurrencyTwin(t *testing.T, spec conformance.ConcurrencySpec) *twin {
	t.Helper()
	if spec.Traits.Fair != conformance.FairFIFO {
		t.Skip("properties: the laws of two runs need an order in which those who wait are served")
	}
	w := &twin{judge: conformance.JudgeConcurrency(t, spec), source: spec.Time, laws: []Law{replay, shift, scale, iso}}
	twice := spec
	twice.New = func(env conformance.Env, cfg conformance.ConcurrencyConfig) conformance.ConcurrencyFuncs {
		other, f := spec.New(env, cfg), spec.New(env, cfg)
		hold(other)
		if stop := f.Stop; stop != nil {
			f.Stop = func() { other.Stop(); stop() }
		}
		return f
	}
	w.beside = conformance.JudgeConcurrency(t, twice)
	ops := accepted(w.judge, conformance.OpAcquire, conformance.OpAcquire, conformance.OpTry, conformance.OpDo,
		conformance.OpRelease, conformance.OpRelease, conformance.OpCancel)
	var all []*rapid.Generator[conformance.Schedule]
	for _, cfg := range []conformance.Config{bounds(spec, "1", "2", unit.String()), bounds(spec, "2", "3", unit.String())} {
		all = append(all, apart(cfg, ops, func() func(m move) conformance.Step {
			c := crowd{gone: map[int]bool{}}
			return func(m move) conformance.Step { return c.step(m, cfg.Limit) }
		}))
	}
	w.pairs = paired(all)
	return w
}

// hold takes a slot for good, if it can be had without a handler.
func hold(f conformance.ConcurrencyFuncs) {
	switch {
	case f.TryTake != nil:
		f.TryTake(1)
	case f.Take != nil:
		_, _ = f.Take(context.Background(), 1)
	case f.TryAcquire != nil:
		f.TryAcquire(1)
	case f.Acquire != nil:
		_ = f.Acquire(context.Background(), 1)
	case f.Lock != nil:
		f.Lock(1)
	}
}

// step lets a request come, go or give up; nothing if none can.
func (c *crowd) step(m move, limit int) conformance.Step {
	st := conformance.Step{Op: m.op}
	switch m.op {
	case conformance.OpCancel:
		st.N = c.cancel(m.n, false)
	case conformance.OpRelease:
		st.N = c.leave(m.op, m.n, limit)
	default:
		st.N = c.enter(m.op)
	}
	if st.N == 0 {
		st.Op = ""
	}
	return st
}
