package batchtest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// detail is what a run shows besides its trace.
type detail struct {
	settled []conformance.Mark // points at which nothing moved any more
	changed int                // the fire whose slice changed while the consumer had it, counted from 1
	over    bool               // what comes now is not of the schedule
}

// batchMark is how the timeline shows a batch.
func batchMark(items []int) string {
	return "{" + strings.ReplaceAll(strings.Trim(fmt.Sprint(items), "[]"), " ", ",") + "}"
}

// marks are the batches of a run.
func marks(rec *suite.Recording) (out []suite.Mark) {
	for _, f := range rec.Fires {
		text := batchMark(f.Values)
		out = append(out, suite.Mark{At: f.Began.At, Text: text, Of: "batch " + text, Says: "was handed over"})
	}
	return out
}

// Play runs a schedule on a fresh batcher.
func (c *contract) Play(st *suite.Stage) {
	d, cfg := &detail{}, st.Config()
	st.Rec.Locked(func(rec *suite.Recording) { rec.Detail = d })
	var impl Funcs
	if !st.Make(func() { impl = c.made(st, d, &impl) }) {
		c.refused(st)
		return
	}
	settled := func() { st.Rec.Locked(func(*suite.Recording) { d.settled = append(d.settled, st.Rec.Mark()) }) }
	st.Rests, st.Alone = true, true
	steps, how := st.Steps(), c.spec.Traits.CloseFlush
	if cfg.Delay >= edge.Months && (how == CloseFires || how == CloseDrops) && steps[len(steps)-1].Op == verb.Close {
		st.Released = verb.Close // long before the delay ends
	}
	st.Blocks = func(s conformance.Step) bool { return s.Op != verb.Put || cfg.Busy > 0 }
	st.After = func(conformance.Step) { settled() }
	closed := cfg.Inside == verb.Close
	end := st.Each(suite.Together, func(s conformance.Step) {
		if !s.Racing {
			settled()
		}
		closed = closed || s.Op == verb.Close
		do := func() { st.Rec.Do(s, false, func(done *conformance.Done) { impl.do(s, done) }) }
		if s.Racing && s.Op == verb.Close { // it may wait
			suite.Start(do)
		} else {
			do()
		}
	})
	matters := suite.Sum(suite.Times(3, cfg.Delay), suite.Times(len(steps)+1, cfg.Busy))
	st.End(min(suite.Sum(end, matters), suite.Last(c.spec.Time)), suite.Times(3, cfg.Delay), func() {
		st.Rec.Locked(func(*suite.Recording) { d.over = true })
		if !closed {
			impl.end()
			st.Settle()
		}
	})
}

// do does one operation of a schedule and notes its result.
func (f *Funcs) do(s conformance.Step, d *conformance.Done) {
	switch s.Op {
	case verb.Put:
		d.Err = f.Put(s.N)
		d.OK = d.Err == nil
	case verb.Flush:
		f.Flush()
	case verb.Close:
		f.Close()
	}
}

// refused leaves a run out whose configuration the constructor refused. The runtime's panics are no refusals.
func (c *contract) refused(st *suite.Stage) {
	st.Rec.Locked(func(rec *suite.Recording) {
		cfg := rec.Schedule.Config
		odd := cfg.Delay%time.Millisecond != 0 || cfg.Size == 0 || c.size == 0 || cfg.Delay == 0
		if odd && !strings.HasPrefix(rec.Refused, "runtime error: ") {
			rec.LeftOut = suite.RefusedWhy(cfg, rec.Refused)
		}
	})
}

// made makes the batcher of a stage. If the stage asks for a second one, each item is put into that before.
func (c *contract) made(st *suite.Stage, d *detail, impl *Funcs) Funcs {
	cfg := Config{st.Config().Size, st.Config().Delay}
	f := c.make(st.Env(), cfg, func(items []int) {
		st.Callback(func() { c.consume(st, d, impl, items) })
	})
	if !st.Twice {
		return f
	}
	other := c.make(st.Plain(), cfg, func([]int) {})
	put, end := f.Put, f.Close
	f.Put = func(v int) error { _ = other.Put(-v); return put(v) }
	if end != nil {
		f.Close = func() { other.Close(); end() }
	}
	return f
}

// make makes a batcher that has a Put.
func (c *contract) make(env Env, cfg Config, batch func([]int)) Funcs {
	f := c.spec.New(env, cfg, batch)
	if add := f.Add; f.Put == nil && add != nil {
		f.Put = func(v int) error { add(v); return nil }
	}
	return f
}

// consume is the consumer of a schedule.
func (c *contract) consume(st *suite.Stage, d *detail, impl *Funcs, items []int) {
	before := slices.Clone(items)
	first := 0
	if len(items) > 0 {
		first = items[0]
	}
	over := false
	st.Rec.Locked(func(*suite.Recording) { over = d.over })
	if over {
		return
	}
	i := st.Rec.Fire(first)
	if i < 0 {
		return
	}
	st.Rec.Batch(i, before)
	st.During(i, 0, func(s conformance.Step) {
		st.Rec.Do(s, true, func(done *conformance.Done) { impl.do(s, done) })
	})
	if !slices.Equal(before, items) {
		st.Rec.Locked(func(*suite.Recording) { d.changed = i + 1 })
	}
}
