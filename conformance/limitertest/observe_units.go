package limitertest

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// arrivals are how far apart tokens arrive, and how many together, at a rate.
type arrivals struct {
	interval, gap time.Duration
	together      int
	// uneven says that they do not arrive one by one, each an interval after the bucket was
	// emptied.
	uneven bool
	// whole says that each time it was the whole burst, of more than one.
	whole bool
}

// arrivals empties a bucket, and empties it again each time when tokens arrive.
func (o observer) arrivals(events int) (a arrivals) {
	if !o.s.Accepts(opRequest) {
		return o.awaited(events)
	}
	const parts, most = 10, 2200 // of an interval, and of these altogether
	var gaps []time.Duration
	o.trial(o.c.candidates(events, 100), func(st *suite.Stage, f *Funcs, cfg Config) {
		start, at := st.Config().Start(), time.Duration(0)
		drain := func() (n int) {
			st.To(at)
			st.Settle()
			for ; n < 2*cfg.Burst+2 && f.allows(start.Add(at), n); n++ {
			}
			return n
		}
		a.interval, a.whole = cfg.Rate.Interval(), cfg.Burst > 1
		drain()
		at = time.Duration(cfg.Burst+100)*a.interval + 3*a.interval/parts
		drain()
		from := at
		for i := 1; i <= most && len(gaps) < 3; i++ {
			at += a.interval / parts
			if n := drain(); n > 0 {
				gaps, a.together, from = append(gaps, at-from), max(a.together, n), at
				a.whole = a.whole && n == cfg.Burst
			}
		}
	})
	return a.between(gaps, a.interval/parts+1)
}

// awaited is arrivals of a limiter that has only a wait: one caller, who waits for one token after
// the other, sees when they arrive.
func (o observer) awaited(events int) (a arrivals) {
	const tokens, bursts = 6, 3 // after the first burst
	if !o.s.Accepts(verb.Wait) || o.s.Inexact != "" {
		return a
	}
	var came []time.Duration
	hang := o.trial(o.c.candidates(events, 100), func(st *suite.Stage, f *Funcs, cfg Config) {
		if cfg.Burst > 100 {
			return
		}
		a.interval = cfg.Rate.Interval()
		from := time.Duration(cfg.Burst+100)*a.interval + 3*a.interval/10
		st.To(from)
		st.Settle()
		go suite.Catch(func() {
			for n := 0; n < bursts*cfg.Burst+tokens; n++ {
				d := conformance.Done{}
				if f.wait(context.Background(), 1, &d); !d.OK {
					return
				}
				came = append(came, st.Now()-from)
			}
		})
		st.To(from + time.Duration(bursts*cfg.Burst+10*tokens)*a.interval)
		st.Settle()
	})
	if hang != nil { // and still runs
		return arrivals{}
	}
	came = slices.DeleteFunc(came, func(d time.Duration) bool { return d == 0 })
	if len(came) < tokens {
		return arrivals{}
	}
	var gaps []time.Duration
	last := time.Duration(0)
	for i := 0; i < len(came); {
		n := i
		for ; n < len(came) && came[n] == came[i]; n++ {
		}
		gaps, a.together = append(gaps, came[i]-last), max(a.together, n-i)
		i, last = n, came[i]
	}
	return a.between(gaps, a.interval/10+1)
}

// between notes the gaps between arrivals, which are even if they differ from the interval by no
// more than fault.
func (a arrivals) between(gaps []time.Duration, fault time.Duration) arrivals {
	if len(gaps) < 2 {
		return arrivals{}
	}
	a.gap = gaps[len(gaps)-1]
	a.uneven = a.together > 1 || slices.ContainsFunc(gaps, func(g time.Duration) bool {
		return (g - a.interval).Abs() > fault
	})
	return a
}

// units says what a limiter counts in: tokens that arrive together at any rate, or a time in
// which any number of them does.
func (o observer) units() *units {
	if o.c.units != nil {
		return o.c.units
	}
	o.c.units = &units{}
	if o.c.trip > 0 {
		return o.c.units // nobody can tell when something arrived
	}
	for _, events := range []int{1_000_000, 1000, 10} {
		a := o.arrivals(events)
		if !a.uneven {
			continue
		}
		slow := o.arrivals(cmp.Or(events/100, 1))
		same := slow.uneven && a.together == slow.together
		switch {
		case a.whole && slow.whole: // not a number of tokens, but a window
		case same && a.byTokens() && slow.byTokens():
			o.c.units.refillSize = a.together
		default:
			o.c.units.grain = a.gap
		}
		break
	}
	return o.c.units
}

// byTokens reports whether the rate brings what arrives together in just the time between two
// arrivals.
func (a arrivals) byTokens() bool {
	return (a.gap - time.Duration(a.together)*a.interval).Abs() <= a.interval/5
}

// units are what was seen of what a limiter counts in.
type units struct {
	refillSize int
	grain      time.Duration
}

// unevenRates are events and seconds of rates that neither binary nor decimal fractions hold
// exactly.
var unevenRates = [][2]int{{1, 7}, {10, 13}, {3, 7}, {7, 29}, {1, 3}, {11, 13}}

// precision reports whether the rate is a float32. A limiter that is off by more has another mistake.
func (o observer) precision() int {
	if o.c.trip > 0 || *o.units() != (units{}) || !o.s.Accepts(opRequest) {
		return 0
	}
	fewest := math.MaxInt
	for _, r := range unevenRates {
		if n := o.digits(Rate{Events: r[0], Per: time.Duration(r[1]) * time.Second}); n > 0 {
			fewest = min(fewest, n)
		}
	}
	if fewest != 7 {
		return 0
	}
	return int(PrecisionFloat32)
}

// digits asks ever closer to the instant of a token, and says how many digits of the rate
// are right: 7 or fewer, 0 if more are.
func (o observer) digits(r Rate) (right int) {
	o.trial([]Config{{r, 1}}, func(st *suite.Stage, f *Funcs, _ Config) {
		at := 100 * r.Interval()
		ask := func(at time.Duration) bool {
			st.To(at)
			st.Settle()
			return f.allows(st.Config().Start().Add(at), 0)
		}
		for i := 0; i < 1000 && ask(at); i++ {
		}
		due := at + r.Interval()
		for n := 3; n <= 8; n++ { // too early by a part in 10^n
			if ask(due - r.Interval()/time.Duration(math.Pow10(n))) {
				right = max(1, min(7, n-1))
				return
			}
		}
		if ask(due + 2) {
			return
		}
		for n := 8; n >= 3; n-- { // too late by as much
			if ask(due + r.Interval()/time.Duration(math.Pow10(n)) + 2) {
				right = min(7, n)
				return
			}
		}
	})
	return right
}

// nap is how late a wait may return that looks now and then whether its tokens are there.
func (t *Traits) nap(r Rate) time.Duration {
	if !t.naps {
		return 0
	}
	return max(nap, r.Interval()/2)
}

// naps reports whether one who waits alone is asleep when the token comes, and looks again a little later.
func (o observer) naps() bool {
	if o.s.Inexact != "" || o.c.trip > 0 || o.c.spec.Traits.Fair == FairFIFO {
		return false
	}
	late := time.Duration(0)
	hang := o.trial(o.c.candidates(10, 3), func(st *suite.Stage, f *Funcs, cfg Config) {
		interval := cfg.Rate.Interval()
		full := time.Duration(cfg.Burst+100) * interval
		wait := func(n int, at time.Duration) {
			st.To(at)
			st.Settle()
			go suite.Catch(func() {
				for range n {
					f.wait(context.Background(), 1, &conformance.Done{})
				}
				late = st.Now() - full - interval
			})
		}
		wait(cfg.Burst, full)
		wait(1, full+interval*7/51)
		st.To(full + time.Duration(cfg.Burst+3)*interval + nap)
		st.Settle()
	})
	return hang == nil && late > 1 && late <= nap
}
