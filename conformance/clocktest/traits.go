package clocktest

import (
	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
)

// Traits are the choices on which fake clocks differ. The zero value of each is
// "undeclared".
type Traits struct {
	// Waits says what Advance waits for before it fires the next timer and before it
	// returns.
	Waits Waits
}

// Waits says what Advance waits for.
type Waits int

// The choices. Package time in a bubble waits for everything; a clock that declares less is
// not held to the laws of what it does not wait for.
const (
	// WaitsForAll: for every goroutine that a timer wakes or starts, until it blocks. Only
	// possible with Env.Settle or something like it.
	WaitsForAll Waits = iota + 1
	// WaitsForFunctions: for the functions of AfterFunc, but not for goroutines that
	// receive from channels or sleep.
	WaitsForFunctions
	// WaitsForNothing: Advance may return, and fire later timers, before anything that it
	// started has run.
	WaitsForNothing
)

var waits = []string{"WaitsForAll", "WaitsForFunctions", "WaitsForNothing"}

// String returns the name of the constant.
func (w Waits) String() string {
	if w < WaitsForAll || w > WaitsForNothing {
		return "undeclared"
	}
	return waits[w-1]
}

// Traits returns what is declared.
func (c *contract) Traits() *Traits {
	tr := c.spec.Traits
	return &tr
}

// Table lists the choice. It is not offered as an explanation of a failure, since what
// Advance waits for can be observed.
func (c *contract) Table(s *suite.Suite, tr *Traits) []suite.Choice {
	return []suite.Choice{{
		Name: "Waits", Declared: int(tr.Waits), Values: waits,
		Needless: func() bool { return !s.Accepts(conformance.OpAfterFunc) },
		Observe:  func() int { return int(c.observeWaits(s)) },
	}}
}

// observeWaits tries what Advance waits for, without settling after it.
func (c *contract) observeWaits(s *suite.Suite) Waits {
	switch {
	case c.returnsEarly(s, function) != "":
		return WaitsForNothing
	case s.Accepts(conformance.OpSleep) && c.returnsEarly(s, sleeper) != "":
		return WaitsForFunctions
	}
	return WaitsForAll
}
