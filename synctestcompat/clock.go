package synctestcompat

import (
	"fmt"
	"time"

	"github.com/jonboulle/clockwork"
)

// Clock is the bubble's time behind clockwork's interface, with the two operations
// of a manually driven clock, Advance and Settle: a test helper written for these
// drives a bubble or a fake clock alike.
//
// All methods of clockwork.Clock are those of package time, which inside a
// bubble is the bubble's time. Create one with [NewClock]; the zero value has no
// clock behind it, and those methods panic. A Clock may be used by many goroutines
// at once, but only one goroutine of a bubble may advance or settle it.
type Clock struct {
	clockwork.Clock
}

// NewClock returns the clock of its caller's bubble.
func NewClock() *Clock { return &Clock{clockwork.NewRealClock()} }

// Advance moves the bubble's clock by d and settles, as [Sleep] does. It panics
// if d is negative, and outside a bubble.
func (c *Clock) Advance(d time.Duration) {
	if d < 0 {
		panic(fmt.Sprintf("synctestcompat: Advance(%v): time does not go back; use a duration >= 0", d))
	}
	Sleep(d)
}

// Settle waits for every other goroutine of the bubble to block, as [Wait] does.
func (c *Clock) Settle() { Wait() }
