package limitertest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/internal/verb"
)

// make makes a limiter, or says why the constructor refused.
func (c *contract) make(env Env, cfg Config) (f Funcs, refused string) {
	if why := c.excludes(cfg); why != "" {
		return f, why
	}
	refused = suite.Catch(func() { f = c.spec.New(env, cfg).only(c.spec.Time) })
	if refused != "" {
		refused = fmt.Sprintf("the constructor refused rate=%s burst=%d: %s", cfg.Rate, cfg.Burst, refused)
	}
	return f, refused
}

func perSecond(events int) Rate { return Rate{Events: events, Per: time.Second} }

// only leaves the operations of one way to take time.
func (f Funcs) only(s TimeSource) Funcs {
	if s == Explicit {
		if at := f.AllowKeyAt; f.AllowAt == nil && at != nil {
			f.AllowAt = func(t time.Time, n int) bool { return at(t, 1, n) }
		}
		return Funcs{
			AllowAt: f.AllowAt, AllowKeyAt: f.AllowKeyAt, TokensAt: f.TokensAt, ReserveAt: f.ReserveAt,
			SetLimitAt: f.SetLimitAt, SetBurstAt: f.SetBurstAt, Stop: f.Stop,
		}
	}
	f.AllowAt, f.AllowKeyAt, f.TokensAt, f.ReserveAt, f.SetLimitAt, f.SetBurstAt = nil, nil, nil, nil, nil, nil
	if key := f.AllowKey; key != nil && f.Allow == nil && f.AllowN == nil && f.Take == nil {
		f.AllowN = func(n int) bool { return key(1, n) }
	}
	if f.Take != nil {
		f.Allow, f.AllowN = nil, nil
	}
	return f
}

// several reports whether any number of tokens can be requested.
func (f *Funcs) several() bool { return f.AllowAt != nil || f.AllowN != nil || f.Take != nil }

// do does one operation at the instant at; turn chooses between Allow and AllowN. Waits
// and cancels are for the caller.
func (f *Funcs) do(s conformance.Step, at time.Time, turn int, d *conformance.Done) {
	suite.Promptly(func() { f.promptly(s, at, turn, d) })
}

func (f *Funcs) promptly(s conformance.Step, at time.Time, turn int, d *conformance.Done) {
	switch s.Op {
	case verb.Allow:
		switch {
		case s.K != 0 && f.AllowKeyAt != nil:
			d.OK = f.AllowKeyAt(at, s.K, s.N)
		case s.K != 0:
			d.OK = f.AllowKey(s.K, s.N)
		case f.AllowAt != nil:
			d.OK = f.AllowAt(at, s.N)
		case f.Take != nil:
			d.Answer = f.Take(s.N)
			d.OK = d.Answer.OK
		case f.AllowN == nil || f.Allow != nil && s.N == 1 && ofAllow(turn):
			d.OK = f.Allow()
		default:
			d.OK = f.AllowN(s.N)
		}
	case verb.Tokens:
		if f.Tokens != nil {
			d.Tokens = f.Tokens()
		} else {
			d.Tokens = f.TokensAt(at)
		}
	case verb.SetLimit:
		if f.SetLimit != nil {
			f.SetLimit(s.Rate)
		} else {
			f.SetLimitAt(at, s.Rate)
		}
	case verb.SetBurst:
		if f.SetBurst != nil {
			f.SetBurst(s.N)
		} else {
			f.SetBurstAt(at, s.N)
		}
	case verb.Fault:
		f.Fail(s.N != 0)
	}
}

// ofAllow reports whether it is the turn of Allow, and not of AllowN: the two take turns, once
// each, then twice, four times, and so on, so that each is also used many times in a row.
func ofAllow(turn int) bool {
	in := turn + 2 // the first turns of the pairs are now 2, 4, 8 and so on
	return in&(1<<(bits.Len(uint(in))-2)) == 0
}

func (f *Funcs) allows(at time.Time, turn int) bool {
	var d conformance.Done
	f.do(conformance.Step{Op: verb.Allow, N: 1}, at, turn, &d)
	return d.OK
}

// wait blocks for n tokens, by WaitN or Wait.
func (f *Funcs) wait(ctx context.Context, n int, d *conformance.Done) {
	if f.WaitN != nil {
		d.Err = f.WaitN(ctx, n)
	} else {
		f.Wait(n)
	}
	d.OK = d.Err == nil
}

func (f *Funcs) reserve(at time.Time, n int) (r Reservation) {
	suite.Promptly(func() {
		if f.Reserve != nil {
			r = f.Reserve(n)
		} else {
			r = f.ReserveAt(at, n)
		}
	})
	return r
}

// end releases what the limiter holds.
func (f *Funcs) end() {
	if f.Stop != nil {
		f.Stop()
	}
}

// ok and delay ask a reservation, and cancel gives it up, at an instant for limiters that
// are told the time.
func (r Reservation) ok() bool { return r.OK == nil || r.OK() }

func (r Reservation) delay(at time.Time, explicit bool) time.Duration {
	if explicit && r.DelayFrom != nil {
		return r.DelayFrom(at)
	}
	return r.Delay()
}

func (r Reservation) cancel(at time.Time, explicit bool) {
	suite.Promptly(func() {
		if explicit && r.CancelAt != nil {
			r.CancelAt(at)
		} else {
			r.Cancel()
		}
	})
}

// claimant is a reservation or a wait that can be given up, by the reservation's cancel or
// the wait's context. Those of a schedule are numbered from 1, in the order of their
// steps.
type claimant struct {
	made   bool
	r      Reservation
	due    time.Duration // when it may act, as was told last
	gone   bool
	ctx    context.Context
	cancel context.CancelFunc
}

// open makes the context of a wait: its deadline is d from now, if d is not 0.
func (h *claimant) open(st *suite.Stage, d time.Duration) {
	root, cancelRoot := h.ctx, h.cancel
	if root == nil {
		root, cancelRoot = context.WithCancel(context.Background())
	}
	h.ctx, h.cancel = root, cancelRoot
	if d == 0 {
		return
	}
	var stop context.CancelFunc
	if st.Time == PackageTime {
		h.ctx, stop = context.WithTimeout(root, d)
	} else {
		h.ctx, stop = fakeclock.WithTimeout(root, st.Clock(), d)
	}
	h.cancel = func() { cancelRoot(); stop() }
}

// claims reports whether a step is one that can be given up later.
func claims(s conformance.Step) bool {
	return s.Op == verb.Reserve || s.Op == verb.Wait
}

// claim returns the nth step of a schedule that can be given up, counted from 1.
func claimOf(s conformance.Schedule, n int) conformance.Step {
	for _, st := range s.Steps {
		if claims(st) {
			if n--; n == 0 {
				return st
			}
		}
	}
	return conformance.Step{}
}

// run is a schedule that is played.
type run struct {
	*suite.Stage
	c         *contract
	impl      Funcs
	twin      *Funcs // another limiter, of which everything is requested first; nil if there is none
	claimants []*claimant
	turn      int // steps so far
	claimed   int // how many claimants' steps have begun
}

// Why runs are left out.
const (
	refuses   = "the constructor refused such a rate or burst"
	holdsEach = "the constructor takes room or time for each token, and there would be too many"
)

func (c *contract) Play(st *suite.Stage) {
	cfg := st.Config()
	r := &run{Stage: st, c: c}
	if c.greedy && cfg.Burst > suite.Many {
		st.Rec.Locked(func(rec *suite.Recording) { rec.LeftOut = holdsEach })
		return
	}
	if !r.made(Config{cfg.Rate, cfg.Burst}) {
		if usual := (Config{cfg.Rate, cfg.Burst}) == c.usual; !usual && !senseless(cfg.Burst) {
			st.Rec.Locked(func(rec *suite.Recording) { rec.LeftOut = refuses })
		}
		return
	}
	why := suite.If(r.impl.keyed() && changesFirst(st.Steps()), "a key has no bucket before its first request")
	if c.lasts(st.Schedule) && races(suite.Job{Schedule: st.Schedule}) {
		why = "a step that takes time cannot race a timer"
	}
	if why != "" {
		st.Rec.Locked(func(rec *suite.Recording) { rec.LeftOut = why })
		r.end()
		return
	}
	for _, s := range st.Steps() {
		if claims(s) {
			r.claimants = append(r.claimants, &claimant{})
		}
	}
	st.Rests = len(r.claimants) > 0
	if c.spec.Traits.HoldsLockWhileWaiting || c.locked != nil && *c.locked {
		st.Occupied = occupied
	}
	end := st.Each(together, r.step)
	if len(r.claimants) > 0 {
		tr := c.spec.Traits
		tr.Latency = max(tr.Latency, c.trip)
		end = suite.Sum(end, patience(st.Schedule, &tr))
	}
	refill := max(0, time.Duration(cfg.Burst+1)*cfg.Rate.Interval()) + c.spec.Traits.Resolution
	atOnce, rest := r.impl.Stop != nil && end == 0, time.Duration(0)
	if atOnce { // what all happened at one instant is stopped at it, and rests after that
		rest = refill
	}
	st.End(end, rest, func() {
		for _, h := range r.claimants {
			if h.cancel != nil {
				h.cancel()
			}
		}
		if st.Look && !atOnce {
			st.To(suite.Sum(end, refill))
		}
		if r.impl.Stop == nil && st.Time != Explicit {
			st.Rest(end, refill)
		}
		_ = suite.Catch(r.end)
	})
}

// made makes the limiter, or reports that its constructor refuses the configuration.
func (r *run) made(cfg Config) bool {
	return r.c.excludes(cfg) == "" && r.Make(func() {
		r.impl = r.c.spec.New(r.Plain(), cfg).only(r.Time)
		if r.Twice {
			twin := r.c.spec.New(r.Plain(), cfg).only(r.Time)
			r.twin = &twin
		}
	})
}

// end releases what the limiters hold.
func (r *run) end() {
	if r.twin != nil {
		r.twin.end()
	}
	r.impl.end()
}

// keyed reports whether it has a bucket for each key.
func (f *Funcs) keyed() bool { return f.AllowKey != nil || f.AllowKeyAt != nil }

// changesFirst reports whether a burst is set before anything else is done.
func changesFirst(steps []conformance.Step) bool {
	for _, s := range steps {
		switch s.Op {
		case verb.SetBurst:
			return true
		case verb.Idle, verb.SetLimit, verb.Tokens:
		default:
			return false
		}
	}
	return false
}

// races selects the runs in which a step is to meet the timers of its instant.
var races = some(func(st conformance.Step) bool { return st.Racing })

// together is how many steps are done without a pause: a cancel, and the cancels that race with it at its instant.
// Whoever is given up first goes on when the others are given up, too.
func together(left []conformance.Step) int {
	n := 1
	for n < len(left) && left[0].Op == verb.Cancel && left[n].Op == verb.Cancel &&
		left[n].Racing && left[n].At == left[0].At {
		n++
	}
	return n
}

// occupied reports whether a wait is under way, and the step is no cancel of its context.
func occupied(rec *suite.Recording, next conformance.Step) bool {
	if next.Op == verb.Cancel && claimOf(rec.Schedule, next.N).Op == verb.Wait {
		return false
	}
	return slices.ContainsFunc(rec.Done, func(d conformance.Done) bool {
		return d.Op == verb.Wait && d.Ended.Seq == 0
	})
}

// step does one step, and does not block.
func (r *run) step(s conformance.Step) {
	at, explicit, turn := r.Config().Start().Add(s.At), r.Time == Explicit, r.turn
	r.turn++
	switch s.Op {
	case verb.Wait:
		h := r.claimants[r.claimed]
		r.claimed++
		h.made = true
		h.open(r.Stage, s.D)
		suite.Start(func() {
			r.Rec.Do(s, false, func(done *conformance.Done) { r.impl.wait(h.ctx, s.N, done) })
		})
	case verb.Reserve:
		h := r.claimants[r.claimed]
		r.claimed++
		r.await(s, func(done *conformance.Done) {
			reserved := r.impl.reserve(at, s.N)
			if done.OK = reserved.ok(); done.OK {
				h.r, h.made = reserved, true
				done.Delay = reserved.delay(at, explicit)
				h.due = suite.Sum(s.At, max(0, done.Delay))
			}
		})
	case verb.Cancel:
		if s.N >= 1 && s.N <= len(r.claimants) {
			r.cancel(s, at)
		}
	case verb.Allow:
		if r.c.tries {
			r.Rec.Do(s, false, func(done *conformance.Done) { done.OK = r.impl.try(r.Stage, s.N) })
			return
		}
		fallthrough
	default:
		r.await(s, func(done *conformance.Done) {
			if r.twin != nil && s.Op == verb.Allow {
				r.twin.do(s, at, turn, new(conformance.Done))
			}
			r.impl.do(s, at, turn, done)
		})
	}
}

func (r *run) await(s conformance.Step, do func(*conformance.Done)) {
	r.c.await(r.Stage, func() { r.Rec.Do(s, false, do) })
}

// cancel gives up what a step names.
func (r *run) cancel(s conformance.Step, at time.Time) {
	h := r.claimants[s.N-1]
	switch {
	case h.cancel != nil:
		r.Rec.Do(s, false, func(*conformance.Done) { h.cancel() })
	case claimOf(r.Schedule, s.N).Op == verb.Wait: // it has not begun yet, and will find its context cancelled
		h.ctx, h.cancel = context.WithCancel(context.Background())
		r.Rec.Do(s, false, func(*conformance.Done) { h.cancel() })
	case h.made:
		r.await(s, func(*conformance.Done) { h.r.cancel(at, r.Time == Explicit) })
		h.gone = true
		r.askAnew(s.At, at)
	}
}

// nap is the longest sleep of a polling goroutine.
const nap = 100 * time.Millisecond

// patience is a time in which any limiter that serves reservations and waits at all has
// served all of those in a schedule.
func patience(s conformance.Schedule, t *Traits) time.Duration {
	n, slowest, longest := time.Duration(max(0, s.Config.Burst)), s.Config.Rate.Interval(), time.Duration(0)
	for _, st := range s.Steps {
		switch st.Op {
		case verb.Reserve, verb.Wait:
			n = suite.Sum(n, time.Duration(max(0, st.N)))
			longest = max(longest, st.D)
		case verb.SetBurst:
			n = suite.Sum(n, time.Duration(max(0, st.N)))
		case verb.SetLimit:
			slowest = max(slowest, st.Rate.Interval())
		}
	}
	slowest = max(slowest*time.Duration(max(1, t.RefillSize)), t.Resolution) // a tick may bring one token only
	slowest = suite.Sum(slowest, late(s, t))
	if t.Fair != FairFIFO {
		slowest = max(slowest, nap) // who polls is asleep in between, at any rate
	}
	if n > math.MaxInt64/8 || slowest > math.MaxInt64/(4*n+4) {
		return suite.Sum(longest, late(s, t))
	}
	return longest + (2*n+2)*(slowest+1)
}

// outcome says in a word how a wait ended.
func outcome(d *conformance.Done) string {
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
