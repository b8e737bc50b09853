package conformance

import "time"

// Has reports whether a key was given.
func (c Config) Has(key string) bool { return c.has(key) }

// Start is the instant at which the schedule begins.
func (c Config) Start() time.Time { return c.start() }

// Without returns the configuration without one key.
func (c Config) Without(key string) Config { return c.without(key) }

// Given returns how many keys were given.
func (c Config) Given() int { return len(c.set) }

// RacingSteps reports how many steps are marked racing.
func (s Schedule) RacingSteps() int { return s.racing() }

// Compare orders schedules as failures are reported: fewer steps first, then none racing,
// then plain configurations, fewer different gaps, and text order.
func (s Schedule) Compare(other Schedule) int { return smaller(s, other) }

// Certain reports whether the driver made sure that the racing step returned before the
// implementation could act on its timer.
func (o Order) Certain() bool { return o.certain() }

// ArgumentsOf says which arguments an operation takes: 'n' and 'k' for its numbers, 'd'
// for its duration, 'r' for its rate; an upper-case letter is optional.
func ArgumentsOf(op Op) string { return arguments[op] }

// Extreme reports whether the time between two events is beyond what limiters are for:
// below a nanosecond, or above a year.
func (r Rate) Extreme() bool { return r.extreme() }

// IsNamed reports whether the number of an operation is the name of what comes with it: a
// request, an item.
func IsNamed(op Op) bool {
	return op == OpPut || op == OpAcquire || op == OpTry || op == OpDo
}

// Write appends the report as one line of JSON to the file that ESCAPEMENT_REPORT names,
// if it names one.
func (r *Report) Write() error { return r.write() }

// Counts reports whether the number of an operation is a payload, which counts from 1 in
// the schedules of the suite.
func Counts(op Op) bool { return op == OpCall }

// Ends reports whether nothing is expected to work after an operation.
func Ends(op Op) bool { return op == OpStop }

// Puts reports whether an operation brings an item, whose number is its name.
func Puts(op Op) bool { return op == OpPut }
