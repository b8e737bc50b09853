package edge

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// Instance is one debouncer or throttle.
type Instance struct {
	// Do does an operation of a schedule, for a key if the step has one, and notes its result.
	Do func(s conformance.Step, d *conformance.Done)
	// Release lets go of what the instance holds, unless the end of its input has done so.
	Release func(ended bool)
	// Closed reports whether its output is closed; nil if nobody can tell.
	Closed func() bool
}

// call brings an event.
func (i Instance) call(v int) { i.does(verb.Call, v) }

// does does an operation, and returns what it reports.
func (i Instance) does(op conformance.Op, v int) (ok bool) {
	var d conformance.Done
	i.Do(conformance.Step{Op: op, N: v}, &d)
	return d.OK
}

// Make makes an instance that calls fire with the payload of what it fires, and with all of them if it hands them over
// together. Of a configuration it takes what the contract has. Those without edges are of the ones that are built.
type Make func(env conformance.Env, cfg conformance.Config, fire func(v int, all []int)) Instance

// on makes an instance of some edges.
func (m Make) on(env conformance.Env, e conformance.Edges, fire func(v int, all []int)) Instance {
	return m(env, conformance.Config{Wait: suite.Wait, Interval: suite.Wait, Edges: e}, fire)
}

// silent is a callback that does nothing.
func silent(int, []int) {}

// Canary proves that instances of each kind take their time from where the spec says, and looks whether runs can be
// settled exactly.
func (m Make) Canary(s *suite.Suite, pkg string, kinds []conformance.Edges) string {
	fired, strange := 0, false
	for _, e := range kinds {
		pulse := s.Sees(m.life(e))
		switch {
		case pulse.Hang != nil:
			if where := s.WaitsForEver(pulse.Hang); where != "" {
				return suite.NeverReturned + ": " + where
			}
			return ""
		case pulse.Refused != "":
			return fmt.Sprintf("New refused %v: %s", suite.Wait, pulse.Refused)
		case pulse.Own == 0 && pulse.Other > 0:
			return suite.WrongClock(pkg)
		}
		fired += pulse.Own
		strange = strange || pulse.Strange
	}
	if s.Time == conformance.Injected && !s.Bubble && (strange || fired == 0) {
		s.Inexact = suite.OwnGoroutines
	}
	return ""
}

// life shows the canary an instance: events bring fires.
func (m Make) life(e conformance.Edges) suite.Life {
	var made Instance
	calls := 0
	return suite.Life{
		Make: func(env conformance.Env, sign func()) {
			made = m.on(env, e, func(int, []int) { sign() })
		},
		Use: func() int {
			calls++
			made.call(calls)
			return 0
		},
		Beyond:  50 * suite.Wait,
		Release: func() { made.Release(false) },
	}
}

// Burst is a probe of events that many goroutines bring at one instant.
type Burst struct {
	Kinds []conformance.Edges
	// Several is how many events an instance of the leading edge alone is asked to fire at once; 0 stands for 1.
	Several int
	// Twice says that with both edges a single event fires on each of them.
	Twice bool
	// Fires and Brings are the contract's words for fires and to fire, and Because says why there must be so many.
	Fires, Brings, Because string
}

// sharedInstance is an instance that several goroutines use at one instant.
type sharedInstance struct {
	Instance
	begun, fires atomic.Int64
	found        atomic.Int64 // how many calls had begun at the first fire
	led          int64        // how many fires there were before time passed
}

func (c *sharedInstance) fire() {
	suite.Meets(c)
	if c.fires.Add(1) == 1 {
		c.found.Store(c.begun.Load())
	}
}

// Together brings events to each kind of instance.
func (m Make) Together(p *suite.Probe, b Burst) (*suite.Violation, string) {
	for _, e := range b.Kinds {
		if v, skip := b.together(p, m, e); v != nil || skip != "" {
			return v, skip
		}
	}
	return nil, ""
}

// together is the probe for one kind of edges.
func (b Burst) together(p *suite.Probe, m Make, e conformance.Edges) (*suite.Violation, string) {
	const each, round = 3, 10 * suite.Wait
	cfg := conformance.Config{Wait: suite.Wait, Interval: suite.Wait, Edges: e}
	led, want := int64(0), int64(0) // at once, and in all
	if e&conformance.Leading != 0 {
		led = 1
	}
	if e == conformance.Leading && b.Several > 0 {
		cfg.K, led = b.Several, int64(b.Several)
	}
	if want = led; e&conformance.Trailing != 0 {
		want++
	}
	once := e == conformance.LeadingAndTrailing && !b.Twice // as a single event does
	return suite.Meet(p, suite.Meeting[*sharedInstance]{
		Make: func(env conformance.Env, _ int) *sharedInstance {
			c := &sharedInstance{}
			c.Instance = m(env, cfg, func(int, []int) { c.fire() })
			return c
		},
		Each:   each,
		Before: func(st *suite.Stage, n int) { st.To(time.Duration(n) * round) },
		Call: func(c *sharedInstance, n, g, i int) {
			suite.Meets(c)
			c.begun.Add(1)
			at, v := time.Duration(n)*round, (n*suite.Meeters+g)*each+i+1
			c.Do(conformance.Step{Op: verb.Call, N: v, At: at}, &conformance.Done{})
		},
		Between: func(c *sharedInstance, _ int) { c.led = c.fires.Load() },
		Pass:    func(st *suite.Stage, _ int) { st.To(st.Now() + 3*suite.Wait) },
		Judge: func(c *sharedInstance, _, n int) *suite.Violation {
			// One goroutine may fire for the others. If it does so after the last call has
			// begun, there is one fire for all of them.
			all, late := c.fires.Swap(0), c.found.Swap(0) == suite.Meeters*each
			c.begun.Store(0)
			if c.led == led && all == want || late && once && all == led {
				return nil
			}
			because := fmt.Sprintf("%s (edges=%s, %s), and every sequential order of these calls %s as many",
				b.Because, e, suite.InRound(n), b.Brings)
			return suite.Broken(0, because,
				"%d goroutines with %d events each at one instant brought %d %s at once and %d in all, want %d and %d",
				suite.Meeters, each, c.led, b.Fires, all, led, want)
		},
		Release: func(c *sharedInstance) { c.Release(false) },
	})
}

// Race uses calls and operations of one instance of each kind at once, also with keys where forKey says how, and then
// Stop beside calls. Unless a second one does no harm, only one comes.
func (m Make) Race(p *suite.Probe, kinds []conformance.Edges, ops []conformance.Op,
	forKey map[conformance.Op]conformance.Op, again bool) (skip string) {
	ops = p.Supported(append([]conformance.Op{verb.Call, verb.Call}, ops...)...)
	takesKey := func(op conformance.Op) bool { return p.Accepts(forKey[op]) }
	for _, e := range kinds {
		if e == conformance.NoEdges {
			continue
		}
		skip = p.Clash(func(env conformance.Env) []func(int) {
			made := m.on(env, e, silent)
			all := made.each(0, ops...)
			for i, op := range []conformance.Op{verb.Call, verb.Call, verb.Cancel, verb.Flush, verb.Reset} {
				if takesKey(op) {
					all = append(all, made.each(1+i%2, op)...)
				}
			}
			return all
		})
		if skip == "" && p.Accepts(verb.Stop) {
			skip = p.Clash(func(env conformance.Env) []func(int) {
				made := m.on(env, e, silent)
				all := append(made.each(0, verb.Call), made.stops(again)...)
				if takesKey(verb.Call) {
					all = append(all, made.each(1, verb.Call)...)
				}
				return all
			})
		}
		if skip != "" {
			return skip
		}
	}
	return ""
}

// stops are what stops the instance again and again, or once.
func (i Instance) stops(again bool) []func(n int) {
	if again {
		return i.each(0, verb.Stop, verb.Stop)
	}
	once := sync.OnceFunc(func() { i.does(verb.Stop, 0) })
	return []func(int){func(n int) {
		if n == 2 {
			once()
		}
	}}
}

// each are what does the operations again and again, the keyed ones each time for another key, from first on.
func (i Instance) each(first int, ops ...conformance.Op) (all []func(n int)) {
	for _, op := range ops {
		key := first
		all = append(all, func(n int) {
			s := conformance.Step{Op: op, At: time.Duration(n)}
			if op == verb.Call {
				s.N = n
			}
			if first > 0 {
				s = WithKey(s, key)
				key++
			}
			i.Do(s, &conformance.Done{})
		})
	}
	return all
}
