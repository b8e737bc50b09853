package subjects

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
