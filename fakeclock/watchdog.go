package fakeclock

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/escapement-go/escapement/internal/stackmark"
)

// watchdog ends an Advance that waits for functions that are blocked for good.
// It is armed when an Advance first has to wait and looks again until the
// Advance ends.
type watchdog struct {
	clock *Clock
	timer *time.Timer // of package time
	wait  time.Duration
	steps uint64 // Clock.steps at the last look
}

// patience is how long functions may be blocked unless WithWatchdog says.
const patience = 10 * time.Second

// guard arms the watchdog of this turn.
func (c *Clock) guard() {
	if c.dog != nil || c.patience <= 0 {
		return
	}
	w := &watchdog{clock: c, wait: c.patience, steps: c.steps}
	w.timer = time.AfterFunc(w.wait, w.look)
	c.dog = w
}

// look gives up on the functions that the Advance waits for if all of them are
// blocked and none has returned or gone to sleep since the last look.
func (w *watchdog) look() {
	c := w.clock
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dog != w {
		return // the turn is over
	}
	if c.steps == w.steps && c.active > 0 {
		var stacks []byte
		c.unlocked(func() { stacks = allStacks() })
		if c.dog != w {
			return
		}
		if c.steps == w.steps {
			if report := c.blocked(stacks); report != "" {
				c.giveUp(report)
				return
			}
			w.wait *= 2 // it sleeps or computes; in a bubble that may be for years
		}
	}
	if c.steps != w.steps {
		w.steps, w.wait = c.steps, c.patience
	}
	w.timer.Reset(w.wait)
}

// blocked describes the awaited functions if all of them are blocked.
func (c *Clock) blocked(stacks []byte) string {
	var report strings.Builder
	n, byMark := 0, stacksByMark(stacks)
	for _, w := range c.workers {
		if !w.awake() {
			continue
		}
		stack := byMark[w.mark]
		if !isBlocked(stack) {
			return ""
		}
		n++
		fmt.Fprintf(&report, "\n\n%v\n%s", c.describe(w.timer, w.timer.when), stack)
	}
	if n != c.active { // one has not begun, or is just being woken
		return ""
	}
	return report.String()
}

// giveUp makes the Advance under way panic, and wait for nothing any more.
func (c *Clock) giveUp(report string) {
	c.stuck = fmt.Sprintf("fakeclock: Advance has waited %v for functions that it started, and all are "+
		"blocked on something other than this clock's Sleep.\nDo not block in them; or run the test in a "+
		"bubble, with WithSettle(synctest.Wait); or raise the limit by WithWatchdog.", c.patience)
	if !c.sites {
		c.stuck += "\nWithSites adds where each function was handed to the clock."
	}
	c.stuck += report
	c.abandon()
}

// abandon lets no Advance wait for the functions that one is waiting for.
func (c *Clock) abandon() {
	for _, w := range c.workers {
		if w.awake() {
			delete(c.workers, w.mark)
			w.timer = nil
			c.leave()
		}
	}
}

// allStacks returns the stacks of all goroutines.
func allStacks() []byte {
	for buf := make([]byte, 1<<16); ; buf = make([]byte, 2*len(buf)) {
		if n := runtime.Stack(buf, true); n < len(buf) {
			return buf[:n]
		}
	}
}

// stacksByMark returns the parts of stacks that are about goroutines with marks.
func stacksByMark(stacks []byte) map[uint64]string {
	byMark := make(map[uint64]string)
	for _, stack := range bytes.Split(stacks, []byte("\n\n")) {
		stack := string(bytes.TrimSpace(stack))
		for _, mark := range stackmark.InTrace(stack) {
			byMark[mark] = stack
		}
	}
	return byMark
}

// isBlocked reports whether stack is of a goroutine that waits for another, as
// opposed to one that runs, sleeps or waits for the outside world.
func isBlocked(stack string) bool {
	_, state, _ := strings.Cut(stack, "[")
	for _, s := range []string{"chan receive", "chan send", "select", "sync.", "semacquire"} {
		if strings.HasPrefix(state, s) {
			return true
		}
	}
	return false
}
