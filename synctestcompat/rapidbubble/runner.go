package rapidbubble

import (
	"context"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/escapement-go/escapement/internal/goroutine"
	"github.com/escapement-go/escapement/internal/stackmark"
	"github.com/escapement-go/escapement/synctestcompat"
	"pgregory.net/rapid"
)

// runner runs the iterations of one property.
type runner struct {
	horizon time.Duration
	// patience is the real time after which a bubble that has not ended is looked at, and again
	// before the next look. It decides nothing by itself: tests of hangs have less.
	patience time.Duration
	// running counts goroutines, those of others as well: more of them than before say that the
	// property may have left some, and fewer say nothing.
	running func() int
	idle    chan chan func() // workers that wait
	closed  chan struct{}

	mu    sync.Mutex
	hung  string          // the hang that was seen, so that it is known again at once
	given map[string]bool // tags of bubbles that hang and were given up
}

func newRunner(opts []Option) *runner {
	r := &runner{
		horizon: 1000 * time.Hour, patience: 10 * time.Second, running: runtime.NumGoroutine,
		given: map[string]bool{}, idle: make(chan chan func(), 2), closed: make(chan struct{}),
	}
	for _, o := range opts {
		o(r)
	}
	return r
}

// onWorker calls f on a goroutine that is not the caller's. It is the same one again and
// again, unless it hangs: on Go 1.24 package synctestcompat counts goroutines, and none
// should come and go meanwhile.
func (r *runner) onWorker(f func()) {
	select {
	case work := <-r.idle:
		work <- f
	default:
		work := make(chan func(), 1)
		work <- f
		go func() {
			for {
				select {
				case f := <-work:
					f()
				case <-r.closed:
					return
				}
				select {
				case r.idle <- work:
				default:
					return
				}
			}
		}()
	}
}

// close ends the workers.
func (r *runner) close() { close(r.closed) }

// bubbled is the property with a bubble around it.
func (r *runner) bubbled(prop func(*T)) func(*rapid.T) {
	return func(rt *rapid.T) { r.iterate(rt, prop) }
}

// iteration is one run of the property. Its fields are shared between the bubble
// and the goroutine that waits for it.
type iteration struct {
	mu       sync.Mutex
	first    *failure
	cleanups []func()
	ctx      context.Context
	cancel   context.CancelFunc
	over     bool   // the property has returned or failed
	tag      string // of the bubble's goroutines
	horizon  *time.Timer
}

// failure is what a property ended with, other than by returning.
type failure struct {
	value any    // to panic with
	mark  uint64 // for where it happened
}

// iterate runs the property in a bubble and fails where and as it failed.
//
// The bubble's root is a goroutine of its own, because what hangs in a bubble must not
// hang rapid.
func (r *runner) iterate(rt *rapid.T, prop func(*T)) {
	it := &iteration{}
	before := races()
	ended := make(chan string, 2) // the text of the bubble's deadlock, if it had one
	r.onWorker(func() {
		defer func() { // also when a race makes Test call Goexit
			ended <- deadlockText(recover())
		}()
		outer := outers.Get().(*testing.T)
		synctestcompat.Run(outer, func(st *testing.T) { it.inside(st, r, rt, prop, ended) })
		outers.Put(outer)
	})
	left := r.wait(rt, it, ended)

	it.mu.Lock()
	f := it.first
	it.mu.Unlock()
	switch {
	case f != nil:
	case rt.Failed(): // by Error or Errorf: rapid raises it when the property returns
		return
	case left != "":
		f = &failure{complaint(left), stackmark.Of(left)}
	case races() > before:
		f = &failure{complaint(raceText), stackmark.Of(raceText)}
	default:
		return
	}
	stackmark.Call(f.mark, func() { panic(f.value) })
}

// outers are Ts of nobody's for bubbles to run under: what rapid provokes again and
// again while it makes a failure smaller must not fail the test by itself. One that
// failed does not come back.
var outers = sync.Pool{New: func() any { return new(testing.T) }}

// looks are timers that stand still.
var looks = sync.Pool{New: func() any { return time.NewTimer(time.Hour) }}

// complaint is a failure that the bubble had and not the property.
type complaint string

const raceText = "data race: the race detector's report is in the output. The detector reports a race once for each process; " +
	`set GORACE="suppress_equal_stacks=0 suppress_equal_addresses=0" to have it reproduced and made smaller`

// inside is the bubble's first goroutine.
func (it *iteration) inside(st *testing.T, r *runner, rt *rapid.T, prop func(*T), ended chan<- string) {
	if tagEarly {
		it.learnTag()
	}
	before := r.running()
	it.watch(r.horizon, ended)
	exits := true
	defer func() {
		it.cleanup()
		it.mu.Lock()
		it.horizon.Stop()
		it.mu.Unlock()
		if r.running() > before {
			it.learnTag() // some may be left behind
		}
		if exits {
			st.FailNow() // the only Goexit that is allowed here
		}
	}()
	it.attempt(func() { prop(&T{rt, it}) })
	exits = false
}

// watch ends the bubble after so much of its time, unless the property is then asleep:
// that ends by itself.
func (it *iteration) watch(horizon time.Duration, ended chan<- string) {
	it.mu.Lock()
	defer it.mu.Unlock()
	it.horizon = time.AfterFunc(horizon, func() {
		it.learnTag()
		it.mu.Lock()
		tag := it.tag
		it.mu.Unlock()
		if goroutine.Asleep(tag, "/rapidbubble.(*iteration).inside(") {
			it.watch(horizon, ended)
			return
		}
		ended <- fmt.Sprintf("deadlock: the property is still blocked after %v (see Horizon):", horizon)
		freeze()
	})
}

// learnTag notes which bubble the caller is in. That takes microseconds, so it is done
// only where somebody may ask.
func (it *iteration) learnTag() {
	tag := goroutine.Bubble()
	it.mu.Lock()
	defer it.mu.Unlock()
	it.tag = tag
}

// tagEarly says that a bubble cannot be found again from outside: on Go 1.24 its root is
// a goroutine that served others before.
var tagEarly = strings.HasPrefix(runtime.Version(), "go1.24")

// freeze stops the time of the caller's bubble for good: whoever waits for what was
// made outside of it may go on any moment.
//
//go:noinline
func freeze() { <-never }

var never = make(chan struct{})

// attempt calls f and keeps the first failure.
func (it *iteration) attempt(f func()) {
	returned := false
	defer func() {
		if returned {
			return
		}
		v := recover()
		it.mu.Lock()
		defer it.mu.Unlock()
		if it.first == nil {
			it.first = failureOf(v)
		}
	}()
	f()
	returned = true
}

// cleanup ends the context and calls the Cleanup functions, each even if another
// one failed.
func (it *iteration) cleanup() {
	it.mu.Lock()
	it.over = true
	cancel := it.cancel
	it.mu.Unlock()
	if cancel != nil {
		cancel()
	}
	for {
		it.mu.Lock()
		last := len(it.cleanups) - 1
		if last < 0 {
			it.mu.Unlock()
			return
		}
		f := it.cleanups[last]
		it.cleanups = it.cleanups[:last]
		it.mu.Unlock()
		it.attempt(f)
	}
}

// wait returns when the bubble has ended, and what was wrong with how it ended.
func (r *runner) wait(rt *rapid.T, it *iteration, ended <-chan string) (left string) {
	r.mu.Lock()
	next := r.patience
	if r.hung != "" {
		next = r.patience / 50
	}
	r.mu.Unlock()
	look := looks.Get().(*time.Timer)
	look.Reset(next)
	defer func() { look.Stop(); looks.Put(look) }()
	last := ""
	for {
		select {
		case deadlock := <-ended:
			if deadlock == "" || rt.Failed() || it.failed() {
				return "" // its own failure comes before what that left behind
			}
			return it.leftText(deadlock)
		case <-look.C:
			hang, proven := r.standstill(it, last)
			if proven {
				return hang
			}
			last = hang
			look.Reset(r.patience)
		}
	}
}

// standstill looks whether the bubble under way can never go on. It is proven by two
// looks with patience between them that show the same, or by one that shows what was
// proven before.
func (r *runner) standstill(it *iteration, last string) (hang string, proven bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	it.mu.Lock()
	tag := it.tag
	it.mu.Unlock()
	if !tagEarly {
		tag = goroutine.BubbleUnder(goroutine.ID(), r.given)
	}
	hang = standstill(goroutine.InBubble(tag))
	proven = hang != "" && (hang == last || hang == r.hung)
	if proven {
		r.hung, r.given[tag] = hang, true
	}
	return hang, proven
}

func (it *iteration) failed() bool {
	it.mu.Lock()
	defer it.mu.Unlock()
	return it.first != nil
}

// leftText describes what a bubble left behind.
func (it *iteration) leftText(deadlock string) string {
	it.mu.Lock()
	defer it.mu.Unlock()
	abandoned.Lock()
	if it.tag == "" { // others ended meanwhile, so that the count has not grown
		it.tag = goroutine.Abandoned(abandoned.known)
	}
	abandoned.known[it.tag] = true
	abandoned.Unlock()
	var where []string
	for _, w := range atRest(it.tag) {
		if !strings.HasSuffix(w.Function, "/rapidbubble.freeze") {
			where = append(where, "\n    "+w.String())
		}
	}
	what := deadlock
	switch {
	case !strings.Contains(deadlock, "bubble"):
	case it.over:
		what = "goroutines left behind when the property had ended:"
	default:
		what = "deadlock: the property is blocked for good:"
	}
	return what + count(where)
}

// abandoned are the bubbles that properties of this process have left goroutines in.
var abandoned = struct {
	sync.Mutex
	known map[string]bool
}{known: map[string]bool{}}

// atRest describes the goroutines of a bubble whose time stands still when they have
// stopped running, if they do.
func atRest(tag string) []goroutine.Waiting {
	for tries := 0; ; tries++ {
		all := goroutine.InBubble(tag)
		if tries == 100 || !slices.ContainsFunc(all, func(w goroutine.Waiting) bool { return w.State == "running" || w.State == "runnable" }) {
			return all
		}
		runtime.Gosched()
	}
}

// count joins lines and says how often each is there.
func count(lines []string) string {
	var b strings.Builder
	for i := 0; i < len(lines); {
		n := 1
		for i+n < len(lines) && lines[i+n] == lines[i] {
			n++
		}
		b.WriteString(lines[i])
		if n > 1 {
			fmt.Fprintf(&b, " (%d of them)", n)
		}
		i += n
	}
	return b.String()
}

// standstill says why a bubble can never go on: every goroutine is blocked, and one
// of them waits for a mutex, which keeps time from moving for the others. It is
// empty if the stacks do not show that.
func standstill(all []goroutine.Waiting) string {
	locked := false
	var where []string
	for _, w := range all {
		mutex := strings.HasPrefix(w.State, "sync.Mutex") || strings.HasPrefix(w.State, "sync.RWMutex") || w.State == "semacquire"
		if !mutex && !w.Durable {
			return "" // it runs, or waits for something outside that may come
		}
		locked = locked || mutex
		where = append(where, "\n    "+w.String())
	}
	if !locked {
		return ""
	}
	return "hang: a goroutine waits for a mutex that is not released, and bubble time stands still until it is:" + count(where)
}

// deadlockText is the text of a bubble's deadlock; other panics go on.
func deadlockText(v any) string {
	if v == nil {
		return ""
	}
	if text := fmt.Sprint(v); strings.HasPrefix(text, "deadlock:") {
		return text
	}
	panic(v)
}

// failureOf makes a failure of a recovered value, on the stack of its panic. The
// values that package rapid panics with are kept, so that it knows them again; others
// are given the place where they came from, as rapid would show the wrong one.
func failureOf(v any) *failure {
	if v == nil {
		text := "the property ended its goroutine by runtime.Goexit: fail and skip on the property's own T, not on that of the test around it"
		return &failure{complaint(text), stackmark.Of(text)}
	}
	where := traceback()
	if t := reflect.TypeOf(v); t.PkgPath() != "pgregory.net/rapid" {
		v = complaint(fmt.Sprintf("panic: %v\n%s", v, where))
	}
	return &failure{v, stackmark.Of(where)}
}

// traceback lists the functions between the panic under way and this package.
func traceback() string {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	var b strings.Builder
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		switch {
		case strings.HasSuffix(f.Function, "/rapidbubble.(*iteration).attempt"):
			return b.String()
		case b.Len() == 0 && (strings.HasPrefix(f.Function, "runtime.") || panicsAgain[f.Function] ||
			strings.Contains(f.Function, "/rapidbubble.(*iteration).attempt.")):
		default:
			fmt.Fprintf(&b, "    %s:%d in %s\n", f.File, f.Line, f.Function)
		}
	}
	return b.String()
}

// panicsAgain are functions of package rapid that recover and panic again.
var panicsAgain = map[string]bool{
	"pgregory.net/rapid.runAction.func1":                    true,
	"pgregory.net/rapid.(*customGen[...]).maybeValue.func1": true,
}
