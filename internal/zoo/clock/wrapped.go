package clock

import (
	"sync"
	"time"

	ct "github.com/escapement-go/escapement/conformance/clocktest"
	"github.com/jonboulle/clockwork"
)

// timerMutant is a timer whose methods can be replaced.
type timerMutant struct {
	clockwork.Timer
	stop  func() bool
	reset func(d time.Duration) bool
	c     chan time.Time
}

func (t *timerMutant) Stop() bool {
	if t.stop != nil {
		return t.stop()
	}
	return t.Timer.Stop()
}

func (t *timerMutant) Reset(d time.Duration) bool {
	if t.reset != nil {
		return t.reset(d)
	}
	return t.Timer.Reset(d)
}

func (t *timerMutant) Chan() <-chan time.Time {
	if t.c != nil {
		return t.c
	}
	return t.Timer.Chan()
}

func wrapTimers(mistake func(t *timerMutant)) func(f *ct.Funcs) {
	return func(f *ct.Funcs) {
		newTimer := f.NewTimer
		f.NewTimer = func(d time.Duration) clockwork.Timer {
			t := &timerMutant{Timer: newTimer(d)}
			mistake(t)
			return t
		}
	}
}

func wrapFuncs(mistake func(t *timerMutant)) func(f *ct.Funcs) {
	return func(f *ct.Funcs) {
		afterFunc := f.AfterFunc
		f.AfterFunc = func(d time.Duration, fn func()) clockwork.Timer {
			t := &timerMutant{Timer: afterFunc(d, fn)}
			mistake(t)
			return t
		}
	}
}

// relay is a timer made of AfterFunc and a channel, as fake clocks make them.
type relay struct {
	clockwork.Timer
	c     chan time.Time
	drain bool // Stop and Reset discard an unread value
}

func newRelay(f *ct.Funcs, d, late time.Duration, drain bool) *relay {
	r := &relay{c: make(chan time.Time, 1), drain: drain}
	r.Timer = f.AfterFunc(d, func() { r.send(f.Now().Add(late)) })
	return r
}

// wrapRelays makes every timer a relay with another Reset.
func wrapRelays(reset func(r *relay, d time.Duration) bool) func(f *ct.Funcs) {
	return func(f *ct.Funcs) {
		g := *f
		f.NewTimer = func(d time.Duration) clockwork.Timer { return otherReset{newRelay(&g, d, 0, true), reset} }
	}
}

type otherReset struct {
	*relay
	reset func(r *relay, d time.Duration) bool
}

func (o otherReset) Reset(d time.Duration) bool { return o.reset(o.relay, d) }

func (r *relay) send(t time.Time) {
	select {
	case r.c <- t:
	default:
	}
}

func (r *relay) unread() bool {
	if !r.drain {
		return false
	}
	select {
	case <-r.c:
		return true
	default:
		return false
	}
}

func (r *relay) Chan() <-chan time.Time { return r.c }

func (r *relay) Stop() bool {
	armed := r.Timer.Stop()
	return r.unread() || armed
}

func (r *relay) Reset(d time.Duration) bool {
	armed := r.Stop()
	r.Timer.Reset(d)
	return armed
}

// repeater is a ticker made of a relay that arms itself again.
type repeater struct {
	relay
	mu     sync.Mutex
	period time.Duration
}

func newRepeater(f *ct.Funcs, d, drift time.Duration, drain bool) *repeater {
	if d <= 0 {
		panic("non-positive period")
	}
	r := &repeater{relay: relay{c: make(chan time.Time, 1), drain: drain}, period: d}
	r.Timer = f.AfterFunc(d, func() {
		r.send(f.Now())
		r.mu.Lock()
		defer r.mu.Unlock()
		r.Timer.Reset(r.period + drift)
	})
	return r
}

func (r *repeater) Stop() { r.relay.Stop() }

func (r *repeater) Reset(d time.Duration) {
	if d <= 0 {
		panic("non-positive period")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.period = d
	r.relay.Reset(d)
}

// tickerMutant is a ticker whose methods can be replaced.
type tickerMutant struct {
	clockwork.Ticker
	stop  func()
	reset func(d time.Duration)
}

func (t *tickerMutant) Stop()                 { t.stop() }
func (t *tickerMutant) Reset(d time.Duration) { t.reset(d) }

func wrapTickers(mistake func(t *tickerMutant)) func(f *ct.Funcs) {
	return func(f *ct.Funcs) {
		newTicker := f.NewTicker
		f.NewTicker = func(d time.Duration) clockwork.Ticker {
			t := &tickerMutant{Ticker: newTicker(d)}
			mistake(t)
			return t
		}
	}
}
