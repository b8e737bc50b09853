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
