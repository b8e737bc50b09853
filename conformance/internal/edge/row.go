package edge

import (
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

// InARow is a probe of events that one goroutine brings at one instant, each as soon as the one
// before has returned. All other schedules let everything settle between events. Make makes an
// instance that fires by calling fire, and returns what brings an event to it and what releases
// it.
func InARow(p *suite.Probe, kinds []conformance.Edges, payload trait.Payload,
	make func(env conformance.Env, edges conformance.Edges, fire func(v int)) (call func(v int), release func()),
) (*suite.Violation, string) {
	for _, edges := range kinds {
		if edges != conformance.Trailing && edges != conformance.Leading {
			continue // with both, events that are served together may count as one
		}
		r := row{edges: edges, named: named(payload)}
		r.make = func(env conformance.Env, fire func(v int)) (func(v int), func() bool, func()) {
			call, release := make(env, edges, fire)
			return call, nil, release
		}
		if v, skip := r.inOrder(p); v != nil || skip != "" {
			return v, skip
		}
	}
	return nil, ""
}

// EndedInARow is InARow for events on the trailing edge, behind which op comes as soon. Make
// returns what does it, too, and reports whether it was answered as if none of the events had come.
func EndedInARow(p *suite.Probe, op conformance.Op, payload trait.Payload,
	make func(env conformance.Env, fire func(v int)) (call func(v int), end func() (overtook bool), release func()),
) (*suite.Violation, string) {
	name := string(op)
	if op == verb.Pending {
		name = "query"
	}
	r := row{make: make, edges: conformance.Trailing, named: named(payload), then: " and a " + name}
	return r.inOrder(p)
}

// named reports whether fires bear the payloads of events.
func named(payload trait.Payload) bool { return payload != 0 && payload != trait.NoPayload }

// row is the probe for one kind of edges.
type row struct {
	make     func(env conformance.Env, fire func(v int)) (call func(v int), end func() bool, release func())
	edges    conformance.Edges
	named    bool
	then     string // what end does
	overtook bool   // so end was answered in the last run
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
		for try := 0; ok && try < tries && (!same || r.then != "") && r.overtook == answered; try++ {
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
				"%d events%s in a row at one instant: the answer was as if none of them had come", n, r.then), ""
		}
		if !same {
			because := fmt.Sprintf("this is the outcome when all goroutines settle after each call (edges=%s)", r.edges)
			return suite.Broken(0, because, "%d events%s in a row at one instant brought %s, want %s",
				n, r.then, r.inWords(got), r.inWords(want)), ""
		}
	}
	return nil, ""
}

// fires brings n events, and returns what comes out.
func (r *row) fires(p *suite.Probe, n int, settled bool) (out []came, ok bool) {
	var mu sync.Mutex
	hang := p.Play(func(st *suite.Stage) {
		call, end, release := r.make(st.Plain(), func(v int) {
			mu.Lock()
			defer mu.Unlock()
			if !r.named {
				v = 0
			}
			out = append(out, came{st.Now(), v})
		})
		for i := range n {
			if call(i + 1); settled {
				st.Settle()
			}
		}
		if end != nil {
			r.overtook = end()
		}
		st.Settle()
		st.To(4 * suite.Wait)
		release()
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
		call, _, release := r.make(st.Plain(), func(int) {})
		made := goroutine.StartedInTest()
		for i := range n {
			st.Settle() // a look takes long, and what an event starts must not run before the next one
			call(i + 1)
			yes = yes || goroutine.StartedInTest() > made
		}
		st.To(4 * suite.Wait)
		release()
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
