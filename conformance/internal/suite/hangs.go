package suite

import (
	"slices"
	"strings"
	"sync"

	"github.com/escapement-go/escapement/internal/goroutine"
)

// abandoned are the goroutines that were there at earlier hangs, and those of bubbles that had
// ended when an engine was made, in which nothing runs any more. They prove nothing of a later
// hang.
var abandoned = struct {
	sync.Mutex
	ids map[string]bool
}{ids: map[string]bool{}}

// stuck reports whether every goroutine in bubbles waits, and one of them for a lock, while
// nobody outside runs who could hold it: no bubble can be settled then, so that nothing
// more will happen in it. Outside bubbles there may be timers that no stack shows, so that
// nothing is proved there, unless a test with runs that hang has set first: it has none.
func (l *lab) stuck() bool {
	abandoned.Lock()
	defer abandoned.Unlock()
	locked := false
	for _, g := range goroutine.Stacks()[1:] { // the first is the caller's
		header, stack, _ := strings.Cut(g, "\n")
		id, _, _ := strings.Cut(g, " [")
		w := goroutine.Describe(header, stack)
		bubble := strings.Contains(header, "synctest ")
		judged := bubble || !l.bubble && l.first > 0
		switch {
		case abandoned.ids[id], neverGoesOn(header):
		case strings.Contains(stack, "os/signal.signal_recv("), strings.Contains(stack, "os.(*Process).Wait("):
			// a long system call, which holds no lock
		case w.State == "running" || w.State == "runnable" || w.State == "syscall":
			return false
		case judged && isLocked(w):
			locked = true
		case bubble && !w.Durable:
			return false
		case judged && !bubble && !waitsForTests(stack):
			return false
		}
	}
	return locked
}

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
// tests before it.
func abandonBubbles(others bool) {
	abandoned.Lock()
	defer abandoned.Unlock()
	for _, g := range goroutine.Stacks() {
		header, _, _ := strings.Cut(g, "\n")
		if id, _, _ := strings.Cut(g, " ["); others || strings.Contains(header, "synctest ") {
			abandoned.ids[id] = true
		}
	}
}

// isLocked reports whether a goroutine waits for a lock.
func isLocked(w goroutine.Waiting) bool {
	return strings.HasPrefix(w.State, "sync.Mutex") || strings.HasPrefix(w.State, "sync.RWMutex")
}

// brief says what a goroutine waits for and where it came from, without numbers and
// addresses.
func brief(g goroutine.Waiting) string {
	return g.State + " in " + g.Function + ", started by " + g.CreatedBy
}

// Goroutine is one of those of a hang.
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
		if call >= 0 && back > call && g.Blocked() {
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
const NeverReturned = "an operation never returned: it waits for a lock that nobody gives back"

// WaitsForEver describes an operation of a run without progress that waits for a lock which
// nobody will give back, "" if that cannot be proved.
func (s *Suite) WaitsForEver(h *Hang) string {
	if s.profile.Waiting { // a wait may be one for a lock that a timer gives back
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
// the stacks do not prove that. All goroutines of bubbles must wait, so that nothing
// happens there any more. If those in code that is not the suite's all wait for locks,
// whoever holds this one is among them or has left without unlocking it; that is asked if
// alone. Where to wait for one's turn can be to wait for a lock, it proves nothing; but an
// operation that needs no turn must not wait for those who do. The operations that count
// are those under a marker, all if under is "".
func (s *Suite) lostLock(h *Hang, under string, alone bool) string {
	lost := ""
	for _, g := range h.Goroutines() {
		locked := (g.Bubble || !s.Bubble) && isLocked(g.Waiting)
		switch {
		case g.Bubble && !locked && !g.Durable:
			return "" // it runs
		case g.forGood || !s.foreign(g.Stack):
		case !g.Bubble && waitsForTests(g.Stack):
			// It waits for the suite.
		case !locked && (alone || !g.Bubble):
			return "" // it may hold the lock, and give it back
		case locked && lost == "" && strings.Contains(g.Stack, under):
			lost = g.State + " in " + g.Function
		}
	}
	return lost
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

// foreign reports whether a stack has a function that is not of the suite or of the
// packages that are under it and under everything. A test's functions are foreign, the
// suite's own included: there the implementations are in tests. The clock is foreign where
// it may be what is judged.
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

// own reports whether a package of this module is one of the suite's.
func (s *Suite) own(path string) bool {
	switch {
	case path == "fakeclock":
		return !s.profile.OwnClock
	case path == "conformance/peers" || strings.HasPrefix(path, "conformance/peers/"):
		return false
	}
	return path == "conformance" || strings.HasPrefix(path, "conformance/") ||
		path == "synctestcompat" || path == "internal/goroutine"
}
