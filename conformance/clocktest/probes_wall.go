package clocktest

import (
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
	"github.com/escapement-go/escapement/synctestcompat"
)

// walled is a world whose wall clock is stepped.
type walled struct {
	*world
	all []waiting // by their numbers, from 1 on
}

// waiting is something that is armed, and when it must fire.
type waiting struct {
	name  string
	due   time.Duration // since the step
	fired bool          // once and for all
}

// lasting are what can be armed, by the steps that do so.
var lasting = []struct {
	op   conformance.Op
	name string
}{
	{verb.Timer, "a timer"}, {verb.Ticker, "a ticker"}, {verb.After, "an After"}, {verb.AfterFunc, "a function"},
	{verb.Sleep, "a Sleep"}, {verb.Deadline, "a deadline"}, {verb.Timeout, "a timeout"},
}

// stepsWall steps the wall clock, by less and by more than what is armed, forward and back.
func (c *contract) stepsWall(st *suite.Stage) *suite.Violation {
	for _, step := range []time.Duration{-time.Hour, time.Hour, -time.Second, 100 * time.Hour} {
		w := &walled{world: newWorld(st, c.spec.New(Env{Settle: synctestcompat.Wait}))}
		w.inline = c.traits.OnAdvance
		if broken := w.judge(step); broken != nil {
			return broken
		}
	}
	return nil
}

// judge arms everything before a step of the wall clock, and again after it.
func (w *walled) judge(step time.Duration) *suite.Violation {
	because := "the wall clock was stepped by " + timeline.Duration(step)
	move := func(d time.Duration) {
		w.f.Advance(d)
		w.stage.Settle()
	}
	move(2 * time.Hour)
	defer func() {
		w.end()
		move(2 * time.Hour) // until all sleepers have woken
	}()
	w.armAll("armed before the step", 10*time.Minute, time.Minute)
	parent := len(w.all) // a timeout, if the clock has any
	move(time.Minute)
	start := w.f.Now().Add(step)
	w.f.SetWall(start)
	w.stage.Settle()
	if d := w.f.Now().Sub(start); d != 0 {
		return suite.Broken(0, because, "after SetWall Now is off by %s", timeline.Duration(d))
	}
	w.armAll("armed after the step", 5*time.Minute, 0)
	for _, d := range []time.Duration{4 * time.Minute, 20 * time.Minute, 200 * time.Hour} {
		w.arm(conformance.Step{Op: verb.Timeout, K: parent, D: d},
			"a timeout of "+timeline.Duration(d)+" within an older one that has 9m left", min(d, 9*time.Minute))
	}
	if v := w.f.agrees(start.Add(5*time.Minute), 5*time.Minute, because); v != nil {
		return v
	}
	for _, at := range []time.Duration{0, 4*time.Minute - 1, 4 * time.Minute, 5*time.Minute - 1, 5 * time.Minute,
		9*time.Minute - 1, 9 * time.Minute} {
		move(at - w.f.Now().Sub(start))
		for i := range w.all {
			one := &w.all[i]
			one.fired = one.fired || w.fires(i+1)
			if one.fired != (at >= one.due) {
				has := []string{"not fired", "fired"}[suite.Number(one.fired)]
				return suite.Broken(0, because, "%s has %s by %s, want it at %s",
					one.name, has, timeline.Duration(at), timeline.Duration(one.due))
			}
		}
		if v := w.f.agrees(start.Add(5*time.Minute), 5*time.Minute-at, because); at <= 5*time.Minute && v != nil {
			return v
		}
	}
	return nil
}

// agrees checks that Until and Since agree with what is armed for an instant that is still to come, or there.
func (f *Funcs) agrees(at time.Time, left time.Duration, because string) *suite.Violation {
	if f.Until != nil && f.Until(at) != left {
		return suite.Broken(0, because, "Until says %s of an instant that is %s away",
			timeline.Duration(f.Until(at)), timeline.Duration(left))
	}
	if f.Since != nil && left == 0 && f.Since(at) != 0 {
		return suite.Broken(0, because, "Since says %s of Now", timeline.Duration(f.Since(at)))
	}
	return nil
}

// armAll arms one timer of each kind for d, of which some has passed when the wall clock is stepped.
func (w *walled) armAll(when string, d, passed time.Duration) {
	for _, k := range lasting {
		s := conformance.Step{Op: k.op, D: d}
		if k.op == verb.Deadline {
			s.D += w.f.Now().Sub(w.start)
		}
		w.arm(s, k.name+" of "+timeline.Duration(d)+" "+when, d-passed)
	}
}

// arm arms something, if the clock can.
func (w *walled) arm(s conformance.Step, name string, due time.Duration) {
	if w.stage.Accepts(s.Op) {
		w.all = append(w.all, waiting{name: name, due: due})
		s.N = len(w.all)
		w.step(0, s)
	}
}

// fires reports whether what has number n has fired, or receives what it has sent.
func (w *walled) fires(n int) bool {
	if c := w.contextOf(n); c != nil {
		return received(c.Done())
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.turns[n] > 0 || received(w.timers[n].c)
}

// received receives if there is a value, or if the channel is closed.
func received[T any](c <-chan T) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
