package interleave

import "time"

// Option is an option of [Check] and [Explore].
type Option func(*config)

type config struct {
	bound  int
	runs   int
	given  bool // runs was
	points int
	still  bool
	full   bool
}

// Bound explores interleavings with at most n preemptions; the default is 2, and almost all known
// mistakes need no more. With 0 a goroutine runs until it must wait, and only what comes next is chosen.
func Bound(n int) Option { return func(c *config) { c.bound = n } }

// Runs explores at most n interleavings, those with the fewest preemptions, and calls that enough: without
// it, 200,000 are explored, and if there are more the check fails, as that is no proof.
func Runs(n int) Option { return func(c *config) { c.runs, c.given = n, true } }

// Points lets an interleaving have at most n steps, the default is 10,000. One that has more ends the check.
func Points(n int) Option { return func(c *config) { c.points = n } }

// StillTime lets time move only when no goroutine can go on, as in a plain bubble. Without it time may
// also pass while one is held up, which counts as a preemption.
func StillTime() Option { return func(c *config) { c.still = true } }

// Unreduced explores also interleavings that differ from others only in the order of operations that do not
// meet: those on different locks, variables and channels. No program without data races fails only there.
func Unreduced() Option { return func(c *config) { c.full = true } }

const look = time.Second // how often the watchdog does
