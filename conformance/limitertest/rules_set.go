package limitertest

import (
	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
)

// limitRules are the laws of a limit that is set.
func limitRules() []rule {
	return []rule{
		{
			Rule: core("SL-NORETRO", "A new limit MUST count from the instant at which it is set: what accrued "+
				"before accrued at the old one."),
			Ops: ops(conformance.OpSetLimit), Declared: []string{"Initial"},
			About: suite.Has(conformance.OpSetLimit),
			Sees:  accepted,
			Check: law("SL-NORETRO"),
		},
		{
			Rule: core("SL-KEEP", "Setting a limit MUST NOT change the tokens that are there."),
			Ops:  ops(conformance.OpSetLimit), Declared: []string{"Initial"},
			About: suite.Has(conformance.OpSetLimit),
			Sees:  accepted,
			Check: law("SL-KEEP"),
		},
	}
}

// burstRules are the laws of a burst that is set.
func burstRules() []rule {
	return []rule{
		{
			Rule: core("SB-CAP", "A lower burst MUST take away at once what exceeds it."),
			Ops:  ops(conformance.OpSetBurst), Declared: []string{"Initial"},
			About: suite.Has(conformance.OpSetBurst),
			Sees:  accepted,
			Check: law("SB-CAP"),
		},
		{
			Rule: core("SB-NOGIFT", "A higher burst MUST bring no tokens by itself, unless declared."),
			Ops:  ops(conformance.OpSetBurst), Declared: []string{"Initial", "OnBurstRaised"},
			About: suite.Has(conformance.OpSetBurst),
			Sees:  accepted,
			Check: law("SB-NOGIFT"),
		},
		{
			Rule: core("SB-LIVE", "A lower burst MUST NOT take more than what exceeds it, and "+
				"tokens MUST go on accruing "+
				"after it."),
			Ops: ops(conformance.OpSetBurst), Declared: []string{"Initial"},
			About: suite.Has(conformance.OpSetBurst),
			Sees:  accepted,
			Check: law("SB-LIVE"),
		},
	}
}
