package debounce

import (
	"fmt"
	"time"

	"github.com/jonboulle/clockwork"
)

// An Option changes what [New] and the other constructors make. Options are
// applied in order; the zero Option (nil) changes nothing.
type Option func(*config)

type config struct {
	clock       clockwork.Clock // nil: package time
	maxWait     time.Duration   // 0: no bound
	edges       edges
	maxKeys     int // 0: no bound
	maxSize     int // 0: no bound
	dropOnClose bool
}

// apply returns what the options say together.
func apply(opts []Option) config {
	var cfg config
	for _, opt := range opts {
		if opt != nil {
			opt(&cfg)
		}
	}
	return cfg
}

// burst is the empty burst of a debouncer that constructor makes. It panics if
// wait is negative.
func (cfg *config) burst(constructor string, wait time.Duration) burst {
	if wait < 0 {
		panic(fmt.Sprintf("debounce: %s: wait %v must be >= 0: use 0 to fire with each call", constructor, wait))
	}
	return burst{wait: wait, maxWait: cfg.maxWait, edges: cfg.edges}
}

// WithClock makes the debouncer take its time from c and from nothing else. A
// nil c, like no WithClock, means package time, which in a synctest bubble is
// the time of the bubble. Package time called directly is also the fastest:
// prefer nil to a clock that only wraps it.
func WithClock(c clockwork.Clock) Option {
	return func(cfg *config) { cfg.clock = c }
}

// Leading makes a burst fire at its first call, with that call's value, and not at
// its end. What counts as a burst does not change: calls less than wait apart,
// so that a steady stream of them fires once. No timer is needed and none is
// made.
func Leading() Option {
	return func(cfg *config) { cfg.edges = leading }
}

// LeadingAndTrailing makes a burst fire at its first call, and at its end with the
// newest value if a second call has come. A burst of one call fires once, as it
// does in lodash; see [LeadingAndTrailingTwice].
func LeadingAndTrailing() Option {
	return func(cfg *config) { cfg.edges = both }
}

// LeadingAndTrailingTwice is [LeadingAndTrailing] by the literal definition, "once at
// the start of the burst, once at its end": a burst of one call fires twice, with the
// same value.
func LeadingAndTrailingTwice() Option {
	return func(cfg *config) { cfg.edges = twice }
}

// MaxWait bounds how long later calls can postpone a call: a burst also fires when its
// first pending call is w old, with the newest value. The burst goes on: later calls
// have their own trailing fire, and none of them becomes a leading one. Any fire,
// Cancel or Flush restarts the bound.
//
// A w below wait is in order and then decides alone when the trailing edge fires;
// so is w equal to wait. With [Leading] nothing is ever put off and MaxWait has no
// effect. It panics if w is not positive.
func MaxWait(w time.Duration) Option {
	if w <= 0 {
		panic(fmt.Sprintf("debounce: MaxWait: %v must be > 0; leave the option out for no bound", w))
	}
	return func(cfg *config) { cfg.maxWait = w }
}

// MaxSize bounds how many values a [Batch] gathers: the call that makes them n runs the
// function with all of them at once, on its own goroutine. The burst goes on, as after
// [MaxWait], whose bound starts anew with the next value. With 1 each call that has not fired
// on a leading edge fires at once. It changes nothing else. It panics if n is not positive.
func MaxSize(n int) Option {
	if n <= 0 {
		panic(fmt.Sprintf("debounce: MaxSize: %d must be > 0; leave the option out for no bound", n))
	}
	return func(cfg *config) { cfg.maxSize = n }
}

// MaxDelay is [MaxWait] for a [Batch]: its function runs when the oldest pending value is d
// old, or sooner if wait is shorter. It panics if d is not positive.
func MaxDelay(d time.Duration) Option {
	if d <= 0 {
		panic(fmt.Sprintf("debounce: MaxDelay: %v must be > 0; leave the option out for no bound", d))
	}
	return func(cfg *config) { cfg.maxWait = d }
}

// MaxKeys bounds how many keys a [Keyed] holds at a time; it changes nothing
// else. It panics if n is not positive.
func MaxKeys(n int) Option {
	if n <= 0 {
		panic(fmt.Sprintf("debounce: MaxKeys: %d must be > 0; leave the option out for no bound", n))
	}
	return func(cfg *config) { cfg.maxKeys = n }
}

// DropOnClose makes a [Stream] drop the pending value when its input is closed,
// instead of sending it at once; it changes nothing else.
func DropOnClose() Option {
	return func(cfg *config) { cfg.dropOnClose = true }
}
