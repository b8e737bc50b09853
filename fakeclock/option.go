package fakeclock

import "time"

// Option configures a [Clock] that [New] or [NewTest] makes. The zero Option (nil) changes
// nothing.
type Option func(*Clock)

// WithStart makes the clock start at t, in t's location. A monotonic reading of t is
// dropped. Any time is allowed, also time.Time{}.
func WithStart(t time.Time) Option {
	return func(c *Clock) { c.wall.Store(newSegment(t.Round(0), 0, nil)) }
}

// WithSettle makes Advance, its variants and the release of Hold call f
// instead of waiting for the functions they start: once before the clock
// moves, then after each timer that fires. So each of them begins and ends
// settled, and goroutines that are about to arm a timer do so first.
//
// In a bubble f is synctest.Wait. Elsewhere f must return when the code under test has
// settled. f may use the clock, but must not advance it. As the clock no longer waits
// for functions, they may advance it; their Advance queues behind the one that started
// them: until it is done a test must not call synctest.Wait. A nil f restores the
// default.
func WithSettle(f func()) Option {
	return func(c *Clock) { c.settle = f }
}

// WithSites makes the clock record where each timer is made, for [Timer] and for the
// reports that show it. A site is the first caller outside this package and clockwork.
// Recording costs several times as much as the timer. [NewTest] always records.
func WithSites() Option {
	return func(c *Clock) { c.sites = true }
}

// WithEvents makes the clock call f for everything that happens to a timer, in
// order and never two calls at once: before the operation that caused it
// returns or, if several goroutines use the clock at once, perhaps on another
// of them. A timer is reported fired before its function starts or its sleeper
// wakes, and after its value was sent. f may use the clock, but must not block
// and must not advance it: Advance in f panics. A nil f restores the default,
// which is none.
//
// When a test asks why nothing fired:
//
//	fakeclock.WithEvents(func(e fakeclock.Event) { t.Log(e) })
func WithEvents(f func(Event)) Option {
	return func(c *Clock) { c.hook = f }
}

// WithLeftovers lets a test of [NewTest] end while timers are armed. Elsewhere
// it does nothing.
func WithLeftovers() Option {
	return func(c *Clock) { c.leftovers = true }
}

// WithWatchdog sets for how long Advance waits for functions that are blocked on
// something other than this clock's Sleep: a channel, a lock, a timer. Then it panics
// and shows which functions are blocked, and where. d is real time, or bubble time in a
// bubble; the default is 10 s, and d <= 0 waits for ever. The clock checks every d, so
// up to 2d may pass. Functions that compute, sleep in package time or wait for the
// network are not taken to be blocked. After the panic nothing waits for the functions
// any more, and the clock stands where it was.
func WithWatchdog(d time.Duration) Option {
	return func(c *Clock) { c.patience = d }
}
