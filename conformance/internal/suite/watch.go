package suite

import (
	"cmp"
	"strings"
	"sync/atomic"
	"time"

	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/internal/goroutine"
)

// Hang is a run that made no progress.
type Hang struct {
	Job Job
	// Stacks are those of all goroutines.
	Stacks string
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
	for _, g := range goroutine.Stacks()[1:] { // the first is the caller's
		header, stack, _ := strings.Cut(g, "\n")
		id, _, _ := strings.Cut(g, " [")
		if abandoned.ids[id] || neverGoesOn(header) {
			continue
		}
		w := goroutine.Describe(header, stack)
		bubble := strings.Contains(header, "synctest ")
		judged := bubble || !l.bubble && l.first > 0
		switch {
		case strings.Contains(stack, "os/signal.signal_recv("), strings.Contains(stack, "os.(*Process).Wait("):
			// a long system call, which holds no lock
		case w.State == "running" || w.State == "runnable":
			return somethingRuns
		case judged && isLocked(w):
			locked = true
		case w.State == "syscall", bubble && !w.Durable, judged && !bubble && !waitsForTests(stack):
			objection = true
		}
	}
	if locked && !objection {
		return stuck
	}
	return nothingRuns
}
