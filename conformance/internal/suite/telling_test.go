package suite

import (
	"slices"
	"testing"

	"github.com/escapement-go/escapement/conformance"
)

// What judges schedules tells more than what lets calls meet, and what is about one thing more than what
// is about any, however small the schedules that stand for these.
func TestTelling(t *testing.T) {
	failing := func(rule, schedule string, judged int) conformance.Verdict {
		return conformance.Verdict{Rule: rule, Level: conformance.Core, Status: conformance.Fail,
			Schedule: schedule, Judged: judged}
	}
	r := &conformance.Report{Verdicts: []conformance.Verdict{
		{Rule: "CANARY"}, {Rule: "TRAITS"},
		failing("meet", "call 1 @0", 1),
		failing("long", "call 1 @0 | call 2 @1s | call 3 @2s", 7),
		failing("any", "call 1 @0", 9),
		failing("often", "call 1 @0 | call 2 @1s", 9),
		failing("seldom", "call 1 @0 | call 2 @1s", 2),
		{Rule: "passes", Status: conformance.Pass},
	}}
	cause, also := telling(r, func(rule string) int { return map[string]int{"any": 1, "meet": 2}[rule] })
	if want := []string{"often", "long", "any", "meet"}; cause != "seldom" || !slices.Equal(also, want) {
		t.Errorf("telling = %q, %q, want seldom, %q", cause, also, want)
	}
}

// What a plain configuration shows tells more than what a corner does, in however few steps.
func TestTelling_plainFirst(t *testing.T) {
	r := &conformance.Report{Verdicts: []conformance.Verdict{{Rule: "CANARY"}, {Rule: "TRAITS"}}}
	for rule, schedule := range map[string]string{
		"plain": "wait=100ms | call 1 @0 | call 2 @100.000001ms",
		"zero":  "wait=0 | call 1 @0", "short": "wait=100ms maxwait=1ns | call 1 @0",
		"epoch": "wait=100ms epoch=1970-01-01T00:00:00Z | call 1 @0", "infinite": "rate=inf burst=1 | allow 1 @0",
		"long": "wait=2500000h | call 1 @0",
		"key":  "wait=100ms | call 1 1 @0 | call 2 1 @1ns", "set": "wait=100ms | call 1 @0 | wall 1s @1ns",
		"inside": "wait=100ms inside=call | call 1 @0", "panics": "wait=100ms panics=1 | call 1 @0",
	} {
		r.Verdicts = append(r.Verdicts, conformance.Verdict{Rule: rule, Level: conformance.Core,
			Status: conformance.Fail, Schedule: schedule, Judged: 1})
	}
	if cause, _ := telling(r, func(string) int { return 0 }); cause != "plain" {
		t.Errorf("telling = %q, want plain", cause)
	}
}

// A negative time is refused or means 0: what both show is told for 0.
func TestTelling_zeroBeforeNegative(t *testing.T) {
	r := &conformance.Report{Verdicts: []conformance.Verdict{{Rule: "CANARY"}, {Rule: "TRAITS"}}}
	for rule, schedule := range map[string]string{"negative": "wait=-1ns | call 1 @0", "zero": "wait=0 | call 1 @0"} {
		r.Verdicts = append(r.Verdicts, conformance.Verdict{Rule: rule, Level: conformance.Core,
			Status: conformance.Fail, Schedule: schedule})
	}
	if cause, _ := telling(r, func(string) int { return 0 }); cause != "zero" {
		t.Errorf("telling = %q, want zero", cause)
	}
}

// A lane of what is wanted is drawn only where it differs at the instant that the headline tells of.
func TestCompared(t *testing.T) {
	lane := func(name string, texts ...string) Lane {
		l := Lane{Name: name, Marks: []Mark{{Text: "y"}}}
		for _, text := range texts {
			l.Marks = append(l.Marks, Mark{At: 1, Text: text})
		}
		return l
	}
	for _, k := range []struct {
		want, got []string
		drawn     bool
	}{
		{[]string{"y"}, []string{"n"}, true},
		{[]string{"y", "n"}, []string{"y", "y"}, true},
		{[]string{"F1"}, nil, true},
		{nil, nil, false},
		{[]string{"y"}, []string{"y"}, false},
		{[]string{"?"}, []string{"n"}, false},
	} {
		drawn := len(compared([]Lane{lane("want", k.want...), lane("got", k.got...)}, 1)) == 2
		if drawn != k.drawn {
			t.Errorf("compared with %q wanted and %q got: drawn %t, want %t", k.want, k.got, drawn, k.drawn)
		}
	}
}
