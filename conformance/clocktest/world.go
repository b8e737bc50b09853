package clocktest

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

// event is something that was seen of a clock.
type event struct {
	// part is when it was seen: twice the index of a step while time moved to that step's
	// instant, and one more from then on.
	part int
	// who saw it: 0 the schedule, else a function, sleeper or consumer.
	who int
	// at is the instant on package time: of what a clock shows, that at which package time shows the same, negative
	// as long as that is not known.
	at time.Duration
	// step is the one that has shown it, without its instant, and without an operation if it came by itself.
	step conformance.Step
	// text says what, mark does so in a timeline.
	text, mark string
	// also are other texts that are as right.
	also []string
	// cause is what a panic was about, which package time may put in other words.
	cause string
}

// followUps bounds how often a function, sleeper or consumer does its steps, since one
// that arms itself would go on for ever.
const followUps = 12

// world runs a schedule on a clock, package time or another, and notes what can be seen of
// it.
type world struct {
	stage  *suite.Stage
	f      Funcs
	start  time.Time
	quit   chan struct{} // ends the consumers
	ledger *ledger       // of package time only
	inline bool          // functions may run before AfterFunc returns, which waits for them

	mu       sync.Mutex
	at       time.Duration // how far the schedule has moved the clock
	part     int
	doing    conformance.Step
	events   []event
	over     bool
	turns    map[int]int // of each function, sleeper and consumer
	allTurns int
	timers   map[int]timed
	contexts map[int]*timedContext
	root     context.Context
	release  []releasing // of everything that was made
}

// releasing is a step that releases what was made.
type releasing struct {
	step conformance.Step
	do   func()
}

func newWorld(st *suite.Stage, f Funcs) *world {
	return &world{
		stage: st, f: f, start: f.Now(), quit: make(chan struct{}), turns: map[int]int{},
		timers: map[int]timed{}, contexts: map[int]*timedContext{},
		root: context.WithValue(context.Background(), rootKey{}, true),
	}
}

// run does the schedule. Each of its steps may block for ever.
func (w *world) run() {
	for i, s := range w.stage.Steps() {
		if s.In != 0 {
			continue
		}
		w.mu.Lock()
		w.part, w.doing = 2*i, s
		w.mu.Unlock()
		if d := s.At - w.at; d > 0 {
			w.advance(d)
		}
		w.mu.Lock()
		w.at, w.part = max(w.at, s.At), 2*i+1
		w.mu.Unlock()
		w.do(0, s)
		w.stage.Settle()
		w.observeContexts()
	}
	w.end()
}

// end releases everything: what is still armed is stopped, time passes until all sleepers
// have woken, and nothing more is noted.
func (w *world) end() {
	w.mu.Lock()
	w.over = true
	release := w.release
	w.mu.Unlock()
	for _, r := range release {
		if msg := suite.Catch(r.do); msg != "" {
			r.step.At = w.at
			w.panicked(r.step, msg)
		}
	}
	close(w.quit)
	longest, back := time.Duration(0), time.Duration(0)
	for _, s := range w.stage.Steps() {
		if s.Op == verb.Sleep || s.Op == verb.Nap {
			longest = max(longest, s.D)
		}
		back += max(0, -s.D) // a clock may go back by a negative step, which other rules judge
	}
	w.stage.Settle()
	if longest > 0 {
		w.advance(longest + back)
	}
}

// advance moves the clock. Package time always moves, so that a clock which panics shows a
// difference.
func (w *world) advance(d time.Duration) {
	if msg := suite.Catch(func() { w.f.Advance(d) }); msg != "" {
		w.note(0, "!", "Advance(%s) panics: %s", timeline.Duration(d), msg)
	}
	w.stage.Settle()
}

// seen returns the events so far, and the step under way.
func (w *world) seen() ([]event, conformance.Step) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.events, w.doing
}

// note records an event that came by itself.
func (w *world) note(who int, mark, format string, args ...any) {
	w.add(event{who: who, text: fmt.Sprintf(format, args...), mark: mark})
}

// answer records what a step has shown.
func (w *world) answer(who int, s conformance.Step, mark, text string) {
	w.add(event{who: who, step: bare(s), text: text, mark: mark})
}

// add records an event of now.
func (w *world) add(e event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return
	}
	e.part, e.at = w.part, -1
	if w.ledger != nil {
		e.at = w.ledger.now()
	}
	w.events = append(w.events, e)
}

// marks are those of answers.
var marks = map[bool]string{true: "y", false: "n"}

// Texts of answers that are no values.
const (
	panics      = "panics"
	hasReturned = "has returned"
)

// reported records what a method that reports yes or no has said, if it does.
func (w *world) reported(who int, s conformance.Step, yes bool) {
	if w.f.NoTimerAnswers {
		w.answer(who, s, "done", hasReturned)
		return
	}
	w.answer(who, s, marks[yes], fmt.Sprint(yes))
}

// turn notes that function, sleeper or consumer id has its turn, and does its steps.
func (w *world) turn(id int, mark, format string, args ...any) {
	w.note(id, mark, format, args...)
	w.mu.Lock()
	w.turns[id]++
	w.allTurns++
	turn, enough := w.allTurns, w.turns[id] > followUps
	w.mu.Unlock()
	if enough {
		return
	}
	for _, s := range w.stage.Steps() {
		if s.In != id || w.isOver() {
			continue
		}
		if w.ledger != nil {
			w.ledger.acts(id, turn, s)
		}
		w.do(id, s)
	}
}

func (w *world) isOver() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.over
}

// do does one step for the schedule, or for the function, sleeper or consumer who.
func (w *world) do(who int, s conformance.Step) {
	if w.ledger != nil {
		w.ledger.before(s)
	}
	if msg := suite.Catch(func() { w.step(who, s) }); msg != "" {
		w.add(event{who: who, step: bare(s), text: panics, mark: "!", cause: msg})
		w.panicked(s, msg)
	}
}

// panicked notes a panic for runs that make no progress after it: who panics under a lock keeps it.
func (w *world) panicked(s conformance.Step, msg string) {
	if w.ledger != nil {
		return // package time may do so
	}
	w.stage.Rec.Locked(func(rec *suite.Recording) {
		at := w.stage.Rec.Mark()
		rec.Done = append(rec.Done, conformance.Done{Step: s, Began: at, Ended: at, Panic: msg})
	})
}

// bare returns a step without its instant.
func bare(s conformance.Step) conformance.Step {
	s.At, s.In = 0, 0
	return s
}

// call returns the text of a step without its instant.
func call(s conformance.Step) string { return strings.TrimSuffix(bare(s).String(), " @0") }

func (w *world) step(who int, s conformance.Step) {
	switch s.Op {
	case verb.Now:
		w.askNow(who, s)
	case verb.Timer:
		t := w.f.NewTimer(s.D)
		w.keep(s.N, timed{c: t.Chan(), timer: t})
	case verb.After:
		w.keep(s.N, timed{c: w.f.After(s.D)})
	case verb.Ticker:
		t := w.f.NewTicker(s.D)
		w.keep(s.N, timed{c: t.Chan(), ticker: t})
	case verb.AfterFunc:
		w.afterFunc(s)
	case verb.Sleep:
		w.sleep(who, s)
	case verb.Nap:
		if who != 0 {
			w.f.Sleep(s.D)
			w.note(who, "nap", "wakes from %s", call(s))
		}
	case verb.Consume:
		suite.Start(func() { w.consume(s.N, s.K) })
	case verb.Halt, verb.Rearm, verb.Read, verb.Chan:
		w.use(who, s)
	case verb.Armed:
		w.askArmed(who, s)
	case verb.Err:
		w.askErr(who, s)
	case verb.Timeout, verb.Deadline, verb.Within:
		w.makeContext(who, s)
	case verb.Cancel:
		if c := w.contextOf(s.N); c != nil && c.cancel != nil {
			if c.cancel(); !received(c.Done()) {
				w.note(who, fmt.Sprintf("C%d", s.N), "context %d is live after cancel has returned", s.N)
			}
		}
	}
}

// askNow notes the time, and the first of Since and Until that does not agree with it.
func (w *world) askNow(who int, s conformance.Step) {
	now := w.f.Now()
	mark := timeline.Duration(now.Sub(w.start))
	text := mark
	for _, at := range w.instants(now) {
		if w.f.Since != nil && !same(w.f.Since(at.t), now.Sub(at.t)) {
			text += differs("Since", at.name, w.f.Since(at.t), now.Sub(at.t))
			break
		}
		if w.f.Until != nil && !same(w.f.Until(at.t), at.t.Sub(now)) {
			text += differs("Until", at.name, w.f.Until(at.t), at.t.Sub(now))
			break
		}
	}
	w.answer(who, s, mark, text)
}

func differs(op, name string, is, want time.Duration) string {
	return fmt.Sprintf(", but %s(%s) is %s instead of %s", op, name, timeline.Duration(is), timeline.Duration(want))
}

// same reports whether two spans of time are the same. At least 292 years back is as little as
// a Duration holds, or as little as it holds of either sign.
func same(a, b time.Duration) bool { return a == b || max(a, b) <= -math.MaxInt64 }

// instant is one that Since and Until are asked for.
type instant struct {
	name string
	t    time.Time
}

// instants are some near now and the start. A schedule that asks for nothing but the time has also those that
// are as far away as a Duration holds or farther, where Sub stays at the bound, and 584 years away, where
// nanoseconds in 64 bits are 0 again; and what the wrong sign makes of the start.
func (w *world) instants(now time.Time) []instant {
	near := []instant{
		{"start", w.start}, {"start-1h30m", w.start.Add(-90 * time.Minute)}, {"now", now},
		{"now-1ns", now.Add(-1)}, {"now+1h30m", now.Add(90 * time.Minute)},
		{"the zero time", time.Time{}}, // so long ago that a Duration does not hold it
	}
	more := func(s conformance.Step) bool { return s.Op != verb.Now }
	if slices.ContainsFunc(w.stage.Steps(), more) {
		return near
	}
	const century, whole = suite.Century, time.Duration(math.MaxInt64)
	ago := func(t time.Time) time.Time { return t.Add(-whole).Add(-whole).Add(-2) }
	ahead := func(t time.Time) time.Time { return t.Add(whole).Add(whole).Add(2) }
	return append(near, []instant{
		{"now-292y", now.Add(-whole)}, {"now+292y", now.Add(whole)},
		{"now-392y", now.Add(-whole).Add(-century)}, {"now+392y", now.Add(whole).Add(century)},
		{"now-584y", ago(now)}, {"now+584y", ahead(now)}, {"start-584y", ago(w.start)}, {"start+584y", ahead(w.start)},
		{"1970-(start-1970)", time.Unix(-w.start.Unix(), 0)},
	}...)
}

// askArmed notes how many timers are armed; on package time the ledger knows.
func (w *world) askArmed(who int, s conformance.Step) {
	if w.ledger == nil {
		n := fmt.Sprint(w.f.Armed())
		w.answer(who, s, n, n)
		return
	}
	least, most := w.ledger.armed()
	text := fmt.Sprint(least) + suite.If(least < most, fmt.Sprint(" to ", most))
	var also []string
	for n := least; n <= most; n++ {
		also = append(also, fmt.Sprint(n))
	}
	w.add(event{who: who, step: bare(s), text: text, mark: text, also: also})
}
