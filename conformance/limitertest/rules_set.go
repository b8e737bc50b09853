package limitertest

import (
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// limitRules are the laws of a limit that is set.
func limitRules() []rule {
	return []rule{
		{
			Rule: core("SL-NORETRO", "A new limit MUST apply from the instant it is set: until then tokens "+
				"accrue at the old one."),
			Ops: ops(verb.SetLimit), Declared: []string{"Initial"},
			About: suite.Has(verb.SetLimit),
			Sees:  accepted,
			Check: law("SL-NORETRO"),
		},
		{
			Rule: core("SL-KEEP", "Setting a limit MUST NOT change the balance."),
			Ops:  ops(verb.SetLimit), Declared: []string{"Initial"},
			About: suite.Has(verb.SetLimit),
			Sees:  accepted,
			Check: law("SL-KEEP"),
		},
	}
}

// burstRules are the laws of a burst that is set.
func burstRules() []rule {
	return []rule{
		{
			Rule: core("SB-CAP", "Lowering the burst MUST remove at once what exceeds it."),
			Ops:  ops(verb.SetBurst), Declared: []string{"Initial"},
			About: suite.Has(verb.SetBurst),
			Sees:  accepted,
			Check: law("SB-CAP"),
		},
		{
			Rule: core("SB-NOGIFT", "Raising the burst MUST NOT add tokens by itself, unless declared."),
			Ops:  ops(verb.SetBurst), Declared: []string{"Initial", "OnBurstRaised"},
			About: suite.Has(verb.SetBurst),
			Sees:  accepted,
			Check: law("SB-NOGIFT"),
		},
		{
			Rule: core("SB-LIVE", "Lowering the burst MUST NOT remove more than what exceeds it, and tokens "+
				"MUST keep accruing."),
			Ops: ops(verb.SetBurst), Declared: []string{"Initial"},
			About: suite.Has(verb.SetBurst),
			Sees:  accepted,
			Check: law("SB-LIVE"),
		},
	}
}
