package conformance

import (
	"regexp"
	"testing"
)

// Whoever declares what the implementation does not do is told what it does do.
func TestInstead_namesTheTrait(t *testing.T) {
	quota := func(kind QuotaKind, wrong func(*QuotaTraits)) *contract {
		right := QuotaTraits{Denied: DeniedFree, BackTime: BackClamp, TooLarge: TooLargeNegative, Answers: AnswersRetry | AnswersReset | AnswersRemaining}
		if kind != GCRA {
			right.Edge, right.Align = EdgeHalfOpen, AlignEpoch
		}
		spec := choosyQuotaSpec(kind, Explicit, right, quotaWhims{})
		wrong(&spec.Traits)
		return quotaContract(t, spec)
	}
	late := LikeXTime
	late.LateCancel = LateRefunds
	limiter := choosyBucketSpec(Explicit, late)
	limiter.Traits = LikeXTime
	for _, wrong := range []struct {
		c        *contract
		is, says string
	}{
		{quota(FixedWindow, func(tr *QuotaTraits) { tr.Edge = EdgeClosed }), "EdgeHalfOpen", "EdgeClosed"},
		{quota(FixedWindow, func(tr *QuotaTraits) { tr.Align = AlignFirstUse }), "AlignEpoch", "AlignFirstUse"},
		{quota(SlidingLog, func(tr *QuotaTraits) { tr.Denied = DeniedCounted }), "DeniedFree", "DeniedCounted"},
		{quota(GCRA, func(tr *QuotaTraits) { tr.TooLarge = TooLargeForever }), "TooLargeNegative", "TooLargeForever"},
		{limiterContract(t, limiter), "LateRefunds", "LateIgnored"},
	} {
		told := regexp.MustCompile("it would be right if .*" + wrong.is + ".* were declared, not " + wrong.says)
		families := wrong.c.families
		wrong.c.families = func(c *contract) []family { // the first schedules will do
			all := families(c)
			for i := range all {
				all[i].schedules = all[i].schedules[:min(100, len(all[i].schedules))]
			}
			return all
		}
		failed := 0
		for _, v := range wrong.c.evaluate().Verdicts {
			if v.Status != Fail {
				continue
			}
			if failed++; !told.MatchString(v.Text) {
				t.Errorf("want the text to say that it is %s, not %s:\n%s", wrong.is, wrong.says, v.Text)
			}
		}
		if failed == 0 {
			t.Errorf("nothing failed, though it is %s, not %s", wrong.is, wrong.says)
		}
	}
}
