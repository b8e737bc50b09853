package clock

import (
	"sync"
	"time"

	ct "github.com/escapement-go/escapement/conformance/clocktest"
	"github.com/escapement-go/escapement/internal/zoo"
	"github.com/jonboulle/clockwork"
)

// plain is a clock as most are written: a lock and a list of timers. Functions run on the
// goroutine that advances. It is correct unless mutant names one of its mistakes.
type plain struct {
	under   bool // functions run under the lock
	settles bool // functions have goroutines of their own, and it waits for all that it wakes
	aside   bool // tickers whose tick is unread are set aside, rather than tick in vain
	mutant  string

	settle  func()
	mu      sync.Locker
	now     time.Time
	end     time.Time // of the newest Advance
	seen    time.Time // what was due up to here has fired
	timers  []*plainTimer
	running int // functions
	// These are only of the mutants that need them.
	stopping *sync.Mutex
	stops    int
}

// plainTimer is a timer of any kind. The channel of one with a function is nil.
type plainTimer struct {
	*plain
	at     time.Time
	armed  bool
	fired  bool // since it was armed
	aside  bool
	period time.Duration // of a ticker
	reset  bool          // it was armed again
	after  bool          // of After or Sleep, which show its channel only
	f      func()
	c      chan time.Time
}

const (
	runsUnderLock  = "functions run under the clock's lock"
	keepsLock      = "keeps a lock when a timer is reset"
	sendsUnderLock = "waits under its lock for room in a channel"
	tickComesBack  = "a tick that was dropped a nanosecond ago comes after all"
	lateAlone      = "After alone sends the time after its deadline"
	tickIsLost     = "a ticker is read while others are due, and loses a tick"
)

// unsettled are the mistakes of clocks that wait for functions only.
var unsettled = []string{runsUnderLock, keepsLock, sendsUnderLock, tickComesBack, tickIsLost}

// nobody is the lock of a clock for one goroutine.
type nobody struct{}

func (nobody) Lock()   {}
func (nobody) Unlock() {}

// start is what a plain clock shows first.
var start = time.Date(2001, 2, 3, 4, 5, 6, 7, time.UTC)

// plainSpec describes clocks that are made like one.
func plainSpec(name string, traits ct.Traits, like plain) ct.Spec {
	if traits.Waits, traits.OnAdvance = ct.WaitsForFunctions, true; like.settles {
		traits.Waits, traits.OnAdvance = ct.WaitsForAll, false
	}
	return ct.Spec{
		Name: name, Traits: traits,
		New: func(env ct.Env) ct.Funcs {
			p := like
			p.settle, p.mu, p.stopping, p.now = env.Settle, &sync.Mutex{}, &sync.Mutex{}, start
			if traits.OneGoroutine {
				p.mu = nobody{}
			}
			f := ct.Funcs{
				Now: p.Now, Advance: p.advance, Armed: p.count,
				Sleep: p.sleep, After: p.after, NewTimer: p.newTimer, NewTicker: p.newTicker,
				Since:          func(t time.Time) time.Duration { return p.Now().Sub(t) },
				Until:          func(t time.Time) time.Duration { return t.Sub(p.Now()) },
				AfterFunc:      func(d time.Duration, f func()) clockwork.Timer { return p.add(&plainTimer{f: f}, d) },
				NoTimerAnswers: p.is("timers answer nothing, and a function is not stopped"),
			}
			if p.is(lateAlone) {
				afterAlone(&f)
			}
			return f
		},
	}
}

func (p *plain) is(mutant string) bool { return p.mutant == mutant }

func (p *plain) Now() time.Time {
	if !p.is("Now reads without the lock what Advance writes") {
		p.mu.Lock()
		defer p.mu.Unlock()
	}
	if p.is("Now is the end of the Advance") && p.end.After(p.now) {
		return p.end
	}
	return p.now
}

// count is how many timers are armed.
func (p *plain) count() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.timers {
		if t.armed || t.f != nil && t.at.After(p.now) && p.is("a stopped function is still counted") {
			n++
		}
	}
	if p.is("a function that runs is still counted") {
		n += p.running
	}
	return n
}

// advance fires what is due on the way, the earliest first.
func (p *plain) advance(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rest()
	p.end = p.now.Add(d)
	if p.is("Advance panics where two deadlines meet") {
		p.meet()
	}
	for t := p.next(); t != nil; t = p.next() {
		p.now, p.seen = t.at, t.at.Add(-1)
		if p.is(tickComesBack) {
			p.seen = t.at.Add(-2)
		}
		t.fire()
		p.rest()
	}
	p.now, p.seen = p.end, p.end
}

// rest lets what was woken come to rest.
func (p *plain) rest() {
	if p.settles {
		p.mu.Unlock()
		defer p.mu.Lock()
		p.settle()
	}
}

// meet panics if two functions are due at one instant up to the end.
func (p *plain) meet() {
	due := map[time.Time]bool{}
	for _, t := range p.timers {
		if t.f == nil || t.at.After(p.end) {
			continue
		}
		if due[t.at] {
			panic("two heads, one slot")
		}
		due[t.at] = true
	}
}

// next is the timer that is due first, up to the end. Before the clock moves on, the tickers that were read
// since they were set aside are back.
func (p *plain) next() *plainTimer {
	first, soon := p.first(), time.Duration(0)
	if p.is(tickIsLost) {
		soon = 1
	}
	if p.aside && (first == nil || first.at.Sub(p.now) > soon) {
		p.putBack()
		first = p.first()
	}
	return first
}

func (p *plain) first() (first *plainTimer) {
	for _, t := range p.timers {
		if t.armed && !t.aside && !t.at.After(p.end) && (first == nil || t.before(first)) {
			first = t
		}
	}
	return first
}

// before reports whether a timer fires before another.
func (t *plainTimer) before(other *plainTimer) bool {
	if t.is("functions run in the reverse order") && t.f != nil && other.f != nil {
		return t.at.After(other.at)
	}
	return t.at.Before(other.at)
}

// putBack puts the tickers that were read since they were set aside where they tick next.
func (p *plain) putBack() {
	for _, t := range p.timers {
		if !t.armed || !t.aside || len(t.c) > 0 {
			continue
		}
		if late := p.seen.Sub(t.at); late >= 0 {
			t.at = t.at.Add((late/t.period + 1) * t.period)
		}
		t.aside = false
	}
}

func (p *plain) sleep(d time.Duration) {
	switch {
	case p.is("sleeps of a nanosecond are none"):
		d -= d % 2
	case p.is("Sleep oversleeps by a nanosecond") && d > 0:
		d++
	}
	<-p.after(d)
}

func (p *plain) after(d time.Duration) <-chan time.Time { return p.add(&plainTimer{after: true}, d).c }

func (p *plain) newTimer(d time.Duration) clockwork.Timer {
	switch p.mutant {
	case "a timer of zero waits for the clock":
		d = max(d, 1)
	case "every timer has a goroutine for good":
		zoo.LeaveForGood()
	}
	return p.add(&plainTimer{}, d)
}

func (p *plain) newTicker(d time.Duration) clockwork.Ticker {
	switch p.mutant {
	case "NewTicker takes a period of zero":
		d = max(d, 1)
	case "a ticker of a nanosecond panics":
		if d < 2 {
			panic("the period is too short")
		}
	}
	mustTick(d)
	return plainTicker{p.add(&plainTimer{period: d}, d)}
}

// mustTick panics if a ticker cannot have a period.
func mustTick(period time.Duration) {
	if period <= 0 {
		panic("plain: a period of a ticker must be > 0")
	}
}

// add arms a new timer.
func (p *plain) add(t *plainTimer, d time.Duration) *plainTimer {
	t.plain = p
	if t.f == nil || p.is("a function's timer has a channel") {
		t.c = make(chan time.Time, 1)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timers = append(p.timers, t)
	t.arm(d)
	return t
}

// isTimer reports whether NewTimer made it.
func (t *plainTimer) isTimer() bool { return t.f == nil && t.period == 0 && !t.after }

// arm arms a timer under the lock.
func (t *plainTimer) arm(d time.Duration) {
	t.at, t.armed, t.fired, t.aside = t.now.Add(d), true, false, false
	if t.is("what a function arms counts from the end of the Advance") && t.isTimer() && !t.reset {
		t.at = t.at.Add(max(0, t.end.Sub(t.now)))
	}
	if d <= 0 || t.overflows(d) {
		t.at = t.now
		t.fire()
	}
}

// overflows are the mistakes of clocks that count in nanoseconds since their start, or since 1970, of which there
// are too few for what is armed for the longest duration when the clock has moved: it is due at once.
func (t *plainTimer) overflows(d time.Duration) bool {
	past, counted := t.now.Sub(start), false
	switch t.mutant {
	case "a timer overflows":
		counted = t.isTimer()
	case "a ticker overflows":
		counted = t.period > 0
	case "the deadline of a Reset overflows":
		counted = t.reset
	case "the longest wait of a function overflows":
		past, counted = time.Duration(t.now.UnixNano()), t.f != nil && !t.reset
	}
	return counted && past+d < 0
}

// fire fires a timer under the lock.
func (t *plainTimer) fire() {
	value := t.now
	t.armed, t.fired = t.period > 0, true
	if t.armed {
		t.at, t.aside = t.at.Add(t.period), t.plain.aside
		if t.is("ticker drifts by a nanosecond") {
			t.at = t.at.Add(1)
		}
	} else if t.is("timer sends the time after its deadline") && t.isTimer() || t.is(lateAlone) {
		value = value.Add(1)
	}
	switch {
	case t.f == nil && t.is(sendsUnderLock):
		go t.send(value)
	case t.f == nil:
		select {
		case t.c <- value:
		default:
		}
	case t.under:
		t.f()
	case t.settles:
		t.running++
		go func() {
			t.run()
			t.mu.Unlock()
		}()
	default:
		t.running++
		t.mu.Unlock()
		t.run()
	}
}

// run runs the function without the lock, and returns with it.
func (t *plainTimer) run() {
	defer func() {
		t.mu.Lock()
		t.running--
	}()
	t.f()
}

// send waits until there is room for the value.
func (t *plainTimer) send(value time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.c <- value
}

// stop disarms a timer under the lock and drops what nobody has received.
func (t *plainTimer) stop() (was bool) {
	was, t.armed = t.armed, false
	if t.is("values stay after Stop, as before Go 1.23") && t.period == 0 ||
		t.is("ticks stay after Stop, as before Go 1.23") && t.period > 0 {
		return was
	}
	select {
	case <-t.c:
		was = true
	default:
	}
	return was
}

func (t *plainTimer) Chan() <-chan time.Time { return t.c }

func (t *plainTimer) Stop() bool {
	if t.is("counts without a lock") {
		t.stops++
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.f == nil {
		return t.stop() || t.is("Stop of a timer always says true")
	}
	if t.is("a Stop of what has run panics under its lock") {
		if t.stopping.Lock(); !t.armed {
			panic("the timer is in no list")
		}
		t.stopping.Unlock()
	}
	switch {
	case t.is("timers answer nothing, and a function is not stopped"),
		t.is("Stop at the deadline says true and leaves the function") && !t.fired && t.at.Equal(t.now):
		return true
	case t.is("Stop among many drops the newest as well") && len(t.timers) > 30:
		t.timers[len(t.timers)-1].armed = false
	}
	return t.stop() && !t.is("Stop of a function always says false")
}

func (t *plainTimer) Reset(d time.Duration) bool {
	t.mu.Lock()
	if !t.is(keepsLock) || t.f != nil {
		defer t.mu.Unlock()
	}
	unread := len(t.c) > 0
	switch {
	case t.is("Reset of an unread timer leaves its value") && unread:
		t.arm(d)
		return true
	case t.is("Reset of a stopped timer is lost") && t.f == nil && !t.armed && !t.fired:
		return false
	}
	was := t.stop()
	t.reset = true
	t.arm(d)
	return was && !(t.is("Reset of an unread timer says false") && unread)
}

type plainTicker struct{ *plainTimer }

func (t plainTicker) Stop() {
	if !t.is("Stop after Reset does not stop a ticker") || !t.reset {
		t.plainTimer.Stop()
	}
}

func (t plainTicker) Reset(d time.Duration) {
	mustTick(d)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stop()
	t.period, t.reset = d, true
	t.arm(d)
}
