package suite

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/escapement-go/escapement/internal/goroutine"
)

// abandoned are the ids of goroutines that prove nothing about a hang, because they were
// blocked before it: those of earlier hangs, and those of bubbles that had ended when an
// engine was made.
var abandoned = struct {
	sync.Mutex
	ids map[string]bool
}{ids: map[string]bool{}}

// neverGoesOn reports whether a goroutine waits for what cannot come. Whatever it holds, it
// gives nothing back.
func neverGoesOn(header string) bool {
	return strings.Contains(header, "[select (no cases)") || strings.Contains(header, " (nil chan)")
}

// waitsForTests reports whether a stack that is outside bubbles is that of a test with a
// subtest, or of all tests.
func waitsForTests(stack string) bool {
	return strings.Contains(stack, "\ntesting.tRunner(") || strings.Contains(stack, "\ntesting.(*M).Run(")
}

// newStacks returns the stacks of all goroutines but the abandoned, and abandons them.
func newStacks() string {
	abandoned.Lock()
	defer abandoned.Unlock()
	var out []string
	for _, g := range goroutine.Stacks() {
		id, _, _ := strings.Cut(g, " [")
		if !abandoned.ids[id] {
			out = append(out, g)
		}
		abandoned.ids[id] = true
	}
	return strings.Join(out, "\n\n")
}

// abandonBubbles abandons the goroutines of all bubbles that there are. Others may hold what
// is waited for later, unless a test of runs that hang says that what is there is left from
// tests before it. Those of bubbles that still run go on burning.
func abandonBubbles(others bool) {
	abandoned.Lock()
	defer abandoned.Unlock()
	run := int64(0)
	for _, g := range goroutine.Stacks() {
		header, _, _ := strings.Cut(g, "\n")
		within := strings.Contains(header, "synctest ")
		if id, _, _ := strings.Cut(g, " ["); others || within {
			abandoned.ids[id] = true
		}
		if within && (strings.Contains(header, "[running") || strings.Contains(header, "[runnable")) {
			run++
		}
	}
	burning.Store(run)
}

// isLocked reports whether a goroutine waits for a lock.
func isLocked(w goroutine.Waiting) bool {
	return strings.HasPrefix(w.State, "sync.Mutex") || strings.HasPrefix(w.State, "sync.RWMutex")
}

// brief says what a goroutine waits for, in which function, and who started it, without
// numbers and addresses.
func brief(g goroutine.Waiting) string {
	return g.State + " in " + g.Function + ", started by " + g.CreatedBy
}

// Goroutine is a goroutine that was there when a run hung.
type Goroutine struct {
	goroutine.Waiting
	Stack string // its functions, the innermost first
	Made  string // by whom and where it was started
	// Bubble says that it belongs to a bubble.
	Bubble bool

	forGood bool // it waits for what cannot come
}

// Goroutines are all that the hang's stacks show.
func (h *Hang) Goroutines() []Goroutine {
	var out []Goroutine
	for _, g := range strings.Split(h.Stacks, "\n\n") {
		header, stack, _ := strings.Cut(g, "\n")
		w := goroutine.Describe(header, stack)
		calls, made, _ := strings.Cut(stack, "\ncreated by ")
		out = append(out, Goroutine{
			Waiting: w, Stack: calls, Made: made,
			Bubble: strings.Contains(header, "synctest "), forGood: neverGoesOn(header),
		})
	}
	return out
}

// Blocked reports whether it waits for another goroutine.
func (g Goroutine) Blocked() bool {
	states := []string{"sync.", "semacquire", "chan ", "select"}
	return slices.ContainsFunc(states, func(state string) bool { return strings.HasPrefix(g.State, state) })
}

// Below reports whether it is in code under a marker, and returns how far out that is.
func (g Goroutine) below(mark string) int { return strings.Index(g.Stack, mark) }

// String says what it waits for.
func (g Goroutine) String() string { return brief(g.Waiting) }

// BlockedInCallback returns what a goroutine waits for that called the implementation from
// its own callback, "" if there is none.
func (h *Hang) BlockedInCallback() string {
	for _, g := range h.Goroutines() {
		call, back := g.below(markOperation), g.below(markCallback)
		served := g.Bubble && !g.Durable && !isLocked(g.Waiting) // perhaps, by somebody outside its bubble
		if call >= 0 && back > call && g.Blocked() && !served {
			return g.String()
		}
	}
	return ""
}

// LockedInCallback returns what a goroutine waits for in a callback, if it is a lock or the
// like, "" if there is none.
func (h *Hang) LockedInCallback() string {
	for _, g := range h.Goroutines() {
		locked := strings.HasPrefix(g.State, "sync.") || strings.HasPrefix(g.State, "semacquire")
		if locked && g.below(markCallback) >= 0 {
			return g.String()
		}
	}
	return ""
}

// lockedOut returns what an operation waits for, if it is a lock and no callback is
// running.
func (h *Hang) lockedOut() string {
	found := ""
	for _, g := range h.Goroutines() {
		switch {
		case g.below(markCallback) >= 0:
			return ""
		case g.below(markOperation) >= 0 && (isLocked(g.Waiting) || strings.HasPrefix(g.State, "semacquire")):
			found = g.String()
		}
	}
	return found
}

// LockedOut describes an operation that waits for a lock while no callback is running, ""
// if there is none.
func (h *Hang) LockedOut() string { return h.lockedOut() }

// NeverReturned is what is said of an operation that waits for ever.
const NeverReturned = "an operation never returned: it waits for a lock that is never released"

// WaitsForEver describes an operation of a run without progress that waits for a lock which
// nobody will give back, "" if that cannot be proved.
func (s *Suite) WaitsForEver(h *Hang) string {
	if s.profile.Waiting && h.Armed { // a wait may be one for a lock that a timer gives back
		return s.lostLock(h, markPromptly, true)
	}
	return s.lostLock(h, "", true)
}

// LostPromptly is WaitsForEver for operations that must not wait, whoever else waits, and
// whatever for.
func (s *Suite) LostPromptly(h *Hang) string { return s.lostLock(h, markPromptly, false) }

// LostLock is WaitsForEver for all operations.
func (s *Suite) LostLock(h *Hang) string { return s.lostLock(h, "", true) }

// lostLock describes a goroutine that waits for a lock which nobody will give back, "" if
// the stacks do not prove that there is one. Only goroutines with the marker under on
// their stacks are considered, or all of them if under is "". It is proof that all
// goroutines of bubbles are blocked and, if alone is set, that all those in code of the
// implementation wait for locks, or for each other while nothing drives the run: then the
// holder is among them, or has gone without unlocking. Without alone other waits are no objection: that
// is for operations that must not wait for those who wait for their turn.
func (s *Suite) lostLock(h *Hang, under string, alone bool) string {
	lost, holder, dead := "", "", s.undriven(h)
	for _, g := range h.Goroutines() {
		locked := (g.Bubble || !s.Bubble) && isLocked(g.Waiting)
		switch {
		case g.Bubble && !locked && !g.Durable:
			return "" // it runs
		case g.forGood || !s.foreign(g.Stack):
		case !g.Bubble && waitsForTests(g.Stack):
			// It is the test, which waits for the suite.
		case !locked && g.Bubble && dead && g.forOthers():
			holder = cmp.Or(holder, ", while "+g.at())
		case !locked && (alone || !g.Bubble):
			return "" // it may hold the lock, and give it back
		case locked && lost == "" && strings.Contains(g.Stack, under):
			lost = g.at()
		}
	}
	return If(lost != "", lost+holder)
}

// undriven reports whether nothing can come any more but from the goroutines of a run: no timer is armed, and who
// does the steps is blocked in the implementation.
func (s *Suite) undriven(h *Hang) bool {
	blocked := func(g Goroutine) bool {
		return g.below(markDrives) >= 0 && s.foreign(g.Stack) && (isLocked(g.Waiting) || g.forOthers())
	}
	return !h.Armed && slices.ContainsFunc(h.Goroutines(), blocked)
}

// forOthers reports whether it waits for another goroutine: at a channel, a wait group or a condition.
func (g Goroutine) forOthers() bool {
	return slices.ContainsFunc([]string{"chan ", "select", "sync.WaitGroup.Wait", "sync.Cond.Wait"},
		func(state string) bool { return strings.HasPrefix(g.State, state) })
}

// WaitsForLock describes a goroutine that waits for a lock in a bubble.
func (h *Hang) WaitsForLock() string {
	for _, g := range h.Goroutines() {
		if g.Bubble && isLocked(g.Waiting) {
			return g.String()
		}
	}
	return ""
}

// foreign reports whether a stack has a function of neither the suite nor the standard
// library, and so may be in code of the implementation. Functions of tests are foreign,
// those of the suite's own tests included, as these are where the implementations are. The
// fake clock is foreign where it is what is judged.
func (s *Suite) foreign(stack string) bool {
	const module = "github.com/escapement-go/escapement/"
	lines := strings.Split(stack, "\n")
	for i := 0; i+1 < len(lines); i += 2 {
		name, place := lines[i], lines[i+1]
		if path, ours := strings.CutPrefix(name, module); ours {
			if slash := strings.LastIndex(path, "/"); slash >= 0 {
				pkg, _, _ := strings.Cut(path[slash:], ".")
				path = path[:slash] + pkg
			} else {
				path, _, _ = strings.Cut(path, ".")
			}
			if !s.own(path) || strings.Contains(place, "_test.go:") {
				return true
			}
			continue
		}
		std := []string{"context", "internal", "runtime", "sync", "testing", "time"}
		if i := strings.IndexAny(name, "./"); i < 0 || !slices.Contains(std, name[:i]) {
			return true
		}
	}
	return false
}

// own reports whether a package of this module, given by its folder, belongs to the suite.
func (s *Suite) own(path string) bool {
	switch {
	case path == "fakeclock":
		return !s.profile.OwnClock
	case path == "conformance/peers" || strings.HasPrefix(path, "conformance/peers/"):
		return false
	}
	return path == "conformance" || strings.HasPrefix(path, "conformance/") ||
		path == "synctestcompat" || path == "internal/goroutine" || path == "internal/sched"
}
