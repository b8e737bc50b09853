package subjects

import (
	"context"
	"sync"
	"time"
)

// Turned says no by true.
type Turned struct{}

// NewTurned grants so many in a period.
func NewTurned(n int, per time.Duration) *Turned { return &Turned{} }

// Limit returns true if the number was exceeded
func (*Turned) Limit() bool { return true }

// Straight says yes by true.
type Straight struct{}

// NewStraight grants so many in a period.
func NewStraight(n int, per time.Duration) *Straight { return &Straight{} }

// Limit reports whether the request does not exceed
// the limit, and false otherwise.
func (*Straight) Limit() bool { return true }

// Mute does not say what it means.
type Mute struct{}

// NewMute grants so many in a period.
func NewMute(n int, per time.Duration) *Mute { return &Mute{} }

func (*Mute) Limit() bool { return true }
func (*Mute) Forget()     {}

// Steering is what is done with a debounced function.
type Steering struct {
	Cancel  func()
	Flush   func()
	Pending func() bool
	Size    int
}

// Steer sets something.
type Steer func()

// WithLeading is one edge.
func WithLeading(leading bool) Steer { return nil }

// WithTrailing is the other.
func WithTrailing(trailing bool) Steer { return nil }

// DebounceAny wraps any function.
func DebounceAny[T1, T2 any](fn func(...T1) T2, wait time.Duration, opts ...Steer) (func(...T1) T2, Steering) {
	return nil, Steering{}
}

// DebounceWork has bounds and options.
func DebounceWork(fn func(), wait time.Duration, o *WorkOptions) func() { return nil }

// ThrottleWork has the same options.
func ThrottleWork(fn func(), wait time.Duration, o *WorkOptions) func() { return nil }

// WorkOptions are both edges, and a bound.
type WorkOptions struct {
	Leading, Trailing bool
	MaxWait           time.Duration
	Label             string
}

// LeakyTank is made with floats.
type LeakyTank struct{}

// NewLeakyTank leaks.
func NewLeakyTank(rate float64, capacity int64) *LeakyTank { return nil }

func (*LeakyTank) Put(v int) bool { return true }

// Locked has a lock that is not what it is for.
type Locked struct{ sync.Mutex }

// NewLocked wants a rate.
func NewLocked(rate int64) *Locked { return nil }

// Take waits for its turn.
func (*Locked) Take() time.Duration { return 0 }

// Narrow counts in less than ints.
type Narrow struct{}

// NewNarrow fills.
func NewNarrow(every time.Duration, burst int32) *Narrow { return nil }

func (*Narrow) AllowN(n int32) bool { return true }
func (*Narrow) SetBurst(n uint64)   {}

// Refilled gets one new token at a time.
type Refilled struct{}

// NewRefilled says in its comment when a new token comes.
func NewRefilled(t time.Duration, n int) *Refilled { return nil }

func (*Refilled) AllowN(n int) bool { return true }
func (*Refilled) Tokens() int       { return 0 }

// Unsaid is a limiter.
type Unsaid struct{}

// NewUnsaid does not say what it does with its arguments.
func NewUnsaid(t time.Duration, n int) *Unsaid { return nil }

func (*Unsaid) AllowN(n int) bool { return true }
func (*Unsaid) Tokens() int       { return 0 }

// StartDebouncer is started.
type StartDebouncer struct{}

// NewStartDebouncer is told when to stop, too.
func NewStartDebouncer(after, afterMax time.Duration, f func(), stop <-chan struct{}) *StartDebouncer {
	return nil
}

func (*StartDebouncer) Start(ctx context.Context) error { return nil }
func (*StartDebouncer) Shutdown()                       {}
func (*StartDebouncer) Bounce()                         {}

// Credits may fail.
type Credits struct{}

// NewCredits has a balance.
func NewCredits(perSecond, maxBalance float64) *Credits { return nil }

func (*Credits) CheckCredit(cost float64) bool { return true }

// AnyLimiter has keys of any type.
type AnyLimiter[I any, K comparable] struct{}

// NewAnyLimiter has no limit, if it gets none.
func NewAnyLimiter[I any, K comparable](keyOf func(I) K, limits ...Level) *AnyLimiter[I, K] {
	return nil
}

func (*AnyLimiter[I, K]) AllowN(input I, n int64) bool { return true }

// HashBucket has so many buckets for its keys.
type HashBucket struct{}

// NewHashBucket wants a rate in a unit.
func NewHashBucket(numBuckets, spare uint, burst uint8, rate float64, rateUnit time.Duration) *HashBucket {
	return nil
}

func (*HashBucket) TakeTokens(id []byte, n uint8) bool { return true }

// VagueLimiter has a Take that may wait.
type VagueLimiter struct{}

// NewVagueLimiter is configured.
func NewVagueLimiter(c VagueConfig) *VagueLimiter { return nil }

// VagueConfig is its configuration.
type VagueConfig struct {
	MaxCount uint
	Duration time.Duration
}

// Take takes a token.
func (*VagueLimiter) Take(key string) error { return nil }
func (*VagueLimiter) Kill() error           { return nil }

// BlockLimiter has a Take that waits.
type BlockLimiter struct{}

// NewBlockLimiter grants so many in a period.
func NewBlockLimiter(limit int, period time.Duration) *BlockLimiter { return nil }

// Take blocks until there is a token.
func (*BlockLimiter) Take() error { return nil }

// AddBucket says how many it added.
type AddBucket struct{}

// NewAddBucket leaks.
func NewAddBucket(rate float64, capacity int64) *AddBucket { return nil }

func (*AddBucket) Add(amount int64) int64 { return amount }
func (*AddBucket) Count() int64           { return 0 }
