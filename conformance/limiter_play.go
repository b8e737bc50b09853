package conformance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
)

// What stands for more than an operation's name in a set of operations.
const (
	opMany    Op = "way to take several tokens"
	opContext Op = "wait that takes a context"
	opGiveUp  Op = "reservation that can be cancelled"
)

// operations reports what the implementation can do, by an instance, which it stops.
func (spec *LimiterSpec) operations(f LimiterFuncs) map[Op]bool {
	ops := map[Op]bool{
		OpAllow:    f.AllowAt != nil || f.Allow != nil || f.AllowN != nil,
		opMany:     !spec.Traits.Single && (f.AllowAt != nil || f.AllowN != nil),
		OpTokens:   f.TokensAt != nil || f.Tokens != nil,
		OpWait:     f.Wait != nil || f.WaitN != nil,
		opContext:  f.WaitN != nil,
		OpReserve:  f.Reserve != nil || f.ReserveAt != nil,
		OpSetLimit: f.SetLimit != nil || f.SetLimitAt != nil,
		OpSetBurst: f.SetBurst != nil || f.SetBurstAt != nil,
		OpStop:     f.Stop != nil,
	}
	if ops[OpReserve] {
		_ = catch(func() {
			r := f.reserve(Config{}.start(), 1)
			ops[opGiveUp] = r.Cancel != nil || r.CancelAt != nil
		})
	}
	ops[OpCancel] = ops[opContext] || ops[opGiveUp]
	if f.Stop != nil {
		f.Stop()
	}
	return ops
}

// make makes a limiter, or says why the constructor refused.
func (spec *LimiterSpec) make(env Env, cfg LimiterConfig) (f LimiterFuncs, refused string) {
	refused = catch(func() { f = spec.New(env, cfg).only(spec.Time) })
	if refused != "" {
		refused = fmt.Sprintf("the constructor refused rate=%s burst=%d: %s", cfg.Rate, cfg.Burst, refused)
	}
	return f, refused
}

// first makes a limiter of so many events per second with the burst, or with a burst of
// 1, or of as many per second as the burst: some have no burst, or no other. If the
// constructor refuses all of them, it says why it did the first.
func (spec *LimiterSpec) first(env Env, events, burst int) (f LimiterFuncs, cfg LimiterConfig, refused string) {
	for _, cfg = range []LimiterConfig{{Rate{events, time.Second}, burst}, {Rate{events, time.Second}, 1}, {Rate{burst, time.Second}, burst}} {
		f, why := spec.make(env, cfg)
		if why == "" {
			return f, cfg, ""
		}
		refused = cmp.Or(refused, why)
	}
	return f, cfg, refused
}

// only leaves the operations of one way to take time.
func (f LimiterFuncs) only(s TimeSource) LimiterFuncs {
	if s == Explicit {
		f.Allow, f.AllowN, f.Tokens, f.Wait, f.WaitN, f.Reserve, f.SetLimit, f.SetBurst = nil, nil, nil, nil, nil, nil, nil, nil
	} else {
		f.AllowAt, f.TokensAt, f.ReserveAt, f.SetLimitAt, f.SetBurstAt = nil, nil, nil, nil, nil
	}
	return f
}

// do does one operation at the instant at, but for those on held things; turn
// chooses between Allow and AllowN.
func (f *LimiterFuncs) do(s Step, at time.Time, turn int, d *Done) {
	switch s.Op {
	case OpAllow:
		switch {
		case f.AllowAt != nil:
			d.OK = f.AllowAt(at, s.N)
		case f.AllowN == nil || f.Allow != nil && s.N == 1 && turn%2 == 0:
			d.OK = f.Allow()
		default:
			d.OK = f.AllowN(s.N)
		}
	case OpTokens:
		if f.Tokens != nil {
			d.Tokens = f.Tokens()
		} else {
			d.Tokens = f.TokensAt(at)
		}
	case OpSetLimit:
		if f.SetLimit != nil {
			f.SetLimit(s.Rate)
		} else {
			f.SetLimitAt(at, s.Rate)
		}
	case OpSetBurst:
		if f.SetBurst != nil {
			f.SetBurst(s.N)
		} else {
			f.SetBurstAt(at, s.N)
		}
	}
}

// wait blocks for n tokens, as well as the implementation can.
func (f *LimiterFuncs) wait(ctx context.Context, n int, d *Done) {
	if f.WaitN != nil {
		d.Err = f.WaitN(ctx, n)
	} else {
		f.Wait(n)
	}
	d.OK = d.Err == nil
}

func (f *LimiterFuncs) reserve(at time.Time, n int) Reservation {
	if f.Reserve != nil {
		return f.Reserve(n)
	}
	return f.ReserveAt(at, n)
}

// ok and delay ask the reservation, cancel gives it up, at an instant if it is
// explicit.
func (r Reservation) ok() bool { return r.OK == nil || r.OK() }

func (r Reservation) delay(at time.Time, explicit bool) time.Duration {
	if explicit && r.DelayFrom != nil {
		return r.DelayFrom(at)
	}
	return r.Delay()
}

func (r Reservation) cancel(at time.Time, explicit bool) {
	if explicit && r.CancelAt != nil {
		r.CancelAt(at)
	} else {
		r.Cancel()
	}
}

// held is what a schedule can cancel: a reservation, or a wait's context. Those of a
// schedule are counted from 1, in the order of their steps.
type held struct {
	made   bool
	r      Reservation
	ctx    context.Context
	cancel context.CancelFunc
}

// holders returns the held things of a schedule, and the number of each step's.
func (s Schedule) holders() (list []*held, of []int) {
	for _, st := range s.Steps {
		if st.Op == OpReserve || st.Op == OpWait {
			list = append(list, &held{})
			of = append(of, len(list)-1)
		} else {
			of = append(of, -1)
		}
	}
	return list, of
}

// open makes the context of a wait: its deadline is d from now, if d is not 0.
func (h *held) open(drv driver, source TimeSource, d time.Duration) {
	root, cancelRoot := h.ctx, h.cancel
	if root == nil {
		root, cancelRoot = context.WithCancel(context.Background())
	}
	h.ctx, h.cancel = root, cancelRoot
	if d == 0 {
		return
	}
	var stop context.CancelFunc
	if source == PackageTime {
		h.ctx, stop = context.WithTimeout(root, d)
	} else {
		h.ctx, stop = fakeclock.WithTimeout(root, drv.clock(), d)
	}
	h.cancel = func() { cancelRoot(); stop() }
}

// play runs a schedule on a fresh limiter.
func (spec *LimiterSpec) play(d driver, j job, rec *recorder) {
	s := j.schedule
	rec.now = d.now
	rec.trace.Schedule, rec.trace.Order = s, j.order
	var impl LimiterFuncs
	start := s.Config.start()
	rec.trace.Refused = catch(func() {
		impl = spec.New(Env{d.clock(), start}, LimiterConfig{s.Config.Rate, s.Config.Burst}).only(spec.Time)
	})
	if rec.trace.Refused != "" {
		return
	}
	end := time.Duration(0)
	holders, number := s.holders()
	for i, st := range s.Steps {
		step := spec.step(d, rec, &impl, st, i, holders, number[i])
		switch {
		case st.Op == OpIdle:
			d.to(st.At)
		case st.Racing:
			d.race(st.At, j.order, step)
			d.settle()
		default:
			d.to(st.At)
			step()
			if st.Op == OpWait || len(holders) > 0 && spec.Time != Explicit {
				d.settle()
			}
		}
		end = max(end, st.At)
	}
	if len(holders) > 0 {
		end = saturate(end, s.patience())
		d.to(end)
	}
	d.settle()
	rec.mu.Lock()
	rec.trace.End = end
	rec.closed = !j.look
	rec.mu.Unlock()
	for _, h := range holders {
		if h.cancel != nil {
			h.cancel()
		}
	}
	refill := max(0, time.Duration(s.Config.Burst+1)*s.Config.Rate.Interval())
	if j.look {
		d.to(saturate(end, refill))
	}
	if impl.Stop == nil && spec.Time != Explicit {
		rest(d, end, refill)
	}
	if impl.Stop != nil {
		_ = catch(impl.Stop)
	}
	if j.look {
		d.settle()
		rec.trace.Armed = d.armed()
	}
	d.settle()
}

// step is one step as a function that does not block.
func (spec *LimiterSpec) step(d driver, rec *recorder, impl *LimiterFuncs, st Step, turn int, holders []*held, number int) func() {
	at := rec.trace.Schedule.Config.start().Add(st.At)
	explicit := spec.Time == Explicit
	switch st.Op {
	case OpWait:
		h := holders[number]
		return func() {
			h.made = true
			h.open(d, spec.Time, st.D)
			go rec.do(st, false, func(done *Done) { impl.wait(h.ctx, st.N, done) })
		}
	case OpReserve:
		h := holders[number]
		return func() {
			rec.do(st, false, func(done *Done) {
				r := impl.reserve(at, st.N)
				if done.OK = r.ok(); done.OK {
					h.r, h.made = r, true
					done.Delay = r.delay(at, explicit)
				}
			})
		}
	case OpCancel:
		if st.N < 1 || st.N > len(holders) {
			return func() {}
		}
		h := holders[st.N-1]
		waits := rec.trace.Schedule.holder(st.N).Op == OpWait
		return func() {
			switch {
			case h.cancel != nil:
				rec.do(st, false, func(*Done) { h.cancel() })
			case waits: // it has not begun yet, and will find its context done
				h.ctx, h.cancel = context.WithCancel(context.Background())
				rec.do(st, false, func(*Done) { h.cancel() })
			case h.made:
				rec.do(st, false, func(*Done) { h.r.cancel(at, explicit) })
			}
		}
	}
	return func() {
		rec.do(st, false, func(done *Done) { impl.do(st, at, turn, done) })
	}
}

// holder returns the step of the nth held thing, counted from 1.
func (s Schedule) holder(n int) Step {
	for _, st := range s.Steps {
		if st.Op == OpReserve || st.Op == OpWait {
			if n--; n == 0 {
				return st
			}
		}
	}
	return Step{}
}

// patience is how long everything that is held can take to be served, by any
// limiter that serves it at all.
func (s Schedule) patience() time.Duration {
	n, slowest, longest := time.Duration(max(0, s.Config.Burst)), s.Config.Rate.Interval(), time.Duration(0)
	for _, st := range s.Steps {
		switch st.Op {
		case OpReserve, OpWait:
			n = saturate(n, time.Duration(max(0, st.N)))
			longest = max(longest, st.D)
		case OpSetBurst:
			n = saturate(n, time.Duration(max(0, st.N)))
		case OpSetLimit:
			slowest = max(slowest, st.Rate.Interval())
		}
	}
	if n > math.MaxInt64/8 || slowest > math.MaxInt64/(4*n+4) {
		return longest
	}
	return longest + (2*n+2)*(slowest+1)
}

// saturate adds durations without overflow.
func saturate(a, b time.Duration) time.Duration {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// outcome says what came of a wait, in a word.
func (d *Done) outcome() string {
	switch {
	case d.Ended.Seq == 0:
		return "never returned"
	case d.Panic != "":
		return "panicked"
	case d.Err == nil:
		return "returned nil"
	case errors.Is(d.Err, context.Canceled):
		return "returned context.Canceled"
	case errors.Is(d.Err, context.DeadlineExceeded):
		return "returned context.DeadlineExceeded"
	}
	return "returned an error"
}
