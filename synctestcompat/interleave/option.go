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
// mistakes need no more. With 0 a goroutine runs until it must wait, and only its successor is chosen.
func Bound(n int) Option { return func(c *config) { c.bound = n } }

// Runs explores at most n interleavings, those with the fewest preemptions, and accepts that. Without it,
// 200,000 are explored, and if there are more the check fails, as it proves nothing.
func Runs(n int) Option { return func(c *config) { c.runs, c.given = n, true } }

// Points limits an interleaving to n steps; the default is 10,000. A longer one fails the check.
func Points(n int) Option { return func(c *config) { c.points = n } }

// StillTime lets time move only when no goroutine can continue, as in a plain bubble. Without it time
// may also pass while one is held, which counts as a preemption.
func StillTime() Option { return func(c *config) { c.still = true } }

// Unreduced also explores interleavings that differ only in the order of independent operations: those on
// different locks, variables and channels. A program without data races that fails there also fails without
// this option.
func Unreduced() Option { return func(c *config) { c.full = true } }

const look = time.Second // how often the watchdog does
