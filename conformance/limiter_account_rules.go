package conformance

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"time"
)

// accountLaws are the laws that may be the one that a difference breaks: if a trace
// is explained once the law is waived, the law is. The more particular come first.
var accountLaws = []struct {
	id string
	op Op
}{
	{"RL-NEG", OpWait}, {"RL-NEG", OpReserve}, {"RL-N0", OpWait}, {"RL-N0", OpReserve}, {"RL-NBIG", OpWait},
	{"W-PRE", OpWait}, {"W-DEADEQ", OpWait}, {"W-DEAD", OpWait}, {"W-CANCEL", OpCancel},
	{"CN-IDEM", OpCancel}, {"CN-LATE", OpCancel}, {"CN-LIFO", OpCancel}, {"CN-ANY", OpCancel}, {"CN-UPPER", OpCancel}, {"CN-LOWER", OpCancel},
	{"W-WAKE", OpWait}, {"RL-INFOUT", OpSetLimit}, {"SL-NORETRO", OpSetLimit}, {"SL-KEEP", OpSetLimit},
	{"SB-NOGIFT", OpSetBurst}, {"SB-CAP", OpSetBurst}, {"SB-LIVE", OpSetBurst},
	{"RS-OK", OpReserve}, {"RS-DEBT", OpReserve}, {"W-EATS", OpWait},
}

// searched is how many differences of each family are traced back to their law.
// Schedules come smallest first, so the law that is broken shows in the first few.
const searched = 200

// heldRules are the rules about what is waited for, reserved, given back and set.
var heldRules = []rule{
	accountRule("W-NOTEARLY", "A wait MUST NOT return before its tokens are there.", OpWait),
	accountRule("W-EXACT", "A wait MUST return nil as soon as its tokens are there: where waits are fair, at the very instant.", OpWait, "Fair"),
	accountRule("W-EATS", "A wait that returned nil MUST have taken its tokens, once.", OpWait),
	accountRule("W-PRE", "A wait whose context is done before it begins MUST return an error at once, and take nothing, even if the tokens are there.", opContext),
	accountRule("W-DEAD", "A wait whose deadline comes before its tokens MUST return an error, at once or at its deadline as declared, and take nothing.", opContext, "DeadlineCheck"),
	accountRule("W-DEADEQ", "A wait that ends at the very instant of its tokens MUST either return nil and take them, or return an error and leave them.", opContext, "Refund"),
	accountRule("W-CANCEL", "A wait whose context is cancelled MUST return an error at that instant, and give back what the declared refund says.", opContext, "Refund"),
	limRule("W-FIFO", "Where waits are fair, those who wait MUST be served in the order in which they came.", []Op{OpWait}, []string{"Fair"}, (*exam).waitsInOrder),
	limRule("W-NOSTARVE", "Where waits are fair, a wait MUST return in bounded time, however often others ask.", []Op{OpWait, OpAllow}, []string{"Fair"}, (*exam).waitsInTime),
	limRule("W-NOLOST", "A wait that nobody gave up MUST return once there is nobody left to ask, whoever gave up before it.", []Op{OpWait}, nil, (*exam).waitsReturn),
	accountRule("W-WAKE", "When the limit changes or another gives up, who waits MUST keep its instant or be served anew, as declared.", OpWait, "Fair", "Rewake"),
	accountRule("RS-OK", "A reservation MUST be OK if the burst can hold it, and one that is not OK MUST take nothing.", OpReserve, "Oversize"),
	accountRule("RS-DELAY", "The delay of a reservation MUST be the time until the bucket has paid for it and for all before it.", OpReserve),
	limRule("RS-MONO", "While nothing is changed or given back, a reservation of tokens MUST NOT be due before an earlier one.", []Op{OpReserve}, nil, (*exam).reservesInOrder),
	accountRule("RS-DEBT", "What was reserved MUST be paid before anything else is granted.", OpReserve),
	accountRule("CN-UPPER", "A cancel MUST NOT bring more tokens than the reservation took.", opGiveUp),
	accountRule("CN-LOWER", "A cancel MUST NOT take tokens.", opGiveUp),
	accountRule("CN-LIFO", "A cancel of the newest reservation before its instant MUST undo it exactly, unless nothing is ever refunded.", opGiveUp, "Refund"),
	accountRule("CN-ANY", "A cancel of an earlier reservation before its instant MUST refund what is declared: all, or all less what was reserved after it.", opGiveUp, "Refund"),
	accountRule("CN-LATE", "A cancel after the instant of a reservation MUST do what is declared, nothing or give the tokens back.", opGiveUp, "LateCancel"),
	accountRule("CN-IDEM", "A second cancel of a reservation MUST do nothing.", opGiveUp),
	accountRule("SL-NORETRO", "A new limit MUST count from the instant at which it is set: what accrued before accrued at the old one.", OpSetLimit),
	accountRule("SL-KEEP", "Setting a limit MUST NOT change the tokens that are there.", OpSetLimit),
	accountRule("SB-CAP", "A lower burst MUST take away at once what exceeds it.", OpSetBurst),
	accountRule("SB-NOGIFT", "A higher burst MUST bring no tokens by itself, unless declared.", OpSetBurst, "Raise"),
	accountRule("SB-LIVE", "After a lower burst tokens MUST go on accruing.", OpSetBurst),
	accountRule("RL-INF", "At an infinite rate everything MUST be granted at once, whatever the burst.", OpAllow, "Inf"),
	accountRule("RL-INFOUT", "After an infinite rate the bucket MUST hold no more than the burst, and a cancel of what was reserved under it, for nothing, MUST bring nothing.", OpSetLimit, "Inf"),
}

func accountRule(id, text string, op Op, traits ...string) rule {
	return limRule(id, text, []Op{op}, append([]string{"Initial"}, traits...), func(x *exam) *violation { return x.broken(id) })
}

// broken returns the first difference from the account, if it breaks the law.
func (x *exam) broken(law string) *violation {
	if x.held == nil {
		x.held = &mismatch{}
		if x.steady() && x.extended() && x.c.searches[x.job.family] < searched {
			if d := x.traced(); d != nil {
				x.c.searches[x.job.family]++
				x.held = d
			}
		}
	}
	if x.held.law != law {
		return nil
	}
	return x.tell(x.held.at, x.held.because, "%s", x.held.headline)
}

// traced returns the first difference, with the law that it breaks.
func (x *exam) traced() *mismatch {
	traits := x.c.lim.Traits
	d := accounted(x.Trace, traits, "")
	if d == nil {
		return nil
	}
	if x.c.basics[d.law] {
		return d // it is broken where nothing else explains it
	}
	for _, law := range accountLaws {
		if !hasOp(law.op)(nil, x.job) {
			continue
		}
		if other := accounted(x.Trace, traits, law.id); other == nil || other.event > d.event {
			d.law = law.id
			return d
		}
	}
	x.c.basics[d.law] = true
	return d
}

// extended reports whether the schedule has more than requests that are answered at
// once.
func (x *exam) extended() bool {
	return slices.ContainsFunc(x.Schedule.Steps, func(s Step) bool {
		switch s.Op {
		case OpWait, OpReserve, OpCancel, OpSetLimit, OpSetBurst:
			return true
		}
		return false
	})
}

// steady reports whether the trace is one that the account can judge: made, not
// stuck, with time going forward, and with a rate that brings something.
func (x *exam) steady() bool {
	rate := x.Schedule.Config.Rate
	return x.Refused == "" && !x.Stuck && (rate.Events > 0 && !rate.extreme() || rate == Inf) && x.sorted() && x.Schedule.Config.Burst > 0
}

func (x *exam) sorted() bool {
	return slices.IsSortedFunc(x.Schedule.Steps, func(a, b Step) int { return int(min(1, max(-1, a.At-b.At))) })
}

// set reports whether a limit or burst was set between two instants.
func (x *exam) set(from, to time.Duration, ops ...Op) bool {
	return slices.ContainsFunc(x.Done, func(d Done) bool {
		return slices.Contains(ops, d.Op) && d.At >= from && d.At <= to
	})
}

// forever is an instant so late that a delay which ends after it stands for never.
const forever = math.MaxInt64 - 1<<20

// heldEnvelope is RL-ENV for traces with reservations and waits: they count at the
// instant at which they are due. Left out is what was reserved or waited for across a
// change, as it may keep the instant that it had before. Who takes requests for more than
// the burst may grant the largest as well: instead of the burst if it waits until it is
// paid for, on top of it if the next one pays. What comes back late may be granted on top too.
func (x *exam) heldEnvelope() *violation {
	a := newAccount(x.Trace, LimiterTraits{Quantum: x.c.lim.Traits.Quantum})
	traits := x.c.lim.Traits
	moves := []Op{OpSetLimit, OpSetBurst}
	if traits.Refund != RefundConservative && traits.Refund != RefundNone || traits.Rewake != RewakeKeeps {
		moves = append(moves, OpCancel)
	}
	var grants, late, raised []grant // late are what came back after its instant, raised what a higher burst brought
	number, burst := 0, x.Schedule.Config.Burst
	for i := range x.Done {
		d := &x.Done[i]
		at := d.At
		switch d.Op {
		case OpSetBurst:
			if d.N > burst && traits.Raise != RaiseBringsNothing {
				raised = append(raised, grant{at: d.At, n: d.N - burst})
			}
			burst = d.N
		case OpReserve:
			number++
			at = saturate(d.At, max(0, d.Delay))
			i := slices.IndexFunc(x.Done, func(o Done) bool {
				return o.Op == OpCancel && o.N == number && (o.At <= at || traits.LateCancel != LateIgnored)
			})
			if i >= 0 && x.Done[i].At > at {
				late = append(late, grant{at: x.Done[i].At, n: d.N})
			}
			if i >= 0 || at > forever || x.set(d.At, at, moves...) {
				continue
			}
		case OpWait:
			number++
			at = d.Ended.At
			if d.Ended.Seq == 0 || x.set(d.At, at, OpSetLimit, OpSetBurst) {
				continue
			}
		}
		if d.OK && d.N > 0 {
			grants = append(grants, grant{at: at, n: d.N, d: d, over: d.N > burst})
		}
	}
	slices.SortStableFunc(grants, func(a, b grant) int { return int(min(1, max(-1, a.at-b.at))) })
	for i, first := range grants {
		sum, largest := new(big.Int), 0
		for _, last := range grants[i:] {
			sum.Add(sum, big.NewInt(int64(last.n)))
			if last.over {
				largest = max(largest, last.n)
			}
			rate, burst := x.highest(first.at, last.at)
			if rate == Inf {
				break
			}
			top := big.NewInt(int64(burst))
			if over := big.NewInt(int64(largest)); largest > 0 && traits.Oversize != OversizeRejected {
				top = larger(top, new(big.Int).Add(over, between(raised, first.at, last.at)))
				if traits.Oversize == OversizePrepaid {
					top = new(big.Int).Add(top, over)
				}
			}
			top = new(big.Int).Add(top, between(late, first.at, last.at))
			flow := new(big.Int).Mul(a.flowOf(rate), big.NewInt(int64(last.at-first.at)))
			most := new(big.Int).Add(flow, new(big.Int).Mul(top, a.one))
			if new(big.Int).Mul(sum, a.one).Cmp(new(big.Int).Add(most, a.slop)) <= 0 {
				continue
			}
			in := func(units *big.Int) string {
				f, _ := new(big.Rat).SetFrac(units, a.one).Float64()
				return trimFloat(f)
			}
			return x.tell(last.at, fmt.Sprintf("in %s the rate %s brings %s tokens, on top of a burst of %d", duration(last.at-first.at), rate, in(flow), top),
				"%d tokens were granted from %s to %s, want %s at the most", sum, duration(first.at), duration(last.at), in(most))
		}
	}
	return nil
}

// between is how much there is from one instant to another.
func between(all []grant, from, to time.Duration) *big.Int {
	sum := new(big.Int)
	for _, g := range all {
		if g.at >= from && g.at <= to {
			sum.Add(sum, big.NewInt(int64(g.n)))
		}
	}
	return sum
}

// highest returns the highest rate and burst that were in force between two instants.
func (x *exam) highest(from, to time.Duration) (Rate, int) {
	rate, burst := x.Schedule.Config.Rate, x.Schedule.Config.Burst
	for _, d := range x.Done {
		before := d.At < from
		switch {
		case d.At > to:
		case d.Op == OpSetBurst && (before || d.N > burst):
			burst = d.N
		case d.Op == OpSetLimit && (before || d.Rate.above(rate)):
			rate = d.Rate
		}
	}
	return rate, burst
}

// above reports whether r is the higher rate.
func (r Rate) above(o Rate) bool {
	per := func(r Rate) *big.Rat { return big.NewRat(int64(r.Events), int64(max(1, r.Per))) }
	return o != Inf && (r == Inf || per(r).Cmp(per(o)) > 0)
}

// waitsInOrder is W-FIFO.
func (x *exam) waitsInOrder() *violation {
	if !x.steady() {
		return nil
	}
	for i, a := range x.Done {
		if a.Op != OpWait || !a.OK || a.Ended.Seq == 0 || a.N < 1 {
			continue
		}
		for _, b := range x.Done[i+1:] {
			if b.Op == OpWait && b.N > 0 && b.OK && b.Ended.Seq != 0 && b.Ended.At+1 < a.Ended.At && !x.set(a.At, b.At, OpSetLimit, OpSetBurst) {
				return x.tell(b.Ended.At, "", "wait %d at %s returned at %s, before wait %d that began earlier, at %s, and returned at %s",
					b.N, duration(b.At), duration(b.Ended.At), a.N, duration(a.At), duration(a.Ended.At))
			}
		}
	}
	return nil
}

// waitsInTime is W-NOSTARVE.
func (x *exam) waitsInTime() *violation {
	if !x.tame() || !starving(x.Schedule) {
		return nil
	}
	cfg := x.Schedule.Config
	waited := 0
	for _, d := range x.Done {
		if d.Op == OpWait {
			waited += d.N
		}
	}
	for _, d := range x.Done {
		others := waited - d.N // who may be served first
		by := d.At + time.Duration(2*cfg.Burst+2+others)*cfg.Rate.Interval()
		if d.Op == OpWait && x.End > by && (d.Ended.Seq == 0 || d.Ended.At > by) {
			return x.tell(by, fmt.Sprintf("the rate %s fills the whole bucket in %s", cfg.Rate, duration(time.Duration(cfg.Burst)*cfg.Rate.Interval())),
				"wait %d at %s had not returned by %s, overtaken by requests that came later", d.N, duration(d.At), duration(by))
		}
	}
	return nil
}

// starving tells schedules in which others ask so often that a wait could starve.
func starving(s Schedule) bool {
	n := 0
	for _, st := range s.Steps {
		if st.Op == OpAllow {
			n++
		}
	}
	return n >= 10
}

// waitsReturn is W-NOLOST.
func (x *exam) waitsReturn() *violation {
	if !x.steady() || !x.extended() {
		return nil
	}
	cfg := x.Schedule.Config
	least := cfg.Burst
	for _, s := range x.Schedule.Steps {
		if s.Op == OpSetLimit && s.Rate.Events == 0 {
			return nil
		}
		if s.Op == OpSetBurst {
			least = min(least, s.N)
		}
	}
	number := 0
	for _, d := range x.Done {
		if d.Op != OpReserve && d.Op != OpWait {
			continue
		}
		number++
		cut := slices.ContainsFunc(x.Done, func(o Done) bool { return o.Op == OpCancel && o.N == number })
		if d.Op == OpWait && d.D == 0 && !cut && d.N > 0 && d.N <= least && (d.Ended.Seq == 0 || d.Err != nil && d.Ended.At >= x.End) {
			return x.tell(x.End, "nobody had asked since "+duration(x.Schedule.Steps[len(x.Schedule.Steps)-1].At),
				"wait %d at %s had not returned by %s", d.N, duration(d.At), duration(x.End))
		}
	}
	return nil
}

// reservesInOrder is RS-MONO.
func (x *exam) reservesInOrder() *violation {
	if !x.steady() {
		return nil
	}
	var before *Done
	for i := range x.Done {
		d := &x.Done[i]
		switch {
		case d.Op == OpSetLimit || d.Op == OpSetBurst || d.Op == OpCancel:
			before = nil
		case d.Op == OpReserve && d.OK && d.N > 0: // for nothing there is nothing to wait for
			if before != nil && saturate(d.At, d.Delay) < saturate(before.At, before.Delay)-1 {
				return x.tell(d.At, "", "reserve %d at %s is due at %s, before reserve %d of %s that is due at %s", d.N, duration(d.At), duration(d.At+d.Delay),
					before.N, duration(before.At), duration(before.At+before.Delay))
			}
			before = d
		}
	}
	return nil
}

// heldLanes are what the timeline shows of such a trace.
func (x *exam) heldLanes() []lane {
	got := lane{name: "got"}
	mark := func(at time.Duration, text string) { got.marks = append(got.marks, laneMark{at, text}) }
	for _, d := range x.Done {
		switch {
		case d.Op == OpAllow && d.OK:
			mark(d.At, "y")
		case d.Op == OpAllow:
			mark(d.At, "n")
		case d.Op == OpReserve && !d.OK:
			mark(d.At, "n")
		case d.Op == OpReserve:
			mark(d.At, "+"+duration(d.Delay))
		case d.Op == OpWait && d.Ended.Seq != 0 && d.Err == nil:
			mark(d.Ended.At, "y")
		case d.Op == OpWait && d.Ended.Seq != 0:
			mark(d.Ended.At, "err")
		}
	}
	return []lane{got}
}
