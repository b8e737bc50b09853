package debouncer

import (
	"math"
	"runtime"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	db "github.com/escapement-go/escapement/conformance/debouncertest"
	"github.com/escapement-go/escapement/internal/zoo"
)

// trailing is a plain trailing debouncer with one timer and a generation
// count, correct unless mutant names one of its mistakes. Every mistake is one
// statement away from the correct code.
type trailing struct {
	clock  clockwork.Clock
	wait   time.Duration
	fire   func(int)
	mutant string

	mu       sync.Mutex
	idle     *sync.Cond
	timer    clockwork.Timer
	gen      int
	pending  bool
	value    int
	first    int
	last     time.Time
	running  int
	queue    []int
	stopped  bool
	everFire bool
	calls    int
	shared   *trailing
	deaf     time.Time // only of the mutant that needs it
}

func newTrailing(clock clockwork.Clock, wait time.Duration, fire func(int), mutant string) *trailing {
	d := &trailing{clock: clock, wait: wait, fire: fire, mutant: mutant}
	d.idle = sync.NewCond(&d.mu)
	if mutant == "goroutine left behind" {
		zoo.LeaveForGood()
	}
	if mutant == "timer left armed" {
		clock.NewTicker(time.Hour)
	}
	return d
}

func (d *trailing) is(mutant string) bool { return d.mutant == mutant }

func (d *trailing) call(v int) {
	if d.is("counts before it locks") {
		d.calls++
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopped && !d.is("call after stop works") {
		if d.is("call after stop panics") {
			panic("use after stop")
		}
		return
	}
	if d.is("panics on the third event") && v == 3 {
		panic("index out of range")
	}
	if d.loses(v) {
		return
	}
	now := d.clock.Now()
	if now.Before(d.deaf) {
		return
	}
	if d.is("a late event lets the old one fire first") && d.pending && !now.Before(d.last.Add(d.wait)) {
		d.pending = false
		d.run(d.value)
	}
	d.last = now
	if d.wait == 0 {
		if d.is("zero wait never fires") {
			return
		}
		d.unlocked(v)
		return
	}
	if d.shared != nil {
		d.shared.cancel()
	}
	if !d.pending {
		d.first = v
	}
	if !d.is("keeps the first payload") || !d.pending {
		d.value = v
	}
	wasPending := d.pending
	d.pending = true
	if d.is("not reset by later events") && wasPending {
		return
	}
	if d.is("a new burst is taken for the cancelled one") && !wasPending {
		d.gen--
	}
	d.arm()
}

// loses are mistakes that lose an event at once.
func (d *trailing) loses(v int) bool {
	switch d.mutant {
	case "a zero payload is no event":
		return v == 0
	case "no fire at all for one event":
		if d.pending || d.value != 0 {
			return false
		}
		d.value = v
		return true
	case "lost while running":
		return d.running > 0
	case "a negative wait never fires":
		return d.wait < 0
	case "a burst holds 63 events":
		if !d.pending {
			d.calls = 0
		}
		d.calls++
		return d.calls > 63
	}
	return false
}

// arm starts the quiet period anew.
func (d *trailing) arm() {
	if d.timer != nil && !d.is("old timers go on") {
		d.timer.Stop()
	}
	if !d.is("no generation check") {
		d.gen++
	}
	gen := d.gen
	wait := d.wait
	switch d.mutant {
	case "fires 1ns early":
		wait--
	case "fires 1ns late":
		wait++
	case "rounds the wait to milliseconds":
		wait = wait.Round(time.Millisecond)
	case "waits half as long after a fire":
		if d.everFire {
			wait /= 2
		}
	case "wait is 32 bits":
		wait = min(wait, math.MaxInt32*time.Microsecond)
	}
	if d.is("old timers go on") {
		d.timer = d.clock.AfterFunc(wait, func() { d.expire(d.gen) })
		return
	}
	d.timer = d.clock.AfterFunc(wait, func() { d.expire(gen) })
	if d.is("arms a timer of package time too") {
		time.AfterFunc(wait, func() { d.expire(gen) })
	}
}

func (d *trailing) expire(gen int) {
	d.mu.Lock()
	if d.is("keeps a lock when a timer fires for nothing") && gen != d.gen {
		return
	}
	defer d.mu.Unlock()
	if d.is("a timer that comes too late leaves a goroutine") && (gen != d.gen || !d.pending) {
		zoo.LeaveForGood()
	}
	blind := d.is("no generation check") || d.is("old timers go on") || d.is("cancel only drops the payload")
	if (gen != d.gen || !d.pending) && !blind {
		return
	}
	if d.is("fires only once ever") && d.everFire {
		return
	}
	if now := d.clock.Now(); d.is("waits for the clock to come back") && now.Before(d.last) {
		d.timer = d.clock.AfterFunc(d.last.Sub(now), func() { d.expire(gen) })
		return
	}
	if rest := d.last.Add(d.wait).Sub(d.clock.Now()); d.is("looks again for no time") && rest >= 0 {
		d.timer = d.clock.AfterFunc(rest, func() { d.expire(gen) })
		return
	}
	v := d.value
	if !d.is("clears after the callback") {
		d.pending = false
	}
	d.run(v)
	if d.is("clears after the callback") {
		d.pending = false
		d.gen++
	}
	if d.is("fires again when idle") {
		d.timer = d.clock.AfterFunc(3*d.wait/2, func() { d.fire(v) })
	}
}

// run calls the callback without the lock, one at a time.
func (d *trailing) run(v int) {
	if d.running > 0 && !d.is("callbacks overlap") {
		if !d.is("lost when two wait their turn") || len(d.queue) < 2 {
			d.queue = append(d.queue, v)
		}
		return
	}
	d.everFire = true
	d.running++
	if d.is("hands out another payload") {
		v += 100
	}
	switch d.mutant {
	case "callback under the lock":
		d.fire(v)
		d.ran()
	case "a panic leaves it running":
		d.unlocked(v)
		d.ran()
	default:
		func() {
			defer d.ran()
			d.unlocked(v)
		}()
	}
	if d.is("fires twice") {
		d.unlocked(v)
	}
}

func (d *trailing) unlocked(v int) {
	d.mu.Unlock()
	defer d.mu.Lock()
	if d.is("a panic is swallowed") {
		defer func() { _ = recover() }()
	}
	d.fire(v)
}

// ran ends a run of the callback and runs what came due meanwhile.
func (d *trailing) ran() {
	d.running--
	for len(d.queue) > 0 {
		v := d.queue[0]
		d.queue = d.queue[1:]
		if d.is("drops what came due while running") {
			continue
		}
		if d.is("what came due while running takes the newer event") && d.pending {
			v, d.pending = d.value, false
		}
		d.run(v)
	}
	d.idle.Broadcast()
}

// keep locks again what was unlocked.
func keep(mu *sync.Mutex, yes bool) {
	if yes {
		mu.Lock()
	}
}

func (d *trailing) cancel() (cancelled bool) {
	if d.is("keeps a lock when nothing is cancelled") {
		defer func() { keep(&d.mu, !cancelled) }()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	was := d.pending
	if d.is("cancel does nothing") {
		return was
	}
	if d.is("deaf until the cancelled deadline") && was {
		d.deaf = d.last.Add(d.wait)
	}
	if d.is("cancel after stop revives it") {
		d.stopped = false
	}
	if d.is("cancel is final") {
		d.stopped = true
	}
	if d.is("cancel only stops the timer") {
		if d.timer != nil {
			d.timer.Stop()
		}
		return was
	}
	d.pending = false
	if d.timer != nil {
		d.timer.Stop()
	}
	return was || d.is("cancel always reports true") || d.is("cancel reports what is running") && d.running > 0
}

func (d *trailing) flush() {
	d.mu.Lock()
	defer d.mu.Unlock()
	nothing := !d.pending || d.stopped && !d.is("flush fires what stop has dropped")
	if nothing && !d.is("flush fires without an event") {
		return
	}
	if d.is("flush does nothing") {
		return
	}
	v := d.value
	if d.is("flush looks and fires under two locks") && d.clock.Since(d.last) < d.wait {
		d.mu.Unlock()
		runtime.Gosched()
		d.mu.Lock()
	}
	if d.is("flush keeps the timer") {
		d.unlocked(v)
		return
	}
	d.pending = false
	if d.timer != nil {
		d.timer.Stop()
	}
	if d.is("flush while running fires nothing") && d.running > 0 {
		return
	}
	d.run(v)
}

// end is the end of the input: it fires what is pending.
func (d *trailing) end() {
	if d.is("drops what is pending at the end") {
		d.cancel()
	}
	if !d.is("goes on waiting at the end") {
		d.flush()
	}
}

func (d *trailing) isPending() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.is("pending while running") {
		return d.pending || d.running > 0
	}
	return d.pending && !(d.is("nothing is pending while running") && d.running > 0)
}

func (d *trailing) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.is("stop waits for a goroutine that is gone") {
		d.idle.Wait()
	}
	if d.stopped && d.is("second stop panics") {
		panic("close of closed channel")
	}
	d.stopped = true
	if !d.is("stop keeps what waits its turn") {
		d.queue = nil
	}
	if !d.is("stop lets the pending event fire") && !d.is("flush fires what stop has dropped") {
		d.pending = false
	}
	if d.timer != nil && !d.is("stop lets the pending event fire") {
		d.timer.Stop()
	}
}

// trailingSpec describes it.
func trailingSpec(mutant string, source db.TimeSource) db.Spec {
	var shared *trailing
	return db.Spec{
		Name: "zoo: " + mutant,
		Time: source,
		New: func(env db.Env, cfg db.Config, fire func(int)) db.Funcs {
			d := newTrailing(env.Clock, cfg.Wait, fire, mutant)
			if shared != nil && shared.clock == env.Clock && mutant == "instances share a burst" {
				d.shared = shared
			}
			shared = d
			keys := map[int]*trailing{}
			of := func(key int) *trailing {
				return d.ofKey(keys, key, func() *trailing { return newTrailing(env.Clock, cfg.Wait, fire, mutant) })
			}
			stop := func() {
				d.stop()
				for _, own := range keys {
					own.stop()
				}
			}
			return db.Funcs{Call: d.call, CallKey: func(key, v int) { of(key).call(v) }, CancelReports: d.cancel,
				Flush: d.flush, Pending: d.isPending, Stop: stop, Close: d.end}
		},
		Traits: db.Traits{
			Edges: []db.Edges{db.Trailing}, Payload: db.LastPayload, Tie: db.ResetFirst, StaleFire: db.StaleForbidden,
			CancelBarrier: db.CommitBarrier, AfterCancel: db.CancelReusable, StopPending: db.StopDrops,
			ZeroWait: db.ZeroSync, Overlap: db.Serial,
			CloseFlush: db.CloseFires, ClockBack: db.BackBounded, PanicPolicy: db.PanicPropagates,
		},
	}
}

// trailingMutants are the other mistakes, with the rule that must catch each.
var trailingMutants = []mistake{
	{"fires 1ns early", "DB-QUIET"},
	{"not reset by later events", "DB-QUIET"},
	{"fires 1ns late", "DB-EXACT"},
	{"rounds the wait to milliseconds", "DB-QUIET"},
	{"wait is 32 bits", "DB-QUIET"},
	{"old timers go on", "DB-ONE"},
	{"fires twice", "DB-IDLE"},
	{"keeps the first payload", "DB-LAST"},
	{"a burst holds 63 events", "DB-QUIET"},
	{"no fire at all for one event", "DB-LIVE"},
	{"fires only once ever", "DB-LIVE"},
	{"lost while running", "DB-LIVE"},
	{"lost when two wait their turn", "DB-LIVE"},
	{"clears after the callback", "DB-LIVE"},
	{"drops what came due while running", "DB-LIVE"},
	{"what came due while running takes the newer event", "DB-QUIET"},
	{"fires again when idle", "DB-IDLE"},
	{"hands out another payload", "DB-SUBSEQ"},
	{"waits half as long after a fire", "DB-GAPRATE"},
	{"a late event lets the old one fire first", "DB-TIE"},
	{"panics on the third event", "X-CALLS"},
	{"keeps a lock when nothing is cancelled", "X-CALLS"},
	{"keeps a lock when a timer fires for nothing", "X-CALLS"},
	{"looks again for no time", "X-CALLS"},
	{"stop waits for a goroutine that is gone", "X-CALLS"},
	{"no generation check", "DB-NOSTALE"},
	{"cancel does nothing", "DB-CANCEL"},
	{"cancel is final", "DB-REUSE"},
	{"cancel only drops the payload", "DB-CANCELBAR"},
	{"cancel only stops the timer", "DB-CANCELBAR"},
	{"cancel always reports true", "DB-CANCELBAR"},
	{"cancel reports what is running", "DB-CANCELBAR"},
	{"a new burst is taken for the cancelled one", "DB-QUIET"},
	{"flush does nothing", "DB-FLUSH"},
	{"flush while running fires nothing", "DB-FLUSH"},
	{"flush fires without an event", "DB-FLUSH0"},
	{"flush keeps the timer", "DB-IDLE"},
	{"flush looks and fires under two locks", "X-CONC"},
	{"pending while running", "DB-PEND"},
	{"nothing is pending while running", "DB-PEND"},
	{"stop lets the pending event fire", "DB-STOP"},
	{"stop keeps what waits its turn", "DB-STOP"},
	{"call after stop works", "DB-STOP"},
	{"call after stop panics", "DB-STOP"},
	{"second stop panics", "DB-STOP"},
	{"flush fires what stop has dropped", "DB-STOP"},
	{"cancel after stop revives it", "DB-STOP"},
	{"deaf until the cancelled deadline", "DB-LIVE"},
	{"zero wait never fires", "DB-ZERO"},
	{"a negative wait never fires", "DB-NEG"},
	{"callbacks overlap", "DB-OVERLAP"},
	{"callback under the lock", "X-REENT"},
	{"goroutine left behind", "X-LEAK"},
	{"timer left armed", "X-LEAK"},
	{"a timer that comes too late leaves a goroutine", "X-LEAK"},
	{"a zero payload is no event", "DB-LIVE"},
	{"drops what is pending at the end", "DB-CLOSE"},
	{"goes on waiting at the end", "DB-CLOSE"},
	{"keys share a wait", "DB-KEY"},
	{"keys share sixteen waits", "DB-KEY"},
	{"forgets all keys for a ninth", "DB-KEY"},
	{"instances share a burst", "X-ISO"},
	{"waits for the clock to come back", "X-BACK"},
	{"arms a timer of package time too", "X-CLOCK1"},
	{"a panic leaves it running", "X-PANIC"},
	{"a panic is swallowed", "X-PANIC"},
}
