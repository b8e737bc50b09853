package properties

import (
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/internal/stackmark"
)

// CheckDebouncer draws schedules for a debouncer, runs each on a fresh instance and
// judges it by the rules of [conformance.RunDebouncer]. Where the toolchain cannot run
// the implementation it skips the test.
//
// A rule that is listed in KnownFailing does not fail the check, and the rules of an
// undeclared trait are not judged. A failure prints the smallest schedule that rapid
// found, and the line that replays it.
func CheckDebouncer(t *testing.T, spec conformance.DebouncerSpec) {
	t.Helper()
	j := conformance.JudgeDebouncer(t, spec)
	Check(t, j, Debouncers(j, spec))
}

// CheckThrottle is [CheckDebouncer] for a throttle and [conformance.RunThrottle].
func CheckThrottle(t *testing.T, spec conformance.ThrottleSpec) {
	t.Helper()
	j := conformance.JudgeThrottle(t, spec)
	Check(t, j, Throttles(j, spec))
}

// CheckLimiter is [CheckDebouncer] for a rate limiter and [conformance.RunLimiter].
func CheckLimiter(t *testing.T, spec conformance.LimiterSpec) {
	t.Helper()
	j := conformance.JudgeLimiter(t, spec)
	Check(t, j, Limiters(j, spec))
}

// CheckConcurrency is [CheckDebouncer] for a concurrency limiter and
// [conformance.RunConcurrency]. Where there are no bubbles it skips the test.
func CheckConcurrency(t *testing.T, spec conformance.ConcurrencySpec) {
	t.Helper()
	j := conformance.JudgeConcurrency(t, spec)
	Check(t, j, Concurrencies(j, spec))
}

// CheckLeakyBucket is [CheckDebouncer] for a leaky bucket and [conformance.RunLeakyBucket].
func CheckLeakyBucket(t *testing.T, spec conformance.LeakyBucketSpec) {
	t.Helper()
	j := conformance.JudgeLeakyBucket(t, spec)
	Check(t, j, LeakyBuckets(j, spec))
}

// CheckQuota is [CheckDebouncer] for a quota, of any kind, and [conformance.RunQuota].
func CheckQuota(t *testing.T, spec conformance.QuotaSpec) {
	t.Helper()
	j := conformance.JudgeQuota(t, spec)
	Check(t, j, Quotas(j, spec))
}

// CheckClock is [CheckDebouncer] for a fake clock and [conformance.RunClock]: programs
// run on the clock and on package time, which must show the same.
func CheckClock(t *testing.T, spec conformance.ClockSpec) {
	t.Helper()
	j := conformance.JudgeClock(t, spec)
	Check(t, j, Clocks(j))
}

// Check draws schedules from a generator and has them judged. The checks of the
// contracts are made of it; it is exported for generators of one's own.
//
// With ESCAPEMENT_SCHEDULE set it runs that schedule and no other, as the replay line
// of a failure says.
func Check(t rapid.TB, j *conformance.Judge, schedules *rapid.Generator[conformance.Schedule]) {
	t.Helper()
	if text := os.Getenv("ESCAPEMENT_SCHEDULE"); text != "" {
		s, err := conformance.ParseSchedule(text)
		if err != nil {
			t.Fatalf("properties: ESCAPEMENT_SCHEDULE: %v", err)
		}
		for _, v := range j.Run(s) {
			t.Error("\n" + v.Text)
		}
		return
	}
	h := hunt{judge: j}
	defer func() {
		if h.rule == "" {
			return
		}
		if small := j.Smallest(h.schedule, h.rule); small.String() != h.schedule.String() {
			for _, v := range j.Run(small) {
				if v.Rule == h.rule {
					t.Log("a smaller schedule breaks the rule as well:\n" + v.Text)
				}
			}
		}
	}()
	rapid.Check(t, func(rt *rapid.T) {
		if v := h.try(schedules.Draw(rt, "schedule")); v != nil {
			stackmark.Call(stackmark.Of(v.Rule), func() { rt.Fatal("\n" + v.Text) })
		}
	})
}

// hunt follows one rule: while rapid makes its schedule smaller, other rules that break
// on the way do not take over.
type hunt struct {
	judge    *conformance.Judge
	rule     string
	schedule conformance.Schedule
}

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
