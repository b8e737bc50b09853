// Package subjects has types as others write them, for the tests of init: none does anything.
package subjects

import (
	"context"
	"net/http"
	"time"
)

// Wheel is a clock whose timers are of its own making.
type Wheel struct{}

// NewWheel wants an instant.
func NewWheel(start time.Time) *Wheel { return &Wheel{} }

func (w *Wheel) Now() time.Time                                      { return time.Time{} }
func (w *Wheel) SetTime(t time.Time)                                 {}
func (w *Wheel) TickAfter(d time.Duration) <-chan time.Time          { return nil }
func (w *Wheel) AfterFunc(d time.Duration, f func()) *Timer          { return &Timer{} }
func (w *Wheel) NewTimer(d time.Duration) (<-chan time.Time, *Timer) { return nil, &Timer{} }
func (w *Wheel) Ticker(d time.Duration, tags ...string) *Ticker      { return &Ticker{} }
func (w *Wheel) NumTimers() int                                      { return 0 }

// Timer cannot be reset.
type Timer struct{}

func (t *Timer) Stop() {}

// Ticker is as in package time.
type Ticker struct{ C <-chan time.Time }

func (t *Ticker) Stop()                 {}
func (t *Ticker) Reset(d time.Duration) {}

// Watch has other names, and a Tick that moves nothing.
type Watch struct{}

// NewWatch wants an instant.
func NewWatch(start time.Time) *Watch { return &Watch{} }

func (*Watch) Now() time.Time                                     { return time.Time{} }
func (*Watch) Tick(d time.Duration) <-chan time.Time              { return nil }
func (*Watch) AddTime(d time.Duration) (woken int)                { return 0 }
func (*Watch) SleepFor(ctx context.Context, d time.Duration) bool { return true }
func (*Watch) NewTimer(d time.Duration) Hand                      { return nil }

// Sleep must only be called by a goroutine that is counted.
func (*Watch) Sleep(d time.Duration) {}

func (*Watch) Sleepers() int { return 0 }

func (*Watch) ContextWithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return ctx, func() {}
}

// Hand is a timer of a Watch.
type Hand interface {
	Ch() *<-chan time.Time
	Stop() bool
}

// Guard answers with what is left, as a struct.
type Guard struct{}

// Options are the options of a Guard.
type Options struct {
	Tokens uint64
	Window time.Duration
	Sweep  time.Duration
}

// NewGuard may fail.
func NewGuard(o *Options) (*Guard, error) { return &Guard{}, nil }

// Result says how things stand.
type Result struct {
	Limited    bool
	Remaining  int
	RetryAfter time.Duration
	Reset      time.Time
}

func (g *Guard) RateLimit(ctx context.Context, key string, quantity uint) (Result, error) {
	return Result{}, nil
}

func (g *Guard) Close(ctx context.Context) error { return nil }

// Counter hands over the window before.
type Counter interface {
	Get(key string, currentWindow, previousWindow time.Time) (int, int, error)
}

// Gate is middleware.
type Gate struct{}

// NewGate makes one.
func NewGate(limit int, window time.Duration, counter ...Counter) *Gate { return &Gate{} }

func (g *Gate) Handler(next http.Handler) http.Handler { return next }

// Throttle is middleware that lets so many in at once.
func Throttle(limit int) func(next http.Handler) http.Handler { return nil }

// ThrottleBacklog lets so many wait, and for so long.
func ThrottleBacklog(limit, backlogLimit int, backlogTimeout time.Duration) func(http.Handler) http.Handler {
	return nil
}

// Crew runs functions.
type Crew struct{}

// NewCrew makes one.
func NewCrew(size int) *Crew { return &Crew{} }

func (c *Crew) Go(ctx context.Context, f func()) bool { return true }
func (c *Crew) Wait()                                 {}

// Bucket is made by Init and counts in fractions.
type Bucket struct{}

// Init begins.
func (s *Bucket) Init(rate, burst float64)                          {}
func (s *Bucket) TryToFulfill(amount float64) (bool, time.Duration) { return true, 0 }
func (s *Bucket) LimitReached(key string) bool                      { return false }

// Batcher gathers what comes.
type Batcher struct{ DelayThreshold time.Duration }

// NewBatcher gets what to do.
func NewBatcher(handle func(items []any) error) *Batcher { return &Batcher{} }

func (b *Batcher) Add(item any, size int) error { return nil }

// Valve is a semaphore with other names.
type Valve struct{}

// NewValve lets n through.
func NewValve(n int) *Valve { return &Valve{} }

func (v *Valve) Start(timeout time.Duration) bool { return true }
func (v *Valve) TryStart() bool                   { return true }
func (v *Valve) Done()                            {}

// Sized is a wait group with a bound.
type Sized struct{}

// NewSized runs so many at once.
func NewSized(limit int) Sized { return Sized{} }

func (s *Sized) Add()                                     {}
func (s *Sized) AddWithContext(ctx context.Context) error { return nil }
func (s *Sized) Done()                                    {}
func (s *Sized) Wait()                                    {}

// Meter is told the time.
type Meter struct{}

// NewMeter makes a bucket.
func NewMeter(every time.Duration, burst int) *Meter { return &Meter{} }

func (m *Meter) AllowN(n int, at time.Time) bool { return true }
