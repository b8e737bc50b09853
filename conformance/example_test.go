package conformance_test

import (
	"fmt"

	"github.com/escapement-go/escapement/conformance"
)

// A schedule is read from the text that a failure prints.
func ExampleParseSchedule() {
	s, err := conformance.ParseSchedule("wait=100ms | call 1 @0 | call 2 @99.999999ms | cancel @150ms~ | idle 1s")
	fmt.Println(s, err)
	for _, step := range s.Steps {
		fmt.Println(step.Op, step.N, step.At, step.Racing)
	}
	// Output:
	// wait=100ms | call 1 @0 | call 2 @99.999999ms | cancel @150ms~ | idle 1s <nil>
	// call 1 0s false
	// call 2 99.999999ms false
	// cancel 0 150ms true
	// idle 0 1.15s false
}

// A rate is an exact fraction; implementations take it as they need it.
func ExampleRate() {
	r := conformance.Rate{Events: 3, Per: 1e9}
	fmt.Println(r, r.PerSecond(), r.Interval(), r.Exact())
	// Output: 3/1s 3 333.333333ms false
}

// Reports of several implementations, side by side.
func ExampleTable() {
	mine := &conformance.Report{
		Name: "mine", Contract: "limiter", Time: "Injected", Schedules: 2, Runs: 3,
		Verdicts: []conformance.Verdict{
			{Rule: "RL-ENV", Status: conformance.Pass},
			{Rule: "RL-WORK", Status: conformance.Fail, Schedule: "rate=1/1s burst=1 | allow 1 @0",
				Reason: "allow 1 at 0 was denied, want granted"},
		},
	}
	theirs := &conformance.Report{
		Name: "theirs", Contract: "limiter", Time: "PackageTime", Schedules: 1, Runs: 1,
		Partial: "one schedule only",
		Verdicts: []conformance.Verdict{
			{Rule: "RL-ENV", Status: conformance.KnownFail, Reason: "issue 7"},
			{Rule: "RL-INF", Status: conformance.Skip, Reason: "declared: InfAbsent"},
		},
	}
	fmt.Print(conformance.Table(mine, theirs))
	// Output:
	// [A]   mine (limiter, Injected): 1 passed, 1 failed, 0 known to fail, 0 skipped; 2 schedules, 3 runs
	// [B]   theirs (limiter, PackageTime): 0 passed, 0 failed, 1 known to fail, 1 skipped; 1 schedule, 1 run; partial: one schedule only
	//
	// rule           [A]        [B]
	// RL-ENV         pass       known
	// RL-WORK        FAIL       -
	// RL-INF         -          skip
	//
	// [A] RL-WORK FAIL: allow 1 at 0 was denied, want granted
	//       rate=1/1s burst=1 | allow 1 @0
	// [B] RL-ENV known: issue 7
	// [B] RL-INF skip: declared: InfAbsent
}
