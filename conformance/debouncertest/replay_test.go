package debouncertest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/debouncertest"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/synctestcompat"
)

// sometimes is a debouncer of which every second one fires a little late, as if chance decided.
func sometimes() debouncertest.Spec {
	made := 0
	return debouncertest.Spec{
		Name: "sometimes", Time: debouncertest.Injected, Traits: debouncertest.Lodash(),
		New: func(env debouncertest.Env, cfg debouncertest.Config, fire func(int)) debouncertest.Funcs {
			made++
			late := time.Duration(made % 2)
			return debouncertest.Funcs{Call: func(n int) { env.Clock.AfterFunc(cfg.Wait+late, func() { fire(n) }) }}
		},
	}
}

// A replay runs a schedule several times, so that it shows what one run shows by chance, and the failure says that.
func TestReplay_byChance(t *testing.T) {
	synctestcompat.Require(t)
	t.Setenv("ESCAPEMENT_SCHEDULE", "wait=100ms | call 1 @0")
	v, _ := sometimes().Examine(t, inside.Options{}).Verdict("DB-EXACT")
	if v.Status != conformance.Fail || !strings.Contains(v.Text, "note: not every run of this schedule shows it") {
		t.Errorf("%s %s", v.Status, v.Text)
	}
}
