package limiters

import "context"

// An Item is an event of a stream: a value, or an error in place of one.
type Item[T any] struct {
	Value T
	Err   error // nil: the item is Value
}

// ThrottleStream returns a channel with the items of in that h lets pass, in
// order. Items with an error bypass h: all of them pass, at once, and they neither
// open a window nor count in one. The window opens when the item is received, not
// when it is delivered. If h lets everything pass, all items do.
//
// The channel is unbuffered: a slow reader slows the sender down. It is closed
// after in is, or as soon as ctx is done, also if an item is then on its way to
// a reader that has gone; that item is lost. From then on nothing is read from in.
// A reader that gives up early must cancel ctx. Until then one goroutine runs; it
// has no timer.
//
// Streams that share h share its windows. If in is nil, nothing is sent until ctx is done,
// and then the channel is closed. ThrottleStream panics if ctx or h is nil.
func ThrottleStream[T any](ctx context.Context, h *Throttle, in <-chan Item[T]) <-chan Item[T] {
	if ctx == nil {
		noContext("ThrottleStream")
	}
	if h == nil {
		panic("limiters: ThrottleStream: h must not be nil: use NewThrottle")
	}
	out := make(chan Item[T])
	go func() {
		defer close(out)
		for ctx.Err() == nil {
			var item Item[T]
			var ok bool
			select {
			case item, ok = <-in:
			case <-ctx.Done():
				return
			}
			if !ok || ctx.Err() != nil {
				return
			}
			if item.Err == nil && !h.Allow() {
				continue
			}
			select {
			case out <- item:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}
