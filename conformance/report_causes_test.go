package conformance

import (
	"strings"
	"testing"
)

// What fails is grouped by schedule and by headline; then comes what is to be decided; what could not be judged comes
// last, by its reason.
func TestReport_ByCause(t *testing.T) {
	failed := func(rule, headline, schedule string) Verdict {
		return Verdict{Rule: rule, Level: Core, Status: Fail, Reason: headline, Schedule: schedule}
	}
	open := func(rule, why, text string) Verdict {
		return Verdict{Rule: rule, Level: Extended, Status: Inconclusive, Reason: why, Text: text}
	}
	r := &Report{Verdicts: []Verdict{
		open("HANGS", "Call has not come back", "HANGS: could not be judged"),
		{Rule: "TRAITS", Level: Core, Status: Undecided, Reason: "undeclared", Text: "TRAITS: undeclared"},
		{Rule: "WAITS", Level: Core, Status: Undecided, Reason: "it depends on a decision about Tie"},
		failed("KEY", "key 1: fired at 100ms, want 101ms", "call 1 1 @0"),
		failed("PLAIN", "fired at 100ms, want 101ms", "call 1 @0"),
		failed("AFTER", "after the panic of a callback: fired at 100ms, want 101ms", ""),
		failed("SAME", "fired early", "call 1 @0"),
		failed("OTHER", "fired at 100ms, want 102ms", "call 2 @0"),
		failed("SERIAL", "a callback started at 220ms while another ran", ""),
		failed("ISO", "key 2: a callback started at 1.5s while another ran", ""),
		failed("PANIC", "Flush panicked: index out of range", ""),
		failed("BOUND", "Call(1) panicked: index out of range", ""),
		{Rule: "HOLDS", Status: Pass},
		{Rule: "LATER", Level: Provisional, Status: Fail, Reason: "fired early"},
		open("LISTED", "Call has not come back", ""),
		open("ALSO", "Call has not come back", "ALSO: could not be judged"),
	}}
	var got []string
	for _, c := range r.ByCause([]string{"PLAIN"}) {
		got = append(got, string(c.Status)+" "+strings.Join(c.Rules, " "))
	}
	want := "fail PLAIN KEY AFTER SAME; fail OTHER; fail SERIAL ISO; fail PANIC BOUND; undecided TRAITS; " +
		"inconclusive HANGS ALSO"
	if text := strings.Join(got, "; "); text != want {
		t.Errorf("ByCause = %s, want %s", text, want)
	}
}
