package subjects

import (
	"context"
	"time"
)

// RankLimiter has queues.
type RankLimiter struct{}

// Rank is a place in a queue.
type Rank int

// NewRankLimiter has a number that is none of a bucket.
func NewRankLimiter(priorities int, rate, burst float64) *RankLimiter { return nil }

func (*RankLimiter) Wait(ctx context.Context, r Rank, tokens float64) error { return nil }

// RankSemaphore has queues.
type RankSemaphore struct{}

// NewRankSemaphore has a number that is none of a semaphore.
func NewRankSemaphore(ranks, capacity int) *RankSemaphore { return nil }

func (*RankSemaphore) Acquire(ctx context.Context, n int) error { return nil }
func (*RankSemaphore) Release(n int)                            {}

// Lobby seats some of those that wait.
type Lobby struct{}

// LobbyOptions configure it.
type LobbyOptions struct {
	Limit, BacklogLimit int
	BacklogTimeout      time.Duration
}

// NewLobby makes one.
func NewLobby(o LobbyOptions) *Lobby { return nil }

func (*Lobby) Acquire(ctx context.Context) error { return nil }
func (*Lobby) Release()                          {}

// MostBucket has a rate behind its burst.
type MostBucket struct{}

// NewMostBucket says which by names.
func NewMostBucket(maxQuota, quotaPerSec float64) *MostBucket { return nil }

func (*MostBucket) Allow() bool { return true }

// QuantumBucket has a burst before what comes in each interval.
type QuantumBucket struct{}

// NewQuantumBucket says which by one name.
func NewQuantumBucket(interval time.Duration, capacity, quantum int) *QuantumBucket { return nil }

func (*QuantumBucket) Allow() bool { return true }

// TenantBucket looks now and then whether its limits have changed.
type TenantBucket struct{}

// NewTenantBucket has a period that is none of its rate.
func NewTenantBucket(rate float64, burst int, recheckPeriod time.Duration) *TenantBucket { return nil }

func (*TenantBucket) Allow() bool { return true }

// Visitors calls its window a rate.
type Visitors struct{}

// VisitorsOptions configure it.
type VisitorsOptions struct {
	Rate  time.Duration
	Limit uint
}

// NewVisitors makes one.
func NewVisitors(o VisitorsOptions) *Visitors { return nil }

func (*Visitors) Allow() bool { return true }

// Ambiguous has two numbers whose names tell nothing.
type Ambiguous struct{}

// NewAmbiguous makes one.
func NewAmbiguous(a, b int, window time.Duration) *Ambiguous { return nil }

func (*Ambiguous) Allow() bool { return true }

// RateSet is no option.
type RateSet struct{}

// SetBucket has rates.
type SetBucket struct{}

// NewSetBucket needs them.
func NewSetBucket(rates *RateSet) *SetBucket { return nil }

func (*SetBucket) Allow() bool { return true }

// Nameless does not say what its text is.
type Nameless interface {
	Allow(string) bool
}

// NewNameless makes one.
func NewNameless(limit int, window time.Duration) Nameless { return nil }
