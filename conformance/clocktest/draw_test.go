package clocktest_test

import (
	"math/rand/v2"
	"testing"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/clocktest"
	"github.com/escapement-go/escapement/internal/twins"
	"github.com/escapement-go/escapement/internal/verb"
	"github.com/escapement-go/escapement/internal/zoo/clock"
	"github.com/escapement-go/escapement/synctestcompat"
)

// Drawn programs fit, their text form reads back as the same schedule, and correct clocks
// break no rule on them.
func TestDraw(t *testing.T) {
	synctestcompat.Require(t)
	n := 300
	if testing.Short() {
		n = 50
	}
	for _, d := range clock.Designs() {
		t.Run(d.Name, func(t *testing.T) {
			e := d.Spec.Judge(t).(twins.Judge)
			for seed := range uint64(n) {
				s := e.Draw(fair(seed))
				if again, err := conformance.ParseSchedule(s.String()); err != nil || again.String() != s.String() {
					t.Fatalf("ParseSchedule(%q) = %q, %v", s, again, err)
				}
				if !e.Fits(s) {
					t.Fatalf("Fits(%q) = false", s)
				}
				for _, v := range e.Run(s) {
					t.Fatal(v.Text())
				}
			}
		})
	}
}

// fair picks all numbers with the same probability.
func fair(seed uint64) func(string, int) int {
	rng := rand.New(rand.NewPCG(seed, 1))
	return func(_ string, n int) int { return rng.IntN(n) }
}

// A program of nothing but the first choices, or the last, ends and is short.
func TestDraw_extremes(t *testing.T) {
	synctestcompat.Require(t)
	for _, d := range clock.Designs() {
		e := d.Spec.Judge(t).(twins.Judge)
		s := e.Draw(func(string, int) int { return 0 })
		if len(s.Steps) != 1 || s.Steps[0].Op != verb.Timer && s.Steps[0].Op != verb.After {
			t.Errorf("%s: the plainest program is %q, want one timer", d.Name, s)
		}
		if s := e.Draw(func(_ string, n int) int { return n - 1 }); !e.Fits(s) {
			t.Errorf("%s: the oddest program does not fit: %q", d.Name, s)
		}
	}
}

// Drawn programs catch the mutants that the fixed ones catch, and their findings are made
// small.
func TestDraw_findsMutants(t *testing.T) {
	synctestcompat.Require(t)
	if testing.Short() {
		t.Skip("-short: what the fixed programs find is enough")
	}
	for _, m := range clock.Mutants() {
		if m.Hangs || m.Rule != "CK-DIFF" && m.Rule != "CK-CHAIN" && m.Rule != "CK-TICKSTOP" {
			continue
		}
		if m.Name == "a tick that was dropped a nanosecond ago comes after all" {
			continue // programs draw nothing that near to a tick
		}
		e := m.Spec.Judge(t).(twins.Judge)
		found := false
		for seed := uint64(0); seed < 1000 && !found; seed++ {
			s := e.Draw(fair(seed))
			if len(e.Run(s)) == 0 {
				continue
			}
			found = true
			if small := e.Smallest(s, "CK-DIFF"); len(small.Steps) > 9 {
				t.Errorf("%s: Smallest leaves %d of %d steps: %s", m.Name, len(small.Steps), len(s.Steps), small)
			}
		}
		if !found {
			t.Errorf("%s: no drawn program shows it", m.Name)
		}
	}
}

// Schedules that take long do not fit.
func TestFits(t *testing.T) {
	synctestcompat.Require(t)
	e := clock.Designs()[0].Spec.Judge(t).(twins.Judge)
	for text, want := range map[string]bool{
		"timer 1 1s @0 | halt 1 @500ms | read 1 @2s":   true,
		"afterfunc 1 1s @0 | timer 2 1s @f1 | idle 5s": true,
		"ticker 1 0 @0":                                     true,
		"wait=1s | timer 1 1s @0":                           false,
		"timer 1 1s @0~":                                    false,
		"timer 1 1s @1s | now @0":                           false,
		"timer 0 1s @0":                                     false,
		"ticker 1 1ns @0 | now @1h":                         false,
		"ticker 1 1h @0 | rearm 1 1ns @0 | now @1h":         false,
		"sleep 1 2562047h @0":                               false,
		"call 1 @0":                                         false,
		"timer 1 1s @0 | now @2562047h":                     false,
		"timeout 1 1s @0 | timeout 2 1s 1 @0 | cancel 1 @0": true,
	} {
		s, err := conformance.ParseSchedule(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Fits(s); got != want {
			t.Errorf("Fits(%q) = %v, want %v", text, got, want)
		}
	}
}

var _ conformance.Spec = clocktest.Spec{}
