package sched

import (
	"bytes"
	"runtime"
	"runtime/debug"
	"slices"
	"sync/atomic"

	"github.com/escapement-go/escapement/internal/stackmark"
)

// current is the run that is under way, nil if there is none. There is one at a time.
var current atomic.Pointer[Run]

// G is a goroutine that takes part in a run.
type G struct {
	ID  int
	PCs [depth]uintptr // where it was started

	run    *Run
	goid   uint64 // 0 if it is known by its mark
	wake   chan struct{}
	op     Op
	here   [depth]uintptr // where Self was called last
	hash   uint64         // stands for what it did, and what that depends on
	parked bool           // guarded by the mu of run
	ended  bool           // the same
	killed bool
	visits []visit
	tired  bool // it goes round in circles, and nothing has changed since it gave way
}

// depth is how many frames of a place are kept: those of the shim packages, and one more.
const depth = 8

// Op is what a goroutine is about to do.
type Op struct {
	Name   string // "Mutex.Lock"
	Object any    // a pointer to what it does that to, nil if to nothing
	More   []any  // and others
	PCs    [depth]uintptr

	place uint64      // stands for Name and the newest of PCs: others may spell numbers that differ between runs
	stack uint64      // stands for all of PCs
	kind  kind        // of Name
	ready func() bool // nil: always
	until int64       // it sleeps up to this instant; 0 if not
	idle  bool        // it waits until nobody else can go on
	yield bool
}

// visit counts how often a goroutine came to a place while nobody else ran.
type visit struct {
	stack uint64
	times int
}

// spinning is how often a goroutine may come to one place, alone, before it has to give way.
const spinning = 20

// Self returns the goroutine that calls it, nil if that takes no part in a run. A Point that follows is
// at the place of the caller.
func Self() *G {
	r := current.Load()
	if r == nil {
		return nil
	}
	var c called
	c.look(2)
	g := r.self(&c)
	if g != nil {
		g.here = [depth]uintptr{}
		copy(g.here[:], c.pcs)
	}
	return g
}

func (r *Run) self(c *called) *G {
	if mark, ok := c.mark(); ok {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.marked[mark]
	}
	goid, bubble := identity()
	if bubble == 0 || bubble != r.bubble || goid == r.root {
		return nil
	}
	r.mu.Lock()
	g := r.byID[goid]
	r.mu.Unlock()
	if g == nil { // started by code that is not rewritten
		g = r.newG(callers(3))
		g.bind(goid)
	}
	return g
}

// identity returns the number of the calling goroutine and that of its bubble, 0 if it is in none:
// "goroutine 7 [running, synctest bubble 3]:", in Go 1.24 "synctest group 3".
func identity() (goid, bubble uint64) {
	var buf [96]byte
	head := buf[len("goroutine "):runtime.Stack(buf[:], false)]
	goid, head = number(head)
	if i := bytes.IndexByte(head, ']'); i > 0 {
		head = head[:i]
	}
	if i := bytes.LastIndex(head, []byte("synctest ")); i >= 0 {
		_, tag, _ := bytes.Cut(head[i+len("synctest "):], []byte(" "))
		bubble, _ = number(tag)
	}
	return goid, bubble
}

// number reads the number that text begins with.
func number(text []byte) (n uint64, rest []byte) {
	for len(text) > 0 && text[0] >= '0' && text[0] <= '9' {
		n, text = 10*n+uint64(text[0]-'0'), text[1:]
	}
	return n, text
}

func callers(skip int) (pcs [depth]uintptr) {
	runtime.Callers(skip+1, pcs[:])
	return pcs
}

// newG numbers a goroutine that is going to start.
func (r *Run) newG(pcs [depth]uintptr) *G {
	g := &G{run: r, PCs: pcs, wake: make(chan struct{}, 1)}
	r.mu.Lock()
	defer r.mu.Unlock()
	g.ID = len(r.all)
	r.all = append(r.all, g)
	return g
}

// child numbers a goroutine that g starts.
func (g *G) child() *G {
	child := g.run.newG(g.here)
	child.hash = mix(g.hash, 2)
	return child
}

// bind makes the goroutine known, which is running now, by its number if it has no mark. Those that are alive are
// kept in the order of their numbers: of several that start at once any may come first.
func (g *G) bind(goid uint64) {
	r := g.run
	r.mu.Lock()
	defer r.mu.Unlock()
	if g.goid = goid; goid != 0 {
		r.byID[goid] = g
	}
	i := len(r.live)
	for i > 0 && r.live[i-1].ID > g.ID {
		i--
	}
	r.live = slices.Insert(r.live, i, g)
}

// Go starts f on a goroutine that takes part if the caller does.
func Go(f func()) {
	g := Self()
	if g == nil {
		go f()
		return
	}
	go g.child().main(f)
	g.Point("after go", nil)
}

// Child is what code that takes no part, and may hold locks, starts instead of f: its go statement does not park.
func Child(f func()) func() {
	if g := Self(); g != nil {
		child := g.child()
		return func() { child.main(f) }
	}
	return f
}

// Woken is for code that takes no part, and has woken the calling goroutine: it parks.
func Woken(name string) {
	if g := Self(); g != nil {
		g.Point(name, nil)
	}
}

// Reserve numbers a goroutine that code which takes no part may start later: on it, begin is to call
// the function that it runs.
func (g *G) Reserve() (begin func(f func())) {
	child := g.child()
	return func(f func()) {
		if current.Load() != child.run {
			f()
			return
		}
		child.main(f)
	}
}

// main is the goroutine's life.
func (g *G) main(f func()) {
	g.bind(0)
	defer g.end()
	g.park(Op{Name: "begins", PCs: g.PCs})
	stackmark.Call(g.mark(), f)
}

// marks are those of the first, the second and further goroutines of a run. Each run has them in turn, as low numbers
// are spelled in few frames; one that leaves goroutines behind keeps them.
var marks []uint64

// mark returns what is to be on the stack of the goroutine.
func (g *G) mark() uint64 {
	r := g.run
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.marks) <= g.ID {
		r.marks = append(r.marks, stackmark.New())
	}
	r.marked[r.marks[g.ID]] = g
	return r.marks[g.ID]
}

// end is deferred: f may have ended by a panic or runtime.Goexit.
func (g *G) end() {
	r := g.run
	if p := recover(); p != nil && !r.dying.Load() {
		r.Fail(Panicked{g, p, debug.Stack()})
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	g.ended, g.parked = true, false
	r.past += weigh(g, g.hash)
	delete(r.byID, g.goid)
	r.live = slices.DeleteFunc(r.live, func(other *G) bool { return other == g })
	r.changed = true
}

// Panicked is the failure of a goroutine that panicked.
type Panicked struct {
	G     *G
	Value any
	Stack []byte
}

// Point parks the goroutine before it does name to object, until it is chosen.
func (g *G) Point(name string, object any) {
	g.park(Op{Name: name, Object: object, PCs: g.here})
}

// Points is a Point before it does name to several objects.
func (g *G) Points(name string, objects []any) {
	g.park(Op{Name: name, More: objects, PCs: g.here})
}

// Await is a Point at which the goroutine cannot be chosen before ready reports true.
func (g *G) Await(name string, object any, ready func() bool) {
	g.park(Op{Name: name, Object: object, PCs: g.here, ready: ready})
}

// Yield is a Point at which others are let go first.
func (g *G) Yield(name string) {
	g.park(Op{Name: name, PCs: g.here, yield: true})
}

// Idle is a Point at which the goroutine is chosen when no other can be at this instant.
func (g *G) Idle(name string) {
	g.park(Op{Name: name, PCs: g.here, idle: true})
}

// park parks the goroutine. In a run that has been given up it ends the goroutine, and lets what
// that defers pass.
func (g *G) park(op Op) {
	r := g.run
	if r.dying.Load() {
		g.die(op)
		return
	}
	op.locate()
	r.mu.Lock()
	g.visit(op.stack)
	g.op, g.parked = op, true
	r.arrives(g)
	if r.sleeping {
		r.sleeping = false
		r.arrived <- struct{}{}
	}
	r.mu.Unlock()
	<-g.wake
	if r.dying.Load() {
		g.die(op)
	}
}

func (g *G) die(op Op) {
	if g.killed && (op.ready == nil || op.ready()) && g.run.late.Add(1) < limitAfter {
		return
	}
	g.killed = true
	runtime.Goexit()
}

// limitAfter bounds what deferred functions do in a run that has been given up.
const limitAfter = 100_000

// locate makes the numbers that stand for what a goroutine does where, and finds out of which kind it is.
func (op *Op) locate() {
	h := uint64(14695981039346656037)
	for i := range len(op.Name) {
		h = (h ^ uint64(op.Name[i])) * 1099511628211
	}
	for i, pc := range op.PCs {
		h = (h ^ uint64(pc)) * 1099511628211
		if i == 1 {
			op.place = h
		}
	}
	op.stack = h
	op.kind = kinds[op.Name]
}

// visit notes that the goroutine has come to a place.
func (g *G) visit(stack uint64) {
	for i := range g.visits {
		if g.visits[i].stack == stack {
			g.visits[i].times++
			return
		}
	}
	if g.tired {
		g.tired, g.visits = false, g.visits[:0]
	}
	g.visits = append(g.visits, visit{stack, 1})
}

// yields reports whether others are to be let go first.
func (g *G) yields() bool { return g.op.yield || g.circles() }

// circles reports whether the goroutine has come to its place again and again, with nothing to be seen for it.
func (g *G) circles() bool {
	for _, v := range g.visits {
		if v.stack == g.op.stack {
			return v.times > spinning
		}
	}
	return false
}
