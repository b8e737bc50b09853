package properties

import (
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/internal/stackmark"
	"github.com/escapement-go/escapement/internal/twins"
)

// Check draws schedules for an implementation, runs each on a fresh instance and judges it
// by the rules of its contract. Where the toolchain cannot run the implementation it skips
// the test.
//
// A rule that is listed in KnownFailing does not fail the check, and the rules of an
// undeclared trait are not judged. A failure prints the smallest schedule that rapid
// found, and the line that replays it.
func Check(t *testing.T, spec conformance.Spec) {
	t.Helper()
	j := spec.Judge(t)
	CheckWith(t, j, Schedules(j))
}

// Schedules draws what [Check] runs: steps in bursts, after long idles, at deadlines and one
// nanosecond either side of them, and whatever else the implementation can do between
// them, in the configurations that it declares.
func Schedules(j conformance.Judge) *rapid.Generator[conformance.Schedule] {
	return rapid.Custom(func(t *rapid.T) conformance.Schedule { return j.(twins.Judge).Draw(picker(t)) })
}

// picker lets rapid choose, the plainest as it makes a failing test smaller.
func picker(t *rapid.T) func(label string, n int) int {
	return func(label string, n int) int { return rapid.IntRange(0, n-1).Draw(t, label) }
}

// CheckWith draws schedules from a generator and has them judged. [Check] uses it; it is
// exported for your own generators.
//
// With ESCAPEMENT_SCHEDULE set it runs that schedule and no other, as the replay line of a
// failure says.
func CheckWith(t rapid.TB, j conformance.Judge, schedules *rapid.Generator[conformance.Schedule]) {
	t.Helper()
	if text := os.Getenv("ESCAPEMENT_SCHEDULE"); text != "" {
		s, err := conformance.ParseSchedule(text)
		if err != nil {
			t.Fatalf("properties: ESCAPEMENT_SCHEDULE: %v", err)
		}
		for _, v := range j.Run(s) {
			t.Error("\n" + v.Text())
		}
		return
	}
	h := hunt{judge: j}
	defer h.reduce(t)
	rapid.Check(t, func(rt *rapid.T) {
		if v := h.try(schedules.Draw(rt, "schedule")); v != nil {
			stackmark.Call(stackmark.Of(v.Rule), func() {
				rt.Log(whole(v.Text))
				rt.Fatalf("%s: %s", v.Rule, v.Headline)
			})
		}
	})
}

// hunt follows one rule: while rapid makes its schedule smaller, other rules that break on
// the way do not take over.
type hunt struct {
	judge    conformance.Judge
	rule     string
	schedule conformance.Schedule
}

// whole is the text of a violation, which is not worked out unless it is printed: rapid prints the last of
// the hundreds of attempts that make a schedule smaller.
type whole func() string

func (text whole) String() string { return "\n" + text() }

// try judges one schedule.
func (h *hunt) try(s conformance.Schedule) *conformance.Violation {
	found := h.judge.Run(s)
	if len(found) == 0 {
		return nil
	}
	i := slices.IndexFunc(found, func(v conformance.Violation) bool { return v.Rule == h.rule })
	switch {
	case h.rule == "":
		i, h.rule, h.schedule = 0, found[0].Rule, s
	case i >= 0:
		h.schedule = s
	default:
		i = 0
	}
	return &found[i]
}

// reduce prints a smaller schedule than rapid's, if there is one.
func (h *hunt) reduce(t rapid.TB) {
	t.Helper()
	if h.rule == "" {
		return
	}
	small := h.judge.Smallest(h.schedule, h.rule)
	if small.String() == h.schedule.String() {
		return
	}
	for _, v := range h.judge.Run(small) {
		if v.Rule == h.rule {
			t.Log("a smaller schedule breaks the rule as well:\n" + v.Text())
		}
	}
}
