package clock

import (
	"sync"
	"time"

	ct "github.com/escapement-go/escapement/conformance/clocktest"
	"github.com/jonboulle/clockwork"
)

// plain is a clock as most are written: a lock and a list of timers. Functions run on the
// goroutine that advances.
type plain struct {
	mu     sync.Locker
	under  bool // functions run under the lock
	now    time.Time
	timers []*plainTimer

	aside  bool      // tickers whose tick is unread are set aside, rather than tick in vain
	seen   time.Time // what was due up to here has fired
	mutant string    // what is wrong with that
}

// sendsUnderLock is a mistake: where a value is unread, the clock waits with its lock until there is room.
const sendsUnderLock = "waits under its lock for room in a channel"

// plainTimer is a timer of any kind. The channel of one with a function is nil.
type plainTimer struct {
	*plain
	at     time.Time
	armed  bool
	aside  bool
	period time.Duration // of a ticker
	f      func()
	c      chan time.Time
}

// nobody is the lock of a clock for one goroutine.
type nobody struct{}

func (nobody) Lock()   {}
func (nobody) Unlock() {}

// asideSpec describes a plain clock that sets unread tickers aside.
func asideSpec(name, mutant string) ct.Spec {
	return plainSpec(name, ct.Traits{}, func(p *plain) { p.aside, p.mutant = true, mutant })
}

func plainSpec(name string, traits ct.Traits, changes ...func(p *plain)) ct.Spec {
	traits.Waits = ct.WaitsForFunctions
	traits.OnAdvance = true
	return ct.Spec{
		Name: name, Traits: traits,
		New: func(ct.Env) ct.Funcs {
			p := &plain{
				mu: &sync.Mutex{}, now: time.Date(2001, 2, 3, 4, 5, 6, 7, time.UTC),
				under: traits.Reentrancy == ct.ReentrancyForbidden,
			}
			if traits.OneGoroutine {
				p.mu = nobody{}
			}
			for _, change := range changes {
				change(p)
			}
			return ct.Funcs{
				Now: p.Now, Advance: p.advance, Armed: p.armed,
				Sleep: func(d time.Duration) { <-p.timer(d, 0, nil).c },
				After: func(d time.Duration) <-chan time.Time { return p.timer(d, 0, nil).c },
				NewTimer: func(d time.Duration) clockwork.Timer {
					return p.timer(d, 0, nil)
				},
				AfterFunc: func(d time.Duration, f func()) clockwork.Timer { return p.timer(d, 0, f) },
				NewTicker: func(d time.Duration) clockwork.Ticker {
					if d <= 0 {
						panic("plain: a period of a ticker must be > 0")
					}
					return plainTicker{p.timer(d, d, nil)}
				},
			}
		},
	}
}

func (p *plain) Now() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now
}

func (p *plain) armed() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.timers {
		if t.armed {
			n++
		}
	}
	return n
}

// advance fires what is due on the way, the earliest first.
func (p *plain) advance(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	end := p.now.Add(d)
	for t := p.next(end); t != nil; t = p.next(end) {
		p.now, p.seen = t.at, t.at.Add(-1)
		if p.mutant == "seen" {
			p.seen = t.at.Add(-2)
		}
		t.fire()
	}
	p.now, p.seen = end, end
}

// next is the timer that is due first, up to end. Before the clock moves on, the tickers that were read
// since they were set aside are back.
func (p *plain) next(end time.Time) *plainTimer {
	first, soon := p.first(end), time.Duration(0)
	if p.mutant == "soon" {
		soon = 1
	}
	if p.aside && (first == nil || first.at.Sub(p.now) > soon) {
		p.putBack()
		first = p.first(end)
	}
	return first
}

func (p *plain) first(end time.Time) (first *plainTimer) {
	for _, t := range p.timers {
		if t.armed && !t.aside && !t.at.After(end) && (first == nil || t.at.Before(first.at)) {
			first = t
		}
	}
	return first
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

func (p *plain) timer(d, period time.Duration, f func()) *plainTimer {
	t := &plainTimer{plain: p, period: period, f: f}
	if f == nil {
		t.c = make(chan time.Time, 1)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timers = append(p.timers, t)
	t.arm(d)
	return t
}

// arm arms a timer under the lock.
func (t *plainTimer) arm(d time.Duration) {
	t.at, t.armed, t.aside = t.now.Add(d), true, false
	if d <= 0 {
		t.at = t.now
		t.fire()
	}
}

// fire fires a timer under the lock.
func (t *plainTimer) fire() {
	if t.armed = t.period > 0; t.armed {
		t.at, t.aside = t.at.Add(t.period), t.plain.aside
	}
	switch {
	case t.f == nil && t.mutant == sendsUnderLock:
		go t.send(t.now)
	case t.f == nil:
		select {
		case t.c <- t.now:
		default:
		}
	case t.under:
		t.f()
	default:
		t.mu.Unlock()
		defer t.mu.Lock()
		t.f()
	}
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
	select {
	case <-t.c:
		was = true
	default:
	}
	return was
}

func (t *plainTimer) Chan() <-chan time.Time { return t.c }

func (t *plainTimer) Stop() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.stop()
}

func (t *plainTimer) Reset(d time.Duration) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	was := t.stop()
	t.arm(d)
	return was
}

type plainTicker struct{ t *plainTimer }

func (t plainTicker) Chan() <-chan time.Time { return t.t.c }
func (t plainTicker) Stop()                  { t.t.Stop() }

func (t plainTicker) Reset(d time.Duration) {
	if d <= 0 {
		panic("plain: a period of a ticker must be > 0")
	}
	t.t.mu.Lock()
	defer t.t.mu.Unlock()
	t.t.stop()
	t.t.period = d
	t.t.arm(d)
}
