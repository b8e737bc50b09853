package fakeclock

import "strings"

// TestingT is what [NewTest] needs of a test; *testing.T, *testing.B, *testing.F and
// *rapid.T implement it.
type TestingT interface {
	Helper()
	Errorf(format string, args ...any)
	Cleanup(func())
}

// NewTest is [New] for a test, with WithSites. At the end of the test, after the
// cleanups that were registered later, it fails the test if timers are still armed:
// something was not shut down. It names each, and where it was made. Timers of After do
// not count, as they cannot be stopped. See [WithLeftovers]. It panics if tb is nil.
func NewTest(tb TestingT, opts ...Option) *Clock {
	if tb == nil {
		panic("fakeclock: NewTest(nil): there is no test to fail; use New")
	}
	c := New(append([]Option{WithSites()}, opts...)...)
	if !c.leftovers {
		tb.Cleanup(func() {
			tb.Helper()
			c.report(tb)
		})
	}
	return c
}

func (c *Clock) report(tb TestingT) {
	tb.Helper()
	var left []string
	for _, t := range c.Timers() {
		if t.Kind != KindAfter {
			left = append(left, "\n\t"+t.String())
		}
	}
	if len(left) > 0 {
		tb.Errorf("fakeclock: %d still armed at the end of the test, at %s:%s\n"+
			"Stop timers and tickers, cancel contexts, advance until sleepers wake, or use WithLeftovers.",
			len(left), stamp(c.Now()), strings.Join(left, ""))
	}
}
