package quotatest_test

import (
	"strings"
	"testing"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/conformance/internal/proof"
	"github.com/escapement-go/escapement/conformance/quotatest"
	"github.com/escapement-go/escapement/internal/zoo/quota"
	"github.com/escapement-go/escapement/synctestcompat"
)

func TestMutants(t *testing.T) { proof.Mutants(t, quotatest.Rules(), quota.Mutants()) }

func TestMutants_thatHang(t *testing.T) { proof.Hangs(t, quota.Mutants()) }

func TestMutants_thatRace(t *testing.T) { proof.Races(t, quota.Mutants()) }

func TestMutants_reported(t *testing.T) { proof.Reported(t, quota.Mutants()) }

// Who pastes what TRAITS prints misses no bug.
func TestMutants_withPastedTraits(t *testing.T) { proof.Pasted(t, quota.Designs(), quota.Mutants()) }

func TestDesigns(t *testing.T) { proof.Designs(t, quota.Designs()) }

func TestDesigns_together(t *testing.T) {
	proof.Together(t, append(quota.Designs(), quota.Chosen(8)...))
}

func TestDesigns_chosen(t *testing.T) { proof.Chosen(t, quota.Chosen) }

// Every rule that fails because of a declaration that does not fit names the one that
// does.
func TestHint(t *testing.T) {
	type traits = quotatest.Traits
	for _, k := range []struct {
		kind  quotatest.Kind
		wrong func(tr *traits)
		fits  string
	}{
		{quotatest.FixedWindow, func(tr *traits) { tr.Edge = quotatest.EdgeClosed }, "Edge: EdgeHalfOpen"},
		{quotatest.FixedWindow, func(tr *traits) { tr.Align = quotatest.AlignFirstUse }, "Align: AlignEpoch"},
		{quotatest.SlidingLog, func(tr *traits) { tr.Denied = quotatest.DeniedCounted }, "Denied: DeniedFree"},
		{quotatest.GCRA, func(tr *traits) { tr.TooLarge = quotatest.TooLargeForever }, "TooLarge: TooLargeNegative"},
	} {
		spec := quota.Plain(k.kind, quotatest.Explicit)
		k.wrong(&spec.Traits)
		failed := 0
		short := func(_ string, steps int) bool { return steps <= 3 }
		for _, v := range spec.Examine(t, inside.Options{Keep: short}).Verdicts {
			if v.Status != conformance.Fail {
				continue
			}
			if failed++; !strings.Contains(v.Text, "declare "+k.fits) && !strings.Contains(v.Text, "or "+k.fits) {
				t.Errorf("want the text to lead to %s:\n%s", k.fits, v.Text)
			}
		}
		if failed == 0 {
			t.Errorf("nothing failed where %s would fit", k.fits)
		}
	}
}

// A number that is not declared is offered, too, as it is observed.
func TestHint_numbers(t *testing.T) {
	for _, d := range quota.Designs() {
		if d.Name != "answers in whole seconds, zoo GCRA Explicit" {
			continue
		}
		spec := d.Spec.(quotatest.Spec)
		spec.Traits.Rounded = 0
		r := spec.Examine(t, inside.Options{Unprobed: true})
		for _, rule := range []string{"GC-RETRY", "GC-RESET"} {
			if v, _ := r.Verdict(rule); !strings.Contains(v.Text, "declare Rounded: 1 * time.Second") {
				t.Errorf("%s: %s: the text does not lead to Rounded:\n%s", rule, v.Status, v.Text)
			}
		}
		return
	}
	t.Error("there is no such design")
}

// On package time the windows of a second run begin where those of the first did, even if
// they are longer than an hour, so that rules which compare two runs can judge them.
func TestJudge_longWindows(t *testing.T) {
	synctestcompat.Require(t)
	j := quota.Plain(quotatest.FixedWindow, quotatest.PackageTime).Judge(t)
	s, err := conformance.ParseSchedule("rate=4/24h | allow 2 @0 | tokens @0 | allow 3 @12h")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range j.Run(s) {
		t.Error(v.Text())
	}
}

// An implementation is not accused for what it cannot do.
func TestSubsets(t *testing.T) { proof.Subsets(t, quota.Designs()) }

// What TRAITS prints can be pasted; testdata/traits.txt has what is not its author's.
func TestRoundTrip(t *testing.T) { proof.RoundTrip(t, quota.Designs()) }

// A limiter that never sees time pass is told so, and no rule accuses it.
func TestCanary_seesThatTimePasses(t *testing.T) {
	synctestcompat.Require(t)
	for _, source := range []conformance.TimeSource{conformance.Injected, conformance.PackageTime} {
		r := quota.Blind(source).Examine(t, inside.Options{})
		canary, _ := r.Verdict("CANARY")
		if n := r.Count(conformance.Fail); n != 1 || !strings.Contains(canary.Text,
			"does not see that time has passed") {
			t.Errorf("%v: %d rules fail, want CANARY: %s", source, n, canary.Text)
		}
	}
}

// What a constructor refuses is left out and counted, and its limiter still judged.
func TestRefused_isLeftOut(t *testing.T) {
	for _, d := range quota.Designs() {
		judged := map[string]string{"one event in whole seconds Explicit": "SW-ANY SW-WORK SC-ORDER", // by design
			"evenly spaced in milliseconds Explicit": "GC-EQUIV GC-BURST GC-TAT GC-DENYPURE GC-NEG RL-NBIG"}[d.Name]
		if judged == "" {
			continue
		}
		r := d.Spec.Examine(t, inside.Options{Shallow: true})
		if len(r.LeftOut) == 0 {
			t.Errorf("%s: nothing is left out", d.Name)
		}
		for _, rule := range strings.Fields(judged) {
			if v, _ := r.Verdict(rule); v.Status != conformance.Pass || v.Judged == 0 {
				t.Errorf("%s: %s: %s after %d runs: %s", d.Name, rule, v.Status, v.Judged, v.Reason)
			}
		}
	}
}

// A limiter is judged while it cannot be reached, and after it.
func TestFaults_areJudged(t *testing.T) {
	synctestcompat.Require(t)
	for _, d := range quota.Designs() {
		if d.Name != "a remote FixedWindow PackageTime" {
			continue
		}
		r := d.Spec.Examine(t, inside.Options{Unprobed: true, Keep: func(family string,
			_ int) bool {
			return family == "faults"
		}})
		for _, rule := range []string{"FW-ALIGNED", "FW-HIT", "X-ERR", "X-LATENCY"} {
			if v, _ := r.Verdict(rule); v.Status != conformance.Pass || v.Judged < 100 {
				t.Errorf("%s: %s after %d runs: %s", rule, v.Status, v.Judged, v.Reason)
			}
		}
	}
}

// What is answered beside OK is not left unjudged in silence: TRAITS fails until it is declared.
func TestTraits_answers(t *testing.T) {
	spec := quota.Plain(quotatest.GCRA, quotatest.Injected)
	short := func(_ string, steps int) bool { return steps <= 3 }
	for _, declared := range []quotatest.Answers{0, quotatest.AnswersRemaining} {
		spec.Traits.Answers = declared
		r := spec.Examine(t, inside.Options{Keep: short})
		told, _ := r.Verdict("TRAITS")
		if failed := told.Status == conformance.Fail; failed != (declared == 0) ||
			failed && !strings.Contains(told.Text, "Answers: quotatest.AnswersRetry | quotatest.AnswersReset") {
			t.Errorf("Answers: %d declared, TRAITS: %s\n%s", declared, told.Status, told.Text)
		}
		if v, _ := r.Verdict("GC-RESET"); v.Reason != "quotatest.AnswersReset is not declared" {
			t.Errorf("GC-RESET is skipped: %q", v.Reason)
		}
		if v, _ := r.Verdict("GC-TAT"); declared == 0 && v.Status != conformance.Pass {
			t.Errorf("GC-TAT, which needs no answers: %s %s", v.Status, v.Reason)
		}
	}
}
