package limitertest

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

// account is an exact token bucket that follows a trace in which tokens are also waited
// for, reserved and given back, and the limit changes. As the laws leave some things open,
// its level is a range, in which the level of every correct limiter with the declared
// traits lies. Each decision must be right for some level of the range, and narrows the
// range to those levels. Levels are counted in units, of which all numbers are whole: a
// token is as many units as there are nanoseconds in the least common multiple of all
// Pers.
type account struct {
	tr     *conformance.Trace
	traits *Traits
	waived string                    // the law that is not demanded, to find out whether it is the one that was broken
	asked  map[string]bool           // the laws by which something was judged, where they are of interest
	watch  func(d *conformance.Done) // is called before each step, none of which ends the account then

	*pad
	one, flow    *big.Int      // units of a token, units per nanosecond
	fastest      *big.Int      // the most units per nanosecond, under any of its limits
	lump, least  int           // the most tokens that may come at once, and the least burst
	tolerance    *big.Int      // what rounding may do to a decision, in units
	grace        time.Duration // the time in which the tolerance comes
	rate         Rate
	burst        int
	bound        int // the burst, or a former one if SB-CAP is waived
	lo, hi       *big.Int
	at           time.Duration
	noFloor      bool // nothing is known of the lower end of the range
	brimful      bool // however a limiter rounds, the bucket was full at this instant
	judgesTokens bool // what Tokens shows is judged
	open         bool // nothing can be judged any more
	claims       []*claim
	changing     bool // a limit or burst is set somewhere
	alone        bool // there are requests only, and questions
	changes      int  // how many have been set,
	limits       int  // how many of them limits
	found        *difference
}

// claim is a reservation, or a wait that was not refused at once.
type claim struct {
	d            *conformance.Done
	number       int           // as in cancel N
	from, to     time.Duration // the range of its instant
	limits       int           // how many limits had been set when it was made
	cancelled    time.Duration // when its context was cancelled; never if negative
	free         bool          // made under Inf: nothing was taken
	moved        bool          // a change or a refund came since, and it may sleep as before
	outgrown     bool          // the burst has fallen below what it waits for, so that it may fail
	ended        bool          // it has returned, or was given up
	inOrder      bool          // given up after all later ones, which were given up in reverse order
	loose        bool          // an earlier one was given back first, so that others may be due before it
	unreturned   int           // how many of its tokens may not have been given back
	grantedSince int           // how many tokens of a raised burst were granted at once since then
	changes      int           // how many limits and bursts had been set when it was made
	burst        int           // as it was then
	room         room          // what the bucket had room for since then
	given        big.Int       // what others have given back since then, at the most
}

// difference is a decision that is right for no level of the range.
type difference struct {
	law               string
	event             int
	at                time.Duration
	headline, because string
	// slight says that a wait returned less than a quarter of an interval early or late, or that the bucket held just
	// what was asked for.
	slight bool
}

// accounted follows a trace and returns the first difference, nil if there is none.
func accounted(tr *conformance.Trace, traits *Traits) *difference {
	return newAccount(tr, traits).replay()
}

// waives reports whether a law is not demanded.
func (a *account) waives(law string) bool {
	if a.asked != nil {
		a.asked[law] = true
	}
	return a.waived == law
}

// replay follows the trace up to the first difference and returns it.
func (a *account) replay() *difference {
	tr := a.tr
	// Where more may come at once than the bucket holds some is lost each time, and nothing is known of the level.
	if !a.alone && (a.traits.Resolution > 0 && a.least <= a.lump || failed(tr) &&
		slices.ContainsFunc(tr.Schedule.Steps, claims)) {
		return nil
	}
	a.forgive()
	// begins and returns, in the order in which they were seen
	type event struct {
		seq  int
		d    *conformance.Done
		ends bool
	}
	events := make([]event, 0, 2*len(tr.Done))
	for i := range tr.Done {
		d := &tr.Done[i]
		events = append(events, event{d.Began.Seq, d, false})
		if d.Op == verb.Wait && d.Ended.Seq != 0 {
			events = append(events, event{d.Ended.Seq, d, true})
		}
	}
	slices.SortFunc(events, func(a, b event) int { return cmp.Compare(a.seq, b.seq) })
	numbers := numbers(tr)
	early := map[int]bool{} // claims whose contexts were cancelled before their waits began
	for i, e := range events {
		d := e.d
		if e.ends {
			a.pass(d.Ended.At)
			if c := a.claim(numbers[d]); c != nil {
				a.returned(c)
			}
		} else {
			a.pass(d.At)
			if a.watch != nil {
				a.watch(d)
			}
			if d.Panic != "" {
				return nil // X-CALLS says so
			}
			a.begun(d, numbers[d], early)
		}
		switch {
		case a.watch != nil:
		case a.open:
			return nil
		case a.found != nil:
			a.found.event = i
			return a.found
		}
	}
	if a.finish(); a.found != nil {
		a.found.event = len(events)
	}
	return a.found
}

// begun follows the beginning of a step.
func (a *account) begun(d *conformance.Done, number int, early map[int]bool) {
	switch d.Op {
	case verb.Allow:
		a.allow(d)
	case verb.Reserve:
		a.reserve(d, number)
	case verb.Wait:
		a.wait(d, number, early[number])
	case verb.Cancel:
		if c := a.claim(d.N); c != nil {
			a.cancel(c)
		} else {
			early[d.N] = true
		}
	case verb.SetLimit:
		a.setLimit(d.Rate)
	case verb.SetBurst:
		a.setBurst(d.N)
	case verb.Tokens:
		a.shown(d)
	}
}

func newAccount(tr *conformance.Trace, traits *Traits) *account {
	cfg := tr.Schedule.Config
	a := &account{tr: tr, traits: traits, burst: cfg.Burst, bound: cfg.Burst, least: cfg.Burst,
		pad: new(pad), alone: alone(tr)}
	a.one, a.fastest = a.number(1), a.number(1)
	rates, disturbances, burst := []Rate{cfg.Rate}, 1, cfg.Burst
	for _, s := range tr.Schedule.Steps {
		switch s.Op {
		case verb.SetLimit:
			rates = append(rates, s.Rate)
			disturbances++
			a.changing = true
		case verb.SetBurst:
			burst, a.least = max(burst, s.N), min(a.least, s.N)
			a.changing = true
		case verb.Cancel:
			disturbances++
		}
	}
	for _, r := range rates {
		if r.Per > 0 {
			per := a.number(int64(r.Per))
			gcd := a.number(0).GCD(nil, nil, a.one, per)
			a.one.Mul(a.one, per.Div(per, gcd))
		}
	}
	rounded, together := a.number(1), a.tokens(traits.RefillSize)
	for _, r := range rates {
		flow := a.flowOf(r)
		a.fastest, a.lump = larger(a.fastest, flow), max(a.lump, traits.lump(r))
		rounded.Add(rounded, a.times(flow, roundingOf(r, burst, tr.Schedule)))
		together = larger(together, a.times(flow, int64(traits.Resolution)))
	}
	// Each answer may be 1ns early or late, because clocks count nanoseconds, and floating
	// point may be off by a billionth of a token.
	a.tolerance = a.sum(a.fastest, a.number(0).Div(a.one, a.number(1e9)))
	full := a.tokens(burst)
	a.tolerance.Add(a.tolerance, full.Rsh(full, 44))
	a.tolerance.Mul(a.tolerance, a.number(int64(disturbances)))
	a.tolerance.Add(a.tolerance, rounded).Add(a.tolerance, together)
	a.tolerance.Add(a.tolerance, a.times(a.fastest, int64(late(tr.Schedule, traits))))
	if scale := traits.scale(); scale > 0 {
		lost := a.tokens(askedOf(burst, tr.Schedule))
		a.tolerance.Add(a.tolerance, lost.Div(lost, a.number(scale)).Add(lost, a.number(1)))
	}
	a.setRate(cfg.Rate)
	a.lo = a.tokens(traits.initial(cfg.Burst))
	a.hi = a.lo
	if len(tr.Done) > 0 {
		a.at = tr.Done[0].At
	}
	return a
}

// roundingOf returns by how many nanoseconds a limiter may be off that rounds the interval
// to whole nanoseconds, as one made from [Rate.Interval] does. The longer the interval is,
// the less that matters.
func roundingOf(r Rate, burst int, s conformance.Schedule) int64 {
	if r.Exact() || r.Interval() < time.Microsecond {
		return 0
	}
	return int64(askedOf(burst, s))
}

// askedOf is how many tokens a schedule can be granted, on top of what it finds.
func askedOf(burst int, s conformance.Schedule) int {
	asked := s.Config.Burst
	for _, s := range s.Steps {
		asked = plus(asked, min(max(0, s.N), burst))
	}
	return asked
}

// forgive adds a nanosecond of tolerance for each wait for a whole bucket: a limiter that
// serves it a nanosecond late loses what comes in that nanosecond, as the bucket is full.
func (a *account) forgive() {
	waits := int64(0)
	for _, s := range a.tr.Schedule.Steps {
		if s.Op == verb.Wait && s.N >= a.least {
			waits++
		}
	}
	a.tolerance = a.sum(a.tolerance, a.times(a.fastest, waits))
	a.setRate(a.rate)
}

func (a *account) tokens(n int) *big.Int { return a.times(a.one, int64(n)) }

// need is what the bucket must hold for n tokens to be granted, in units.
func (a *account) need(n int) *big.Int {
	if a.traits.Overdraft {
		return a.number(0)
	}
	return a.tokens(n)
}

// unpayable reports whether n tokens are more than the burst and take more than a hundred years to
// come. Whoever grants tokens before they are there may refuse these all the same: such a debt is
// beyond what can be counted.
func (a *account) unpayable(n int) bool {
	return n > a.burst && a.tokens(n).Cmp(a.times(a.flow, int64(suite.Century))) > 0
}

// act is when n tokens may be used, at a level from which they have been taken.
func (a *account) act(level *big.Int, n int) time.Duration {
	return a.due(a.minus(a.sum(level, a.tokens(n)), a.need(n)))
}

// flowOf returns what a rate brings in a nanosecond, in units.
func (a *account) flowOf(r Rate) *big.Int {
	if r.Events <= 0 || r.Per <= 0 {
		return a.number(0)
	}
	f := a.times(a.one, int64(r.Events))
	return f.Div(f, a.number(int64(r.Per)))
}

func (a *account) setRate(r Rate) {
	a.rate, a.flow = r, a.flowOf(r)
	a.grace = 1
	if a.flow.Sign() > 0 {
		if n := a.number(0).Div(a.tolerance, a.flow); n.IsInt64() && n.Int64() < math.MaxInt64/2 {
			a.grace += time.Duration(n.Int64())
		}
	}
}

// numbers maps reservations and waits to their numbers.
func numbers(tr *conformance.Trace) map[*conformance.Done]int {
	out := map[*conformance.Done]int{}
	for i := range tr.Done {
		if d := &tr.Done[i]; claims(d.Step) {
			out[d] = len(out) + 1
		}
	}
	return out
}

// cancelledFirst reports whether the wait or reservation with a number was cancelled before it returned.
func cancelledFirst(tr *conformance.Trace, d *conformance.Done, number int) bool {
	return slices.ContainsFunc(tr.Done, func(o conformance.Done) bool {
		return o.Op == verb.Cancel && o.N == number && o.Began.Seq < d.Ended.Seq
	})
}

// claim returns the claim of that number, nil if there is none yet.
func (a *account) claim(number int) *claim {
	for _, c := range a.claims {
		if c.number == number {
			return c
		}
	}
	return nil
}

func (a *account) pass(at time.Duration) {
	if at <= a.at {
		return
	}
	a.anybody(at)
	if a.rate == Inf || a.rate.Events == 0 && a.waives("RL-LIM0") {
		a.hi = a.tokens(a.bound)
	} else {
		more := a.times(a.flow, int64(at-a.at))
		a.lo, a.hi = a.sum(a.lo, more), a.sum(a.hi, more)
	}
	a.at, a.brimful = at, a.alone && a.lo.Cmp(a.sum(a.tokens(a.burst), a.tolerance)) > 0
	a.clamp()
}

// clamp keeps the level below the burst. Where waits need not be served in order, their tokens may have been taken
// already or not, so that the upper end may be higher by them, and the lower end is lower while they are late.
func (a *account) clamp() {
	awaited := 0
	if a.traits.Fair != FairFIFO {
		for _, c := range a.claims {
			if c.d.Op == verb.Wait && !c.ended {
				awaited = plus(awaited, c.d.N)
			}
		}
	}
	if t := a.tokens(a.burst - awaited); a.lo.Cmp(t) > 0 {
		a.lo = t
	}
	if t := a.tokens(plus(a.bound, awaited)); a.hi.Cmp(t) > 0 {
		a.hi = t
	}
	a.measure()
}

// add moves the ends of the range by whole tokens.
func (a *account) add(lo, hi int) { a.bring(a.tokens(lo), a.tokens(hi)) }

func (a *account) bring(lo, hi *big.Int) {
	a.lo, a.hi = a.sum(a.lo, lo), a.sum(a.hi, hi)
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
	n := a.minus(a.minus(a.flow, level), a.number(1))
	if n.Div(n, a.flow); !n.IsInt64() {
		return math.MaxInt64
	}
	return suite.Sum(a.at, time.Duration(n.Int64()))
}

// differ notes that a law is broken, unless it is waived or a difference was found before.
func (a *account) differ(law string, at time.Duration, because, headline string, args ...any) {
	if a.found == nil && !a.waives(law) {
		a.found = &difference{law: law, at: at, headline: fmt.Sprintf(headline, args...), because: because}
	}
}

func (a *account) level() string {
	held := fmt.Sprintf("the bucket held %s at %s", a.words(a.lo, a.hi, "at most "), timeline.Duration(a.at))
	return held + suite.If(a.traits.Overdraft, ", and Overdraft is declared")
}

// debt describes the range after a reservation: what it makes the bucket owe, or leaves in it.
func (a *account) debt() string {
	if a.hi.Sign() >= 0 {
		return a.level() + " after this reservation"
	}
	least, most := a.minus(a.number(0), a.hi), a.minus(a.number(0), a.lo)
	if a.noFloor {
		most = least
	}
	return fmt.Sprintf("with this reservation the bucket owes %s at %s",
		a.words(least, most, "at least "), timeline.Duration(a.at))
}

// float is a number of units in tokens.
func (a *account) float(units *big.Int) float64 {
	f, _ := new(big.Rat).SetFrac(units, a.one).Float64()
	return f
}

// words describes a number of tokens between two bounds; without a floor only one is known.
func (a *account) words(least, most *big.Int, only string) string {
	read := func(n *big.Int) string { return tokens(n, a.one) }
	tokens := timeline.Count(read(most), "token")
	switch {
	case a.noFloor:
		return only + tokens
	case least.Cmp(most) != 0:
		return "between " + read(least) + " and " + tokens
	}
	return tokens
}
