package suite

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/internal/goroutine"
)

// Hang is a run that made no progress.
type Hang struct {
	Job Job
	// Goroutines are all but those that were abandoned before.
	Goroutines []Goroutine
	// Open is the operation that has not come back, as the schedule says it; "" if none is
	// under way.
	Open string
	// Panicked is an operation that panicked before, and what with; "" if none did.
	Panicked string
	// Armed says that the fake clock has an armed timer, or that it is not known whether
	// there is one.
	Armed bool

	at   int64 // the number of its job
	dear bool  // no look proved that it would not go on: it has taken much time, and may take more
}

// A run without progress is looked at after firstLook of real time, and then ever more
// rarely, up to longestLook. It is given up when two looks in a row prove that nothing can
// go on; when the process has used more processor time meanwhile than any run needs: while it
// uses a processor, and no run that was given up does, there is nothing to look at; or when
// as many looks as make watchdog found that nothing runs in the whole process, though
// something may yet come that no stack shows. A process that gets no processor thus gets no
// verdict either, however long it takes.
const (
	firstLook   = 50 * time.Millisecond
	longestLook = time.Second
	watchdog    = 10 * time.Second
	spinning    = 4 * time.Second
)

// burning counts the runs that were given up though no look proved that they would not go on: each may keep a
// processor busy as long as the process lives.
var burning atomic.Int64

// sight is what a look at the stacks shows.
type sight int

const (
	nothingRuns   sight = iota // and nothing proves that it is for good
	somethingRuns              // in the bubble, or beside it
	stuck                      // nothing will go on
)

// watch waits until ended is closed, and returns nil, or the hang if the runs stop making
// progress.
func (l *lab) watch(next *atomic.Int64, ended <-chan struct{}) *Hang {
	wait := cmp.Or(l.first, firstLook)
	spins, idles := cmp.Or(400*l.first, spinning), cmp.Or(200*l.first, watchdog)
	if l.suite.halts.n > 0 { // what waited for long before need not be waited for as long again
		idles /= 5
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	seen, rounds := next.Load(), l.rounds.Load()
	used := processorTime()
	ticked := used
	idle, proofs := time.Duration(0), 0
	for {
		select {
		case <-ended:
			return nil
		case <-timer.C:
		}
		if at, n := next.Load(), l.rounds.Load(); at != seen || n != rounds {
			seen, rounds, used, idle, proofs = at, n, processorTime(), 0, 0
			ticked = used
			wait = cmp.Or(l.first, firstLook)
			timer.Reset(wait)
			continue
		}
		sight, now := somethingRuns, processorTime()
		if now-ticked < wait/2 || burning.Load() > 0 {
			sight = l.look()
		}
		ticked = now
		switch sight {
		case stuck:
			proofs++
		case nothingRuns:
			proofs = 0
			idle += wait // counted rather than measured: a process that was suspended has not idled
		case somethingRuns:
			proofs = 0
		}
		if spun := sight == somethingRuns && now-used > spins; proofs > 1 || idle > idles || spun {
			h := l.hang(seen)
			h.dear = proofs <= 1
			return h
		}
		wait = min(2*wait, longestLook)
		timer.Reset(wait)
	}
}

// hang describes the run of job at that makes no progress.
func (l *lab) hang(at int64) *Hang {
	h := &Hang{at: at, Armed: true}
	st := l.stage.Load()
	if st == nil {
		return h
	}
	st.fate.Swap(givenUp)
	if fake := st.Fake(); fake != nil && st.Order != inside.OrderHeld {
		_, h.Armed = fake.Next()
	}
	st.Rec.Locked(func(rec *Recording) {
		for _, d := range rec.Done {
			if d.Ended.Seq == 0 && (h.Open == "" || d.Inside) {
				h.Open = d.Step.String()
			}
			if d.Panic != "" && d.Panic != PlannedPanic && h.Panicked == "" {
				h.Panicked = d.Step.String() + " panicked: " + d.Panic
			}
		}
	})
	return h
}

// look says what the stacks show. They prove a hang if every goroutine in bubbles waits,
// one of them for a lock, and no goroutine outside runs that could hold the lock: then no
// bubble can settle, and nothing will happen any more. Without bubbles there may be timers,
// which no stack shows, so that nothing is proved; except in tests of hangs, which set first
// and have no timers.
func (l *lab) look() sight {
	abandoned.Lock()
	defer abandoned.Unlock()
	locked, objection := false, false
	for _, g := range others() {
		judged := g.Bubble || !l.bubble && l.first > 0
		switch {
		case abandoned.ids[g.ID], g.forGood:
		case g.below("os/signal.signal_recv(") >= 0, g.below("os.(*Process).Wait(") >= 0:
			// a long system call, which holds no lock
		case g.runs():
			return somethingRuns
		case judged && isLocked(g.Waiting):
			locked = true
		case g.State == "syscall", g.Bubble && !g.Durable, judged && !g.Bubble && !waitsForTests(g.Stack):
			objection = true
		}
	}
	if locked && !objection {
		return stuck
	}
	return nothingRuns
}

// abandoned are the ids of goroutines that prove nothing about a hang, because they were
// blocked before it: those of earlier hangs, and those of bubbles that had ended when an
// engine was made.
var abandoned = struct {
	sync.Mutex
	ids map[string]bool
}{ids: map[string]bool{}}

// waitsForTests reports whether a stack that is outside bubbles is that of a test with a
// subtest, or of all tests.
func waitsForTests(stack string) bool {
	return strings.Contains(stack, "\ntesting.tRunner(") || strings.Contains(stack, "\ntesting.(*M).Run(")
}

// abandon abandons all goroutines, and returns those that were not abandoned before.
func abandon() (newer []Goroutine) {
	abandoned.Lock()
	defer abandoned.Unlock()
	for _, g := range others() {
		if !abandoned.ids[g.ID] {
			newer = append(newer, g)
		}
		abandoned.ids[g.ID] = true
	}
	return newer
}

// abandonBubbles abandons the goroutines of all bubbles that there are. Others may hold what
// is waited for later, unless a test of runs that hang says that what is there is left from
// tests before it. Those of bubbles that still run go on burning.
func abandonBubbles(outside bool) {
	abandoned.Lock()
	defer abandoned.Unlock()
	run := int64(0)
	for _, g := range others() {
		if outside || g.Bubble {
			abandoned.ids[g.ID] = true
		}
		run += int64(Number(g.Bubble && g.runs()))
	}
	burning.Store(run)
}

// waits reports whether the state of a goroutine begins like one of these.
func waits(w goroutine.Waiting, states ...string) bool {
	return slices.ContainsFunc(states, func(state string) bool { return strings.HasPrefix(w.State, state) })
}

// isLocked reports whether a goroutine waits for a lock.
func isLocked(w goroutine.Waiting) bool { return waits(w, "sync.Mutex", "sync.RWMutex") }

// brief says what a goroutine waits for, in which function, and who started it, without
// numbers and addresses.
func brief(g goroutine.Waiting) string {
	return g.State + " in " + g.Function + ", started by " + g.CreatedBy
}

// Goroutine is a goroutine of a dump.
type Goroutine struct {
	goroutine.Waiting
	Stack string // its functions, the innermost first
	// Bubble says that it belongs to a bubble.
	Bubble bool

	// forGood says that it waits for what cannot come: whatever it holds, it gives nothing back.
	forGood bool
}

// others are all goroutines but the caller's.
func others() []Goroutine { return described(goroutine.Stacks()[1:]) }

// described reads goroutines of a dump.
func described(dump []string) []Goroutine {
	out := make([]Goroutine, len(dump))
	for i, text := range dump {
		header, stack, _ := strings.Cut(text, "\n")
		g := Goroutine{Waiting: goroutine.Describe(header, stack), Bubble: strings.Contains(header, "synctest ")}
		g.Stack, _, _ = strings.Cut(stack, "\ncreated by ")
		g.forGood = strings.Contains(header, "[select (no cases)") || strings.Contains(header, " (nil chan)")
		out[i] = g
	}
	return out
}

// runs reports whether it runs, or would if it had a processor.
func (g Goroutine) runs() bool { return g.State == "running" || g.State == "runnable" }

// Blocked reports whether it waits for another goroutine.
func (g Goroutine) Blocked() bool { return waits(g.Waiting, "sync.", "semacquire", "chan ", "select") }

// Below reports whether it is in code under a marker, and returns how far out that is.
func (g Goroutine) below(mark string) int { return strings.Index(g.Stack, mark) }

// String says what it waits for.
func (g Goroutine) String() string { return brief(g.Waiting) }

// first returns what the first goroutine waits for of which something is so, "" if there is none.
func (h *Hang) first(is func(g Goroutine) bool) string {
	if i := slices.IndexFunc(h.Goroutines, is); i >= 0 {
		return h.Goroutines[i].String()
	}
	return ""
}

// BlockedInCallback returns what a goroutine waits for that called the implementation from
// its own callback, "" if there is none.
func (h *Hang) BlockedInCallback() string {
	return h.first(func(g Goroutine) bool {
		call, back := g.below(markOperation), g.below(markCallback)
		served := g.Bubble && !g.Durable && !isLocked(g.Waiting) // perhaps, by somebody outside its bubble
		return call >= 0 && back > call && g.Blocked() && !served
	})
}

// LockedInCallback returns what a goroutine waits for in a callback, if it is a lock or the
// like, "" if there is none.
func (h *Hang) LockedInCallback() string {
	return h.first(func(g Goroutine) bool {
		return waits(g.Waiting, "sync.", "semacquire") && g.below(markCallback) >= 0
	})
}

// LockedOut returns what an operation waits for, if it is a lock and no callback is running, "" otherwise.
func (h *Hang) LockedOut() (found string) {
	for _, g := range h.Goroutines {
		switch {
		case g.below(markCallback) >= 0:
			return ""
		case g.below(markOperation) >= 0 && (isLocked(g.Waiting) || waits(g.Waiting, "semacquire")):
			found = g.String()
		}
	}
	return found
}

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
	for _, g := range h.Goroutines {
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
	return !h.Armed && slices.ContainsFunc(h.Goroutines, blocked)
}

// forOthers reports whether it waits for another goroutine: at a channel, a wait group or a condition.
func (g Goroutine) forOthers() bool {
	return waits(g.Waiting, "chan ", "select", "sync.WaitGroup.Wait", "sync.Cond.Wait")
}

// WaitsForLock describes a goroutine that waits for a lock in a bubble.
func (h *Hang) WaitsForLock() string {
	return h.first(func(g Goroutine) bool { return g.Bubble && isLocked(g.Waiting) })
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
		return !s.profile.JudgesClock
	case path == "conformance/peers" || strings.HasPrefix(path, "conformance/peers/"):
		return false
	}
	return path == "conformance" || strings.HasPrefix(path, "conformance/") ||
		path == "synctestcompat" || path == "internal/goroutine" || path == "internal/sched"
}
