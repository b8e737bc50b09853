package fakeclock

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/escapement-go/escapement/internal/sched"
	"github.com/escapement-go/escapement/internal/stackmark"
	"github.com/jonboulle/clockwork"
)

var _ clockwork.Clock = (*Clock)(nil)

// Clock is a clock that moves only by Advance and its variants, as the package comment
// describes. [New] makes one; the zero Clock is what New() returns. It must not be
// copied. Durations are counted in nanoseconds from the start, up to 292 years. All
// methods may be called concurrently.
type Clock struct {
	settle    func()
	sites     bool
	hook      func(Event)
	leftovers bool
	patience  time.Duration           // of the watchdog
	now       atomic.Int64            // since start; written under mu, read without
	wall      atomic.Pointer[segment] // likewise

	// mu is never held while foreign code runs: a timer's function, settle or hook.
	mu      sync.Mutex
	visited int64 // what was due up to here has fired; now, or less while the rest of now is to come
	queue   queue
	unread  []*timer // tickers whose last tick is unread: armed, but not in the queue
	holds   int      // unreleased Holds
	held    []*timer // fired during a Hold, in firing order
	waiting []*waiter
	events  []Event        // not delivered yet
	telling bool           // somebody delivers them
	teller  stackmark.Mark // on the stack of hook

	busy   bool      // one Advance or release is under way
	turn   sync.Cond // its end
	queued int       // others that wait for it

	last    int64              // the Advance under way fires what is due up to here
	relays  bool               // functions that are over go on in its place
	active  int                // functions that the Advance under way waits for
	quiet   sync.Cond          // active is 0
	workers map[uint64]*worker // by mark, but not those given up
	idle    []*worker          // of workers, those that run nothing
	steps   uint64             // functions that left active
	instant int                // timers armed for no time by what is waited for
	endless int                // how many of these are too many
	halted  bool               // there were: until the next Advance, what is armed for no time stays armed
	dog     *watchdog          // of the Advance under way, once it has waited
	stuck   string             // why that must panic
}

// New returns a clock that stands at 2000-01-01 00:00:00 UTC, as a bubble does,
// or where [WithStart] puts it. It starts no goroutine and reads no real clock.
func New(opts ...Option) *Clock {
	c := new(Clock)
	c.init()
	for _, opt := range opts {
		if opt != nil {
			opt(c)
		}
	}
	return c
}

// init makes a zero clock one that works.
func (c *Clock) init() {
	c.queue = newQueue()
	c.patience, c.endless = patience, endless
	c.workers = make(map[uint64]*worker)
	c.wall.Store(origin)
	c.turn.L, c.quiet.L = &c.mu, &c.mu
}

// lock is mu.Lock in every method that a zero clock may meet first.
func (c *Clock) lock() {
	c.mu.Lock()
	if c.turn.L == nil {
		c.init()
	}
}

// Now returns the clock's time, without a monotonic reading and in the location
// of the start, or of the last SetWall. It takes no lock.
func (c *Clock) Now() time.Time {
	s, now := c.reading()
	return s.at(now)
}

// Elapsed returns how far the clock has moved since its start, whatever
// SetWall did to the wall clock.
func (c *Clock) Elapsed() time.Duration { return time.Duration(c.now.Load()) }

// After returns the channel of a new timer, as NewTimer(d).Chan() does.
func (c *Clock) After(d time.Duration) <-chan time.Time { return c.sending(KindAfter, d).c }

// NewTimer returns a timer that sends the time of its deadline, d from now, on
// its channel. With d <= 0 the value is there when NewTimer returns.
//
// As in package time, Stop and Reset report true for a timer that fired but
// whose value was not received, and discard the value.
func (c *Clock) NewTimer(d time.Duration) clockwork.Timer { return c.sending(KindTimer, d) }

func (c *Clock) sending(kind Kind, d time.Duration) *timer {
	t := c.newTimer(kind)
	t.c = make(chan time.Time, 1)
	c.lock()
	defer c.unlock()
	c.arm(t, d, EventArmed)
	return t
}

// AfterFunc calls f on another goroutine when d has passed, and at once with
// d <= 0. The timer's Chan is nil. Stop does not wait for f.
//
// Advance waits for the functions that it starts, and for those that these
// start with d <= 0. It does not wait for a function that another goroutine
// starts with d <= 0. AfterFunc panics if f is nil, where package time ends the
// process when the timer fires.
func (c *Clock) AfterFunc(d time.Duration, f func()) clockwork.Timer {
	if f == nil {
		panic(fmt.Sprintf("fakeclock: AfterFunc(%v, nil): there is nothing to call; use NewTimer", d))
	}
	return c.calling(KindAfterFunc, d, f)
}

// ContextAfterFunc is AfterFunc for packages that make contexts, such as clockctx: the
// timer is listed as KindContext.
func (c *Clock) ContextAfterFunc(d time.Duration, f func()) clockwork.Timer {
	if f == nil {
		panic(fmt.Sprintf("fakeclock: ContextAfterFunc(%v, nil): there is nothing to call; use NewTimer", d))
	}
	return c.calling(KindContext, d, f)
}

func (c *Clock) calling(kind Kind, d time.Duration, f func()) *timer {
	t := c.newTimer(kind)
	t.f = f
	c.lock()
	defer c.unlock()
	c.arm(t, d, EventArmed)
	return t
}

// NewTicker returns a ticker that sends the time every d on its channel,
// beginning d from now. A tick that is due while an earlier one is unread is
// dropped; such ticks cost nothing. NewTicker panics if d <= 0, with package
// time's text.
//
// As in package time, Reset and Stop discard an unread tick, and Reset panics
// if its argument is <= 0.
func (c *Clock) NewTicker(d time.Duration) clockwork.Ticker {
	if d <= 0 {
		panic("non-positive interval for NewTicker")
	}
	t := c.newTimer(KindTicker)
	t.c = make(chan time.Time, 1)
	t.period = int64(d)
	c.lock()
	defer c.unlock()
	c.arm(t, d, EventArmed)
	return (*ticker)(t)
}

// Sleep blocks until d has passed, and not at all with d <= 0.
func (c *Clock) Sleep(d time.Duration) {
	if d <= 0 {
		c.doze()
		return
	}
	t := c.newTimer(KindSleep)
	t.wake = make(chan struct{})
	c.sleep(t, d)
	<-t.wake
	sched.Woken("fakeclock.Sleep")
}

// sleep arms t for the sleep of its caller.
func (c *Clock) sleep(t *timer, d time.Duration) {
	c.lock()
	defer c.unlock()
	c.arm(t, d, EventArmed)
	c.tell() // before an Advance that waits for the caller moves on
	if w := c.caller(); w != nil {
		t.awaited = true
		w.bed = t
		c.leave()
	}
}
