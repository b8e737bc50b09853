package suite

import (
	"time"

	"github.com/jonboulle/clockwork"
)

// guarded is a clock whose functions survive the panic that the schedule wants.
type guarded struct{ clockwork.Clock }

func (g guarded) AfterFunc(d time.Duration, f func()) clockwork.Timer {
	return g.Clock.AfterFunc(d, func() {
		defer func() {
			if r := recover(); r != nil && r != PlannedPanic {
				panic(r)
			}
		}()
		expired(f)
	})
}

// ending is a clock that never returns to a goroutine of a run that was given up, which may ask it for ever.
type ending struct {
	clockwork.Clock
	stage *Stage
}

// live is the clock for a run that was not given up.
func (e ending) live() clockwork.Clock {
	e.stage.ends()
	return e.Clock
}

func (e ending) Now() time.Time                         { return e.live().Now() }
func (e ending) Since(t time.Time) time.Duration        { return e.live().Since(t) }
func (e ending) Until(t time.Time) time.Duration        { return e.live().Until(t) }
func (e ending) After(d time.Duration) <-chan time.Time { return e.live().After(d) }
func (e ending) NewTimer(d time.Duration) clockwork.Timer {
	return e.live().NewTimer(d)
}

// arming is a clock that changes how timers are armed: with another duration, or so that they never expire.
type arming struct {
	clockwork.Clock
	as func(d time.Duration) (other time.Duration, never bool)
}

func (a *arming) After(d time.Duration) <-chan time.Time {
	d, never := a.as(d)
	if never {
		return nil
	}
	return a.Clock.After(d)
}

func (a *arming) Sleep(d time.Duration) {
	d, never := a.as(d)
	if never {
		select {}
	}
	a.Clock.Sleep(d)
}

func (a *arming) AfterFunc(d time.Duration, f func()) clockwork.Timer {
	return a.timer(d, func(d time.Duration) clockwork.Timer { return a.Clock.AfterFunc(d, f) })
}

func (a *arming) NewTimer(d time.Duration) clockwork.Timer { return a.timer(d, a.Clock.NewTimer) }

func (a *arming) timer(d time.Duration, arm func(time.Duration) clockwork.Timer) clockwork.Timer {
	d, never := a.as(d)
	if !never {
		return armed{arm(d), a}
	}
	t := arm(time.Hour)
	t.Stop()
	return t
}

// armed is a timer of such a clock.
type armed struct {
	clockwork.Timer
	clock *arming
}

func (t armed) Reset(d time.Duration) bool {
	d, never := t.clock.as(d)
	if never {
		return t.Stop()
	}
	return t.Timer.Reset(d)
}

// watched keeps an implementation from arming timers of no duration at one
// instant for ever: after Endless of them they expire no more, and the trace says so.
type watched struct {
	stage *Stage
	most  int       // of them at one instant
	at    time.Time // of the newest of them
	n     int
}

// atOnce is why a run is left out in which a timer expires as it is armed.
const atOnce = "only a bubble can wait for what a timer starts at once"

// Endless is more timers of no duration than one instance needs at one instant.
const Endless = 1000

// armed says that a timer never expires if it is one too many.
func (w *watched) armed(d time.Duration) (same time.Duration, never bool) {
	w.stage.ends()
	if d > 0 {
		return d, false
	}
	now := w.stage.Clock().Now()
	driver, fake := w.stage.Driver.(*FakeTime)
	w.stage.Rec.Locked(func(rec *Recording) {
		if fake && driver.loses() {
			rec.LeftOut = atOnce
		}
		if w.n++; !now.Equal(w.at) {
			w.at, w.n = now, 1
		}
		never = w.n > w.most
		rec.Turned = rec.Turned || never
	})
	return d, never
}
