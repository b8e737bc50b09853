package subjects

import (
	"context"
	"sync"
	"time"
)

// Tickets hands out how a ticket is given back.
type Tickets struct{}

// NewTickets makes them.
func NewTickets(n uint) *Tickets { return &Tickets{} }

func (t *Tickets) GetToken(ctx context.Context, cost uint) (func() error, error) { return nil, nil }

// RateLimit is a semaphore, whatever its name says, whose wait a channel ends.
type RateLimit struct{}

// NewRateLimit lets n through.
func NewRateLimit(n int) *RateLimit { return &RateLimit{} }

func (r *RateLimit) GetToken(done <-chan struct{}) (exit bool) { return false }
func (r *RateLimit) PutToken()                                 {}

// Throttler lets so many work, and is told what came of it.
type Throttler struct{}

// NewThrottler lets n work.
func NewThrottler(n int) *Throttler { return &Throttler{} }

func (t *Throttler) Do() error      { return nil }
func (t *Throttler) Done(err error) {}

// Permits waits for so long.
type Permits struct{}

// NewPermits makes them.
func NewPermits(n int) *Permits { return &Permits{} }

func (p *Permits) AcquireTimeout(d time.Duration) error { return nil }
func (p *Permits) Release()                             {}
func (p *Permits) Wait()                                {}

// Fixed is a channel.
type Fixed chan struct{}

// NewFixed has so many places.
func NewFixed(limit int) Fixed { return make(Fixed, limit) }

func (f Fixed) Take()         {}
func (f Fixed) TryTake() bool { return true }
func (f Fixed) Release()      {}

// Latch is a lock of many, some of whose methods are of an interface in it.
type Latch interface {
	sync.Locker
	TryLock() bool
}

// NewLatch has room.
func NewLatch(capacity int) Latch { return nil }

// Door is an interface, and what is made is a pointer to one.
type Door interface {
	AcquireCtx(ctx context.Context) error
	Release()
}

// NewDoor returns a pointer.
func NewDoor(n int) *Door { return new(Door) }

// Turnstile waits without a context, or not at all.
type Turnstile struct{}

// NewTurnstile has so many places.
func NewTurnstile(slots int) *Turnstile { return &Turnstile{} }

func (*Turnstile) Acquire()         {}
func (*Turnstile) TryAcquire() bool { return true }
func (*Turnstile) Release()         {}

// Flock runs functions, and waits for all of them.
type Flock struct{}

// NewFlock runs so many at once.
func NewFlock(size int) *Flock { return &Flock{} }

func (*Flock) Go(f func(ctx context.Context)) {}
func (*Flock) Wait()                          {}

// TakeBucket says how many it took and how many it put back: tokens, and no slots.
type TakeBucket struct{}

// NewTakeBucket is filled now and then.
func NewTakeBucket(capacity int64, freq time.Duration) *TakeBucket { return &TakeBucket{} }

func (*TakeBucket) Wait(n int64) time.Duration           { return 0 }
func (*TakeBucket) Take(n int64) (taken int64)           { return n }
func (*TakeBucket) Put(n int64) (added int64)            { return n }
func (*TakeBucket) WaitN(key string, n, rate int64) bool { return true }

// Manager lets goroutines begin.
type Manager struct{}

// NewManager has so many places.
func NewManager(goroutines int) *Manager { return &Manager{} }

func (*Manager) Wait()        {}
func (*Manager) Done()        {}
func (*Manager) WaitAllDone() {}

// Executor may begin a job and return, or wait for it.
type Executor struct{}

// NewExecutor runs so many at once.
func NewExecutor(limit int) *Executor { return &Executor{} }

func (*Executor) Execute(job func()) (int, error) { return 0, nil }

// Launcher begins jobs.
type Launcher struct{}

// NewLauncher runs so many at once.
func NewLauncher(limit int) *Launcher { return &Launcher{} }

// Do waits for its turn, begins a goroutine for the job and returns whether it did.
func (*Launcher) Do(job func()) bool { return true }

// Many has forms for one and for several.
type Many struct{}

// NewMany has so many permits.
func NewMany(permits int) *Many { return &Many{} }

func (*Many) Acquire()                     {}
func (*Many) AcquireMany(n int)            {}
func (*Many) Release()                     {}
func (*Many) ReleaseMany(n int) (left int) { return 0 }
