package edge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/conformance/internal/trait"
	"github.com/escapement-go/escapement/internal/goroutine"
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
	for _, cfg := range configs {
		gaps := []time.Duration{1, suite.Wait - 1, suite.Wait + 1, 3 * suite.Wait}
		for _, s := range suite.Enumerate(cfg, ops, gaps, 3) {
			for _, nth := range []string{"1", "2"} {
				jobs = append(jobs, suite.Job{Schedule: suite.Plan(cfg.With("panics", nth), s.Steps...)})
			}
		}
	}
	panicked := 0
	var worst *suite.Violation
	h := p.Run(jobs, func(j suite.Job, rec *suite.Recording) {
		if !rec.Panicked {
			return
		}
		panicked++
		v := gone(rec, policy)
		if v == nil {
			if v = after(rec, j); v == nil {
				return
			}
			calm := suite.Job{Schedule: suite.Plan(j.Schedule.Config.Without("panics"), j.Schedule.Steps...)}
			if after(p.Rerun(calm.Schedule), calm) != nil {
				return
			}
			v.Headline = "after the panic of a callback: " + v.Headline
		}
		if worst == nil || rec.Schedule.Compare(worst.Run.Schedule) < 0 {
			worst, v.Run = v, rec
		}
	})
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

// InARow is a probe of events that one goroutine brings at one instant, each as soon as the one before has returned,
// and of operations that come as soon behind events on the trailing edge. All other schedules let everything settle
// between events.
func (m Make) InARow(p *suite.Probe, kinds []conformance.Edges, payload trait.Payload, behind ...conformance.Op) (
	*suite.Violation, string) {
	rows := []row{}
	for _, e := range kinds {
		// With both edges events that are served together may count as one.
		if e == conformance.Trailing || e == conformance.Leading {
			rows = append(rows, row{make: m, edges: e, named: named(payload)})
		}
	}
	if slices.Contains(kinds, conformance.Trailing) {
		for _, op := range p.Supported(behind...) {
			rows = append(rows, row{make: m, edges: conformance.Trailing, named: named(payload), end: op})
		}
	}
	for _, r := range rows {
		if v, skip := r.inOrder(p); v != nil || skip != "" {
			return v, skip
		}
	}
	return nil, ""
}

// named reports whether fires bear the payloads of events.
func named(payload trait.Payload) bool { return payload != 0 && payload != trait.NoPayload }

// row is the probe for one kind of edges.
type row struct {
	make     Make
	edges    conformance.Edges
	named    bool
	end      conformance.Op // what comes behind the events, if anything does
	overtook bool           // a query was answered in the last run as if none of them had come
}

// came is one fire.
type came struct {
	at    time.Duration
	value int
}

// inOrder runs the probe: what comes out must be what comes out if everything settles in between.
// What scheduling leaves to chance is no finding.
func (r *row) inOrder(p *suite.Probe) (*suite.Violation, string) {
	const tries = 3
	defer suite.OneProcessor()()
	for _, n := range []int{2, 3, 5, 40} {
		want, ok := r.fires(p, n, true)
		var got []came
		same, answered := false, r.overtook // which it is for other rules to judge
		for try := 0; ok && try < tries && (!same || r.end != "") && r.overtook == answered; try++ {
			got, ok = r.fires(p, n, false)
			same = same || slices.Equal(got, want)
		}
		overtook := r.overtook && !answered // once is too often
		if again, alsoOK := r.fires(p, n, true); !ok || !alsoOK || !slices.Equal(again, want) {
			return nil, "a run made no progress, or had two outcomes"
		}
		if (overtook || !same) && r.adapts(p, n) {
			return nil, "the spec starts a goroutine for each event, so their order is not the implementation's"
		}
		if overtook {
			return suite.Broken(0, "they had returned, and their wait was not over",
				"%d events%s in a row at one instant: the answer was as if none of them had come", n, r.then()), ""
		}
		if !same {
			because := fmt.Sprintf("this is the outcome when all goroutines settle after each call (edges=%s)", r.edges)
			return suite.Broken(0, because, "%d events%s in a row at one instant brought %s, want %s",
				n, r.then(), r.inWords(got), r.inWords(want)), ""
		}
	}
	return nil, ""
}

// then says what comes behind the events.
func (r *row) then() string {
	switch r.end {
	case "":
		return ""
	case verb.Pending:
		return " and a query"
	}
	return " and a " + string(r.end)
}

// fires brings n events, and returns what comes out. Of events that are handed over together their number does: as they
// count from 1, that is the newest if none is lost.
func (r *row) fires(p *suite.Probe, n int, settled bool) (out []came, ok bool) {
	var mu sync.Mutex
	hang := p.Play(func(st *suite.Stage) {
		made := r.make.on(st.Plain(), r.edges, func(v int, all []int) {
			mu.Lock()
			defer mu.Unlock()
			if v = cmp.Or(len(all), v); !r.named {
				v = 0
			}
			out = append(out, came{st.Now(), v})
		})
		for i := range n {
			if made.call(i + 1); settled {
				st.Settle()
			}
		}
		if r.end != "" {
			r.overtook = !made.does(r.end, 0) && r.end == verb.Pending
		}
		st.Settle()
		st.To(4 * suite.Wait)
		made.Release(r.end == verb.Close)
		st.Settle()
	})
	mu.Lock()
	defer mu.Unlock()
	out = slices.Clone(out)
	slices.SortStableFunc(out, func(a, b came) int { // callbacks may have goroutines of their own
		if a.at != b.at {
			return int(a.at - b.at)
		}
		return a.value - b.value
	})
	return out, hang == nil
}

// adapts reports whether the spec hands events over on goroutines of its own.
func (r *row) adapts(p *suite.Probe, n int) (yes bool) {
	p.Play(func(st *suite.Stage) {
		made := r.make.on(st.Plain(), r.edges, silent)
		started := goroutine.StartedInTest()
		for i := range n {
			st.Settle() // a look takes long, and what an event starts must not run before the next one
			made.call(i + 1)
			yes = yes || goroutine.StartedInTest() > started
		}
		st.To(4 * suite.Wait)
		made.Release(false)
		st.Settle()
	})
	return yes
}

// inWords says what came out.
func (r *row) inWords(all []came) string {
	var out []string
	for _, c := range all {
		s := timeline.Duration(c.at)
		if r.named {
			s = fmt.Sprintf("%s at %s", suite.FireMark(c.value), s)
		}
		out = append(out, s)
	}
	if out == nil {
		return "nothing"
	}
	return strings.Join(out, ", ")
}
