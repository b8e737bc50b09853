package limiters

import (
	"context"
	"fmt"
	"time"

	"github.com/jonboulle/clockwork"
)

// ThrottleFuncStream returns a channel with what a [ThrottleFunc] with the same interval and
// options would run for the items of in: with [Trailing], [Leading]|[Trailing] and [Leading]
// what RxJS calls throttleTime, with [Sample] sampleTime. (Its auditTime is debounce.Stream
// with a debounce.MaxWait of the same length.) Items with an error bypass all that, as in a
// [ThrottleStream]: they pass at once, ahead of an item that waits for its time.
//
// When in is closed, the item that waits for its time is sent at once, and the channel is
// closed. It is also closed as soon as ctx is done; an item that waits, or was on its way
// to a reader that has gone, is then lost, and nothing more is read from in. A reader
// that gives up early must cancel ctx. Until the end one goroutine runs, and at most one
// timer is armed.
//
// The channel is unbuffered, and nothing is read from in while an item waits for its reader: a
// slow reader slows the sender down. A window opens when the item that opens it is read or
// falls due, not when it is delivered. An item that is read at the very end of a window comes
// after the one that is due there.
//
// It panics if ctx is nil, interval is negative or the edges are none of those listed for [Edges].
func ThrottleFuncStream[T any](
	ctx context.Context, in <-chan Item[T], interval time.Duration, opts ...ThrottleFuncOption,
) <-chan Item[T] {
	if ctx == nil {
		noContext("ThrottleFuncStream")
	}
	if interval < 0 {
		panic(fmt.Sprintf("limiters: ThrottleFuncStream: interval %v must be >= 0: use 0 to let everything pass", interval))
	}
	cfg := throttleFuncConfig{edges: Leading | Trailing}
	for _, opt := range opts {
		if opt != nil {
			opt.applyThrottleFunc(&cfg)
		}
	}
	if cfg.edges == 0 || cfg.edges > Sample {
		panic(fmt.Sprintf("limiters: ThrottleFuncStream: edges %d: use Leading, Trailing, Leading|Trailing or Sample", cfg.edges))
	}
	s := &edgeStream[T]{ctx: ctx, out: make(chan Item[T]), interval: interval, edges: cfg.edges, clock: cfg.clock}
	if s.clock == nil {
		s.clock = clockwork.NewRealClock()
	}
	go func() {
		defer close(s.out)
		s.run(in)
	}()
	return s.out
}

// edgeStream is the state of a ThrottleFuncStream, for one goroutine.
type edgeStream[T any] struct {
	ctx      context.Context
	out      chan Item[T]
	interval time.Duration
	edges    Edges
	clock    clockwork.Clock

	open    bool      // start is one
	start   time.Time // of the newest window, or interval of the grid
	pending bool      // item waits for the end of it, and the timer is armed
	item    Item[T]
	timer   clockwork.Timer
}

// run is the goroutine. It returns when the input or ctx ends it.
func (s *edgeStream[T]) run(in <-chan Item[T]) {
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
		case item, ok := <-in:
			switch {
			case s.ctx.Err() != nil:
				return
			case !ok:
				if s.pending {
					s.send(s.item)
				}
				return
			case item.Err != nil:
				// The pending item may have fallen due meanwhile: then it is its turn.
				ok = s.send(item) && s.settle()
			default:
				ok = s.settle() && s.take(item)
			}
			if !ok {
				return
			}
		}
	}
}

// take deals with an item that has come now, at which nothing is due.
func (s *edgeStream[T]) take(item Item[T]) bool {
	if s.pending {
		s.item = item
		return true
	}
	if s.interval == 0 {
		return s.send(item)
	}
	now := s.clock.Now()
	gap := s.gap(now)
	if !s.open || gap >= s.interval {
		s.open, s.start, gap = true, now, 0
		if s.edges&Leading != 0 {
			return s.send(item)
		}
	}
	if s.edges != Leading {
		s.item, s.pending = item, true
		s.timer.Reset(s.interval - gap)
	}
	return true
}

// gap returns how long ago the window began. A clock that went back begins it anew; on a grid
// only what is left of the interval counts.
func (s *edgeStream[T]) gap(now time.Time) time.Duration {
	gap := now.Sub(s.start)
	if gap < 0 {
		s.start, gap = now, 0
	}
	if s.edges == Sample && s.open && !s.pending {
		gap %= s.interval
		s.start = now.Add(-gap)
	}
	return gap
}

// settle sends the pending item if it is due.
func (s *edgeStream[T]) settle() bool {
	if !s.pending {
		return true
	}
	now := s.clock.Now()
	if s.gap(now) < s.interval {
		return true
	}
	item := s.item
	s.item, s.pending = Item[T]{}, false
	if s.edges != Sample { // whose grid stays
		s.start = now
	}
	s.timer.Stop()
	return s.send(item)
}

// expire is settle when the timer has fired. It may have been early, if the clock went back.
func (s *edgeStream[T]) expire() bool {
	if !s.settle() {
		return false
	}
	if s.pending {
		s.timer.Reset(s.interval - s.gap(s.clock.Now()))
	}
	return true
}

// send reports false if ctx ended first.
func (s *edgeStream[T]) send(item Item[T]) bool {
	select {
	case s.out <- item:
		return true
	case <-s.ctx.Done():
		return false
	}
}
