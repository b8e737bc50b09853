package interleave

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/escapement-go/escapement/internal/sched"
	"github.com/escapement-go/escapement/synctestcompat"
)

// explorer explores the interleavings of one function.
type explorer struct {
	tb     testing.TB
	f      func(*T)
	pkg    string // of the test
	cfg    config
	queue  [][]branch // by the number of preemptions
	result Result
	seen   map[uint64]bool  // states
	keys   map[uint64]uint8 // states after alternatives, and the preemptions up to there
	watch  *time.Ticker
	steps  []sched.Step // room for those of the next run
	nodes  []sched.Node // the same

	diverged int  // how often a run did
	begun    bool // there was a run
	tried    bool // locks are tried
}

// patience is how often an exploration begins anew as something has been made that is kept.
const patience = 5

func newExplorer(tb testing.TB, f func(*T), opts []Option) *explorer {
	e := &explorer{tb: tb, f: f, pkg: callerPackage(), cfg: config{bound: 2, runs: 200_000, points: 10_000}}
	for _, opt := range opts {
		opt(&e.cfg)
	}
	return e
}

// callerPackage is the package of the first function on the stack that is not ours, and not of a package that is
// called by tests.
func callerPackage() string {
	var pcs [32]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	path := "."
	for {
		f, more := frames.Next()
		if f.Function == "testing.tRunner" || !more {
			return path
		}
		slash := strings.LastIndex(f.Function, "/") + 1
		name, _, _ := strings.Cut(f.Function[slash:], ".")
		path = f.Function[:slash] + strings.TrimSuffix(name, "_test")
	}
}

// branch is an interleaving that has not been run: the choices of one that was, up to some node, where it takes
// another alternative.
type branch struct {
	choices []sched.Choice // of the one that was run
	at      int
	alt     uint16
}

func (b branch) prefix() []sched.Choice {
	if b.choices == nil {
		return nil
	}
	prefix := append([]sched.Choice(nil), b.choices[:b.at+1]...)
	prefix[b.at].Alt = b.alt
	return prefix
}

// outcome is how one run ended.
type outcome struct {
	run  *sched.Run
	t    *T
	hang string // what the watchdog has proved
	left string // what the bubble said about goroutines that take no part
}

func (o outcome) failed() bool {
	return o.t.failed || o.run != nil && o.run.Failure != nil || o.hang != "" || o.left != ""
}

// explore runs all interleavings up to the bound, until one fails.
func (e *explorer) explore() Result {
	e.result = Result{Rewritten: true, Skipped: true}
	e.queue = make([][]branch, e.cfg.bound+1)
	if !e.warm() {
		return e.result
	}
	if !e.cfg.full {
		e.seen, e.keys = make(map[uint64]bool), make(map[uint64]uint8)
	}
	e.queue[0] = []branch{{}}
	total := 0
	for cost := range e.queue {
		e.result.Runs = append(e.result.Runs, 0)
		for len(e.queue[cost]) > 0 {
			if total == e.cfg.runs {
				return e.tooMany(total)
			}
			last := len(e.queue[cost]) - 1
			b := e.queue[cost][last]
			e.queue[cost] = e.queue[cost][:last]
			o := e.once(b.prefix())
			if sched.Tried() != e.tried { // from now on there are more points
				return e.explore()
			}
			if !o.pruned() {
				total++
				e.result.Runs[cost]++
				e.result.Skipped = e.result.Skipped && o.t.skipped
			}
			if o.run != nil {
				e.result.Points += len(o.run.Steps)
			}
			if e.ends(o) {
				return e.result
			}
			e.branch(o.run, b, cost)
			e.steps, e.nodes = o.run.Steps[:0], o.run.Nodes[:0]
		}
		e.queue[cost] = nil
	}
	return e.result
}

// warm runs the function once, which fills what its packages keep, and finds out whether locks are tried. It reports
// false if that hangs.
func (e *explorer) warm() bool {
	sched.SetTried(e.tried || sched.Tried() && e.begun)
	e.begun = true
	o := e.once(nil)
	if e.tried = sched.Tried(); o.hang != "" {
		e.fail(o)
	}
	return o.hang == ""
}

func (o outcome) pruned() bool { return o.run != nil && o.run.Pruned }

// ends reports whether the exploration ends with this run, and says why.
func (e *explorer) ends(o outcome) bool {
	switch {
	case o.pruned():
		return false
	case o.failed():
		e.fail(o)
	case o.run.Diverged != "":
		if e.diverged++; e.diverged < patience { // what is made on first use is made now
			e.explore()
			return true
		}
		e.result.Failure = diverged(o)
	case o.run.TooLong:
		e.result.Failure = tooLong(o, e.cfg.points)
	default:
		return false
	}
	return true
}

// branch queues what differs from a run in one choice that its prefix had left open.
func (e *explorer) branch(run *sched.Run, b branch, cost int) {
	fixed := 0
	if b.choices != nil {
		fixed = b.at + 1
	}
	choices := make([]sched.Choice, len(run.Nodes))
	for i, n := range run.Nodes {
		choices[i] = n.Choice
	}
	if fixed > 0 && len(run.Nodes) >= fixed {
		if n := run.Nodes[fixed-1]; n.Next > 0 {
			e.push(branch{choices, fixed - 1, n.Next}, cost)
		}
	}
	for i := len(run.Nodes) - 1; i >= fixed; i-- {
		n := run.Nodes[i]
		if n.Next > 0 {
			e.push(branch{choices, i, n.Next}, cost)
		}
		for k := len(n.Costs) - 1; k >= 0; k-- {
			if c := cost + int(n.Costs[k]); (n.Keys == nil || e.isNew(n.Keys[k], c)) && k > 0 {
				e.push(branch{choices, i, uint16(k)}, c)
			}
		}
	}
}

// isNew reports whether the state that an alternative leads to has not been queued with as few preemptions.
func (e *explorer) isNew(key uint64, cost int) bool {
	if c, ok := e.keys[key]; ok && int(c) <= cost || cost > e.cfg.bound {
		return false
	}
	e.keys[key] = uint8(cost)
	return true
}

func (e *explorer) push(b branch, cost int) {
	if cost <= e.cfg.bound {
		e.queue[cost] = append(e.queue[cost], b)
	}
}

// tooMany ends an exploration that has run as many interleavings as it may.
func (e *explorer) tooMany(total int) Result {
	for _, q := range e.queue {
		e.result.Left += len(q)
	}
	if !e.cfg.given {
		e.result.Failure = fmt.Sprintf("interleave: none of %s failed, but not all were explored. Let the "+
			"function do less, or accept this by Bound(%d) or Runs(%d)", e.result.Summary(), max(0, len(e.result.Runs)-2), total)
	}
	return e.result
}

// once runs one interleaving.
func (e *explorer) once(prefix []sched.Choice) outcome {
	run := sched.New(sched.Config{Prefix: prefix, Points: e.cfg.points, Still: e.cfg.still})
	run.Steps, run.Nodes, e.steps, e.nodes = e.steps, e.nodes, nil, nil
	if e.seen != nil {
		run.Seen = func(state uint64) bool {
			seen := e.seen[state]
			e.seen[state] = true
			return seen
		}
	}
	o := outcome{run: run, t: &T{TB: e.tb}}
	done := make(chan any, 1)
	go func() {
		defer func() { done <- recover() }() // a deadlock of what is left over
		synctestcompat.Run(new(testing.T), func(*testing.T) { run.Drive(func() { o.t.body(e.f) }) })
	}()
	if e.watch == nil {
		e.watch = time.NewTicker(look)
	}
	before, seen := int64(-1), ""
	for {
		select {
		case p := <-done:
			if p != nil && !o.failed() && !run.Diverging() {
				o.left = leftOver(run, p)
			}
			return o
		case <-e.watch.C:
			progress := run.Progress()
			now := ""
			if progress == before {
				now = proof(run)
			}
			if now != "" && now == seen {
				o.hang = now
				return o
			}
			before, seen = progress, now
		}
	}
}

func (e *explorer) close() {
	if e.watch != nil {
		e.watch.Stop()
	}
}

// plain runs the function once, in the order that comes.
func (e *explorer) plain() Result {
	t := &T{TB: e.tb}
	done := make(chan any, 1)
	go func() {
		defer func() { done <- recover() }()
		synctestcompat.Run(new(testing.T), func(*testing.T) {
			ended := make(chan bool)
			go func() {
				defer close(ended) // FailNow ends this goroutine
				t.body(e.f)
			}()
			<-ended
		})
	}()
	p := <-done
	if p != nil && !t.failed {
		t.failed = true
		t.texts = append(t.texts, fmt.Sprint(p))
	}
	if t.failed {
		why := "interleave: failed in the only order that ran, as no package is rewritten"
		return Result{Failure: why + indent(t.texts)}
	}
	return Result{}
}
