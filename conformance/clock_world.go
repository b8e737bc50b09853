package conformance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"
)

// event is something that was seen of a clock.
type event struct {
	// part is the step during which it was seen, twice its index: plus 0 while time
	// moved to the step's instant, plus 1 from the step on.
	part int
	// who saw it: 0 the schedule, else a function, sleeper or consumer.
	who int
	// at is when, on package time; unknown on the clock under test.
	at time.Duration
	// text says what, mark does so in a timeline.
	text, mark string
}

// followUps bounds how often a function, sleeper or consumer does its steps, as one
// that arms itself would go on for ever.
const followUps = 12

// world runs a schedule on a clock, package time or another, and notes what can be
// seen of it.
type world struct {
	schedule Schedule
	f        ClockFuncs
	settle   func()
	start    time.Time
	quit     chan struct{} // ends the consumers
	follow   map[int][]Step
	ledger   *ledger // of package time only

	mu       sync.Mutex
	at       time.Duration // how far the schedule has moved the clock
	part     int
	events   []event
	over     bool
	turns    map[int]int
	allTurns int
	chans    map[int]<-chan time.Time
	timers   map[int]clockwork.Timer
	tickers  map[int]clockwork.Ticker
	contexts map[int]context.Context
	dones    map[int]<-chan struct{} // what Done of each context returned at first
	cancels  map[int]context.CancelFunc
	seen     map[int]string // the last state of each context
	release  []func()       // takes down all that was made
}

func newWorld(s Schedule, f ClockFuncs, settle func()) *world {
	w := &world{
		schedule: s, f: f, settle: settle, start: f.Now(), quit: make(chan struct{}),
		follow: map[int][]Step{}, turns: map[int]int{},
		chans: map[int]<-chan time.Time{}, timers: map[int]clockwork.Timer{}, tickers: map[int]clockwork.Ticker{},
		contexts: map[int]context.Context{0: context.WithValue(context.Background(), rootKey{}, true)}, cancels: map[int]context.CancelFunc{}, seen: map[int]string{},
		dones: map[int]<-chan struct{}{},
	}
	for _, s := range s.Steps {
		if s.In != 0 {
			w.follow[s.In] = append(w.follow[s.In], s)
		}
	}
	return w
}

// run does the schedule. If rec is given, it learns of each step before the step is
// done, in case the step blocks for ever.
func (w *world) run(rec *recorder) {
	for i, s := range w.schedule.Steps {
		if s.In != 0 {
			continue
		}
		w.begin(2*i, s, rec)
		if d := s.At - w.at; d > 0 {
			w.advance(d)
		}
		w.mu.Lock()
		w.at, w.part = max(w.at, s.At), 2*i+1
		w.mu.Unlock()
		w.do(0, s)
		w.settle()
		w.observeContexts()
	}
	w.end()
}

func (w *world) begin(part int, s Step, rec *recorder) {
	w.mu.Lock()
	w.part = part
	events := w.events
	w.mu.Unlock()
	if rec != nil {
		rec.mu.Lock()
		rec.trace.events, rec.trace.doing = events, s.String()
		rec.mu.Unlock()
	}
}

// end takes everything down: what is still armed is disarmed, sleepers sleep on to
// their ends, and nothing more is noted.
func (w *world) end() {
	w.mu.Lock()
	w.over = true
	release := w.release
	w.mu.Unlock()
	for _, f := range release {
		_ = catch(f)
	}
	close(w.quit)
	longest, back := time.Duration(0), time.Duration(0)
	for _, s := range w.schedule.Steps {
		if s.Op == OpSleep || s.Op == OpNap {
			longest = max(longest, s.D)
		}
		back += max(0, -s.D) // a clock may go back by it, which other rules judge
	}
	w.settle()
	if longest > 0 {
		w.advance(longest + back)
	}
}

// advance moves the clock. Package time cannot fail to move, so that a clock which
// panics differs.
func (w *world) advance(d time.Duration) {
	if msg := catch(func() { w.f.Advance(d) }); msg != "" {
		w.note(0, "!", "Advance(%s): panics: %s", duration(d), msg)
	}
	w.settle()
}

// note records an event.
func (w *world) note(who int, mark, format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return
	}
	e := event{part: w.part, who: who, text: fmt.Sprintf(format, args...), mark: mark}
	if w.ledger != nil {
		e.at = w.ledger.now()
	}
	w.events = append(w.events, e)
}

// turn says that function, sleeper or consumer id has its turn, and does its steps.
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
	for _, s := range w.follow[id] {
		if w.isOver() {
			return
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

// do does one step for who.
func (w *world) do(who int, s Step) {
	if w.ledger != nil {
		w.ledger.before(s)
	}
	if msg := catch(func() { w.step(who, s) }); msg != "" {
		w.note(who, "!", "%s: panics", call(s))
	}
}

// call is a step without its instant.
func call(s Step) string {
	s.At, s.In = 0, 0
	text := s.String()
	return text[:len(text)-len(" @0")]
}

func (w *world) step(who int, s Step) {
	w.mu.Lock()
	timer, ticker, ch := w.timers[s.N], w.tickers[s.N], w.chans[s.N]
	w.mu.Unlock()
	switch s.Op {
	case OpNow:
		now := w.f.Now()
		text := duration(now.Sub(w.start))
		for _, ago := range []time.Duration{0, 90 * time.Minute} {
			t, name := w.start.Add(-ago), "start"
			if ago != 0 {
				name += "-" + duration(ago)
			}
			if w.f.Since != nil && w.f.Since(t) != now.Sub(t) {
				text += ", but Since(" + name + ") is " + duration(w.f.Since(t))
			}
			if w.f.Until != nil && w.f.Until(t) != t.Sub(now) {
				text += ", but Until(" + name + ") is " + duration(w.f.Until(t))
			}
		}
		w.note(who, duration(now.Sub(w.start)), "now: %s", text)
	case OpTimer:
		t := w.f.NewTimer(s.D)
		w.keep(s, t.Chan(), t, nil)
	case OpAfter:
		w.keep(s, w.f.After(s.D), nil, nil)
	case OpTicker:
		t := w.f.NewTicker(s.D)
		w.keep(s, t.Chan(), nil, t)
	case OpAfterFunc:
		made := make(chan struct{})
		t := w.f.AfterFunc(s.D, func() {
			<-made // with a duration <= 0 it may run before AfterFunc has returned
			w.turn(s.N, fmt.Sprintf("F%d", s.N), "function %d runs", s.N)
		})
		w.keep(s, nil, t, nil)
		close(made)
	case OpSleep:
		go func() {
			w.f.Sleep(s.D)
			w.turn(s.N, fmt.Sprintf("S%d", s.N), "sleeper %d wakes", s.N)
		}()
		w.settleAfterSleep(who)
	case OpNap:
		if who != 0 {
			w.f.Sleep(s.D)
			w.note(who, "nap", "wakes from %s", call(s))
		}
	case OpConsume:
		go w.consume(s.N, s.K)
	case OpHalt:
		switch {
		case timer != nil:
			said := timer.Stop()
			w.note(who, yesNo(said), "%s: %v", call(s), said)
		case ticker != nil:
			ticker.Stop()
		}
	case OpRearm:
		switch {
		case timer != nil:
			said := timer.Reset(s.D)
			w.note(who, yesNo(said), "%s: %v", call(s), said)
		case ticker != nil:
			ticker.Reset(s.D)
		}
	case OpRead:
		if ch == nil {
			return
		}
		select {
		case v := <-ch:
			w.note(who, duration(v.Sub(w.start)), "%s: %s", call(s), duration(v.Sub(w.start)))
			if w.ledger != nil {
				w.ledger.took(s.N)
			}
		default:
			w.note(who, "-", "%s: nothing", call(s))
		}
	case OpChan:
		if timer != nil {
			w.note(who, yesNo(timer.Chan() != nil), "%s: nil is %v", call(s), timer.Chan() == nil)
		}
	case OpArmed:
		n := 0
		if w.ledger != nil {
			n = w.ledger.armed()
		} else {
			n = w.f.Armed()
		}
		w.note(who, fmt.Sprint(n), "%s: %d", call(s), n)
	case OpErr:
		w.askErr(who, s)
	case OpTimeout, OpDeadline, OpWithin, OpCancel:
		w.contextStep(s)
	}
}

// settleAfterSleep lets a sleeper that the schedule started reach its Sleep.
func (w *world) settleAfterSleep(who int) {
	if who == 0 {
		w.settle()
	}
}

func yesNo(b bool) string {
	if b {
		return "y"
	}
	return "n"
}

func (w *world) keep(s Step, ch <-chan time.Time, timer clockwork.Timer, ticker clockwork.Ticker) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if timer != nil {
		w.timers[s.N] = timer
		w.release = append(w.release, func() { timer.Stop() })
	}
	if ticker != nil {
		w.tickers[s.N] = ticker
		w.release = append(w.release, ticker.Stop)
	}
	if ch != nil {
		w.chans[s.N] = ch
	}
}

// consume receives from whatever channel k is each time, until the end.
func (w *world) consume(id, k int) {
	for {
		w.mu.Lock()
		ch := w.chans[k]
		w.mu.Unlock()
		select {
		case v := <-ch:
			if w.ledger != nil {
				w.ledger.took(k)
			}
			value := duration(v.Sub(w.start))
			w.turn(id, "R"+value, "consumer %d receives %s", id, value)
		case <-w.quit:
			return
		}
	}
}

func (w *world) contextStep(s Step) {
	w.mu.Lock()
	parent, cancel := w.contexts[s.K], w.cancels[s.N]
	if parent == nil {
		parent = w.contexts[0]
	}
	w.mu.Unlock()
	var ctx context.Context
	switch s.Op {
	case OpTimeout:
		ctx, cancel = w.f.WithTimeout(parent, s.D)
	case OpDeadline:
		ctx, cancel = w.f.WithDeadline(parent, w.start.Add(s.D))
	case OpWithin:
		var cause context.CancelCauseFunc
		ctx, cause = context.WithCancelCause(parent)
		err := fmt.Errorf("cause %d", s.N)
		cancel = func() { cause(err) }
	case OpCancel:
		if cancel != nil {
			cancel()
		}
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.contexts[s.N], w.dones[s.N], w.cancels[s.N] = ctx, ctx.Done(), cancel
	w.release = append(w.release, cancel)
	if w.ledger != nil && s.Op != OpWithin {
		w.ledger.context(s.N, ctx)
	}
}

// observeContexts notes each context whose state has changed.
func (w *world) observeContexts() {
	for _, id := range sortedIDs(w.contexts) {
		if id == 0 {
			continue
		}
		told := isClosed(w.dones[id])
		state := w.state(w.contexts[id])
		if told != isClosed(w.contexts[id].Done()) {
			state += ", unlike what its Done returned at first"
		}
		if state != w.seen[id] {
			w.seen[id] = state
			w.note(0, fmt.Sprintf("C%d", id), "context %d %s", id, state)
		}
	}
}

// rootKey is the key of a value that every context has from its parents.
type rootKey struct{}

// state describes a context as far as its Done and Deadline say, and once it has
// ended its Err and Cause.
func (w *world) state(ctx context.Context) string {
	text := "is live"
	select {
	case <-ctx.Done():
		text = "has ended: " + describeError(ctx.Err())
		if cause := context.Cause(ctx); !errors.Is(ctx.Err(), cause) {
			text += ", Cause " + describeError(cause)
		}
	default:
	}
	if ctx.Value(rootKey{}) == nil {
		text += ", without the value of its parent"
	}
	if d, ok := ctx.Deadline(); ok {
		text += ", deadline " + duration(d.Sub(w.start))
	}
	return text
}

// describeError names what an error is, according to errors.Is.
func describeError(err error) string {
	for _, known := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, known) {
			return strings.TrimPrefix(known.Error(), "context ")
		}
	}
	return fmt.Sprint(err)
}

// askErr notes what Err says, and whether it says it with the very errors of
// package context. Asking must not block; if it does, that is what is noted.
func (w *world) askErr(who int, s Step) {
	w.mu.Lock()
	ctx := w.contexts[s.N]
	w.mu.Unlock()
	if ctx == nil {
		return
	}
	answer := make(chan error, 1)
	go func() { answer <- ctx.Err() }()
	if who == 0 {
		w.settle()
	}
	select {
	case err := <-answer:
		text := "nil"
		switch {
		case err == context.Canceled:
			text = "context.Canceled"
		case err == context.DeadlineExceeded:
			text = "context.DeadlineExceeded"
		case err != nil:
			text = fmt.Sprintf("a %T (%v)", err, err)
		}
		w.note(who, map[bool]string{true: "live", false: "err"}[err == nil], "%s: %s", call(s), text)
	default:
		w.note(who, "blocks", "%s: blocks", call(s))
	}
}

func sortedIDs[V any](m map[int]V) []int {
	ids := make([]int, 0, len(m))
	for id := range m {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// difference is where a clock and package time part.
type difference struct {
	part      int
	at        time.Duration
	want, got []event // what only the one has shown, of the first group that differs
	agreed    int     // how many of the clock's events came before
}

// compare returns the first difference, nil if there is none. What happened at one
// instant has no order between goroutines, so such groups compare as sets; if the
// order is not in question, so does all that happened in one part.
func compare(want, got []event, ordered bool) *difference {
	byWho := func(a, b event) int { return cmp.Compare(a.who, b.who) }
	i, j := 0, 0
	for i < len(want) {
		part, at := want[i].part, want[i].at
		end := i
		for end < len(want) && want[end].part == part && (want[end].at == at || !ordered) {
			end++
		}
		stop := j
		for stop < len(got) && stop-j < end-i && got[stop].part <= part {
			stop++
		}
		w, g := slices.Clone(want[i:end]), slices.Clone(got[j:stop])
		slices.SortStableFunc(w, byWho)
		slices.SortStableFunc(g, byWho)
		missing, extra := without(w, g), without(g, w)
		if len(missing) > 0 || len(extra) > 0 {
			if len(missing) > 0 {
				at = missing[0].at
			}
			return &difference{part, at, missing, extra, j}
		}
		i, j = end, stop
		last := i == len(want) || want[i].part != part
		if last && j < len(got) && got[j].part <= part {
			return &difference{got[j].part, at, nil, got[j : j+1], j}
		}
	}
	if j < len(got) {
		return &difference{got[j].part, -1, nil, got[j : j+1], j}
	}
	return nil
}

// without lists the events of a that b does not have at the same place of the same
// goroutine.
func without(a, b []event) []event {
	rest := slices.Clone(b)
	var out []event
	for _, e := range a {
		i := slices.IndexFunc(rest, func(r event) bool { return r.who == e.who && r.text == e.text && r.part == e.part })
		if i < 0 {
			out = append(out, e)
			continue
		}
		rest = slices.Delete(rest, i, i+1)
	}
	return out
}
