package conformance

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"time"
)

// account is the exact token bucket beside a trace in which tokens are also waited
// for, reserved and given back, and the limit changes. What the laws leave open makes
// its level a range: every correct limiter with the declared traits is somewhere
// within it. Each decision must be one that a level of the range explains, and then
// narrows the range. It counts in units that make all numbers whole: one token is as
// many units as the least common multiple of all Pers has nanoseconds.
type account struct {
	tr     *Trace
	traits LimiterTraits
	waived string // the law that is not demanded, to see whether it is the one that was broken

	one, flow *big.Int // units of a token, units per nanosecond
	slop      *big.Int // what rounding may do to a decision, in units
	slack     time.Duration
	rate      Rate
	burst     int
	bound     int // the burst, or a former one if SB-CAP is waived
	lo, hi    *big.Int
	at        time.Duration
	low       bool // nothing is known of the lower end of the range
	shows     bool // what Tokens shows is judged
	lost      bool // nothing can be demanded any more
	claims    []*claim
	found     *mismatch
}

// claim is a reservation, or a wait that was not refused at once.
type claim struct {
	d        *Done
	number   int           // as in cancel N
	from, to time.Duration // the range of its instant
	made     time.Duration
	rated    int           // how many limits had been set when it was made
	cut      time.Duration // when its context was cancelled; never if negative
	free     bool          // made under Inf: nothing was taken
	over     bool          // it has returned, or was given up
	inOrder  bool          // it was given up when all after it had been, in reverse order
	lost     int           // how many of its tokens may not have come back when it was given up
	after    int           // how many tokens were granted at once since, of a burst that was raised
}

// mismatch is what no level of the range explains.
type mismatch struct {
	law               string
	event             int
	at                time.Duration
	headline, because string
}

// accounted replays the trace; it returns nil if the range explains everything.
func accounted(tr *Trace, traits LimiterTraits, waived string) *mismatch {
	a := newAccount(tr, traits)
	a.waived = waived
	return a.replay()
}

// replay follows the trace up to the first difference.
func (a *account) replay() *mismatch {
	tr := a.tr
	a.forgive()
	// begins and returns, in the order in which they were seen
	type event struct {
		seq  int
		d    *Done
		ends bool
	}
	var events []event
	for i := range tr.Done {
		d := &tr.Done[i]
		events = append(events, event{d.Began.Seq, d, false})
		if d.Op == OpWait && d.Ended.Seq != 0 {
			events = append(events, event{d.Ended.Seq, d, true})
		}
	}
	slices.SortFunc(events, func(a, b event) int { return cmp.Compare(a.seq, b.seq) })
	numbers := a.numbers()
	early := map[int]bool{} // contexts that were cancelled before their waits began
	sets := 0
	for i, e := range events {
		d := e.d
		if d.Panic != "" {
			return nil // X-CALLS says so
		}
		if e.ends {
			a.pass(d.Ended.At)
			if c := a.claim(numbers[d]); c != nil {
				a.returned(c)
			}
		} else {
			a.pass(d.At)
			switch d.Op {
			case OpAllow:
				a.allow(d)
			case OpReserve:
				a.reserve(d, numbers[d], sets)
			case OpWait:
				a.wait(d, numbers[d], sets, early[numbers[d]])
			case OpCancel:
				if c := a.claim(d.N); c != nil {
					a.cancel(c, sets)
				} else {
					early[d.N] = true
				}
			case OpSetLimit:
				sets++
				a.setLimit(d.Rate)
			case OpSetBurst:
				a.setBurst(d.N)
			case OpTokens:
				a.shown(d)
			}
		}
		if a.lost {
			return nil
		}
		if a.found != nil {
			a.found.event = i
			return a.found
		}
	}
	if a.finish(); a.found != nil {
		a.found.event = len(events)
	}
	return a.found
}

func newAccount(tr *Trace, traits LimiterTraits) *account {
	cfg := tr.Schedule.Config
	a := &account{tr: tr, traits: traits, burst: cfg.Burst, bound: cfg.Burst, one: big.NewInt(1)}
	rates, disturbances, burst := []Rate{cfg.Rate}, 1, cfg.Burst
	for _, s := range tr.Schedule.Steps {
		switch s.Op {
		case OpSetLimit:
			rates = append(rates, s.Rate)
			disturbances++
		case OpSetBurst:
			burst = max(burst, s.N)
		case OpCancel:
			disturbances++
		}
	}
	for _, r := range rates {
		if r.Per > 0 {
			per := big.NewInt(int64(r.Per))
			gcd := new(big.Int).GCD(nil, nil, a.one, per)
			a.one.Mul(a.one, per.Div(per, gcd))
		}
	}
	// Each answer may be 1ns early or late, by rounding to the clock's grain, and
	// floating point may be off by a billionth of a token.
	fastest := big.NewInt(1)
	for _, r := range rates {
		if f := a.flowOf(r); f.Cmp(fastest) > 0 {
			fastest = f
		}
	}
	a.slop = new(big.Int).Add(fastest, new(big.Int).Div(a.one, big.NewInt(1e9)))
	a.slop.Add(a.slop, new(big.Int).Rsh(a.tokens(burst), 44))
	a.slop.Mul(a.slop, big.NewInt(int64(disturbances)))
	for _, r := range rates {
		a.slop.Add(a.slop, new(big.Int).Mul(a.flowOf(r), big.NewInt(cut(r, burst, tr.Schedule))))
	}
	a.slop.Add(a.slop, big.NewInt(1))
	if traits.Quantum > 0 {
		a.slop.Add(a.slop, a.tokens(traits.Quantum))
	}
	a.setRate(cfg.Rate)
	a.lo = a.tokens(traits.initial(cfg.Burst))
	a.hi = a.lo
	if len(tr.Done) > 0 {
		a.at = tr.Done[0].At
	}
	return a
}

// cut is by how many nanoseconds a limiter may be off that counts in whole ones for each
// token, as one does that is made from [Rate.Interval]: it matters little at a rate whose
// interval has many.
func cut(r Rate, burst int, s Schedule) int64 {
	if r.Exact() || r.Interval() < time.Microsecond {
		return 0
	}
	asked := int64(s.Config.Burst)
	for _, s := range s.Steps {
		asked += int64(min(max(0, s.N), burst))
	}
	return asked
}

// forgive adds a nanosecond for each wait for a whole bucket: who serves it that late
// loses what comes meanwhile, as the bucket is full.
func (a *account) forgive() {
	least, fastest, waits := a.burst, a.flow, int64(0)
	for _, s := range a.tr.Schedule.Steps {
		switch s.Op {
		case OpSetBurst:
			least = min(least, s.N)
		case OpSetLimit:
			fastest = larger(fastest, a.flowOf(s.Rate))
		}
	}
	for _, s := range a.tr.Schedule.Steps {
		if s.Op == OpWait && s.N >= least {
			waits++
		}
	}
	a.slop = new(big.Int).Add(a.slop, new(big.Int).Mul(fastest, big.NewInt(waits)))
	a.setRate(a.rate)
}

func (a *account) tokens(n int) *big.Int {
	return new(big.Int).Mul(big.NewInt(int64(n)), a.one)
}

// flowOf is what a rate brings each nanosecond, in units.
func (a *account) flowOf(r Rate) *big.Int {
	f := new(big.Int)
	if r.Events > 0 && r.Per > 0 {
		f.Div(f.Mul(big.NewInt(int64(r.Events)), a.one), big.NewInt(int64(r.Per)))
	}
	return f
}

func (a *account) setRate(r Rate) {
	a.rate, a.flow = r, a.flowOf(r)
	a.slack = 1
	if a.flow.Sign() > 0 {
		if n := new(big.Int).Div(a.slop, a.flow); n.IsInt64() && n.Int64() < math.MaxInt64/2 {
			a.slack += time.Duration(n.Int64())
		}
	}
}

// numbers maps reservations and waits to their numbers.
func (a *account) numbers() map[*Done]int {
	out := map[*Done]int{}
	for i := range a.tr.Done {
		if d := &a.tr.Done[i]; d.Op == OpReserve || d.Op == OpWait {
			out[d] = len(out) + 1
		}
	}
	return out
}

func (a *account) claim(number int) *claim {
	for _, c := range a.claims {
		if c.number == number {
			return c
		}
	}
	return nil
}

// pass lets time pass.
func (a *account) pass(at time.Duration) {
	if at <= a.at {
		return
	}
	if a.rate == Inf {
		a.hi = a.tokens(a.bound)
	} else {
		more := new(big.Int).Mul(a.flow, big.NewInt(int64(at-a.at)))
		a.lo, a.hi = new(big.Int).Add(a.lo, more), new(big.Int).Add(a.hi, more)
	}
	a.at = at
	a.clamp()
}

// clamp keeps the level below the burst. What waits unfairly may have been taken
// already or not, so the upper end counts it on top.
func (a *account) clamp() {
	top := a.bound
	if a.traits.Fair != FairFIFO {
		for _, c := range a.claims {
			if c.d.Op == OpWait && !c.over {
				top += c.d.N
			}
		}
	}
	if t := a.tokens(a.burst); a.lo.Cmp(t) > 0 {
		a.lo = t
	}
	if t := a.tokens(top); a.hi.Cmp(t) > 0 {
		a.hi = t
	}
}

// add moves the ends of the range by whole tokens.
func (a *account) add(lo, hi int) {
	a.lo, a.hi = new(big.Int).Add(a.lo, a.tokens(lo)), new(big.Int).Add(a.hi, a.tokens(hi))
	a.clamp()
}

// due is when the level will be zero.
func (a *account) due(level *big.Int) time.Duration {
	if level.Sign() >= 0 {
		return a.at
	}
	if a.flow.Sign() == 0 {
		return math.MaxInt64
	}
	n := new(big.Int).Neg(level)
	n.Add(n, new(big.Int).Sub(a.flow, big.NewInt(1)))
	if n.Div(n, a.flow); !n.IsInt64() {
		return math.MaxInt64
	}
	return saturate(a.at, time.Duration(n.Int64()))
}

func (a *account) differ(law string, at time.Duration, because, headline string, args ...any) {
	if a.found == nil && a.waived != law {
		a.found = &mismatch{law: law, at: at, headline: fmt.Sprintf(headline, args...), because: because}
	}
}

// level says what the range is, for reading.
func (a *account) level() string {
	read := func(n *big.Int) string {
		f, _ := new(big.Rat).SetFrac(n, a.one).Float64()
		return trimFloat(f)
	}
	if a.low {
		return fmt.Sprintf("the bucket held at most %s tokens at %s", read(a.hi), duration(a.at))
	}
	if a.lo.Cmp(a.hi) == 0 {
		return fmt.Sprintf("the bucket held %s tokens at %s", read(a.lo), duration(a.at))
	}
	return fmt.Sprintf("the bucket held between %s and %s tokens at %s", read(a.lo), read(a.hi), duration(a.at))
}

// shown judges what Tokens shows: whole tokens or fractions, a debt or nothing. What is
// waited for may be taken at once or when it is there.
func (a *account) shown(d *Done) {
	if !a.shows || a.rate == Inf {
		return
	}
	most := a.hi
	for _, c := range a.claims {
		if c.d.Op == OpWait && !c.over && !c.free {
			most = new(big.Int).Add(most, a.tokens(c.d.N))
		}
	}
	most = new(big.Int).Add(larger(most, new(big.Int)), a.slop)
	least := new(big.Int).Sub(a.lo, new(big.Int).Add(a.slop, a.one))
	got := new(big.Rat).SetFloat64(d.Tokens)
	if got != nil {
		got.Mul(got, new(big.Rat).SetInt(a.one))
		if got.Cmp(new(big.Rat).SetInt(most)) <= 0 && (a.low || got.Cmp(new(big.Rat).SetInt(least)) > 0) {
			return
		}
	}
	a.differ("RL-TOKENS", d.At, a.level(), "Tokens() = %s at %s", trimFloat(d.Tokens), duration(d.At))
}

// odd deals with what is reserved or waited for in a number below 1: it must change
// nothing.
func (a *account) odd(d *Done) {
	if d.N < 0 && a.waived == "RL-NEG" || d.N == 0 && a.waived == "RL-N0" {
		a.low, a.hi = true, a.tokens(a.bound)
	}
}

// oversize deals with a request for more than the burst; fine says whether it was
// refused.
func (a *account) oversize(d *Done, refused bool) (handled bool) {
	switch {
	case a.rate == Inf || d.N <= a.burst:
		return false
	case a.traits.Oversize == OversizeRejected:
		if !refused {
			a.differ("RL-NBIG", d.At, fmt.Sprintf("the burst is %d", a.burst), "%s %d at %s was granted, want refused", d.Op, d.N, duration(d.At))
		}
		if d.Op == OpWait && a.waived == "RL-NBIG" {
			a.low, a.hi = true, a.tokens(a.bound)
		}
	case a.traits.Oversize == OversizeWaits && d.Op == OpAllow:
	case a.traits.Oversize == OversizeWaits:
		return false
	default:
		a.lost = true
	}
	return true
}

func (a *account) allow(d *Done) {
	if d.N < 1 || a.oversize(d, !d.OK) {
		return
	}
	if a.rate == Inf {
		if !d.OK {
			a.differ("RL-INF", d.At, "the rate is infinite", "allow %d at %s was denied, want granted", d.N, duration(d.At))
		}
		return
	}
	need := a.tokens(d.N)
	if d.OK {
		least := new(big.Int).Sub(need, a.slop)
		if a.hi.Cmp(least) < 0 {
			a.differ("RL-MODEL", d.At, a.level(), "allow %d at %s was granted, want denied", d.N, duration(d.At))
		}
		a.lo, a.hi = larger(a.lo, least), larger(a.hi, least)
		a.add(-d.N, -d.N)
		for _, c := range a.claims {
			c.after += d.N
		}
		return
	}
	most := new(big.Int).Add(need, a.slop)
	if !a.low && a.lo.Cmp(most) >= 0 {
		a.differ("RL-WORK", d.At, a.level(), "allow %d at %s was denied, want granted", d.N, duration(d.At))
	}
	if a.hi.Cmp(most) > 0 {
		a.hi = most
	}
}

func larger(a, b *big.Int) *big.Int {
	if a.Cmp(b) > 0 {
		return a
	}
	return b
}

func (a *account) reserve(d *Done, number, sets int) {
	c := &claim{d: d, number: number, made: d.At, from: d.At, to: d.At, rated: sets, cut: -1}
	if a.rate == Inf {
		if !d.OK || d.Delay > 0 {
			a.differ("RL-INF", d.At, "the rate is infinite", "reserve %d at %s: OK %t, delay %s, want at once", d.N, duration(d.At), d.OK, duration(d.Delay))
		}
		c.free = true
		a.claims = append(a.claims, c)
		return
	}
	if d.N < 1 {
		a.odd(d)
		return
	}
	if d.N > a.burst {
		switch {
		case a.traits.Oversize == OversizeRejected && d.OK:
			a.differ("RS-OK", d.At, fmt.Sprintf("the burst is %d", a.burst), "reserve %d at %s is OK, want not", d.N, duration(d.At))
		case a.traits.Oversize == OversizeRejected:
			if a.waived == "RS-OK" {
				a.add(-d.N, 0)
			}
			return
		case a.traits.Oversize != OversizeWaits:
			a.lost = true
			return
		}
	}
	if !d.OK {
		if a.flow.Sign() > 0 {
			a.differ("RS-OK", d.At, fmt.Sprintf("the burst is %d", a.burst), "reserve %d at %s is not OK", d.N, duration(d.At))
		}
		return
	}
	a.add(-d.N, -d.N)
	if a.lo.Sign() < 0 && (a.flow.Sign() == 0 || a.due(a.lo) > forever) {
		a.lost = true // a reservation that is never due is one that each limiter has in its own way
		return
	}
	c.from, c.to = a.due(a.hi), a.due(a.lo)
	a.claims = append(a.claims, c)
	if a.waived == "RS-DEBT" {
		a.add(0, d.N)
	}
	switch act := saturate(d.At, max(0, d.Delay)); {
	case act < c.from-a.slack:
		a.differ("RS-DELAY", c.from, a.level()+" when these were taken", "reserve %d at %s has a delay of %s, want %s", d.N, duration(d.At), duration(d.Delay), duration(c.from-d.At))
	case act-a.slack > c.to && !a.low:
		a.differ("RS-DELAY", c.to, a.level()+" when these were taken", "reserve %d at %s has a delay of %s, want %s", d.N, duration(d.At), duration(d.Delay), duration(c.to-d.At))
	}
	// The delay tells where in the range the limiter is.
	if d.Delay > 0 && a.waived == "" {
		owed := new(big.Int).Neg(new(big.Int).Mul(a.flow, big.NewInt(int64(d.Delay))))
		low, high := new(big.Int).Sub(owed, a.slop), new(big.Int).Add(owed, a.slop)
		if a.low = false; a.lo.Cmp(low) < 0 {
			a.lo = low
		}
		if a.hi.Cmp(high) > 0 {
			a.hi = high
		}
	}
}

func (a *account) wait(d *Done, number, sets int, early bool) {
	c := &claim{d: d, number: number, made: d.At, from: d.At, to: d.At, rated: sets, cut: -1}
	atOnce := d.Ended.Seq != 0 && d.Ended.At == d.At
	failed := atOnce && d.Err != nil
	if early || d.D < 0 {
		if !failed {
			a.differ("W-PRE", d.At, "its context was done before it began", "wait %d at %s %s, want an error at once", d.N, duration(d.At), d.outcome())
		}
		if a.waived == "W-PRE" {
			a.add(-d.N, 0)
		}
		return
	}
	if d.N < 1 {
		a.odd(d)
		return
	}
	if a.oversize(d, d.Err != nil || d.Ended.Seq == 0) { // it may block until its context is done
		return
	}
	if a.rate == Inf {
		if !atOnce || failed {
			a.differ("RL-INF", d.At, "the rate is infinite", "wait %d at %s %s, want nil at once", d.N, duration(d.At), d.outcome())
		}
		c.free = true
		a.claims = append(a.claims, c)
		return
	}
	fifo := a.traits.Fair == FairFIFO
	after := func(level *big.Int) time.Duration { return a.due(new(big.Int).Sub(level, a.tokens(d.N))) }
	c.from, c.to = after(a.hi), after(a.lo)
	if failed && !a.cutFirst(d, number) {
		switch {
		case d.D == 0 && a.flow.Sign() > 0:
			a.differ("W-EXACT", d.At, a.level(), "wait %d at %s returned an error at once, want nil at %s", d.N, duration(d.At), duration(c.to))
		case d.D > 0 && c.to < d.At+d.D-a.slack && !a.low:
			a.differ("W-DEAD", d.At, a.level(), "wait %d with %s left failed at once at %s, want nil at %s", d.N, duration(d.D), duration(d.At), duration(c.to))
		}
		if tie := (c.from - d.At - d.D).Abs() <= a.slack; a.waived == "W-DEADEQ" && tie || a.waived == "W-DEAD" && !tie {
			a.add(-d.N, 0)
		}
		return
	}
	if d.D > 0 && a.traits.DeadlineCheck == DeadlineFailFast && c.from-a.slack > d.At+d.D {
		a.differ("W-DEAD", d.At, a.level()+", and DeadlineFailFast is declared", "wait %d with %s left did not fail at once at %s, want an error: its tokens come at %s", d.N, duration(d.D), duration(d.At), duration(c.from))
	}
	a.claims = append(a.claims, c)
	if fifo {
		a.add(-d.N, -d.N)
	} else {
		a.add(-d.N, 0)
	}
}

// cutFirst reports whether the wait's context was cancelled before it returned.
func (a *account) cutFirst(d *Done, number int) bool {
	return slices.ContainsFunc(a.tr.Done, func(o Done) bool { return o.Op == OpCancel && o.N == number && o.Began.Seq < d.Ended.Seq })
}

// returned judges the return of a wait.
func (a *account) returned(c *claim) {
	d := c.d
	at := d.Ended.At
	if c.over || c.free {
		return
	}
	deadline := time.Duration(math.MaxInt64)
	if d.D > 0 {
		deadline = saturate(d.At, d.D)
	}
	fifo := a.traits.Fair == FairFIFO
	what := fmt.Sprintf("wait %d at %s", d.N, duration(d.At))
	if d.Err == nil {
		a.leavers(at)
		switch {
		case c.cut >= 0 && at > c.cut:
			a.differ("W-CANCEL", c.cut, "its context was cancelled at "+duration(c.cut), "%s returned nil at %s, want an error at %s", what, duration(at), duration(c.cut))
		case at > deadline:
			a.differ("W-DEAD", deadline, "its deadline was at "+duration(deadline), "%s returned nil at %s, want an error by then", what, duration(at))
		case fifo && at < c.from-a.slack:
			a.differ("W-NOTEARLY", at, a.level()+", with what it waits for taken off", "%s returned at %s, want %s", what, duration(at), duration(c.from))
		case fifo && at-a.slack > c.to && !a.low:
			a.differ("W-EXACT", c.to, a.level()+", with what it waits for taken off", "%s returned at %s, want %s", what, duration(at), duration(c.to))
		case !fifo && a.hi.Cmp(new(big.Int).Sub(a.tokens(d.N), a.slop)) < 0:
			a.differ("W-NOTEARLY", at, a.level(), "%s returned at %s, before its tokens were there", what, duration(at))
		}
		c.over = true
		if !fifo {
			a.add(0, -d.N)
		}
		if a.waived == "W-EATS" {
			a.add(-d.N, d.N)
		}
		return
	}
	law := "W-CANCEL"
	switch {
	case c.cut >= 0 && at == c.cut:
	case c.cut >= 0 && c.cut < deadline:
		a.differ("W-CANCEL", c.cut, "its context was cancelled at "+duration(c.cut), "%s returned at %s, want an error at %s", what, duration(at), duration(c.cut))
	case at > deadline:
		a.differ("W-DEAD", deadline, "its deadline was at "+duration(deadline), "%s returned at %s, want an error by then", what, duration(at))
	case at < deadline && (d.D == 0 || fifo && c.to < deadline-a.slack):
		a.differ("W-EXACT", at, a.level()+", with what it waits for taken off", "%s returned an error at %s, want nil at %s", what, duration(at), duration(c.to))
	}
	if at >= c.from-a.slack {
		law = "W-DEADEQ"
	}
	a.giveUp(c, law)
}

// leavers settles the waits that give up at this instant: who is served in their
// place can be seen to return before they are.
func (a *account) leavers(at time.Duration) {
	for _, c := range a.claims {
		d := c.d
		if d.Op == OpWait && !c.over && !c.free && d.Err != nil && d.Ended.Seq != 0 && d.Ended.At == at && (c.cut >= 0 || d.D > 0 && at == d.At+d.D) {
			a.returned(c)
		}
	}
}

// cancel judges nothing by itself: what comes back shows in what follows.
func (a *account) cancel(c *claim, sets int) {
	switch {
	case c.d.Op == OpWait:
		if c.cut < 0 && !c.over {
			c.cut = a.at
		}
	case c.free:
		if a.waived == "RL-INFOUT" {
			a.add(0, c.d.N)
		}
	case c.over:
		if a.waived == "CN-IDEM" {
			a.add(-c.d.N, a.bound)
		}
	case a.at-a.slack > c.to:
		if a.traits.LateCancel != LateIgnored || a.waived == "CN-LATE" {
			a.add(0, c.d.N)
		}
		if a.waived == "CN-LATE" {
			a.add(-c.d.N, 0)
		}
		c.over = c.over || a.traits.LateCancel != LateIgnored
	case a.at >= c.from-a.slack:
		a.add(0, c.d.N) // at its very instant it may count as in time or not
		c.over = true
		a.moved()
	default:
		law := "CN-ANY"
		if a.newest(c) {
			law = "CN-LIFO"
		}
		if c.rated != sets && law == "CN-ANY" {
			law = "CN-ANY after a limit was set"
		}
		a.giveUp(c, law)
	}
}

// newest reports whether everything after c was given up, in reverse order.
func (a *account) newest(c *claim) bool {
	i := slices.Index(a.claims, c)
	return c.after == 0 && !slices.ContainsFunc(a.claims[i+1:], func(o *claim) bool { return !o.free && !o.inOrder })
}

// giveUp gives back what c took, as declared.
func (a *account) giveUp(c *claim, law string) {
	n, later, live := c.d.N, c.after, 0
	for _, o := range a.claims[slices.Index(a.claims, c)+1:] {
		if !o.free {
			if later += o.d.N; !o.over {
				live += o.d.N
			}
		}
	}
	lo, hi := 0, n
	switch {
	case a.traits.Refund == RefundNone:
		hi = 0
	case a.traits.Refund == RefundFull || a.traits.Refund == RefundConservative && a.newest(c):
		lo = n
	case a.traits.Refund == RefundConservative && law != "CN-ANY after a limit was set":
		lo, hi = max(0, n-later), max(0, n-live)
	}
	c.lost = n - lo
	switch {
	case a.waived == law && c.d.Op == OpWait:
		lo, hi = -n, n+a.bound
	case a.waived == law:
		lo, hi = 0, n
	case a.waived == "CN-UPPER" && c.d.Op == OpReserve:
		hi = n + a.bound
	case a.waived == "CN-LOWER" && c.d.Op == OpReserve:
		lo = -n
	}
	c.inOrder = a.newest(c)
	c.over = true
	if a.traits.Fair != FairFIFO && c.d.Op == OpWait {
		hi = 0 // the upper end never counted it as taken
	}
	a.add(lo, hi)
	a.moved()
}

// moved gives those who wait new instants, if they are served anew. What is lost of those
// who gave up behind them may be taken when it would have been their turn, or at once.
func (a *account) moved() {
	if a.traits.Rewake == RewakeKeeps && a.waived != "W-WAKE" {
		return
	}
	behind, lost := 0, 0
	for _, c := range slices.Backward(a.claims) {
		if c.over {
			lost += c.lost
		}
		if c.free || c.over || c.d.Op == OpReserve && c.to < a.at {
			continue
		}
		more := a.tokens(behind)
		behind += c.d.N
		from, to := a.due(new(big.Int).Add(a.hi, new(big.Int).Add(more, a.tokens(lost)))), a.due(new(big.Int).Add(a.lo, more))
		if a.rate == Inf {
			from, to = a.at, a.at
		}
		if c.d.Op == OpReserve || a.traits.Rewake == 0 || a.waived == "W-WAKE" {
			from, to = min(from, c.from), max(to, c.to)
		}
		c.from, c.to = from, to
	}
}

func (a *account) setLimit(r Rate) {
	old, flow := a.rate, a.flow
	was := new(big.Int).Set(a.lo)
	a.setRate(r)
	switch {
	case old == Inf || r == Inf:
		a.lo = was
		if old == Inf {
			a.hi = a.tokens(a.bound) // what an infinite rate has brought
		}
		if a.waived == "RL-INFOUT" {
			a.low = true
		}
	case a.waived == "SL-NORETRO":
		a.lo, a.hi = a.hindsight(a.lo, flow, true), a.hindsight(a.hi, flow, false)
	case a.waived == "SL-KEEP":
		a.low, a.hi = true, a.tokens(a.bound)
	case a.traits.Rewake != RewakeServes:
		// What is owed stays the same in tokens, or in time as with those who wait.
		for _, end := range []**big.Int{&a.lo, &a.hi} {
			if (*end).Sign() >= 0 || flow.Sign() == 0 {
				continue
			}
			inTime := new(big.Int).Mul(*end, a.flow)
			inTime.Div(inTime, flow)
			if (end == &a.lo) == (inTime.Cmp(*end) < 0) {
				*end = inTime
			}
		}
	}
	a.clamp()
	a.moved()
}

// hindsight is a level as it would be had the new limit held since the beginning.
func (a *account) hindsight(level, flow *big.Int, lower bool) *big.Int {
	gain := new(big.Int).Sub(a.flow, flow)
	gain.Mul(gain, big.NewInt(int64(a.at-a.tr.Done[0].At)))
	if (gain.Sign() < 0) != lower {
		return level
	}
	return gain.Add(gain, level)
}

func (a *account) setBurst(burst int) {
	more := burst - a.burst
	a.burst = burst
	if a.bound = burst; a.waived == "SB-CAP" && more < 0 {
		a.bound = burst - more
	}
	lo, hi := 0, 0
	switch {
	case a.traits.Raise == RaiseBringsTokens:
		lo, hi = more, more
	case a.traits.Raise == 0 && more > 0, a.waived == "SB-NOGIFT" && more > 0:
		hi = a.bound
	case a.traits.Raise == 0:
		lo = more
	}
	if a.waived == "SB-LIVE" && more < 0 {
		a.low = true
	}
	a.add(lo, hi)
	a.moved()
}

// finish judges the waits that never returned.
func (a *account) finish() {
	for _, c := range a.claims {
		if c.d.Op != OpWait || c.over || c.free || c.d.Ended.Seq != 0 {
			continue
		}
		what := fmt.Sprintf("wait %d at %s never returned", c.d.N, duration(c.d.At))
		switch {
		case c.cut >= 0:
			a.differ("W-CANCEL", c.cut, "its context was cancelled at "+duration(c.cut), "%s, want an error at %s", what, duration(c.cut))
		case c.d.D > 0 && a.tr.End > c.d.At+c.d.D:
			a.differ("W-DEAD", c.d.At+c.d.D, "its deadline was at "+duration(c.d.At+c.d.D), "%s, want an error by then", what)
		case a.traits.Fair == FairFIFO && !a.low && c.to < math.MaxInt64 && a.tr.End-a.slack > c.to:
			a.differ("W-EXACT", c.to, a.level()+", with what it waits for taken off", "%s, want nil at %s", what, duration(c.to))
		}
	}
}
