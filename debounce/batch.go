package debounce

import (
	"context"
	"time"
)

// A Batch is a [Debouncer] that fires with all the values that have not fired yet, in the
// order of their calls, and not only with the newest. With [MaxSize] and [MaxDelay] it is
// the usual batcher, which hands values over by number and by age; a wait equal to the
// delay has no effect, and a shorter one also hands over after a quiet period:
//
//	debounce.NewBatch(delay, f, debounce.MaxSize(100), debounce.MaxDelay(delay))
//
// Without MaxSize the number of values is unbounded. The slice belongs to the function
// that gets it. Cancel and Stop drop every value of the burst. The zero Batch is like
// the zero Debouncer, and all methods are safe for concurrent use.
type Batch[T any] struct {
	d       Debouncer[[]T]
	maxSize int // 0: no bound
}

// NewBatch returns a Batch that runs f when no call has come for wait, or as opts
// say: on a leading edge f gets one value. It panics if wait is negative or f is
// nil.
func NewBatch[T any](wait time.Duration, f func([]T), opts ...Option) *Batch[T] {
	if f == nil {
		panic("debounce: NewBatch: f must not be nil: pass the function to run")
	}
	b, cfg := new(Batch[T]), apply(opts)
	b.d.init("NewBatch", wait, f, cfg)
	b.maxSize, b.d.eager = cfg.maxSize, cfg.maxSize == 1
	return b
}

// Call adds v to the burst's values and moves its end to wait from now. If they reach
// [MaxSize], Call runs the function with them before it returns, or leaves them to the
// goroutine that is running it. Otherwise it acts like [Debouncer.Call].
func (b *Batch[T]) Call(v T) {
	d := &b.d
	d.mu.Lock()
	if !d.unfired {
		first := []T{v}
		again := first
		if d.edges == twice { // Both are handed out.
			again = []T{v}
		}
		d.first(first, again)
		return
	}
	d.value, d.newest = append(d.value, v), d.since()
	if b.maxSize == 0 || len(d.value) < b.maxSize {
		d.mu.Unlock()
		return
	}
	d.disarm()
	d.queue = append(d.queue, job[[]T]{value: d.take()})
	if d.running {
		d.mu.Unlock()
		return
	}
	d.run()
}

// Cancel drops the values that have not fired yet; see [Debouncer.Cancel].
func (b *Batch[T]) Cancel() bool { return b.d.Cancel() }

// Flush runs the function now if values are pending; see [Debouncer.Flush].
func (b *Batch[T]) Flush() bool { return b.d.Flush() }

// Pending reports whether values have not fired yet; see [Debouncer.Pending].
func (b *Batch[T]) Pending() bool { return b.d.Pending() }

// Stop drops the values that have not fired yet and ends the Batch; see
// [Debouncer.Stop].
func (b *Batch[T]) Stop() { b.d.Stop() }

// Close runs the function for the values that have not fired yet and ends the
// Batch; see [Debouncer.Close].
func (b *Batch[T]) Close(ctx context.Context) error { return b.d.Close(ctx) }
