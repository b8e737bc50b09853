package concurrencytest_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/concurrencytest"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/internal/prove"
	"github.com/escapement-go/escapement/internal/zoo"
	"github.com/escapement-go/escapement/internal/zoo/concurrency"
	"github.com/escapement-go/escapement/synctestcompat"
)

// Who declares nothing is asked about what takes rules out of force, with what was seen.
func TestTraits_decisions(t *testing.T) {
	synctestcompat.Require(t)
	onlyTries := design(t, "zoo queue:  Injected") // it can wait, and the spec does not say how
	create := onlyTries.New
	onlyTries.New = func(env concurrencytest.Env, cfg concurrencytest.Config) concurrencytest.Funcs {
		f := create(env, cfg)
		return concurrencytest.Funcs{TryAcquire: f.TryAcquire, Release: f.Release}
	}
	for _, c := range []struct {
		spec                   conformance.Spec
		trait, value, rule, on string
		words                  string
	}{
		{mutant(t, "looks at the context only while it waits"), "Context", "ContextEndsWait", "CT-CTXPRE",
			"limit=1 backlog=5 timeout=1h | cancel 1 @0 | acquire 1 @0", "only if your documentation says so"},
		{mutant(t, "a release too many raises the limit"), "OverRelease", "OverReleaseUndefined", "CT-OVERREL",
			"limit=1 backlog=1 timeout=1h | acquire 1 @0 | release 1 @0 | release 9 @0", "runs at 0, want it to wait"},
		{onlyTries, "Backlog", "BacklogNone", "CT-REJECT",
			"limit=1 backlog=3 timeout=1h | acquire 1 @0 | acquire 2 @0", "set Acquire, Take, Lock or Do"},
	} {
		spec := reflect.New(reflect.TypeOf(c.spec)).Elem()
		spec.Set(reflect.ValueOf(c.spec))
		spec.FieldByName("Traits").SetZero()
		r := spec.Interface().(conformance.Spec).Examine(t, inside.Options{Unprobed: true, Most: 200})
		i := slices.IndexFunc(r.Decisions, func(d conformance.Decision) bool { return d.Trait == c.trait })
		if i < 0 {
			t.Errorf("no decision is asked about %s, of %d", c.trait, len(r.Decisions))
			continue
		}
		d := r.Decisions[i]
		if want := "concurrencytest." + c.value; d.Value != want || d.Rule != c.rule || d.Schedule != c.on ||
			!strings.Contains(d.Text, c.words) || strings.Contains(d.Text, " is declared") {
			t.Errorf("decision %s: %s by %s on %s, want %s by %s on %s, with %q, and nothing declared:\n%s",
				c.trait, d.Value, d.Rule, d.Schedule, want, c.rule, c.on, c.words, d.Text)
		}
		for _, v := range r.Verdicts {
			if v.Status == conformance.Fail {
				t.Errorf("%s fails beside the decision about %s:\n%s", v.Rule, c.trait, v.Text)
			}
		}
	}
}

// mutant is the mutant of that name.
func mutant(t *testing.T, name string) conformance.Spec {
	t.Helper()
	all := concurrency.Mutants()
	i := slices.IndexFunc(all, func(m zoo.Mutant) bool { return m.Name == name })
	return all[i].Spec
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
	spec.Traits.OneAtATime, spec.Traits.Oversize = false, concurrencytest.OversizeBlocks
	r := spec.Examine(t, inside.Options{Until: "CT-LIMIT", Unprobed: true})
	if v, _ := r.Verdict("CT-LIMIT"); !strings.Contains(v.Text, "declare OneAtATime: true") {
		t.Errorf("CT-LIMIT does not offer OneAtATime:\n%s", v.Text)
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
				if v.Status == conformance.Fail {
					t.Errorf("%s without %s: %s\n%s", name, all.Type().Field(i).Name, v.Rule, v.Text)
				}
			}
			all.Field(i).Set(declared)
		}
	}
}

// A semaphore of which nobody can wait for a slot is judged in full if that is declared.
func TestLacks_nothingWaits(t *testing.T) {
	synctestcompat.Require(t)
	t.Run("it", func(t *testing.T) {
		r := concurrencytest.Run(t, concurrencytest.Spec{
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
				OneAtATime: true, OverRelease: concurrencytest.OverReleaseUndefined,
				Backlog: concurrencytest.BacklogNone, Hook: concurrencytest.HookNone, // as TRAITS prints them
			},
		})
		if r.Partial != "" {
			t.Errorf("the verdict on what declares that nothing waits is partial: %s", r.Partial)
		}
	})
}
