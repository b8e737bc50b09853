package suite

import (
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/internal/goroutine"
	"github.com/escapement-go/escapement/synctestcompat"
)

// lab is where schedules are run: in bubbles, if the toolchain has them, and watched, so
// that a run that hangs can be given up.
type lab struct {
	t      *testing.T
	time   conformance.TimeSource
	bubble bool // runs happen in bubbles
	suite  *Suite
	// play runs the job's schedule on a fresh implementation and records it.
	play func(s *Stage)
	// first is how long a run without progress is left before its stacks are looked at for
	// the first time; later waits double up to longestLook. 0 stands for firstLook. Only
	// tests of hangs set it: it decides when an end is found, but not which.
	first time.Duration
	// stage is where the newest run plays.
	stage *atomic.Pointer[Stage]
	// rounds counts what is progress within a run: when it settles, and when goroutines meet.
	rounds *atomic.Int64
	// skip says why a job is not run, "" if it is.
	skip func(Job) string
	last *last // where the schedule under way is noted; nil notes nothing
	// leaving are the jobs of the first bubble that ended with blocked goroutines; from then on runs wait for
	// what ends late. leaks says that a bubble has ended so nevertheless.
	leaving []Job
	leaks   bool
	stuck   int // bubbles that a run has blocked or in which time stood still
	runs    int
}

// with returns a copy of l that plays something else. A run that hangs goes on using the
// lab with which it was started.
func (l *lab) with(play func(s *Stage)) *lab {
	other := *l
	other.play = play
	return &other
}

// once runs a single job.
func (l *lab) once() *Hang { return l.run([]Job{{}}, func(Job, *Recording) {}) }

// chunk is how many Injected runs share a bubble. Bubble time stands still in them, so
// they do not see each other; one bubble for each would cost a third of the time.
const chunk = 256

// timersCrash says that timers of package time crash the process if two goroutines of a
// bubble make them with no duration, or poll them, on two processors: with -race Go 1.25
// and 1.26 do (go.dev/issue/78156).
func (l *lab) timersCrash() bool {
	v := runtime.Version()
	return RaceDetector && l.bubble && l.time == conformance.PackageTime &&
		(strings.HasPrefix(v, "go1.25") || strings.HasPrefix(v, "go1.26"))
}

// run plays the jobs in order and hands each trace to judge, which runs on another
// goroutine than the caller's but never concurrently with it. If a run hangs, run abandons
// it and what came after it and reports it.
func (l *lab) run(jobs []Job, judge func(j Job, rec *Recording)) *Hang {
	if l.timersCrash() {
		defer OneProcessor()()
	}
	var next atomic.Int64 // the job under way
	for int(next.Load()) < len(jobs) {
		ended := make(chan struct{})
		Start(func() {
			defer close(ended) // also when a failed T makes the bubble call Goexit
			for int(next.Load()) < len(jobs) {
				l.batch(jobs, &next, judge)
			}
		})
		before := next.Load()
		if h := l.watch(&next, ended); h != nil {
			h.Job, h.Goroutines = jobs[h.at], abandon()
			if h.dear {
				l.suite.halts.dear++
				burning.Add(1)
			}
			return h
		}
		if next.Load() == before {
			next.Add(1) // the bubble ended without judging its job; do not try for ever
		}
	}
	l.runs += len(jobs)
	return nil
}

// batch plays jobs from next on, as many as share a bubble, and advances next.
func (l *lab) batch(jobs []Job, next *atomic.Int64, judge func(Job, *Recording)) {
	if !l.bubble {
		j := jobs[next.Load()]
		l.last.note(j)
		s := newStage(l.suite, j, NewFakeTime(j.Schedule.Config.Start(), false))
		l.stage.Store(s)
		drives(l, s)
		s.hand(judge, j, next)
		return
	}
	from := int(next.Load())
	to := from + 1
	if l.time != conformance.PackageTime && !jobs[from].Look {
		for to < len(jobs) && to < from+chunk && !jobs[to].Look {
			to++
		}
	}
	var s *Stage
	judged, spent := from, false
	deadlock := l.inBubble(func() {
		for _, j := range jobs[from:to] {
			if why := l.skip(j); why != "" {
				judge(j, &Recording{Trace: conformance.Trace{Schedule: j.Schedule, Order: j.Order, LeftOut: why}})
				judged++
				next.Add(1)
				continue
			}
			s = newStage(l.suite, j, l.driver(j, l.bubble))
			if j.Look {
				s.before = newCrowd()
			}
			l.stage.Store(s)
			l.last.note(j)
			drives(l, s)
			if s.late() {
				spent = true
			} else if j.Look && len(s.Rec.rec.Left) == 0 {
				s.Rec.rec.Left = s.before.left()
			}
			s.hand(judge, j, next)
			judged++
		}
	})
	switch {
	case deadlock == "":
	case judged < to: // the job blocked the bubble's main goroutine
		s.Rec.Locked(func(rec *Recording) { rec.Stuck = true })
		s.hand(judge, jobs[judged], next)
		l.kept()
	case spent: // where time stands still nothing ends
		l.kept()
	case l.leaving == nil:
		l.leaving, l.suite.patient = jobs[from:to], true
	default:
		l.leaks = true
	}
}

// mostKept is how many bubbles may keep goroutines of which no leak is made until it counts that they stay.
const mostKept = 100

// kept counts such a bubble.
func (l *lab) kept() {
	l.stuck++
	l.leaks = l.leaks || l.stuck > mostKept
}

// driver makes the driver of a run.
func (l *lab) driver(j Job, bubble bool) Driver {
	if l.time == conformance.PackageTime {
		return NewBubbleTime(j.Schedule.Config)
	}
	h := NewFakeTime(j.Schedule.Config.Start(), bubble)
	h.jump = j.Jump
	return h
}

// inBubble runs f in a bubble and returns the text of its deadlock, if it ended in one.
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

// crowd is who was in the caller's bubble at some time.
type crowd struct {
	all   int               // goroutines of the process
	mates map[string]string // nil if none can have been there
}

// newCrowd looks around. On Go 1.24 a bubble can bear the number of one that ended in a deadlock,
// whose goroutines are still there; on newer ones nobody has come yet.
func newCrowd() (c crowd) {
	if strings.HasPrefix(runtime.Version(), "go1.24") {
		c.mates = bubbleMates()
	}
	synctestcompat.Wait()
	c.all = runtime.NumGoroutine()
	return c
}

// left describes the bubble mates that have come since and stay. A look at all stacks is dear in
// a process with many goroutines, and if none has come in the process, none has come here.
func (c crowd) left() []string {
	if synctestcompat.Wait(); runtime.NumGoroutine() == c.all {
		return nil
	}
	var left []string
	for id, what := range bubbleMates() {
		if _, old := c.mates[id]; !old {
			left = append(left, what)
		}
	}
	slices.Sort(left)
	return left
}

// bubbleMates describes the goroutines of the caller's bubble other than the caller and
// the bubble's root. The keys tell goroutines apart.
func bubbleMates() map[string]string {
	synctestcompat.Wait()
	mates := map[string]string{}
	own := fmt.Sprint("goroutine ", goroutine.ID()) // a deep stack does not show what would tell
	for _, g := range goroutine.InBubble(goroutine.Bubble()) {
		if g.ID != own {
			mates[g.ID] = brief(g)
		}
	}
	return mates
}

// Others counts the goroutines of the caller's bubble but the caller and the bubble's root;
// outside a bubble there is nothing to count.
func (s *Suite) Others() int {
	if !s.Bubble {
		return 0
	}
	return len(bubbleMates())
}

// literal is the name of a function literal.
var literal = regexp.MustCompile(`\.func\d+(\.\d+)*$`)

// Senders describes the goroutines of the caller's bubble that may wait for somebody to receive:
// in a send or a select, outside of callbacks. The spec's own are not among them.
func (s *Suite) Senders() (all []string) { all, _ = s.senders(); return all }

// SpecSends reports whether the spec may wait for somebody to receive: a bare send by a function literal within
// an operation is taken for one of the spec, which hands events over on a channel that is the caller's.
func (s *Suite) SpecSends() bool { _, spec := s.senders(); return spec }

func (s *Suite) senders() (all []string, spec bool) {
	if !s.Bubble {
		return nil, false
	}
	tag := goroutine.Bubble()
	for _, stack := range goroutine.Stacks() {
		header, calls, _ := strings.Cut(stack, "\n")
		w := goroutine.Describe(header, calls)
		within := strings.Contains(calls, markOperation)
		switch {
		case w.State != "select" && w.State != "chan send":
		case !strings.HasSuffix(header, tag) || strings.Contains(calls, markCallback):
		case within && w.State == "chan send" && literal.MatchString(w.Function):
			spec = true
		case within:
			all = append(all, w.State+" in "+w.Function+", which was called with an event")
		default:
			all = append(all, brief(w))
		}
	}
	slices.Sort(all)
	return all, spec
}

// OneProcessor makes the process run on one processor until the result is called. Schedules
// run one after the other, and each wakes goroutines that would otherwise start on a second
// processor what is done sooner on the first; where the order is chance, it is less so.
// Runs that were given up may go on, each on one more.
func OneProcessor() (restore func()) {
	n := runtime.GOMAXPROCS(1 + int(burning.Load()))
	return func() {
		if n > 1 {
			processors(n)
		}
	}
}

// twoProcessors makes the process run on two processors at least, until the result is
// called. It does nothing where timers on two processors can crash the process.
func (l *lab) twoProcessors() (restore func()) {
	n := runtime.GOMAXPROCS(0)
	if n >= Meeters || l.timersCrash() {
		return func() {}
	}
	runtime.GOMAXPROCS(Meeters)
	return func() { runtime.GOMAXPROCS(n) }
}
