package limiters

import "github.com/jonboulle/clockwork"

// An Option changes what a constructor makes. Options are applied in order; the
// zero Option (nil) changes nothing.
type Option func(*config)

type config struct {
	clock clockwork.Clock // nil: package time
}

// WithClock makes the limiter take its time from c and from nothing else. A nil
// c, like no WithClock, means package time, which in a synctest bubble is the
// time of the bubble. Package time called directly is also the fastest: prefer
// nil to a clock that only wraps it.
//
// Methods that take an instant read no clock.
func WithClock(c clockwork.Clock) Option {
	return func(cfg *config) { cfg.clock = c }
}
