package subjects

import (
	"context"
	"time"
)

// SecondWindow counts in windows of whole seconds.
type SecondWindow struct{}

// NewSecondWindow grants so many in a window.
func NewSecondWindow(maxRequests, windowSeconds int64) *SecondWindow { return nil }

func (*SecondWindow) Allow() bool { return true }

// MillisThrottle has an interval in milliseconds.
type MillisThrottle struct{}

// NewMillisThrottle makes one.
func NewMillisThrottle(intervalMs int32, emit func(v int)) *MillisThrottle { return nil }

func (*MillisThrottle) Call(v int) {}

// TimedSlots is a semaphore.
type TimedSlots struct{}

// TimedSlotsOptions are its bounds.
type TimedSlotsOptions struct {
	Limit          int
	TimeoutSeconds float64
}

// NewTimedSlots makes one.
func NewTimedSlots(o TimedSlotsOptions) *TimedSlots { return nil }

func (*TimedSlots) Acquire(timeoutMillis uint) bool { return true }
func (*TimedSlots) Release()                        {}

// QueueSlots is a semaphore whose queue may have a size.
type QueueSlots struct{}

// QueueOption configures it.
type QueueOption func(*QueueSlots)

// WithQueueSize sets how many may wait.
func WithQueueSize(size int) QueueOption { return nil }

// NewQueueSlots makes one.
func NewQueueSlots(limit int, opts ...QueueOption) *QueueSlots { return nil }

func (*QueueSlots) Acquire(ctx context.Context) error { return nil }
func (*QueueSlots) Release()                          {}

// SweptBucket forgets keys.
type SweptBucket struct{}

// NewSweptBucket makes one. With a sweepEvery of 0 or less it never forgets any.
func NewSweptBucket(rate float64, burst int, sweepEvery time.Duration) *SweptBucket { return nil }

func (*SweptBucket) Allow() bool { return true }

// Blocker is a rate limiter.
type Blocker struct{}

// HitCounter counts the calls that block.
type HitCounter struct{}

// NewBlocker makes one.
func NewBlocker(perSecondLimit int64, hits *HitCounter, stop <-chan struct{}) *Blocker { return nil }

// Register registers n tokens. It blocks if the rate is exceeded, and may be unblocked by closing the channel.
func (*Blocker) Register(n int) {}

// Idler is a rate limiter.
type Idler struct{}

// NewIdler makes one.
func NewIdler(perSecondLimit int64, stop <-chan struct{}) *Idler { return nil }

// Register registers n tokens, and never blocks.
func (*Idler) Register(n int) {}

// Throttled is a rate limiter.
type Throttled struct{}

// NewThrottled makes one.
func NewThrottled(rate uint) *Throttled { return nil }

// Throttle blocks if the rate exceeds the limiter's.
func (*Throttled) Throttle() {}

// Optioned is a batcher that is told everything by options.
type Optioned[T any] struct{}

// OptionedOption configures it.
type OptionedOption[T any] func(*Optioned[T])

// WithMaxCapacity sets the size of a batch.
func WithMaxCapacity[T any](n int) OptionedOption[T] { return nil }

// WithMaxLatency sets how long an item waits.
func WithMaxLatency[T any](d time.Duration) OptionedOption[T] { return nil }

// WithFlushCallback sets what gets each batch.
func WithFlushCallback[T any](fn func([]T)) OptionedOption[T] { return nil }

// NewOptioned makes one.
func NewOptioned[T any](opts ...OptionedOption[T]) *Optioned[T] { return nil }

// Run starts it.
func (*Optioned[T]) Run() {}

// Stop ends it.
func (*Optioned[T]) Stop() {}

func (*Optioned[T]) Add(item T) {}

// Pool is a pool.
type Pool[T any] struct{}

// PoolConfig configures it.
type PoolConfig[T any] struct {
	Constructor func(ctx context.Context) (T, error)
	Destructor  func(T)
	MaxSize     int32
}

// Held is what is taken from a pool.
type Held[T any] struct{}

// Release gives it back.
func (*Held[T]) Release() {}

// NewPool makes one.
func NewPool[T any](config *PoolConfig[T]) (*Pool[T], error) { return nil, nil }

func (*Pool[T]) Acquire(ctx context.Context) (*Held[T], error) { return nil, nil }

// TryAcquire fails if none is there, and makes one in the background.
func (*Pool[T]) TryAcquire(ctx context.Context) (*Held[T], error) { return nil, nil }

// Hourly is a rate limiter.
type Hourly struct{}

// NewHourly makes one.
func NewHourly(maxRequestsPerHour int) *Hourly { return nil }

func (*Hourly) Allow() bool { return true }
