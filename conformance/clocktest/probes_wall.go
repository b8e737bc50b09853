package clocktest

import (
	"context"
	"time"

	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/synctestcompat"
)

// waiting is something that is armed, and when it must fire.
type waiting struct {
	name  string
	due   time.Duration // since the step
	fired func() bool
	end   func()
}

// stepsWall steps the wall clock, by less and by more than what is armed, forward and back.
func (c *contract) stepsWall() *suite.Violation {
	for _, step := range []time.Duration{-time.Hour, time.Hour, -time.Second, 100 * time.Hour} {
		if broken := c.stepWall(step); broken != nil {
			return broken
		}
	}
	return nil
}

// stepWall arms everything before a step of the wall clock, and again after it.
func (c *contract) stepWall(step time.Duration) *suite.Violation {
	f := c.spec.New(Env{Settle: synctestcompat.Wait})
	move := func(d time.Duration) {
		f.Advance(d)
		synctestcompat.Wait()
	}
	because := "the wall clock was stepped by " + timeline.Duration(step)
	move(2 * time.Hour)
	all, parent := f.arm("armed before the step", 10*time.Minute, time.Minute)
	defer func() {
		for _, w := range all {
			w.end()
		}
	}()
	move(time.Minute)
	start := f.Now().Add(step)
	f.SetWall(start)
	synctestcompat.Wait()
	if d := f.Now().Sub(start); d != 0 {
		return suite.Broken(0, because, "after SetWall Now is off by %s", timeline.Duration(d))
	}
	after, _ := f.arm("armed after the step", 5*time.Minute, 0)
	all = append(append(all, after...), f.nested(parent)...)
	if v := f.agrees(start.Add(5*time.Minute), 5*time.Minute, because); v != nil {
		return v
	}
	for _, at := range []time.Duration{0, 4*time.Minute - 1, 4 * time.Minute, 5*time.Minute - 1, 5 * time.Minute,
		9*time.Minute - 1, 9 * time.Minute} {
		move(at - f.Now().Sub(start))
		for _, w := range all {
			if fired := w.fired(); fired != (at >= w.due) {
				has := []string{"not fired", "fired"}[suite.Number(fired)]
				return suite.Broken(0, because, "%s has %s by %s, want it at %s",
					w.name, has, timeline.Duration(at), timeline.Duration(w.due))
			}
		}
		if v := f.agrees(start.Add(5*time.Minute), 5*time.Minute-at, because); at <= 5*time.Minute && v != nil {
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

// arm arms one timer of each kind for d, of which some has passed when the wall clock is stepped, and returns a
// context among them, nil if there are none.
func (f *Funcs) arm(when string, d, passed time.Duration) (all []waiting, ctx context.Context) {
	add := func(kind string, fired func() bool, end func()) {
		yes := false // once and for all
		all = append(all, waiting{kind + " of " + timeline.Duration(d) + " " + when, d - passed, func() bool {
			yes = yes || fired()
			return yes
		}, end})
	}
	if f.NewTimer != nil {
		t := f.NewTimer(d)
		add("a timer", func() bool { return received(t.Chan()) }, func() { t.Stop() })
	}
	if f.NewTicker != nil {
		t := f.NewTicker(d)
		add("a ticker", func() bool { return received(t.Chan()) }, t.Stop)
	}
	if f.After != nil {
		c := f.After(d)
		add("an After", func() bool { return received(c) }, func() {})
	}
	if f.AfterFunc != nil {
		ran := make(chan time.Time, 1)
		t := f.AfterFunc(d, func() { ran <- time.Time{} })
		add("a function", func() bool { return received(ran) }, func() { t.Stop() })
	}
	if f.Sleep != nil {
		woke := make(chan time.Time, 1)
		suite.Start(func() { f.Sleep(d); woke <- time.Time{} })
		synctestcompat.Wait() // until it sleeps
		add("a Sleep", func() bool { return received(woke) }, func() { f.Advance(2 * time.Hour) })
	}
	if f.WithDeadline != nil {
		c, cancel := f.WithDeadline(context.Background(), f.Now().Add(d))
		ctx = c
		add("a deadline", func() bool { return received(c.Done()) }, cancel)
	}
	if f.WithTimeout != nil {
		c, cancel := f.WithTimeout(context.Background(), d)
		ctx = c
		add("a timeout", func() bool { return received(c.Done()) }, cancel)
	}
	return all, ctx
}

// nested are children of a context that has 9 minutes left after the step.
func (f *Funcs) nested(parent context.Context) (all []waiting) {
	if parent == nil || f.WithTimeout == nil {
		return nil
	}
	for _, d := range []time.Duration{4 * time.Minute, 20 * time.Minute, 200 * time.Hour} {
		c, cancel := f.WithTimeout(parent, d)
		name := "a timeout of " + timeline.Duration(d) + " within an older one that has 9m left"
		all = append(all, waiting{name, min(d, 9*time.Minute), func() bool { return received(c.Done()) }, cancel})
	}
	return all
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
