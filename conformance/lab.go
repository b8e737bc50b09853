package conformance

import (
	"cmp"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/escapement-go/escapement/internal/goroutine"
	"github.com/escapement-go/escapement/synctestcompat"
)

// job is one run of a schedule.
type job struct {
	schedule Schedule
	order    Order
	family   string
	look     bool // look for goroutines left at the end
	jump     bool // move package time too, on an injected clock
}

// lab runs jobs where they belong: in bubbles if there are any, guarded by a
// watchdog.
type lab struct {
	t      *testing.T
	time   TimeSource
	bubble bool // runs happen in bubbles
	// play runs the job's schedule on a fresh implementation and records it.
	play func(d driver, j job, rec *recorder)
	// leaks says that a bubble ended with blocked goroutines.
	leaks bool
	runs  int
	// first is the wait before the first look at the stacks of a run without progress; the waits
	// after it double until they are longestLook, which 0 stands for. Only tests of hangs set it.
	// What the stacks prove does not depend on when they are looked at, and without a proof
	// watchdog is what it is.
	first time.Duration
}

// apart is a lab like l that plays something else. It is a copy: a run that hangs
// keeps the lab that it was given.
func (l *lab) apart(play func(d driver, j job, rec *recorder)) *lab {
	other := *l
	other.play = play
	return &other
}

// once runs a single job.
func (l *lab) once() *hang { return l.run([]job{{}}, func(job, *Trace) {}) }

// chunk is how many Injected runs share a bubble. Bubble time stands still in
// them, so they do not see each other; one bubble for each would cost a third of
// the time.
const chunk = 256

// A run without progress is looked at every longestLook of real time and given up after
// watchdog. Neither decides anything: the stacks do. Where they show before that nobody can
// go on, two looks will do.
const (
	watchdog    = 10 * time.Second
	longestLook = time.Second
)

// rest leaves a limiter without Stop alone for ten times as long as what happened until
// end can matter, before anybody looks for goroutines that it left, or lets the bubble
// end: a janitor that ends when there is nothing left to clean does no harm. Longer than
// a year nobody waits; the instants of package time end.
func rest(d driver, end, matters time.Duration) {
	const year = 365 * 24 * time.Hour
	if end < year && matters > 0 && matters < year/10 {
		d.to(end + 10*matters)
	}
}

// hang is a run that made no progress.
type hang struct {
	job    job
	stacks string
}

// timersCrash says that timers of package time crash the process if two goroutines of a
// bubble make them with no duration, or poll them, on two processors: with -race Go 1.25
// and 1.26 do (go.dev/issue/78156).
func (l *lab) timersCrash() bool {
	v := runtime.Version()
	return raceDetector && l.bubble && l.time == PackageTime &&
		(strings.HasPrefix(v, "go1.25") || strings.HasPrefix(v, "go1.26"))
}

// run plays the jobs in order and hands each trace to judge, which runs on
// another goroutine than the caller's but never concurrently with it. If a run
// hangs, run abandons it and what came after it and reports it.
func (l *lab) run(jobs []job, judge func(j job, tr *Trace)) *hang {
	defer oneProcessor(l.timersCrash())()
	var next atomic.Int64 // the job under way
	note := noter()
	for int(next.Load()) < len(jobs) {
		ended := make(chan struct{})
		go func() {
			defer close(ended) // also when a failed T makes the bubble call Goexit
			for int(next.Load()) < len(jobs) {
				l.batch(jobs, &next, note, judge)
			}
		}()
		before := next.Load()
		seen, stuck := l.watch(ended, &next)
		if stuck {
			return &hang{jobs[seen], newStacks()}
		}
		if next.Load() == before {
			next.Add(1) // the bubble ended without judging its job; do not try for ever
		}
	}
	l.runs += len(jobs)
	return nil
}

// watch returns when the batches have ended, or says which job is under way if no run makes
// progress any more: the stacks prove it twice, or watchdog is over.
func (l *lab) watch(ended <-chan struct{}, next *atomic.Int64) (seen int64, stuck bool) {
	wait := cmp.Or(l.first, longestLook)
	timer := time.NewTimer(wait)
	defer timer.Stop()
	seen = next.Load()
	idle, proofs := time.Duration(0), 0
	for {
		select {
		case <-ended:
			return seen, false
		case <-timer.C:
		}
		if now := next.Load(); now != seen {
			seen, idle, proofs = now, 0, 0
			wait = cmp.Or(l.first, longestLook)
		} else {
			// Counted rather than measured: a process that was suspended has not idled.
			idle += wait
			if proofs++; !l.stuck() {
				proofs = 0
			}
			if idle > watchdog || proofs > 1 {
				return seen, true
			}
			wait = min(2*wait, longestLook)
		}
		timer.Reset(wait)
	}
}

// noter returns what writes a schedule that is about to run to the file that
// ESCAPEMENT_LAST names: if the process ends with it, that is what it died of.
func noter() func(s Schedule) {
	path := os.Getenv("ESCAPEMENT_LAST")
	if path == "" {
		return func(Schedule) {}
	}
	return func(s Schedule) {
		if err := os.WriteFile(path, []byte(s.String()+"\n"), 0o666); err != nil {
			panic("conformance: ESCAPEMENT_LAST: " + err.Error())
		}
	}
}

// batch plays jobs from next on, as many as share a bubble, and advances next.
func (l *lab) batch(jobs []job, next *atomic.Int64, note func(Schedule), judge func(job, *Trace)) {
	if !l.bubble {
		j := jobs[next.Load()]
		note(j.schedule)
		rec := &recorder{}
		l.play(newHand(j.schedule.Config.start(), false), j, rec)
		judge(j, rec.finish())
		next.Add(1)
		return
	}
	from := int(next.Load())
	to := from + 1
	if l.time != PackageTime && !jobs[from].look {
		for to < len(jobs) && to < from+chunk && !jobs[to].look {
			to++
		}
	}
	var rec *recorder
	judged := from
	deadlock := l.inBubble(func() {
		for _, j := range jobs[from:to] {
			var before map[string]string
			if j.look {
				before = bubbleMates()
			}
			rec = &recorder{}
			var d driver
			if l.time == PackageTime {
				d = newBubbleTime()
			} else {
				h := newHand(j.schedule.Config.start(), true)
				h.jump = j.jump
				d = h
			}
			note(j.schedule)
			l.play(d, j, rec)
			if j.look {
				rec.trace.Left = leftSince(before)
			}
			judge(j, rec.finish())
			judged++
			next.Add(1)
		}
	})
	if deadlock != "" {
		l.leaks = true
		if judged < to { // the job blocked the bubble's main goroutine
			tr := rec.finish()
			tr.Stuck = true
			judge(jobs[judged], tr)
			next.Add(1)
		}
	}
}

// inBubble runs f in a bubble and returns the text of its deadlock, if it ended in
// one.
func (l *lab) inBubble(f func()) (deadlock string) {
	defer func() {
		if r := recover(); r != nil {
			switch r := r.(type) {
			case error:
				deadlock = r.Error()
			case string:
				deadlock = r
			}
			if !strings.HasPrefix(deadlock, "deadlock:") {
				panic(r)
			}
		}
	}()
	synctestcompat.Run(l.t, func(*testing.T) { f() })
	return ""
}

// abandoned are the goroutines that were there at earlier hangs. They prove nothing of
// a later one.
var abandoned = struct {
	sync.Mutex
	ids map[string]bool
}{ids: map[string]bool{}}

// stuck reports whether every goroutine in bubbles waits, and one of them for a lock, while
// nobody outside runs who could hold it: no bubble can be settled then, so that nothing more
// will happen in it. Outside bubbles there may be timers that no stack shows, so that
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
		case abandoned.ids[id]:
		case strings.Contains(stack, "os/signal.signal_recv(") || strings.Contains(stack, "os.(*Process).Wait("): // a long system call
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

// waitsForTests reports whether a stack that is outside bubbles is that of a test with a
// subtest, or of all tests.
func waitsForTests(stack string) bool {
	return strings.Contains(stack, "\ntesting.tRunner(") || strings.Contains(stack, "\ntesting.(*M).Run(")
}

// newStacks returns the stacks of all goroutines but the abandoned, and abandons
// them.
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

// leftSince describes the caller's bubble mates that were not there before. On Go
// 1.24 a bubble can bear the number of one that ended in a deadlock, whose
// goroutines are still there.
func leftSince(before map[string]string) []string {
	var left []string
	for id, what := range bubbleMates() {
		if _, old := before[id]; !old {
			left = append(left, what)
		}
	}
	slices.Sort(left)
	return left
}

// bubbleMates describes the goroutines of the caller's bubble other than the caller
// and the bubble's root. The keys tell goroutines apart.
func bubbleMates() map[string]string {
	synctestcompat.Wait()
	mates := map[string]string{}
	for _, g := range goroutine.InBubble(goroutine.Bubble()) {
		mates[g.ID] = brief(g)
	}
	return mates
}

// describe says what a goroutine of a dump waits for and where it came from,
// without numbers and addresses.
func describe(header, stack string) string { return brief(goroutine.Describe(header, stack)) }

func brief(g goroutine.Waiting) string {
	return g.State + " in " + g.Function + ", started by " + g.CreatedBy
}
