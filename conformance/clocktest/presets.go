package clocktest

// The functions below return the traits of well-known libraries, as a start. The tests of
// this module prove each on the library that it names. A clock in a bubble whose Advance
// calls Env.Settle waits for all, whatever its library does on its own.

// Clockwork are the traits of the fake clock of github.com/jonboulle/clockwork: Advance starts
// the functions that are due, and returns.
func Clockwork() Traits { return Traits{Waits: WaitsForNothing} }

// Quartz are the traits of the mock of github.com/coder/quartz when Advance goes from event to
// event and settles at each, as its documentation says.
func Quartz() Traits { return Traits{Waits: WaitsForAll} }

// Benbjohnson are the traits of the mock of github.com/benbjohnson/clock, which naps at each
// event: in a bubble everything else settles meanwhile.
func Benbjohnson() Traits { return Traits{Waits: WaitsForAll} }

// K8s are the traits of the fake clock of k8s.io/utils/clock/testing, which runs functions
// itself, under its own lock, while it steps.
func K8s() Traits {
	return Traits{Waits: WaitsForAll, Reentrancy: ReentrancyForbidden, OnAdvance: true}
}

// Juju are the traits of the clock of github.com/juju/clock/testclock, which has no tickers and
// no Sleep: Advance starts the functions that are due, and returns.
func Juju() Traits { return Traits{Waits: WaitsForNothing} }
