package debounce

import (
	"context"
	"time"

	"github.com/jonboulle/clockwork"
)

// Stream returns a channel with what a [Debouncer] with the same wait and options
// would fire for the values of in.
//
// Values for which bypass reports true, errors for example, are sent at once,
// ahead of a value that is pending; they neither begin nor extend a burst. A nil
// bypass lets none pass.
//
// When in is closed, the pending value is sent at once, or dropped if [DropOnClose] is
// among opts, and the channel is closed. It is also closed as soon as ctx is done; a
// pending value, or one on its way to a reader that has gone, is then lost, and nothing
// more is read from in. A reader that gives up early must cancel ctx. Until the end one
// goroutine runs, and at most one timer is armed.
//
// The channel is unbuffered, and nothing is read from in while a value waits for
// its reader: a slow reader slows the sender down, and a value counts as called
// when it is read. A value that is read at the very deadline of the one before
// begins a new burst.
//
// If in is nil, nothing is sent until ctx is done, and then the channel is closed. Stream
// panics if ctx is nil or wait is negative.
func Stream[T any](ctx context.Context, in <-chan T, wait time.Duration, bypass func(T) bool, opts ...Option) <-chan T {
	if ctx == nil {
		panic("debounce: Stream: ctx is nil: use context.Background()")
	}
	cfg := apply(opts)
	s := &stream[T]{ctx: ctx, out: make(chan T), burst: cfg.burst("Stream", wait), clock: cfg.clock, keep: !cfg.dropOnClose}
	if s.clock == nil {
		s.clock = clockwork.NewRealClock()
	}
	go func() {
		defer close(s.out)
		s.run(in, bypass)
	}()
	return s.out
}

// stream is a burst with its channel, for one goroutine.
type stream[T any] struct {
	burst
	ctx   context.Context
	out   chan T
	clock clockwork.Clock
	base  time.Time // instants are counted from here
	value T         // the newest, while unfired
	timer clockwork.Timer
	keep  bool // what is pending when the input ends
}

// run is the goroutine. It returns when the input or ctx ends it.
func (s *stream[T]) run(in <-chan T, bypass func(T) bool) {
	s.base = s.clock.Now()
	s.timer = s.clock.NewTimer(time.Hour)
	s.timer.Stop()
	defer s.timer.Stop()
	for s.ctx.Err() == nil {
		select {
		case <-s.ctx.Done():
			return
		case <-s.timer.Chan():
			if !s.expire() {
				return
			}
		case v, ok := <-in:
			switch {
			case s.ctx.Err() != nil:
				return
			case !ok:
				if s.unfired && s.keep {
					s.send(s.value)
				}
				return
			case bypass != nil && bypass(v):
				// The pending value may have fallen due meanwhile: then it is its turn.
				ok = s.send(v) && s.expire()
			default:
				ok = s.take(v)
			}
			if !ok {
				return
			}
		}
	}
}

// take deals with a value that has come now; what was due by now goes first.
func (s *stream[T]) take(v T) bool {
	now := s.clock.Since(s.base)
	if s.unfired && s.rest(now) <= 0 && !s.fire() {
		return false
	}
	armed := s.unfired
	if s.call(now) && !s.send(v) {
		return false
	}
	if !s.unfired {
		return true
	}
	s.value = v
	return armed || s.expire()
}

// expire fires what is due, or arms the timer for what is not yet.
func (s *stream[T]) expire() bool {
	if !s.unfired {
		return true
	}
	if left := s.rest(s.clock.Since(s.base)); left > 0 {
		s.timer.Reset(left)
		return true
	}
	return s.fire()
}

func (s *stream[T]) fire() bool {
	var zero T
	v := s.value
	s.value, s.unfired = zero, false
	s.timer.Stop()
	return s.send(v)
}

// send reports false if ctx ended first.
func (s *stream[T]) send(v T) bool {
	select {
	case s.out <- v:
		return true
	case <-s.ctx.Done():
		return false
	}
}
