package sched

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/escapement-go/escapement/internal/stackmark"
)

// Config says how a run goes.
type Config struct {
	Prefix []Choice // what is chosen first; what comes after is the first alternative always
	Points int      // how many steps there may be
	Still  bool     // time moves only when nobody can go on

	// Seen reports whether a state was seen before, nil if that is not asked. The run then has no further
	// nodes.
	Seen func(state uint64) bool
}

// Choice is one of the alternatives at a node, and a number that stands for the node, 0 if
// that is not known.
type Choice struct {
	Alt   uint16
	Place uint32
}

// Node is a choice that was made, among several alternatives.
type Node struct {
	Choice
	Costs []uint8  // of each alternative: whether it is a preemption; nil at a select, and where Prefix chose
	Keys  []uint64 // of each alternative: a number that stands for the state after it, if Seen is asked; nil as Costs
	Next  uint16   // at a select: the next alternative that takes another case, 0 if there is none
	Step  int      // how many steps came before
}

// Step is what the run let happen: a goroutine that did Op, a timer that fired, or, with
// neither, time that moved on.
type Step struct {
	G     *G
	Timer *Timer
	Op    Op
	At    time.Duration // since the run began
	Cost  uint8
	Note  string // what came of it
}

// Run is one execution. Its fields are to be read when Drive has returned.
type Run struct {
	Config
	Nodes []Node
	Steps []Step

	Failure  any    // what Fail was told first
	Diverged string // how the run differed from what Prefix was chosen for
	Pruned   bool   // it goes on as another does
	TooLong  bool   // there were more steps than Points
	Merged   bool   // it came to a state that was seen before

	bubble, root uint64
	start        time.Time
	base         int64
	dying        atomic.Bool
	late         atomic.Int64 // points that are passed after the run was given up
	progress     atomic.Int64 // for the watchdog
	last         *G           // who had the last step, nil if it was a timer's or time's
	alts         []alternative
	timers       []*Timer
	numbers      int  // of timers
	timed        bool // something was armed
	ended        bool // the body has
	failing      bool // the run is to end now

	mu        sync.Mutex
	all, live []*G
	byID      map[uint64]*G
	marked    map[uint64]*G // by the marks on their stacks
	marks     []uint64      // of goroutines by their numbers
	states    map[any]any
	objects   map[any]*history
	past      uint64 // of goroutines that have ended, and of timers
	sleeping  bool
	changed   bool // a goroutine has ended
	arrived   chan struct{}
}

// New returns a run.
func New(cfg Config) *Run {
	return &Run{
		Config: cfg, byID: make(map[uint64]*G), marked: make(map[uint64]*G),
		states: make(map[any]any), objects: make(map[any]*history),
	}
}

// Progress grows with every step.
func (r *Run) Progress() int64 { return r.progress.Load() }

// Bubble is the number of the bubble in headers of stack traces.
func (r *Run) Bubble() uint64 { return r.bubble }

// Fail makes why the failure of the run, if it has none yet, and ends the run.
func (r *Run) Fail(why any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.Failure == nil {
		r.Failure = why
	}
	r.failing = true
}

// prune says that another run goes on as this one does. It comes to its end all the same, as who waits for a channel
// could not be ended otherwise, but counts no more.
func (r *Run) prune() { r.Pruned, r.Merged = true, true }

// Drive runs body, on a goroutine of its own, and all that it starts. It must be called by the first
// goroutine of a bubble.
func (r *Run) Drive(body func()) {
	r.root, r.bubble = identity()
	r.start = time.Now()
	r.base = r.start.UnixNano()
	r.arrived = make(chan struct{}, 1)
	current.Store(r)
	defer current.Store(nil)
	r.marks, marks = marks, nil
	g := r.newG(callers(2))
	go g.main(body)
	for r.step() {
	}
	r.judge()
	r.giveUp()
	if len(r.live) == 0 {
		marks = r.marks
	}
}

// step lets one thing happen. It reports false if there is nothing more.
func (r *Run) step() bool {
	Quiesce()
	if r.failing {
		return false
	}
	if r.all[0].ended {
		r.ended = true
	}
	if r.changed {
		r.refresh()
	}
	alts := r.alternatives()
	if len(alts) == 0 {
		return !r.ended && r.foreign()
	}
	if len(r.Steps) >= r.Points {
		r.TooLong = true
		return false
	}
	k := 0
	if len(alts) > 1 {
		if k = r.choose(alts); k < 0 {
			return false
		}
	}
	r.progress.Add(1)
	r.let(alts[k])
	return true
}

// alternative is what can happen next: a goroutine or a timer goes, or, with neither, time.
type alternative struct {
	g    *G
	t    *Timer
	cost uint8
}

// alternatives returns what can happen next, what is plainest first: the goroutine that ran last, unless it is to
// give way, then the others in the order of their numbers, then timers that are due, then time. A goroutine
// that goes round in circles comes after all others, so that those have their turn.
func (r *Run) alternatives() []alternative {
	alts, tired := r.alts[:0], []alternative(nil)
	now := r.now()
	last := r.last
	stays := last != nil && last.parked && last.enabled(now)
	gives := stays && last.yields()
	cost := uint8(0)
	switch {
	case gives:
		last.tired = true
	case stays:
		alts = append(alts, alternative{g: last})
		cost = 1
	}
	var idle *G
	for _, g := range r.inTurn(last, gives) {
		switch {
		case !g.parked || g == last && stays:
		case g.op.idle:
			if idle == nil {
				idle = g
			}
		case !g.enabled(now):
		case g.tired:
			tired = append(tired, alternative{g: g, cost: 1})
		default:
			alts = append(alts, alternative{g: g, cost: cost})
		}
	}
	due := false // no timer is late
	for _, t := range r.timers {
		if t.when <= now {
			alts = append(alts, alternative{t: t, cost: cost})
			due = true
		}
	}
	if gives {
		tired = append(tired, alternative{g: last, cost: 1})
	}
	r.alts = r.withTime(alts, tired, idle, !due && !r.ended)
	return r.alts
}

// withTime adds what comes only after the others: who goes round in circles, who waits until nobody else can go
// on, and time.
func (r *Run) withTime(alts, tired []alternative, idle *G, moves bool) []alternative {
	moves = moves && idle == nil && r.next() != never
	first := len(alts) == 0 // time comes before those that may wait for it
	for _, a := range tired {
		first = first && a.g.circles()
	}
	if first && moves {
		alts = append(alts, alternative{})
	}
	if len(alts) == 0 && len(tired) > 0 {
		tired[0].cost = 0
	}
	alts = append(alts, tired...)
	switch {
	case len(alts) == 0 && idle != nil:
		alts = append(alts, alternative{g: idle})
	case moves && !first && !r.Still:
		alts = append(alts, alternative{cost: 1})
	}
	return alts
}

// inTurn returns the goroutines that are alive; if last gives way, those started after it first, so that of
// several that go round in circles each has its turn.
func (r *Run) inTurn(last *G, gives bool) []*G {
	if !gives {
		return r.live
	}
	i := slices.Index(r.live, last)
	return append(append([]*G{}, r.live[i+1:]...), r.live[:i]...)
}

func (g *G) enabled(now int64) bool {
	return g.op.until <= now && !g.op.idle && (g.op.ready == nil || g.op.ready())
}

// refresh notes that something has changed that a goroutine which spins may wait for.
func (r *Run) refresh() {
	r.changed = false
	for _, g := range r.live {
		g.tired = false
	}
}

// place returns a number that stands for the alternatives of a node.
func (r *Run) place(alts []alternative) uint32 {
	h := uint64(len(alts))
	for _, a := range alts {
		switch {
		case a.g != nil:
			h = h*31 + a.g.op.place + uint64(a.g.ID)
		case a.t != nil:
			h = h*31 + uint64(a.t.ID) + 7
		}
	}
	return uint32(h^h>>32) | 1
}

// choose returns which alternative happens, and notes that there were others; -1 if the run diverged.
func (r *Run) choose(alts []alternative) int {
	if r.Merged {
		return 0
	}
	open := len(r.Nodes) >= len(r.Prefix)
	if open && r.Seen != nil && r.Seen(r.state()) {
		r.Merged = true
		return 0
	}
	place := r.place(alts)
	k, ok := r.pick(place, len(alts))
	if !ok {
		return -1
	}
	n := Node{Choice: Choice{uint16(k), place}, Step: len(r.Steps)}
	if open {
		n.Costs, n.Keys = r.costs(alts), r.keys(alts)
	}
	r.Nodes = append(r.Nodes, n)
	return k
}

func (r *Run) costs(alts []alternative) []uint8 {
	costs := make([]uint8, len(alts))
	for i, a := range alts {
		costs[i] = a.cost
	}
	return costs
}

func (r *Run) keys(alts []alternative) []uint64 {
	if r.Seen == nil {
		return nil
	}
	keys := make([]uint64, len(alts))
	for i, a := range alts {
		keys[i] = r.key(a)
	}
	return keys
}

// pick returns what Prefix says about the next node.
func (r *Run) pick(place uint32, n int) (k int, ok bool) {
	if len(r.Nodes) >= len(r.Prefix) {
		return 0, true
	}
	want := r.Prefix[len(r.Nodes)]
	if want.Place != 0 && want.Place != place || int(want.Alt) >= n {
		r.Diverged = fmt.Sprintf("choice %d has other alternatives than before", len(r.Nodes)+1)
		r.failing = true
		return 0, false
	}
	return int(want.Alt), true
}

// let lets an alternative happen.
func (r *Run) let(a alternative) {
	s := Step{G: a.g, Timer: a.t, Cost: a.cost, At: time.Since(r.start)}
	switch {
	case a.g != nil:
		s.Op = a.g.op
		if r.last != a.g && !a.g.tired {
			a.g.visits = a.g.visits[:0]
		}
		r.Steps = append(r.Steps, s)
		r.last = a.g
		r.mu.Lock()
		r.does(a.g)
		a.g.parked = false
		r.mu.Unlock()
		a.g.wake <- struct{}{}
	case a.t != nil:
		r.Steps = append(r.Steps, s)
		r.last = nil
		r.refresh()
		r.fires(a.t)
		a.t.expire(r)
	default:
		r.last = nil
		r.refresh()
		r.sleep(r.next())
		s.At = time.Since(r.start)
		r.Steps = append(r.Steps, s)
	}
}

// giveUp ends the goroutines that are left, one after the other, and unlocks what they held.
func (r *Run) giveUp() {
	r.dying.Store(true)
	for {
		Quiesce()
		var next *G
		for _, g := range r.live {
			if g.parked {
				next = g
				break
			}
		}
		if next == nil {
			break
		}
		next.parked = false
		next.wake <- struct{}{}
	}
	for _, s := range r.states {
		if s, ok := s.(interface{ Release() }); ok {
			s.Release()
		}
	}
}

// Diverging reports whether the run was given up for what is not its failure.
func (r *Run) Diverging() bool { return r.Diverged != "" || r.Pruned || r.TooLong }

// ByTrace returns whose stack trace this is, nil if it is that of nobody who takes part, or who has not begun.
func (r *Run) ByTrace(trace string) *G {
	r.mu.Lock()
	defer r.mu.Unlock()
	if marks := stackmark.InTrace(trace); len(marks) > 0 {
		return r.marked[marks[len(marks)-1]]
	}
	text, _ := strings.CutPrefix(trace, "goroutine ")
	goid, _ := number([]byte(text))
	return r.byID[goid]
}
