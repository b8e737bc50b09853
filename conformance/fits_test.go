package conformance

import (
	"strings"
	"testing"

	"github.com/escapement-go/escapement/internal/prove"
	"github.com/escapement-go/escapement/synctestcompat"
)

// Whoever declares another choice than the one that the implementation makes is told which
// declaration would fit.
func TestFits(t *testing.T) {
	synctestcompat.Require(t)
	prove.Require(t, prove.Suite)
	if testing.Short() {
		t.Skip("-short: each of these is explored until it fails")
	}
	if !aside(t) {
		return
	}
	deb := DebounceTraits{Edges: []Edges{Trailing, Leading, LeadingAndTrailing}, Payload: LastPayload, Tie: ResetFirst, StaleFire: StaleForbidden,
		CancelBarrier: NoBarrier, AfterCancel: CancelReusable, StopPending: StopDrops, ZeroWait: ZeroNextTick, Overlap: Serial, BothSingle: BothOnce,
		MaxWait: MaxWaitFromFirst, CloseFlush: CloseFires}
	has := map[Op]bool{OpCancel: true, OpFlush: true, OpPending: true, OpStop: true, OpClose: true}
	for _, k := range []struct {
		rule, fits string
		change     func(d *DebounceTraits)
	}{
		{"DB-LAST", "Payload: FirstPayload", func(d *DebounceTraits) { d.Payload = FirstPayload }},
		{"DB-TIE", "Tie: FireFirst", func(d *DebounceTraits) { d.Tie = FireFirst }},
		{"DB-LIVE", "AfterCancel: CancelFinal", func(d *DebounceTraits) { d.AfterCancel = CancelFinal }},
		{"DB-REARM", "AfterCancel: CancelKeepsBurst", func(d *DebounceTraits) { d.AfterCancel = CancelKeepsBurst }},
		{"DB-STOP", "StopPending: StopFlushes", func(d *DebounceTraits) { d.StopPending = StopFlushes }},
		{"DB-ZERO", "ZeroWait: ZeroRefused", func(d *DebounceTraits) { d.ZeroWait = ZeroRefused }},
		{"DB-OVERLAP", "Overlap: Parallel", func(d *DebounceTraits) { d.Overlap = Parallel }},
		{"DB-LEAD1", "BothSingle: BothTwice", func(d *DebounceTraits) { d.BothSingle = BothTwice }},
		{"DB-MAX", "MaxWait: MaxWaitOnCall", func(d *DebounceTraits) { d.MaxWait = MaxWaitOnCall }},
		{"DB-CLOSE", "CloseFlush: CloseAtDeadline", func(d *DebounceTraits) { d.CloseFlush = CloseAtDeadline }},
	} {
		spec := choosyDebouncerSpec(Injected, deb.with(k.change), debouncerWays{}, has)
		spec.Traits = deb
		leadsTo(t, debouncerContract(t, spec), k.rule, k.fits)
	}
	spec := choosyDebouncerSpec(Injected, deb, debouncerWays{}, has)
	spec.Traits.Edges = []Edges{Leading}
	build := spec.New
	spec.New = func(env Env, cfg DebounceConfig, fire func(int)) DebouncerFuncs {
		cfg.Edges = Trailing
		return build(env, cfg, fire)
	}
	leadsTo(t, debouncerContract(t, spec), "DB-LEAD", "Edges: []conformance.Edges{conformance.Trailing}")

	thr := ThrottleTraits{Edges: deb.Edges, Boundary: BoundaryPasses, BothSingle: BothOnce, Payload: LastPayload, Windows: WindowsSliding, ClockBack: BackBounded}
	for _, k := range []struct {
		rule, fits string
		change     func(d *ThrottleTraits)
	}{
		{"TH-LEADNEXT", "Boundary: BoundaryWaits", func(d *ThrottleTraits) { d.Boundary = BoundaryWaits }},
		{"TH-SINGLE", "BothSingle: BothTwice", func(d *ThrottleTraits) { d.BothSingle = BothTwice }},
		{"TH-PAY", "Payload: FirstPayload", func(d *ThrottleTraits) { d.Payload = FirstPayload }},
		{"TH-RATE", "Windows: WindowsFromFirst", func(d *ThrottleTraits) { d.Windows = WindowsFromFirst }},
		{"TH-CLOCKBACK", "ClockBack: BackStands", func(d *ThrottleTraits) { d.ClockBack = BackStands }},
	} {
		made := thr
		k.change(&made)
		spec := choosyThrottleSpec(Injected, made, throttleWays{}, nil)
		spec.Traits = thr
		leadsTo(t, throttleContract(t, spec), k.rule, k.fits)
	}
}

// The first schedules of limiters and quotas will do.
func TestFits_limitersAndQuotas(t *testing.T) {
	if !aside(t) {
		return
	}
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
		c    *contract
		fits string
	}{
		{quota(FixedWindow, func(tr *QuotaTraits) { tr.Edge = EdgeClosed }), "Edge: EdgeHalfOpen"},
		{quota(FixedWindow, func(tr *QuotaTraits) { tr.Align = AlignFirstUse }), "Align: AlignEpoch"},
		{quota(SlidingLog, func(tr *QuotaTraits) { tr.Denied = DeniedCounted }), "Denied: DeniedFree"},
		{quota(GCRA, func(tr *QuotaTraits) { tr.TooLarge = TooLargeForever }), "TooLarge: TooLargeNegative"},
		{limiterContract(t, limiter), "LateCancel: LateRefunds"},
	} {
		families := wrong.c.families
		wrong.c.families = func(c *contract) []family {
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
			if failed++; !strings.Contains(v.Text, "declare "+wrong.fits) && !strings.Contains(v.Text, "or "+wrong.fits) {
				t.Errorf("want the text to lead to %s:\n%s", wrong.fits, v.Text)
			}
		}
		if failed == 0 {
			t.Errorf("nothing failed where %s would fit", wrong.fits)
		}
	}
}

// leadsTo checks that the failure of the rule says what would fit.
func leadsTo(t *testing.T, c *contract, rule, fits string) {
	t.Helper()
	c.until = rule
	for _, v := range c.evaluate().Verdicts {
		if v.Rule == rule && (v.Status != Fail || !strings.Contains(v.Text, "if it is documented so, declare") || !strings.Contains(v.Text, fits)) {
			t.Errorf("%s: got %s, want a failure that leads to %s:\n%s", rule, v.Status, fits, v.Text)
		}
	}
}
