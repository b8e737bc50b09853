package clocktest

import (
	"fmt"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
	"github.com/jonboulle/clockwork"
)

// timed is a timer of any kind. What it has not is nil.
type timed struct {
	c      <-chan time.Time
	timer  clockwork.Timer
	ticker clockwork.Ticker
}

// afterFunc arms a function.
func (w *world) afterFunc(s conformance.Step) {
	made := make(chan struct{})
	t := w.f.AfterFunc(s.D, func() {
		if !w.inline {
			<-made // with a duration <= 0 the function may run before AfterFunc has returned
		}
		w.stage.Callback(func() { w.turn(s.N, fmt.Sprintf("F%d", s.N), "function %d runs", s.N) })
	})
	w.keep(s.N, timed{timer: t})
	close(made)
}

// keep notes what was made under a number.
func (w *world) keep(n int, t timed) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timers[n] = t
	halt := conformance.Step{Op: verb.Halt, N: n}
	switch {
	case t.timer != nil:
		w.release = append(w.release, releasing{halt, func() { t.timer.Stop() }})
	case t.ticker != nil:
		w.release = append(w.release, releasing{halt, t.ticker.Stop})
	}
}

// made returns what was made under a number at last.
func (w *world) made(n int) timed {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.timers[n]
}

// use calls a method of a timer of any kind, or receives from it. It does nothing if there
// is no such timer.
func (w *world) use(who int, s conformance.Step) {
	t := w.made(s.N)
	switch {
	case s.Op == verb.Halt && t.timer != nil:
		w.reported(who, s, t.timer.Stop())
	case s.Op == verb.Halt && t.ticker != nil:
		t.ticker.Stop()
	case s.Op == verb.Rearm && t.timer != nil:
		w.reported(who, s, t.timer.Reset(s.D))
	case s.Op == verb.Rearm && t.ticker != nil:
		t.ticker.Reset(s.D)
	case s.Op == verb.Chan && t.timer != nil:
		isNil := t.timer.Chan() == nil
		w.answer(who, s, marks[!isNil], fmt.Sprint(isNil))
	case s.Op == verb.Read && t.c != nil:
		w.read(who, s, t.c)
	}
}

// read receives if there is a value.
func (w *world) read(who int, s conformance.Step, c <-chan time.Time) {
	select {
	case v := <-c:
		value := timeline.Duration(v.Sub(w.start))
		w.answer(who, s, value, value)
	default:
		w.answer(who, s, "-", "nothing")
	}
}

// sleep starts a goroutine that sleeps.
func (w *world) sleep(who int, s conformance.Step) {
	suite.Start(func() {
		w.f.Sleep(s.D)
		w.stage.Callback(func() { w.turn(s.N, fmt.Sprintf("S%d", s.N), "sleeper %d wakes", s.N) })
	})
	if who == 0 {
		w.stage.Settle() // until it is in Sleep
	}
}

// consume receives from the channel that has the number k at the time, again and again
// until the end.
func (w *world) consume(id, k int) {
	for {
		select {
		case v := <-w.made(k).c:
			if w.ledger != nil {
				w.ledger.took(k)
			}
			value := timeline.Duration(v.Sub(w.start))
			w.stage.Callback(func() { w.turn(id, "R"+value, "consumer %d receives %s", id, value) })
		case <-w.quit:
			return
		}
	}
}
