package edge

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/conformance/internal/trait"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

// CallsAround are schedules of calls around the deadlines of a wait or interval, which key names, and of two keys if
// the operation for them is there.
func CallsAround(key string, forKey conformance.Op) func(*suite.Suite) []conformance.Schedule {
	return func(s *suite.Suite) []conformance.Schedule {
		cfg := suite.Configured(key, timeline.Duration(suite.Wait))
		out := suite.Enumerate(cfg, []conformance.Op{verb.Call}, suite.Around(suite.Wait), 3)
		if s.Accepts(forKey) {
			out = append(out, Keyed(out)...)
		}
		return out
	}
}

// Payloads runs schedules of calls with payloads that are all alike: the same must come out. Key is
// that of the wait or interval.
func Payloads(p *suite.Probe, key string, kinds []conformance.Edges) (*suite.Violation, string) {
	const wait = suite.Wait
	var schedules []conformance.Schedule
	for _, e := range kinds {
		cfg := suite.Configured(key, timeline.Duration(wait), "edges", e.String())
		schedules = append(schedules, suite.Enumerate(cfg, []conformance.Op{verb.Call},
			[]time.Duration{0, 1, wait / 2, wait - 1, wait + 1}, 3)...)
	}
	return suite.Alike(p, schedules)
}

// Panics runs schedules in which a callback panics, the first or the second, and judges
// what follows by after. What it finds without the panic, too, is not owing to it.
func Panics(p *suite.Probe, configs []conformance.Config, ops []conformance.Op, policy trait.PanicPolicy,
	after func(rec *suite.Recording, j suite.Job) *suite.Violation) (*suite.Violation, string) {
	defer p.Recovers(policy == trait.PanicRecovered)()
	var jobs []suite.Job
	calm := map[string]conformance.Schedule{} // the schedules without their panic
	for _, cfg := range configs {
		gaps := []time.Duration{1, suite.Wait - 1, suite.Wait + 1, 3 * suite.Wait}
		for _, s := range suite.Enumerate(cfg, ops, gaps, 3) {
			for _, nth := range []string{"1", "2"} {
				panics := conformance.Schedule{Config: cfg.With("panics", nth), Steps: s.Steps}
				jobs, calm[panics.String()] = append(jobs, suite.Job{Schedule: panics}), s
			}
		}
	}
	panicked := 0
	var worst *suite.Violation
	var follow []*suite.Violation // what comes after a panic
	var again []suite.Job         // and without it
	keep := func(v *suite.Violation) {
		if worst == nil || v.Run.Schedule.Compare(worst.Run.Schedule) < 0 {
			worst = v
		}
	}
	h := p.Run(jobs, func(j suite.Job, rec *suite.Recording) {
		if !rec.Panicked {
			return
		}
		panicked++
		if v := gone(rec, policy); v != nil {
			v.Run = rec
			keep(v)
		} else if v = after(rec, j); v != nil {
			v.Headline, v.Run = "after the panic of a callback: "+v.Headline, rec
			follow, again = append(follow, v), append(again, suite.Job{Schedule: calm[rec.Schedule.String()]})
		}
	})
	if h == nil && len(again) > 0 {
		well := map[string]bool{}
		h = p.Run(again, func(j suite.Job, rec *suite.Recording) { well[j.Schedule.String()] = after(rec, j) == nil })
		for i, v := range follow {
			if well[again[i].Schedule.String()] {
				keep(v)
			}
		}
	}
	switch {
	case h != nil:
		if where := h.LockedOut(); where != "" {
			return &suite.Violation{Headline: "an operation never returned after a callback had panicked",
				Because: "nothing is running that could release what it waits for: " + where,
				Run:     &suite.Recording{Trace: conformance.Trace{Schedule: h.Job.Schedule}}}, ""
		}
		return nil, "no progress, and the stacks do not prove why"
	case panicked == 0:
		return nil, "the callback runs on a goroutine of the implementation or of package time, where a " +
			"panic ends the process"
	}
	return worst, ""
}

// gone judges where the panic of a callback went. A panic that came out where it is
// declared to come out is taken out of the trace.
func gone(rec *suite.Recording, policy trait.PanicPolicy) *suite.Violation {
	panicked := func(d conformance.Done) bool { return d.Panic != "" }
	if rec.Called && policy == trait.PanicPropagates && !slices.ContainsFunc(rec.Done, panicked) {
		const because = "an operation ran the callback, and PanicPropagates is declared; if your " +
			"documentation says so, declare PanicPolicy: PanicRecovered"
		return suite.Broken(0, because, "the callback's panic reached no caller")
	}
	for i, d := range rec.Done {
		switch {
		case d.Panic == "":
		case d.Panic != suite.PlannedPanic:
			return suite.Broken(d.At, "a callback had panicked before", "%s panicked: %s", d.Step, d.Panic)
		case policy == trait.PanicRecovered:
			return suite.Broken(d.At,
				"PanicRecovered is declared; if your documentation says so, declare PanicPolicy: PanicPropagates",
				"the callback's panic reached the caller of %s", d.Step)
		default:
			rec.Done[i].Panic = ""
		}
	}
	return nil
}

// Burst is a probe of events that many goroutines bring at one instant.
type Burst struct {
	// Make makes an instance that fires by calling fire, and returns what brings event v to
	// it and what releases it.
	Make func(env conformance.Env, fire func()) (call func(at time.Duration, v int), release func())
	// Led is how many fires there must be at the instant of the events, All how many in
	// the end.
	Led, All int64
	// Once says that a burst may fire once only if it is not served before all of it is
	// there, because it then counts as a single event: with both edges, where a single
	// event fires once.
	Once bool
	// Fires is the contract's word for fires, and Because returns why there must be so
	// many.
	Fires   string
	Because func(round int) string
}

// sharedInstance is an instance that several goroutines use at one instant.
type sharedInstance struct {
	call         func(at time.Duration, v int)
	release      func()
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

// Together runs the probe.
func (b Burst) Together(p *suite.Probe) (*suite.Violation, string) {
	const each, round = 3, 10 * suite.Wait
	return suite.Meet(p, suite.Meeting[*sharedInstance]{
		Make: func(env conformance.Env, _ int) *sharedInstance {
			c := &sharedInstance{}
			c.call, c.release = b.Make(env, c.fire)
			return c
		},
		Each:   each,
		Before: func(st *suite.Stage, n int) { st.To(time.Duration(n) * round) },
		Call: func(c *sharedInstance, n, g, i int) {
			suite.Meets(c)
			c.begun.Add(1)
			c.call(time.Duration(n)*round, (n*suite.Meeters+g)*each+i+1)
		},
		Between: func(c *sharedInstance, _ int) { c.led = c.fires.Load() },
		Pass:    func(st *suite.Stage, _ int) { st.To(st.Now() + 3*suite.Wait) },
		Judge: func(c *sharedInstance, _, n int) *suite.Violation {
			// One goroutine may fire for the others. If it does so after the last call has
			// begun, there is one fire for all of them.
			all, late := c.fires.Swap(0), c.found.Swap(0) == suite.Meeters*each
			c.begun.Store(0)
			if c.led == b.Led && all == b.All || late && b.Once && all == b.Led {
				return nil
			}
			return suite.Broken(0, b.Because(n),
				"%d goroutines with %d events each at one instant brought %d %s at once and %d in all, want %d and %d",
				suite.Meeters, each, c.led, b.Fires, all, b.Led, b.All)
		},
		Release: func(c *sharedInstance) { c.release() },
	})
}
