package concurrencytest_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/concurrencytest"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/internal/prove"
	"github.com/escapement-go/escapement/internal/zoo/concurrency"
	"github.com/escapement-go/escapement/synctestcompat"
)

// Without declared traits only TRAITS fails, and prints what was observed.
func TestTraits_undeclared(t *testing.T) {
	synctestcompat.Require(t)
	for _, name := range []string{
		"zoo queue:  Injected", "zoo channel Injected", "zoo tokens Injected", "zoo seats Injected",
		"zoo gate before a handler Injected",
	} {
		spec := design(t, name)
		var lines []string
		spec.Examine(t, inside.Options{Observed: func(choice string, _, declared int, values []string) {
			if declared > 0 {
				lines = append(lines, fmt.Sprintf("%s: concurrencytest.%s, // observed", choice, values[declared-1]))
			}
		}})
		spec.Traits = concurrencytest.Traits{Single: spec.Traits.Single}
		if create := spec.New; strings.HasPrefix(name, "zoo gate") { // it takes what it is given, and lets nothing wait
			spec.New = func(env concurrencytest.Env, cfg concurrencytest.Config) concurrencytest.Funcs {
				cfg.Backlog, cfg.Timeout = 0, -1
				return create(env, cfg)
			}
		}
		r := spec.Examine(t, inside.Options{})
		for _, v := range r.Verdicts {
			if (v.Status == conformance.Fail) != (v.Rule == "TRAITS") {
				t.Errorf("%s: %s: %s\n%s", name, v.Rule, v.Status, v.Text)
			}
		}
		v, _ := r.Verdict("TRAITS")
		for _, line := range lines {
			if !strings.Contains(v.Text, line) {
				t.Errorf("%s: TRAITS does not say %q:\n%s", name, line, v.Text)
			}
		}
	}
}

// design is the correct design of that name.
func design(t *testing.T, name string) concurrencytest.Spec {
	t.Helper()
	for _, d := range concurrency.Designs() {
		if d.Name == name {
			return d.Spec.(concurrencytest.Spec)
		}
	}
	t.Fatalf("there is no design %q", name)
	return concurrencytest.Spec{}
}

// A limiter that knows no weights is told so, and not that it lets too many run.
func TestHint_single(t *testing.T) {
	synctestcompat.Require(t)
	spec := design(t, "zoo channel Injected")
	spec.Traits.Single, spec.Traits.Oversize = false, concurrencytest.OversizeBlocks
	r := spec.Examine(t, inside.Options{Until: "CT-LIMIT", Unprobed: true})
	if v, _ := r.Verdict("CT-LIMIT"); !strings.Contains(v.Text, "declare Single: true") {
		t.Errorf("CT-LIMIT does not offer Single:\n%s", v.Text)
	}
}

// As long as one trait is undeclared, its rules are skipped and no other accuses.
func TestTraits_oneUndeclared(t *testing.T) {
	synctestcompat.Require(t)
	most := prove.Number(2, 2, 4, 9)
	o := inside.Options{Unprobed: true, Keep: func(_ string, steps int) bool { return steps <= most }}
	for _, name := range []string{"zoo queue:  Injected", "zoo condition Injected", "zoo seats Injected"} {
		spec := design(t, name)
		all := reflect.ValueOf(&spec.Traits).Elem()
		for i := range all.NumField() {
			declared := reflect.ValueOf(all.Field(i).Interface())
			all.Field(i).SetZero()
			for _, v := range spec.Examine(t, o).Verdicts {
				if v.Status == conformance.Fail && v.Rule != "TRAITS" {
					t.Errorf("%s without %s: %s\n%s", name, all.Type().Field(i).Name, v.Rule, v.Text)
				}
			}
			all.Field(i).Set(declared)
		}
	}
}

// A semaphore of which nobody can wait for a slot was not judged in what it is for: its test is skipped, not passed.
func TestLacks_acquire(t *testing.T) {
	synctestcompat.Require(t)
	skipped := false
	t.Run("it", func(t *testing.T) {
		defer func() { skipped = t.Skipped() }()
		concurrencytest.Run(t, concurrencytest.Spec{
			Name: "a channel of slots", Time: concurrencytest.Injected,
			New: func(_ concurrencytest.Env, cfg concurrencytest.Config) concurrencytest.Funcs {
				if cfg.Limit < 1 {
					panic("a channel of slots: want a limit of at least 1")
				}
				slots := make(chan struct{}, cfg.Limit)
				return concurrencytest.Funcs{
					TryAcquire: func(int) bool {
						select {
						case slots <- struct{}{}:
							return true
						default:
							return false
						}
					},
					Release: func(int) { <-slots },
				}
			},
			Traits: concurrencytest.Traits{
				Single: true, OverRelease: concurrencytest.OverReleaseUndefined,
				Backlog: concurrencytest.BacklogNone, Hook: concurrencytest.HookNone, // as TRAITS prints them
			},
		})
	})
	if !skipped {
		t.Error("acquire was never run, and the test is not skipped")
	}
}
