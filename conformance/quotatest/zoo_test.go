package quotatest_test

import (
	"errors"
	"strings"
	"testing"
	"time"

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

// A choice that is left out excuses nothing.
func TestLeftOut(t *testing.T) { proof.LeftOut(t, quota.Designs()) }

// Who declares nothing is told of each mistake, and no correct design is accused.
func TestFirstRuns(t *testing.T) { proof.FirstRuns(t, quota.Designs(), quota.Mutants()) }

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
		{
			quotatest.SlidingLog, func(tr *traits) { tr.CountDenied = quotatest.DeniedCounted },
			"CountDenied: DeniedFree",
		},
		{quotatest.GCRA, func(tr *traits) { tr.RetryNever = quotatest.RetryForever }, "RetryNever: RetryNegative"},
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

// Who counts windows from 1970 and declares that they are counted from the year 1 is told so, and the other way round.
// It is not advised to declare that it counts by parts of windows, of which it has none.
func TestHint_grid(t *testing.T) {
	named := func(name string) quotatest.Spec {
		for _, d := range quota.Designs() {
			if d.Name == name {
				return d.Spec.(quotatest.Spec)
			}
		}
		t.Fatalf("there is no design %q", name)
		return quotatest.Spec{}
	}
	for _, k := range []struct {
		design string
		wrong  quotatest.Align
		fits   string
	}{
		{"a key for each window of Unix time Explicit", quotatest.AlignEpoch, "AlignUnix"},
		{"zoo FixedWindow Explicit", quotatest.AlignUnix, "AlignEpoch"},
		{"zoo SlidingCounter Explicit", quotatest.AlignUnix, "AlignEpoch"},
	} {
		spec, o := named(k.design), inside.Options{Unprobed: true, Most: 1000}
		spec.Traits.Align = k.wrong
		rule := "FW-ALIGNED"
		if spec.Kind == quotatest.SlidingCounter {
			rule = "SC-FIRST"
		}
		r := spec.Examine(t, o)
		if v, _ := r.Verdict(rule); !strings.Contains(v.Text, "declare Align: "+k.fits) {
			t.Errorf("%s: %s: %s: the text does not lead to %s:\n%s", k.design, rule, v.Status, k.fits, v.Text)
		}
		for _, v := range r.Verdicts {
			if strings.Contains(v.Text, "Buckets:") {
				t.Errorf("%s: the text leads to Buckets:\n%s", k.design, v.Text)
			}
		}
		spec.Traits.Align = 0
		r = spec.Examine(t, o)
		if v, _ := r.Verdict("TRAITS"); !strings.Contains(v.Text, k.fits) || strings.Contains(v.Text, "Buckets") {
			t.Errorf("%s: want Align: %s to be observed:\n%s", k.design, k.fits, v.Text)
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

// What is replayed or found in a corpus need not have a limit and a window that are drawn.
func TestJudge_fits(t *testing.T) {
	synctestcompat.Require(t)
	for text, want := range map[string]bool{
		"rate=2/1s | allow 1 @0":                true,
		"rate=7/28s | allow 7 @0 | tokens @28s": true,
		"rate=1000000000/1h | allow 5 @0":       true,
		"rate=2/1s | allow 3 @0":                false, // never granted
		"rate=2/1ns | allow 1 @0":               false,
		"rate=0/1s | allow 1 @0":                false,
		"rate=2/720h | allow 1 @0":              false,
		"wait=2s | allow 1 @0":                  false,
	} {
		s, err := conformance.ParseSchedule(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := quota.Plain(quotatest.FixedWindow, quotatest.Explicit).Judge(t).Fits(s); got != want {
			t.Errorf("%s: Fits = %v, want %v", text, got, want)
		}
	}
	s, err := conformance.ParseSchedule("rate=1000000000/1h | allow 5 @0")
	if err != nil || quota.Plain(quotatest.SlidingLog, quotatest.Explicit).Judge(t).Fits(s) {
		t.Errorf("a log may have to remember a thousand million events; %v", err)
	}
}

// An implementation is not accused for what it cannot do.
func TestSubsets(t *testing.T) { proof.Subsets(t, quota.Designs()) }

// A limiter that never sees time pass is told so, and no rule accuses it.
func TestCanary_seesThatTimePasses(t *testing.T) {
	synctestcompat.Require(t)
	for _, source := range []conformance.TimeSource{conformance.Injected, conformance.PackageTime} {
		r := quota.Blind(source).Examine(t, inside.Options{})
		canary, _ := r.Verdict("CANARY")
		if n := r.Count(conformance.Fail); n != 1 || !strings.Contains(canary.Text,
			"and none an hour later") {
			t.Errorf("%v: %d rules fail, want CANARY: %s", source, n, canary.Text)
		}
	}
}

// A constructor that wants a burst can make no window: that is said, rather than that its process ended.
func TestCanary_wantsABurst(t *testing.T) {
	spec := quotatest.Spec{Name: "of a burst", Kind: quotatest.FixedWindow, Time: quotatest.Injected}
	spec.New = func(_ quotatest.Env, cfg quotatest.Config) quotatest.Funcs {
		if cfg.Burst < 1 {
			panic("burst must be positive")
		}
		return quotatest.Funcs{Take: func(int) quotatest.Answer { return quotatest.Answer{OK: true} }}
	}
	v, _ := spec.Examine(t, inside.Options{}).Verdict("CANARY")
	if !strings.Contains(v.Text, "an ordinary configuration: burst must be positive") {
		t.Errorf("CANARY is %s: %s", v.Status, v.Text)
	}
}

// A counter that takes what was granted long ago for the window before grants no more than one of 1 again: it sees
// that time passes all the same, and its rule says what is wrong.
func TestCanary_countsWhatIsLongGone(t *testing.T) {
	synctestcompat.Require(t)
	spec := quotatest.Spec{Name: "stale", Kind: quotatest.SlidingCounter, Time: quotatest.Injected}
	spec.New = func(env quotatest.Env, cfg quotatest.Config) quotatest.Funcs {
		var window, before, now int64
		return quotatest.Funcs{Take: func(n int) quotatest.Answer {
			at := env.Clock.Now().UnixNano()
			if w := at / int64(cfg.Window); w != window {
				window, before, now = w, now, 0 // however long ago that was
			}
			left := float64(int64(cfg.Window)-at%int64(cfg.Window)) / float64(cfg.Window)
			if n < 1 || float64(before)*left+float64(now)+float64(n) > float64(cfg.Limit) {
				return quotatest.Answer{}
			}
			now += int64(n)
			return quotatest.Answer{OK: true}
		}}
	}
	r := spec.Examine(t, inside.Options{Until: "SC-N1"})
	canary, _ := r.Verdict("CANARY")
	if v, _ := r.Verdict("SC-N1"); canary.Status != conformance.Pass || v.Status != conformance.Fail {
		t.Errorf("CANARY is %s, want pass; SC-N1 is %s, want fail:\n%s%s", canary.Status, v.Status, canary.Text, v.Text)
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

// Who denies with an error is told of it, but for a configuration that may be refused.
func TestBroken_hasTheError(t *testing.T) {
	spec := quota.Designs()[0].Spec.(quotatest.Spec)
	made := spec.New
	spec.New = func(env quotatest.Env, cfg quotatest.Config) quotatest.Funcs {
		f := made(env, cfg)
		f.Take = func(int) quotatest.Answer { return quotatest.Answer{Err: errors.New("invalid window")} }
		f.TakeAt = func(time.Time, int) quotatest.Answer { return f.Take(1) }
		return f
	}
	v, _ := spec.Examine(t, inside.Options{Unprobed: true, Most: 10, Until: "FW-NOEXTEND"}).Verdict("FW-NOEXTEND")
	if want := `was denied, want granted (its error is "invalid window")`; !strings.Contains(v.Reason, want) {
		t.Errorf("FW-NOEXTEND: %s %q lacks %q", v.Status, v.Reason, want)
	}
	v, _ = spec.Examine(t, inside.Options{Unprobed: true, Most: 10, Until: "X-CFG"}).Verdict("X-CFG")
	if v.Status != conformance.Pass {
		t.Errorf("X-CFG: %s %s", v.Status, v.Reason)
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

// What is answered beside OK is judged as it is observed, and TRAITS asks until it is declared.
func TestTraits_answers(t *testing.T) {
	spec := quota.Plain(quotatest.GCRA, quotatest.Injected)
	short := func(_ string, steps int) bool { return steps <= 3 }
	for _, declared := range []quotatest.Fields{0, quotatest.FieldRemaining} {
		spec.Traits.Fields = declared
		r := spec.Examine(t, inside.Options{Keep: short})
		told, _ := r.Verdict("TRAITS")
		if asked := told.Status == conformance.Undecided; asked != (declared == 0) ||
			asked && !strings.Contains(told.Text, "Fields: quotatest.FieldRetry | quotatest.FieldReset") {
			t.Errorf("Fields: %d declared, TRAITS: %s\n%s", declared, told.Status, told.Text)
		}
		v, _ := r.Verdict("GC-RESET")
		if judged := v.Status == conformance.Pass; judged != (declared == 0) || // what is observed is assumed
			!judged && v.Reason != "quotatest.FieldReset is not declared" {
			t.Errorf("Fields: %d declared, GC-RESET: %s %q", declared, v.Status, v.Reason)
		}
		if v, _ := r.Verdict("GC-TAT"); declared == 0 && v.Status != conformance.Pass {
			t.Errorf("GC-TAT, which needs no answers: %s %s", v.Status, v.Reason)
		}
	}
}
