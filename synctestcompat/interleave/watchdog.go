package interleave

import (
	"fmt"
	"strings"

	"github.com/escapement-go/escapement/internal/sched"
)

// proof looks at the stacks of a run that has come to no point for a while. It returns who waits for what, if
// that proves that the run cannot go on: every goroutine of the bubble is blocked, and one of them in a way that
// keeps the bubble from noticing.
func proof(run *sched.Run) string {
	var culprits []string
	for _, g := range inBubble(run) {
		state := stateOf(g)
		switch {
		case strings.HasPrefix(state, "synctest."), strings.Contains(state, "durable"),
			strings.Contains(state, "(synctest)"): // durably too, on Go 1.24
		case strings.HasPrefix(state, "sync."), strings.HasPrefix(state, "semacquire"):
			culprits = append(culprits, fmt.Sprintf("%s waits in a %s of a package that is not rewritten, called at %s,"+
				" and whoever holds it was held up while it did.\nRewrite that package too: -with %s",
				idOf(run, g), state, placeIn(g), packageIn(g)))
		case strings.HasPrefix(state, "chan "), strings.HasPrefix(state, "select"):
			culprits = append(culprits, fmt.Sprintf("%s waits in a %s at %s for a channel that was made outside of the"+
				" function, which nothing in it can reach. Make it in the function", idOf(run, g), state, placeIn(g)))
		default:
			return "" // it runs
		}
	}
	return strings.Join(culprits, "\n")
}

// inBubble returns the traces of the goroutines of the bubble.
func inBubble(run *sched.Run) (traces []string) {
	tag := fmt.Sprintf(" %d]:", run.Bubble())
	for _, g := range strings.Split(string(sched.Dump()), "\n\n") {
		header, _, _ := strings.Cut(g, "\n")
		if strings.Contains(header, "synctest") && strings.HasSuffix(header, tag) {
			traces = append(traces, g)
		}
	}
	return traces
}

// stateOf returns the state in the header of a trace.
func stateOf(trace string) string {
	_, state, _ := strings.Cut(trace, "[")
	state, _, _ = strings.Cut(state, "]")
	state, _, _ = strings.Cut(state, ", ")
	return state
}

// idOf names the goroutine of a trace.
func idOf(run *sched.Run, trace string) string {
	if g := run.ByTrace(trace); g != nil {
		return nameOf(g)
	}
	return "a goroutine that takes no part"
}

// eachFrame calls f for the frames of a trace that are not ours, until it returns true.
func eachFrame(trace string, f func(function, place string) bool) {
	lines := strings.Split(trace, "\n")
	for i := 1; i+1 < len(lines); i += 2 {
		function := lines[i]
		if cut := strings.LastIndex(function, "("); cut > 0 && !strings.HasPrefix(function, "created by ") {
			function = function[:cut]
		}
		place, _, _ := strings.Cut(strings.TrimSpace(lines[i+1]), " +0x")
		if !ours(function) && f(function, place) {
			return
		}
	}
}

// placeIn returns where a trace is, beyond what is ours and std's.
func placeIn(trace string) (at string) {
	eachFrame(trace, func(_, place string) bool {
		at = base(place)
		return true
	})
	return at
}

// packageIn returns the package in which a trace is.
func packageIn(trace string) (path string) {
	eachFrame(trace, func(function, _ string) bool {
		slash := strings.LastIndex(function, "/") + 1
		name, _, _ := strings.Cut(function[slash:], ".")
		path = function[:slash] + name
		return true
	})
	return path
}

// waitOf returns in what, and where, the goroutine of a trace waits.
func waitOf(trace string) (state, place string) {
	state, _, _ = strings.Cut(stateOf(trace), " (")
	return state, placeIn(trace)
}

// leftOver says which goroutines that take no part are left.
func leftOver(run *sched.Run, panicked any) string {
	text := fmt.Sprint(panicked)
	for _, g := range inBubble(run) {
		state, place := waitOf(g)
		text += fmt.Sprintf("\n%s: %s at %s", idOf(run, g), state, place)
	}
	return text
}
