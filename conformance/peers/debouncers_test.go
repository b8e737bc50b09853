package peers

import (
	"testing"

	bep "github.com/bep/debounce"
	"github.com/escapement-go/escapement/conformance/debouncertest"
	romdo "github.com/romdo/go-debounce"
	"github.com/samber/lo"
)

// debouncers are what TestPeers and TestProperties judge, by the names of their subtests.
func debouncers() []peer[debouncertest.Spec] {
	return []peer[debouncertest.Spec]{
		{"BepDebounce", bepDebounce()}, {"LoDebounce", loDebounce()}, {"RomdoDebounce", romdoDebounce()},
	}
}

// bepDebounce has no cancel and no stop. A callback that carries its value stands for the
// payload: "The debounced function can be invoked with different functions, if needed, the
// last one will win." Of the rest the docs say only that the function "will be called when
// the debounced function stops being called for the given duration". The preset is read
// from the source: whichever of timer and call comes first wins a tie; the result of
// Timer.Stop is ignored, see TestPeers_stricter; a wait of 0 is an AfterFunc of 0; each fire
// is a timer's own goroutine.
func bepDebounce() debouncertest.Spec {
	return debouncertest.Spec{
		Name: "bep/debounce v1.2.1",
		Time: debouncertest.PackageTime,
		New: func(_ debouncertest.Env, cfg debouncertest.Config, fire func(int)) debouncertest.Funcs {
			debounced := bep.New(cfg.Wait)
			return debouncertest.Funcs{Call: func(v int) { debounced(func() { fire(v) }) }}
		},
		Traits: debouncertest.BepDebounce(),
	}
}

// loDebounce delays "invoking functions given until after wait milliseconds have elapsed,
// until cancel is called", says the README: so cancel is final. The functions take no
// argument. The rest of the preset is read from the source: the callback does not look
// whether it was cancelled.
func loDebounce() debouncertest.Spec {
	return debouncertest.Spec{
		Name: "samber/lo v1.53.0 NewDebounce",
		Time: debouncertest.PackageTime,
		New: func(_ debouncertest.Env, cfg debouncertest.Config, fire func(int)) debouncertest.Funcs {
			debounced, cancel := lo.NewDebounce(cfg.Wait, func() { fire(0) })
			return debouncertest.Funcs{Call: func(int) { debounced() }, Cancel: cancel}
		},
		Traits: debouncertest.LoDebounce(),
	}
}

// romdoDebounce "delays invoking f until after wait time has elapsed since the last time the
// debounced function was invoked", at most for maxWait; "both debounced and cancel functions
// are safe for concurrent use", and f "may be invoked again before the previous invocation
// completes".
func romdoDebounce() debouncertest.Spec {
	tr := debouncertest.LoDebounce()
	tr.AfterCancel = debouncertest.CancelReusable // source
	tr.MaxWait = debouncertest.MaxWaitFromFirst   // "the maximum time f is allowed to be delayed"
	return debouncertest.Spec{
		Name: "romdo/go-debounce v0.1.0",
		Time: debouncertest.PackageTime,
		New: func(_ debouncertest.Env, cfg debouncertest.Config, fire func(int)) debouncertest.Funcs {
			debounced, cancel := romdo.New(cfg.Wait, func() { fire(0) })
			if cfg.MaxWait > 0 {
				debounced, cancel = romdo.NewWithMaxWait(cfg.Wait, cfg.MaxWait, func() { fire(0) })
			}
			return debouncertest.Funcs{Call: func(int) { debounced() }, Cancel: cancel}
		},
		Traits:       tr,
		KnownFailing: []debouncertest.Known{romdoTail},
	}
}

// romdoTail is shown by the library alone in reproductions_test.go.
var romdoTail = debouncertest.Known{
	Rule: "DB-MAXTAIL", Schedule: "wait=100ms maxwait=250ms | call 1 @0 | call 2 @100ms~",
	Why: "a timer that has expired when a call comes runs f for that call at once, and not a wait after it; " +
		"the docs promise the wait",
}

// TestPeers_stricter shows what the debouncers would be told if they promised more than
// their docs do: that a newer call supersedes a callback that has not started, and that
// none starts once cancel has returned. The rules are extended ones, in force only where
// the promise is made, so this is no verdict on the libraries.
func TestPeers_stricter(t *testing.T) {
	const why = "a timer that has expired cannot be stopped, and its callback does not look back"
	stale := debouncertest.Known{Rule: "DB-NOSTALE", Schedule: "wait=100ms | call 1 @0 | call 2 @100ms~", Why: why}
	late := debouncertest.Known{Rule: "DB-CANCELBAR", Schedule: "wait=100ms | call 1 @0 | cancel @100ms~", Why: why}
	t.Run("BepDebounce", func(t *testing.T) {
		spec := bepDebounce()
		spec.Name += ", stricter"
		spec.Traits.StaleFire = debouncertest.StaleForbidden
		spec.KnownFailing = []debouncertest.Known{stale}
		debouncertest.Run(t, spec)
	})
	t.Run("LoDebounce", func(t *testing.T) {
		spec := loDebounce()
		spec.Name += ", stricter"
		spec.Traits.StaleFire = debouncertest.StaleForbidden
		spec.Traits.CancelBarrier = debouncertest.FinishBarrier
		spec.KnownFailing = []debouncertest.Known{stale, late}
		debouncertest.Run(t, spec)
	})
}
