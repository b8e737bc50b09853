package edge

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/goroutine"
	"github.com/escapement-go/escapement/internal/timeline"
)

// Row is a probe of events that one goroutine brings at one instant, each as soon as the one before
// has returned. All other schedules let everything settle between events.
type Row struct {
	// Make makes an instance that fires by calling fire, and returns what brings event v to
	// it and what releases it.
	Make func(env conformance.Env, fire func(v int)) (call func(at time.Duration, v int), release func())
	// Edges says on which edges it fires.
	Edges conformance.Edges
	// Named says that fires bear the payloads of events.
	Named bool

	adapted bool // the spec hands events over on goroutines of its own
}

// came is one fire.
type came struct {
	at    time.Duration
	value int
}

// InOrder runs the probe: what comes out must be what comes out if everything settles in between.
// What scheduling leaves to chance is no finding.
func (r *Row) InOrder(p *suite.Probe) (*suite.Violation, string) {
	const tries = 3
	defer suite.OneProcessor()()
	for _, n := range []int{2, 3, 5, 40} {
		want, ok := r.fires(p, n, true)
		var got []came
		for try := 0; ok && try < tries; try++ {
			if got, ok = r.fires(p, n, false); slices.Equal(got, want) {
				break
			}
		}
		if again, alsoOK := r.fires(p, n, true); !ok || !alsoOK || !slices.Equal(again, want) {
			return nil, "a run made no progress, or had two outcomes"
		}
		if r.adapted {
			return nil, "the spec starts a goroutine for an event, so that the order is not the implementation's"
		}
		if !slices.Equal(got, want) {
			because := fmt.Sprintf("that comes out if everything settles after each of them (edges=%s)", r.Edges)
			return suite.Broken(0, because, "%d events in a row at one instant brought %s, want %s",
				n, r.inWords(got), r.inWords(want)), ""
		}
	}
	return nil, ""
}

// fires brings n events, and returns what comes out.
func (r *Row) fires(p *suite.Probe, n int, settled bool) (out []came, ok bool) {
	var mu sync.Mutex
	hang := p.Play(func(st *suite.Stage) {
		call, release := r.Make(st.Plain(), func(v int) {
			mu.Lock()
			defer mu.Unlock()
			if !r.Named {
				v = 0
			}
			out = append(out, came{st.Now(), v})
		})
		for i := range n {
			call(0, i+1)
			switch {
			case settled:
				st.Settle()
			case i == 0:
				r.adapted = goroutine.StartedInTest()
			}
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

// inWords says what came out.
func (r *Row) inWords(all []came) string {
	var out []string
	for _, c := range all {
		s := timeline.Duration(c.at)
		if r.Named {
			s = fmt.Sprintf("%s at %s", suite.FireMark(c.value), s)
		}
		out = append(out, s)
	}
	if out == nil {
		return "nothing"
	}
	return strings.Join(out, ", ")
}
