package conformance

import (
	"slices"
	"strings"

	"github.com/escapement-go/escapement/internal/goroutine"
)

// waitsForEver describes an operation of a run without progress that waits for a lock
// which nobody will give back, "" if that cannot be proved.
func (c *contract) waitsForEver(h *hang) string {
	switch {
	case c.lim != nil: // a wait may be one for a lock that a timer gives back
		return c.lostLock(h.stacks, ".(*LimiterFuncs).do(", true)
	case c.con != nil:
		if where := c.lostLock(h.stacks, ".unhindered(", false); where != "" || !c.parked {
			return where
		}
	}
	return c.lostLock(h.stacks, "", true)
}

// lost enters that rule id is broken by a run in which an operation waits for ever, which
// ends the exploration.
func (c *contract) lost(id string, f family, h *hang, where string) {
	c.unsettled = neverReturned
	c.blame(id, f, &violation{
		Headline: neverReturned,
		Because:  "all else waits too, and nobody is there to unlock it: " + where,
		Trace:    &Trace{Schedule: h.job.schedule, Order: h.job.order},
	})
}

const neverReturned = "an operation never returned: it waits for a lock that nobody gives back"

// lostLock describes a goroutine of a dump that waits for a lock which nobody will give
// back, "" if the dump does not prove that. All goroutines of bubbles must wait, so that
// nothing happens there any more. If those in code that is not the suite's all wait for
// locks, whoever holds this one is among them or has left without unlocking it; that is
// asked if alone. Where to wait for a slot can be to wait for a lock, it proves nothing; but
// an operation that needs no slot must not wait for those who do. The operations that count
// are those under a function of the suite, all if under is "".
func (c *contract) lostLock(dump, under string, alone bool) string {
	lost := ""
	for _, g := range strings.Split(dump, "\n\n") {
		header, stack, _ := strings.Cut(g, "\n")
		stack, _, _ = strings.Cut(stack, "\ncreated by ")
		w := goroutine.Describe(header, stack)
		bubble := strings.Contains(header, "synctest ")
		locked := (bubble || !c.lab.bubble) && isLocked(w)
		switch {
		case bubble && !locked && !w.Durable:
			return "" // it runs
		case !c.foreign(stack):
		case !bubble && waitsForTests(stack):
			// It waits for the suite.
		case !locked && (alone || !bubble):
			return "" // it may hold the lock, and give it back
		case locked && lost == "" && strings.Contains(stack, under):
			lost = w.State + " in " + w.Function
		}
	}
	return lost
}

// waitsForLock describes a goroutine of a dump that waits for a lock in a bubble.
func waitsForLock(dump string) string {
	for _, g := range strings.Split(dump, "\n\n") {
		header, stack, _ := strings.Cut(g, "\n")
		if w := goroutine.Describe(header, stack); strings.Contains(header, "synctest ") && isLocked(w) {
			return brief(w)
		}
	}
	return ""
}

// isLocked reports whether a goroutine waits for a lock.
func isLocked(w goroutine.Waiting) bool {
	return strings.HasPrefix(w.State, "sync.Mutex") || strings.HasPrefix(w.State, "sync.RWMutex")
}

// foreign reports whether a stack has a function that is not of the suite or of the
// packages that are under it and under everything. A test's functions are foreign, the
// suite's own included: there the implementations are in tests. The clock is foreign where
// it may be what is judged.
func (c *contract) foreign(stack string) bool {
	suite := []string{"conformance", "synctestcompat", "internal/goroutine"}
	if c.clk == nil {
		suite = append(suite, "fakeclock")
	}
	lines := strings.Split(stack, "\n")
	for i := 0; i+1 < len(lines); i += 2 {
		name, place := lines[i], lines[i+1]
		if path, ours := strings.CutPrefix(name, "github.com/escapement-go/escapement/"); ours {
			path, _, _ = strings.Cut(path, ".")
			if !slices.Contains(suite, path) || strings.Contains(place, "_test.go:") {
				return true
			}
			continue
		}
		if i := strings.IndexAny(name, "./"); i < 0 || !slices.Contains([]string{"context", "internal", "runtime", "sync", "testing", "time"}, name[:i]) {
			return true
		}
	}
	return false
}
