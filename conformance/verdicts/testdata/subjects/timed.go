package subjects

import "time"

// Clock is what some constructors want.
type Clock interface {
	Now() time.Time
	Sleep(d time.Duration)
}

// Pacer lets its callers through one after the other.
type Pacer struct{}

// NewPacer wants a rate per second and a pointer to an interface.
func NewPacer(rate, slack int, clock *Clock) *Pacer { return &Pacer{} }

func (p *Pacer) Take() time.Time { return time.Time{} }

// FlowLimiter is a limiter whose period, clock and slack are options.
type FlowLimiter struct{}

// FlowLimiterOption is one of a FlowLimiter.
type FlowLimiterOption func(*FlowLimiter)

// NewFlowLimiter wants a rate.
func NewFlowLimiter(rate int, opts ...FlowLimiterOption) *FlowLimiter { return &FlowLimiter{} }

// Per sets the period.
func Per(d time.Duration) FlowLimiterOption { return nil }

// WithSlack sets what may be saved.
func WithSlack(slack int) FlowLimiterOption { return nil }

// WithTimeSource sets the clock.
func WithTimeSource(c Clock) FlowLimiterOption { return nil }

func (f *FlowLimiter) Take() time.Time { return time.Time{} }

// Store keeps a limiter for each name.
type Store struct{}

// StoreConfig is its configuration.
type StoreConfig struct {
	Rate      float64
	Burst     int
	ExpiresIn time.Duration
	Now       func() time.Time
}

// NewStore takes the rate for the burst.
func NewStore(rate float64) *Store { return &Store{} }

// NewStoreWithConfig takes both.
func NewStoreWithConfig(c StoreConfig) *Store { return &Store{} }

func (s *Store) Allow(name string) (bool, error) { return true, nil }

// SaverBucket takes what there is.
type SaverBucket struct{}

// NewSaverBucket is told the time.
func NewSaverBucket(fillInterval time.Duration, capacity int64, now func() time.Time) *SaverBucket {
	return &SaverBucket{}
}

func (s *SaverBucket) TakeAvailable(n int64) int64 { return n }
func (s *SaverBucket) TakeMaxDuration(n int64, most time.Duration) (time.Duration, bool) {
	return 0, true
}

// Level is no number of requests.
type Level int8

// Sampler has its configuration in fields.
type Sampler struct {
	Burst  uint32
	Period time.Duration
	Next   func()
}

func (s *Sampler) Sample(l Level) bool { return true }

// Ring may be a window or a bucket.
type Ring struct{}

// NewRing grants so many in a window.
func NewRing(maxEvents int, window time.Duration) *Ring { return &Ring{} }

func (r *Ring) Allow() bool { return true }
func (r *Ring) Stop()       {}

// Often runs what it is handed, now and then.
type Often struct{}

// NewOften wants a duration.
func NewOften(d time.Duration) *Often { return &Often{} }

func (o *Often) Do(f func() error) error { return nil }

// KeyedCalls waits for each key.
type KeyedCalls[K comparable, V any] struct{}

// KeyedOption is one of theirs.
type KeyedOption func()

// MaxWait bounds the wait.
func MaxWait(d time.Duration) KeyedOption { return nil }

// NewKeyedDebouncer waits for each key.
func NewKeyedDebouncer[K comparable, V any](wait time.Duration, f func(K, V), opts ...KeyedOption) *KeyedCalls[K, V] {
	return nil
}

func (k *KeyedCalls[K, V]) Call(key K, v V) error { return nil }
func (k *KeyedCalls[K, V]) Cancel(key K) bool     { return true }
func (k *KeyedCalls[K, V]) Stop()                 {}

// SlidingTwo says by its name, and not by that of its constructor, how it counts.
type SlidingTwo struct{}

// NewTwo grants so many in a window.
func NewTwo(limit int, window time.Duration) *SlidingTwo { return &SlidingTwo{} }

func (*SlidingTwo) AllowN(n int) bool { return true }
func (*SlidingTwo) GiveBack(n int64)  {}
func (*SlidingTwo) Reset()            {}

// RateBucket hands its items over one after the other.
type RateBucket struct{}

// NewRateBucket calls handle, once in each interval.
func NewRateBucket(capacity int, interval time.Duration, handle func(int)) *RateBucket { return nil }

func (*RateBucket) Put(v int) error { return nil }
func (*RateBucket) Close()          {}
func (*RateBucket) Stop()           {}

// Cell has a burst, as no window has.
type Cell struct{}

// NewCell grants a burst at once.
func NewCell(burst, limit int, window time.Duration) *Cell { return &Cell{} }

// NewRatedCell is told a rate.
func NewRatedCell(perSecond float64, burst int) *Cell { return &Cell{} }

func (*Cell) Allow() bool { return true }

// PerKey debounces each key by itself.
type PerKey struct{}

// NewPerKey wants the wait and what is called.
func NewPerKey(wait time.Duration, fire func(key, v int)) *PerKey { return &PerKey{} }

func (d *PerKey) Debounce(key, v int)  {}
func (d *PerKey) Cancel(key int) bool  { return true }
func (d *PerKey) Flush(key int)        {}
func (d *PerKey) Pending(key int) bool { return true }

// OwnWatch is a clock with timers of its own.
type OwnWatch interface {
	Now() time.Time
	AfterFunc(d time.Duration, f func()) Alarm
	NewTimer(d time.Duration) Bell
}

// Alarm can be stopped.
type Alarm interface{ Stop() bool }

// Bell sends the time.
type Bell interface {
	C() <-chan time.Time
	Stop() bool
}

// WatchedDebouncer debounces by such a clock.
type WatchedDebouncer struct{}

// NewWatchedDebouncer wants it.
func NewWatchedDebouncer(watch OwnWatch, wait time.Duration, fire func(int)) *WatchedDebouncer {
	return &WatchedDebouncer{}
}

func (*WatchedDebouncer) Call(v int) {}
func (*WatchedDebouncer) Discard()   {}
