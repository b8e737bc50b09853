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

// watched is a clock that keeps an implementation from arming timers of no duration at one
// instant for ever: after Endless of them they expire no more, and the trace says so.
type watched struct {
	ending
	rec    *Recorder
	driver *FakeTime // nil on package time
	most   int       // of them at one instant
	at     time.Time // of the newest of them
	n      int
}

// atOnce is why a run is left out in which a timer expires as it is armed.
const atOnce = "only a bubble can wait for what a timer starts at once"

// Endless is more timers of no duration than one instance needs at one instant.
const Endless = 1000

// turns reports whether a timer of duration d is one too many.
func (w *watched) turns(d time.Duration) bool {
	w.stage.ends()
	if d > 0 {
		return false
	}
	now := w.Clock.Now()
	w.rec.mu.Lock()
	defer w.rec.mu.Unlock()
	if w.driver != nil && w.driver.loses() {
		w.rec.rec.LeftOut = atOnce
	}
	if w.n++; !now.Equal(w.at) {
		w.at, w.n = now, 1
	}
	if w.n > w.most {
		w.rec.rec.Turned = true
	}
	return w.n > w.most
}

func (w *watched) After(d time.Duration) <-chan time.Time {
	if w.turns(d) {
		return nil
	}
	return w.Clock.After(d)
}

func (w *watched) Sleep(d time.Duration) {
	if w.turns(d) {
		<-w.After(d)
	}
	w.Clock.Sleep(d)
}

func (w *watched) AfterFunc(d time.Duration, f func()) clockwork.Timer {
	return w.timer(d, func(d time.Duration) clockwork.Timer { return w.Clock.AfterFunc(d, f) })
}

func (w *watched) NewTimer(d time.Duration) clockwork.Timer { return w.timer(d, w.Clock.NewTimer) }

func (w *watched) timer(d time.Duration, arm func(time.Duration) clockwork.Timer) clockwork.Timer {
	if !w.turns(d) {
		return &watchedTimer{arm(d), w}
	}
	t := arm(time.Hour)
	t.Stop()
	return t
}

type watchedTimer struct {
	clockwork.Timer
	w *watched
}

func (t *watchedTimer) Reset(d time.Duration) bool {
	if t.w.turns(d) {
		return t.Stop()
	}
	return t.Timer.Reset(d)
}
