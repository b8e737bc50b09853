package subjects

import (
	"context"
	"time"
)

// Shares counts for each customer in fixed windows.
type Shares struct{}

// NewShares is told what time it is.
func NewShares(limit int, window time.Duration, now func() time.Time) *Shares { return &Shares{} }

// Share is what an answer says.
type Share struct {
	Allowed   bool
	Remaining int
	ResetAt   time.Time
}

func (*Shares) Take(customer string) Share { return Share{} }
func (*Shares) Peek(customer string) Share { return Share{} }

// BoundDebouncer has a bound that need not be.
type BoundDebouncer struct{}

// NewBoundDebouncer makes one; maxWait 0 means no limit.
func NewBoundDebouncer(wait, maxWait time.Duration, f func()) *BoundDebouncer { return nil }

func (*BoundDebouncer) Call() {}

// NameDebouncer has a wait for each name.
type NameDebouncer struct{}

// NewNameDebouncer wants what to call.
func NewNameDebouncer(wait time.Duration, f func(name string, v int)) *NameDebouncer { return nil }

func (*NameDebouncer) Call(name string, v int) {}
func (*NameDebouncer) Cancel(name string)      {}

// TermBucket lends by terms.
type TermBucket struct{}

// NewTermBucket gains one token in each interval.
func NewTermBucket(interval time.Duration, burst int) *TermBucket { return nil }

// Term changes a loan.
type Term func()

func (*TermBucket) Allow(reason string) bool               { return true }
func (*TermBucket) Reserve(terms ...Term) (*Booking, bool) { return nil, true }

// RoomBucket lends to rooms.
type RoomBucket struct{}

// NewRoomBucket wants a rate.
func NewRoomBucket(rate float64, burst int) *RoomBucket { return nil }

func (*RoomBucket) Allow() bool                   { return true }
func (*RoomBucket) Reserve(room *Shares) *Booking { return nil }

// PatientPacer lets one caller go in each interval.
type PatientPacer struct{}

// NewPatientPacer wants the interval.
func NewPatientPacer(every time.Duration) *PatientPacer { return nil }

func (*PatientPacer) Wait(ctx context.Context) error { return nil }

// Hatch opens now and then.
type Hatch struct{}

// NewHatch is told what time it is.
func NewHatch(every time.Duration, now func() time.Time) *Hatch { return nil }

// Open reports whether something may go through now.
func (*Hatch) Open() bool { return true }

// Shut reports whether nothing would be allowed to go through.
func (*Hatch) Shut() bool { return true }

// PourBucket is poured into.
type PourBucket struct{}

// NewPourBucket leaks.
func NewPourBucket(capacity, leakPerSecond float64) *PourBucket { return nil }

func (*PourBucket) Pour(amount float64, at time.Time) error { return nil }
func (*PourBucket) Level(at time.Time) float64              { return 0 }
func (*PourBucket) SetCapacity(c float64) error             { return nil }

// Bundles reads a channel and returns one.
func Bundles[T any](in <-chan T, size int, age time.Duration) <-chan []T { return nil }

// DebounceStream reads a channel and returns one.
func DebounceStream(items chan int, wait time.Duration) <-chan int { return nil }

// LoopDebouncer belongs to a loop.
type LoopDebouncer struct{}

// NewLoopDebouncer wants the wait.
func NewLoopDebouncer(wait time.Duration) *LoopDebouncer { return nil }

func (*LoopDebouncer) Call(now time.Time) bool { return true }

// Visits counts for each visitor in sliding windows, estimated from those of two fixed windows: a sliding window
// counter.
type Visits struct{}

// NewVisits makes one.
func NewVisits(limit int, window time.Duration) *Visits { return nil }

func (*Visits) Allow(visitor string) bool    { return true }
func (*Visits) Remaining(visitor string) int { return 0 }

// Turns counts for each user.
type Turns struct{}

// NewTurns grants so many per window.
func NewTurns(limit int, window time.Duration) *Turns { return &Turns{} }

// Allow reports whether user may go on, and if not, when to come back.
func (*Turns) Allow(user string) (bool, time.Duration, []int) { return true, 0, nil }

// TickLimiter is filled by a ticker.
type TickLimiter struct{}

// NewTickLimiter allows up to n tokens during
// the given interval.
func NewTickLimiter(interval time.Duration, n int64) *TickLimiter { return nil }

func (*TickLimiter) AllowN(n int64) bool { return true }

// SpanLimiter does not say how many come in each interval.
type SpanLimiter interface {
	// Acquire reports if the next access is allowed, and never blocks.
	Acquire(ctx context.Context) bool
}

// NewSpanLimiter makes one.
func NewSpanLimiter(interval time.Duration, limit int) SpanLimiter { return nil }

// StallLimiter has callers that wait.
type StallLimiter struct{}

// NewStallLimiter wants a rate.
func NewStallLimiter(rate float64, burst int) *StallLimiter { return nil }

// Pass waits, and reports whether the caller may proceed or ctx was done.
func (*StallLimiter) Pass(ctx context.Context) bool { return true }
