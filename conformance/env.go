package conformance

import (
	"cmp"
	"time"

	"github.com/jonboulle/clockwork"
)

// TimeSource says where an implementation takes its time from.
type TimeSource int

const (
	// Injected: the implementation uses Env.Clock and no other clock.
	Injected TimeSource = iota + 1
	// PackageTime: the implementation calls package time. It runs unchanged inside
	// bubbles of testing/synctest; where the toolchain has none the suite skips.
	PackageTime
	// Explicit: operations take the time as an argument and read no clock.
	Explicit
)

// String returns the name of the constant.
func (s TimeSource) String() string {
	names := map[TimeSource]string{Injected: "Injected", PackageTime: "PackageTime", Explicit: "Explicit"}
	return cmp.Or(names[s], "undeclared")
}

// Env is the environment of an implementation.
type Env struct {
	// Clock is the clock to inject. In a PackageTime run it is package time behind
	// the same interface.
	Clock clockwork.Clock
	// Start is the instant at which the schedule begins.
	Start time.Time
}
