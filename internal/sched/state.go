package sched

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// State returns what the run keeps about an object that is used by g, made on first use.
func State[T any](g *G, object any) *T {
	r := g.run
	r.mu.Lock()
	defer r.mu.Unlock()
	if s, ok := r.states[object]; ok {
		return s.(*T)
	}
	s := new(T)
	r.states[object] = s
	return s
}

// Choose chooses a number below n: of the cases of a select the first that is tried. Taken says which
// one was ready then, -1 if none was; what was chosen to come after that was another run's.
func (g *G) Choose(n int) int {
	r := g.run
	if n < 2 || r.dying.Load() || r.Merged {
		return 0
	}
	k, ok := r.pick(selectPlace, n)
	if !ok {
		g.stop()
	}
	return k
}

// selectPlace stands for a select among the nodes.
const selectPlace = 3 << 30

// Took notes that the case taken was ready when first was tried first, and none from first to it; -1 if
// none was, up to the last.
func (g *G) Took(first, taken, n int) {
	r := g.run
	if r.dying.Load() {
		return
	}
	g.hash = mix(g.hash, uint64(taken+2)) // nobody else runs
	if n < 2 || r.Merged {
		return
	}
	if taken < 0 && first > 0 {
		r.prune()
		return
	}
	next := taken + 1
	if next == n {
		next = 0
	}
	r.Nodes = append(r.Nodes, Node{Choice: Choice{uint16(first), selectPlace}, Next: uint16(next), Step: len(r.Steps)})
}

// Meet notes that the goroutine that calls it, if that takes part, meets object here, and does not park it: orders that
// differ in who came first are then told apart. It is for code that takes no part.
func Meet(object any) {
	g := Self()
	if g == nil {
		return
	}
	r := g.run
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.of(object)
	g.hash = mix(g.hash, h.met(0))
	h.add(0, g.hash)
}

// Begin makes now the instant from which those of steps are counted. What came before is at 0.
func (g *G) Begin() {
	for i := range g.run.Steps {
		g.run.Steps[i].At = 0
	}
	g.run.start = time.Now()
}

// Steps returns how many steps the run has had. The scheduler, which adds to them, waits meanwhile.
func (g *G) Steps() int { return len(g.run.Steps) }

// Alone reports whether all goroutines that had a step from a number on are g and another one.
func (g *G) Alone(from int, other *G) bool {
	return !slices.ContainsFunc(g.run.Steps[from:], func(s Step) bool { return s.G != nil && s.G != g && s.G != other })
}

// stop parks the goroutine in a run that is to end.
func (g *G) stop() { g.park(Op{Name: "stops", ready: func() bool { return false }}) }

// tried is whether any lock was tried. Only then a point before an Unlock shows something.
var tried atomic.Bool

// Try notes that a lock is tried.
func Try() { tried.Store(true) }

// SetTried says whether any lock was tried.
func SetTried(yes bool) { tried.Store(yes) }

// Tried reports whether any lock was tried.
func Tried() bool { return tried.Load() }

// rewritten has the paths of the packages that were rewritten.
var rewritten sync.Map

// OfSuite reports whether a package, or a function of one, belongs to the conformance suite, which drives
// what is rewritten, and not to what the suite is tried on.
func OfSuite(path string) bool {
	below, ok := strings.CutPrefix(path, "github.com/escapement-go/escapement/conformance/")
	return ok && !strings.HasPrefix(below, "peers") && !strings.Contains(below, "testdata")
}

// Rewritten notes that a package was rewritten.
func Rewritten(path string) { rewritten.Store(path, true) }

// IsRewritten reports whether a package was rewritten; with "", whether any was.
func IsRewritten(path string) (yes bool) {
	rewritten.Range(func(key, _ any) bool {
		yes = path == "" || key == path
		return !yes
	})
	return yes
}
