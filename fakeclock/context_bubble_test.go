package fakeclock_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/internal/prove"
	"github.com/escapement-go/escapement/synctestcompat"
)

// TestContexts_likePackageContext runs random programs with package context in a
// bubble and with this package's contexts on a clock, and compares what every
// context answers. Half of the programs come to rest after each operation. The
// others never do, unless time passes: asking our contexts must be enough for all
// others to be told.
func TestContexts_likePackageContext(t *testing.T) {
	programs, operations := prove.Number(200, 500, 2000, 2000), 30
	if raceEnabled && programs > 500 {
		programs = 500 // each takes eight times as long
	}
	first := uint64(1)
	if prove.Reaches(prove.All) {
		first = rand.Uint64()
	}
	if s := os.Getenv("ESCAPEMENT_SEED"); s != "" {
		seed, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatalf("ESCAPEMENT_SEED: %v", err)
		}
		first, programs = seed, 1
	}
	reached := map[string]int{}
	for i := range programs {
		seed := first + uint64(i)
		p := newContextProgram(seed, operations)
		if p.compare(t, reached) == "" {
			continue
		}
		p = p.shrink(t)
		t.Fatalf("ESCAPEMENT_SEED=%d\n%v\n%s", seed, p, p.compare(t, nil))
	}
	t.Logf("%d programs from seed %d; states of contexts seen: %v", programs, first, reached)
	if programs < 200 {
		return
	}
	for _, state := range []string{"live", "context canceled", "context deadline exceeded", "custom", "mine, with a cause", "mine, inherited"} {
		if reached[state] == 0 {
			t.Errorf("no context was ever: %s", state)
		}
	}
}

// contextOp makes a context under another one, or does something to one.
type contextOp struct {
	name string
	n    int           // which context, modulo their number
	d    time.Duration // for a deadline, from now
	k    int           // which cause or key
	look bool          // compare all contexts afterwards
}

func (o contextOp) String() string {
	s := fmt.Sprintf("%s n=%d d=%d k=%d", o.name, o.n, o.d, o.k)
	if o.look {
		s += " look"
	}
	return s
}

var (
	withDeadline = []string{"deadline", "timeout", "deadlineCause", "timeoutCause"}
	withoutOne   = []string{"cancel", "cancelCause", "value", "withoutCancel", "wrap", "rename", "custom", "customAfterFunc"}
)

type contextProgram struct {
	rests bool // after each operation
	ask   int  // how our contexts are asked first, if it does not rest: by Err, Done, Cause, or Err from below
	ops   []contextOp
}

func (p contextProgram) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "rests=%v ask=%d\n", p.rests, p.ask)
	for i, o := range p.ops {
		fmt.Fprintf(&b, "\t%d: %v\n", i, o)
	}
	return b.String()
}

func newContextProgram(seed uint64, operations int) contextProgram {
	r := rand.New(rand.NewPCG(seed, 0))
	p := contextProgram{rests: r.IntN(2) == 0, ask: r.IntN(4)}
	for len(p.ops) < operations {
		o := contextOp{n: r.IntN(1000), d: time.Duration(r.IntN(40) - 2), k: r.IntN(3), look: p.rests || r.IntN(2) == 0}
		switch x := r.IntN(100); {
		case x < 35:
			o.name = withDeadline[r.IntN(len(withDeadline))]
		case x < 60:
			o.name = withoutOne[r.IntN(len(withoutOne))]
		case x < 80:
			o.name = "end"
		case x < 90:
			o.name, o.d, o.look = "advance", max(o.d, 0)/2, true
		case x < 96:
			o.name = "afterFunc"
		default:
			o.name = "stop"
		}
		p.ops = append(p.ops, o)
		p = p.legal()
	}
	return p
}

// shape is what can be said of a context before the program runs.
type shape struct {
	ends     bool          // can be ended by the program
	deadline time.Duration // -1 if none
	own      bool          // has a timer of ours
	below    bool          // is not ours, or an afterFunc, with one of ours above
	stops    bool          // is an afterFunc
	renames  bool          // gives another error than its parent, or is below one that does
}

// legal returns p without the operations that cannot be done, or whose outcome is open:
// by package context, if deadlines with different causes coincide, or for what excluded
// says.
func (p contextProgram) legal() contextProgram {
	shapes := []shape{{deadline: -1}}
	var now time.Duration
	causes := map[time.Duration]bool{} // by deadline: whether one has a cause
	looked := true
	var ops []contextOp
	for _, o := range p.ops {
		s := shapes[o.n%len(shapes)]
		child := shape{deadline: s.deadline, below: s.own || s.below, renames: s.renames}
		if p.excluded(o, s, looked) {
			continue
		}
		switch o.name {
		case "deadline", "timeout", "deadlineCause", "timeoutCause":
			at, cause := now+o.d, strings.HasSuffix(o.name, "Cause")
			child.ends = true
			if s.deadline < 0 || s.deadline >= at {
				other, tie := causes[at]
				if tie && (cause || other) {
					continue
				}
				causes[at] = cause
				child.own, child.below, child.deadline = true, false, max(at, 0)
			}
			shapes = append(shapes, child)
		case "cancel", "cancelCause":
			child.ends = true
			shapes = append(shapes, child)
		case "wrap", "rename", "value":
			child.renames = child.renames || o.name == "rename"
			shapes = append(shapes, child)
		case "custom", "customAfterFunc":
			child.ends = true
			shapes = append(shapes, child)
		case "withoutCancel":
			shapes = append(shapes, shape{deadline: -1, below: child.below})
		case "afterFunc":
			child.ends, child.stops = true, true
			shapes = append(shapes, child)
		case "advance":
			now += o.d
		}
		looked = o.look
		ops = append(ops, o)
	}
	p.ops = ops
	return p
}

// excluded reports whether o cannot be done to a context of shape s, or its outcome is
// open by the one exception that ours make: who was made by package context below one of
// ours may not have been told of an end above, if no context was asked since.
func (p contextProgram) excluded(o contextOp, s shape, looked bool) bool {
	untold := s.below && !looked
	switch o.name {
	case "end":
		return !s.ends || s.stops || untold
	case "stop":
		return !s.stops || !looked
	case "cancel", "cancelCause":
		return s.renames && untold // which error its child ends with
	case "custom", "customAfterFunc":
		return !p.rests // package context learns of its end from a goroutine too
	}
	return false
}

// shrink drops operations for as long as the worlds differ.
func (p contextProgram) shrink(t *testing.T) contextProgram {
	for again := true; again; {
		again = false
		for i := range p.ops {
			smaller := p
			smaller.ops = slices.Delete(slices.Clone(p.ops), i, i+1)
			smaller = smaller.legal()
			if len(smaller.ops) < len(p.ops) && smaller.compare(t, nil) != "" {
				p, again = smaller, true
				break
			}
		}
	}
	return p
}

// compare returns the first difference between the two worlds.
func (p contextProgram) compare(t *testing.T, reached map[string]int) (difference string) {
	synctestcompat.Run(t, func(*testing.T) {
		clock := fakeclock.New(fakeclock.WithStart(time.Now()), fakeclock.WithSettle(synctestcompat.Wait))
		ours := (&contextWorld{program: p, clock: clock}).run()
		theirs := (&contextWorld{program: p, reached: reached}).run()
		for i := range theirs {
			if i >= len(ours) || ours[i] != theirs[i] {
				difference = fmt.Sprintf("context:   %s\nfakeclock: %s", theirs[i], ours[min(i, len(ours)-1)])
				return
			}
		}
		if len(ours) > len(theirs) {
			difference = ours[len(theirs)]
		}
	})
	return difference
}

// contextWorld runs a program with package context or, if there is a clock, with
// this package.
type contextWorld struct {
	program contextProgram
	clock   *fakeclock.Clock
	reached map[string]int
	start   time.Time
	nodes   []*contextNode
	trace   []string
}

type contextNode struct {
	ctx  context.Context
	end  func(cause error)
	stop func() bool // of an afterFunc, whose ctx is its parent
	ran  *atomic.Int32
	own  bool // one of ours, with a timer
}

func (w *contextWorld) now() time.Time {
	if w.clock != nil {
		return w.clock.Now()
	}
	return time.Now()
}

func (w *contextWorld) run() []string {
	w.start = w.now()
	w.nodes = []*contextNode{{ctx: context.Background()}}
	for i, o := range w.program.ops {
		n := w.nodes[o.n%len(w.nodes)]
		rested := w.program.rests
		switch o.name {
		case "end":
			n.end(contextCause(o.k))
		case "stop":
			w.note("%d: stop %v", i, n.stop())
		case "advance":
			rested = true
			if w.clock != nil {
				w.clock.Advance(o.d)
			} else {
				synctestcompat.Sleep(o.d)
			}
		default:
			w.nodes = append(w.nodes, w.child(n.ctx, o))
		}
		if rested {
			synctestcompat.Wait()
		}
		if o.look {
			w.look(i, rested)
		}
	}
	synctestcompat.Wait()
	w.look(-1, true)
	for _, n := range slices.Backward(w.nodes) {
		if n.end != nil {
			n.end(nil)
		}
	}
	if w.clock != nil && len(w.clock.Timers()) > 0 {
		w.note("still armed when all is cancelled: %v", w.clock.Timers())
	}
	return w.trace
}

func (w *contextWorld) note(format string, args ...any) {
	w.trace = append(w.trace, fmt.Sprintf(format, args...))
}

func (w *contextWorld) child(parent context.Context, o contextOp) *contextNode {
	n := &contextNode{}
	ends := func(ctx context.Context, cancel context.CancelFunc) {
		n.ctx, n.end = ctx, func(error) { cancel() }
		n.own = strings.HasSuffix(fmt.Sprintf("%T", ctx), ".deadlineContext")
	}
	at, cause := w.now().Add(o.d), contextCause(o.k)
	switch o.name {
	case "deadline":
		if w.clock != nil {
			ends(fakeclock.WithDeadline(parent, w.clock, at))
		} else {
			ends(context.WithDeadline(parent, at))
		}
	case "timeout":
		if w.clock != nil {
			ends(fakeclock.WithTimeout(parent, wrapped{w.clock}, o.d))
		} else {
			ends(context.WithTimeout(parent, o.d))
		}
	case "deadlineCause":
		if w.clock != nil {
			ends(fakeclock.WithDeadlineCause(parent, w.clock, at, cause))
		} else {
			ends(context.WithDeadlineCause(parent, at, cause))
		}
	case "timeoutCause":
		if w.clock != nil {
			ends(fakeclock.WithTimeoutCause(parent, w.clock, o.d, cause))
		} else {
			ends(context.WithTimeoutCause(parent, o.d, cause))
		}
	case "cancel":
		ends(context.WithCancel(parent))
	case "cancelCause":
		ctx, cancel := context.WithCancelCause(parent)
		n.ctx, n.end = ctx, cancel
	case "value":
		n.ctx = context.WithValue(parent, contextKey(o.k), fmt.Sprint(o.d))
	case "withoutCancel":
		n.ctx = context.WithoutCancel(parent)
	case "wrap":
		n.ctx = struct{ context.Context }{parent}
	case "rename":
		n.ctx = &renaming{locking{Context: parent}}
	case "custom", "customAfterFunc":
		c := &customContext{Context: parent, done: make(chan struct{}), err: errCustom}
		n.ctx, n.end = c, func(error) { c.end() }
		if o.name == "customAfterFunc" {
			n.ctx = &customAfterFunc{customContext: c}
		}
	case "afterFunc":
		n.ran = new(atomic.Int32)
		n.ctx, n.stop = parent, context.AfterFunc(parent, func() { n.ran.Add(1) })
		n.end = func(error) { n.stop() }
	}
	return n
}

var errCustom = errors.New("custom")

type contextKey int

// contextCause returns one of three causes, of which one is none.
func contextCause(k int) error {
	return []error{nil, errors.New("cause 1"), errors.New("cause 2")}[k]
}

// look notes what all contexts answer.
func (w *contextWorld) look(i int, rested bool) {
	if !rested {
		nodes := slices.Clone(w.nodes)
		if w.program.ask == 3 {
			slices.Reverse(nodes)
		}
		for _, n := range nodes {
			switch {
			case !n.own:
			case w.program.ask == 1:
				n.ctx.Done()
			case w.program.ask == 2:
				context.Cause(n.ctx)
			default:
				n.ctx.Err()
			}
		}
	}
	armed := 0
	for k, n := range w.nodes {
		ran := int32(0)
		if n.ran != nil && rested { // its goroutine may be on its way
			ran = n.ran.Load()
		}
		ctx := n.ctx
		done, err := "open", ctx.Err()
		if ctx.Done() == nil {
			done = "never"
		} else if closed(ctx) {
			done = "closed"
		}
		deadline, ok := ctx.Deadline()
		w.note("%d: context %d: done %s, Err %v %v, Cause %v, deadline %v %v, values %v %v %v, ran %d, %v", i, k, done,
			err, err == context.DeadlineExceeded, context.Cause(ctx), deadline.Sub(w.start), ok,
			ctx.Value(contextKey(0)), ctx.Value(contextKey(1)), ctx.Value(contextKey(2)), ran, w.name(ctx, i))
		if n.own && err == nil {
			armed++
		}
		w.count(n, err)
	}
	if w.clock != nil && rested && len(w.clock.Timers()) != armed {
		w.note("%d: %d live contexts, but armed: %v", i, armed, w.clock.Timers())
	}
}

// monotonic is what package time shows in bubbles of Go 1.24.
var monotonic = regexp.MustCompile(` m=[+-][0-9.]+`)

// name returns what String says, at the end. Package context calls a custom parent
// that has an AfterFunc method by the type of its own that it wraps it in.
func (w *contextWorld) name(ctx context.Context, i int) string {
	if s, ok := ctx.(fmt.Stringer); ok && i < 0 {
		return strings.ReplaceAll(monotonic.ReplaceAllString(s.String(), ""), "context.stopCtx", "*fakeclock_test.customAfterFunc")
	}
	return ""
}

func (w *contextWorld) count(n *contextNode, err error) {
	if w.reached == nil {
		return
	}
	if err == nil {
		w.reached["live"]++
		return
	}
	w.reached[err.Error()]++
	if _, ok := n.ctx.Deadline(); ok && context.Cause(n.ctx) != err {
		if err == context.DeadlineExceeded {
			w.reached["mine, with a cause"]++
		} else {
			w.reached["mine, inherited"]++
		}
	}
}
