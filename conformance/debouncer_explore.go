package conformance

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/escapement-go/escapement/internal/goroutine"
)

// anchor is the heading of a rule in RULES.md.
func anchor(id string) string { return strings.ToLower(id) }

// withoutRaceDetector is the skip function of rules that need it.
func withoutRaceDetector(*contract) string {
	if !raceDetector {
		return "data races show only with -race"
	}
	return ""
}

// unsettled says why what runs at once on another goroutine cannot be waited for.
func unsettled(c *contract) string {
	if c.time == Injected && !c.lab.bubble {
		return "only in a bubble can be waited for what a timer starts at once"
	}
	return ""
}

const wait = 100 * time.Millisecond

// debouncerFamilies lists what RunDebouncer explores. All numbers are constants:
// every run on every machine explores the same schedules.
func debouncerFamilies(c *contract) []family {
	var ops []Op
	for _, op := range []Op{OpCall, OpCancel, OpFlush, OpStop} {
		if c.accepts(op) {
			ops = append(ops, op)
		}
	}
	cfg := func(keys ...string) Config {
		out := Config{}
		for i := 0; i < len(keys); i += 2 {
			out = out.With(keys[i], keys[i+1])
		}
		return out
	}
	around := func(w time.Duration) []time.Duration { return []time.Duration{0, 1, w - 1, w, w + 1} }

	slow := ""
	if !c.slowCallbacks() {
		slow = "a callback that runs for a while needs a bubble to be driven exactly"
	} else if c.deb.Traits.Reentrancy == ReentrancyForbidden {
		slow = "declared: ReentrancyForbidden, so methods may wait for a running callback"
	}
	inside := ""
	if c.deb.Traits.Reentrancy == ReentrancyForbidden {
		inside = "declared: ReentrancyForbidden"
	}

	out := []family{
		{name: leaks, look: true, schedules: enumerate(cfg("wait", "100ms"), ops, []time.Duration{1, wait}, 2)},
		{name: "enumeration", schedules: enumerate(cfg("wait", "100ms"), ops, around(wait), 4)},
		{name: "odd wait", schedules: enumerate(cfg("wait", "333.333333ms"), ops, around(333_333_333), 3)},
		{name: "long wait", schedules: enumerate(cfg("wait", "2500h"), ops[:1], around(2500*time.Hour), 3)},
		{name: "racing", schedules: racingSchedules(ops, cfg("wait", "100ms"))},
		{name: "scenarios", schedules: debouncerScenarios(ops, cfg("wait", "100ms"))},
	}
	if c.accepts(OpStop) {
		out = append(out, family{name: "stop", schedules: stops(c, cfg("wait", "100ms"))})
	}
	if c.accepts(OpPending) {
		out = append(out, family{name: "queries", schedules: enumerate(cfg("wait", "100ms"),
			append(slices.Clone(ops), OpPending), []time.Duration{0, wait - 1, wait}, 4)})
	}
	for _, op := range append(slices.Clone(ops), OpPending) {
		if c.accepts(op) {
			out = append(out, family{name: "inside " + string(op), skip: inside,
				schedules: enumerate(cfg("wait", "100ms", "inside", string(op)), ops, []time.Duration{1, wait, 2 * wait}, 2)})
		}
	}
	for _, busy := range []time.Duration{wait * 3 / 10, wait * 5 / 2} {
		out = append(out, family{name: "busy " + duration(busy), skip: slow, schedules: enumerate(
			cfg("wait", "100ms", "busy", duration(busy)), ops,
			[]time.Duration{1, wait - 1, wait, wait + 1, wait + 20*time.Millisecond, busy + 1}, 3)})
	}
	out = append(out, edgeFamilies(c, ops)...)
	out = append(out, moreDebouncerFamilies(c)...)
	zero := unsettled(c)
	if t := c.deb.Traits.ZeroWait; !c.lab.bubble && t != ZeroSync && t != ZeroRefused {
		zero = "what fires after its call at the same instant can only be awaited in a bubble"
	}
	negative := unsettled(c)
	if !c.lab.bubble && c.deb.Traits.ZeroWait != ZeroRefused {
		negative = "what fires after its call at the same instant can only be awaited in a bubble"
	}
	out = append(out, family{name: "negative wait", skip: negative, schedules: enumerate(cfg("wait", "-1ns"), ops[:1], []time.Duration{0, 1, wait}, 3)})
	out = append(out, family{name: "zero wait", skip: zero, schedules: enumerate(cfg("wait", "0"), ops, []time.Duration{0, 1, wait}, 3)})
	if c.time == Injected {
		for _, epoch := range epochs {
			out = append(out, family{name: "epoch " + epoch,
				schedules: enumerate(cfg("wait", "100ms", "epoch", epoch), ops[:1], around(wait), 2)})
		}
	}
	return out
}

// epochs are the instants at which implementations keep sentinels or overflow.
var epochs = []string{"0001-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "2261-01-01T00:00:00Z", "3000-01-01T00:00:00Z"}

// slowCallbacks reports whether callbacks that take time can be driven exactly.
func (c *contract) slowCallbacks() bool { return c.lab.bubble }

// enumerate lists every schedule of up to depth steps over the operations and
// gaps. The first step comes at 0; from three steps on it is the first operation,
// since what comes before the first event was seen with fewer. After a stop only
// the first operation and stop follow.
func enumerate(cfg Config, ops []Op, gaps []time.Duration, depth int) []Schedule {
	var out []Schedule
	var grow func(steps []Step, calls int, left int)
	grow = func(steps []Step, calls, left int) {
		if left == 0 {
			out = append(out, Schedule{cfg, slices.Clone(steps)})
			return
		}
		stopped := slices.ContainsFunc(steps, func(s Step) bool { return s.Op == OpStop })
		choices := gaps
		if len(steps) == 0 {
			choices = []time.Duration{0}
		}
		for _, op := range ops {
			if len(steps) == 0 && depth > 2 && left > 2 && op != ops[0] || stopped && op != ops[0] && op != OpStop {
				continue
			}
			for _, gap := range choices {
				s := Step{Op: op, At: gap}
				if len(steps) > 0 {
					s.At += steps[len(steps)-1].At
				}
				n := calls
				if op == OpCall {
					n++
					s.N = n
				}
				grow(append(steps, s), n, left-1)
			}
		}
	}
	for n := 1; n <= depth; n++ {
		grow(nil, 0, n)
	}
	return out
}

// racingSchedules let a step meet the deadline of a burst of one or two calls, with
// up to one step behind it, racing or not.
func racingSchedules(ops []Op, cfg Config) []Schedule {
	var out []Schedule
	for _, prefix := range [][]Step{
		{{Op: OpCall, N: 1}},
		{{Op: OpCall, N: 1}, {Op: OpCall, N: 2, At: wait / 2}},
	} {
		due := prefix[len(prefix)-1].At + wait
		for _, op := range ops {
			calls := len(prefix)
			tie := Step{Op: op, At: due, Racing: true}
			if op == OpCall {
				calls++
				tie.N = calls
			}
			head := append(slices.Clone(prefix), tie)
			out = append(out, Schedule{cfg, head})
			for _, after := range ops {
				if op == OpStop && after != OpCall && after != OpStop || len(prefix) > 1 && after != OpCall {
					continue
				}
				for _, gap := range []time.Duration{0, 1, wait} {
					for _, racing := range []bool{false, true} {
						if racing && gap == 1 {
							continue // nothing is due there
						}
						last := Step{Op: after, At: due + gap, Racing: racing}
						if after == OpCall {
							last.N = calls + 1
						}
						out = append(out, Schedule{cfg, append(slices.Clone(head), last)})
					}
				}
			}
		}
	}
	return out
}

// renewal counts the steps from i on that come without a pause: two, where a cancel or flush
// and the event behind it meet a deadline together. That event begins a burst of its own,
// of which a timer that has expired for the old one must know nothing.
func (s Schedule) renewal(i int) int {
	if i+1 == len(s.Steps) {
		return 1
	}
	end, call := s.Steps[i], s.Steps[i+1]
	if (end.Op == OpCancel || end.Op == OpFlush) && call.Op == OpCall && end.Racing && call.Racing && end.At == call.At {
		return 2
	}
	return 1
}

// renewed returns the event that renews a burst, if the schedule has one.
func (s Schedule) renewed() *Step {
	for i := range s.Steps {
		if s.renewal(i) > 1 {
			return &s.Steps[i+1]
		}
	}
	return nil
}

// debouncerScenarios are longer than enumeration reaches: they wear an instance out.
func debouncerScenarios(ops []Op, cfg Config) []Schedule {
	build := func(next func(i int) (Op, time.Duration), n int) Schedule {
		s := Schedule{Config: cfg}
		at, calls := time.Duration(0), 0
		for i := range n {
			op, gap := next(i)
			at += gap
			st := Step{Op: op, At: at}
			if op == OpCall {
				calls++
				st.N = calls
			}
			s.Steps = append(s.Steps, st)
		}
		return s
	}
	out := []Schedule{
		// A burst far longer than the wait.
		build(func(int) (Op, time.Duration) { return OpCall, wait / 2 }, 40),
		// Many events at one instant.
		build(func(int) (Op, time.Duration) { return OpCall, 0 }, 40),
		// Many bursts of one event, at the smallest distance and with room.
		build(func(int) (Op, time.Duration) { return OpCall, wait }, 20),
		build(func(int) (Op, time.Duration) { return OpCall, 2*wait + 1 }, 20),
		// Bursts that grow.
		build(func(i int) (Op, time.Duration) { return OpCall, time.Duration(i) * wait / 10 }, 25),
	}
	// Every pair of operation and gap behind every other on one instance, as a
	// de Bruijn sequence.
	var letters []Step
	for _, op := range ops {
		if op == OpStop {
			continue
		}
		for _, gap := range []time.Duration{0, 1, wait / 2, wait - 1, wait, 2 * wait} {
			letters = append(letters, Step{Op: op, At: gap})
		}
	}
	word := deBruijn(len(letters))
	return append(out, build(func(i int) (Op, time.Duration) { return letters[word[i]].Op, letters[word[i]].At }, len(word)))
}

// deBruijn returns a sequence of the numbers below k in which every pair of them
// stands side by side.
func deBruijn(k int) []int {
	var out []int
	for a := range k { // the Lyndon words of length 1 and 2 in order
		out = append(out, a)
		for b := a + 1; b < k; b++ {
			out = append(out, a, b)
		}
	}
	return append(out, 0)
}

// debouncerCanary proves that the implementation takes its time from where the spec
// says, and looks whether runs can be settled exactly.
func debouncerCanary(c *contract) string {
	const beyond = 50 * wait
	var fired, later int
	var refused string
	var apart bool // something runs on goroutines that nobody can wait for
	kinds := []Edges{c.deb.edges()}
	if !c.lab.bubble { // callbacks of each edge may have goroutines of their own
		kinds = append(kinds, slices.DeleteFunc(slices.Clone(c.deb.kinds()), func(e Edges) bool { return e == NoEdges || e == kinds[0] })...)
	}
	l := c.lab.apart(func(d driver, _ job, rec *recorder) {
		rec.now = d.now
		var mu sync.Mutex
		n := 0
		count := func() int { mu.Lock(); defer mu.Unlock(); return n }
		for _, e := range kinds {
			var impl DebouncerFuncs
			before := strangers()
			refused = catch(func() {
				impl = c.deb.build(Env{guard(d.clock(), Config{}, rec), Config{}.start()}, DebounceConfig{Wait: wait, Edges: e}, func(int, []int) {
					strange := !driven(createdBy())
					mu.Lock()
					defer mu.Unlock()
					n++
					apart = apart || strange
				})
			})
			if refused != "" {
				return
			}
			_ = catch(func() { impl.Call(1) }) // X-CALLS judges panics
			left := strangers() > before       // whoever is not there any more has fired
			d.to(d.now() + beyond)
			d.settle()
			fired = count()
			if c.lab.bubble && c.time == Injected { // move the other clock
				time.Sleep(beyond)
				d.settle()
				later = count() - fired
			}
			_ = catch(func() { impl.release(false) })
			d.settle()
			mu.Lock()
			apart = apart || left
			mu.Unlock()
		}
	})
	if h := l.once(); h != nil {
		if where := c.waitsForEver(h); where != "" {
			return neverReturned + ": " + where
		}
		c.exact = "the first run hung"
		return ""
	}
	switch {
	case refused != "":
		return fmt.Sprintf("New refused a wait of %v: %s", wait, refused)
	case fired == 0 && later > 0:
		return "the spec says Injected, but nothing fired when Env.Clock moved and something did when package time moved: " +
			"hand Env.Clock to the implementation, or set Time: conformance.PackageTime"
	case c.time == Injected && !c.lab.bubble && (apart || fired == 0):
		c.exact = ownGoroutines
	}
	return ""
}

// ownGoroutines is why runs cannot be judged outside a bubble.
const ownGoroutines = "goroutines of the implementation can only be driven exactly in a bubble"

// driven reports whether a goroutine started by the function is one that the
// clock or the suite waits for.
func driven(origin string) bool {
	return strings.Contains(origin, "escapement/fakeclock.") || strings.Contains(origin, "escapement/conformance.(*lab)")
}

// strangers counts the goroutines that neither the clock nor the suite has started.
func strangers() int {
	n := 0
	for _, g := range goroutine.Stacks() {
		if _, by, ok := strings.Cut(g, "created by "); ok && !driven(by) {
			n++
		}
	}
	return n
}

// createdBy returns the function that started the caller's goroutine.
func createdBy() string {
	buf := make([]byte, 16<<10)
	_, by, _ := strings.Cut(string(buf[:runtime.Stack(buf, false)]), "created by ")
	by, _, _ = strings.Cut(by, "\n")
	return by
}
