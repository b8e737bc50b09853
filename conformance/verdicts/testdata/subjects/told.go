package subjects

import (
	"context"
	"time"
)

// Cooldown reads its clock.
type Cooldown struct{}

// NewCooldown is told what time it is.
func NewCooldown(interval time.Duration, now func() time.Time) *Cooldown { return &Cooldown{} }

func (*Cooldown) Allow() bool { return true }

// ToldCooldown is told the time by each caller.
type ToldCooldown struct{}

// NewToldCooldown wants the interval.
func NewToldCooldown(interval time.Duration) *ToldCooldown { return &ToldCooldown{} }

func (*ToldCooldown) Allow(now time.Time) bool { return true }

// ReadDebouncer reads a clock, and waits on another.
type ReadDebouncer struct{}

// NewReadDebouncer has no timers to be told of.
func NewReadDebouncer(wait time.Duration, now func() time.Time, f func(int)) *ReadDebouncer {
	return nil
}

func (*ReadDebouncer) Call(v int) {}

// Hands are a clock.
type Hands struct {
	Now       func() time.Time
	AfterFunc func(d time.Duration, f func()) (stop func() bool)
}

// HeadDebouncer may have a leading edge.
type HeadDebouncer struct{}

// NewHeadDebouncer is given a clock of functions.
func NewHeadDebouncer(clock Hands, wait time.Duration, leading bool, f func(int)) *HeadDebouncer {
	return nil
}

func (*HeadDebouncer) Call(v int) {}

// FullThrottle can do all that a throttle can.
type FullThrottle struct{}

// NewFullThrottle lets n through in each interval.
func NewFullThrottle(n uint, interval time.Duration, emit func(int)) *FullThrottle { return nil }

func (*FullThrottle) Call(v int)                         {}
func (*FullThrottle) Flush()                             {}
func (*FullThrottle) Discard() bool                      { return true }
func (*FullThrottle) Stop()                              {}
func (*FullThrottle) Shutdown(ctx context.Context) error { return nil }
func (*FullThrottle) Reset(now time.Time)                {}

// Tally is a sliding-window counter.
type Tally struct{}

// NewTally grants so many in a window.
func NewTally(limit int, window time.Duration) *Tally { return &Tally{} }

func (*Tally) Take(now time.Time, n int) (ok bool, remaining int) { return true, 0 }
func (*Tally) Peek(now time.Time) (allowed bool, remaining int)   { return true, 0 }
func (*Tally) Refund(n int)                                       {}
func (*Tally) Close()                                             {}

// Tallies are like one of fixed windows, and like a sliding log, for each key.
type Tallies struct{}

// NewTallies grants so many in a window.
func NewTallies(limit int, window time.Duration) *Tallies { return &Tallies{} }

func (*Tallies) TakeAt(now time.Time, key, n int) bool { return true }

// ToldMeters are told the time, and have a bucket for each key.
type ToldMeters struct{}

// NewToldMeters makes buckets.
func NewToldMeters(every time.Duration, burst int) *ToldMeters { return &ToldMeters{} }

func (*ToldMeters) AllowAt(at time.Time, key, n int) bool { return true }
func (*ToldMeters) SetBurst(n int)                        {}

// Admission is a limiter by its package, and runs functions.
type Admission struct{}

// NewAdmission has a backlog.
func NewAdmission(limit, backlog int, timeout time.Duration) *Admission { return &Admission{} }

func (*Admission) Do(ctx context.Context, run func()) error { return nil }

// DebounceGate has the name of what it is not.
type DebounceGate struct{}

// NewDebounceGate wants an interval.
func NewDebounceGate(interval time.Duration) *DebounceGate { return &DebounceGate{} }

func (*DebounceGate) Allow() bool { return true }

// BookBucket is a bucket that takes tokens in advance.
type BookBucket struct{}

// NewBookBucket wants a rate.
func NewBookBucket(rate float64, burst int) *BookBucket { return &BookBucket{} }

// Booking is what it returns.
type Booking struct{}

func (*Booking) Delay() time.Duration { return 0 }
func (*Booking) Cancel() bool         { return true }

func (*BookBucket) Allow(n int) bool           { return true }
func (*BookBucket) Reserve(n int) *Booking     { return nil }
func (*BookBucket) Tokens() float64            { return 0 }
func (*BookBucket) SetLimit(perSecond float64) {}

// LoanBucket is told the time of what it lends.
type LoanBucket struct{}

// NewLoanBucket wants a rate.
func NewLoanBucket(rate float64, burst int) *LoanBucket { return &LoanBucket{} }

// Loan is what it returns.
type Loan struct{ OK bool }

func (Loan) DelayFrom(t time.Time) time.Duration { return 0 }
func (Loan) CancelAt(t time.Time)                {}

func (*LoanBucket) AllowN(now time.Time, n int) bool            { return true }
func (*LoanBucket) ReserveN(now time.Time, n int) (Loan, error) { return Loan{}, nil }
func (*LoanBucket) Tokens(now time.Time) float64                { return 0 }

// Lots are batches. A size or a delay of 0 means unlimited.
type Lots struct{}

// NewLots gets what to do.
func NewLots(size int, delay time.Duration, handle func([]int)) *Lots { return &Lots{} }

func (*Lots) Add(v int) {}

// Licence hands out how a slot is given back.
type Licence struct{}

// NewLicence makes so many.
func NewLicence(slots int) *Licence { return &Licence{} }

func (*Licence) Acquire(ctx context.Context) (func(), error) { return nil, nil }
func (*Licence) TryAcquire() (func(), bool)                  { return nil, true }

// TextDebouncer has texts as events.
type TextDebouncer struct{}

// NewTextDebouncer hands the newest text over.
func NewTextDebouncer(wait time.Duration, f func(string)) *TextDebouncer { return &TextDebouncer{} }

func (*TextDebouncer) Trigger(text string) {}

// KeyTextDebouncer has keys that are texts.
type KeyTextDebouncer struct{}

// NewKeyTextDebouncer says whose wait is over.
func NewKeyTextDebouncer(wait time.Duration, f func(string)) *KeyTextDebouncer { return nil }

func (*KeyTextDebouncer) Trigger(key string) {}

// Topic is a text.
type Topic string

// TopicBatcher gathers topics.
type TopicBatcher struct{}

// NewTopicBatcher hands them over.
func NewTopicBatcher(size int, delay time.Duration, f func([]Topic)) *TopicBatcher { return nil }

func (*TopicBatcher) Add(t Topic) {}

// Mail is what carries no number.
type Mail struct{ Text string }

// MailDebouncer hands mail over.
type MailDebouncer struct{}

// NewMailDebouncer hands the newest over.
func NewMailDebouncer(wait time.Duration, f func(Mail)) *MailDebouncer { return nil }

func (*MailDebouncer) Trigger() {}

// WideDebouncer has wide numbers.
type WideDebouncer struct{}

// NewWideDebouncer hands the newest over.
func NewWideDebouncer(wait time.Duration, f func(string, ...int64)) *WideDebouncer { return nil }

func (*WideDebouncer) Trigger(id string, v int64) {}

// ChainDebouncer gets its callback behind its constructor.
type ChainDebouncer struct{}

// NewChainDebouncer wants the wait.
func NewChainDebouncer(wait time.Duration) *ChainDebouncer { return nil }

func (d *ChainDebouncer) WithFunc(f func()) *ChainDebouncer { return d }
func (*ChainDebouncer) SendSignal()                         {}
func (*ChainDebouncer) Do(before func())                    {}

// LonelyDebouncer has no callback that can be told.
type LonelyDebouncer struct{}

// NewLonelyDebouncer wants the wait.
func NewLonelyDebouncer(wait time.Duration) *LonelyDebouncer { return nil }

func (*LonelyDebouncer) Call(v int) {}
