package limitertest

import (
	"fmt"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

// judged is a core rule that is broken if the account says so. It needs an operation and, beside Initial, traits.
func judged(id, text string, op conformance.Op, about func(suite.Job) bool, declared ...string) rule {
	return checked(law(id), id, text, op, about, declared...)
}

// checked is such a rule with a check of its own.
func checked(check func(*exam) *suite.Violation, id, text string, op conformance.Op, about func(suite.Job) bool,
	declared ...string) rule {
	return rule{Rule: core(id, text), Ops: ops(op), Declared: append([]string{"Initial"}, declared...),
		About: about, Check: check}
}

// law makes the Check of a rule that is broken if the account says so.
func law(id string) func(*exam) *suite.Violation {
	return func(x *exam) *suite.Violation { return x.breaks(id) }
}

func reserveRules() []rule {
	reserves := suite.Has(verb.Reserve)
	return []rule{
		judged("RS-OK", "A reservation MUST be OK if the burst can hold it, and one that is not OK MUST "+
			"take nothing.", verb.Reserve, reserves, "Oversize"),
		judged("RS-DELAY", "The delay of a reservation MUST be the time until the bucket has paid for it "+
			"and for all before it.", verb.Reserve, reserves),
		{
			Rule: core("RS-MONO", "Without a change or refund, a reservation of tokens MUST NOT be due "+
				"before an earlier one."),
			Ops:   ops(verb.Reserve),
			About: reserves,
			Check: (*exam).reservesInOrder,
		},
		judged("RS-DEBT", "Reserved tokens MUST be paid before anything else is granted.", verb.Reserve, reserves),
	}
}

// cancelRules are the laws of reservations that are given up.
func cancelRules() []rule {
	gives := givesUp(verb.Reserve)
	return []rule{
		judged("CN-UPPER", "A cancel MUST NOT refund more than the reservation took, nor leave more "+
			"tokens than if it had never been made.", opGiveUp, gives),
		judged("CN-LOWER", "A cancel MUST NOT take tokens.", opGiveUp, gives),
		judged("CN-LIFO", "Cancelling the newest reservation before it is due MUST undo it exactly, "+
			"unless cancels refund nothing.", opGiveUp, gives, "Refund"),
		judged("CN-ANY", "Cancelling an earlier reservation before it is due MUST refund all of it (RefundFull), or "+
			"all but what later reservations rely on (RefundConservative); less only where a new "+
			"limit or burst leaves no room for them.", opGiveUp, gives, "Refund"),
		judged("CN-LATE", "Cancelling a reservation after it is due MUST do nothing or refund its "+
			"tokens, as declared.", opGiveUp, gives, "LateCancel"),
		judged("CN-IDEM", "A second cancel of a reservation MUST do nothing.", opGiveUp, gives),
	}
}

// changeRules are the laws of a limit, and of a burst, that is set.
func changeRules() []rule {
	limits, bursts := suite.Has(verb.SetLimit), suite.Has(verb.SetBurst)
	return []rule{
		judged("SL-NORETRO", "A new limit MUST apply from the instant it is set: until then tokens "+
			"accrue at the old one.", verb.SetLimit, limits),
		judged("SL-KEEP", "Setting a limit MUST NOT change the balance.", verb.SetLimit, limits),
		judged("SB-CAP", "Lowering the burst MUST remove at once what exceeds it.", verb.SetBurst, bursts),
		judged("SB-NOGIFT", "Raising the burst MUST NOT add tokens by itself, unless declared.", verb.SetBurst, bursts,
			"OnBurstRaised"),
		judged("SB-LIVE", "Lowering the burst MUST NOT remove more than what exceeds it, and tokens "+
			"MUST keep accruing.", verb.SetBurst, bursts),
	}
}

func (x *exam) reservesInOrder() *suite.Violation {
	if !x.accountable() {
		return nil
	}
	var before *conformance.Done
	for i := range x.Done {
		d := &x.Done[i]
		switch {
		case d.Op == verb.SetLimit || d.Op == verb.SetBurst || d.Op == verb.Cancel:
			before = nil
		case d.Op == verb.Reserve && d.OK && d.N > 0: // who reserves nothing need not wait
			if before != nil && suite.Sum(d.At, d.Delay) < suite.Sum(before.At, before.Delay)-1-2*x.traits.Latency {
				return x.broken(d.At, "",
					"%s is due at %s, before %s, due at %s", x.named(d), timeline.Duration(d.At+d.Delay),
					x.named(before), timeline.Duration(before.At+before.Delay))
			}
			before = d
		}
	}
	return nil
}

// within holds a reservation within a time beside one without, behind as many others: it is made if that one's tokens
// come in time, and takes nothing otherwise. Where they come at the end of the time either is right.
func (c *contract) within(p *suite.Probe) (v *suite.Violation, skip string) {
	const ahead = 3
	delays := func(before int, bound func(f *Funcs) Reservation) (ok bool, out [2]time.Duration) {
		skip, _ = c.trial(toEnd(p), c.candidates(10, 3), func(st *suite.Stage, f *Funcs, cfg Config) {
			for range cfg.Burst + before {
				f.reserve(time.Time{}, 1)
			}
			st.To(cfg.Rate.Interval() / 4)
			r := bound(f)
			if ok = r.ok(); ok {
				out[0] = r.delay(time.Time{}, false)
			}
			out[1] = f.reserve(time.Time{}, 1).delay(time.Time{}, false)
		})
		return ok, out
	}
	for before := range ahead {
		_, free := delays(before, func(f *Funcs) Reservation { return f.reserve(time.Time{}, 1) })
		if skip != "" {
			return nil, skip
		}
		for _, most := range []time.Duration{0, free[0] / 2, free[0] - free[0]/100, free[0] + free[0]/100, time.Hour} {
			ok, got := delays(before, func(f *Funcs) (r Reservation) {
				suite.Promptly(func() { r = f.ReserveWithin(1, most) })
				return r
			})
			want := [2]time.Duration{0, free[0]}
			if most > free[0] {
				want = free
			}
			if most == free[0] || ok == (most > free[0]) && got == want {
				continue
			}
			was := map[bool]string{true: "made", false: "refused"}
			as := fmt.Sprintf("was %s, want it %s", was[ok], was[most > free[0]])
			switch {
			case ok != (most > free[0]):
			case got[0] != want[0]:
				as = fmt.Sprintf("has a delay of %s, want %s", timeline.Duration(got[0]), timeline.Duration(want[0]))
			default:
				as = fmt.Sprintf("was %s, as wanted, but a Reserve after it has a delay of %s, want %s",
					was[ok], timeline.Duration(got[1]), timeline.Duration(want[1]))
			}
			because := "Reserve would get its token in " + timeline.Duration(free[0])
			return suite.Broken(0, because, "with %s waiting, ReserveWithin(1, %s) %s",
				timeline.Count(before, "reservation"), timeline.Duration(most), as), ""
		}
	}
	return nil, ""
}
