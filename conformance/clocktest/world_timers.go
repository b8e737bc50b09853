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

// arm makes a timer of any kind.
func (w *world) arm(s conformance.Step) {
	switch s.Op {
	case verb.Timer:
		t := w.f.NewTimer(s.D)
		w.keep(s.N, t.Chan(), t, nil)
	case verb.After:
		w.keep(s.N, w.f.After(s.D), nil, nil)
	case verb.Ticker:
		t := w.f.NewTicker(s.D)
		w.keep(s.N, t.Chan(), nil, t)
	case verb.AfterFunc:
		made := make(chan struct{})
		t := w.f.AfterFunc(s.D, func() {
			if !w.inline {
				<-made // with a duration <= 0 the function may run before AfterFunc has returned
			}
			w.stage.Callback(func() { w.turn(s.N, fmt.Sprintf("F%d", s.N), "function %d runs", s.N) })
		})
		w.keep(s.N, nil, t, nil)
		close(made)
	}
}

// keep notes what was made under a number.
func (w *world) keep(n int, c <-chan time.Time, timer clockwork.Timer, ticker clockwork.Ticker) {
	w.mu.Lock()
	defer w.mu.Unlock()
	halt := conformance.Step{Op: verb.Halt, N: n}
	if timer != nil {
		w.timers[n] = timer
		w.release = append(w.release, releasing{halt, func() { timer.Stop() }})
	}
	if ticker != nil {
		w.tickers[n] = ticker
		w.release = append(w.release, releasing{halt, ticker.Stop})
	}
	if c != nil {
		w.channels[n] = c
	}
}

// use calls a method of a timer of any kind, or receives from it. It does nothing if there
// is no such timer.
func (w *world) use(who int, s conformance.Step) {
	w.mu.Lock()
	timer, ticker, c := w.timers[s.N], w.tickers[s.N], w.channels[s.N]
	w.mu.Unlock()
	switch {
	case s.Op == verb.Halt && timer != nil:
		w.noteAnswer(who, s, timer.Stop())
	case s.Op == verb.Halt && ticker != nil:
		ticker.Stop()
	case s.Op == verb.Rearm && timer != nil:
		w.noteAnswer(who, s, timer.Reset(s.D))
	case s.Op == verb.Rearm && ticker != nil:
		ticker.Reset(s.D)
	case s.Op == verb.Chan && timer != nil:
		isNil := timer.Chan() == nil
		mark := "y"
		if isNil {
			mark = "n"
		}
		w.note(who, mark, "%s: nil is %v", call(s), isNil)
	case s.Op == verb.Read && c != nil:
		w.read(who, s, c)
	}
}

// read receives if there is a value.
func (w *world) read(who int, s conformance.Step, c <-chan time.Time) {
	select {
	case v := <-c:
		value := timeline.Duration(v.Sub(w.start))
		w.note(who, value, "%s: %s", call(s), value)
		if w.ledger != nil {
			w.ledger.took(s.N)
		}
	default:
		w.note(who, "-", "%s: nothing", call(s))
	}
}

// wait sleeps, or starts a goroutine that sleeps or receives.
func (w *world) wait(who int, s conformance.Step) {
	switch s.Op {
	case verb.Sleep:
		suite.Start(func() {
			w.f.Sleep(s.D)
			w.stage.Callback(func() { w.turn(s.N, fmt.Sprintf("S%d", s.N), "sleeper %d wakes", s.N) })
		})
		if who == 0 {
			w.stage.Settle() // until it is in Sleep
		}
	case verb.Nap:
		if who != 0 {
			w.f.Sleep(s.D)
			w.note(who, "nap", "wakes from %s", call(s))
		}
	case verb.Consume:
		suite.Start(func() { w.consume(s.N, s.K) })
	}
}

// consume receives from the channel that has the number k at the time, again and again
// until the end.
func (w *world) consume(id, k int) {
	for {
		w.mu.Lock()
		c := w.channels[k]
		w.mu.Unlock()
		select {
		case v := <-c:
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
