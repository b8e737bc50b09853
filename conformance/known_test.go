package conformance

import "testing"

// A known failure that chance hides once is looked for again; one that is gone is
// reported.
func TestKnown_isLookedForAgain(t *testing.T) {
	const schedule = "wait=100ms | call 1 @0"
	t.Setenv("ESCAPEMENT_SCHEDULE", schedule) // no others, which would be counted too
	made, broken := 0, func(int) bool { return false }
	spec := zooDebouncerSpec("", Injected)
	right := spec.New
	spec.New = func(env Env, cfg DebounceConfig, fire func(int)) DebouncerFuncs {
		if made++; broken(made) {
			return DebouncerFuncs{Call: func(int) {}}
		}
		return right(env, cfg, fire)
	}
	verdict := func() Verdict {
		made = 0
		v, _ := debouncerContract(t, spec).evaluate().Verdict("DB-LIVE")
		return v
	}
	if v := verdict(); v.Status != Pass {
		t.Fatalf("an honest debouncer: DB-LIVE is %s: %s", v.Status, v.Text)
	}
	explored := made
	spec.KnownFailing = []Known{{Rule: "DB-LIVE", Schedule: schedule, Why: "every seventh is lost, from some time on"}}
	if v := verdict(); v.Status != Fail {
		t.Errorf("listed, but it passes: DB-LIVE is %s, want fail", v.Status)
	}
	broken = func(made int) bool { return made > explored && made%7 == 0 }
	if v := verdict(); v.Status != KnownFail {
		t.Errorf("listed, and it fails at times: DB-LIVE is %s, want known failing: %s", v.Status, v.Text)
	}
}
