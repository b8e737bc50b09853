package limitertest

import (
	"math/big"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// view is a trace and, for each of its steps, the level of an exact token bucket. The
// bucket counts in units of which all numbers are whole: a token is as many units as the
// rate's Per has nanoseconds, and each nanosecond brings Events units. It takes what the
// limiter granted, so that each decision is judged by what had really been granted before.
type view struct {
	per, events *big.Int
	burst       *big.Int // in units
	tolerance   *big.Int // of a decision, in units
	steps       []step
	grants      []grant // in the order of their instants
}

// step is a step and what the exact bucket says of it.
type step struct {
	*conformance.Done
	// level is what the bucket held when the step came, in units; negative while it
	// owes tokens to those who wait.
	level *big.Int
	// margin is how much more than N tokens the level was, or than none where the next request
	// pays; negative if it was less.
	margin *big.Int
	// due is when a wait is due.
	due time.Duration
	// brimful says that, however a limiter rounds, the bucket was full at this instant.
	brimful bool
}

// grant is n tokens that were granted at an instant.
type grant struct {
	at time.Duration
	n  int
	d  *conformance.Done
	// oversize says that n was more than the burst of that time.
	oversize bool
}

// newView follows the trace.
func newView(tr *conformance.Trace, traits *Traits) *view {
	cfg := tr.Schedule.Config
	v := &view{per: big.NewInt(int64(cfg.Rate.Per)), events: big.NewInt(int64(cfg.Rate.Events))}
	v.burst = v.units(cfg.Burst)
	// A decision may come 1ns early or late, because clocks count nanoseconds, and
	// floating point may be off by a billionth of a token.
	v.tolerance = new(big.Int).Rsh(v.burst, 44)
	v.tolerance.Add(v.tolerance, new(big.Int).Mul(v.events, big.NewInt(1+roundingOf(cfg.Rate, cfg.Burst, tr.Schedule))))
	v.tolerance.Add(v.tolerance, new(big.Int).Div(v.per, big.NewInt(1e9)))
	v.tolerance.Add(v.tolerance, big.NewInt(1))
	together := new(big.Int).Mul(v.events, big.NewInt(int64(traits.Resolution)))
	v.tolerance.Add(v.tolerance, larger(v.units(traits.RefillSize), together))
	v.tolerance.Add(v.tolerance, new(big.Int).Mul(v.events, big.NewInt(int64(late(tr.Schedule, traits)))))
	if scale := traits.scale(); scale > 0 {
		lost := v.units(askedOf(cfg.Burst, tr.Schedule))
		v.tolerance.Add(v.tolerance, lost.Div(lost, big.NewInt(scale)).Add(lost, big.NewInt(1)))
	}
	v.steps, v.grants = make([]step, 0, len(tr.Done)), make([]grant, 0, len(tr.Done))
	level := v.units(traits.initial(cfg.Burst))
	newest, brimful := time.Duration(0), false
	if len(tr.Done) > 0 {
		newest = tr.Done[0].At
	}
	for i := range tr.Done {
		d := &tr.Done[i]
		if d.At > newest {
			level, brimful = v.refill(level, d.At-newest)
			newest = d.At
		}
		after := new(big.Int).Sub(level, v.units(d.N))
		s := step{Done: d, level: level, margin: after, brimful: brimful}
		if traits.Overdraft {
			s.margin = level
		}
		switch {
		case d.Op == verb.Wait:
			level = after
			s.due = d.At
			if s.margin.Sign() < 0 && v.events.Sign() > 0 {
				debt := new(big.Int).Neg(s.margin)
				debt.Add(debt, new(big.Int).Sub(v.events, big.NewInt(1)))
				s.due += time.Duration(debt.Div(debt, v.events).Int64())
			}
		case d.Op == verb.Allow && d.OK && d.N > 0:
			level = after
		}
		v.steps = append(v.steps, s)
		if d.OK && d.N > 0 && d.Ended.Seq != 0 {
			at := d.At
			if d.Op == verb.Wait {
				at = d.Ended.At
			}
			v.grants = append(v.grants, grant{at: at, n: d.N, d: d})
		}
	}
	slices.SortStableFunc(v.grants, func(a, b grant) int { return int(min(1, max(-1, a.at-b.at))) })
	return v
}

// pays reports whether the bucket held what a request asks for, however a limiter rounds.
func (v *view) pays(s step) bool {
	return s.margin.Cmp(v.tolerance) >= 0 || s.brimful && s.margin.Sign() >= 0
}

// century is the longest debt that a limiter must be able to count.
const century = suite.Century

// unpayable is that of the account.
func (v *view) unpayable(tokens int) bool {
	n := v.units(tokens)
	return n.Cmp(v.burst) > 0 && n.Cmp(new(big.Int).Mul(v.events, big.NewInt(int64(century)))) > 0
}

// units converts tokens.
func (v *view) units(n int) *big.Int {
	return new(big.Int).Mul(big.NewInt(int64(n)), v.per)
}

// refill returns the level d nanoseconds later, and whether clearly more came in them than
// fits.
func (v *view) refill(level *big.Int, d time.Duration) (after *big.Int, spills bool) {
	more := new(big.Int).Mul(v.events, big.NewInt(int64(d)))
	if more.Add(more, level).Cmp(v.burst) <= 0 {
		return more, false
	}
	return v.burst, more.Sub(more, v.burst).Cmp(v.tolerance) > 0
}

// tokens writes units as a number of tokens.
func (v *view) tokens(units *big.Int) string { return tokens(units, v.per) }
