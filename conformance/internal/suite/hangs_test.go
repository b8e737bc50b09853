package suite

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
)

// stackOf is a goroutine of a dump: what it waits for, and its functions, the innermost
// first, each in a file of its own.
func stackOf(header string, functions ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "goroutine 7 [%s]:", header)
	for i, f := range functions {
		fmt.Fprintf(&b, "\n%s(...)\n\t/src/file%d.go:1 +0x1", f, i)
	}
	return b.String()
}

// Functions and headers of dumps.
const (
	inBubble = ", synctest bubble 3"
	locked   = "sync.Mutex.Lock" + inBubble
	receives = "chan receive (durable)" + inBubble
	runs     = "runnable" + inBubble
	lock     = "sync.(*Mutex).Lock"
	theirs   = "example.com/limiter.(*Limiter).Wait"
	other    = "example.com/limiter.(*Limiter).refill"
	sends    = "chan send (durable)" + inBubble
	step     = here + ".operation"
	plays    = here + ".drives"
	prompt   = here + ".Promptly"
	back     = here + ".callback"
)

// Who waits for a lock has lost it if nobody is there to give it back.
func TestSuite_lostLock(t *testing.T) {
	waits := stackOf(locked, lock, theirs, step)
	const lost = "sync.Mutex.Lock in " + theirs
	for _, tt := range []struct {
		name                   string
		stacks                 []string
		all, promptly, ofTurns string // LostLock, LostPromptly, and WaitsForEver where waits may be for a turn
		untimed                string // WaitsForEver without timers, if that is not as LostLock
	}{
		{"alone", []string{waits}, lost, "", "", ""},
		{"without a marker", []string{stackOf(locked, lock, theirs)}, lost, "", "", ""},
		{"one that must not wait", []string{stackOf(locked, lock, theirs, prompt, step)}, lost, lost, lost, ""},
		{"beside one that runs", []string{waits, stackOf(runs, other)}, "", "", "", ""},
		{"beside one that waits for something else", []string{
			stackOf(locked, lock, theirs, prompt, step), stackOf(receives, other),
		}, "", lost, "", ""},
		{"beside one outside its bubble", []string{
			stackOf(locked, lock, theirs, prompt, step), stackOf("chan receive", other),
		}, "", "", "", ""},
		{"beside one that waits for nothing outside its bubble", []string{
			stackOf(locked, lock, theirs, prompt, step), stackOf("select (no cases)", other),
		}, lost, lost, lost, ""},
		{"beside one that waits for nothing", []string{
			waits, stackOf("chan receive (nil chan) (durable)"+inBubble, other),
		}, lost, "", "", ""},
		{"beside another that waits for it", []string{waits, stackOf(locked, lock, other)}, lost, "", "", ""},
		{"beside the suite", []string{waits, stackOf(receives, here+".(*lab).batch")}, lost, "", "", ""},
		{"beside the test", []string{
			waits, stackOf("chan receive", "example.com/limiter.TestLimiter", "testing.tRunner"),
		}, lost, "", "", ""},
		{"of the driver, beside one at a channel", []string{
			stackOf(locked, lock, theirs, step, plays), stackOf(sends, other),
		}, "", "", "", lost + ", while chan send in " + other},
		{"of the suite itself", []string{stackOf(locked, lock, here+".(*Recorder).Do")}, "", "", "", ""},
		{"outside bubbles", []string{stackOf("sync.Mutex.Lock", lock, theirs, step)}, "", "", "", ""},
		{"nobody", nil, "", "", "", ""},
	} {
		h := &Hang{Goroutines: described(tt.stacks), Armed: true}
		s := &Suite{Bubble: true, profile: Profile{Waiting: true}}
		if got := s.LostLock(h); got != tt.all {
			t.Errorf("%s: LostLock = %q, want %q", tt.name, got, tt.all)
		}
		if got := s.LostPromptly(h); got != tt.promptly {
			t.Errorf("%s: LostPromptly = %q, want %q", tt.name, got, tt.promptly)
		}
		if got := s.WaitsForEver(h); got != tt.ofTurns {
			t.Errorf("%s: WaitsForEver = %q, want %q", tt.name, got, tt.ofTurns)
		}
		h.Armed = false // no timer can give the lock back
		if got := s.WaitsForEver(h); got != cmp.Or(tt.untimed, tt.all) {
			t.Errorf("%s: WaitsForEver without timers = %q, want %q", tt.name, got, cmp.Or(tt.untimed, tt.all))
		}
	}
}

// What a hang says of callbacks: who calls from one and is blocked, who waits for a lock in
// one, and who waits for a lock while none is running.
func TestHang_callbacks(t *testing.T) {
	for _, tt := range []struct {
		name                     string
		stacks                   []string
		blocked, inside, outside bool
	}{
		{"an operation in its callback", []string{stackOf(locked, lock, theirs, step, back, other)}, true, true, false},
		{"a callback waits for a channel", []string{stackOf(receives, theirs, step, back, other)}, true, false, false},
		{"an operation runs in its callback", []string{stackOf(runs, theirs, step, back, other)}, false, false, false},
		{"a callback that waits for a lock itself", []string{stackOf(locked, lock, back, other)}, false, true, false},
		{"a callback that an operation runs", []string{stackOf(locked, lock, back, theirs, step)}, false, true, false},
		{"an operation alone", []string{stackOf(locked, lock, theirs, step)}, false, false, true},
		{"an operation beside a callback", []string{
			stackOf(locked, lock, theirs, step), stackOf(runs, back, other),
		}, false, false, false},
	} {
		h := &Hang{Goroutines: described(tt.stacks)}
		if got := h.BlockedInCallback(); got != "" != tt.blocked {
			t.Errorf("%s: BlockedInCallback = %q, want one: %v", tt.name, got, tt.blocked)
		}
		if got := h.LockedInCallback(); got != "" != tt.inside {
			t.Errorf("%s: LockedInCallback = %q, want one: %v", tt.name, got, tt.inside)
		}
		if got := h.LockedOut(); got != "" != tt.outside {
			t.Errorf("%s: LockedOut = %q, want one: %v", tt.name, got, tt.outside)
		}
	}
}
