package limitertest

import (
	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

// reserveRules are the laws of reservations.
func reserveRules() []rule {
	return []rule{
		{
			Rule: core("RS-OK", "A reservation MUST be OK if the burst can hold it, and one that is not OK MUST "+
				"take nothing."),
			Ops: ops(verb.Reserve), Declared: []string{"Initial", "Oversize"},
			About: suite.Has(verb.Reserve),
			Sees:  accepted,
			Check: law("RS-OK"),
		},
		{
			Rule: core("RS-DELAY", "The delay of a reservation MUST be the time until the bucket has paid for it "+
				"and for all before it."),
			Ops: ops(verb.Reserve), Declared: []string{"Initial"},
			About: suite.Has(verb.Reserve),
			Sees:  accepted,
			Check: law("RS-DELAY"),
		},
		{
			Rule: core("RS-MONO", "Without a change or refund, a reservation of tokens MUST NOT be due "+
				"before an earlier one."),
			Ops:   ops(verb.Reserve),
			About: suite.Has(verb.Reserve),
			Sees:  accepted,
			Check: (*exam).reservesInOrder,
		},
		{
			Rule: core("RS-DEBT", "Reserved tokens MUST be paid before anything else is granted."),
			Ops:  ops(verb.Reserve), Declared: []string{"Initial"},
			About: suite.Has(verb.Reserve),
			Sees:  accepted,
			Check: law("RS-DEBT"),
		},
	}
}

// cancelRules are the laws of reservations that are given up.
func cancelRules() []rule {
	return []rule{
		{
			Rule: core("CN-UPPER", "A cancel MUST NOT refund more than the reservation took, nor leave more "+
				"tokens than if it had never been made."),
			Ops: ops(opGiveUp), Declared: []string{"Initial"},
			About: givesUp(verb.Reserve),
			Sees:  accepted,
			Check: law("CN-UPPER"),
		},
		{
			Rule: core("CN-LOWER", "A cancel MUST NOT take tokens."),
			Ops:  ops(opGiveUp), Declared: []string{"Initial"},
			About: givesUp(verb.Reserve),
			Sees:  accepted,
			Check: law("CN-LOWER"),
		},
		{
			Rule: core("CN-LIFO", "Cancelling the newest reservation before it is due MUST undo it exactly, "+
				"unless cancels refund nothing."),
			Ops: ops(opGiveUp), Declared: []string{"Initial", "Refund"},
			About: givesUp(verb.Reserve),
			Sees:  accepted,
			Check: law("CN-LIFO"),
		},
		{
			Rule: core("CN-ANY",
				"Cancelling an earlier reservation before it is due MUST refund all of it (RefundFull), or "+
					"all but what later reservations rely on (RefundConservative); less only where a new "+
					"limit or burst leaves no room for them."),
			Ops: ops(opGiveUp), Declared: []string{"Initial", "Refund"},
			About: givesUp(verb.Reserve),
			Sees:  accepted,
			Check: law("CN-ANY"),
		},
		{
			Rule: core("CN-LATE", "Cancelling a reservation after it is due MUST do nothing or refund its "+
				"tokens, as declared."),
			Ops: ops(opGiveUp), Declared: []string{"Initial", "LateCancel"},
			About: givesUp(verb.Reserve),
			Sees:  accepted,
			Check: law("CN-LATE"),
		},
		{
			Rule: core("CN-IDEM", "A second cancel of a reservation MUST do nothing."),
			Ops:  ops(opGiveUp), Declared: []string{"Initial"},
			About: givesUp(verb.Reserve),
			Sees:  accepted,
			Check: law("CN-IDEM"),
		},
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
