package clocktest

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
	"github.com/escapement-go/escapement/synctestcompat"
	"github.com/jonboulle/clockwork"
)

// Canary proves that the clock stands still while package time moves, and moves by what it
// is told.
func (c *contract) Canary(s *suite.Suite) (why string) {
	s.InBubble(func() {
		f := c.spec.New(Env{Settle: synctestcompat.Wait})
		if f.Now == nil || f.Advance == nil {
			why = "New returned no Now or no Advance: a clock needs both"
			return
		}
		start := f.Now()
		time.Sleep(time.Hour)
		synctestcompat.Wait()
		if d := f.Now().Sub(start); d != 0 {
			why = "the clock moved by " + d.String() + " while package time moved by 1h: it is no fake clock"
			return
		}
		f.Advance(time.Minute)
		synctestcompat.Wait()
		if d := f.Now().Sub(start); d != time.Minute {
			why = "Advance(1m) moved the clock by " + d.String()
		}
	})
	return why
}

// waker arms something of a clock for a second, which calls ran when it is woken.
type waker struct {
	name string
	arm  func(f Funcs, ran func())
}

var functionWaker = waker{"function that it started", func(f Funcs, ran func()) {
	f.AfterFunc(time.Second, func() {
		var wg sync.WaitGroup // for a function that takes time
		wg.Add(1)
		go func() { runtime.Gosched(); wg.Done() }()
		wg.Wait()
		ran()
	})
}}

var sleeperWaker = waker{"sleeper that it woke", func(f Funcs, ran func()) {
	suite.Start(func() {
		f.Sleep(time.Second)
		ran()
	})
}}

var receiverWaker = waker{"receiver that it woke", func(f Funcs, ran func()) {
	var c <-chan time.Time
	end := func() {}
	switch {
	case f.After != nil:
		c = f.After(time.Second)
	case f.NewTimer != nil:
		c = f.NewTimer(time.Second).Chan()
	default:
		t := f.NewTicker(time.Second)
		c, end = t.Chan(), t.Stop
	}
	suite.Start(func() {
		<-c
		ran()
		end()
	})
}}

// returnsEarly says how Advance returned before what it woke had run, "" if it did not.
func (c *contract) returnsEarly(s *suite.Suite, w waker) (how string) {
	s.InBubble(func() {
		f := c.spec.New(Env{Settle: synctestcompat.Wait})
		const rounds = 20
		for i := range rounds {
			var ran atomic.Bool
			w.arm(f, func() { ran.Store(true) })
			synctestcompat.Wait()
			f.Advance(time.Second)
			returned := ran.Load()
			synctestcompat.Wait()
			if !returned && ran.Load() {
				how = fmt.Sprintf("in round %d of %d", i+1, rounds)
				return
			}
		}
	})
	return how
}

// awaited observes what Advance waits for, without settling after it, and says what it did not wait for.
func (c *contract) awaited(s *suite.Suite) (waits Waits, early string) {
	if how := c.returnsEarly(s, functionWaker); how != "" {
		return WaitsForNothing, "Advance returned while the " + functionWaker.name + " still ran (" + how + ")"
	}
	w := sleeperWaker
	switch {
	case s.Accepts(verb.Sleep):
	case s.Accepts(verb.Read): // from what has a channel
		w = receiverWaker
	default:
		return WaitsForFunctions, ""
	}
	if how := c.returnsEarly(s, w); how != "" {
		return WaitsForFunctions, "Advance returned before the " + w.name + " had run (" + how + ")"
	}
	return WaitsForAll, ""
}

// awaits checks that Advance waits for what it is declared to wait for.
func (c *contract) awaits(p *suite.Probe) (*suite.Violation, string) {
	if waits, early := c.awaited(p.Suite); early != "" && waits > c.traits.Waits {
		return suite.Broken(0, "the clock declares "+c.traits.Waits.String(), "%s", early), ""
	}
	return nil, ""
}

// race uses all operations of one clock at once, while it advances.
func (c *contract) race(p *suite.Probe) (skip string) {
	hang := p.PlayOutside(func(*suite.Stage) {
		f := c.spec.New(Env{Settle: runtime.Gosched})
		for range 20 {
			clash(f, shared(p, f))
		}
	})
	return suite.If(hang != nil, suite.NoProgress)
}

// clash runs each operation on two goroutines and advances until all have returned.
func clash(f Funcs, ops []func(i int)) {
	var running atomic.Int64
	for _, op := range ops {
		repeat := func() {
			defer running.Add(-1)
			for i := range 5 {
				_ = suite.Catch(func() { op(i) }) // other rules judge panics
			}
		}
		running.Add(2)
		suite.Start(repeat)
		suite.Start(repeat)
	}
	for first := true; first || running.Load() > 0; first = false {
		f.Advance(milli) // until all sleepers have woken; the first is not ordered after anybody's return
		runtime.Gosched()
	}
}

// shared returns operations on a clock and on one timer of each kind, so that calls of the
// same methods race.
func shared(p *suite.Probe, f Funcs) []func(i int) {
	ops := []func(int){again(func() { f.Now() })}
	if f.NewTimer != nil {
		ops = append(ops, sharedTimer(p, f.NewTimer(milli))...)
		ops = append(ops, func(i int) { f.NewTimer(millis(i)).Stop() })
	}
	if f.AfterFunc != nil {
		ops = append(ops, sharedTimer(p, f.AfterFunc(milli, func() {}))...)
		ops = append(ops, func(i int) { f.AfterFunc(millis(i), func() {}) })
	}
	if f.NewTicker != nil {
		t := f.NewTicker(milli)
		ops = append(ops, func(int) { t.Stop() }, func(int) { received(t.Chan()) })
		if p.Accepts(opResetTicker) {
			ops = append(ops, func(i int) { t.Reset(millis(i + 1)) })
		}
	}
	if f.Sleep != nil {
		ops = append(ops, func(i int) { f.Sleep(millis(i)) })
	}
	if f.Armed != nil {
		ops = append(ops, again(func() { f.Armed() }))
	}
	if f.WithTimeout != nil {
		ops = append(ops, func(i int) { nest(f, i) })
	}
	return ops
}

// again asks many times, between which others have their turn: what only looks has done so before
// the clock moves for the first time, or else.
func again(ask func()) func(i int) {
	return func(int) {
		for range 10 {
			ask()
			runtime.Gosched()
		}
	}
}

func millis(n int) time.Duration { return time.Duration(n) * milli }

func sharedTimer(p *suite.Probe, t clockwork.Timer) []func(i int) {
	ops := []func(int){func(int) { t.Stop() }}
	if p.Accepts(opResetTimer) {
		ops = append(ops, func(i int) { t.Reset(millis(i)) })
	}
	if t.Chan() != nil {
		ops = append(ops, func(int) { received(t.Chan()) })
	}
	return ops
}

// nest makes a context within a context.
func nest(f Funcs, i int) {
	ctx, cancel := f.WithTimeout(context.Background(), millis(i))
	child, cancelChild := f.WithTimeout(ctx, milli)
	defer cancelChild()
	for !received(child.Done()) && i > 2 { // until the clock ends it
		_ = child.Err()
		runtime.Gosched()
	}
	cancel()
	_, _ = ctx.Err(), child.Err()
}
